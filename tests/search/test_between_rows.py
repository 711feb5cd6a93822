"""What formulas say between the rows, and that it counts when one is chosen."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prunesymnet.data import make_dataset
from prunesymnet.errors import DataWarning
from prunesymnet.expression import evaluate, parse
from prunesymnet.search import ExhaustiveSettings, SearchSettings, search
from prunesymnet.search.between_rows import MOST_BITS, MOST_ROWS, BetweenRows, denominators


def table(rows=40, noise=0.0, seed=0, text="x**2 + y", low=-2.0):
    rng = np.random.default_rng(seed)
    columns = {name: rng.uniform(low, 2, rows) for name in "xy"}
    target = evaluate(parse(text), columns).values + noise * rng.normal(size=rows)
    return make_dataset(np.array(list(columns.values())).T, target, names=["x", "y"], target="t")


@given(st.integers(2, 60), st.integers(0, 5))
def test_pairs_are_a_row_and_its_nearest(rows, seed):
    data = table(rows, seed=seed)
    pairs = BetweenRows.of(data).pairs(data.names)
    count = min(2, rows - 1)
    X = np.unique(data.X, axis=0)
    np.testing.assert_array_equal(pairs.rows[pairs.first], np.repeat(X, count, axis=0))
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    far = np.sqrt(((scaled[:, None] - scaled) ** 2).sum(axis=2)) + np.diag(np.full(rows, np.inf))
    for k in range(rows):
        nearest = X[np.argsort(far[k])[:count]]
        assert {tuple(row) for row in pairs.rows[pairs.second[count * k : count * (k + 1)]]} == {
            tuple(row) for row in nearest
        }


@pytest.mark.parametrize("x", [np.r_[-2:-1:20j, 1:2:20j], np.repeat(np.linspace(-1, 1.1, 20), 3)])
def test_of_one_column_no_gap_is_missed(x):
    between = BetweenRows.of(make_dataset(x, x**2, names=["x"]))
    assert between.penalty(parse("x**2 + 0.01/x"), rms=1.0) == math.inf


def test_rows_that_do_not_count_do_not_say_how_far_the_target_goes():
    x = np.linspace(-1, 1.1, 20)
    y, weights = x**2, np.ones(20)
    y[3], weights[3] = 1e12, 0
    assert BetweenRows.of(make_dataset(x, y, names=["x"], weights=weights)).high < 2


def test_equal_rows_have_nothing_between_them():
    X, y = np.ones((6, 2)), np.arange(6.0)
    with pytest.warns(DataWarning):
        data = make_dataset(X, y, names=["a", "b"])
    assert BetweenRows.of(data).penalty(parse("1/(a - 0.5)")) == 0


def test_of_many_rows_some_are_enough():
    assert len(BetweenRows.of(table(5 * MOST_ROWS)).pairs(("x", "y")).first) <= 2 * MOST_ROWS


def test_what_stays_in_the_targets_range_costs_nothing():
    between = BetweenRows.of(table())
    for text in ("x**2 + y", "0.0*x", "2*x", "sin(5*x)"):
        assert between.penalty(parse(text)) == 0


def test_how_far_it_goes_beyond_is_what_it_costs():
    between = BetweenRows.of(table())
    costs = [between.penalty(parse(f"{scale}*x")) for scale in ("1e3", "1e6", "1e9")]
    assert np.diff(costs) == pytest.approx(np.log2(1000), rel=0.1)


def test_what_is_not_finite_costs_most():
    between = BetweenRows.of(table())
    assert between.penalty(parse("log(x - 100)")) == MOST_BITS
    assert between.penalty(parse("exp(exp(20*x**2))")) == MOST_BITS
    assert between.penalty(parse("exp(1/(x - 0.3))")) == MOST_BITS


def test_a_pole_costs_more_the_steeper_it_is_and_a_gap_nothing():
    between = BetweenRows.of(table())
    simple, cubic = (between.penalty(parse(text)) for text in ("1/(x - 0.3)", "(x - 0.3)**(-3)"))
    assert 1 < simple < cubic < 30
    assert between.penalty(parse("(x - 0.3)*(x + 1)/(x - 0.3)")) == 0
    assert between.penalty(parse("1/(3 + x)")) == 0


def test_denominators_are_found_in_every_form():
    found = denominators(parse("1/(x + 1) + y**(-2) + x**2/3 + (x*y)**0.5 + 2/sin(x)"))
    assert {str(tree) for tree in found} == {"x + 1", "y", "sin(x)"}
    found = denominators(parse("x**8/(y**4*(x - y)) + (x*abs(1 - y)/3)**(-2)"))
    assert {str(tree) for tree in found} == {"y", "x - y", "x", "1 - y"}


def test_poles_of_even_order_cost_too():
    between = BetweenRows.of(table())
    assert 1 < between.penalty(parse("1/x")) < between.penalty(parse("1/x**4")) < 30


def test_a_constant_target_has_no_range():
    x = np.linspace(0, 1, 12)
    with pytest.warns(DataWarning, match="every row"):
        data = make_dataset(x, np.ones(12), names=["x"])
    assert BetweenRows.of(data).penalty(parse("1e9*x")) == 0


def test_noisy_points_around_zero_give_no_essential_singularity():
    rng = np.random.default_rng(0)
    x = rng.uniform(-5, 5, 128)
    y = 4 * x**4 + 3 * x**3 + 2 * x**2 + x
    y += 0.01 * np.sqrt(np.mean(y**2)) * np.random.default_rng(100).normal(size=128)
    found = search(
        make_dataset(x, y, names=["x"]),
        SearchSettings(time_limit=float("inf"), exhaustive=ExhaustiveSettings(levels=1)),
    )
    fine = np.linspace(-5, 5, 4000)
    values, finite = evaluate(found.best.expression, {"x": fine})
    assert finite.all()
    assert np.abs(values).max() < 3 * np.abs(y).max()


def wave_table(x):
    return BetweenRows.of(make_dataset(x, np.sin(x), names=["x"]))


def test_a_pole_that_moves_no_row_by_more_than_the_noise_is_not_in_the_data():
    between = BetweenRows.of(make_dataset(x := np.linspace(-1, 1, 21), x**2, names=["x"]))
    pole = parse("x**2 + 0.01/(x - 0.33)")  # the nearest row is 0.03 away, and moved by a third
    assert between.penalty(pole, rms=0.5) == MOST_BITS
    assert between.penalty(pole, rms=0.01) < 50


def test_the_pole_of_a_law_is_seen_where_it_is_strong_even_if_not_between_all_rows():
    data = table(60, text="1/x", low=-2.0)
    rms = 0.01 * float(np.sqrt(np.mean(data.y**2)))
    assert BetweenRows.of(data).penalty(parse("1/x"), rms=rms) < 50


def test_a_denominator_that_cancels_is_no_pole():
    between = BetweenRows.of(make_dataset(x := np.linspace(-2, 2, 30), x**3, names=["x"]))
    assert between.penalty(parse("(x**4 - x)/(x - 1)"), rms=1.0) == 0


@pytest.mark.parametrize("text", ["cos(sqrt(x))", "cos(228331/x)", "sin(7.3*x)"])
def test_waves_that_the_rows_do_not_show_cost_most(text):
    assert wave_table(np.arange(1871.0, 1971.0)).penalty(parse(text), rms=1.0) == MOST_BITS


def test_a_wave_with_a_constant_for_its_phase_is_one_that_may_be_fitted():
    between = wave_table(np.arange(1871.0, 1971.0))
    assert between.penalty(parse("sin(0.03*x)"), rms=1.0) == MOST_BITS
    assert between.penalty(parse("sin(0.03*x - 55.5)"), rms=1.0) == 0


def test_neighbours_of_a_wave_are_neighbours_in_its_own_columns():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (60, 4))
    data = make_dataset(X, np.sin(4 * X[:, 0]), names=["a", "b", "c", "d"])
    assert BetweenRows.of(data).penalty(parse("sin(4*a)"), rms=0.1) == 0
    assert BetweenRows.of(data).penalty(parse("sin(100000*b)"), rms=0.1) == MOST_BITS
