"""What may happen to a run's folder: lines cut off, a full disk, a folder that goes away, two runs at once, and folders
made by somebody else, with links, pipes and devices where files should be."""

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from damage import remove
from models import BANKS, NOISY, PATIENT, begun, content_of, exact, model, put_run, saved, sealed
from prunesymnet.cli.app import app
from prunesymnet.cli.errors import BAD_INPUT
from prunesymnet.errors import FileFormatError, FolderInUseError, NotWrittenWarning
from prunesymnet.estimator import PruneSymRegressor
from prunesymnet.report import write_report
from prunesymnet.runs import files, folder, load_model, log, read_run, resume, run, save_or_warn

QUICK = replace(BANKS, max_fits=1)  # a run of which only the files matter
VICTIM = "what belongs to somebody else"


def command(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    data = exact()
    pd.DataFrame({"x": data.X[:, 0], "z": data.X[:, 1], "y": data.y}).to_csv(path, index=False)
    return path


# ---- lines that were cut off ----------------------------------------------------------------------------------


def cut_off(folder, count=40):
    """`head -c -40`"""
    file = folder / "progress.jsonl"
    file.write_bytes(file.read_bytes()[:-count])


def test_a_report_is_written_after_a_cut_off_line_and_a_resume(tmp_path):
    run([exact()], PATIENT, folder=tmp_path / "run", progress=False)
    cut_off(tmp_path / "run")
    for steps in (["report"], ["resume", "report"], ["show"]):
        for step in steps:
            done = command(step, tmp_path / "run", *(["--quiet"] if step == "resume" else []))
            assert done.exit_code == 0, done.output
    assert "x**2/2 - x" in (tmp_path / "run" / "report.html").read_text()


def test_lines_may_be_cut_off_again_and_again(tmp_path):
    begun(tmp_path / "run")
    before = read_run(tmp_path / "run").starts
    for _ in range(2):  # a line of the search, then the line that says that the run goes on
        cut_off(tmp_path / "run", 5)
        log.append(tmp_path / "run" / "progress.jsonl", {"time": 1.0, "resumed": 5.0})
    cut_off(tmp_path / "run", 5)
    assert read_run(tmp_path / "run").starts[0].again == 0
    assert before[0].formulas
    resume(tmp_path / "run", progress=False)
    write_report(read_run(tmp_path / "run"), tmp_path / "report.html")


def test_the_lines_say_how_long_a_run_took_that_was_cut_off(tmp_path):
    begun(tmp_path / "run")
    file = tmp_path / "run" / "progress.jsonl"
    file.write_text(file.read_text() + '{"time": 5e8, "output": 0, "seconds": 75.0, "fits": 1234}\n')
    # What no run says is passed over.
    for value in ("true", "-1", "1e999", "1e99", '"long"', "null"):
        file.write_text(file.read_text() + f'{{"time": {value}, "output": 0, "seconds": {value}, "fits": {value}}}\n')
    found = read_run(tmp_path / "run").log
    assert (found.written, found.ended, found.seconds, found.fits) == (5e8, False, {0: 75.0}, {0: 1234})
    page, *_ = write_report(read_run(tmp_path / "run"), tmp_path / "report.html")
    assert "1,234 formulas" in page.read_text()
    assert "1 min 15 s" in page.read_text()


def test_a_line_or_a_log_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    begun(tmp_path / "run")
    monkeypatch.setattr(log, "LARGEST_LOG", 10)
    with pytest.raises(FileFormatError, match=r"progress\.jsonl, line 1: "):
        read_run(tmp_path / "run")
    monkeypatch.undo()
    monkeypatch.setattr(log, "LARGEST", 10)
    with pytest.raises(FileFormatError, match=r"progress\.jsonl: line 1 has more than"):
        read_run(tmp_path / "run")


# ---- what can't be written ------------------------------------------------------------------------------------


def found_all_the_same(folder, happens):
    """A search to whose folder something happens at its first formula gives its formula, and says what is missing."""

    def once(update, done=[]):  # noqa: B006 - a memory of its own
        if not done:
            done.append(happens())

    with pytest.warns(
        NotWrittenWarning, match=r"(progress|model).* could not be written .* all that was found"
    ) as said:
        model = run([exact()], PATIENT, folder=folder, callbacks=[once], progress=False)
    assert str(model.fronts[0].best) == "y = x**2/2 - x"
    assert [w.category for w in said] == [NotWrittenWarning]
    return str(said[0].message)


def test_a_folder_that_is_deleted_does_not_end_the_search(tmp_path):
    said = found_all_the_same(tmp_path / "run", lambda: shutil.rmtree(tmp_path / "run"))
    assert "progress.jsonl and model.json" in said or "model.json and progress.jsonl" in said
    assert not (tmp_path / "run").exists()


def test_nothing_is_written_to_a_folder_that_took_its_place(tmp_path):
    def another():
        shutil.rmtree(tmp_path / "run")
        begun(tmp_path / "run")
        before.update(content_of(tmp_path / "run"))

    before = {}
    found_all_the_same(tmp_path / "run", another)
    assert content_of(tmp_path / "run") == before


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EIO, errno.EDQUOT])
def test_a_disk_that_takes_no_more_does_not_end_the_search(tmp_path, monkeypatch, code):
    def full(*arguments, **options):
        raise OSError(code, os.strerror(code), "a file")

    def happens():
        monkeypatch.setattr(log, "open_regular", full)
        monkeypatch.setattr(files.tempfile, "mkstemp", full)

    said = found_all_the_same(tmp_path / "run", happens)
    assert os.strerror(code) in said
    monkeypatch.undo()
    assert read_run(tmp_path / "run").model is None
    assert load_model(saved(tmp_path, read_run(tmp_path / "run").latest()))


def test_a_line_that_the_disk_has_no_room_for_is_not_left_half_written(tmp_path, monkeypatch):
    begun(tmp_path / "run")
    file, write = tmp_path / "run" / "progress.jsonl", os.write
    before = file.read_bytes()
    monkeypatch.setattr(os, "write", lambda handle, content: write(handle, content[:7]))
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        log.append(file, {"time": 1.0})
    assert file.read_bytes() == before


def test_a_disk_that_has_room_again_gets_what_was_found(tmp_path, monkeypatch):
    real = log.open_regular

    def full(*arguments, **options):
        monkeypatch.setattr(log, "open_regular", real)  # from the next line on
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    said = found_all_the_same(tmp_path / "run", lambda: monkeypatch.setattr(log, "open_regular", full))
    assert "model.json" not in said
    assert str(read_run(tmp_path / "run").latest().fronts[0].best) == "y = x**2/2 - x"


def test_the_command_prints_what_it_found_when_its_folder_goes_away(tmp_path, table, monkeypatch):
    def gone(self, output, update):
        shutil.rmtree(self.path, ignore_errors=True)
        tell(self, output, update)

    tell = folder.RunFolder.tell
    monkeypatch.setattr(folder.RunFolder, "tell", gone)
    done = command("fit", table, "-y", "y", "--out", tmp_path / "run", "-q")
    assert done.stdout.startswith("y = x**2/2 - x\n")
    assert done.exit_code == BAD_INPUT
    assert done.stderr.startswith("note: ")
    assert "model.json" in done.stderr


def test_where_a_model_can_be_saved_is_checked_before_the_search(tmp_path, table, monkeypatch):
    monkeypatch.setattr("prunesymnet.runs.run", None)  # a search would be an error of another kind
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(table)
    for path in (tmp_path / "nowhere" / "model.json", tmp_path / "folder", tmp_path / "pipe", tmp_path / "link"):
        done = command("fit", table, "-y", "y", "--save", path, "-q")
        assert done.exit_code == BAD_INPUT
        assert done.stderr.startswith(f"error: {path}: ")
        assert done.stdout == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "link", "pipe", "table.csv"]


def test_a_model_that_can_not_be_saved_after_all_is_printed(tmp_path, table, monkeypatch):
    def gone(model, path):
        shutil.rmtree(tmp_path / "there")
        save_or_warn(model, path)

    (tmp_path / "there").mkdir()
    monkeypatch.setattr("prunesymnet.runs.save_or_warn", gone)
    done = command("fit", table, "-y", "y", "--save", tmp_path / "there" / "model.json", "-q")
    assert done.stdout.startswith("y = x**2/2 - x\n")
    assert done.exit_code == BAD_INPUT
    assert done.stderr.startswith(f"note: {tmp_path / 'there' / 'model.json'}: could not be written")


def test_an_estimator_is_fitted_when_its_folder_goes_away(tmp_path):
    data = exact()
    estimator = PruneSymRegressor(
        preset=PATIENT,
        run_dir=tmp_path / "run",
        callbacks=[lambda update: shutil.rmtree(tmp_path / "run", ignore_errors=True)],
        progress=False,
    )
    with pytest.warns(NotWrittenWarning):
        estimator.fit(data.X, data.y)
    assert str(estimator.best_) == "y = x1**2/2 - x1"


# ---- two at once ----------------------------------------------------------------------------------------------


def test_a_folder_that_a_run_is_writing_to_is_left_alone(tmp_path):
    refused = []

    def another(update):
        for attempt in (
            lambda: resume(tmp_path / "run", progress=False),
            lambda: run([NOISY], QUICK, folder=tmp_path / "run", progress=False),
        ):
            with pytest.raises((FolderInUseError, FileExistsError), match="run") as caught:
                attempt()
            refused.append(type(caught.value))
        assert read_run(tmp_path / "run").latest().fronts  # but it can be read

    run([exact()], PATIENT, folder=tmp_path / "run", callbacks=[another], progress=False)
    assert refused[:2] == [FolderInUseError, FileExistsError]
    resume(tmp_path / "run", callbacks=[another], progress=False)
    assert not (tmp_path / "run" / ".lock").exists()


def test_of_two_runs_that_begin_at_once_one_gets_the_folder(tmp_path):
    tables = [NOISY, exact()]
    for i in range(12):
        path, ready, ends = tmp_path / str(i), threading.Barrier(2), []

        def begin(table, path=path, ready=ready, ends=ends):
            with folder.RunFolder(path) as kept:
                ready.wait()
                try:
                    kept.create([table], None, QUICK)
                except (FolderInUseError, FileExistsError):
                    return
            ends.append(table)

        threads = [threading.Thread(target=begin, args=(table,)) for table in tables]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(ends) == 1
        np.testing.assert_array_equal(read_run(path).tables[0].y, ends[0].y)
        assert set(content_of(path)) == {"data.parquet", "run.json"}


def test_another_process_is_refused_too_and_one_that_died_leaves_no_lock(tmp_path):
    begun(tmp_path / "run")
    code = (
        "import sys, os; from prunesymnet.runs import RunFolder; kept = RunFolder(sys.argv[1]); kept.open(); "
        "print('locked', flush=True); sys.stdin.read(); os._exit(9)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, tmp_path / "run"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout.readline() == b"locked\n"
        done = command("resume", tmp_path / "run", "-q")
        assert done.exit_code == BAD_INPUT
        assert "another run is writing to this folder" in done.stderr
        other.stdin.close()
        other.wait(timeout=100)
    assert (tmp_path / "run" / ".lock").exists()
    resume(tmp_path / "run", progress=False)
    assert not (tmp_path / "run" / ".lock").exists()


def test_a_run_that_fails_to_begin_leaves_no_lock(tmp_path):
    begun(tmp_path / "run")
    assert ".lock" not in content_of(tmp_path / "run")  # although a callback raised
    (tmp_path / "run" / "data.parquet").write_bytes(b"")
    with pytest.raises(FileFormatError):
        resume(tmp_path / "run", progress=False)
    assert ".lock" not in content_of(tmp_path / "run")


# ---- folders from somebody else -------------------------------------------------------------------------------


@pytest.fixture
def victim(tmp_path):
    path = tmp_path / "victim"
    path.write_text(VICTIM)
    yield path
    assert path.read_text() == VICTIM
    assert not (tmp_path / "made").exists()


def odd_files(folder, victim):
    """What may stand where a file should be: each made by a function of the path."""
    yield "a link", lambda path: path.symlink_to(victim)
    yield "a link to nothing", lambda path: path.symlink_to(victim.parent / "made")
    yield "a link to a device", lambda path: path.symlink_to("/dev/zero")
    yield "a link to itself", lambda path: path.symlink_to(path)
    yield "a pipe", os.mkfifo
    yield "a folder", os.mkdir


@pytest.mark.parametrize("name", ["run.json", "data.parquet", "progress.jsonl", "model.json"])
def test_what_is_no_regular_file_is_neither_read_nor_written(tmp_path, victim, name):
    run([exact()], QUICK, folder=tmp_path / "run", progress=False)
    file = tmp_path / "run" / name
    for _, put in odd_files(tmp_path / "run", victim):
        remove(file)
        put(file)
        for attempt in ("show", "report", "resume"):
            done = command(attempt, tmp_path / "run")
            assert done.exit_code == BAD_INPUT, done.output
            assert done.stderr.startswith(f"error: {file}: can't be read (")
        assert not (tmp_path / "run" / ".lock").exists()


@pytest.mark.parametrize("name", ["run.json", "progress.jsonl", "model.json", "data.parquet", ".lock"])
def test_a_run_does_not_begin_where_a_link_is_in_its_way(tmp_path, victim, name):
    for _, put in odd_files(tmp_path / "run", victim):
        (tmp_path / "run").mkdir()
        put(tmp_path / "run" / name)
        if name == ".lock" and (tmp_path / "run" / name).is_fifo():
            pass  # a pipe can be locked like any other file
        else:
            with pytest.raises(OSError, match="run"):
                run([NOISY], QUICK, folder=tmp_path / "run", progress=False)
        shutil.rmtree(tmp_path / "run")


def test_a_link_that_takes_the_place_of_a_file_is_not_followed(tmp_path, victim):
    def link(name):
        remove(tmp_path / "run" / name)
        (tmp_path / "run" / name).symlink_to(victim)

    for name in ("progress.jsonl", "model.json"):
        said = found_all_the_same(tmp_path / "run", lambda name=name: link(name))
        assert name in said
        shutil.rmtree(tmp_path / "run")


def report_is_refused(folder, name, put):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    put(path)
    done = command("report", folder)
    assert done.exit_code == BAD_INPUT
    assert str(path) in done.stderr
    remove(path)


def test_a_picture_of_a_report_does_not_overwrite_what_is_behind_a_link(tmp_path, victim):
    run([exact()], QUICK, folder=tmp_path / "run", progress=False)
    report_is_refused(tmp_path / "run", "report/formula.png", lambda path: path.symlink_to(victim))


@pytest.mark.parametrize("name", ["report", "report.html"])
def test_a_report_does_not_overwrite_what_is_behind_a_link(tmp_path, victim, name):
    run([exact()], QUICK, folder=tmp_path / "run", progress=False)
    for _, put in odd_files(tmp_path / "run", victim):
        if put is not os.mkdir:  # where a report may be
            report_is_refused(tmp_path / "run", name, put)


def test_a_report_goes_where_a_link_of_ones_own_leads(tmp_path):
    run([exact()], QUICK, folder=tmp_path / "run", progress=False)
    (tmp_path / "pages").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "pages")
    (tmp_path / "latest").symlink_to(tmp_path / "run")
    assert command("report", tmp_path / "latest", "--out", tmp_path / "link").exit_code == 0
    assert (tmp_path / "pages" / "report.html").exists()


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev/stdin", "/proc/self/mem"])
def test_a_device_is_no_model(path):
    if not os.path.exists(path):
        pytest.skip("no such device here")
    done = command("show", path)
    assert done.exit_code == BAD_INPUT
    assert done.stderr.startswith(f"error: {path}: ")
    assert done.stderr.count("\n") == 1


def test_a_pipe_or_a_link_is_no_model(tmp_path, victim):
    for name, put in odd_files(tmp_path, victim):
        if name != "a folder":
            put(tmp_path / "model.json")
            with pytest.raises(FileFormatError, match=r"model\.json: can't be read \((it is|No such|Too many|)"):
                load_model(tmp_path / "model.json")
            with pytest.raises(OSError, match="is no regular file"):
                model().save(tmp_path / "model.json")
            remove(tmp_path / "model.json")


def test_what_is_written_beside_a_model_is_gone_when_it_fails(tmp_path):
    (tmp_path / "model.json").mkdir()
    with pytest.raises(OSError, match="is no regular file"):
        model().save(tmp_path / "model.json")
    assert os.listdir(tmp_path) == ["model.json"]


# ---- tables that expand ---------------------------------------------------------------------------------------


def with_table(folder, frame):
    """A run whose table is another one, as somebody makes it who knows how we seal our files."""
    data = frame.to_parquet(index=False)
    (folder / "data.parquet").write_bytes(data)
    put_run(folder, data=hashlib.sha256(data).hexdigest(), measurements=len(frame))


def test_a_table_that_expands_is_refused_before_it_is_read(tmp_path, monkeypatch):
    begun(tmp_path / "run")
    rows = 100_000
    with_table(tmp_path / "run", pd.DataFrame(dict.fromkeys("xzy", np.zeros(rows))))
    assert (tmp_path / "run" / "data.parquet").stat().st_size < 10_000
    monkeypatch.setattr(folder, "LARGEST_TABLE", 1_000_000)
    with pytest.raises(
        FileFormatError, match=r"data\.parquet: is not the table of this run \(it has 100,000 rows, more"
    ):
        read_run(tmp_path / "run")
    monkeypatch.setattr(folder, "LARGEST_TABLE", 100)
    with pytest.raises(FileFormatError, match=r"data\.parquet: has 0 MiB, more than"):
        read_run(tmp_path / "run")


def test_a_table_of_other_things_than_numbers_is_refused(tmp_path):
    begun(tmp_path / "run")
    for column in (["a", "b"], [b"a", b"b"], [[1.0], [2.0]], [{"a": 1}, {"a": 2}], [True, False], [None, None]):
        with_table(tmp_path / "run", pd.DataFrame({"x": column, "z": [1.0, 2.0], "y": [1.0, 2.0]}))
        with pytest.raises(FileFormatError, match=r"data\.parquet: is not the table of this run"):
            read_run(tmp_path / "run")


# ---- messages -------------------------------------------------------------------------------------------------


def test_what_a_terminal_would_obey_is_not_printed(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(sealed({"anything": 1}, version=2, made_by="\x1b[2J\x1b]0;owned\x07\u202e" + "x" * 10_000))
    done = command("show", path)
    assert done.exit_code == BAD_INPUT
    assert "made by \\x1b[2J\\x1b]0;owned\\x07\\u202exxx" in done.stderr
    assert done.stderr.rstrip("\n").isprintable()
    assert len(done.stderr) < len(str(path)) + 300


def test_what_a_file_has_in_excess_is_not_echoed(tmp_path):
    content = json.loads(saved(tmp_path, model()).read_text())["content"]
    path = tmp_path / "long.json"
    for change in ({"settings": {"x\x1b" * 10**6: 1}}, {"names": ["x" * 10**6 + "\x1b", "z"]}):
        path.write_text(sealed(content | change))
        done = command("show", path)
        assert done.exit_code == BAD_INPUT
        assert done.stderr.rstrip("\n").isprintable()
        assert len(done.stderr) < len(str(path)) + 400


def test_a_folder_whose_name_a_terminal_would_obey(tmp_path):
    done = command("show", tmp_path / "\x1b[2J\udce9")
    assert done.exit_code == BAD_INPUT
    assert done.stderr.rstrip("\n").isprintable()


def test_times_that_none_has_are_refused(tmp_path):
    content = json.loads(saved(tmp_path, model()).read_text())["content"]
    for seconds in ("inf", "nan", "-inf", -1.0):
        content["fronts"][0]["seconds"] = seconds
        (tmp_path / "time.json").write_text(sealed(content))
        with pytest.raises(FileFormatError, match="seconds"):
            load_model(tmp_path / "time.json")


def test_a_search_without_a_folder_warns_of_nothing(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run([NOISY], QUICK, progress=False)
        run([NOISY], QUICK, folder=tmp_path / "run", progress=False)
