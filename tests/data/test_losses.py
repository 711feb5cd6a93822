import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from prunesymnet.data import loss_of, make_dataset
from prunesymnet.data.losses import (
    BOUND_OF_ABSOLUTES,
    BOUND_OF_SQUARES,
    SQUARED,
    quantile_of,
    robust_mean,
)
from prunesymnet.errors import DataError

NAMED = ("squared", "absolute", "huber", "relative", "poisson", "quantile:0.2", "quantile:0.9", "huber:3")
finite = st.floats(-1e3, 1e3).map(lambda value: round(value, 6))
targets = arrays(np.float64, st.integers(3, 40), elements=finite)


def table(y, **how):
    return make_dataset(np.arange(len(y), dtype=float), y, **how)


def slope_by_differences(loss, y, values, scale, step=1e-6):
    return (loss.each(y, values - step, scale) - loss.each(y, values + step, scale)) / (4 * step)


@pytest.mark.parametrize("name", [name for name in NAMED if name != "relative"])
def test_the_surrogate_has_the_slope_of_the_loss(name):
    rng = np.random.default_rng(1)
    y = rng.uniform(3, 9, 50)
    values = y + rng.choice([-1, 1], 50) * rng.uniform(1, 2, 50)  # no residual is near to the corner, which is rounded
    loss = loss_of(name).prepared(y, None)
    scale = loss.scale(y - values, None)
    expected = slope_by_differences(loss, y, values, scale)

    assert loss.slope(y, values, scale) == pytest.approx(expected, rel=1e-2, abs=1e-6)


@given(targets, st.integers(0, 1000))
def test_huber_with_a_large_reach_is_squared(y, seed):
    values = y + np.random.default_rng(seed).normal(size=len(y))
    assert loss_of("huber:1e9").mean(y, values) == pytest.approx(SQUARED.mean(y, values))


@given(targets, st.integers(0, 1000))
def test_absolute_is_twice_the_median_loss(y, seed):
    values = y + np.random.default_rng(seed).normal(size=len(y))
    assert loss_of("absolute").mean(y, values) == pytest.approx(4 * loss_of("quantile:0.5").mean(y, values))
    assert loss_of("absolute").centre(y, None) == loss_of("quantile:0.5").centre(y, None)


@given(targets, st.sampled_from(NAMED), st.floats(0.01, 100))
def test_a_mean_is_in_squared_units_of_the_target(y, name, factor):
    if name == "poisson":  # counts have no units
        return
    values = y + np.sin(np.arange(len(y)))
    loss = loss_of(name)
    assert loss.mean(factor * y, factor * values) == pytest.approx(factor**2 * loss.mean(y, values), rel=1e-6, abs=1e-9)


@given(targets)
def test_no_loss_where_the_prediction_is_the_target(y):
    for name in NAMED:
        values = np.abs(y) + 1
        assert loss_of(name).mean(values, values) == 0


@pytest.mark.parametrize("name", ["absolute", "huber", "quantile:0.9"])
def test_a_quarter_of_rows_may_be_anything(name):
    y = np.arange(100.0)
    values = y.copy()
    values[:20] += 1e6
    assert loss_of(name).mean(y, values) == 0


def test_a_mean_beyond_the_range_of_floats_is_infinite():
    with np.errstate(over="ignore"):
        assert loss_of("absolute").mean(np.array([1.0, 2.0, 3.0]), np.full(3, 1e200)) == math.inf


def test_huber_counts_normal_errors_as_squares_nearly():
    errors = np.random.default_rng(0).normal(size=20_000)
    assert loss_of("huber").mean(errors, np.zeros(20_000)) == pytest.approx(1, abs=0.03)
    with_outliers = errors.copy()
    with_outliers[:1000] = 1e9
    assert loss_of("huber").mean(with_outliers, np.zeros(20_000)) < 2


@given(targets, st.sampled_from((BOUND_OF_SQUARES, BOUND_OF_ABSOLUTES)), st.integers(0, 100))
def test_a_robust_mean_solves_its_equation(values, bound, seed):
    losses = np.abs(values)
    weights = np.random.default_rng(seed).uniform(0.5, 2, len(values))
    for shares in (None, weights):
        mean = robust_mean(losses, bound, shares)
        if mean > 1e-9:
            assert np.average(np.minimum(losses / mean, bound), weights=shares) == pytest.approx(bound / 4)


def test_a_robust_mean_is_the_mean_of_what_it_is_for():
    errors = np.random.default_rng(0).normal(size=100_000)
    assert robust_mean(errors**2, BOUND_OF_SQUARES) == pytest.approx(1, abs=0.02)
    absolute = np.random.default_rng(0).exponential(size=100_000)
    assert robust_mean(absolute, BOUND_OF_ABSOLUTES) == pytest.approx(1, abs=0.02)


def test_the_poisson_deviance_is_scikit_learns():
    from sklearn.metrics import mean_poisson_deviance

    rng = np.random.default_rng(0)
    y, values = rng.poisson(3, 200).astype(float), rng.uniform(0.1, 9, 200)
    assert loss_of("poisson").mean(y, values) == pytest.approx(mean_poisson_deviance(y, values))
    assert loss_of("poisson").mean(y, y - 1) == math.inf


def test_a_small_poisson_deviance_keeps_its_digits():
    y = np.full(10, 7.0)
    assert loss_of("poisson").mean(y, y * (1 + 1e-9)) == pytest.approx(7e-18, rel=1e-6)


def test_weights_count_as_rows():
    y, values = np.array([1.0, 2.0, 3.0, 9.0]), np.array([1.5, 2.0, 2.0, 4.0])
    twice = np.array([0, 0, 1, 2, 2, 3])
    for name in ("squared", "huber", "absolute", "poisson", "quantile:0.3"):
        weighted = loss_of(name).mean(y, values, np.array([2.0, 1.0, 2.0, 1.0]))
        assert weighted == pytest.approx(loss_of(name).mean(y[twice], values[twice]), rel=0.3), name


@given(st.lists(finite, min_size=1, max_size=30), st.floats(0, 1))
def test_a_quantile_is_the_lower_one_of_numpy(values, share):
    values = np.array(values)
    assert quantile_of(values, share) == np.quantile(values, share, method="lower")


def test_relative_is_squared_with_weights():
    data = table([1.0, 2.0, -4.0])
    relative = data.with_loss("relative")
    assert relative.weights == pytest.approx([1, 1 / 4, 1 / 16])
    assert relative.with_loss("relative") is relative
    assert table([1.0, 2.0, -4.0], weights=[1, 4, 2]).with_loss("relative").weights == pytest.approx([1, 1, 1 / 8])


def test_variation_is_what_the_best_constant_leaves():
    y = np.array([1.0, 2.0, 3.0, 4.0, 100.0])
    for name in ("absolute", "quantile:0.75"):
        data = table(y).with_loss(name)
        grid = [data.loss.each(y, value, 1.0).mean() for value in np.linspace(0, 100, 1001)]
        assert data.loss.each(y, data.loss.centre(y, None), 1.0).mean() == pytest.approx(min(grid))
        assert data.variation == data.mse(np.full(5, data.loss.centre(y, None)))
    assert table(y).with_loss("poisson").variation == pytest.approx(loss_of("poisson").mean(y, np.full(5, y.mean())))
    assert table(y).with_loss("huber").variation < 20


# What is refused


@pytest.mark.parametrize("loss", ["square", "quantile", "quantile:1", "quantile:x", "huber:0", "huber:inf", 3, None])
def test_a_name_that_is_none(loss):
    with pytest.raises(ValueError, match="loss must be a function or one of auto, squared, absolute, huber"):
        loss_of(loss)


@pytest.mark.parametrize(
    ("name", "y", "message"),
    [
        ("poisson", [1, -2, 3], "at least 0; it is negative in row 2"),
        ("relative", [1, 2, 0], "which is 0 in row 3"),
        ("relative", [1, 1e-200, 2], "the square of the target, which is 0 in row 2"),
        ("huber", [0] * 9 + [1], "one value in three quarters"),
        ("absolute", [0] * 9 + [1], "one value in three quarters"),
    ],
)
def test_a_target_that_a_loss_does_not_suit(name, y, message):
    with pytest.raises(DataError, match=message):
        table(y).with_loss(name)


def test_counts_that_are_all_zero():
    with pytest.warns(UserWarning, match="every row"):
        data = table([0.0, 0.0, 0.0])
    with pytest.raises(DataError, match="it is 0 in all"):
        data.with_loss("poisson")


def raises(residual):
    raise KeyError("no")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (raises, "loss 'raises' raised KeyError on arrays"),
        (lambda residual: float(np.sum(residual**2)), "a value for each of 20 rows"),
        (lambda residual: residual[:3] ** 2, "a value for each of 20 rows"),
        (lambda residual: residual * np.nan, "must be finite"),
        (lambda residual: residual**2 / (residual**2).sum().clip(1), "row by row"),
        (lambda: 1, "it takes 0 arguments"),
        (lambda a, b, c: a, "it takes 3 arguments"),
    ],
)
def test_a_function_that_is_no_loss(function, message):
    with pytest.raises(ValueError, match=message):
        loss_of(function)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda residual: -(residual**2), "must be least where the prediction is the target"),
        (lambda y, values: (y - values - 1) ** 2, "must be least where the prediction is the target"),
        (lambda y, values: (np.log(y) - np.log(values)) ** 2, "not finite for a target of -5"),
        (lambda residual: 0 * residual, "must grow with the residual"),
    ],
)
def test_a_function_that_does_not_suit_the_target(function, message):
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=message):
        table(np.arange(-5.0, 5.0)).with_loss(function)


@pytest.mark.parametrize(
    ("function", "power"),
    [
        (lambda residual: 3 * residual**2 + 7, 2),
        (np.abs, 1),
        (lambda y, values: np.abs(y - values) ** 1.5, 1.5),
    ],
)
def test_how_a_function_grows_is_found_out(function, power):
    y = np.arange(10.0) ** 2
    loss = table(y).with_loss(function).loss
    assert loss.power == pytest.approx(power, rel=1e-6)
    off = loss.mean(y, y + 2.0)
    assert loss.mean(y, y + 4.0) == pytest.approx(4 * off)
    assert loss.mean(y, y) == 0


# Standard errors


def test_standard_errors_are_weights_with_a_known_size():
    sigma = np.array([0.5, 1.0, 2.0])
    data = table([1.0, 2.0, 4.0], y_err=sigma)
    assert data.errors_known
    assert data.weights == pytest.approx(1 / sigma**2)
    assert data.known_variance == pytest.approx(3 / (4 + 1 + 1 / 4))
    assert table([1.0, 2.0, 4.0]).known_variance == 0


@pytest.mark.parametrize(
    ("y_err", "message"),
    [
        ([1, 0, 1], "y_err must be standard errors > 0; it is 0 in row 2"),
        ([1, 1, -1], "it is -1 in row 3"),
        ([1, np.nan, 1], "y_err: no value"),
        ([1, np.inf, 1], "y_err: infinite"),
        ([1, 1], "y_err has 2"),
    ],
)
def test_standard_errors_that_are_none(y_err, message):
    with pytest.raises(DataError, match=message):
        table([1.0, 2.0, 4.0], y_err=y_err)


def test_standard_errors_and_weights():
    with pytest.raises(DataError, match=r"y_err and weights can't both be given.*divide its standard error"):
        table([1.0, 2.0, 4.0], y_err=[1, 1, 1], weights=[1, 1, 1])
