"""Rows left out by leverage are predicted as fits without them predict them."""

import numpy as np
import pytest

from prunesymnet.coefficients import fit
from prunesymnet.coefficients.fit import measure
from prunesymnet.data import make_dataset
from prunesymnet.expression import evaluate, parse
from prunesymnet.search.prediction import ROWS_PER_TERM, left_out, left_out_by_quadratic, predicts_better


def table(rows=25, weights=None, seed=0, power=1.0):
    rng = np.random.default_rng(seed)
    x = np.linspace(0.5, 3, rows)
    return make_dataset(x, 2 * x**power + 1 + 0.2 * rng.normal(size=rows), names=["x"], weights=weights)


def refitted(text, data):
    """What a fit without each row leaves of it."""
    errors = []
    for row in range(data.rows):
        others = np.arange(data.rows) != row
        again = fit(parse(text), data.take(others)).expression
        value = evaluate(again, data.columns).values[row]
        weight = 1.0 if data.weights is None else data.weights[row] / data.weights.mean()
        errors.append(weight * (data.y[row] - value) ** 2)
    return np.array(errors)


@pytest.mark.parametrize("text", ["1.0*x + 1.0", "1.0*x", "1.0", "1.0*x**2 + 1.0*sin(x) + 1.0"])
@pytest.mark.parametrize("weights", [None, np.linspace(0.2, 3, 25)])
def test_a_linear_model_is_as_good_as_refitted_without_each_row(text, weights):
    data = table(weights=weights)
    np.testing.assert_allclose(left_out(fit(parse(text), data).expression, data), refitted(text, data), rtol=1e-6)


def test_others_are_nearly_so():
    data = table(rows=60, power=1.7)
    found = left_out(fit(parse("2.0*x**1.5 + 1.0"), data).expression, data)
    assert found.sum() == pytest.approx(refitted("2.0*x**1.5 + 1.0", data).sum(), rel=0.02)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_quadratic_model_has_all_squares_and_products(weighted):
    rng = np.random.default_rng(0)
    X, weights = rng.uniform(1, 2, (40, 2)), rng.uniform(0.2, 3, 40) if weighted else None
    data = make_dataset(X, X[:, 0] * X[:, 1] + rng.normal(size=40), names=["x", "y"], target="t", weights=weights)
    model = fit(parse("1.0 + 1.0*x + 1.0*y + 1.0*x**2 + 1.0*x*y + 1.0*y**2"), data).expression
    np.testing.assert_allclose(left_out_by_quadratic(data), left_out(model, data), rtol=1e-6)


def test_the_quadratic_model_needs_several_rows_per_term():
    assert left_out_by_quadratic(table(rows=3 * ROWS_PER_TERM)) is not None
    assert left_out_by_quadratic(table(rows=3 * ROWS_PER_TERM - 1)) is None


def test_a_formula_without_constants_leaves_its_residuals():
    data = table()
    np.testing.assert_allclose(left_out(parse("2*x + 1"), data), (data.y - 2 * data.X[:, 0] - 1) ** 2)


def test_constants_that_depend_on_one_another_count_once():
    data = table()
    one, two = (left_out(measure(parse(text), data).expression, data) for text in ("2.0*x", "1.5*x + 0.5*x"))
    np.testing.assert_allclose(one, two, rtol=1e-9)


def test_a_row_that_has_a_constant_to_itself_tells_nothing():
    x = np.append(np.linspace(0, 1, 20), 100.0)
    data = make_dataset(x, x + 0.1 * np.random.default_rng(0).normal(size=21), names=["x"])
    errors = left_out(fit(parse("1.0*x + 1.0"), data).expression, data)
    assert np.isnan(errors[-1])
    assert np.isfinite(errors[:-1]).all()


def test_better_is_what_is_better_by_more_than_chance():
    rng = np.random.default_rng(0)
    errors = rng.normal(size=100) ** 2
    assert not predicts_better(errors, errors)
    assert not predicts_better(errors, rng.permutation(errors))
    assert predicts_better(errors, errors + 1)
    assert not predicts_better(errors + 1, errors)
    one_row = errors.copy()
    one_row[3] += 1000  # worse, but in one row alone
    assert not predicts_better(errors, one_row)


def test_too_few_rows_tell_nothing():
    errors, unknown = np.zeros(10), np.ones(10)
    unknown[:6] = np.nan
    assert not predicts_better(errors, unknown)
    assert predicts_better(errors[6:], unknown[6:])
    assert not predicts_better(errors[:1], unknown[9:])
