import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import curve_fit

from prunesymnet.coefficients import covariance, estimate_constants, fit
from prunesymnet.coefficients.uncertainty import mixed_quantile
from prunesymnet.data import make_dataset
from prunesymnet.expression import parse

RNG = np.random.default_rng(0)
X = np.linspace(0.1, 4.0, 60)
FORMS = [
    ("a*exp(-b*x) + c", lambda x, a, b, c: a * np.exp(-b * x) + c, (2.0, 0.8, 0.5)),
    ("a*x/(x + b)", lambda x, a, b: a * x / (x + b), (3.0, 1.2)),
    ("a*x**2 + b*x + c", lambda x, a, b, c: a * x**2 + b * x + c, (0.4, -1.0, 2.0)),
    ("a*sin(b*x + c)", lambda x, a, b, c: a * np.sin(b * x + c), (1.5, 1.4, 0.3)),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("text", "function", "true"), FORMS)
def test_agrees_with_curve_fit(text, function, true, weighted):
    y = function(X, *true) + 0.05 * RNG.standard_normal(len(X))
    weights = RNG.uniform(0.2, 3.0, len(X)) if weighted else None
    names = list("abc")[: len(true)]
    data = make_dataset(X, y, names=["x"], weights=weights)
    sigma = None if weights is None else 1 / np.sqrt(weights)
    best, expected = curve_fit(function, X, y, p0=true, sigma=sigma, xtol=1e-13, ftol=1e-13)
    values = dict(zip(names, best, strict=True))
    np.testing.assert_allclose(covariance(parse(text), data, parameters=values), expected, rtol=1e-4)
    estimates = estimate_constants(parse(text), data, parameters=values, confidence=0.9)
    order = {estimate.name: estimate for estimate in estimates}
    for name, value, error in zip(names, best, np.sqrt(np.diag(expected)), strict=True):
        got = order[name]
        reach = stats.t.ppf(0.95, len(X) - len(true)) * error
        assert got.value == pytest.approx(value)
        assert got.standard_error == pytest.approx(error, rel=1e-4)
        assert (got.low, got.high) == pytest.approx((value - reach, value + reach), rel=1e-4)


def test_intervals_cover_the_truth_as_often_as_they_say():
    formula = parse("1.0*exp(-1.0*x) + 1.0")
    hits = []
    for seed in range(300):
        y = 2.0 * np.exp(-0.8 * X) + 0.5 + 0.1 * np.random.default_rng(seed).standard_normal(len(X))
        data = make_dataset(X, y, names=["x"])
        found = fit(formula, data).expression
        hits.append(
            [e.low <= t <= e.high for e, t in zip(estimate_constants(found, data), (2.0, -0.8, 0.5), strict=True)]
        )
    assert np.all(np.abs(np.mean(hits, axis=0) - 0.95) < 0.04)


def test_what_the_data_do_not_determine_has_no_error_bar():
    data = make_dataset(np.column_stack([X, 2 * X]), X + 0.1 * RNG.standard_normal(len(X)), names=["x", "z"])
    first, second, third = estimate_constants(parse("0.5*x + 0.25*z + 0.1"), data)
    assert first.standard_error == second.standard_error == math.inf
    assert math.isfinite(third.standard_error)
    assert (first.low, first.high) == (-math.inf, math.inf)


def test_no_more_rows_than_constants():
    data = make_dataset([1.0, 2.0], [1.0, 3.0], names=["x"])
    assert all(e.standard_error == math.inf for e in estimate_constants(parse("2.0*x - 1.0"), data))


def test_a_formula_without_constants_has_nothing_to_estimate():
    data = make_dataset(X, X**2, names=["x"])
    assert estimate_constants(parse("x**2"), data) == ()


def test_a_formula_that_is_not_finite():
    data = make_dataset(X, X**2, names=["x"])
    assert estimate_constants(parse("1.5*log(-x)"), data)[0].standard_error == math.inf


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.5])
def test_confidence_must_be_a_fraction(confidence):
    with pytest.raises(ValueError, match="confidence must be between 0 and 1"):
        estimate_constants(parse("1.0*x"), make_dataset(X, X**2, names=["x"]), confidence=confidence)


def test_digits_follow_the_standard_error():
    data = make_dataset(X, 1234.5 * X + 30 * np.sin(40 * X), names=["x"])
    text = str(estimate_constants(fit(parse("1.0*x"), data).expression, data)[0])
    assert text.startswith("c1 = 123")
    assert "±" in text
    assert "95%" in text


part = st.tuples(st.floats(0.01, 1), st.floats(-100, 100), st.floats(0.01, 50), st.integers(1, 40))


@given(parts=st.lists(part, min_size=1, max_size=4), level=st.floats(0.01, 0.99))
def test_below_a_quantile_of_a_mixture_lies_its_share(parts, level):
    weights, middles, spreads, freedom = (np.array(column) for column in zip(*parts, strict=True))
    found = mixed_quantile(level, weights[:, None], middles[:, None], spreads[:, None], freedom)[0]
    share = np.average(stats.t.cdf(found, freedom, loc=middles, scale=spreads), weights=weights)
    assert share == pytest.approx(level, abs=1e-6)


def test_of_one_part_the_quantile_is_its_own_and_of_an_unknown_one_there_is_none():
    middles, spreads, freedom = np.array([[2.0, 5.0]]), np.array([[0.5, 0.0]]), np.array([7])
    found = mixed_quantile(0.9, np.ones((1, 2)), middles, spreads, freedom)
    np.testing.assert_allclose(found, [stats.t.ppf(0.9, 7, 2.0, 0.5), 5.0])
    both = np.array([[1.0], [math.inf]])
    assert mixed_quantile(0.9, np.ones((2, 1)), np.zeros((2, 1)), both, np.array([5, 5]))[0] == math.inf
    assert mixed_quantile(0.1, np.ones((2, 1)), np.zeros((2, 1)), both, np.array([5, 5]))[0] == -math.inf
    of_no_weight = mixed_quantile(0.9, np.array([[1.0], [0.0]]), np.zeros((2, 1)), both, np.array([5, 5]))
    assert of_no_weight[0] == pytest.approx(stats.t.ppf(0.9, 5))
