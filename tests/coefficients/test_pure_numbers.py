"""Which columns a formula takes for pure numbers: those whose unit the constants can't make up for."""

import numpy as np
import pytest
from hypothesis import assume, given, settings

from prunesymnet.coefficients.pure_numbers import pure_numbers
from prunesymnet.expression import Constant, Variable, canonical, parse
from prunesymnet.expression.tree import transform
from strategies import expressions

RNG = np.random.default_rng(0)
COLUMNS = {name: RNG.uniform(0.3, 3.0, 60) for name in "xyzu"}

LAWS = [
    "4.2*x/(x + 0.06)",
    "37.1*log(x) + 209.2",
    "(x*z + y*u)/(x + y)",  # masses and distances
    "sqrt(1 - (sin(x)/1.52)**2)",  # an angle
    "sqrt(x**2 + y**2 - 2*x*y*cos(z))",
    "4.76 + log(x/y)/log(10)",
    "2.0*exp(-0.5*x)",
    "x**1.5",
    "x**(3/2)",
    "x/(y - 0.3) - 0.3/y**2",
    "5.0 + 95.0/(1 + (x/2.4)**1.8)",
    "1.1*x - exp(0.3*y)",
    "x",
    "2.5",
    "408*sqrt(x)/(x + 1)",  # the numbers may have been rounded
    "x*(x**2 - 1)**2",
]
OF_PURE_NUMBERS = [
    ("408.0*(x - sqrt(x))", "x"),
    ("x*log(x)", "x"),
    ("2.5*log(x)", "x"),
    ("26.0*exp(-0.12*x - 1/(x - exp(x)))", "x"),
    ("1.36/(x**2 + cos(x) + 0.925)**2", "x"),
    ("0.99 - exp((-x**2 - x)/13.0)", "x"),
    ("y*exp(x)", "x"),
    ("x**y", "xy"),
]


@pytest.mark.parametrize("text", LAWS)
def test_laws_hold_in_any_units(text):
    assert pure_numbers(parse(text), COLUMNS) == ()


@pytest.mark.parametrize(("text", "names"), OF_PURE_NUMBERS)
def test_what_holds_in_one_unit_only_takes_columns_for_pure_numbers(text, names):
    assert pure_numbers(parse(text), COLUMNS) == tuple(names)


def test_a_category_is_a_pure_number():
    columns = COLUMNS | {"u": RNG.integers(0, 2, 60).astype(float)}
    assert pure_numbers(parse("2.0*x*exp(u)"), columns) == ()
    assert pure_numbers(parse("2.0*x*exp(u)"), COLUMNS) == ("u",)


def test_a_formula_that_is_not_finite_says_nothing():
    assert pure_numbers(parse("log(x - 5)"), COLUMNS) == ()


@given(expressions(max_leaves=8))
@settings(max_examples=60)
def test_with_a_free_constant_beside_each_column_every_formula_holds_in_any_units(expression):
    assume(expression.variables)
    numbers = iter(RNG.uniform(0.5, 1.5, 100).tolist())
    free = transform(expression, lambda n: Constant(next(numbers)) * n if isinstance(n, Variable) else n)
    columns = {name: COLUMNS.get(name, COLUMNS["x"]) for name in expression.variables}
    assert pure_numbers(free, columns) == ()


@pytest.mark.parametrize("text", [*LAWS, *(text for text, _ in OF_PURE_NUMBERS)])
def test_how_a_formula_is_written_does_not_matter(text):
    assert pure_numbers(canonical(parse(text)), COLUMNS) == pure_numbers(parse(text), COLUMNS)
