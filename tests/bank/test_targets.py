"""Unwrapping: there and back again, what a row's error counts, and when there is no target."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prunesymnet.bank.bank import Term
from prunesymnet.bank.targets import ENOUGH, NEARLY_NOTHING, Factor, Function, Offset, Target, even_out, invertible
from prunesymnet.bank.targets import unwrap as unwrap_target
from prunesymnet.expression import Variable, apply, evaluate, parse
from prunesymnet.operators import OPERATORS, PAPER, make_operator, select_operators

ALL = tuple(OPERATORS)
CATENARY = make_operator("catenary", np.cosh, inverse=lambda v: np.arccosh(np.maximum(v, 1.0)))
SHIFT = make_operator("shift", lambda u: u + 2, inverse=lambda v: v - 2)
# Where each operator's own inverse gives back what was inside.
INSIDE = {
    "exp": (-2, 2), "log": (0.1, 3), "square": (0.1, 3), "sqrt": (0.1, 3), "sin": (-1.4, 1.4), "cos": (0.1, 3),
    "tanh": (-1.5, 1.5), "cube": (-2, 2), "inv": (0.2, 3),
}  # fmt: skip


def spread(low, high, points=30, seed=0):
    return np.random.default_rng(seed).uniform(low, high, points)


def factor(columns, text, divides):
    tree = parse(text)
    return Factor(Term(evaluate(tree, columns).values, tree), divides)


def unwrap(y, factors, operators, weights=None):
    return unwrap_target(Target.of(y, weights), factors, select_operators(operators) if operators else {})


def named(targets, *texts):
    """The one target that reads like one of these, or None."""
    chosen = [target for target in targets if target.text in texts]
    assert len(chosen) <= 1
    return chosen[0] if chosen else None


def around(name):
    """How the operator reads around a g, and its negative."""
    text = "1/g" if name == "inv" else str(apply(name, Variable("g")))
    return text, f"-{text}" if name != "inv" else "-(1/g)"


# ---- there and back -----------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 10_000),
    low=st.sampled_from([-2.0, -0.9, 0.1, 1.0]),
    scale=st.sampled_from([1.0, -1.0, 1e-3, 40.0]),
    operators=st.sampled_from([PAPER, ALL, ("+", "exp"), (*PAPER, SHIFT)]),
)
def test_the_way_back_leads_to_y(seed, low, scale, operators):
    columns = {name: spread(0.3, 2, seed=seed + k) for k, name in enumerate("xz")}
    y = scale * spread(low, low + 1.9, seed=seed + 9)
    factors = [factor(columns, "x", True), factor(columns, "x + z", False), factor(columns, "z - 1.0", True)]
    targets = unwrap(y, factors, operators)
    assert targets[0].text == "g"
    for target in targets:
        counts = target.weights > 0
        assert counts.mean() >= 0.8 * ENOUGH
        np.testing.assert_allclose(target.back(target.values)[counts], y[counts], rtol=2e-6, atol=1e-12)
        values, _ = evaluate(target.wrap(Variable("g")), {"g": target.values, **columns})
        np.testing.assert_allclose(values[counts], target.back(target.values)[counts], rtol=1e-12)
        assert np.isfinite(target.values).all()


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", INSIDE)
def test_each_operator_is_undone_by_its_inverse(name, sign):
    g = spread(*INSIDE[name])
    y = sign * OPERATORS[name].numpy(g)
    target = named(unwrap(y, [], ["/", name]), *around(name))
    one_sign = name in ("exp", "square", "sqrt")  # the others reach both, as they stand
    assert target.text.startswith("-") == (sign < 0 and one_sign)
    if sign > 0 or one_sign:
        np.testing.assert_allclose(target.values, g, rtol=1e-7)
    np.testing.assert_allclose(target.back(target.values), y, rtol=1e-7)


def test_a_users_operator_is_undone_by_its_inverse_and_one_without_stays():
    g = spread(0.1, 2)
    targets = unwrap(np.cosh(g), [], ["+", SHIFT, CATENARY, make_operator("bump", lambda u: 1 / (1 + u * u))])
    np.testing.assert_allclose(named(targets, "catenary(g)").values, g, rtol=1e-7)
    np.testing.assert_allclose(named(targets, "shift(g)").values, np.cosh(g) - 2, rtol=1e-7, atol=1e-12)
    assert named(targets, "bump(g)") is None


@pytest.mark.parametrize("divides", [True, False])
@pytest.mark.parametrize("name", [None, "exp", "square", "sqrt", "inv"])
def test_a_factor_is_undone_first(name, divides):
    columns = {"x": spread(0.5, 2, seed=1)}
    g = spread(0.2, 2)
    inside = g if name is None else OPERATORS[name].numpy(g)
    f = columns["x"] ** 2
    y = inside * f if divides else inside / f
    text = "g" if name is None else around(name)[0]
    targets = unwrap(y, [factor(columns, "x**2", divides)], ["/", "exp", "square", "sqrt"])
    target = named(targets, f"{text}{'*' if divides else '/'}x**2")
    np.testing.assert_allclose(target.values, g, rtol=1e-9)
    values, _ = evaluate(target.wrap(Variable("g")), {"g": g, **columns})
    np.testing.assert_allclose(values, y, rtol=1e-9)


def test_a_factor_is_not_undone_where_its_own_coefficient_would_have_to_be_known():
    columns = {"x": spread(0.5, 2, seed=1)}
    y = columns["x"] * np.sin(spread(0.2, 1.2))
    found = {target.text for target in unwrap(y / 3, [factor(columns, "x", True)], ALL)}
    takes_it_up, does_not = ("exp", "square", "cube", "sqrt", "inv"), ("sin", "cos", "tanh", "log")
    assert {around(name)[0] for name in (*takes_it_up, *does_not)} <= found
    assert {f"{around(name)[0]}*x" for name in takes_it_up} <= found
    assert not {f"{around(name)[0]}*x" for name in does_not} & found


def test_an_inverse_need_not_be_defined_between_nought_and_one():
    x = spread(1, 2)
    cosh = OPERATORS["cosh"]
    targets = unwrap(x * np.cosh(x), [Factor(Term(x, Variable("x")), True)], [*PAPER, cosh])
    assert targets[0].text == "g"


def test_a_target_says_what_it_is():
    columns = {"x": spread(0.5, 2)}
    y = columns["x"] * np.exp(spread(-1, 1, seed=2))
    targets = unwrap(y, [factor(columns, "x", True), factor(columns, "x", False)], PAPER)
    assert targets[0].text == "g"
    assert {"1/g", "exp(g)", "exp(g)*x", "exp(g)/x", "g*x", "g/x"} <= {target.text for target in targets}
    assert len({target.text for target in targets}) == len(targets)
    assert targets[0].complexity == 0
    for target in targets:
        inside = parse("a + b")
        assert target.wrap(inside).complexity == target.complexity + inside.complexity


def test_without_an_operator_there_is_only_y():
    assert [target.text for target in unwrap(spread(1, 2), [], ())] == ["g"]
    assert [target.text for target in unwrap(spread(1, 2), [], ("+", "*", "id", "neg", "abs"))] == ["g"]


# ---- rows ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", INSIDE)
def test_an_error_counts_by_what_it_does_to_y(name):
    low, high = INSIDE[name]
    middle, width = (low + high) / 2, 0.1 * (high - low)
    y = OPERATORS[name].numpy(spread(middle - width, middle + width))  # a narrow range: nothing is evened out
    weights = spread(1, 2, seed=5)
    f = Factor(Term(spread(0.9, 1.1, seed=6), Variable("x")), True)
    targets = unwrap(y, [f], ["/", name], weights)
    checked = 0
    for target in targets:
        if target.text != "g":
            h = 1e-6
            slope = (target.back(target.values + h) - target.back(target.values - h)) / (2 * h)
            expected = np.where(target.weights > 0, weights * slope**2, 0.0)
            expected = expected / expected.sum()
            if 1 / (expected @ expected) > ENOUGH * len(y):
                np.testing.assert_allclose(target.weights, expected, rtol=1e-4)
                checked += 1
    assert checked >= 2


@pytest.mark.parametrize(("negative", "there"), [(0, True), (3, True), (6, True), (7, False), (15, False)])
def test_rows_on_which_a_target_is_undefined_do_not_count_and_may_not_be_many(negative, there):
    y = spread(0.5, 2)
    y[:negative] *= -1
    target = named(unwrap(y, [], PAPER), "exp(g)")
    assert (target is not None) == there
    if there:
        assert (target.weights[:negative] == 0).all()
        assert (target.weights[negative:] > 0).all()
        np.testing.assert_allclose(target.values[negative:], np.log(y[negative:]))
        assert (target.values[:negative] == 0).all()


def test_poles_and_zeros_do_not_count():
    y = spread(0.5, 2)
    y[3] = 0.0
    f = spread(0.5, 2, seed=1)
    f[5] = 0.0
    targets = unwrap(y, [Factor(Term(f, Variable("f")), True)], ["/", "exp"])
    assert named(targets, "g").weights[3] > 0
    assert named(targets, "1/g").weights[3] == 0
    assert named(targets, "exp(g)").weights[3] == 0
    assert named(targets, "g*f").weights[5] == 0
    assert (named(targets, "exp(g)*f").weights[[3, 5]] == 0).all()
    assert all(np.isfinite(target.values).all() and np.isfinite(target.weights).all() for target in targets)


def test_rows_without_weight_have_none_in_any_target():
    weights = np.ones(30)
    weights[::10] = 0
    targets = unwrap(spread(0.5, 0.9), [], ALL, weights)
    assert len(targets) > 8
    for target in targets:
        assert (target.weights[::10] == 0).all()
        assert (target.weights > 0).sum() == 27


def test_a_target_that_does_not_vary_is_none():
    x = 2.0 ** np.arange(-9, 9)
    targets = unwrap(3 * x, [Factor(Term(x, Variable("x")), True), Factor(Term(x, Variable("x")), False)], ())
    assert [target.text for target in targets] == ["g", "g/x"]


@given(st.lists(st.one_of(st.just(0.0), st.floats(1e-8, 1.0)), min_size=2, max_size=60).filter(any))
def test_evened_out_weights_have_sum_one_and_enough_rows_count(weights):
    weights = np.array(weights)
    even = even_out(weights)
    positive = weights > 0
    assert even.sum() == pytest.approx(1)
    kept = even > 0
    assert not (kept & ~positive).any()
    assert kept.sum() >= ENOUGH * positive.sum()
    assert weights[~kept].sum() <= NEARLY_NOTHING * weights.sum() * (1 + 1e-9)
    assert 1 / (even @ even) >= ENOUGH * kept.sum() * (1 - 1e-9)
    order = np.argsort(weights)
    assert (np.diff(even[order]) >= 0).all()
    np.testing.assert_allclose(even_out(weights * 1e-200), even, rtol=1e-9)
    weights = np.where(kept, weights, 0.0)
    if weights.sum() ** 2 / (weights @ weights) > ENOUGH * kept.sum() * (1 + 1e-9):
        np.testing.assert_allclose(even, weights / weights.sum())


def test_rows_that_hardly_count_are_left_out_where_enough_are_left():
    weights = np.concatenate([np.ones(20), np.full(10, 1e-6)])
    even = even_out(weights)
    assert (even[20:] == 0).all()
    np.testing.assert_allclose(even[:20], 1 / 20)


def test_rows_that_hardly_count_stay_where_too_few_would_be_left():
    weights = np.concatenate([np.ones(5), np.full(25, 1e-6)])
    assert (even_out(weights) > 0).all()


def test_evening_out_ends_where_nothing_helps():
    weights = np.full(50, 1e-300)
    weights[0] = 1.0
    even = even_out(weights)
    assert even.sum() == pytest.approx(1)
    assert even[0] > 0.99


def test_where_errors_are_shares_all_decades_of_an_unwrapped_target_count():
    y = np.logspace(-3, 3, 40)
    shares, alike = (Target.of(y, y**-2.0, shares=shares).undo_functions(OPERATORS["sqrt"]) for shares in (True, False))
    np.testing.assert_allclose(shares.weights * shares.values**2, 1 / (1 / shares.values**2).sum(), rtol=1e-9)
    assert (alike.weights * alike.values**2).min() < 1e-6 * (alike.weights * alike.values**2).max()


# ---- steps --------------------------------------------------------------------------------------------


def test_steps_are_undone_one_after_the_other():
    x, g = spread(0.5, 2, seed=1), spread(0.2, 2)
    steps = Factor(Term(x, Variable("x"))), Offset(-1), Function(OPERATORS["exp"])
    y = x * (np.exp(g) - 1)
    target = Target.of(y).undo(*steps)
    assert target.text == "(exp(g) + (-1))*x"
    np.testing.assert_allclose(target.values, g)
    np.testing.assert_allclose(target.back(g), y)
    again = Target.of(y)
    for step in steps:
        again = again.undo(step)
    assert again.text == target.text
    np.testing.assert_allclose(again.values, g)
    np.testing.assert_allclose(target.weights, x**2 * np.exp(2 * g) / (x**2 * np.exp(2 * g)).sum())


def test_a_target_may_be_unwrapped_again():
    g = spread(0.2, 2)
    inside = Target.of(np.exp(np.sqrt(g))).undo_functions(OPERATORS["exp"])
    found = named(unwrap_target(inside, [], select_operators(["sqrt"])), "exp(sqrt(g))")
    np.testing.assert_allclose(found.values, g)


def test_which_operators_can_be_undone():
    def names(*operators):
        return {row.name for row in invertible(select_operators(operators))}

    assert names("+", "*", "abs", "id", "neg") == set()
    assert names("/", "square", "exp") == {"inv", "sqrt", "square", "exp"}
    assert Function(OPERATORS["exp"]).takes_up_a_factor()
    assert not Function(OPERATORS["sin"]).takes_up_a_factor()
