"""Formulas as sympy expressions."""

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from prunesymnet.export.sympy import to_sympy
from prunesymnet.expression import Constant, Variable, compile_expression, parse
from samples import COLUMNS, NAMES, POINTS, comparable, differ, values_and_gradient
from strategies import expressions, leaf

x, y = sympy.symbols("x y", real=True)


# Without pi: sin(pi) is 0 in sympy and 1.2e-16 in floats, and what is built on it says nothing.
@given(expressions(leaves=leaf.filter(lambda node: str(node) != "pi")))
def test_numpy_equals_sympy(tree):
    known = comparable(tree)
    if not known[2].any():  # a constant part of it is huge or undefined
        return
    function = sympy.lambdify([sympy.Symbol(name, real=True) for name in NAMES], to_sympy(tree), ["scipy", "numpy"])
    with np.errstate(all="ignore"):
        got = function(*(COLUMNS[name] for name in NAMES))
    assert not differ(np.broadcast_to(got, POINTS), *known)


@pytest.mark.parametrize(
    "text",
    [
        "1.5*sin(x)**2/y",
        "exp(-x*y)*log(y**2) + x**3",
        "tanh(x)/sqrt(x**2 + 1)",
        "x**2.5*abs(y)",
        "tan(x/3)*atan(y)",
        "asin(y/3)*acos(x/4)",
        "sinh(x)*cosh(x*y)",
        "erf(x*y) + erf(x)**2",
    ],
)
def test_derivatives_equal_sympys(text):
    tree = parse(text)
    columns = {"x": np.linspace(0.2, 3, 9), "y": np.linspace(-2, -0.3, 9)}
    _, gradient = values_and_gradient(compile_expression(tree), columns)
    names = [Variable(name) for name in tree.variables]
    for row, name in zip(gradient, names, strict=True):
        slope = sympy.lambdify([x, y], sympy.diff(to_sympy(tree), to_sympy(name)), ["scipy", "numpy"])
        np.testing.assert_allclose(row, slope(columns["x"], columns["y"]), rtol=1e-10)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", x),
        ("2*x/3", sympy.Rational(2, 3) * x),
        ("pi*x**2", sympy.pi * x**2),
        ("0.5*x", sympy.Float(0.5) * x),
        ("x/y - inv(y)", (x - 1) / y),
        ("sqrt(x**2)", sympy.Abs(x)),  # x is real
        ("exp(log(y))", y),
        ("-id(x)", -x),
        ("square(x) + cube(y)", x**2 + y**3),
        ("x**y", x**y),
        ("tanh(cos(sin(x)))", sympy.tanh(sympy.cos(sympy.sin(x)))),
        ("1/0", sympy.zoo),
        ("max(x, min(y, 2))", sympy.Max(x, sympy.Min(y, 2))),
        ("asin(sin(1)) + erf(0)", sympy.Integer(1)),
    ],
)
def test_the_sympy_expression_of_a_text(text, expected):
    assert sympy.simplify(to_sympy(parse(text)) - expected) == 0 or to_sympy(parse(text)) == expected


def test_exact_numbers_stay_exact():
    assert to_sympy(Constant(2**53)) is sympy.Integer(2**53)
    assert to_sympy(parse("1/3")) == sympy.Rational(1, 3)
    assert to_sympy(parse("2**0")) == 1
    assert to_sympy(parse("1.0")).is_Float
    assert to_sympy(Constant(1)).is_Integer
    assert to_sympy(Variable("x")).is_real
    assert to_sympy(parse("sin(2)**2 + cos(2)**2")).simplify() == 1


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_keep_every_bit(value):
    assert float(to_sympy(Constant(value))) == value


def test_a_deep_formula():
    assert to_sympy(parse("x*" * 300 + "x")) == x**301
