"""The rows that banks are grown on: which they are, how they count, and what they say of a formula."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contexts import columns_of, problem, problem_of
from prunesymnet.bank.problem import ORDINARY, Problem, scale_of, scales_of
from prunesymnet.data import make_dataset
from prunesymnet.expression import evaluate, parse
from prunesymnet.operators import PAPER
from prunesymnet.units import TableUnits, find_groups


def test_a_problem_is_of_some_rows_drawn_by_the_seed():
    X = np.arange(500.0) / 10
    data = make_dataset(X, np.sin(X), names=["x"])
    one, same, other = (Problem.of(data, PAPER, 100, seed) for seed in (1, 1, 2))
    assert len(one.y) == one.data.rows == 100
    np.testing.assert_array_equal(one.columns["x"], same.columns["x"])
    assert not np.array_equal(one.columns["x"], other.columns["x"])
    assert len(set(one.columns["x"].tolist())) == 100
    np.testing.assert_array_equal(one.y, np.sin(one.columns["x"]))
    np.testing.assert_array_equal(Problem.of(data, PAPER, 500, 0).columns["x"], X)


def test_rows_far_out_on_the_tails_count_less():
    target = np.r_[np.random.default_rng(0).normal(size=99), 1e6]
    weights = problem_of({"x": np.arange(100.0)}, target).weights
    assert weights.sum() == pytest.approx(1)
    assert weights[-1] < 1e-6 * weights[0]
    order = np.argsort(np.abs(target - np.median(target)))
    assert (np.diff(weights[order]) <= 0).all()
    assert weights[:99].min() > 0.5 * weights[:99].max()


def test_rows_without_weight_are_left_out_and_the_others_count_by_theirs():
    weights = np.repeat([0.0, 1.0, 2.0, 3.0], 10)
    target = np.tile([1.0, -1.0], 20)
    some = problem_of({"x": np.arange(40.0)}, target, weights=weights)
    np.testing.assert_array_equal(some.columns["x"], np.flatnonzero(weights))
    np.testing.assert_allclose(some.weights, weights[weights > 0] / weights.sum())


def test_a_target_of_mostly_one_value_has_weights_all_the_same():
    weights = problem_of({"x": np.arange(40.0)}, np.r_[np.zeros(37), 1, 2, 3]).weights
    assert np.isfinite(weights).all()
    assert (weights > 0).all()


def test_its_target_is_y_itself():
    some = problem("x*y")
    np.testing.assert_array_equal(some.target.values, some.y)
    np.testing.assert_allclose(some.target.weights, some.weights)
    assert some.target.steps == ()


def test_columns_may_be_left_out_and_be_others():
    some = problem("x*y + z", names="xyz")
    few = some.only(["z", "x"])
    assert list(few.columns) == ["z", "x"]
    assert few.has(parse("x + z"))
    assert not few.has(parse("x + y"))
    made = some.with_columns({"block": some.columns["x"] * some.columns["y"]})
    assert list(made.columns) == ["block"]
    assert made.unexplained(parse("block")) == pytest.approx(some.unexplained(parse("x*y")))
    np.testing.assert_array_equal(made.y, some.y)


def test_columns_with_a_zero_have_no_logarithm():
    columns = columns_of()
    columns["x"][3] = 0.0
    assert list(problem_of(columns, columns["y"] ** 2).nonzero_columns) == ["y"]


@pytest.mark.parametrize(("operators", "divides"), [(("+", "/"), True), (("inv",), True), (("+", "*", "exp"), False)])
def test_whether_there_are_quotients(operators, divides):
    assert problem("x*y", operators).divides is divides


def test_what_a_formula_leaves_of_the_variation():
    some = problem("x*y + 0.1*x")
    assert some.unexplained(parse("x*y + 0.1*x")) < 1e-30
    mean = float(some.weights @ some.y)
    assert some.unexplained(parse(repr(mean))) == pytest.approx(1)
    left = some.weights @ (0.1 * some.columns["x"]) ** 2 / (some.weights @ (some.y - mean) ** 2)
    assert some.unexplained(parse("x*y")) == pytest.approx(left)
    assert some.unexplained(parse("log(x)")) == 1  # x changes its sign


def test_with_groups_columns_and_target_are_pure_numbers_and_formulas_are_translated():
    units = TableUnits.of({"m": "kg", "u": "m/s", "v": "m/s", "E": "J"}, ("m", "u", "v"), "E", constants=False)
    columns = dict(zip("muv", np.random.default_rng(0).uniform(1, 4, (3, 40)), strict=True))
    law = parse("m*(u**2 + v**2)/2")
    data = make_dataset(np.column_stack(list(columns.values())), evaluate(law, columns).values, names=list(columns))
    groups = find_groups(units, columns)
    found = Problem.of(data, PAPER, 40, 0, groups=groups)
    assert list(found.columns) == list(groups.columns)
    assert len(found.columns) == 1
    inside = found.from_table(law)
    np.testing.assert_allclose(evaluate(inside, found.columns).values, found.y, rtol=1e-12)
    back = found.to_table(inside)
    np.testing.assert_allclose(evaluate(back, data.columns).values, data.y, rtol=1e-12)
    np.testing.assert_allclose(found.scaled(data.y), found.y)
    assert found.weights.sum() == pytest.approx(1)


@pytest.mark.parametrize(("digits", "rounded"), [(3, True), (6, True), (9, False), (None, False)])
@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_a_target_that_was_rounded_is_known_by_its_digits(digits, rounded, scale):
    x = np.linspace(1, 2, 40)
    y = scale * np.exp(x)
    if digits:
        y = np.array([float(f"{value:.{digits}g}") for value in y])
    assert Problem.of(make_dataset(x, y, names=["x"]), ["+", "*"], 40, 0).is_rounded is rounded


def test_whole_numbers_need_not_be_rounded():
    x = np.arange(1.0, 30.0)
    assert not Problem.of(make_dataset(x, x**2 + 1, names=["x"]), ["+", "*"], 40, 0).is_rounded


def test_columns_of_about_the_same_size_have_one_scale():
    rng = np.random.default_rng(0)
    columns = {"T": rng.uniform(300, 800, 50), "U": rng.uniform(290, 650, 50), "a": rng.uniform(0.01, 0.05, 50)}
    columns |= {"b": rng.uniform(0.06, 0.2, 50), "p": rng.uniform(1e5, 3e5, 50)}
    law = parse("p*(T - U)/log(b/a)")
    made = problem_of(columns, evaluate(law, columns).values)
    scales = {name: made.scales.get(name, 1.0) for name in columns}
    assert scales["T"] == scales["U"] != 1
    assert scales["a"] == scales["b"] == 1  # b is an ordinary number
    assert scales["p"] == 1e5
    here = evaluate(law, made.columns).values
    assert np.ptp(here / made.y) <= 1e-9 * np.abs(here / made.y).max()  # the law has the same form


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.floats(1e-30, 1e30), min_size=1))
def test_scales_are_those_of_a_column_that_is_about_as_large(sizes):
    columns = {name: np.array([size, size / 3]) for name, size in sizes.items()}
    scales = scales_of(columns)
    assert list(scales) == list(columns)
    for name, column in columns.items():
        if ORDINARY[0] <= sizes[name] <= ORDINARY[1]:
            assert scales[name] == 1
        elif scales[name] != scale_of(column):
            near = [other for other in sizes if 0.1 <= sizes[other] / sizes[name] <= 10 and other != name]
            assert scales[name] in {scales[other] for other in near}
