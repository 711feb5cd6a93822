"""Models: they come back from their files as they were, and files that can't be trusted are refused."""

import copy
import hashlib
import json
import random
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from damage import use
from models import (
    BANKS,
    NETWORKS,
    NOISY,
    PATIENT,
    at_least_as_good,
    content_of,
    exact,
    model,
    noisy,
    same_model,
    saved,
    sealed,
)
from prunesymnet.coefficients import fit
from prunesymnet.data import load_example, make_dataset
from prunesymnet.equations import Equation, Front
from prunesymnet.errors import DataError, FileFormatError
from prunesymnet.estimator import PruneSymRegressor
from prunesymnet.expression import Variable, parse
from prunesymnet.operators import make_operator
from prunesymnet.runs import Model, load_model, read_run, records, resume, run
from prunesymnet.search import Constraints, ExhaustiveSettings, SearchSettings

# ---- models come back as they were ----------------------------------------------------------------------------


def test_a_model_with_everything_comes_back(tmp_path):
    same_model(model(), load_model(saved(tmp_path, model())), NOISY.columns)


@pytest.mark.parametrize("data", [NOISY, exact(), load_example("hubble"), noisy(5), noisy(weights=np.arange(60.0))])
def test_what_a_run_found_comes_back_bit_for_bit(tmp_path, data):
    found = run([data], BANKS, progress=False)
    same_model(found, load_model(saved(tmp_path, found)), data.columns)
    outside = {name: np.linspace(-5, 5, 11) for name in data.names}
    same_model(found, load_model(saved(tmp_path, found)), outside)


def rounded_model():
    """A law whose constants were rounded, on noisy rows."""
    data = noisy()
    found = fit(parse("2*x + 3*z + 0.5"), data)
    law = Equation.of(replace(found, before_rounding=found.expression), data)
    assert law.free_form is not None
    return Model((Front((law,), 0),), data.names, None, SearchSettings()), data


def test_rounded_constants_keep_their_error_bars(tmp_path):
    kept, data = rounded_model()
    again = load_model(saved(tmp_path, kept))
    same_model(kept, again, data.columns)
    ours, theirs = kept.fronts[0].best, again.fronts[0].best
    assert ours.constants == theirs.constants
    assert [constant.rounded_to for constant in theirs.constants] == ["2", "3", ""]
    for mean in (True, False):
        for one, other in zip(
            ours.interval(data.columns, mean=mean), theirs.interval(data.columns, mean=mean), strict=True
        ):
            np.testing.assert_array_equal(one, other)


def test_a_model_of_before_rounded_constants_had_error_bars_is_read(tmp_path):
    content = json.loads(saved(tmp_path, model()).read_text())["content"]
    for front in content["fronts"]:
        for record in front["equations"]:
            assert record.pop("free_formula") is None
    path = tmp_path / "old.json"
    path.write_text(sealed(content))
    same_model(model(), load_model(path), NOISY.columns)


def test_what_several_targets_gave_comes_back(tmp_path):
    found = run([NOISY, noisy(seed=3, target="t")], BANKS, progress=False)
    again = load_model(saved(tmp_path, found))
    assert [front.target for front in again.fronts] == ["y", "t"]
    same_model(found, again, NOISY.columns)


def test_saving_twice_gives_the_same_file_and_loading_changes_nothing(tmp_path):
    first = saved(tmp_path, model()).read_bytes()
    load_model(tmp_path / "model.json").save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == first
    assert b"NaN" not in first
    assert b"Infinity" not in first


def test_a_file_that_is_there_is_replaced_whole(tmp_path):
    (tmp_path / "model.json").write_text("x" * 10**6)
    same_model(model(), load_model(saved(tmp_path, model())), NOISY.columns)
    with pytest.raises(OSError, match="nowhere"):
        model().save(tmp_path / "nowhere" / "model.json")
    assert set(content_of(tmp_path)) == {"model.json"}


def test_settings_of_every_kind_come_back(tmp_path):
    every = SearchSettings(
        operators=("+", "sin"),
        pruner="beam",
        time_limit=float("inf"),
        exact=0.0,
        max_complexity=7,
        constraints=Constraints({"sin": 1}, {"sin": 3}, {"sin": ["sin"]}, 4, ("x",)),
        selection="heldout",
        reverse=False,
        exhaustive=replace(BANKS.exhaustive, levels=1, memory=0.5),
        training=replace(BANKS.training, restarts=3, gradient=False),
        snapping=replace(BANKS.snapping, noise=0.01, closed_forms=False),
    )
    assert load_model(saved(tmp_path, replace(model(), settings=every))).settings == every


@pytest.mark.parametrize(
    "changes",
    [{"max_complexity": np.int64(9)}, {"seed": np.int32(3)}, {"holdout": np.float32(0.25)},
     {"time_limit": np.float64("inf")}],
)  # fmt: skip
def test_settings_made_of_numpys_numbers_come_back(tmp_path, changes):
    settings = SearchSettings(**changes)
    assert load_model(saved(tmp_path, replace(model(), settings=settings))).settings == settings


@pytest.mark.parametrize("rules", [{"forbid_nested": {"exp": ("sin",)}}, {"requires": ["x"]}])
def test_rules_come_back_equal_however_they_were_given(tmp_path, rules):
    settings = SearchSettings(constraints=Constraints(**rules))
    assert load_model(saved(tmp_path, replace(model(), settings=settings))).settings == settings


def test_a_column_may_be_called_function(tmp_path):
    settings = SearchSettings(constraints=Constraints(max_uses={"function": 1}))
    assert load_model(saved(tmp_path, replace(model(), settings=settings))).settings == settings


@pytest.mark.parametrize("name", ["a·b", "℮"])
def test_a_name_that_no_formula_can_have_is_no_name_of_a_table(name):
    with pytest.raises(DataError, match="rename it"):
        make_dataset(NOISY.X[:, 0], NOISY.y, names=[name])


@pytest.mark.parametrize("name", ["Größe", "λ", "e", "E5", "_", "x" * 1001, "द्रव्यमान"])
def test_names_in_any_script_come_back(tmp_path, name):
    data = make_dataset(NOISY.X[:, 0], NOISY.y, names=[name])
    law = Equation.of(fit(1.5 * Variable(name), data), data)
    found = Model((Front((law,), 0),), data.names, data.names, BANKS)
    same_model(found, load_model(saved(tmp_path, found)), data.columns)


def test_the_formula_of_a_wide_table_comes_back(tmp_path):
    names = tuple(f"a_column_with_a_long_name_{i}" for i in range(4000))
    text = " + ".join(f"{i}*{name}" for i, name in enumerate(names, start=2))
    law = Equation(parse(text), names, "y", 1.0, 0.5, 0.5, 10.0, 99, 1.0, np.zeros((0, 0)))
    path = saved(tmp_path, Model((Front((law,), 0),), names, names, BANKS))
    assert load_model(path).fronts[0].best.form == law.form


# ---- one's own operators and functions ------------------------------------------------------------------------

SINC = make_operator("sinc", np.sinc)


def simplest(table):
    return 0


def short(expression):
    return expression.complexity < 12


def test_ones_own_operators_must_be_passed_again(tmp_path):
    data = noisy()
    law = Equation.of(fit(parse("1.0*sinc(0.5*x) + 1.0", operators=[SINC]), data), data)
    settings = replace(BANKS, operators=("+", "*", SINC))
    found = Model((Front((law,), 0),), data.names, data.names, settings)
    path = saved(tmp_path, found)
    with pytest.raises(FileFormatError, match=r"unknown function 'sinc'.*pass your own operators \(operators=...\)"):
        load_model(path)
    again = load_model(path, operators=[SINC])
    same_model(found, again, data.columns)
    assert again.settings.operators[2] is SINC


def test_a_run_with_ones_own_operators_goes_on_with_them(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, 60)
    data = make_dataset(x, 2 * np.sinc(x) + 1, names=["x"])
    first = run([data], replace(PATIENT, operators=("+", "*", SINC)), folder=tmp_path / "run", progress=False)
    assert "sinc" in str(first.fronts[0].best)
    for call in (read_run, resume, lambda path: load_model(path / "model.json")):
        with pytest.raises(FileFormatError, match=r"pass your own operators \(operators=...\)"):
            call(tmp_path / "run")
    second = resume(tmp_path / "run", operators=[SINC], progress=False)
    at_least_as_good(first.fronts[0], second.fronts[0])


def test_ones_own_operators_are_missed_where_no_formula_has_them(tmp_path):
    path = saved(tmp_path, replace(model(), settings=replace(BANKS, operators=("+", "*", SINC))))
    with pytest.raises(FileFormatError, match="pass your own operators"):
        load_model(path)


def log_cosh(residual):
    return np.logaddexp(residual, -residual) - np.log(2)


@pytest.mark.parametrize(
    ("changes", "name", "function"),
    [
        ({"selection": simplest}, "selection", simplest),
        ({"constraints": Constraints(allow=short)}, "allow", short),
        ({"loss": log_cosh}, "loss", log_cosh),
    ],
)
def test_functions_must_be_passed_again(tmp_path, changes, name, function):
    found = run([NOISY], replace(NETWORKS, **changes), folder=tmp_path / "run", progress=False)
    message = rf"{name} was a function \({function.__name__}\); a file holds none: pass it again \({name}=\)"
    for call in (read_run, resume, lambda path: load_model(path / "model.json")):
        with pytest.raises(FileFormatError, match=message):
            call(tmp_path / "run")
    again = load_model(tmp_path / "run" / "model.json", functions={name: function})
    same_model(found, again, NOISY.columns)
    second = resume(tmp_path / "run", time_limit=1e6, functions={name: function}, progress=False)
    assert second.settings == replace(found.settings, time_limit=1e6)


def test_a_function_without_a_name_is_one_too(tmp_path):
    class Choice:
        def __call__(self, table):
            return 0

    path = saved(tmp_path, replace(model(), settings=replace(BANKS, selection=Choice())))
    with pytest.raises(FileFormatError, match="selection was a function"):
        load_model(path)


# ---- the estimator's files ------------------------------------------------------------------------------------


def there_and_back(folder, estimator, X, **options):
    estimator.save(folder / "estimator.json")
    again = PruneSymRegressor.load(folder / "estimator.json", **options)
    np.testing.assert_array_equal(again.predict(X), estimator.predict(X))
    np.testing.assert_array_equal(again.predict_interval(X), estimator.predict_interval(X))
    same_model(estimator.model_, again.model_, dict(zip(estimator.model_.names, np.asarray(X).T, strict=True)))
    return again


def quick(**options):
    return PruneSymRegressor(preset=NETWORKS, progress=False, n_jobs=1, **options)


def test_named_constants_come_back(tmp_path):
    frame = pd.DataFrame({"time (s)": NOISY.X[:, 0], "z": NOISY.X[:, 1]})
    fitted = quick().fit_form("a*exp(-b*time_s) + c*z", frame, NOISY.y)
    again = there_and_back(tmp_path, fitted, frame)
    assert again.constants_["name"].tolist() == ["a", "b", "c"]
    pd.testing.assert_frame_equal(again.constants_, fitted.constants_, check_exact=True)
    assert list(again.feature_names_in_) == ["time (s)", "z"]


def test_estimators_of_arrays_and_of_several_targets_come_back(tmp_path):
    there_and_back(tmp_path, quick().fit(NOISY.X, NOISY.y), NOISY.X)
    Y = pd.DataFrame({"a": NOISY.y, "b": NOISY.X[:, 0] ** 2})
    again = there_and_back(tmp_path, quick().fit(NOISY.X, Y), NOISY.X)
    assert [law.target for law in again.best_] == ["a", "b"]


def test_an_estimator_with_functions_and_operators_comes_back(tmp_path):
    fitted = quick(selection=simplest, operators=["+", "*", SINC], constraints={"allow": short})
    fitted.fit(NOISY.X, NOISY.y)
    there_and_back(tmp_path, fitted, NOISY.X, operators=[SINC], selection=simplest, allow=short)
    with pytest.raises(FileFormatError, match="a function"):
        PruneSymRegressor.load(tmp_path / "estimator.json", operators=[SINC])


def test_a_function_of_another_name_is_refused(tmp_path):
    quick().fit(NOISY.X, NOISY.y).save(tmp_path / "estimator.json")
    with pytest.raises((TypeError, ValueError), match="selektion"):
        PruneSymRegressor.load(tmp_path / "estimator.json", selektion=simplest)


def test_a_frame_whose_columns_have_our_names_comes_back(tmp_path):
    frame = pd.DataFrame(NOISY.X, columns=["x1", "x2"])
    there_and_back(tmp_path, quick().fit(frame, NOISY.y), frame)


def test_a_form_of_x_fitted_to_an_array_comes_back(tmp_path):
    X = NOISY.X[:, :1]
    there_and_back(tmp_path, quick().fit_form("a*x + b", X, NOISY.y), X)


# ---- files that are refused -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("whole"), model()).read_bytes()


@pytest.fixture(scope="module")
def content(whole):
    return json.loads(whole)["content"]


def refused(path, match=None):
    with pytest.raises(FileFormatError, match=match) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value)) < len(str(path)) + 300


def test_a_file_that_is_cut_off_anywhere_is_refused(tmp_path, whole):
    path = tmp_path / "cut.json"
    rng = random.Random(0)  # noqa: S311
    end = len(whole.rstrip())
    for length in sorted({*range(20), *rng.sample(range(end), 200), *range(end - 20, end)}):
        path.write_bytes(whole[:length])
        refused(path, "cut.json: is n(o|ot) ")
    path.write_bytes(whole[:end])
    same_model(model(), load_model(path), NOISY.columns)


def test_a_file_with_a_bit_flipped_is_refused_or_says_the_same(tmp_path, whole):
    path = tmp_path / "flipped.json"
    rng = random.Random(1)  # noqa: S311
    accepted = 0
    for _ in range(300):
        flipped = bytearray(whole)
        flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
        path.write_bytes(flipped)
        try:
            found = load_model(path)
        except FileFormatError:
            continue
        accepted += 1
        assert saved(tmp_path, found).read_bytes() == whole
    assert accepted < 30  # where the flip is in the name of who made it


@pytest.mark.parametrize(
    ("old", "new"),
    [('"chosen": 2', '"chosen": 1'), ("sin(", "cos("), ('"rows": 60', '"rows": 61'), ('"beam": ', '"beam": 1')],
)
def test_a_file_that_was_edited_is_refused(tmp_path, whole, old, new):
    text = whole.decode()
    assert old in text
    (tmp_path / "edited.json").write_text(text.replace(old, new, 1))
    refused(tmp_path / "edited.json", "was changed after it was written")


@pytest.mark.parametrize("version", [2, 10**9])
def test_a_newer_version_is_refused_with_the_remedy(tmp_path, content, version):
    path = tmp_path / "newer.json"
    path.write_text(sealed({"anything": 1}, version=version, made_by="prunesymnet 9.0"))
    refused(path, rf"format version {version}, made by prunesymnet 9\.0; .* pip install --upgrade prunesymnet")


@pytest.mark.parametrize(
    "changes",
    [{"version": v} for v in (0, -1, True, "1", 1.0, None, [1])]
    + [{"format": f} for f in ("", None, 1, "prunesymnet run", "Prunesymnet model")]
    + [{"sha256": s} for s in ("", None, 1, "0" * 64)]
    + [{"content": c} for c in (None, [], 1, "x", {})],
)
def test_an_envelope_that_is_not_ours_is_refused(tmp_path, content, changes):
    path = tmp_path / "envelope.json"
    path.write_text(json.dumps(json.loads(sealed(content)) | changes))
    refused(path)


# fmt: off
OTHERS = [
    b"", b" ", b"null", b"[]", b"{}", b"1", b'"model"', b"\xff\xfe{}", b"\x80\x04\x95", b"PK\x03\x04", b"{}{}",
    b"\xef\xbb\xbf{}", b"x = 1\n", b"[" * 10**6, b'{"a":' * 10**5, b"1" * 10**6, b"-" + b"9" * 5000, b"NaN",
    b'{"format": Infinity}', b'{"format": -Infinity}', b"\0" * 1000,
]
ODD = [
    "-" * 900 + "x", "sin(" * 900 + "x" + ")" * 900, "x**" * 900 + "x", "1/(" * 450 + "x" + ")" * 450,
    "+".join(["x"] * 5000), "1/0", "0**(-1)", "9**9**9**9**9", "log(-1)", "x**x**x", "exp(exp(exp(x)))", "2**9999*x",
]
# fmt: on


def test_what_is_no_file_of_ours_is_refused(tmp_path):
    path = tmp_path / "other.json"
    for text in OTHERS:
        path.write_bytes(text)
        refused(path)


def test_a_file_that_is_not_there_or_no_file_is_refused(tmp_path):
    refused(tmp_path / "nowhere.json", "can't be read .* check the path")
    (tmp_path / "folder").mkdir()
    refused(tmp_path / "folder", "can't be read")


def test_a_file_of_100_mb_is_refused_unread(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(100 * 2**20)
    refused(path, "has 100 MiB, more than a prunesymnet model file ever has")


def test_json_nested_deeply_is_refused(tmp_path):
    path = tmp_path / "deep.json"
    text = '{"format": "prunesymnet model", "version": 1, "sha256": "%s", "content": {"names": %s}}'
    for depth in (100, 500, *range(850, 1000)):
        nested = "[" * depth + "]" * depth
        compact = hashlib.sha256(f'{{"names":{nested}}}'.encode()).hexdigest()
        path.write_text(text % (compact, nested))
        refused(path)


def put(content, place, value):
    """A copy of the content with another value in one place."""
    changed = copy.deepcopy(content)
    inside = changed
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    return changed


LINEAR = ("fronts", 0, "equations", 1)
NAMED = ("fronts", 1, "equations", 0)
# fmt: off
HOSTILE = {
    (*LINEAR, "formula"): [
        "__import__('os').system('touch hacked')", "x.__class__", "(lambda: 1.0)()", "eval(x)", "exec('1')", "open(x)",
        "x if x else z", "[x for x in z]", "x; z", "x = 1.0", "{}", "x[0]", "f'{x}'", "x\nimport os", "", " ", "1.0*w",
        "x +", "1e999", "99999999999999999999", "sin", "x y", "\x00", "\x1b[2Jx", "x²", "import", "(" * 1000, None, 5,
        ["x"], {"x": 1}, True,
    ],
    ("names", 0): [
        "../../etc/passwd", "/etc/passwd", "", " ", "x y", "1x", "x;", "x\n", "\x1b[2J", "z", "x\u202e",
        None, 7, ["x"],
    ],
    ("fronts", 0, "target"): ["../../etc/passwd", "", "y z", None, 7, "<b>", "\x1b[2J"],
    (*LINEAR, "covariance"): [
        [], [[]], [[1.0]], [[0.0] * 2] * 2, [[0.0] * 4] * 4, 5, "text", None, {}, [5, 5, 5], [None] * 3,
        [["a"] * 3] * 3, [[None] * 3] * 3, [[[0.0]] * 3] * 3, [[True] * 3] * 3, [[0.0] * 3, [0.0] * 3, ["1e5"] * 3],
    ],
    (*LINEAR, "free_formula"): [5, [], True, "", "x +", "1.0*w", "__import__('os')", "2.0*x", "(" * 1000],
    **{(*LINEAR, name): [None, True, "0.5", "NaN", [], {}, "infinity"]
       for name in ("loss", "r2", "heldout_r2", "description_length", "variance")},
    (*LINEAR, "rows"): [-1, 1.5, None, "60", True, 2**60, 10**400, []],
    ("fronts", 0, "chosen"): [-1, 4, 10**9, 1.0, None, "0", True, [0]],
    ("fronts", 0, "fits"): [-1, 1.5, None, "4"],
    ("fronts", 0, "ties"): [None, 1, [2], [9], [-1], ["1"], [1.5]],
    ("fronts", 0, "seconds"): [None, "1.5", [], True],
    ("fronts", 0, "status"): [None, 5, [], {}],
    ("fronts",): [[], None, {}, "x", [None], [[]], [{}]],
    ("fronts", 0, "equations"): [[], None, {}, [None], [[]], [{}], "x"],
    ("columns",): [[], ["x"], ["x", "z", "w"], [1, 2], "xz", [None, None], {}],
    ("version",): [None, 5, []],
    ("names",): [[], None, ["x"], ["x", "z", "w"], "xz", {}, ["x", "x"]],
    (*NAMED, "parameters"): [
        None, [], "a", {"a": 1.0}, {"a": 1.0, "b": 1.0, "c": None}, {"a": 1.0, "b": 1.0, "c": "x"},
        {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}, {"a": 1.0, "b": 1.0, "x": 1.0}, {"a": 1.0, "b": 1.0, "sin": 1.0},
    ],
    ("settings",): [None, [], 5, "default", {"unknown": 1}, {"training": 5}],
    ("settings", "time_limit"): ["soon", -1, None],
    ("settings", "pruner"): ["best", None],
    ("settings", "selection"): ["best", 5, [], {}],
    ("settings", "seed"): [-1, 1.5],
    ("settings", "rows"): ["many", 0],
    ("settings", "holdout"): [2, None],
    ("settings", "max_complexity"): [0, "7"],
    ("settings", "constraints"): [
        None, {"max_uses": 5}, {"requires": "x"}, {"unknown": 5}, {"max_uses": {"exp": None}},
        {"forbid_nested": {"exp": 5}},
    ],
    ("settings", "constraints", "allow"): [5, "len", {}, []],
    ("settings", "training"): [None, {"seed": -1}],
    ("settings", "exhaustive"): [{"memory": "all"}],
    ("settings", "snapping"): [{"fit": 5}, {"fit": {"method": []}}],
    ("settings", "pruning"): [{"beam": 0}],
}
ACCEPTED = [  # or another exception, and what it is
    ((*LINEAR, "loss"), 10**400, "OverflowError, as 1.8e308 is infinity"),
    ((*LINEAR, "description_length"), -(10**400), "OverflowError"),
    ((*NAMED, "parameters"), {"a": 10**400, "b": 1.0, "c": 1.0}, "OverflowError"),
    ((*LINEAR, "covariance"), [[0.0] * 3, [0.0] * 2, [0.0] * 4], "numpy's ValueError"),
    ((*LINEAR, "covariance"), [[0.0] * 9], "only the number of cells is compared"),
    ((*LINEAR, "covariance"), [[0.0]] * 9, "only the number of cells is compared"),
    ((*LINEAR, "covariance"), [{"nan": 1, "inf": 1, "-inf": 1}] * 3, "an object's names are taken for cells"),
    ((*LINEAR, "covariance"), [[-1.0, 0.0, 0.0]] * 3, "a variance below 0"),
    ((*NAMED, "parameters"), {"a": "inf", "b": 1.0, "c": 1.0}, "an infinite constant, ValueError in predict"),
    ((*NAMED, "parameters"), {"a": "nan", "b": 1.0, "c": 1.0}, "no constant, ValueError in predict"),
    ((*NAMED, "formula"), "a*exp(-b*x)", "a parameter that the formula lacks, ValueError in interval"),
    ((*NAMED, "formula"), "\ud800", "UnicodeEncodeError in the checksum"),
    (("fronts", 0, "status"), "\ud800", "UnicodeEncodeError in the checksum"),
    (("fronts", 0, "status"), "\x1b[2J\x1b]0;owned\x07", "control characters, which are printed"),
    (("fronts", 0, "target"), "x", "the target is a column"),
    (("fronts", 1, "target"), "y", "two targets of one name"),
    (("fronts", 0, "target"), "lambda", "a word of Python's own"),
    (("fronts", 0, "target"), "sin", "an operator's name"),
    (("settings", "operators"), 5, "TypeError"),
    (("settings", "operators"), None, "TypeError"),
    (("settings", "operators"), "sin", "taken letter by letter"),
    (("settings", "operators"), [["sin"]], "not a name"),
    (("settings", "operators"), ["__import__"], "not an operator"),
    (("settings", "training", "device"), 5, "AttributeError"),
    (("settings", "exhaustive", "device"), None, "AttributeError"),
    (("settings", "reverse"), "yes", "not a boolean"),
    (("settings", "training", "gradient"), 3, "not a boolean"),
    (("settings", "constraints", "requires"), 5, "not a list"),
    (("settings", "constraints", "requires"), [5], "not a name"),
]
# fmt: on


@pytest.mark.parametrize("place", HOSTILE, ids=lambda place: place[-1])
def test_values_that_no_model_has_are_refused(tmp_path, content, place, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "hostile.json"
    for value in HOSTILE[place]:
        path.write_text(sealed(put(content, place, value)))
        refused(path)
    assert set(content_of(tmp_path)) == {"hostile.json"}  # nothing ran


@pytest.mark.parametrize(
    ("place", "value"),
    [case for *case, _ in ACCEPTED],
)
def test_more_values_that_no_model_has_are_refused(tmp_path, content, place, value):
    path = tmp_path / "hostile.json"
    path.write_text(sealed(put(content, place, value)))
    refused(path)


def test_a_key_that_stands_twice_is_refused(tmp_path, whole):
    text = whole.decode()
    (tmp_path / "twice.json").write_text(text.replace('"names": [', '"names": ["other"], "names": [', 1))
    refused(tmp_path / "twice.json")


def test_megabytes_of_parentheses_are_refused(tmp_path, content):
    path = tmp_path / "long.json"
    for text in ("(" * 10**7, "-" * 10**7 + "x", "sin(" * 10**6 + "x" + ")" * 10**6):
        path.write_text(sealed(put(content, (*LINEAR, "formula"), text)))
        refused(path, r"a formula has [\d,]+ characters, more than ")
    path.write_text(sealed(put(content, (*LINEAR, "formula"), "(" * 99_000)))
    refused(path, "is not a formula")


@pytest.mark.parametrize("text", ODD, ids=lambda text: text[:16])
def test_odd_formulas_can_be_used(tmp_path, content, text):
    path = tmp_path / "odd.json"
    path.write_text(sealed(put(put(content, (*LINEAR, "formula"), text), (*LINEAR, "covariance"), [])))
    use(load_model(path))


def test_settings_of_an_earlier_version_are_read():
    record = records.of_settings(SearchSettings())
    old = {"rounds": 3, "workers": 1, "grafts": True, "networks": False, "memory": 1.0, "device": "cpu"}
    found = records.to_settings(record | {"exhaustive": old})
    assert found.exhaustive == ExhaustiveSettings(levels=3, memory=1.0)
