"""The rows of a search: training rows, rows held out, and which error counts as none."""

import numpy as np
import pytest

from prunesymnet.coefficients.fit import measure
from prunesymnet.data import make_dataset
from prunesymnet.expression import parse
from prunesymnet.search import SearchSettings
from prunesymnet.search.rows import FEWEST_TO_SPLIT, Rows, some_rows

SETTINGS = SearchSettings()


def data(rows=100, weights=None, offset=0.0):
    x = np.arange(float(rows))
    return make_dataset(x, offset + np.sin(x), names=["x"], weights=weights)


def test_some_rows_are_held_out():
    rows = Rows.of(data(), SETTINGS)
    assert rows.holds_out
    assert (rows.train.rows, rows.held.rows) == (80, 20)
    both = np.concatenate([rows.train.X[:, 0], rows.held.X[:, 0]])
    assert sorted(both) == list(range(100))
    assert rows.used is rows.every
    assert rows.most_constants == 78


def test_of_few_rows_all_are_for_both():
    rows = Rows.of(data(FEWEST_TO_SPLIT - 1), SETTINGS)
    assert rows.train is rows.held is rows.every
    assert not rows.holds_out
    assert rows.most_constants == 4  # half of the rows are left to be seen by


def test_where_few_rows_count_all_are_for_both():
    train = Rows.of(data(40), SETTINGS).train.X[:, 0]
    weights = np.isin(np.arange(40), train[:5]).astype(float)  # none of those that would be held out
    assert not Rows.of(data(40, weights), SETTINGS).holds_out


def test_of_a_large_table_some_rows_are_used():
    rows = Rows.of(data(500), SearchSettings(rows=100))
    assert rows.used.rows == 100
    assert rows.every.rows == 500
    assert rows.train.rows + rows.held.rows == 100


def test_rows_are_drawn_by_the_seed_in_the_tables_order_and_only_those_that_count():
    weights = np.tile([0.0, 1.0], 100)
    table = data(200, weights)
    one, same, other = (some_rows(table, 50, seed).X[:, 0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    assert (np.diff(one) > 0).all()
    assert (one % 2 == 1).all()
    assert some_rows(table, 200, 0) is table


@pytest.mark.parametrize("exact", [1e-10, 1e-3])
def test_what_is_exact_is_small_beside_the_targets_spread(exact):
    rows = Rows.of(data(), SearchSettings(exact=exact))
    assert rows.is_exact(0.99 * exact**2 * rows.held.variation)
    assert not rows.is_exact(1.01 * exact**2 * rows.held.variation)


def test_nothing_is_exact_if_nothing_may_be():
    assert not Rows.of(data(), SearchSettings(exact=0.0)).is_exact(0.0)


def test_an_error_lost_in_the_rounding_of_a_large_target_is_none():
    assert Rows.of(data(offset=1e9), SETTINGS).is_exact(1e-14)
    assert not Rows.of(data(), SETTINGS).is_exact(1e-14)


def spoiled(rows=100):
    x = np.arange(float(rows))
    y = x**2
    y[::10] += 1e6
    return make_dataset(x, y, names=["x"]).with_loss("huber")


def test_outliers_are_left_out_at_first_and_judged_by_a_formula_later():
    rows = Rows.of(spoiled(), SETTINGS)
    assert rows.used is rows.every
    assert (rows.used.start_weights[::10] == 0).all()
    later = rows.around(parse("x**2"))
    assert ((later.used.start_weights > 0) == (np.arange(100) % 10 > 0)).all()
    np.testing.assert_array_equal(later.train.X, rows.train.X)
    assert later.used is later.every
    assert rows.around(None).used.start_weights is None


def test_a_formula_is_exact_if_it_is_but_for_outliers():
    rows = Rows.of(spoiled(), SETTINGS)
    assert rows.is_exact(measure(parse("x**2"), rows.held).mse)
    assert not rows.is_exact(measure(parse("x**2 + 0.001"), rows.held).mse)


def test_squares_need_no_weights():
    rows = Rows.of(data(), SETTINGS)
    assert rows.used.start_weights is None
    assert rows.around(parse("x")).used.start_weights is None


def test_errors_of_both_parts_are_joined_by_their_weights():
    rng = np.random.default_rng(0)
    table = data(weights=10.0 ** rng.uniform(-6, 6, 100))
    rows = Rows.of(table, SETTINGS)
    parts = [measure(parse("0.5"), part).mse for part in (rows.train, rows.held)]
    assert rows.on_both(*parts) == pytest.approx(measure(parse("0.5"), table).mse)


def test_rounding_is_counted_by_the_weights_of_the_rows():
    x = np.logspace(-12, 12, 100)
    table = make_dataset(x, 2 * x, names=["x"]).with_loss("relative")
    rows = Rows.of(table, SETTINGS)
    assert rows.no_error < measure(parse("2.000001*x"), table).mse
    assert not rows.is_exact(measure(parse("2.000001*x"), rows.held).mse)
    assert rows.is_exact(measure(parse("2.000000000001*x"), rows.held).mse)
