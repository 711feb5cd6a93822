"""Factors in front: the same values, and never a longer formula."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given

from prunesymnet.expression import canonical, evaluate, parse
from prunesymnet.expression.factoring import factored, multiplied_out
from samples import COLUMNS, comparable, differ
from strategies import expressions

FACTORED = [
    ("x**2 - 2*x*y + y**2", "(x - y)**2"),
    ("x**2 + 2*x*y + y**2", "(x + y)**2"),
    ("4*x**2 + 4*x*y + y**2", "(2*x + y)**2"),
    ("3*x**2 - 6*x*y + 3*y**2", "3*(x - y)**2"),
    ("1/(x**2 - 2*x*y + y**2 + 1)", "1/((x - y)**2 + 1)"),
    ("sqrt(x**2 - 2*x*y + y**2)", "abs(x - y)"),
    ("x*y + x*z", "x*(y + z)"),
    ("x*y*z + x*y", "x*y*(z + 1)"),
    ("x**2 + x*y", "x*(x + y)"),
    ("x/z + y/z", "(x + y)/z"),
    ("y*exp(x) + exp(x)", "exp(x)*(y + 1)"),
    ("a*b + a*c + d*b + d*c", "(a + d)*(b + c)"),
    ("sin(x*y + x*z)", "sin(x*(y + z))"),
    ("x*z/w + y*z/w + 1", "z*(x + y)/w + 1"),
    ("w*(x/z + 3/z)", "w*(x + 3)/z"),
    ("y*z*(1 - x/y)", "z*(y - x)"),
    ("y**3*z*(1 - x/y)**2", "y*z*(x - y)**2"),
    ("w/(y*(1 - x/y))", "w/(y - x)"),
    ("sin(1/(2*w*y**2*(x/z + 3/z)))", "sin(z/(2*w*y**2*(x + 3)))"),
    ("log((x + y)*(x*z + 5*z))", "log(z*(x + y)*(x + 5))"),
]
# Polynomials in one variable, sums without a common factor, and what is almost a square.
STAYS = [
    "x**3 + x**2 + x",
    "x + y + z",
    "x**2 + y**2",
    "x",
    "3",
    "sin(x)",
    "x*y",
]


@pytest.mark.parametrize(("text", "expected"), FACTORED)
def test_a_common_factor_or_a_square_is_taken_out(text, expected):
    found = factored(parse(text))
    assert canonical(found) == canonical(parse(expected))
    assert found.complexity == parse(expected).complexity < canonical(parse(text)).complexity


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x**6 - 2*x**4 + x**2", "(x**3 - x)**2"),
        ("x**4 + 4*x**3 + 6*x**2 + 4*x + 1", "(x + 1)**4"),
        ("8*x**3 + 12*x**2 + 6*x + 1", "(2*x + 1)**3"),
        ("3*x**2 + 6*x + 3", "3*(x + 1)**2"),
        ("sin(x)**2 + 2*sin(x) + 1", "(sin(x) + 1)**2"),
        ("exp(x**4 + 2*x**2 + 1)", "exp((x**2 + 1)**2)"),
    ],
)
def test_a_polynomial_that_is_a_power_is_written_as_one(text, expected):
    found = factored(parse(text))
    assert canonical(found) == canonical(parse(expected))
    assert found.complexity < canonical(parse(text)).complexity


@pytest.mark.parametrize("text", ["x**2 + 2*x + 2", "x**4 + x**2", "x**2 + 2.0*x + 1", "x**3 + 3*x**2 + 3*x"])
def test_a_polynomial_that_is_no_power_is_not(text):
    assert "(" not in str(factored(parse(text))).replace("**(", "")


@pytest.mark.parametrize("text", STAYS)
def test_what_nobody_would_write_otherwise_stays(text):
    found = factored(parse(text))
    assert canonical(found) == canonical(parse(text))
    assert found.complexity == canonical(parse(text)).complexity


def test_it_is_the_same_in_every_process():
    lines = "from prunesymnet.expression import factoring, parse; print(factoring.factored(parse('x**2 - x*y + y**2')))"
    run = [sys.executable, "-c", lines]
    found = {
        subprocess.run(run, check=True, capture_output=True, text=True, env={"PYTHONHASHSEED": str(seed)}).stdout
        for seed in range(2)
    }
    assert len(found) == 1


@given(expressions(max_leaves=12))
def test_the_values_are_those_of_the_formula(expression):
    assert not differ(evaluate(factored(expression), COLUMNS).values, *comparable(expression))


@given(expressions(("+", "-", "*", "/", "sq", "sin"), max_leaves=12))
def test_the_values_of_sums_of_products_are_those_of_the_formula(expression):
    assert not differ(evaluate(factored(expression), COLUMNS).values, *comparable(expression))


@given(expressions(max_leaves=12))
def test_it_is_never_larger_than_the_canonical_form(expression):
    assert factored(expression).complexity <= canonical(expression).complexity


@given(expressions(max_leaves=10))
def test_it_has_no_variables_and_no_free_constants_of_its_own(expression):
    found = factored(expression)
    assert set(found.variables) <= set(expression.variables)
    assert len(found.constants) <= len(expression.constants)


@pytest.mark.parametrize("text", ["1e200*x*1e200 + 1e200*y*1e200", "exp(1000.0)*x + x", "(1e300*x)**3 + y"])
def test_constants_out_of_range_leave_the_formula_alone(text):
    formula = parse(text)
    columns = {"x": np.array([0.5, 2.0]), "y": np.array([1.0, 3.0])}
    np.testing.assert_array_equal(
        evaluate(factored(formula), columns).values, evaluate(formula, columns).values, strict=True
    )


def test_coefficients_beyond_all_exact_numbers_leave_a_polynomial_as_it_is():
    formula = parse("9007199254740992*(9007199254740992*x + 1)*x")
    assert evaluate(multiplied_out(formula), {"x": np.array([1.0])}).values == pytest.approx(2.0**106, rel=1e-9)
