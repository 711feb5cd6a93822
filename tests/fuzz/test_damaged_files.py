"""Damaged models and folders of runs: what can be used all the same, or an error that names the file."""

import json
import shutil
import warnings
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from damage import PUT, byte_damage, damaged, mutated, mutations, remove, use
from fuzzing import LONGEST, meant_for_people, no_hang, tried
from models import BANKS, begun, exact, model, noisy, saved, sealed
from prunesymnet.cli.app import app
from prunesymnet.cli.errors import BAD_INPUT, INTERRUPTED
from prunesymnet.errors import FileFormatError, NothingFoundError
from prunesymnet.runs import load_model, read_run, resume, run

FEW = replace(BANKS, max_fits=3)
FILES = ["run.json", "data.parquet", "progress.jsonl", "model.json"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model's file, and runs: one that has ended, one that was ended from outside, one with several targets."""
    path = tmp_path_factory.mktemp("whole")
    saved(path, model())
    run([exact()], FEW, folder=path / "ended", progress=False)
    begun(path / "begun", noisy(12))
    run([noisy(12), noisy(12, seed=1, target="t")], FEW, columns=["x in m", "z"], folder=path / "two", progress=False)
    resume(path / "two", progress=False)
    return path


def refused_by_name(problem, path):
    assert str(problem).startswith(str(path)), problem
    assert len(str(problem)) < len(str(path)) + LONGEST
    meant_for_people(problem)


@tried(4_000)
@given(st.one_of(byte_damage(), mutations(), mutations()))
def test_a_damaged_model_is_refused_or_can_be_used(folder, changes):
    path, whole = folder / "damaged.json", (folder / "model.json").read_bytes()
    if isinstance(changes[0][3], bytes) and changes[0][0] not in ("put", "move"):
        path.write_bytes(damaged(whole, changes))
    else:
        path.write_text(sealed(mutated(json.loads(whole)["content"], changes)))
    with warnings.catch_warnings(), no_hang():
        warnings.simplefilter("ignore")  # a formula may be of any kind
        try:
            found = load_model(path)
        except FileFormatError as problem:
            refused_by_name(problem, path)
            return
        use(found)


@st.composite
def folder_damage(draw):
    """A run, one of its files, and what happens to it."""
    kind = draw(st.sampled_from(["bytes", "bytes", "bytes", "values", "put", "lines"]))
    name = "progress.jsonl" if kind == "lines" else draw(st.sampled_from(FILES))
    if kind == "values":
        name = draw(st.sampled_from(["run.json", "model.json"]))
    change = {
        "bytes": byte_damage(),
        "values": mutations(),
        "put": st.tuples(st.sampled_from(sorted(PUT)), st.sampled_from(FILES)),
        "lines": st.lists(
            st.one_of(
                st.sampled_from(
                    ['{"time": 1', '{"time": 1, "resumed": 1}', "", "{}", "[]", '{"output": 0, "ended": "x"}']
                ),
                st.sampled_from(["levels", "front", "seconds", "fits", "time", "output"]).flatmap(
                    lambda key: st.sampled_from(["1e999", "-1", "true", "null", '"x"', "[]", '["x"]', "1" * 5000]).map(
                        lambda value: f'{{"time": 1, "output": 0, "{key}_": 1, "{key}": {value}}}'
                    )
                ),
                st.text(max_size=10),
            ),
            min_size=1,
            max_size=4,
        ),
    }[kind]
    return draw(st.sampled_from(["ended", "begun", "two"])), name, kind, draw(change)


def damage(path, name, kind, change):
    file = path / name
    if kind == "put":
        other = path.parent / "ended" / change[1]
        remove(file)
        PUT[change[0]](file, other)
    elif kind == "lines":
        with file.open("ab") as lines:
            lines.write("\n".join(change).encode("utf-8", "replace") + b"\n")
    elif file.exists() and kind == "bytes":
        file.write_bytes(damaged(file.read_bytes(), change))
    elif file.exists():
        whole = json.loads(file.read_text())
        file.write_text(sealed(mutated(whole["content"], change), kind=whole["format"]))


@tried(6_000)
@given(folder_damage(), st.integers(0, 19))
def test_a_damaged_folder_is_refused_or_can_be_used(folder, harm, step):
    which, *rest = harm
    path = folder / "damaged"
    shutil.copytree(folder / which, path)
    with warnings.catch_warnings(), no_hang():
        warnings.simplefilter("ignore")
        try:
            damage(path, *rest)
            if step == 0:  # what the command says is tried less often, since it takes longer
                done = CliRunner().invoke(app, ["show", str(path)])
                assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
                assert done.exit_code in (0, BAD_INPUT, INTERRUPTED), done.output
                assert all(line.isprintable() and len(line) <= LONGEST for line in done.stderr.splitlines())
            use(read_run(path).latest())
            if step == 1 and rest[0] != "run.json":  # whoever writes the settings says how long a search takes
                use(resume(path, progress=False))
        except (FileFormatError, NothingFoundError) as problem:
            if isinstance(problem, FileFormatError):
                refused_by_name(problem, path)
        finally:
            shutil.rmtree(path)
