"""Polynomials in one variable: their coefficients are those that numpy finds, and free constants are never lost."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prunesymnet.expression import evaluate, parse
from prunesymnet.expression.factoring import factored, multiplied_out
from prunesymnet.expression.polynomial import HIGHEST_DEGREE, Polynomial, polynomial

FACTORS = st.lists(
    st.tuples(st.lists(st.integers(-4, 4), min_size=1, max_size=4), st.integers(1, 3)), min_size=1, max_size=3
)


def written(coefficients):
    """A sum of powers as text, the constant first."""
    return " + ".join(f"({c})*x**{k}" if k else f"({c})" for k, c in enumerate(coefficients))


def product(factors):
    return "*".join(f"({written(coefficients)})**{exponent}" for coefficients, exponent in factors)


def multiplied(factors):
    total = np.polynomial.Polynomial([1])
    for coefficients, exponent in factors:
        total = total * np.polynomial.Polynomial(coefficients) ** exponent
    return {k: Fraction(round(c)) for k, c in enumerate(total.coef) if round(c)}


@given(FACTORS)
def test_products_of_powers_have_the_coefficients_that_numpy_finds(factors):
    found = polynomial(parse(product(factors)))
    assert found is not None
    assert found.coefficients == multiplied(factors)


@given(FACTORS)
def test_multiplied_out_it_has_the_same_values_and_is_the_same_however_it_was_written(factors):
    x, factors = {"x": np.linspace(-2, 2, 9)}, [*factors, ([1, 1], 1)]  # one of them is no number
    tree = parse(product(factors))
    out = multiplied_out(tree)
    values = evaluate(tree, x).values
    np.testing.assert_allclose(evaluate(out, x).values, values, rtol=1e-9, atol=1e-9 * np.abs(values).max())
    assert str(multiplied_out(parse(product(factors[::-1])))) == str(out)
    assert str(multiplied_out(factored(tree))) == str(out)


@pytest.mark.parametrize(
    ("text", "coefficients"),
    [
        ("7", {0: 7}),
        ("x - x", {}),
        ("-x/2 + 3", {1: Fraction(-1, 2), 0: 3}),
        ("2.5*x", {1: None}),
        ("x*(2.5*x + 0.5)", {2: None, 1: None}),
        ("2.5*(x + 0.5)", {1: None, 0: None}),  # two constants, and two coefficients
        ("2.5*(0.5*x**2 + x)", {2: None, 1: None}),
        ("x**2*(x + 0.5)/3", {3: Fraction(1, 3), 2: None}),
        ("x + 2.5", {1: 1, 0: None}),
        ("x/2.5", {1: None}),
    ],
)
def test_what_is_a_polynomial(text, coefficients):
    found = polynomial(parse(text))
    assert found == Polynomial("x" if "x" in text else "", coefficients)


@pytest.mark.parametrize(
    "text",
    [
        "sin(x)",
        "x*y",
        "x**y",
        "1/x",
        "x**(1/2)",
        "x**(-2)",
        "x**2.5",
        "2**x",
        f"x**{HIGHEST_DEGREE + 1}",
        f"(x**2 + 1)**{HIGHEST_DEGREE // 2 + 1}",
        "(x + 2.5)**2",  # one constant in two coefficients
        "(x + 2.5)*(x + 1)",
        "2.5*(x + 1)",
        "2.5*(x**2 + x + 0.5)",
        "2.5*(1.5*x + 0.5)",  # three constants in two coefficients
        "1.5*x + 2.5*x",
        "1.5*2.5",
        "1.5*x + x",
    ],
)
def test_what_is_none_or_would_lose_or_repeat_a_constant(text):
    assert polynomial(parse(text)) is None


def test_a_formula_that_is_none_stays_as_it_is():
    tree = parse("sin(x)*(x + 1)")
    assert multiplied_out(tree) is tree
