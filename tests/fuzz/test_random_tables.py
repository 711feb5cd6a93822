"""Random tables to the estimator and the command: an answer, or an error that says what is wrong."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from fuzzing import LONGEST, MOST_WARNINGS, meant_for_people, no_hang, tried
from prunesymnet.cli.app import app
from prunesymnet.cli.errors import BAD_INPUT, NOTHING_FOUND, USAGE
from prunesymnet.estimator import PruneSymRegressor
from prunesymnet.search import PRESETS, SearchSettings

# A search of a few dozen milliseconds, which ends by a count and not by the clock.
TINY = SearchSettings(time_limit=math.inf, workers=1, max_fits=6)

# ---- to the estimator -----------------------------------------------------------------------------------------

# fmt: off
USUAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 1e-8, 1.7e9, 1.7e9 + 0.25, 1 + 1e-15, 1e15, 4.6e18, -4.6e18, 1e-140]
EDGES = [*USUAL, 1e-300, 5e-324, 1e300, -1e300, 1.7976931348623157e308, 1e16 + 2, 1e140]
OTHERS = [
    math.nan, math.inf, -math.inf, None, "", "text", "1.5", "1,5", True, 2**64, -(2**70), 10**400, 1 + 2j, pd.NaT,
    pd.Timestamp(0), b"1", (1,), [1.0], {}, object(), pd.NA, np.float32(1.5), np.datetime64("2020-01-01"),
]
LABELS = [
    "x", "y", "x1", "sin", "lambda", "", " ", "a b", "Größe", "x\n", "\x1b[2J", "\0", "__import__('os')", "1", "c1",
    "pi", "x" * 300, "\ud800", "None", "温度", 0, 1.5, None, ("a", "b"), True, pd.Timestamp(0),
]
# fmt: on
USUAL_KINDS = ["simple", "simple", "grid", "usual", "whole", "constant", "narrow"]
KINDS = [*USUAL_KINDS, "edges", "floats", "others"]


@st.composite
def cells(draw, rows, kinds):
    """A column of one of some kinds."""
    kind = draw(st.sampled_from(kinds))
    if kind == "constant":
        return [draw(st.sampled_from(USUAL))] * rows
    if kind == "narrow":
        around, step = draw(st.sampled_from(USUAL)), draw(st.sampled_from([1e-9, 1e-3, 1.0, 60.0]))
        return [around + step * draw(st.integers(0, 9)) for _ in range(rows)]
    if kind == "grid":
        return list(np.linspace(draw(st.sampled_from([-1.0, 0.0, 1.0])), draw(st.sampled_from([2.0, 1e6])), rows))
    one = {
        "simple": st.floats(-10, 10).map(lambda v: round(v, 3)),
        "usual": st.sampled_from(USUAL),
        "whole": st.integers(-5, 5).map(float),
        "edges": st.sampled_from(EDGES),
        "floats": st.floats(allow_nan=False, allow_infinity=False),
        "others": st.one_of(st.sampled_from(EDGES), st.sampled_from(EDGES), st.sampled_from(OTHERS)),
    }[kind]
    return draw(st.lists(one, min_size=rows, max_size=rows))


def as_array(columns, rows):
    try:
        return np.array(columns, dtype=np.float64).reshape(len(columns), rows).T
    except (TypeError, ValueError, OverflowError):
        table = np.empty((rows, len(columns)), dtype=object)
        for j, column in enumerate(columns):
            for i, cell in enumerate(column):
                table[i, j] = cell
        return table


@st.composite
def tables(draw):
    """X and y, as arrays, lists or frames: half of them have nothing in them that must be refused."""
    odd = draw(st.booleans())
    rows = draw(st.integers(0, 16) if odd else st.integers(3, 16))
    width = draw(st.sampled_from([0, 1, 1, 2, 2, 3, 4] if odd else [1, 2, 3]))
    kinds = KINDS if odd else USUAL_KINDS
    columns = [draw(cells(rows, kinds)) for _ in range(width)]
    targets = draw(st.sampled_from([1, 1, 1, 0, 2] if odd else [1]))
    answers = [draw(cells(rows, kinds)) for _ in range(targets)]
    if draw(st.integers(0, 5)) == 0 and columns and answers:
        answers[0] = columns[0]
    y = as_array(answers, rows)
    return _as_kind(draw, as_array(columns, rows), odd), y[:, 0] if targets == 1 else y


def _as_kind(draw, X, odd):
    kind = draw(st.sampled_from(["array", "array", "frame", "frame", "list", "float32", "integers", "single"]))
    if kind == "frame":
        names = ["x", "y", "sin", "a b", "Größe", "x\n"]
        labels = st.lists(
            st.sampled_from(LABELS if odd else names), min_size=X.shape[1], max_size=X.shape[1], unique=not odd
        )
        X = pd.DataFrame(X)
        X.columns = pd.Index(draw(labels), dtype=object)
    elif kind == "list":
        X = X.tolist()
    elif kind == "single" and odd and X.shape[1]:
        X = X[:, 0]
    elif kind in ("float32", "integers") and X.dtype != object:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            X = X.astype(np.float32 if kind == "float32" else np.int64)
    return X


weights = st.one_of(
    st.none(),
    st.none(),
    st.none(),
    st.lists(st.sampled_from([0.0, 1.0, 2.0, 1e-300, 1e300, -1.0, math.nan]), max_size=16),
)
changes = st.fixed_dictionaries(
    {},
    optional={
        "max_fits": st.integers(1, 12),
        "max_complexity": st.integers(1, 9),
        "loss": st.sampled_from(["absolute", "huber", "relative", "poisson", "quantile:0.9"]),
        "selection": st.sampled_from(["bic", "aic", "accuracy", "heldout"]),
    },
)


def checked(said):
    messages = [str(one.message) for one in said]
    assert len(messages) <= MOST_WARNINGS, f"{len(messages)} warnings: {messages[:3]}"
    assert all(len(message) <= LONGEST for message in messages)


ONE_APART = np.array([-7, 9, -10, -6, 0, 8, -2, 0, -3.4, 5.6, -2.6, -0.4, 0, 6.5, -4.6])
NARROW = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5e-9, 0.0])


@tried(5_000)
@given(tables(), weights, changes)
@example((ONE_APART[:, None], np.where(ONE_APART == -3.4, 9.0, 0.0)), None, {})  # nothing was left to explain
@example((np.column_stack([0 * NARROW, NARROW]), NARROW), None, {})  # no column became a node of the bank
def test_the_estimator_gives_a_formula_or_says_what_is_wrong(table, weights, changes):
    X, y = table
    with warnings.catch_warnings(record=True) as said, no_hang():
        warnings.simplefilter("always")
        model = PruneSymRegressor(preset=replace(TINY, **changes), n_jobs=1, progress=False)
        try:
            model.fit(X, y, sample_weight=weights)
        except (ValueError, TypeError) as problem:
            meant_for_people(problem)
            return
        finally:
            checked(said)
        formulas = [str(law) for front in model.fronts_ for law in front]
        assert not [text for text in formulas if "nan" in text.lower().split(" = ", 1)[1]], formulas
        for front in model.fronts_:
            assert math.isfinite(front.best.loss), formulas
        if weights is None:  # else rows of weight 0 may lie outside of the formula's domain
            assert np.isfinite(model.predict(X)).all(), formulas


# ---- to the command -------------------------------------------------------------------------------------------

# fmt: off
CELLS = [
    "", " ", "0", "1", "2", "-3.5", "1e300", "1e-320", "1e999", "-1e400", "nan", "NaN", "inf", "-Infinity", "NA", "n/a",
    "null", "abc", "1,5", "1.000,5", "1_000", "0x1F", "1/2", "50%", "$3", "2020-01-01", "12:30", "TRUE", "é", "\x1b[2J",
    "\0", '"', '"a"', "'", "#", "=1+1", "١٢", "−1", "1e", "+", "--", "9" * 400, "x" * 5000, "\u202e", "\ud7ff", "\t",
]
HEADS = [
    "x", "y", "y", "t", "a b", "y ", "", "1", "sin", "x", "\ufeffx", "#x", "x\x1b[2J", "'y'", '"y"', "y" * 3000, "λ",
    "c1",
]
USUAL_OPTIONS = [
    ["--features", "x"], ["--loss", "huber"], ["--max-complexity", "3"], ["--json"], ["--operators", "+,*"],
    ["--selection", "bic"], ["--seed", "3"],
]
OPTIONS = [
    *USUAL_OPTIONS, ["-x", "x,z"], ["--weights", "x"], ["--y-err", "x"], ["--loss", "odd"], ["--max-complexity", "0"],
    ["--operators", "no"], ["-t", "0"], ["-t", "nan"], ["-x", "y"], ["-x", ""],
]
# fmt: on
NAMES = ["table.csv", "table.csv", "table.tsv", "table.txt", "table.csv.gz", "table.parquet", "table.xyz", "table", "-"]
numbers = st.floats(-100, 100).map(lambda v: repr(round(v, 2)))


@st.composite
def usual_calls(draw):
    """A table of numbers, as bytes, its target, options, and the name of its file (-: standard input)."""
    width, separator = draw(st.integers(2, 4)), draw(st.sampled_from([",", ";", "\t"]))
    cell = draw(st.sampled_from([numbers, st.integers(-3, 3).map(str), st.sampled_from(["0", "1", "1e-8", "1.7e9"])]))
    rows = draw(st.lists(st.lists(cell, min_size=width, max_size=width), min_size=3, max_size=12))
    text = "\n".join(separator.join(row) for row in [["x", "y", "z", "w"][:width], *rows])
    options = draw(st.lists(st.sampled_from(USUAL_OPTIONS), max_size=2))
    return text.encode(), "y", options, draw(st.sampled_from(["table.csv", "-"]))


@st.composite
def odd_calls(draw):
    """The same, with something in it that nobody expects."""
    separator = draw(st.sampled_from([",", ",", ";", "\t", " ", "|", ", "]))
    width = draw(st.integers(1, 4))
    odd = draw(st.sampled_from([0, 1, 3]))  # in ten cells
    cell = st.integers(0, 9).flatmap(lambda k: st.sampled_from(CELLS) if k < odd else numbers)
    head = draw(st.lists(st.sampled_from(HEADS), min_size=width, max_size=width))
    if draw(st.booleans()):
        head = ["x", "y", "z", "w"][:width]
    rows = [draw(st.lists(cell, min_size=width, max_size=width)) for _ in range(draw(st.integers(0, 12)))]
    if draw(st.integers(0, 5)) == 0:
        rows.append(draw(st.lists(cell, max_size=6)))  # of another width
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r", "\n\n"]))
    text = end.join(separator.join(row) for row in [head, *rows]) + draw(st.sampled_from(["", end]))
    content = text.encode(draw(st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-16", "utf-8-sig"])), "replace")
    if draw(st.integers(0, 9)) == 0:
        place = draw(st.integers(0, len(content)))
        content = content[:place] + draw(st.binary(max_size=20)) + content[place:]
    target = draw(st.sampled_from(["y", "y", "y", "x", "", "y,z", "none"]))
    return content, target, draw(st.lists(st.sampled_from(OPTIONS), max_size=2)), draw(st.sampled_from(NAMES))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@tried(2_500)
@given(st.one_of(usual_calls(), odd_calls()))
def test_the_command_gives_a_formula_or_says_what_is_wrong(folder, call):
    content, target, options, name = call
    arguments = [argument for option in options for argument in option]
    source = "-"
    if name != "-":
        source = str(folder / name)
        (folder / name).write_bytes(content)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(), no_hang():
        patch.setitem(PRESETS, "default", TINY)
        warnings.simplefilter("default")
        done = CliRunner().invoke(app, ["fit", source, "-y", target, "-q", "-j", "1", *arguments], input=content)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code in (0, USAGE, BAD_INPUT, NOTHING_FOUND), done.output
    lines = done.stderr.splitlines()
    assert len(lines) <= MOST_WARNINGS, done.stderr[:LONGEST]
    assert all(line.isprintable() and len(line) <= LONGEST for line in lines)
    assert (done.exit_code == 0) == bool(done.stdout)
    if done.exit_code == 0 and "--json" not in arguments:
        formula = done.stdout.splitlines()[0].split(" = ", 1)[1]
        assert "nan" not in formula.replace("_", " ").split()
