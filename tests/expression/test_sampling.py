"""Points of a formula."""

import numpy as np
import pytest

from prunesymnet.expression import evaluate, parse
from prunesymnet.expression.sampling import sample


def test_values_are_the_formulas_and_finite_in_the_range():
    formula = parse("log(x)/y + sqrt(z)")
    data = sample(formula, 200, 3, -1.0, 2.0)
    assert (data.rows, data.names) == (200, ("x", "y", "z"))
    assert data.X.min() >= -1
    assert data.X.max() <= 2
    assert np.isfinite(data.y).all()
    np.testing.assert_array_equal(data.y, evaluate(formula, data.columns).values)


def test_each_variable_can_have_a_range_of_its_own():
    data = sample(parse("a + b"), 50, 0, np.array([0.0, 10.0]), np.array([1.0, 11.0]))
    assert data.columns["a"].max() <= 1
    assert data.columns["b"].min() >= 10


def test_the_seed_decides():
    first, again, other = (sample(parse("x*y"), 20, seed).X.tolist() for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize(
    ("text", "message"), [("log(-x**2)", "choose another range"), ("2 + 3", "must have a variable")]
)
def test_a_formula_without_values_or_variables_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        sample(parse(text))
