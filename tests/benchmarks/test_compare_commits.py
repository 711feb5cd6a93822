"""Two commits side by side: what is counted, that a run goes on where it was, that a process that ends is replaced."""

import math
import sys
from pathlib import Path

import pytest

from benchmarks import compare_commits as compare
from benchmarks import record

SOURCES = Path(__file__).parents[2] / "src"
LAW = {"names": ["x"], "X": [[float(i)] for i in range(1, 30)], "y": [2.5 / i for i in range(1, 30)], "seed": 0}


def row(side, problem="koza-01", recovered=True, seconds=1.0, **changes):
    key = {"part": "paper", "problem": problem, "truth": "x", "noise": 0.0, "seed": 0, "side": side}
    found = {"recovered": recovered, "form": recovered, "seconds": seconds, "limit": 10.0, "status": "done"}
    return key | found | changes


def test_only_tasks_that_both_have_are_counted_and_changes_are_named():
    rows = [row("old", seconds=1.0), row("new", seconds=2.0), row("old", "koza-02"), row("new", "koza-02", False)]
    rows += [row("new", "koza-03"), row("old", "koza-04"), row("new", "koza-04", truth="y")]  # no pairs
    rows += [row("old", "koza-05", limit=5.0), row("new", "koza-05", limit=5.0)]
    found = compare.summary(rows, 10.0)["paper"]
    assert found["tasks"] == 2
    assert (found["old"]["recovered"], found["new"]["recovered"]) == (2, 1)
    assert (found["old"]["median seconds"], found["new"]["median seconds"]) == (1.0, 1.5)
    assert found["new"]["90th percentile of seconds"] == pytest.approx(1.9)
    assert found["recovered by old only"] == ["koza-02 (seed 0)"]
    assert found["recovered by new only"] == []
    assert "recovered by old only: koza-02" in compare.report({"paper": found})


def test_the_tasks_are_the_parts_that_are_asked_for():
    everything = compare.tasks(("paper", "noise", "further", "random"), (0, 1, 2, 3, 4), "random-1")
    assert len(everything) == len({task.key for task in everything}) == 5 * 87 + 87 + 152 + 200
    some = compare.tasks(("further", "random"), (7,), "random-1", only=3)
    assert [task.part for task in some] == ["further"] * 3 + ["random"] * 3
    assert {task.seed for task in some} == {7}


def test_a_comparison_is_written_down_and_goes_on_where_it_was(tmp_path, monkeypatch, capsys):
    out = tmp_path / "compare.jsonl"
    command = ["compare", str(SOURCES), str(SOURCES), "--parts=paper", "--only=1", "--seeds=1", "--jobs=1"]
    monkeypatch.setattr(sys, "argv", [*command, f"--out={out}"])
    compare.main()
    rows = record.read(out)
    assert sorted((row["side"], row["problem"], row["recovered"], row["error"]) for row in rows) == [
        ("new", "koza-01", True, None),
        ("old", "koza-01", True, None),
    ]
    assert out.with_suffix(".json").is_file()
    monkeypatch.setattr(compare.Work, "measure", lambda *_: pytest.fail("it was done"))
    compare.main()
    assert capsys.readouterr().out.count("1 of 1") == 8


def test_nothing_is_begun_when_the_time_is_up(tmp_path):
    work = compare.Work(compare.tasks(("paper",), (0,), "random-1"), tmp_path / "none.jsonl", 10.0, -math.inf)
    assert work.take() is None
    assert len(work.todo) == 87


def test_a_process_that_ends_is_an_error_and_is_started_again():
    server = compare.Fitter(SOURCES)
    try:
        assert server.ask(LAW | {"seconds": 20.0}, 120.0)["formula"]
        server.server.process.kill()
        assert server.ask(LAW | {"seconds": 20.0}, 120.0)["status"] == "crashed"
        assert "Error" in server.ask(LAW | {"y": [], "X": [], "seconds": 20.0}, 120.0)["error"]
    finally:
        server.stop()


def test_the_package_must_be_the_one_that_was_asked_for(tmp_path, monkeypatch, capsys):
    with pytest.raises(RuntimeError, match="the package must be that of"):
        compare.started(tmp_path)
    monkeypatch.setattr(sys, "argv", ["compare", str(tmp_path), str(SOURCES)])
    with pytest.raises(SystemExit):
        compare.options()
    assert "old must be a folder with the package prunesymnet" in capsys.readouterr().err
