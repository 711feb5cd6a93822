import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from clocks import Clock
from prunesymnet.coefficients import FitSettings, FitStatus, covariance, fit
from prunesymnet.data import make_dataset
from prunesymnet.expression import evaluate, parse


def line(seed=0, rows=150, spoiled=10):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (rows, 2))
    y = 1 + 2 * X[:, 0] - 3 * X[:, 1] + 0.5 * rng.standard_t(3, rows)
    y[:spoiled] += 20
    return X, y


LINE = parse("1.0*x1 + 1.0*x2 + 0.0")


def fitted(form, X, y, loss, **how):
    return fit(form, make_dataset(X, y, **how).with_loss(loss))


def by_columns(found):
    """The coefficients of x1 and x2, and the constant."""
    return np.array(found.expression.constants)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_quantiles_are_scikit_learns(share):
    from sklearn.linear_model import QuantileRegressor

    X, y = line()
    expected = QuantileRegressor(quantile=share, alpha=0).fit(X, y)
    found = fitted(LINE, X, y, f"quantile:{share}")
    ours = make_dataset(X, y).with_loss(f"quantile:{share}")
    plain = ours.loss.each(y, expected.predict(X), 1.0).mean()
    assert ours.loss.each(y, values(found, X), 1.0).mean() == pytest.approx(plain, rel=1e-4)
    assert by_columns(found) == pytest.approx([*expected.coef_, expected.intercept_], abs=0.15)  # a flat minimum


def values(found, X):
    return evaluate(found.expression, {f"x{i + 1}": column for i, column in enumerate(X.T)}).values


def test_counts_are_scikit_learns():
    from sklearn.linear_model import PoissonRegressor

    rng = np.random.default_rng(0)
    X = rng.uniform(0, 2, (300, 2))
    y = rng.poisson(np.exp(0.5 + X[:, 0] - 0.7 * X[:, 1])).astype(float)
    expected = PoissonRegressor(alpha=0, tol=1e-10).fit(X, y)
    found = fitted(parse("exp(1.0*x1 + 1.0*x2 + 0.1)"), X, y, "poisson")
    assert found.expression.constants == pytest.approx([*expected.coef_, expected.intercept_], rel=1e-4)
    assert found.r2 == pytest.approx(expected.score(X, y), rel=1e-6)  # the share of the deviance


def test_huber_is_scikit_learns_with_the_same_reach():
    from sklearn.linear_model import HuberRegressor

    X, y = line()
    found = fitted(LINE, X, y, "huber")
    data = make_dataset(X, y).with_loss("huber")
    reach = data.loss.reach * data.loss.scale(y - values(found, X), None)
    low, high = 1.01, 4.0  # scikit-learn's reach is epsilon times a scale that depends on epsilon
    for _ in range(30):
        epsilon = (low + high) / 2
        theirs = HuberRegressor(epsilon=epsilon, alpha=0, tol=1e-9, max_iter=1000).fit(X, y)
        low, high = (epsilon, high) if epsilon * theirs.scale_ < reach else (low, epsilon)
    assert by_columns(found) == pytest.approx([*theirs.coef_, theirs.intercept_], abs=2e-3)


@pytest.mark.parametrize("loss", ["absolute", "huber", "quantile:0.8", "poisson"])
@pytest.mark.parametrize("form", ["3.0*exp(-0.5*x1) + 1.0", "1.0/(1.0 + 0.5*x1)"])
def test_a_fit_is_a_minimum(loss, form):
    rng = np.random.default_rng(4)
    x = rng.uniform(0, 4, 200)
    y = 5 * np.exp(-0.8 * x) + 2 + 0.3 * rng.standard_t(2, 200)
    y = np.maximum(np.round(10 * y), 0.0) if loss == "poisson" else y
    data = make_dataset(x, y, names=["x1"]).with_loss(loss)
    found = fit(parse(form), data)
    start = np.array(found.expression.constants)

    def at(constants):
        return values_at(found.expression.with_constants(list(map(float, constants))), x)

    scale = data.loss.scale(y - at(start), None)

    def total(constants):
        total = data.loss.each(y, at(constants), scale).mean()
        return total if np.isfinite(total) else 1e9

    best = minimize(total, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 5000})
    assert total(start) == pytest.approx(best.fun, rel=1e-4)


def values_at(expression, x):
    with np.errstate(all="ignore"):
        return evaluate(expression, {"x1": x}).values


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_huber_with_a_large_reach_fits_as_squares_do(seed):
    X, y = line(seed, 40)
    squares, huber = fitted(LINE, X, y, "squared"), fitted(LINE, X, y, "huber:1e6")
    assert by_columns(huber) == pytest.approx(by_columns(squares), rel=1e-6, abs=1e-8)
    assert huber.mse == pytest.approx(squares.mse)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_absolute_fits_as_the_median_does(seed):
    X, y = line(seed, 40, 4)
    absolute, median = fitted(LINE, X, y, "absolute"), fitted(LINE, X, y, "quantile:0.5")
    assert by_columns(absolute) == pytest.approx(by_columns(median), rel=1e-5, abs=1e-6)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
def test_functions_fit_as_the_names_do(seed):
    X, y = line(seed, 60)
    squares = fitted(LINE, X, y, "squared")
    assert by_columns(fitted(LINE, X, y, lambda residual: residual**2)) == pytest.approx(by_columns(squares), abs=1e-5)
    relative = fitted(LINE, X, np.abs(y) + 1, "relative")
    own = fitted(LINE, X, np.abs(y) + 1, lambda y, values: (1 - values / y) ** 2)
    assert by_columns(own) == pytest.approx(by_columns(relative), rel=1e-3, abs=1e-3)


def test_weights_are_rows_for_every_loss():
    X, y = line(rows=60)
    twice = np.concatenate([np.arange(60), np.arange(20)])
    weights = np.where(np.arange(60) < 20, 2.0, 1.0)
    for loss in ("huber:1e6", "absolute", "quantile:0.7", lambda residual: np.abs(residual) ** 1.5):
        weighted, repeated = fitted(LINE, X, y, loss, weights=weights), fitted(LINE, X[twice], y[twice], loss)
        assert by_columns(weighted) == pytest.approx(by_columns(repeated), abs=0.02)


@pytest.mark.parametrize("loss", ["huber", "absolute", "quantile:0.6"])
def test_a_formula_that_is_exact_but_for_outliers_is_exact(loss):
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 4, 100)
    y = 3 * np.exp(-0.7 * x) + 1
    y[:10] += rng.uniform(20, 60, 10)
    found = fitted(parse("2.5*exp(-0.6*x1) + 1.1"), x, y, loss)
    assert found.expression.constants == pytest.approx([3, -0.7, 1], rel=1e-9)
    assert found.mse < 1e-20


def test_a_prediction_below_zero_is_no_mean_of_counts():
    x = np.arange(10.0)
    assert fitted(parse("1.0*x1 - 5.0"), x, 2 * x + 1, "poisson").expression.constants == pytest.approx([2, -1])
    assert fitted(parse("x1 - 5"), x, 2 * x + 1, "poisson").status is FitStatus.NOT_FINITE


@pytest.mark.parametrize(("loss", "factor"), [("huber", 1 / 0.95), ("absolute", np.pi / 2)])
def test_standard_errors_are_those_of_repeats(loss, factor):
    """By theory, Huber's loss is 95% as efficient as squares for normal errors, and the absolute one 2/pi."""
    x = np.linspace(0, 1, 400)
    errors = []
    for seed in range(20):
        y = 2 * x + 1 + np.random.default_rng(seed).normal(size=400)
        data = make_dataset(x, y, names=["x1"])
        found = fit(parse("1.0*x1 + 1.0"), data.with_loss(loss))
        squares = fit(parse("1.0*x1 + 1.0"), data)
        ratio = covariance(found.expression, data.with_loss(loss)) / covariance(squares.expression, data)
        errors.append(ratio[0, 0])
    assert np.median(errors) == pytest.approx(factor, rel=0.15)


def test_standard_errors_of_counts():
    rng = np.random.default_rng(0)
    y = rng.poisson(30, 500).astype(float)
    data = make_dataset(np.arange(500.0), y, names=["x1"]).with_loss("poisson")
    found = fit(parse("1.0*x1 + 20.0"), data)
    assert np.sqrt(covariance(parse("30.0"), data)[0, 0]) == pytest.approx(np.sqrt(30 / 500), rel=0.1)
    assert found.status is FitStatus.CONVERGED


def test_known_standard_errors_are_the_least_scatter():
    rng = np.random.default_rng(0)
    x, sigma = np.linspace(0, 1, 50), np.full(50, 0.1)
    for size, expected in ((0.01, 0.1 / np.sqrt(50)), (1.0, None)):
        data = make_dataset(x, 2 + size * rng.normal(size=50), names=["x1"], y_err=sigma)
        found = fit(parse("1.0"), data)
        error = float(np.sqrt(covariance(found.expression, data)[0, 0]))
        assert error == pytest.approx(expected or np.std(data.y, ddof=1) / np.sqrt(50), rel=1e-9)


def test_the_time_limit_holds_for_all_fits_together(monkeypatch):
    x = np.linspace(0, 4, 200)
    y = np.sin(3.3 * x) * np.exp(-0.2 * x) + 0.3 * np.random.default_rng(0).normal(size=200)
    clock = Clock(step=1.0)
    monkeypatch.setattr("time.monotonic", clock)
    data = make_dataset(x, y, names=["x"]).with_loss("absolute")
    found = fit(parse("1.0*sin(3.0*x)*exp(-0.1*x)"), data, settings=FitSettings(time_limit=12))
    assert clock.now < 30
    assert found.status is FitStatus.TIME_LIMIT
    assert np.isfinite(found.mse)
