"""Linear least squares against numpy's, and elimination of the columns that are not needed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prunesymnet.coefficients.linear import eliminate, elimination, weighted_least_squares

# ---- least squares ------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10_000), terms=st.integers(1, 6), weighted=st.booleans(), scale=st.integers(-8, 8))
@settings(max_examples=40)
def test_the_coefficients_are_numpys(seed, terms, weighted, scale):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(terms, 40)) * 10.0**scale
    target = rng.normal(size=40)
    weights = rng.uniform(0.1, 2, 40) if weighted else np.ones(40)
    root = np.sqrt(weights)
    expected = np.linalg.lstsq((columns * root).T, target * root, rcond=None)[0]
    found = weighted_least_squares(columns, target, weights)
    np.testing.assert_allclose(found.coefficients, expected, rtol=1e-9)
    np.testing.assert_allclose(found.sizes, np.abs(expected) * np.sqrt((columns**2) @ weights), rtol=1e-9)


def test_columns_of_very_different_sizes_are_told_apart():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(3, 50)) * np.array([[1e-150], [1.0], [1e150]])
    truth = np.array([3e150, -2.0, 5e-150])
    np.testing.assert_allclose(weighted_least_squares(columns, truth @ columns, np.ones(50)).coefficients, truth)


def test_columns_that_depend_on_one_another_fit_as_well_as_one():
    x, y = np.random.default_rng(0).normal(size=(2, 30))
    found = weighted_least_squares(np.array([x, 2 * x, 0 * x, y]), 6 * x + y, np.ones(30))
    np.testing.assert_allclose(found.coefficients @ np.array([x, 2 * x, 0 * x, y]), 6 * x + y)
    assert found.coefficients[2] == 0


def test_a_column_of_no_numbers_does_no_harm():
    x = np.linspace(0, 1, 20)
    found = weighted_least_squares(np.array([x, np.full(20, np.nan)]), 3 * x, np.ones(20))
    assert np.isfinite(found.coefficients).all()
    assert found.coefficients[0] == pytest.approx(3)


# ---- elimination --------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10_000), needed=st.sets(st.integers(0, 9), min_size=1, max_size=5))
@settings(max_examples=40)
def test_columns_that_are_not_needed_go_and_the_others_stay(seed, needed):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(10, 60)) * 10.0 ** rng.integers(-6, 7, (10, 1))
    chosen = sorted(needed)
    coefficients = rng.uniform(1, 2, len(chosen)) / np.abs(columns[chosen]).max(axis=1)
    target = coefficients @ columns[chosen]
    kept, error = eliminate(columns, target, 60)
    assert [index for index, _ in kept] == chosen
    np.testing.assert_allclose([c for _, c in kept], coefficients, rtol=1e-9)
    assert error <= 1e-24 * (target @ target)


def test_columns_of_noise_go():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(20, 200))
    target = 3 * columns[4] - columns[7] + 0.1 * rng.normal(size=200)
    kept, error = eliminate(columns, target, 200)
    assert {4, 7} <= {index for index, _ in kept}
    assert len(kept) <= 3
    assert error == pytest.approx(200 * 0.1**2, rel=0.3)


def test_of_columns_that_are_equal_one_stays():
    rng = np.random.default_rng(0)
    one, two = rng.normal(size=(2, 50))
    kept, error = eliminate(np.array([one, 2 * one, two, 0 * one]), one + two, 50)
    assert len(kept) == 2
    assert error < 1e-20
    assert eliminate(np.zeros((2, 50)), one, 50) == ([], pytest.approx(one @ one))


def test_elimination_goes_from_all_columns_to_one_and_each_step_is_a_least_squares_fit():
    rng = np.random.default_rng(0)
    columns, target = rng.normal(size=(6, 40)), rng.normal(size=40)
    steps = list(elimination(columns, target, 40))
    assert [len(step.kept) for step in steps] == [6, 5, 4, 3, 2, 1]
    for step in steps:
        kept = [index for index, _ in step.kept]
        solved, left, *_ = np.linalg.lstsq(columns[kept].T, target, rcond=None)
        np.testing.assert_allclose([c for _, c in step.kept], solved, rtol=1e-9)
        assert step.error == pytest.approx(left[0])


def test_the_column_that_is_left_out_is_the_one_whose_loss_costs_least():
    rng = np.random.default_rng(1)
    columns, target = rng.normal(size=(5, 30)), rng.normal(size=30)
    one, two, *_ = elimination(columns, target, 30)
    without = [np.linalg.lstsq(np.delete(columns, k, axis=0).T, target, rcond=None)[1][0] for k, _ in one.kept]
    assert two.error == pytest.approx(min(without))


def test_of_more_columns_than_rows_some_are_not_tried():
    rng = np.random.default_rng(2)
    first = next(elimination(rng.normal(size=(20, 8)), rng.normal(size=8), 8))
    assert len(first.kept) == 7
