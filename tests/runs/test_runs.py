"""Runs and their folders: what survives a kill at any moment, what is told on the way, how a run ends and goes on."""

import json
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from models import (
    BANKS,
    NETWORKS,
    NOISY,
    PATIENT,
    SHORTCUTS,
    at_least_as_good,
    begun,
    content_of,
    exact,
    model,
    noisy,
    put_run,
    same_model,
    sealed,
)
from prunesymnet.data import make_dataset
from prunesymnet.errors import FileFormatError, NothingFoundError
from prunesymnet.estimator import PruneSymRegressor
from prunesymnet.expression import parse
from prunesymnet.runs import RunFolder, ended_by_hand, load_model, read_run, resume, run
from prunesymnet.search import Constraints, SearchStatus, Start

ENDED = "the run was ended from outside"


def lines(folder):
    text = (folder / "progress.jsonl").read_text()
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


# ---- a kill at any moment -------------------------------------------------------------------------------------

# One process has all imports and no threads; it forks a child for each job, and kills it: after a delay, or in the
# middle of the n-th thing that is done to a file.
KENNEL = """
import json, os, shutil, signal, sys, time
import numpy as np
import pyarrow.parquet
from prunesymnet.data import make_dataset
from prunesymnet.runs import resume, run
from prunesymnet.search import SearchSettings

rng = np.random.default_rng(0)
X = rng.uniform(0.5, 3, (300, 3))
y = np.sin(3 * X[:, 0]) * X[:, 1] / X[:, 2] + np.exp(-X[:, 1]) + 0.3 * rng.normal(size=300)
hard = make_dataset(X, y)
x = np.linspace(-3, 3, 40)
easy = make_dataset(x, x**2 / 2 - x, names=["x"])


def deadly(n):
    count = iter(range(1, 10**6))

    def due():
        return next(count) == n

    def die():
        os.kill(os.getpid(), signal.SIGKILL)

    real_write, real_fsync, real_replace = os.write, os.fsync, os.replace

    def write(handle, content):
        if due():
            real_write(handle, content[: len(content) // 2])
            die()
        return real_write(handle, content)

    def fsync(handle):
        if due():
            os.ftruncate(handle, os.fstat(handle).st_size // 2)
            die()
        if due():
            die()
        return real_fsync(handle)

    def replace(old, new):
        if due():
            die()
        real_replace(old, new)
        if due():
            die()

    os.write, os.fsync, os.replace = write, fsync, replace


ends = []
for job in json.loads(sys.argv[1]):
    child = os.fork()
    if not child:
        try:
            if job.get("die_at"):
                deadly(job["die_at"])
            settings = SearchSettings(time_limit=30, workers=1)
            if job["do"] == "run":
                run([easy if job.get("easy") else hard], settings, folder=job["folder"], progress=False)
            else:
                resume(job["folder"], time_limit=job.get("time_limit", 30), progress=False)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if "resumed" in job:  # the delay begins when the run has said so often that it goes on
        file = os.path.join(job["folder"], "progress.jsonl")
        while not os.path.exists(file) or open(file).read().count('"resumed"') < job["resumed"]:
            time.sleep(0.005)
    if "delay" in job:
        time.sleep(job["delay"])
        os.kill(child, signal.SIGKILL)
    ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    if "copy" in job and os.path.isdir(job["folder"]):
        shutil.copytree(job["folder"], job["copy"])
print(json.dumps(ends))
"""


def kennel(jobs):
    """How each job ended."""
    text = json.dumps(jobs, default=str)
    limits = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-c", KENNEL, text], capture_output=True, text=True, timeout=300, env=os.environ | limits
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def readable(folder):
    """Whether a run was begun; if so, it gives formulas with values."""
    try:
        found = read_run(folder)
    except FileFormatError as problem:
        if (folder / "run.json").exists():
            raise
        said = str(problem)
        if not said.startswith(str(folder)) or ("no run was begun" not in said and "is no folder of a run" not in said):
            raise
        return False
    data = found.tables[0]
    for law in found.latest().fronts[0]:
        assert np.isfinite(law.predict(data.columns)).all()
        assert np.isfinite(law.r2)
    return True


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Twenty folders whose runs, or second runs, were killed at random moments."""
    root, rng = tmp_path_factory.mktemp("killed"), random.Random(0)  # noqa: S311
    delays = sorted(10 ** rng.uniform(-3, 0.15) for _ in range(14))
    jobs = [{"do": "run", "folder": root / f"run{i}", "delay": delay} for i, delay in enumerate(delays)]
    for i in range(6):
        kind = "run" if i == 0 else "resume"
        delay = 10 ** rng.uniform(-3, -0.2)
        job = {"do": kind, "folder": root / "again", "resumed": i, "delay": delay, "copy": root / f"again{i}"}
        jobs.append(job)
    ends, said = kennel(jobs)
    assert ends == [-signal.SIGKILL] * 20, said
    return root


def test_after_twenty_kills_at_random_moments_all_can_be_read(killed):
    folders = [*(killed / f"run{i}" for i in range(14)), *(killed / f"again{i}" for i in range(6))]
    begun = [readable(folder) for folder in folders]
    assert any(begun)
    with_formulas = [folder for folder in folders if (folder / "progress.jsonl").exists()]
    assert with_formulas  # else nothing was tested


def test_a_killed_run_goes_on_to_a_front_at_least_as_good(killed):
    begun = [killed / f"run{i}" for i in range(14) if (killed / f"run{i}" / "run.json").exists()]
    for folder in (*begun[-1:], killed / "again"):  # on a slow machine all may have been killed before they began
        before = read_run(folder).latest()
        after = resume(folder, time_limit=0.3, progress=False)
        at_least_as_good(before.fronts[0], after.fronts[0], chosen=False)
        same_model(after, read_run(folder).latest(), read_run(folder).tables[0].columns)
        assert read_run(folder).model is not None


def test_what_a_kill_during_a_second_run_leaves_counts_the_runs(killed):
    assert [read_run(killed / f"again{i}").starts[0].again for i in range(6)] == list(range(6))


@pytest.fixture(scope="module")
def torn(tmp_path_factory):
    """Folders whose runs ended in the middle of the first, second, ... thing that was done to a file."""
    root = tmp_path_factory.mktemp("torn")
    jobs = [{"do": "run", "easy": True, "folder": root / str(n), "die_at": n} for n in range(1, 27)]
    ends, said = kennel(jobs)
    assert set(ends) == {-signal.SIGKILL, 0}, said
    assert ends == sorted(ends)  # the first so many died
    return [(root / str(n), end) for n, end in enumerate(ends, start=1)]


def test_a_kill_in_the_middle_of_any_write_leaves_a_run_that_can_be_read(torn):
    begun = [readable(folder) for folder, _ in torn]
    assert begun == sorted(begun)
    assert begun.index(True) > 0
    cut = [(f / "progress.jsonl").exists() and (f / "progress.jsonl").read_bytes()[-1:] != b"\n" for f, _ in torn]
    assert sum(cut) >= 2  # a line cut off in the middle is among them
    assert sum((folder / "model.json").exists() for folder, _ in torn) < len(torn)


def test_where_nothing_was_begun_one_can_begin_again(torn, tmp_path):
    for folder, _ in torn[:8:3]:
        shutil.copytree(folder, tmp_path / folder.name)
        run([NOISY], replace(BANKS, max_fits=1), folder=tmp_path / folder.name, progress=False)
        assert readable(tmp_path / folder.name)


def test_a_run_whose_last_line_was_cut_off_can_go_on_more_than_once(tmp_path):
    begun(tmp_path / "run")
    file = tmp_path / "run" / "progress.jsonl"
    file.write_bytes(file.read_bytes()[:-20])
    assert read_run(tmp_path / "run").starts[0].again == 0
    for count in (1, 2):
        resume(tmp_path / "run", progress=False)
        assert read_run(tmp_path / "run").starts[0].again == count


def test_a_line_cut_off_anywhere_is_left_out(tmp_path):
    begun(tmp_path / "run")
    file = tmp_path / "run" / "progress.jsonl"
    whole = file.read_bytes()
    assert whole.count(b"\n") == 1
    for length in range(0, len(whole), 7):
        file.write_bytes(whole[:length])
        assert read_run(tmp_path / "run").starts == (Start(),)
        assert np.isfinite(read_run(tmp_path / "run").latest().fronts[0].best.loss)


# ---- going on -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [NOISY, noisy(12), exact()], ids=["60", "12", "exact"])
def test_a_run_that_ended_goes_on_to_a_front_at_least_as_good(tmp_path, data):
    first = run([data], BANKS, folder=tmp_path / "run", progress=False)
    second = resume(tmp_path / "run", progress=False)
    at_least_as_good(first.fronts[0], second.fronts[0])
    third = resume(tmp_path / "run", progress=False)
    at_least_as_good(second.fronts[0], third.fronts[0])


@pytest.mark.parametrize("after", [1, 2])
def test_a_run_ended_from_outside_goes_on_to_a_front_at_least_as_good(tmp_path, after):
    data = noisy(120, noise=0.05, seed=after)
    before = read_run(begun(tmp_path / "run", data, after=after)).latest()
    assert before.fronts[0].status == ENDED
    second = resume(tmp_path / "run", progress=False)
    at_least_as_good(before.fronts[0], second.fronts[0], chosen=False)


def test_the_choice_is_at_least_as_good_after_a_run_ended_from_outside(tmp_path):
    rng = np.random.default_rng(1)
    noise = make_dataset(rng.normal(size=(150, 3)), rng.normal(size=150))
    before = read_run(begun(tmp_path / "run", noise)).latest()
    after = resume(tmp_path / "run", progress=False)
    at_least_as_good(before.fronts[0], after.fronts[0])


def test_to_go_on_is_to_have_the_same_table_and_settings(tmp_path):
    data = noisy(weights=np.linspace(0.5, 2, 60))
    settings = replace(SHORTCUTS, max_complexity=9, constraints=Constraints(max_uses={"exp": 1}), selection="bic")
    run([data], settings, columns=["the x", "the z"], folder=tmp_path / "run", progress=False)
    found = read_run(tmp_path / "run")
    for name in ("X", "y", "weights"):
        np.testing.assert_array_equal(getattr(found.tables[0], name), getattr(data, name))
    assert (found.tables[0].names, found.tables[0].target) == (data.names, data.target)
    assert (found.settings, found.columns) == (settings, ("the x", "the z"))
    model = resume(tmp_path / "run", time_limit=1e6, progress=False)
    assert all(law.complexity <= 9 for law in model.fronts[0])
    assert model.settings == replace(settings, time_limit=1e6)
    assert model.columns == ("the x", "the z")


def test_to_go_on_is_to_have_the_same_loss_and_standard_errors(tmp_path):
    plain = noisy()
    data = make_dataset(plain.X, plain.y, names=plain.names, y_err=np.full(60, 0.3))
    run([data], replace(SHORTCUTS, loss="huber"), folder=tmp_path / "run", progress=False)
    found = read_run(tmp_path / "run")
    assert found.settings.loss == "huber"
    assert found.tables[0].errors_known
    assert found.tables[0].known_variance == pytest.approx(0.09)
    assert len(found.latest().fronts[0])


def test_an_exact_formula_ends_a_second_run_at_once(tmp_path):
    run([exact()], PATIENT, folder=tmp_path / "run", progress=False)
    seen = []
    model = resume(tmp_path / "run", callbacks=[seen.append], progress=False)
    assert model.fronts[0].status == SearchStatus.EXACT.value
    assert seen == []


def test_a_function_chooses_from_what_was_found_before_and_since(tmp_path):
    def longest(frame):
        return len(frame) - 1

    x, z = NOISY.X.T
    data = make_dataset(NOISY.X, x**2 * np.exp(-z) + 0.02 * NOISY.y, names=["x", "z"])
    settings = replace(SHORTCUTS, template="f(x)*exp(-g(z))", selection=longest)
    run([data], settings, folder=tmp_path / "run", progress=False)
    (after,) = resume(tmp_path / "run", functions={"selection": longest}, progress=False).fronts
    assert after.chosen == len(after) - 1 > 0


def test_several_targets_go_on_where_each_had_come(tmp_path):
    tables = [make_dataset(NOISY.X, NOISY.y * NOISY.X[:, k], names=["x", "z"], target="ab"[k]) for k in range(2)]
    first = run(tables, BANKS, folder=tmp_path / "run", progress=False)
    assert [front.target for front in first.fronts] == ["a", "b"]
    assert {line["output"] for line in lines(tmp_path / "run")} == {0, 1}
    second = resume(tmp_path / "run", progress=False)
    for before, after in zip(first.fronts, second.fronts, strict=True):
        at_least_as_good(before, after)


def test_a_run_with_starts_begins_its_folder_too(tmp_path):
    run([NOISY], BANKS, folder=tmp_path / "run", starts=[Start((parse("1.5*x"),))], progress=False)
    assert readable(tmp_path / "run")


def test_a_warm_start_keeps_the_table_that_it_was_fitted_to(tmp_path):
    model = PruneSymRegressor(preset=BANKS, warm_start=True, run_dir=tmp_path / "run", progress=False, n_jobs=1)
    model.fit(NOISY.X, NOISY.y)
    try:
        model.fit(NOISY.X, 2 * NOISY.y)
    except FileExistsError:
        return
    np.testing.assert_array_equal(read_run(tmp_path / "run").tables[0].y, 2 * NOISY.y)


def test_the_choice_of_a_run_ended_from_outside_is_the_searchs(tmp_path):
    settings = replace(BANKS, selection="accuracy")
    front = read_run(begun(tmp_path / "run", NOISY, settings, after=2)).latest().fronts[0]
    assert front.best.loss == min(law.loss for law in front)


def test_description_lengths_can_be_compared_where_rows_are_many(tmp_path):
    data, settings = noisy(300, noise=0.05), replace(BANKS, rows=100)
    before = read_run(begun(tmp_path / "run", data, settings, after=2)).latest()
    after = resume(tmp_path / "run", progress=False)
    at_least_as_good(before.fronts[0], after.fronts[0])


def test_what_a_second_run_found_before_it_was_ended_is_the_latest(tmp_path):
    def stop(update):
        raise StopIteration

    def end(update):
        if update.best.fit.r2 > 0.9:
            raise ConnectionError

    data = noisy(200, noise=0.01)
    first = run([data], PATIENT, folder=tmp_path / "run", callbacks=[stop], progress=False).fronts[0]
    assert first.best.r2 < 0.5
    with pytest.raises(ConnectionError):
        resume(tmp_path / "run", callbacks=[end], progress=False)
    assert read_run(tmp_path / "run").latest().fronts[0].best.r2 > 0.8


def test_a_run_that_found_nothing_allowed_gives_nothing_that_is_not(tmp_path):
    rules = Constraints(requires=("x",), max_uses={"x": 0})
    with pytest.raises(NothingFoundError):
        run([NOISY], replace(SHORTCUTS, constraints=rules), folder=tmp_path / "run", progress=False)
    try:
        latest = read_run(tmp_path / "run").latest()
    except NothingFoundError:
        return
    assert rules.violated_by(latest.fronts[0].best.expression) is None


# ---- folders --------------------------------------------------------------------------------------------------


def test_a_folder_that_has_a_run_is_left_as_it_is(tmp_path):
    begun(tmp_path / "run")
    before = content_of(tmp_path / "run")
    with pytest.raises(FileExistsError, match=r"has a run already; go on with it .* or name another folder"):
        run([noisy(seed=5)], BANKS, folder=tmp_path / "run", progress=False)
    assert content_of(tmp_path / "run") == before


def test_a_folder_may_be_there_and_may_be_deep(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "notes.txt").write_text("mine")
    for folder in (tmp_path / "there", tmp_path / "a" / "b" / "c"):
        assert readable(begun(folder))
    assert (tmp_path / "there" / "notes.txt").read_text() == "mine"


def test_a_run_leaves_no_other_files(tmp_path):
    run([exact()], PATIENT, folder=tmp_path / "run", progress=False)
    assert set(content_of(tmp_path / "run")) == {"data.parquet", "run.json", "progress.jsonl", "model.json"}
    for path in (tmp_path / "run").iterdir():
        assert path.stat().st_mode & 0o077 == 0o066 & ~_umask() & 0o077


def _umask():
    now = os.umask(0)
    os.umask(now)
    return now


def test_a_model_that_was_there_before_is_not_the_runs(tmp_path):
    (tmp_path / "run").mkdir()
    model().save(tmp_path / "run" / "model.json")
    try:
        begun(tmp_path / "run")
    except FileExistsError:
        return
    assert read_run(tmp_path / "run").latest().fronts[0].status == ENDED


@pytest.mark.parametrize("below", [".", "deeper"])
def test_a_path_that_is_a_file_is_refused(tmp_path, below):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OSError, match="file"):
        run([NOISY], BANKS, folder=tmp_path / "file" / below, progress=False)
    assert (tmp_path / "file").read_text() == "mine"
    with pytest.raises(FileFormatError, match="file: is no folder of a run"):
        read_run(tmp_path / "file")
    with pytest.raises(FileFormatError, match="nowhere: is no folder of a run"):
        resume(tmp_path / "nowhere", progress=False)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileFormatError, match=r"empty: has no run\.json"):
        resume(tmp_path / "empty", progress=False)
    assert content_of(tmp_path / "empty") == {}


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="rights are others there")
def test_a_folder_that_may_not_be_written_is_refused(tmp_path):
    begun(tmp_path / "run")  # so that all is imported: nobody may read nothing
    user = os.geteuid()
    folder = Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o555)
        if user == 0:
            os.seteuid(65534)  # nobody: root may write anywhere
        for path in (folder, folder / "run"):
            with pytest.raises(PermissionError, match=folder.name):
                run([NOISY], BANKS, folder=path, progress=False)
    finally:
        os.seteuid(user)
        folder.chmod(0o755)
        left = list(folder.iterdir())
        shutil.rmtree(folder)
    assert left == []


def test_many_targets_are_no_reason_to_warn(tmp_path):
    tables = [make_dataset(NOISY.X, NOISY.y + k, names=["x", "z"], target=f"y{k}") for k in range(120)]
    RunFolder(tmp_path / "run").create(tables, ["x", "z"], BANKS)


def test_two_targets_of_one_name_are_refused_or_kept(tmp_path):
    tables = [make_dataset(NOISY.X, NOISY.y + k, names=["x", "z"], target="y") for k in range(2)]
    folder = RunFolder(tmp_path / "run")
    try:
        folder.create(tables, ["x", "z"], BANKS)
    except ValueError:
        return
    np.testing.assert_array_equal(read_run(tmp_path / "run").tables[0].y, tables[0].y)


# ---- what is told on the way ----------------------------------------------------------------------------------


def check_lines(folder, names, outputs):
    told = lines(folder)
    times = [record["time"] for record in told]
    assert times == sorted(times)
    for record in told:
        if "best" in record:
            assert set(parse(record["best"]).variables) <= set(names)
            assert record["seconds"] >= 0
            assert record["stage"]
            assert record["output"] in range(outputs)
            assert {"fits", "scored", "levels", "epoch", "heldout_mse"} <= set(record)
        for text in record.get("front", ()):
            assert set(parse(text).variables) <= set(names)
    return told


@pytest.mark.parametrize("settings", [SHORTCUTS, NETWORKS], ids=["shortcuts", "networks"])
def test_every_line_is_json_and_every_formula_can_be_read(tmp_path, settings):
    run([NOISY], settings, folder=tmp_path / "run", progress=False)
    told = check_lines(tmp_path / "run", ["x", "z"], 1)
    assert "front" in told[0]
    assert told[-1]["ended"] in [status.value for status in SearchStatus]
    steps = [record["seconds"] for record in told if "stage" in record]
    assert steps == sorted(steps)
    fronts = [record["front"] for record in told if "front" in record]
    assert all(one != two for one, two in pairwise(fronts))  # written where it has changed


def test_lines_of_several_targets_and_of_a_second_run(tmp_path):
    tables = [NOISY, make_dataset(NOISY.X, NOISY.X[:, 0] * NOISY.y, names=["x", "z"], target="t")]
    run(tables, BANKS, folder=tmp_path / "run", progress=False)
    told = check_lines(tmp_path / "run", ["x", "z"], 2)
    assert [record["output"] for record in told if "ended" in record] == [0, 1]
    steps = [record["output"] for record in told if "stage" in record]
    assert steps == sorted(steps)
    resume(tmp_path / "run", time_limit=1e6, progress=False)
    more = check_lines(tmp_path / "run", ["x", "z"], 2)
    assert more[: len(told)] == told
    assert more[len(told)]["resumed"] == 1e6
    assert len([record for record in more if "ended" in record]) == 4


@pytest.mark.parametrize("settings", [SHORTCUTS, NETWORKS], ids=["shortcuts", "networks"])
def test_a_callback_is_called_once_for_each_new_best(tmp_path, settings):
    updates = []
    run([NOISY], settings, folder=tmp_path / "run", callbacks=[updates.append], progress=False)
    bests = [update.best for update in updates]
    assert bests
    assert len({id(best) for best in bests}) == len(bests)
    errors = [best.heldout_mse for best in bests]
    assert errors == sorted(errors, reverse=True)
    told = [record["best"] for record in lines(tmp_path / "run") if "best" in record]
    texts = iter([str(best.fit.expression) for best in bests])
    assert all(text in texts for text, _ in groupby(told))  # in the same order


def test_every_callback_is_called():
    one, two = [], []
    run([NOISY], NETWORKS, callbacks=[one.append, two.append], progress=False)
    assert one == two != []


def test_a_callback_may_end_the_run_with_the_best_so_far(tmp_path):
    def stop(update):
        raise StopIteration

    model = run([NOISY], PATIENT, folder=tmp_path / "run", callbacks=[stop], progress=False)
    assert model.fronts[0].status == SearchStatus.STOPPED.value == "stopped by a callback"
    assert ended_by_hand(model.fronts[0])
    assert np.isfinite(model.fronts[0].best.loss)
    assert lines(tmp_path / "run")[-1]["ended"] == SearchStatus.STOPPED.value
    same_model(model, load_model(tmp_path / "run" / "model.json"), NOISY.columns)


def test_a_callback_that_ends_the_run_ends_it_for_all_targets():
    tables = [NOISY, noisy(seed=1, target="t")]

    def stop(update):
        raise StopIteration

    model = run(tables, PATIENT, callbacks=[stop], progress=False)
    assert len(model.fronts) == 2
    assert model.fronts[0].status == SearchStatus.STOPPED.value


def test_an_error_of_a_callback_is_passed_on_and_the_folder_can_be_read(tmp_path):
    folder = begun(tmp_path / "run", after=2)
    assert readable(folder)
    assert not (folder / "model.json").exists()
    assert resume(folder, progress=False).fronts[0].best.r2 > 0


def test_the_log_tells_of_start_end_and_each_new_best(caplog):
    calls = []
    with caplog.at_level(logging.DEBUG, "prunesymnet"):
        run([NOISY, noisy(seed=1, target="t")], NETWORKS, callbacks=[calls.append], progress=False)
    info = [record for record in caplog.records if record.levelno == logging.INFO]
    assert [record.name for record in caplog.records] == ["prunesymnet"] * len(caplog.records)
    assert len(info) == 4
    assert info[0].getMessage().startswith("y: 60 rows, 2 columns, at most ")
    assert "y = " in info[1].getMessage()
    assert SearchStatus.MAX_EPOCHS.value in info[1].getMessage()
    debug = [record for record in caplog.records if record.levelno == logging.DEBUG]
    assert len(debug) == len(calls) > 0
    assert caplog.records[0] is info[0]
    assert caplog.records[-1] is info[3]


def test_without_being_asked_it_is_silent(capfd):
    run([NOISY], NETWORKS)
    assert tuple(capfd.readouterr()) == ("", "")
    assert logging.getLogger("prunesymnet").handlers == []


# ---- Ctrl-C ---------------------------------------------------------------------------------------------------

INTERRUPTED = """
import pathlib, sys
import numpy as np
from prunesymnet.data import make_dataset
from prunesymnet.runs import run
from prunesymnet.search import SearchSettings

folder, marker, rows, when = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
rng = np.random.default_rng(0)
X = rng.uniform(0.5, 3, (rows, 5))
y = np.sin(3 * X[:, 0]) * X[:, 1] / X[:, 2] + np.exp(-X[:, 3]) * X[:, 4] + 0.3 * rng.normal(size=rows)
bests = []

def watch(update):
    bests.append(update)
    if len(bests) == when:
        marker.touch()

run([make_dataset(X, y)], SearchSettings(time_limit=float("inf"), workers=1), folder=folder, callbacks=[watch])
"""


@pytest.mark.parametrize(("rows", "when"), [(300, 2), (50_000, 1)])
def test_ctrl_c_ends_it_with_the_best_so_far(tmp_path, rows, when):
    marker = tmp_path / "marker"
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "run"), str(marker), str(rows), str(when)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            while not marker.exists() and process.poll() is None:
                time.sleep(0.01)
            assert marker.exists()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=100)  # left alone, it would go on for ever
        finally:
            process.kill()
    assert (process.returncode, out, err) == (0, b"", b"")
    front = load_model(tmp_path / "run" / "model.json").fronts[0]
    assert front.status == SearchStatus.INTERRUPTED.value
    assert max(equation.r2 for equation in front) > 0
    assert lines(tmp_path / "run")[-1]["ended"] == SearchStatus.INTERRUPTED.value


# ---- folders that can't be trusted ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of which a file may be replaced; what was there is put back."""
    return begun(tmp_path_factory.mktemp("untrusted") / "run")


@pytest.fixture
def untrusted(folder):
    before = content_of(folder)
    yield folder
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name, text in before.items():
        (folder / name).write_bytes(text)


def refused_run(folder, file, match=None):
    with pytest.raises(FileFormatError, match=match) as caught:
        read_run(folder).latest()
    assert str(caught.value).startswith(str(folder / file))


@pytest.mark.parametrize(
    ("changes", "file"),
    [
        ({"names": []}, "data.parquet"),
        ({"names": ["x", "x"]}, "data.parquet"),
        ({"names": ["x", "w"]}, "data.parquet"),
        ({"targets": ["w"]}, "data.parquet"),
        ({"targets": ["x"]}, "data.parquet"),
        ({"names": ["../x", "z"]}, "run.json"),
        ({"targets": None}, "run.json"),
        ({"columns": []}, "run.json"),
        ({"columns": [1, 2]}, "run.json"),
        ({"columns": ["x", "z", "w"]}, "run.json"),
        ({"measurements": -1}, "run.json"),
        ({"settings": {"seed": -1}}, "run.json"),
        ({"settings": None}, "run.json"),
    ],
    ids=str,
)
def test_a_run_with_values_that_none_has_is_refused(untrusted, changes, file):
    put_run(untrusted, **changes)
    refused_run(untrusted, file)


@pytest.mark.parametrize(
    "changes",
    [{"targets": []}, {"targets": ["y", "y"]}, {"measurements": 0}],
    ids=str,
)
def test_more_runs_with_values_that_none_has_are_refused(untrusted, changes):
    put_run(untrusted, **changes)
    refused_run(untrusted, "run.json")


# fmt: off
LINES = [
    "no json", "", "[1]", "5", '{"output": 0', '{"output": NaN}', "[" * 10**5, '{"a": 1}{"b": 2}',
    '{"output": 0, "levels": 1, "front": ["__import__(\'os\').system(\'touch hacked\')"]}',
    '{"output": 0, "levels": 1, "front": ["1.0*w"]}', '{"output": 0, "levels": 1, "front": [null]}',
]
# fmt: on


def test_lines_that_no_run_has_are_refused(untrusted):
    file = untrusted / "progress.jsonl"
    first = file.read_text()
    for text in LINES:
        file.write_text(f"{first}{text}\n")
        refused_run(untrusted, "progress.jsonl", "line 2")


@pytest.mark.parametrize("levels", ["-1", "1.5", '"one"', "null"])
def test_a_line_with_a_wrong_number_is_refused_by_name(untrusted, levels):
    file = untrusted / "progress.jsonl"
    file.write_text(file.read_text() + f'{{"output": 0, "levels": {levels}}}\n')
    refused_run(untrusted, "progress.jsonl", "line 2.*levels")


def test_lines_of_targets_that_are_not_there_are_left_out(untrusted):
    before = read_run(untrusted).starts
    file = untrusted / "progress.jsonl"
    for output in ("-1", "7", '"0"', "null", "[]", "1e3"):
        file.write_text(file.read_text() + f'{{"output": {output}, "levels": 2, "front": ["1.0*x"]}}\n')
    assert read_run(untrusted).starts == before


def test_a_run_that_lacks_something_is_refused_by_name(untrusted):
    whole = json.loads((untrusted / "run.json").read_text())["content"]
    for name in ("names", "targets", "columns", "measurements", "settings", "data"):
        lacking = {key: value for key, value in whole.items() if key != name}
        (untrusted / "run.json").write_text(sealed(lacking, kind="prunesymnet run"))
        refused_run(untrusted, "run.json", name)


def test_a_table_that_is_missing_cut_off_or_another_is_refused(untrusted):
    file = untrusted / "data.parquet"
    whole = file.read_bytes()
    for length in (0, 4, 100, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        refused_run(untrusted, "data.parquet", "is not the table of this run")
    pd.DataFrame({"x": ["a", "b"], "z": [1, 2], "y": [1, 2]}).to_parquet(file)
    refused_run(untrusted, "data.parquet")
    pd.DataFrame({"x": [1.0, np.nan], "z": [1, 2], "y": [1, 2]}).to_parquet(file)
    refused_run(untrusted, "data.parquet")
    file.write_text("x,z,y\n1,2,3\n")
    refused_run(untrusted, "data.parquet")
    file.unlink()
    refused_run(untrusted, "data.parquet")


def test_a_table_with_a_bit_flipped_is_refused_or_says_the_same(untrusted):
    file = untrusted / "data.parquet"
    whole, before, rng = file.read_bytes(), read_run(untrusted).tables[0], random.Random(2)  # noqa: S311
    for _ in range(60):
        flipped = bytearray(whole)
        flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
        file.write_bytes(flipped)
        try:
            found = read_run(untrusted).tables[0]
        except FileFormatError:
            continue
        np.testing.assert_array_equal(found.X, before.X)
        np.testing.assert_array_equal(found.y, before.y)


def test_a_model_that_was_changed_is_refused_with_the_run(untrusted):
    model().save(untrusted / "model.json")
    text = (untrusted / "model.json").read_text()
    (untrusted / "model.json").write_text(text.replace("sin(", "cos("))
    refused_run(untrusted, "model.json", "was changed after it was written")


@pytest.mark.parametrize("other", [model(), replace(model(), fronts=model().fronts[1:])], ids=["two fronts", "target"])
def test_a_model_of_another_run_is_refused(untrusted, other):
    other.save(untrusted / "model.json")
    refused_run(untrusted, "model.json")


@pytest.mark.parametrize("name", ["run.json", "model.json"])
def test_a_folder_where_a_file_should_be_is_refused(untrusted, name):
    (untrusted / name).unlink(missing_ok=True)
    (untrusted / name).mkdir()
    refused_run(untrusted, name)


def test_files_of_one_kind_are_not_taken_for_another(untrusted):
    shutil.copy(untrusted / "run.json", untrusted / "model.json")
    refused_run(untrusted, "model.json", "is no prunesymnet model file")


@pytest.mark.parametrize("settings", [replace(SHORTCUTS, template="f(x)*z"), replace(SHORTCUTS, constants_per="site")])
def test_templates_and_categories_tell_their_formulas_and_keep_them_when_they_go_on(tmp_path, settings):
    rng = np.random.default_rng(0)
    x, z = rng.uniform(1, 3, (2, 60))
    site = rng.integers(0, 2, 60)
    X = np.column_stack([x, z, site == 0, site == 1])
    y = (x**2 + 1 + (settings.constants_per is not None) * site) * z + 0.05 * rng.normal(size=60)
    data, columns = make_dataset(X, y, names=["x", "z", "site_a", "site_b"]), ["x", "z", "site=a", "site=b"]
    found = run([data], settings, columns=columns, folder=tmp_path, progress=False)
    lines = [json.loads(line) for line in (tmp_path / "progress.jsonl").read_text().splitlines()]
    assert sum("front" in line for line in lines) > 1
    assert len({line.get("stage") for line in lines}) > 2
    again = resume(tmp_path, time_limit=1e-9, progress=False)
    assert again.fronts[0].best.text() == found.fronts[0].best.text()
    assert same_model(again, load_model(tmp_path / "model.json"), data.columns) is None
