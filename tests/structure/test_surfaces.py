"""Smooth functions without a formula: the slope of their likelihood, and what they predict."""

import numpy as np
import pytest

from prunesymnet.structure.surfaces import _likelihood, fit_surface, squares_of, surface


@pytest.fixture(scope="module")
def rows():
    columns = np.random.default_rng(3).normal(size=(3, 40))
    return columns, np.sin(columns[0]) + columns[1] * columns[2]


@pytest.mark.parametrize("parts", [((0, 1, 2),), ((0,), (1, 2)), ((2,), (0, 1))])
def test_the_slope_is_that_of_finite_differences(rows, parts):
    columns, y = rows
    squares = squares_of(columns)
    settings = np.array([0.3, 0.5, 0.7, -4.0, *[0.2] * (len(parts) - 1)])
    _, slope = _likelihood(settings, squares, y, parts)
    step = 1e-5
    for k in range(len(settings)):
        move = step * np.eye(len(settings))[k]
        up, down = (_likelihood(settings + sign * move, squares, y, parts)[0] for sign in (1, -1))
        assert slope[k] == pytest.approx((up - down) / (2 * step), rel=1e-4, abs=1e-5)


def test_likelihood_and_prediction_are_those_of_scikit_learn(rows):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    columns, y = rows
    lengths, noise = np.array([1.2, 0.8, 1.5]), 1e-3
    settings = np.log([*lengths, noise])
    ours = surface(squares_of(columns), y, ((0, 1, 2),), settings)
    model = GaussianProcessRegressor(RBF(lengths), alpha=noise + 1e-10, optimizer=None).fit(columns.T[1:], y[1:] - 0.0)
    # Its mean is known to be 0, ours is not: rows with a mean of 0 by weight are predicted alike.
    inside = np.linalg.inv(RBF(lengths)(columns.T) + (noise + 1e-10) * np.eye(len(y)))
    shift = inside.sum(axis=0) @ y / inside.sum()
    model.fit(columns.T[1:], y[1:] - shift)
    assert ours.likelihood < np.inf
    assert model.predict(columns.T[:1])[0] + shift == pytest.approx(y[0] - ours.left_out[0], abs=0.05)


def test_the_parts_of_a_sum_add_up_to_it_and_are_known_but_for_a_constant(rows):
    columns, y = rows
    found = fit_surface(squares_of(columns), y, ((0,), (1, 2)))
    one, two = found.values(0), found.values(1)
    assert np.std(one + two - y) < 1e-2 * np.std(y)
    assert np.std(one - np.sin(columns[0])) < 0.2
    assert 0 <= found.variance(0) < np.var(one)


def test_rows_that_are_all_alike_have_a_surface_or_none():
    assert fit_surface(np.zeros((1, 5, 5)), np.arange(5.0), ((0,),)) is not None
