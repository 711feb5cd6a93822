"""A search is a process that the page watches: it is started, paused, given more time and stopped; and whatever is
killed, nothing is lost."""

import json
import os
import signal
import sys
import time

import numpy as np
import pytest
from filelock import FileLock

from prunesymnet.runs import read_run
from prunesymnet.studio.front import Lines
from prunesymnet.studio.searches import Worker, is_alive, read_worker
from prunesymnet.studio.worker import Clock, Watch, main
from prunesymnet.studio.workspace import write_record

POSIX = pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes can't be frozen here")


def table_of(client, rows=60):
    rng = np.random.default_rng(0)
    x, z = rng.uniform(1, 5, (2, rows))
    y = 3 * x**2 / z + rng.normal(0, 0.5, rows)
    text = "x,z,y\n" + "".join(f"{a},{b},{c}\n" for a, b, c in zip(x, z, y, strict=True))
    return client.post("/api/tables", content=text.encode(), headers={"x-file-name": "law.csv"}).json()["id"]


def begin(client, table, seconds=3600, preset="paper", **answers):
    """A search, by default one that trains networks for minutes: on rows with noise, nothing ends it before."""
    columns, options = {"target": "y", "features": ["x", "z"]}, {"time_limit": seconds, "preset": preset}
    asked = {"table": table, "columns": columns, "options": options, **answers}
    answer = client.post("/api/searches", json=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


def status(client, known_as):
    answer = client.get(f"/api/searches/{known_as}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def state(client, studio, known_as):
    studio.queue.step()
    return status(client, known_as)["state"]


@pytest.fixture(scope="module")
def table(client):
    """Rows enough to train networks on for minutes."""
    return table_of(client, rows=3000)


@pytest.fixture(scope="module")
def ended(client, studio, until):
    """A search that came to its end."""
    known_as = begin(client, table_of(client), 1, "default", name="squares by z")
    assert until(lambda: state(client, studio, known_as) == "ended")
    return known_as


def test_a_search_ends_with_its_front(client, ended):
    found = status(client, ended)
    assert found["name"] == "squares by z"
    assert found["final"]
    assert found["scored"] > 0
    assert sum(point["chosen"] for point in found["front"]) == 1
    sizes = [point["complexity"] for point in found["front"]]
    assert sizes == sorted(sizes)
    assert all(point["math"].startswith("<math>") for point in found["front"])
    assert "law.csv" in client.get("/").text
    assert client.get(f"/searches/{ended}").status_code == 200


def test_what_a_page_has_seen_is_not_sent_again(client, ended):
    found = status(client, ended)
    assert client.get(f"/api/searches/{ended}?seen={found['version']}").status_code == 204
    again = client.get(f"/api/searches/{ended}?front={found['front_version']}").json()
    assert "front" not in again


def test_a_search_is_called_what_a_person_calls_it(client, ended):
    client.post(f"/api/searches/{ended}/rename", json={"name": " <b>new</b>\n name "})
    assert status(client, ended)["name"] == "<b>new</b> name"
    assert "<b>new</b>" not in client.get("/").text
    client.post(f"/api/searches/{ended}/rename", json={"name": "  "})
    assert status(client, ended)["name"] == "<b>new</b> name"


@POSIX
def test_pause_more_time_and_stop(client, studio, table, until):
    one, other = begin(client, table), begin(client, table)
    assert until(lambda: state(client, studio, one) == "running")
    assert status(client, other)["state"] == "queued"  # one search for the one core there is
    assert status(client, other)["queue"] == 1
    folder = studio.search(one).folder
    client.post(f"/api/searches/{one}/pause")
    assert until(lambda: read_worker(folder).frozen)
    assert until(lambda: state(client, studio, other) == "running")  # what is paused needs no core
    client.post(f"/api/searches/{one}/more", json={"seconds": 100})
    assert status(client, one)["limit"] == 3700
    client.post(f"/api/searches/{one}/resume")
    assert state(client, studio, one) == "queued"  # the core is taken now
    client.post(f"/api/searches/{other}/stop")
    assert until(lambda: state(client, studio, other) in ("ended", "stopped"))
    assert until(lambda: state(client, studio, one) == "running")
    pid = read_worker(folder).pid
    client.post(f"/api/searches/{one}/stop")
    assert until(lambda: state(client, studio, one) in ("ended", "stopped"))
    assert read_worker(folder).pid == pid  # the same process, from beginning to end
    assert client.post(f"/api/searches/{one}/pause").status_code == 422


@POSIX
def test_whatever_is_killed_nothing_is_lost(client, studio, table, until):
    known_as = begin(client, table)
    folder = studio.search(known_as).folder
    assert until(lambda: state(client, studio, known_as) == "running" and status(client, known_as)["front"])
    process = studio.queue.started.pop(known_as)  # as if the server had been killed, and another took its place
    studio.in_memory.cache.clear()
    assert status(client, known_as)["state"] == "running"
    before = {point["text"] for point in status(client, known_as)["front"]}
    assert process.pid == read_worker(folder).pid
    process.kill()
    process.wait()
    assert until(lambda: status(client, known_as)["state"] == "cut off")
    assert before
    assert status(client, known_as)["front"]
    client.post(f"/api/searches/{known_as}/resume", json={"seconds": 1})
    assert until(lambda: state(client, studio, known_as) == "ended")
    assert read_run(folder / "run").log.starts[0].again == 1


def test_a_search_can_be_removed_when_it_is_over(client, studio, table):
    known_as = begin(client, table)
    process = studio.queue.started.get(known_as)
    if process is not None:
        assert client.post(f"/api/searches/{known_as}/remove").status_code == 422
        process.kill()
        process.wait()
    folder = studio.search(known_as).folder
    assert client.post(f"/api/searches/{known_as}/remove").status_code == 200
    assert not folder.exists()
    assert client.get(f"/searches/{known_as}").status_code == 404


@pytest.mark.parametrize(
    "change",
    [
        {"table": "0123456789abcdef"},
        {"table": "../.."},
        {"columns": None},
        {"columns": {"target": "q", "features": ["x"]}},
        {"options": {"operators": ["eval"]}},
        {"options": []},
        {"options": {"requires": ["q"]}},
        {"options": {"max_uses": [["q", 1]]}},
    ],
)
def test_a_search_that_can_t_be_is_not_begun(client, studio, table, change):
    before = studio.workspace.ids("searches")
    asked = {"table": table, "columns": {"target": "y", "features": ["x"]}, "options": {}} | change
    answer = client.post("/api/searches", json=asked)
    assert answer.status_code in (404, 422)
    assert answer.json()["error"]
    assert studio.workspace.ids("searches") == before


def test_a_process_that_can_t_begin_is_not_started_again(client, studio, table, until, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false" if os.path.exists("/bin/false") else "/usr/bin/false")
    known_as = begin(client, table)
    assert until(lambda: state(client, studio, known_as) == "failed")
    assert "did not start" in status(client, known_as)["words"]
    assert known_as not in studio.queue.started


@pytest.mark.parametrize("content", [b"[1]", b"{", b"\xff", b'{"a": NaN}', b'"' + b"x" * 2**20 + b'"'])
def test_answers_that_are_none(client, ended, content):
    assert client.post(f"/api/searches/{ended}/rename", content=content).status_code in (400, 413)


def test_records_that_were_changed_are_not_believed(client, studio, table):
    known_as = begin(client, table)
    process = studio.queue.started.pop(known_as, None)
    if process is not None:
        process.kill()
        process.wait()
    path = studio.search(known_as).folder / "search.json"
    path.write_text(path.read_text().replace('"wanted": "run"', '"wanted": "fly"'))
    assert client.get(f"/searches/{known_as}").status_code == 404
    assert client.get("/").status_code == 200  # the others are still listed


# The process


@pytest.fixture
def with_interrupts():
    """Tests that run in the background have Ctrl-C switched off, and the process of a search switches it on."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_clock_stands_still_and_never_goes_back(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("prunesymnet.studio.worker.time.monotonic", lambda: now[0])
    clock = Clock()
    assert clock() == 100
    clock.stop()
    now[0] = 130.0
    began = clock()  # a search that begins before the clock goes on
    clock.go_on()
    assert clock() == began == 100
    now[0] = 131.5
    assert clock() - began == 1.5


def test_a_process_does_what_the_record_says(tmp_path, with_interrupts):
    clock = Clock()
    watch = Watch(tmp_path, Worker(1, 1), clock)
    write_record(tmp_path / "search.json", "search", {"wanted": "run", "more": 100.0})
    watch.look()
    assert clock.more_time() == 100
    write_record(tmp_path / "search.json", "search", {"wanted": "stop", "more": 160.0})
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - which comes while the thread sleeps
        watch.look()
        time.sleep(5)
    assert clock.more_time() == 160


def test_a_process_of_a_search_that_has_one_leaves(tmp_path, monkeypatch):
    monkeypatch.setattr("prunesymnet.studio.worker.WAIT", 0.05)
    with FileLock(tmp_path / ".worker.lock"):
        assert is_alive(tmp_path)
        main(tmp_path)
    assert not is_alive(tmp_path)
    assert not (tmp_path / "worker.json").exists()


def test_lines_are_read_as_they_are_written(tmp_path):
    path = tmp_path / "progress.jsonl"
    lines = Lines(path)
    lines.read()
    assert lines.last == {}
    first = json.dumps({"time": 1, "stage": "pairs", "front": ["x"]}) + "\n"
    second = json.dumps({"time": 2, "stage": "chains"}) + "\n"
    path.write_text(first + second[:9])
    lines.read()
    assert (lines.last["stage"], lines.front) == ("pairs", ["x"])
    path.write_text(first + second + '{"time": cut off\n[]\n{"time": 3, "ended": "all"}\n')
    lines.read()
    assert (lines.last["stage"], lines.last["ended"], lines.front) == ("chains", "all", ["x"])
