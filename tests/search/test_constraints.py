"""What a search may return: constraints, the largest complexity, the criterion of choice, and where it starts from."""

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clocks import Clock
from contexts import all_stages_but
from models import BANKS, NETWORKS, PATIENT, SHORTCUTS, at_least_as_good
from prunesymnet.data import load_example, make_dataset
from prunesymnet.errors import NothingFoundError
from prunesymnet.expression import Apply, Constant, Variable, evaluate, fingerprint, parse, skeleton
from prunesymnet.operators import make_operator
from prunesymnet.search import Constraints, ExhaustiveSettings, SearchSettings, SearchStatus, Start
from prunesymnet.search import search as whole_search
from prunesymnet.search.constraints import Vocabulary
from strategies import expressions


def table(rows=60, noise=0.2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.5, 3, (rows, 2))
    y = np.exp(-X[:, 0]) * np.sin(2 * X[:, 1]) + X[:, 0] + noise * rng.normal(size=rows)
    return make_dataset(X, y, names=["x", "z"], target="t")


NOISY = table()
PARABOLA = make_dataset(np.linspace(-3, 3, 40), np.linspace(-3, 3, 40) ** 2 / 2 + 1, names=["x"])


# ---- what the operators can say -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operators", "text", "can"),
    [
        ("sin cos /", "tan(x)", True),
        ("sin cos", "tan(x)", False),
        ("exp", "sinh(x) + cosh(x)", True),
        ("exp", "tanh(x)", False),
        ("abs", "max(x, min(z, 2))", True),
        ("log", "max(x, z)", False),
        ("log", "log(abs(x))", True),
        ("sqrt square", "abs(x)", False),
        ("asin", "acos(x)", True),
        ("sin", "asin(x)", False),
        ("erf", "erf(x)", True),
        ("sin exp log /", "erf(x)", False),
        ("", "-x + 2*x*z - id(x)*pi", True),
    ],
)
def test_what_follows_from_an_operator(operators, text, can):
    assert Vocabulary(operators.split()).has(parse(text)) == can


def search(data, settings, **more):
    """A search that ends after forty looks at its clock: rules may leave nothing to fit, and so to count."""
    if settings.max_fits is not None:
        settings = replace(settings, time_limit=40)
    return whole_search(data, settings, clock=Clock(step=1.0), **more)


# ---- the rules ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "text", "broken"),
    [
        ({}, "exp(sin(x)) + 1.5", None),
        ({"max_uses": {"exp": 1}}, "exp(x) + x", None),
        ({"max_uses": {"exp": 1}}, "exp(x) + exp(z)", "'exp' appears 2 times, more than 1"),
        ({"max_uses": {"exp": 0}}, "exp(x)", "'exp' appears 1 times, more than 0"),
        ({"max_uses": {"x": 1}}, "x*x", "'x' appears 2 times"),
        ({"max_uses": {"x": 1}}, "x**2", None),
        ({"excludes": ["z"]}, "x + z", "it has 'z', which is excluded"),
        ({"max_nested": {"sin": {"exp": 1}}}, "sin(exp(x) + exp(z))", None),
        ({"max_nested": {"sin": {"exp": 1}}}, "sin(exp(x + exp(z)))", "'exp' stands inside 'sin' 2 times, more than 1"),
        ({"max_nested": {"exp": {"exp": 1}}}, "exp(exp(exp(x)))", "'exp' stands inside 'exp' 2 times"),
        ({"max_argument": {"sin": 5}, "costs": {"exp": 5}}, "sin(exp(x))", "a complexity above 5"),
        ({"max_uses": {"+": 1}}, "x + z + 1.0", r"'\+' appears 2 times"),
        ({"max_uses": {"square": 0}}, "x**2", "'square' appears"),
        ({"max_uses": {"pi": 0}}, "pi*x", "'pi' appears"),
        ({"max_argument": {"sin": 3}}, "sin(2*x) + x**2*z", None),
        ({"max_argument": {"sin": 3}}, "sin(2*x + z)", "'sin' is applied to something of a complexity above 3"),
        ({"max_argument": {"/": 1}}, "x/(x + 1)", "'/' is applied"),
        ({"max_argument": {"pow": 1}}, "x**1.5", None),
        ({"forbid_nested": {"exp": ["sin"]}}, "exp(x)*sin(x)", None),
        ({"forbid_nested": {"exp": ["sin"]}}, "sin(exp(x))", None),
        ({"forbid_nested": {"exp": ["sin"]}}, "exp(2*(x + sin(z)))", "'sin' stands inside 'exp'"),
        ({"forbid_nested": {"exp": ["exp", "log"]}}, "exp(x + exp(z))", "'exp' stands inside 'exp'"),
        ({"forbid_nested": {"exp": ["z"]}}, "exp(x + z)", "'z' stands inside 'exp'"),
        ({"max_constants": 1}, "1.5*x + 2", None),
        ({"max_constants": 1}, "1.5*x + 2.5", "it has 2 constants, more than 1"),
        ({"max_constants": 0}, "2*x/3", None),
        ({"requires": ["x", "z"]}, "x + 1.0", "it lacks 'z'"),
        ({"requires": ("x", "z")}, "x*z", None),
        ({"allow": lambda e: "log" not in str(e)}, "log(x)", "`allow` refuses it"),
        ({"allow": lambda e: "log" not in str(e)}, "sin(x)", None),
    ],
)
def test_each_rule(rules, text, broken):
    said = Constraints(**rules).violated_by(parse(text))
    assert said is None if broken is None else re.search(broken, said or "")


def _walk(node):
    yield node
    for operand in node.operands:
        yield from _walk(operand)


def _called(node):
    if isinstance(node, Apply):
        return node.operator.name
    return node.name if isinstance(node, Variable) else None


names = st.sampled_from(["+", "*", "sin", "exp", "square", "x", "y"])


@given(
    expressions(),
    st.dictionaries(names, st.integers(0, 3), max_size=2),
    st.dictionaries(names, st.integers(1, 6), max_size=2),
    st.dictionaries(names, st.lists(names, max_size=2), max_size=2),
    st.none() | st.integers(0, 3),
    st.lists(st.sampled_from("xyz"), max_size=1),
)
def test_the_rules_are_those_of_a_plain_recursion(expression, uses, argument, nested, constants, requires):
    rules = Constraints(uses, argument, nested, constants, tuple(requires))
    nodes = list(_walk(expression))
    fine = all(sum(_called(node) == name for node in nodes) <= most for name, most in uses.items())
    for node in nodes:
        for operand in node.operands:
            fine &= operand.complexity <= argument.get(_called(node), math.inf)
            fine &= not {_called(part) for part in _walk(operand)} & set(nested.get(_called(node), ()))
    free = sum(isinstance(node, Constant) and isinstance(node.value, float) for node in nodes)
    fine &= constants is None or free <= constants
    fine &= set(requires) <= set(map(_called, nodes))
    assert (rules.violated_by(expression) is None) == fine


@pytest.mark.parametrize(
    ("rules", "kind", "message"),
    [
        ({"max_uses": ["exp"]}, TypeError, "max_uses must map names to limits"),
        ({"max_argument": 3}, TypeError, "max_argument must map names to limits"),
        ({"forbid_nested": ["exp"]}, TypeError, "forbid_nested must map names"),
        ({"max_uses": {"exp": -1}}, ValueError, r"max_uses\['exp'\] must be a whole number >= 0, got -1"),
        ({"max_argument": {"exp": 1.5}}, ValueError, r"max_argument\['exp'\] must be a whole number"),
        ({"forbid_nested": {"exp": "sin"}}, TypeError, r"forbid_nested\['exp'\] must be a list"),
        ({"forbid_nested": {"exp": [1]}}, TypeError, r"forbid_nested\['exp'\] must be a list"),
        ({"max_constants": -1}, ValueError, "max_constants must be a whole number >= 0"),
        ({"max_constants": True}, ValueError, "max_constants must be a whole number >= 0"),
        ({"allow": 5}, TypeError, "allow must be a function"),
        ({"requires": "x"}, TypeError, r"requires must be a list of columns; write requires=\['x'\]"),
        ({"excludes": "x"}, TypeError, r"excludes must be a list of columns; write excludes=\['x'\]"),
        ({"excludes": ["x"], "requires": ["x"]}, ValueError, "must not name the same column, got 'x' in both"),
        ({"max_nested": {"exp": 1}}, TypeError, r"max_nested\['exp'\] must map operators to numbers"),
        ({"max_nested": {"exp": {"sin": -1}}}, ValueError, r"max_nested\['exp'\]\['sin'\] must be a whole number"),
        ({"shape": "positive"}, TypeError, r"shape must be a list of sentences; write shape=\['positive'\]"),
        (
            {"shape": ["rising"]},
            ValueError,
            "shape must be a list of sentences such as increasing in x, .*, got 'rising'",
        ),
        ({"box": {"x": (1, 0)}}, ValueError, r"box\['x'\] must be the lower and the upper end, two numbers, got"),
        ({"costs": {"exp": 0}}, ValueError, r"costs\['exp'\] must be a whole number >= 1, got 0"),
    ],
)
def test_rules_that_are_none_are_refused_in_words(rules, kind, message):
    with pytest.raises(kind, match=message):
        Constraints(**rules)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"requires": 5}, "requires must be a list of columns"),
        ({"forbid_nested": {"exp": 5}}, r"forbid_nested\['exp'\] must be a list"),
        ({"max_uses": {"exp": True}}, r"max_uses\['exp'\] must be a whole number"),
    ],
)
def test_more_rules_that_are_none_are_refused_in_words(rules, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Constraints(**rules)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"max_uses": {"expp": 1}}, "constraints name 'expp', which is neither an operator nor a column"),
        ({"max_argument": {"y": 1}}, "constraints name 'y'"),
        ({"forbid_nested": {"exp": ["sine"]}}, "constraints name 'sine'"),
        ({"forbid_nested": {"mine": ["sin"]}}, "constraints name 'mine'"),
        ({"requires": ["x", "w"]}, r"constraints require 'w', which is no column \(x, z\)"),
        ({"requires": ["sin"]}, "constraints require 'sin', which is no column"),
    ],
)
def test_names_that_mean_nothing_are_refused_before_the_search(rules, message):
    with pytest.raises(ValueError, match=message):
        search(NOISY, replace(BANKS, constraints=Constraints(**rules)))


def test_ones_own_operators_may_be_named():
    own = make_operator("sinc", np.sinc)
    rules = Constraints(max_uses={"sinc": 0})
    settings = replace(NETWORKS, operators=("+", "*", own), max_epochs=20, constraints=rules)
    for found in search(NOISY, settings).front:
        assert rules.violated_by(found.expression) is None


# ---- what a search returns ------------------------------------------------------------------------------------


def check(found, settings):
    """Every equation of a front keeps the rules, and the front is one."""
    for law in found.front:
        assert settings.constraints.violated_by(law.expression) is None
        assert settings.max_complexity is None or law.complexity <= settings.max_complexity
        assert math.isfinite(law.loss)
    assert settings.constraints.violated_by(found.best.expression) is None
    sizes = [law.complexity for law in found.front]
    assert sizes == sorted(set(sizes))
    assert found.front.best.expression == found.best.expression


def drawn(seed):
    """Random rules that some formula keeps: a constant, or the required column alone."""
    rng = np.random.default_rng(seed)
    names = ["+", "-", "*", "/", "sin", "cos", "exp", "log", "square", "sqrt", "x", "z"]

    def some(most):
        return [str(name) for name in rng.choice(names, rng.integers(0, most + 1), replace=False)]

    requires = ("x",) if rng.random() < 0.5 else ()
    return Constraints(
        max_uses={name: int(rng.integers(name == "x", 3)) for name in some(4)},
        max_argument={name: int(rng.integers(1, 8)) for name in some(3)},
        forbid_nested={name: some(4) for name in some(3)},
        max_constants=int(rng.integers(1, 5)) if rng.random() < 0.5 else None,
        requires=requires,
        allow=(lambda e: e.complexity % 4 != 0) if rng.random() < 0.3 else None,
    )


@pytest.mark.parametrize("seed", range(8))
def test_what_is_found_keeps_random_rules(seed):
    rng = np.random.default_rng(100 + seed)
    most = int(rng.integers(5, 16)) if rng.random() < 0.6 else None
    settings = replace(BANKS if seed % 2 else NETWORKS, constraints=drawn(seed), max_complexity=most)
    check(search(NOISY, settings), settings)


@pytest.mark.parametrize(
    "rules",
    [
        Constraints(max_uses={"x": 1, "z": 1}),
        Constraints(requires=("z", "x"), max_constants=2),
        Constraints(allow=lambda e: isinstance(e, Apply) and e.operator.name == "*"),
        Constraints(max_uses={"+": 0, "-": 0, "neg": 0}, forbid_nested={"sin": ["*"], "*": ["exp"]}),
    ],
)
def test_what_is_found_keeps_the_rules(rules):
    settings = replace(BANKS, constraints=rules)
    check(search(NOISY, settings), settings)


@pytest.mark.parametrize("most", [1, 2, 3, 6])
@pytest.mark.parametrize("settings", [BANKS, NETWORKS], ids=["banks", "networks"])
def test_no_formula_of_the_front_is_larger_than_allowed(settings, most):
    settings = replace(settings, max_complexity=most)
    for data in (NOISY, PARABOLA):
        check(search(data, settings), settings)


@pytest.mark.parametrize("rules", [Constraints(max_constants=0, requires=("x",)), Constraints(max_constants=0)])
def test_a_column_alone_keeps_a_rule_against_constants(rules):
    settings = replace(BANKS, constraints=rules)
    check(search(NOISY, settings), settings)


def test_a_rule_that_forbids_the_true_formula_gives_another():
    free = search(PARABOLA, PATIENT)
    assert fingerprint(free.best.expression) == fingerprint(parse("x**2/2 + 1"))
    bound = search(PARABOLA, replace(BANKS, constraints=Constraints(max_uses={"square": 0, "pow": 0, "x": 1})))
    assert bound.status is not SearchStatus.EXACT
    assert "**" not in str(bound.best.expression)


def test_rules_hold_on_all_rows_where_some_were_used():
    data = table(400)
    settings = replace(BANKS, rows=50, max_complexity=7, constraints=Constraints(max_uses={"exp": 0}, requires=("z",)))
    check(search(data, settings), settings)


@pytest.mark.parametrize("settings", [SHORTCUTS, replace(NETWORKS, max_epochs=20)])
@pytest.mark.parametrize(
    "changes",
    [
        {"constraints": Constraints(requires=("x",), max_uses={"x": 0})},
        {"constraints": Constraints(requires=("x", "z")), "max_complexity": 2},
        {"constraints": Constraints(allow=lambda e: False)},
    ],
)
def test_where_nothing_can_keep_the_rules_it_says_so(settings, changes):
    with pytest.raises(NothingFoundError, match="max_complexity and the constraints; relax them"):
        search(NOISY, replace(settings, **changes))


@pytest.mark.parametrize("loss", ["auto", "absolute", "huber"])
@pytest.mark.parametrize("linear_model", [True, False])
def test_a_level_ends_where_nothing_is_allowed_so_far(loss, linear_model):
    rules = Constraints(allow=lambda e: False)
    without = tuple(stage.name for stage in all_stages_but("pairs", "chains"))
    once = ExhaustiveSettings(levels=1, without=without)
    settings = SearchSettings(
        loss=loss, linear_model=linear_model, constraints=rules, workers=1, time_limit=math.inf, exhaustive=once
    )
    with pytest.raises(NothingFoundError, match="max_complexity and the constraints; relax them"):
        whole_search(NOISY, settings)


def test_those_who_watch_see_no_formula_that_breaks_the_rules():
    rules = Constraints(requires=("x",), max_uses={"x": 0})
    seen = []
    with pytest.raises(NothingFoundError):
        search(NOISY, replace(SHORTCUTS, constraints=rules), watch=lambda update: seen.append(update.best))
    assert all(best is None or rules.violated_by(best.fit.expression) is None for best in seen)


def test_ctrl_c_at_the_very_end_returns_nothing_that_breaks_the_rules(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    rules = Constraints(requires=("x",), max_uses={"x": 0})
    monkeypatch.setattr("prunesymnet.search.finish.Finish.choose", interrupted)
    with pytest.raises(NothingFoundError):
        search(NOISY, replace(SHORTCUTS, constraints=rules))


def test_a_function_that_fails_is_not_swallowed():
    def allow(expression):
        raise RuntimeError("broken rule")

    with pytest.raises(RuntimeError, match="broken rule"):
        search(NOISY, replace(BANKS, constraints=Constraints(allow=allow)))


def test_a_rule_about_values_that_the_last_fit_breaks():
    """`allow` may look at the constants, and these move a little when all rows are fitted."""
    rng = np.random.default_rng(3)
    x = rng.uniform(1, 2, 2000)
    data = make_dataset(x, 1.7 * x + 0.3 * rng.normal(size=2000), names=["x"])
    settings = replace(BANKS, rows=20, snapping=replace(BANKS.snapping, tolerance=1e-9))
    slopes = []

    def proportional(expression):
        if skeleton(expression) != skeleton(parse("1.5*x")):
            return False
        slopes.append(expression.constants[0])
        return True

    def but_not_so(expression):
        return proportional(expression) and expression.constants[0] != last

    search(data, replace(settings, constraints=Constraints(allow=proportional)))
    last = slopes[-1]
    try:
        found = search(data, replace(settings, constraints=Constraints(allow=but_not_so)))
    except NothingFoundError:
        return
    assert but_not_so(found.best.expression)


# ---- which formula is chosen ----------------------------------------------------------------------------------


def selected(by, data=NOISY, **changes):
    return search(data, replace(NETWORKS, selection=by, **changes)).front


def test_accuracy_is_the_least_error():
    front = selected("accuracy")
    assert front.best.loss == min(law.loss for law in front)
    assert front.chosen == len(front) - 1


def test_heldout_is_the_least_error_on_the_rows_held_out():
    front = selected("heldout")
    assert front.best.heldout_r2 == max(law.heldout_r2 for law in front)


@pytest.mark.parametrize(("by", "price"), [("bic", math.log(60)), ("aic", 2.0)])
def test_information_criteria_are_the_textbooks(by, price):
    front = selected(by)
    criterion = [60 * math.log(law.loss) + price * (len(law.expression.constants) + 1) for law in front]
    assert front.chosen == int(np.argmin(criterion))


def test_mdl_is_the_shortest_description():
    front = search(load_example("boyle"), BANKS).front
    assert front.best.description_length == min(law.description_length for law in front)


@pytest.mark.parametrize("by", ["mdl", "bic", "aic", "accuracy", "heldout"])
@pytest.mark.parametrize("rows", [40, 200])
def test_every_criterion_takes_an_exact_formula(by, rows):
    x = np.linspace(-3, 3, rows)
    found = search(make_dataset(x, x**2 / 2 + 1, names=["x"]), replace(PATIENT, selection=by, rows=100))
    assert found.status is SearchStatus.EXACT
    assert found.best.r2 > 1 - 1e-12


def test_heldout_without_rows_held_out_still_takes_an_exact_formula():
    x = np.linspace(1, 3, 8)
    found = search(make_dataset(x, x**2, names=["x"]), replace(PATIENT, selection="heldout"))
    assert found.front.best.loss == pytest.approx(0, abs=1e-20)


def test_a_function_chooses_by_the_table():
    tables = []

    def simplest(frame):
        tables.append(frame)
        return frame["complexity"].idxmin()

    front = selected(simplest)
    assert front.chosen == 0
    assert isinstance(tables[0], pd.DataFrame)
    pd.testing.assert_frame_equal(tables[0], front.table())
    assert selected(lambda frame: np.int64(len(frame) - 1)).chosen == len(front) - 1


@pytest.mark.parametrize("row", [-1, 1000, 0.0, 1.5, None, True, "0", [0], math.nan])
def test_a_function_must_choose_a_row(row):
    with pytest.raises(ValueError, match="`selection` must return a row of the front, 0 to "):
        selected(lambda frame: row, max_epochs=20)


def test_a_function_that_fails_to_choose_is_not_swallowed():
    def fails(frame):
        raise RuntimeError("no choice")

    with pytest.raises(RuntimeError, match="no choice"):
        selected(fails, max_epochs=20)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"selection": "best"}, "selection must be a function or one of mdl, bic, aic, accuracy, heldout, got 'best'"),
        ({"selection": 3}, "selection must be a function or one of"),
        ({"max_complexity": 0}, "max_complexity must be a whole number >= 1, got 0"),
        ({"max_complexity": 2.0}, "max_complexity must be a whole number"),
        ({"max_complexity": True}, "max_complexity must be a whole number"),
    ],
)
def test_bad_settings_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        SearchSettings(**changes)


def test_constraints_must_be_constraints():
    with pytest.raises(TypeError, match="constraints must be Constraints, got dict"):
        SearchSettings(constraints={"max_uses": {"exp": 1}})


# ---- where it starts from -------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [SHORTCUTS, replace(NETWORKS, max_epochs=20)], ids=["banks", "networks"])
def test_a_second_search_keeps_what_the_first_has_found(settings):
    first = search(NOISY, settings)
    start = Start(tuple(law.expression for law in first.front), first.levels, 1)
    second = search(NOISY, replace(settings, max_fits=10), start=start)
    at_least_as_good(first.front, second.front)


def test_a_good_formula_given_at_the_start_is_found_again_as_it_stands():
    true = parse("exp(-x)*sin(2*z) + x")
    found = search(NOISY, replace(BANKS, max_fits=1), start=Start((true,)))
    assert fingerprint(true) in [fingerprint(law.expression) for law in found.front]


def test_an_exact_start_ends_the_search_at_once():
    true = parse("x**2/2 + 1")
    seen = []
    found = search(PARABOLA, PATIENT, start=Start((true,)), watch=seen.append)
    assert found.status is SearchStatus.EXACT
    assert fingerprint(found.best.expression) == fingerprint(true)
    assert (found.levels, seen) == (0, [])


def test_formulas_of_the_start_keep_the_rules():
    settings = replace(BANKS, constraints=Constraints(max_uses={"sin": 0}), max_complexity=9)
    given = tuple(map(parse, ["exp(-x)*sin(2*z) + x", "exp(-x)*cos(2*z) + x", "1.5*x + 0.5"]))
    check(search(NOISY, settings, start=Start(given)), settings)


def test_a_formula_of_the_start_without_finite_values_does_no_harm():
    given = tuple(map(parse, ["log(-x)", "1/0", "exp(exp(exp(9*x)))", "1.5*x"]))
    found = search(NOISY, BANKS, start=Start(given))
    for law in found.front:
        assert evaluate(law.expression, NOISY.columns).finite.all()


def test_a_formula_of_the_start_about_other_columns_is_refused():
    with pytest.raises(ValueError, match="needs 'w', which is no column of the data"):
        search(NOISY, BANKS, start=Start((parse("1.5*w"),)))


def test_levels_that_are_complete_are_not_done_again():
    stages = []
    complete = PATIENT.exhaustive.levels
    found = search(NOISY, PATIENT, start=Start(levels=complete), watch=lambda update: stages.append(update.stage))
    assert found.levels == complete
    assert found.status is SearchStatus.FINISHED
    assert "pairs" not in stages


def test_networks_are_drawn_anew_the_next_time():
    settings = replace(NETWORKS, max_epochs=20)
    first, same, again = (search(NOISY, settings, start=Start(again=k)).losses for k in (0, 0, 1))
    assert first == same != again


# ---- what makes a search shorter ------------------------------------------------------------------------------


def test_a_column_that_is_excluded_is_in_no_formula_and_the_table_keeps_its_names():
    found = search(NOISY, replace(SHORTCUTS, constraints=Constraints(excludes=("z",)), max_fits=20))
    assert all(e.expression.variables in ((), ("x",)) and e.names == ("x", "z") for e in found.front)


def test_an_operator_that_may_be_used_no_time_is_not_tried():
    settings = SearchSettings(constraints=Constraints(max_uses={"sin": 0}))
    assert "sin" in settings.operators
    assert "sin" not in settings.searched_operators


def test_costs_say_how_complex_a_formula_is():
    settings = SearchSettings(constraints=Constraints(costs={"square": 9}), max_complexity=12, max_fits=30)
    found = search(PARABOLA, settings)
    assert all("x**2" not in str(e.expression) for e in found.front)  # of a complexity of 16
    found = search(PARABOLA, replace(settings, max_complexity=20))
    assert found.front.best.complexity == found.best.expression.complexity + 8


def test_a_search_begins_with_a_guess_and_builds_on_it():
    x = np.linspace(0.1, 5, 60)
    table = make_dataset(x, 1.7 * np.exp(-0.37 * x) * np.sin(2.9 * x + 0.4), names=["x"])
    guess = "a*exp(-b*x)*sin(c*x + d)"
    found = whole_search(table, SearchSettings(start_from=(guess,), max_fits=12))
    assert found.status is SearchStatus.EXACT
    assert found.candidate.stage == "start"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"start_from": ("exp(x)",), "constraints": Constraints(max_uses={"exp": 0})}, "'exp' appears 1 times"),
        ({"start_from": ("a*b",)}, r"start_from must be formulas of the columns \(x\), got 'a\*b' without any"),
        ({"start_from": ("x**2 + a*x + 1",), "max_complexity": 3}, "its complexity is 8, more than 3"),
        ({"start_from": ("erf(x)",)}, "an operator that is not among `operators`"),
    ],
)
def test_a_guess_that_could_be_no_answer_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        whole_search(PARABOLA, SearchSettings(**settings))
