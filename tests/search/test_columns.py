"""What a search sees of wide tables and of narrow columns, and its formulas in terms of the table."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clocks import Clock
from prunesymnet import PruneSymRegressor
from prunesymnet.data import make_dataset
from prunesymnet.expression import Constant, Variable, evaluate, parse
from prunesymnet.expression.canonical.terms import constant_value
from prunesymnet.search import SearchSettings, SearchStatus, Start, search
from prunesymnet.search.columns import MOST_COLUMNS, NARROW, SeenColumns, is_narrow, origin, ranked_columns

SETTINGS = SearchSettings()
RNG = np.random.default_rng(0)
WIDE = RNG.normal(size=(300, 3 * MOST_COLUMNS))
TIMES = 1.7e9 + RNG.uniform(0, 60, 50)


# ---- many columns ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target",
    [WIDE[:, 40] + WIDE[:, 200], WIDE[:, 40] ** 2 + WIDE[:, 200] ** 2, WIDE[:, 40] * WIDE[:, 200]],
    ids=["sum", "squares", "product"],
)
def test_columns_that_matter_come_first(target):
    assert set(ranked_columns(make_dataset(WIDE, target))[:2]) == {"x41", "x201"}


def test_a_row_without_weight_has_no_say():
    weights = np.ones(300)
    weights[:2] = 0
    table = WIDE.copy()
    table[:2, 7] = 1e100
    ranked = ranked_columns(make_dataset(table, WIDE[:, 7], weights=weights))
    assert ranked[0] == "x8"


def test_some_columns_of_a_wide_table_are_seen_in_its_order():
    table = make_dataset(WIDE, WIDE[:, 40] - WIDE[:, 200])
    seen = SeenColumns.of(table, SETTINGS, needed={"x300"})
    assert len(seen.data.names) == MOST_COLUMNS
    assert {"x41", "x201", "x300"} <= set(seen.data.names)
    assert list(seen.data.names) == [name for name in table.names if name in seen.data.names]
    assert seen.names == table.names
    assert len(seen.first) == SETTINGS.exhaustive.columns
    small = SeenColumns.of(table.only(table.names[:MOST_COLUMNS]), SETTINGS)
    assert (small.data.names, small.first) == (table.names[:MOST_COLUMNS], None)


def test_columns_are_not_chosen_by_rows_that_are_held_out():
    target = RNG.normal(size=300)
    held = make_dataset(np.arange(300.0), target).split(SETTINGS.holdout, SETTINGS.seed)[1].X[:, 0].astype(int)
    other = target.copy()
    other[held] = RNG.normal(size=len(held))
    chosen = [SeenColumns.of(make_dataset(WIDE, y), SETTINGS).data.names for y in (target, other)]
    assert chosen[0] == chosen[1]


def test_the_formula_of_a_wide_table_is_one_of_the_whole_table():
    """By a clock that stands still until a formula is exact."""
    found = search(make_dataset(WIDE, 2 * WIDE[:, 40] * WIDE[:, 200]), clock=Clock())
    assert str(found.best.expression) == "2*x201*x41"
    assert found.front.best.names == tuple(f"x{k + 1}" for k in range(3 * MOST_COLUMNS))
    assert found.front.best.numpy()(WIDE)[:3] == pytest.approx(2 * WIDE[:3, 40] * WIDE[:3, 200])


@pytest.mark.parametrize("limit", [0.1, 20.0])
def test_a_wide_table_of_noise_ends_at_the_limit_with_a_fitted_formula(limit):
    """By a clock that goes on by a second at each look. A linear model of a hundred columns is no formula."""
    target = 5 + np.random.default_rng(1).normal(size=300)
    found = search(make_dataset(WIDE, target), replace(SETTINGS, time_limit=limit), clock=Clock(step=1.0))
    assert found.status is SearchStatus.TIME_LIMIT
    assert len(found.best.expression.variables) <= SETTINGS.exhaustive.columns
    assert found.best.mse <= 1.1 * np.var(target)


# ---- columns that vary little beside their size ---------------------------------------------------------


def test_what_is_narrow():
    assert is_narrow(TIMES)
    assert is_narrow(-TIMES)
    assert is_narrow(np.array([1.0, 1.0 + 1e-15]))
    assert not is_narrow(np.full(3, 1.7e9))
    assert not is_narrow(np.linspace(1871, 1970, 100))
    assert not is_narrow(np.array([-4.6e18, 4.6e18, 4.6e18]))


@given(st.floats(1e-140, 1e140), st.floats(1e-14, 0.9 * NARROW), st.sampled_from([1.0, -1.0]))
def test_an_origin_is_an_exact_number_near_the_values(size, width, sign):
    column = sign * size * (1 + width * np.linspace(0, 1, 7))
    if not is_narrow(column):  # rounded to one value
        return
    number = origin(column)
    assert not number.constants
    assert not number.variables
    assert abs(constant_value(number) - column.min()) <= 10 * np.ptp(column) + 1e-15 * size
    assert parse(str(number)) == number


def test_formulas_there_and_back():
    seen = SeenColumns.of(
        make_dataset(np.column_stack([TIMES, WIDE[:50, 0]]), WIDE[:50, 1], names=["t", "x"]), SETTINGS
    )
    assert seen.origins == {"t": Constant(1700000000)}
    formula = parse("2.5*sin(t) + x*t**2")
    there = seen.put_back(formula)
    assert str(there) == "2.5*sin(t - 1700000000) + x*(t - 1700000000)**2"
    assert seen.taken_in(there) == formula
    assert str(seen.taken_in(parse("x*t"))) == "x*(t + 1700000000)"
    values = evaluate(there, {"t": TIMES, "x": WIDE[:50, 0]}).values
    np.testing.assert_allclose(values, evaluate(formula, seen.data.columns).values)


def test_a_law_of_times_within_a_minute_is_found():
    told = []
    table = make_dataset(TIMES, np.exp(-(TIMES - 1.7e9) / 20), names=["t"])
    found = search(table, clock=Clock(), watch=told.append)
    assert found.status.is_exact
    np.testing.assert_allclose(found.front.best.predict({"t": TIMES}), table.y, rtol=1e-9)
    for update in told:  # formulas of the table, not of what the search sees of it
        predicted = evaluate(update.best.expression, table.columns).values
        assert table.mse(predicted) == pytest.approx(update.best.fit.mse, rel=1.0, abs=1e-12)
    again = search(table, replace(SETTINGS, max_fits=1), start=Start((found.best.expression,)), clock=Clock())
    np.testing.assert_allclose(again.front.best.predict({"t": TIMES}), table.y, rtol=1e-9)


@pytest.mark.parametrize(
    ("table", "target"),
    [
        (TIMES[:, None], RNG.random(50)),
        (np.column_stack([np.zeros(50), TIMES]), RNG.random(50)),
        (np.array([[0, -4.6e18], [0, 4.6e18], [0, 4.6e18]]), np.array([1.0, 2.0, 3.0])),
        (np.nextafter(4.6e18, [-math.inf, math.inf, math.inf])[:, None], np.array([1.0, 2.0, 3.0])),
    ],
)
@pytest.mark.filterwarnings("ignore::prunesymnet.errors.DataWarning")
def test_columns_that_hardly_vary_break_nothing(table, target):
    model = PruneSymRegressor(preset=replace(SETTINGS, max_fits=200), progress=False).fit(table, target)
    assert np.isfinite(model.predict(table)).all()


def test_a_straight_line_of_a_narrow_column_is_found():
    x = 1e12 + np.arange(30.0)
    model = PruneSymRegressor(progress=False).fit(x[:, None], 3 * (x - 1e12) + 2)
    np.testing.assert_allclose(model.predict(x[:, None]), 3 * np.arange(30.0) + 2)


def test_without_narrow_columns_nothing_is_changed():
    table = make_dataset(WIDE[:, :2], WIDE[:, 2])
    seen = SeenColumns.of(table, SETTINGS)
    assert seen.data is table
    assert seen.put_back(Variable("x1")) is seen.taken_in(Variable("x1")) or not seen.origins
