"""A form's answers become parameters of the estimator, each checked by name."""

import inspect

import pytest

from prunesymnet import PruneSymRegressor
from prunesymnet.estimator.parameters import settings_of
from prunesymnet.operators import OPERATORS
from prunesymnet.search import STAGES, SearchStatus
from prunesymnet.studio.forms import BY_NAME, OPTIONS, in_formulas, parameters
from prunesymnet.studio.words import STAGES as STAGES_IN_WORDS
from prunesymnet.studio.words import stage_in_words

USUAL = {option.name: option.usual for option in OPTIONS}
ANSWERS = {
    "time_limit": 12.5, "operators": ["+", "exp"], "max_complexity": 9, "max_constants": 2, "requires": ["x"],
    "max_uses": [["exp", 1], ["x", 2]], "max_argument": [["sin", 3]], "forbid_nested": [["sin", "exp"], ["log", "exp"]],
    "costs": [["sin", 4]], "start_from": "a*x + b\n\n x**2 ", "template": " f(x) ", "constants_per": "site",
    "shape": "increasing in x", "units": [["x", "m/s"], ["y", " "]], "constant_units": False, "loss": "huber",
    "selection": "bic", "preset": "paper", "random_state": 3, "max_nested": [["exp", 1, "sin"], ["log", 0, "sin"]],
    "box": [["x", 0, 10.5]],
    "parts": [["f", {"operators": ["+", "*"], "max_complexity": 8, "start_from": "a*x"}], ["g", {"operators": []}]],
}  # fmt: skip


def test_usual_answers_are_not_said():
    assert parameters(USUAL) == {}
    assert parameters({}) == {}
    assert settings_of(PruneSymRegressor()) == settings_of(PruneSymRegressor(**parameters(USUAL)))


def test_every_answer_becomes_a_setting():
    assert set(ANSWERS) == set(BY_NAME)
    given = parameters(ANSWERS)
    assert (given["units"], given["constant_units"]) == ({"x": "m/s"}, False)
    assert (given["template"], given["constants_per"]) == ("f(x)", "site")
    assert given["start_from"] == ["a*x + b", "x**2"]
    assert given["parts"] == {"f": {"operators": ["+", "*"], "max_complexity": 8, "start_from": ["a*x"]}}
    given |= {"template": None, "parts": None}  # which go with no constants of categories
    found = settings_of(PruneSymRegressor(**given))
    assert (found.time_limit, found.max_complexity, found.loss, found.selection, found.seed) == (
        12.5,
        9,
        "huber",
        "bic",
        3,
    )
    assert found.operators == ("+", "exp")
    rules = found.constraints
    assert (rules.costs, rules.shape) == ({"sin": 4}, ("increasing in x",))
    assert (rules.max_constants, rules.requires, rules.max_argument) == (2, ("x",), {"sin": 3})
    assert (rules.max_nested, rules.box) == ({"sin": {"exp": 1, "log": 0}}, {"x": (0.0, 10.5)})
    assert (rules.max_uses, rules.forbid_nested) == ({"exp": 1, "x": 2}, {"exp": ["sin", "log"]})


def test_options_are_parameters_that_there_are():
    known = inspect.signature(PruneSymRegressor).parameters
    assert {option.parameter.partition(".")[0] for option in OPTIONS} <= set(known)
    assert set(BY_NAME["operators"].usual) <= set(OPERATORS)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("time_limit", 0), ("time_limit", "60"), ("time_limit", 1e9), ("time_limit", True), ("max_complexity", 1.5),
        ("max_complexity", 0), ("max_complexity", 2**40), ("operators", []), ("operators", ["eval"]),
        ("operators", "sin"), ("requires", "x"), ("requires", [1]), ("requires", ["x"] * 1000), ("max_uses", [["exp"]]),
        ("max_uses", [["exp", "1"]]), ("max_uses", [["exp", -1]]), ("forbid_nested", [["exp", 1]]), ("loss", "none"),
        ("loss", None), ("random_state", -1), ("units", [["x", 1]]), ("units", {"x": "m"}), ("constant_units", "no"),
        ("template", 1), ("max_nested", [["exp", "sin"]]), ("max_nested", [["exp", True, "sin"]]), ("max_nested", 1),
        ("box", [["x", 1]]), ("box", [["x", 2, 1]]), ("box", [["x", None, 1]]), ("box", {"x": [0, 1]}),
        ("parts", [["f", {"size": 1}]]), ("parts", [["f", {"max_complexity": 0}]]), ("parts", {"f": {}}),
        ("unknown", 1), ("__class__", 1),
    ],
)  # fmt: skip
def test_other_answers_are_refused(name, value):
    with pytest.raises(ValueError, match=BY_NAME[name].label if name in BY_NAME else "no option"):
        parameters({name: value})


def test_rules_name_columns_as_formulas_do():
    labels = {"temp_C": "temp (C)", "y": "y"}
    asked = {"requires": ["temp (C)"], "max_uses": [["temp (C)", 1], ["exp", 2]], "units": [["temp (C)", "K"]]}
    assert in_formulas(asked, labels) == {
        "requires": ["temp_C"],
        "max_uses": [["temp_C", 1], ["exp", 2]],
        "units": [["temp (C)", "K"]],
    }
    for wrong in ({"requires": [1]}, {"max_uses": [1, [], ["a"], [[]]]}, {"unknown": 1}):
        assert isinstance(in_formulas(wrong, labels), dict)  # what is wrong with them is said later


def test_every_stage_has_words():
    assert {stage.name for stage in STAGES} <= set(STAGES_IN_WORDS)
    assert stage_in_words("a_new_one") == "Trying a new one"
    assert all(status.value for status in SearchStatus)
