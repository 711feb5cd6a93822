"""Gross outliers: when they are suspected, what they cost, and that the search finds the law of the other rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contexts import all_stages_but
from prunesymnet import PruneSymRegressor
from prunesymnet.coefficients.description import residual_bits
from prunesymnet.data import make_dataset
from prunesymnet.search import SearchSettings, search
from prunesymnet.search.outliers import FEWEST_ROWS, GROSS, MOST, are_suspected, told_apart
from prunesymnet.search.settings import ExhaustiveSettings

ROWS = 60
X = np.linspace(0.5, 6.0, ROWS)
NOISE = np.random.default_rng(3).normal(size=ROWS)
OFF = np.array([7, 30, 48])
SLOW = tuple(stage.name for stage in all_stages_but("power_law", "polynomials", "unwrapping", "singles", "pairs"))
ONE_LEVEL = {"time_limit": 600.0, "exhaustive": ExhaustiveSettings(levels=1, without=SLOW)}


def with_outliers(y, size=5.0):
    moved = y.copy()
    moved[OFF] += size * y.std() * np.array([1.0, -1.2, 1.5])
    return moved


@pytest.mark.parametrize("law", [np.exp(-X), X**2, np.sin(2 * X), 1 / X])
def test_rows_far_off_their_neighbours_are_suspected_and_smooth_ones_are_not(law):
    y = law + 0.01 * law.std() * NOISE
    assert not are_suspected(make_dataset(X, y))
    assert are_suspected(make_dataset(X, with_outliers(y)))


def test_few_rows_weighted_rows_and_rows_of_one_value_are_not_suspected():
    y = with_outliers(X**2)
    few = slice(0, FEWEST_ROWS - 1)
    assert not are_suspected(make_dataset(X[few], y[few]))
    assert not are_suspected(make_dataset(X, y, weights=X))
    assert not are_suspected(make_dataset(X, with_outliers(np.where(X > 5.9, 1.0, 0.0))))


def test_the_bits_are_those_of_a_normal_distribution_and_of_values_anywhere_in_the_span():
    residual = 0.01 * NOISE
    residual[OFF] = 5.0
    told = told_apart(residual, span=10.0)
    inside = np.delete(residual, OFF)
    normal = (ROWS - 3) * 0.5 * np.log2(np.mean(inside**2))
    anywhere = 3 * (np.log2(10.0) - 0.5 * np.log2(2 * np.pi * np.e))
    which = np.log2(ROWS * (ROWS - 1) * (ROWS - 2) / 6) + np.log2(int(MOST * ROWS) + 1)
    assert told.outliers == 3
    assert told.gross
    assert told.bits == pytest.approx(normal + anywhere + which)
    assert told.mean_square == pytest.approx(np.mean(inside**2))


@given(seed=st.integers(0, 10_000), rows=st.integers(20, 200))
def test_normal_errors_have_no_outliers_that_pay(seed, rows):
    residual = np.random.default_rng(seed).normal(size=rows)
    told = told_apart(residual, span=20.0)
    assert told.bits > float(residual_bits(rows, np.mean(residual**2))) - 1e-9
    assert not told.gross


@given(seed=st.integers(0, 10_000), factor=st.sampled_from([1e-30, 1e-3, 1.0, 1e20]))
def test_units_do_not_matter(seed, factor):
    residual = np.random.default_rng(seed).standard_cauchy(size=50)
    one, other = told_apart(residual, 40.0), told_apart(factor * residual, factor * 40.0)
    assert one.outliers == other.outliers
    assert other.bits - one.bits == pytest.approx(50 * np.log2(factor), abs=1e-6)


def test_an_exact_rest_counts_to_rounding_only():
    residual = np.zeros(ROWS)
    residual[OFF] = 1.0
    told = told_apart(residual, span=2.0, least=1e-20)
    assert told.outliers == 3
    assert told.mean_square == 1e-20
    assert np.isfinite(told.bits)


@pytest.mark.parametrize("law", [2.5 * X**1.5, 3.0 / (X + 1.3)])
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_the_law_of_the_other_rows_is_found(law, noise):
    y = with_outliers(law + noise * law.std() * NOISE)
    data = make_dataset(X, y, names=["x"])
    found = search(data, SearchSettings(**ONE_LEVEL))
    assert found.front.best.outliers == 3
    assert "3 of 60 rows are outliers" in str(found.front)
    misled = search(data, SearchSettings(auto_losses=("relative",), **ONE_LEVEL)).front.best
    assert misled.outliers == 0
    right = np.delete(np.arange(ROWS), OFF)
    errors = [np.abs(one.predict({"x": X}) - law)[right].mean() for one in (found.front.best, misled)]
    assert errors[0] < max(noise, 1e-9) * law.std()
    assert errors[1] > 5 * errors[0]


def test_a_table_without_outliers_has_none():
    found = search(make_dataset(X, X**1.5 + 0.05 * NOISE, names=["x"]), SearchSettings(**ONE_LEVEL))
    assert found.front.best.outliers == 0
    assert "outlier" not in str(found.front)


def test_rows_beside_a_pole_are_no_outliers_where_the_law_has_it():
    x = np.linspace(0.0, 4.0, 80)
    found = search(make_dataset(x, 1 / (x - 1.98), names=["x"]), SearchSettings(**ONE_LEVEL))
    assert found.front.best.outliers == 0
    assert found.best.r2 > 1 - 1e-12


def test_noise_without_a_law_has_no_outliers():
    y = NOISE.copy()
    y[OFF] = (GROSS + 10) * np.array([1, -1, 1])
    found = search(make_dataset(X, y, names=["x"]), SearchSettings(**ONE_LEVEL))
    assert found.front.best.outliers == 0  # nothing is known that they could be off


def test_what_auto_may_choose_is_checked():
    with pytest.raises(ValueError, match="auto_losses must be of relative, huber"):
        SearchSettings(auto_losses=("poisson",))


def test_a_saved_model_knows_of_its_outliers(tmp_path):
    y = with_outliers(2.5 * X**1.5)
    model = PruneSymRegressor(preset=SearchSettings(**ONE_LEVEL), progress=False).fit(X[:, None], y)
    model.save(tmp_path / "model.json")
    again = PruneSymRegressor.load(tmp_path / "model.json")
    assert again.best_.outliers == model.best_.outliers == 3
