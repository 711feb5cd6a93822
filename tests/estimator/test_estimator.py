"""The estimator: scikit-learn's contract, what a fit leaves behind, and what can be made of it."""

import inspect
import math
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

from prunesymnet import Constraints, Equation, PruneSymRegressor, SearchSettings, make_operator
from prunesymnet.errors import DataError, DomainWarning, InterruptedWarning, NothingFoundError
from prunesymnet.search import PRESETS, ExhaustiveSettings

FEW = replace(PRESETS["paper+"], layers=2, max_epochs=20)  # ends by itself, and always in the same place
SHORT = SearchSettings(exhaustive=ExhaustiveSettings(levels=0), max_epochs=1)  # so does this: shortcuts alone
X = np.random.default_rng(3).uniform(0.5, 2.0, (60, 2))
Y = 3 * X[:, 0] * np.exp(-X[:, 1]) + 1
HARD = np.exp(np.sin(3 * X[:, 0]) * X[:, 1]) + 0.3 * np.random.default_rng(4).normal(size=60)
EXPORTS = ("sympy", "latex", "python", "numpy", "torch", "c", "onnx", "excel")


def regressor(**parameters):
    return PruneSymRegressor(**{"time_limit": 60, "progress": False, **parameters})  # exact data end it at once


@pytest.fixture(scope="module")
def model():
    """A front of several equations, the chosen one exact."""
    return regressor().fit(X, Y)


@pytest.fixture(scope="module")
def two():
    """Two targets with names."""
    return regressor().fit(X, pd.DataFrame({"area": X[:, 0] * X[:, 1], "decay": Y}))


@pytest.fixture(scope="module")
def noisy():
    return PruneSymRegressor(preset=FEW).fit(X, HARD)


# ---- the contract -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(estimator, check, id=getattr(check, "func", check).__name__)
        for estimator, check in estimator_checks_generator(PruneSymRegressor(preset=SHORT))
    ],
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
def test_scikit_learn_checks_of_the_default_search():
    check_estimator(PruneSymRegressor(preset=SearchSettings(time_limit=float("inf"), max_fits=20)), on_skip=None)


def test_scikit_learn_checks_of_the_papers_method():
    check_estimator(PruneSymRegressor(preset=FEW), on_skip=None)


def test_it_is_a_regressor_of_one_target_or_several():
    tags = PruneSymRegressor().__sklearn_tags__()
    assert is_regressor(PruneSymRegressor())
    assert tags.target_tags.multi_output
    assert tags.target_tags.required


OWN = make_operator("doubled_sine", lambda v: np.sin(2 * v))
PARAMETERS = {
    "categories": ["a"],
    "units": {"x1": "m"},
    "constant_units": False,
    "operators": ["+", "*", OWN],
    "max_complexity": 9,
    "constraints": {"max_uses": {"exp": 1}, "requires": ["x1"]},
    "start_from": ["a*x1"],
    "constants_per": "b",
    "template": "f(x1)",
    "parts": {"f": {"max_complexity": 3}},
    "selection": len,
    "loss": "huber",
    "time_limit": 3.5,
    "max_evaluations": 10**6,
    "preset": FEW,
    "max_epochs": 30,
    "n_jobs": 2,
    "device": "cpu",
    "random_state": 7,
    "progress": False,
    "callbacks": (print,),
    "run_dir": "somewhere",
    "warm_start": True,
}


def test_every_parameter_is_kept_as_given_and_cloned():
    assert set(PARAMETERS) == set(inspect.signature(PruneSymRegressor).parameters)
    estimator = PruneSymRegressor(**PARAMETERS)
    for name, value in PARAMETERS.items():
        assert getattr(estimator, name) is value
    copied = clone(estimator)
    assert copied.get_params() == PARAMETERS
    assert copied.set_params(**PruneSymRegressor().get_params()).get_params() == PruneSymRegressor().get_params()
    assert estimator.get_params() == PARAMETERS


@pytest.mark.parametrize("rules", [Constraints(max_uses={"exp": 0}), {"max_uses": {"exp": 0}}])
def test_constraints_as_an_object_or_a_dict(rules):
    estimator = clone(PruneSymRegressor(preset=FEW, constraints=rules))
    found = estimator.fit(X, Y)
    assert not found.equations_["equation"].str.contains("exp").any()
    assert found.constraints == rules


def test_nothing_is_checked_before_fit():
    nonsense = {name: object() for name in PARAMETERS}
    estimator = PruneSymRegressor(**nonsense)
    assert all(getattr(estimator, name) is value for name, value in nonsense.items())


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("operators", "sin", "operators must be a list.*'sin'"),
        ("operators", ("sine",), "operator 'sine'"),
        ("operators", [], "operators must have at least one"),
        ("operators", 3, "operators must be a list.*3"),
        ("max_complexity", 0, "max_complexity must be a whole number >= 1, got 0"),
        ("max_complexity", 2.5, "max_complexity must be a whole number >= 1, got 2.5"),
        ("max_complexity", "9", "max_complexity must be a whole number >= 1, got '9'"),
        ("constraints", 3, "constraints must be Constraints, or a dict of max_uses, .*, got 3"),
        ("constraints", {"nonsense": 1}, "constraints must be of max_uses, .*, got 'nonsense'"),
        ("constraints", {"max_uses": {"foo": 1}}, "constraints name 'foo'"),
        ("constraints", {"requires": ["z"]}, "constraints require 'z'.*x1, x2"),
        ("constraints", {"allow": 3}, "allow must be a function"),
        ("selection", "best", "selection must be a function or one of mdl, bic.*'best'"),
        ("selection", ["mdl"], "selection must be a function or one of"),
        ("loss", "mae", "loss must be a function or one of auto, squared, absolute, huber.*'mae'"),
        ("loss", np.sum, "its parameters can't be read|a value for each of"),
        ("time_limit", 0, "time_limit must be a number of seconds > 0, got 0"),
        ("time_limit", "5", "time_limit must be a number of seconds > 0, got '5'"),
        ("time_limit", math.nan, "time_limit must be a number of seconds > 0, got nan"),
        ("preset", "papper", "preset must be SearchSettings or one of default, paper.*'papper'"),
        ("max_epochs", 100, r'max_epochs is for trained networks \(preset="paper" and its variants\), got 100'),
        ("preset", {"layers": 2}, "preset must be a name or SearchSettings, got dict"),
        ("n_jobs", 0, "n_jobs must be a number of workers.*got 0"),
        ("n_jobs", 1.5, "n_jobs must be a number of workers.*got 1.5"),
        ("device", "gpu", "device must be auto, cpu, cuda.*'gpu'"),
        ("device", 3, "device must be auto, cpu, cuda.*3"),
        ("random_state", -1, "random_state must be.*-1"),
        ("random_state", "a", "random_state must be.*'a'"),
        ("progress", "no", "progress must be.*'no'"),
        ("callbacks", None, "callbacks must be a list"),
        ("callbacks", print, "callbacks must be a list"),
        ("callbacks", [3], "callbacks must be.*3"),
        ("run_dir", 5, "run_dir must be a path.*5"),
        ("warm_start", "no", "warm_start must be.*'no'"),
        ("max_evaluations", 0, "max_evaluations must be a whole number.*0"),
        ("max_evaluations", 1.5, "max_evaluations must be a whole number.*1.5"),
    ],
)
def test_a_wrong_parameter_is_named_in_fit(name, value, message):
    with pytest.raises((ValueError, TypeError), match=message):
        regressor(**{name: value}).fit(X, Y)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_device_that_is_not_there_is_named():
    with pytest.raises((ValueError, RuntimeError), match=r"device.*cuda"):
        regressor(device="cuda").fit(X, Y)


def test_fit_before_all_else():
    calls = ["equation", "save", *EXPORTS]
    for name in calls:
        with pytest.raises(NotFittedError):
            getattr(PruneSymRegressor(), name)(*(["nowhere"] if name == "save" else []))
    for name in ("predict", "predict_interval"):
        with pytest.raises(NotFittedError):
            getattr(PruneSymRegressor(), name)(X)
    with pytest.raises(NotFittedError):
        PruneSymRegressor().score(X, Y)


# ---- what a fit leaves ----------------------------------------------------------------------------------


def test_the_front_as_a_table(model):
    table = model.equations_
    assert list(table.columns) == ["complexity", "loss", "r2", "heldout_r2", "description_length", "tie", "equation"]
    assert len(table) == len(model.fronts_[0]) > 2
    assert table["complexity"].is_monotonic_increasing
    assert table["complexity"].is_unique
    chosen = table.loc[table["description_length"].idxmin()]
    assert chosen["equation"] == model.best_.text() == "3*x1*exp(-x2) + 1"
    assert chosen["r2"] == 1
    for row, found in table.iterrows():
        predicted = model.predict(X, index=row)
        assert found["loss"] == pytest.approx(np.mean((predicted - Y) ** 2), rel=1e-9, abs=1e-28)
        assert found["r2"] == pytest.approx(1 - found["loss"] / np.var(Y), rel=1e-9)


def test_attributes_of_a_fit_on_arrays(model):
    assert (model.n_features_in_, model.n_outputs_) == (2, 1)
    assert not hasattr(model, "feature_names_in_")
    assert isinstance(model.best_, Equation)
    assert str(model.best_) == "y = 3*x1*exp(-x2) + 1"
    assert list(model.constants_.columns) == [
        "name", "value", "standard_error", "low", "high", "fitted", "rounded_to",
    ]  # fmt: skip
    assert model.fit(X, Y) is model


def test_a_second_fit_forgets_the_first():
    model = regressor().fit(pd.DataFrame({"a": X[:, 0], "b": X[:, 1]}), np.column_stack([Y, Y]))
    model.fit(X[:, :1], X[:, 0] ** 2)
    assert not hasattr(model, "feature_names_in_")
    assert (model.n_features_in_, model.n_outputs_, str(model.best_)) == (1, 1, "y = x1**2")
    assert model.predict([[3.0]]).tolist() == [9.0]


def test_what_is_printed_marks_the_choice(model, two):
    shown = str(model).splitlines()
    assert [line[0] for line in shown[1:-1]].count(">") == 1
    assert next(line for line in shown if line.startswith(">")).endswith("3*x1*exp(-x2) + 1")
    assert shown[-1] == model.fronts_[0].status
    assert str(two).count("\n> ") == 2
    assert "area =" in str(two)
    assert "decay =" in str(two)
    assert repr(model) == "PruneSymRegressor(progress=False, time_limit=60)"
    assert str(PruneSymRegressor(max_complexity=3)) == "PruneSymRegressor(max_complexity=3)"


def test_what_a_notebook_shows_marks_the_choice(model, two):
    assert model._repr_html_().count("▸") == 1
    assert re.search(r"font-weight:bold[^>]*><td>▸ .*?<code>3\*x1\*exp\(-x2\) \+ 1</code>", model._repr_html_())
    assert two._repr_html_().count("<table>") == 2
    shown = model._repr_mimebundle_(include=None, exclude=None)
    assert shown == {"text/plain": str(model), "text/html": model._repr_html_()}
    assert "PruneSymRegressor()" in PruneSymRegressor()._repr_html_()
    assert model.best_._repr_latex_() == f"${model.latex()}$"


def test_what_a_notebook_shows_before_fit_is_escaped():
    assert "<operator" not in PruneSymRegressor(operators=[OWN])._repr_html_()


def test_several_targets_have_a_front_each(two):
    assert two.n_outputs_ == len(two.fronts_) == len(two.equations_) == len(two.constants_) == 2
    assert [str(equation) for equation in two.best_] == ["area = x1*x2", "decay = 3*x1*exp(-x2) + 1"]
    expected = np.column_stack([X[:, 0] * X[:, 1], Y])
    np.testing.assert_allclose(two.predict(X), expected, rtol=1e-12)
    assert two.score(X, expected) == 1
    mixed = two.predict(X, index=[0, 1])
    np.testing.assert_array_equal(mixed[:, 1], two.fronts_[1][1].predict({"x1": X[:, 0], "x2": X[:, 1]}))
    low, high = two.predict_interval(X)
    assert low.shape == high.shape == (60, 2)


def test_a_column_of_a_table_is_predicted_as_one():
    model = regressor().fit(X, Y[:, None])
    assert model.predict(X).shape == (60, 1)
    assert isinstance(model.best_, Equation)
    assert model.predict_interval(X)[0].shape == (60, 1)
    assert model.score(X, Y[:, None]) == 1


# ---- prediction -----------------------------------------------------------------------------------------


def test_an_interval_may_count_all_forms_of_the_front(model):
    columns = {"x1": X[:, 0], "x2": X[:, 1]}
    np.testing.assert_array_equal(model.predict_interval(X, forms=True), model.fronts_[0].interval(columns))
    with pytest.raises(ValueError, match="index must be None where forms=True"):
        model.predict_interval(X, index=0, forms=True)


def test_another_row_of_the_front(model):
    for row in (0, 1, len(model.equations_) - 1, -1, np.int64(1), [1]):
        chosen = model.fronts_[0][row[0] if isinstance(row, list) else row]
        np.testing.assert_array_equal(model.predict(X, index=row), chosen.predict({"x1": X[:, 0], "x2": X[:, 1]}))
        assert model.equation(row) is chosen
    assert model.equation() is model.best_


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (99, r"index must be a row of the front, 0 to \d, got 99"),
        ([0, 1], "index must be the number of a row of the front, got"),
        (1.0, "index must be the number of a row of the front"),
        ([0.7], "index must be the number of a row of the front"),
        ("0", "index must be the number of a row of the front"),
        (True, "index must be the number of a row of the front"),
    ],
)
def test_an_index_that_is_no_row(model, index, message):
    with pytest.raises((ValueError, IndexError, TypeError), match=message):
        model.predict(X, index=index)


@pytest.mark.parametrize(
    ("function", "outside"),
    [(np.log, -1.0), (np.sqrt, -1.0), (lambda x: 1 / x, 0.0), (np.exp, 1e5), (lambda x: np.exp(x) - np.exp(-x), 1e5)],
)
def test_outside_the_domain_there_is_nan_and_one_warning(function, outside):
    x = np.linspace(0.1, 3, 40)
    model = regressor().fit(x[:, None], function(x))
    table = np.array([[1.0], [outside], [2.0], [outside]])
    with pytest.warns(DomainWarning, match="no value on 2 of 4 rows") as caught:
        predicted = model.predict(table)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert np.isnan(predicted).tolist() == [False, True, False, True]
    np.testing.assert_allclose(predicted[[0, 2]], function(np.array([1.0, 2.0])), rtol=1e-9)
    with pytest.warns(DomainWarning, match="no value on 2 of 4 rows") as caught:
        low, high = model.predict_interval(table)
    assert len(caught) == 1
    assert (np.isnan(low) == np.isnan(predicted)).all()
    assert (np.isnan(high) == np.isnan(predicted)).all()
    with pytest.warns(DomainWarning):
        assert model.score(table, np.ones(4)) == -math.inf


def test_several_targets_warn_once():
    x = np.linspace(0.1, 3, 40)
    model = regressor().fit(x[:, None], np.column_stack([np.log(x), np.sqrt(x), 2 * x]))
    with pytest.warns(DomainWarning) as caught:
        predicted = model.predict([[-1.0], [1.0]])
    assert len(caught) == 1
    assert np.isnan(predicted).tolist() == [[True, True, False], [False] * 3]


def test_score_is_r2_with_weights(noisy):
    weights = np.linspace(0, 2, 60)
    rest = weights @ (HARD - noisy.predict(X)) ** 2
    spread = weights @ (HARD - np.average(HARD, weights=weights)) ** 2
    assert noisy.score(X, HARD, sample_weight=weights) == pytest.approx(1 - rest / spread)
    assert noisy.score(X, HARD) == pytest.approx(noisy.best_.r2)


def test_the_constants_of_a_search_have_standard_errors(noisy):
    constants = noisy.constants_
    assert len(constants) >= len(noisy.best_.expression.constants)  # those that were rounded have errors, too
    assert len(constants) > 0
    assert (constants["standard_error"] > 0).all()
    assert (constants["low"] < constants["fitted"]).all()
    assert (constants["fitted"] < constants["high"]).all()


@pytest.mark.parametrize("confidence", [0, 1, -1, 1.5, math.nan])
def test_a_confidence_must_be_a_share(model, confidence):
    with pytest.raises(ValueError, match="confidence must be between 0 and 1"):
        model.predict_interval(X, confidence)


# ---- seeds, threads, settings ---------------------------------------------------------------------------


def test_the_number_of_threads_changes_nothing(model):
    for n_jobs in (1, 2, None, -2):
        other = regressor(n_jobs=n_jobs).fit(X, Y)
        pd.testing.assert_frame_equal(other.equations_, model.equations_, check_exact=True)


def test_a_random_state_is_drawn_from_once_for_each_fit():
    drawn, beside = np.random.RandomState(1), np.random.RandomState(1)
    estimator = PruneSymRegressor(preset=FEW, random_state=drawn)
    fits = (estimator.fit, partial(estimator.fit_form, "a*x1 + b*x2"), estimator.fit)
    seeds = [fit(X, Y).model_.settings.seed for fit in fits]
    assert seeds == [beside.randint(2**31 - 1) for _ in fits]


def test_random_states():
    same = [PruneSymRegressor(preset=FEW, random_state=seed).fit(X, HARD).equations_ for seed in (5, np.int64(5))]
    pd.testing.assert_frame_equal(*same, check_exact=True)
    estimator = PruneSymRegressor(preset=FEW, random_state=np.random.RandomState(1))
    seeds = [estimator.fit(X, Y).model_.settings.seed for _ in range(2)]
    again = clone(PruneSymRegressor(preset=FEW, random_state=np.random.RandomState(1)))
    assert again.fit(X, Y).model_.settings.seed == seeds[0] != seeds[1]
    free = PruneSymRegressor(preset=FEW, random_state=None)
    assert free.fit(X, Y).model_.settings.seed != free.fit(X, Y).model_.settings.seed
    assert PruneSymRegressor(preset=replace(FEW, seed=9)).fit(X, Y).model_.settings.seed == 9


def test_parameters_say_more_than_the_preset():
    preset = replace(FEW, max_complexity=20, time_limit=50, seed=3)
    estimator = PruneSymRegressor(
        preset=preset, operators=["+", "*"], max_complexity=5, time_limit=40, device="cpu", selection="accuracy"
    )
    settings = estimator.fit(X, HARD).model_.settings
    assert (settings.operators, settings.max_complexity, settings.time_limit) == (("+", "*"), 5, 40)
    assert (settings.selection, settings.seed, settings.layers) == ("accuracy", 3, 2)
    assert estimator.equations_["complexity"].max() <= 5
    assert estimator.best_.loss == estimator.equations_["loss"].min()


def test_a_preset_of_ones_own_keeps_its_selection():
    settings = PruneSymRegressor(preset=replace(FEW, selection="accuracy")).fit(X, HARD).model_.settings
    assert settings.selection == "accuracy"
    assert PruneSymRegressor(preset=FEW).fit(X, HARD).model_.settings.selection == "mdl"


def test_evaluations_are_counted_and_not_seconds():
    noise = np.random.default_rng(3).normal(size=len(X))
    one, two = (
        PruneSymRegressor(max_evaluations=2 * 10**6, n_jobs=k, progress=False).fit(X, Y + noise) for k in (1, 2)
    )
    assert one.fronts_[0].status == "stopped at the limit of evaluations"
    assert one.model_.settings.time_limit == math.inf
    pd.testing.assert_frame_equal(one.equations_, two.equations_)
    assert one.fronts_[0].fits == two.fronts_[0].fits


@pytest.mark.parametrize(
    ("operators", "law", "text"),
    [
        (["+", "*", "pow"], lambda a, b: a**b, "y = x1**x2"),
        (["pow"], lambda a, b: a**b, "y = x1**x2"),
        (["+", "*", "pi"], lambda a, b: np.pi * a * b, "y = pi*x1*x2"),
        (["pi"], lambda a, b: np.pi * a * b, "y = pi*x1*x2"),
    ],
)
def test_powers_and_pi_may_be_asked_for(operators, law, text):
    X = np.random.default_rng(0).uniform(0.5, 3, (60, 2))
    model = PruneSymRegressor(operators=operators, progress=False).fit(X, law(*X.T))
    assert str(model.best_) == text


def test_operators_that_were_not_given_do_not_appear():
    few = PruneSymRegressor(preset=SHORT, operators=["+", "*"]).fit(X, Y)
    assert len(few.equations_) > 2
    assert not few.equations_["equation"].str.contains(r"[a-w]|/\(?x|\*\*-").any()


def test_selection_by_a_function_of_the_table():
    seen = []

    def simplest(table):
        seen.append(list(table.columns))
        return 0

    model = PruneSymRegressor(preset=FEW, selection=simplest).fit(X, HARD)
    assert model.best_.text() == model.equations_["equation"][0]
    assert seen[0] == list(model.equations_.columns)
    with pytest.raises(ValueError, match=r"`selection` must return a row of the front, 0 to \d+, got 99"):
        PruneSymRegressor(preset=FEW, selection=lambda table: 99).fit(X, HARD)


def test_what_can_not_be_kept_is_said():
    with pytest.raises(NothingFoundError, match="relax them"):
        PruneSymRegressor(preset=FEW, constraints={"allow": lambda formula: False}).fit(X, HARD)


# ---- watching, stopping, going on -------------------------------------------------------------------------


def test_callbacks_are_told_of_each_new_best():
    first, second = [], []
    regressor(callbacks=[first.append, second.append]).fit(X, Y)
    assert first == second
    assert len(first) > 1
    seconds = [update.seconds for update in first]
    assert seconds == sorted(seconds)
    assert len({id(update.best) for update in first}) == len(first)


def test_a_callback_may_end_the_fit():
    def enough(update):
        raise StopIteration

    with pytest.warns(InterruptedWarning, match="stopped by hand") as caught:
        model = regressor(callbacks=[enough]).fit(X, np.column_stack([HARD, HARD**2]))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.fronts_[0].status == "stopped by a callback"
    assert np.isfinite(model.predict(X)).all()


def test_all_targets_say_that_the_fit_was_stopped(monkeypatch):
    def enough(update):
        raise StopIteration

    monkeypatch.setattr("prunesymnet.runs.run.LEAST", 1e-9, raising=False)  # as on a slow machine
    with pytest.warns(InterruptedWarning):
        model = regressor(callbacks=[enough]).fit(X, np.column_stack([HARD, HARD**2]))
    assert not [front.status for front in model.fronts_ if "time limit" in front.status]


def test_other_errors_of_a_callback_are_the_callers():
    def broken(update):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        regressor(callbacks=[broken]).fit(X, HARD)


@pytest.mark.parametrize("progress", [True, False])
def test_where_there_is_no_terminal_nothing_is_shown(progress, capfd):
    PruneSymRegressor(preset=FEW, progress=progress).fit(X, HARD)
    assert capfd.readouterr() == ("", "")


CTRL_C = """
import warnings
import numpy as np
from prunesymnet import PruneSymRegressor
rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (300, 4))
y = np.exp(np.sin(3 * X[:, 0]) * X[:, 1]) + np.cos(X[:, 2] ** 3) * X[:, 3] + 0.1 * rng.normal(size=300)
told = []
def tell(update):
    if not told:
        told.append(print("searching", flush=True))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = PruneSymRegressor(time_limit=1e6, callbacks=[tell]).fit(X, y)
print([w.category.__name__ for w in caught], model.fronts_[0].status, model.score(X, y), sep=";")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way")
def test_ctrl_c_gives_the_best_so_far():
    child = subprocess.Popen([sys.executable, "-c", CTRL_C], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "searching\n"
        time.sleep(0.5)  # somewhere in the middle of it
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=100)  # of the days that it has
    finally:
        child.kill()
    assert (child.returncode, err) == (0, "")
    caught, status, score = out.strip().split(";")
    assert caught == "['InterruptedWarning']"
    assert status == "interrupted"
    assert float(score) > -1e-9  # at least the mean, however early it came


def test_warm_start_begins_where_the_first_fit_ended():
    def enough(update):
        raise StopIteration

    model = regressor(warm_start=True).fit(X, Y)
    best = str(model.best_)
    model.set_params(callbacks=[enough])
    assert str(model.fit(X, Y).best_) == best  # nothing had to be searched
    model.set_params(warm_start=False)
    with pytest.warns(InterruptedWarning):
        assert str(model.fit(X, Y).best_) != best


def test_warm_start_with_another_table_starts_afresh():
    model = PruneSymRegressor(preset=FEW, warm_start=True).fit(X, HARD)
    model.fit(X[:, :1], HARD)
    assert model.n_features_in_ == 1
    model.fit(pd.DataFrame(X, columns=["a", "b"]), np.column_stack([HARD, Y]))
    assert model.n_outputs_ == len(model.best_) == 2


def test_warm_start_into_a_new_run_dir(tmp_path):
    model = PruneSymRegressor(preset=FEW, warm_start=True).fit(X, HARD)
    model.set_params(run_dir=tmp_path / "run").fit(X, HARD)
    assert (tmp_path / "run" / "run.json").exists()


def test_warm_start_does_not_mix_two_tables_in_a_run_dir(tmp_path):
    model = PruneSymRegressor(preset=FEW, warm_start=True, run_dir=tmp_path / "run").fit(X, HARD)
    try:
        model.fit(X, 5 * HARD)
    except FileExistsError:
        return
    assert pd.read_parquet(tmp_path / "run" / "data.parquet")["y"].tolist() == (5 * HARD).tolist()


def test_epochs_of_a_network_are_the_estimators_or_the_presets():
    estimator = PruneSymRegressor(preset="no-gradient", max_epochs=20).fit(X, Y)
    assert (estimator.model_.settings.max_epochs, estimator.model_.settings.training.gradient) == (20, False)
    shorter = replace(PRESETS["random-pruning"], max_epochs=7)
    assert PruneSymRegressor(preset=shorter).fit(X, Y).model_.settings.max_epochs == 7
    with pytest.raises(ValueError, match="max_epochs must be a whole number >= 1, got 0"):
        PruneSymRegressor(preset="paper", max_epochs=0).fit(X, Y)


# Losses and standard errors


def test_a_search_with_outliers():
    rng = np.random.default_rng(0)
    rows = rng.uniform(-3, 3, (120, 2))
    y = rows[:, 0] ** 2 + 3 * np.sin(rows[:, 1])
    y[::15] += 100
    for loss in ("huber", "absolute"):
        model = PruneSymRegressor(loss=loss, preset=SearchSettings(max_fits=3000, time_limit=math.inf)).fit(rows, y)
        assert str(model.best_) == "y = x1**2 + 3*sin(x2)"
        assert model.fronts_[0].status == "found a formula that is exact on held-out rows"


def test_a_function_is_a_loss():
    x = np.linspace(1, 3, 40)[:, None]
    y = 2 * x[:, 0] ** 2
    y[5] = 1000
    model = PruneSymRegressor(loss=lambda residual: np.sqrt(1 + residual**2) - 1, preset=FEW).fit_form("a*x**2", x, y)
    assert model.constants_["value"][0] == pytest.approx(2, abs=0.1)


def test_a_form_is_fitted_by_the_loss():
    x = np.linspace(0, 3, 60)[:, None]
    y = 4 * np.exp(-0.5 * x[:, 0]) + 1
    y[::10] -= 50
    model = PruneSymRegressor(loss="huber").fit_form("a*exp(-b*x) + c", x, y)
    assert model.constants_["value"].tolist() == pytest.approx([4, 0.5, 1])


def test_standard_errors_of_the_target_are_known():
    rng = np.random.default_rng(0)
    x = np.linspace(1, 3, 50)[:, None]
    sigma = 0.1 * x[:, 0]
    y = 2 * x[:, 0] + 0.01 * rng.normal(size=50)  # the rows scatter less than they say
    model = PruneSymRegressor().fit_form("a*x", x, y, y_err=sigma)
    expected = 1 / np.sqrt((x[:, 0] ** 2 / sigma**2).sum())
    assert model.constants_["standard_error"][0] == pytest.approx(expected, rel=0.02)  # less a degree of freedom
    low, high = model.predict_interval(x)
    assert (high - low > 0.2).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y_err": np.zeros(len(X))}, "y_err must be standard errors > 0; it is 0"),
        ({"y_err": np.ones(3)}, "y_err has 3"),
        ({"y_err": np.ones(len(X)), "sample_weight": np.ones(len(X))}, "y_err and sample_weight can't both be given"),
    ],
)
def test_standard_errors_that_cannot_be_used(given, message):
    with pytest.raises(DataError, match=message):
        PruneSymRegressor(preset=FEW).fit(X, HARD, **given)


def test_a_target_that_the_loss_does_not_suit():
    with pytest.raises(DataError, match="loss='poisson' needs a target of at least 0"):
        PruneSymRegressor(loss="poisson", preset=FEW).fit(X, -np.abs(HARD) - 1)
