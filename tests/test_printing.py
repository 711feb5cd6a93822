"""Writing formulas: text, Python and LaTeX."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prunesymnet.expression import (
    Constant,
    Variable,
    apply,
    canonical,
    evaluate,
    parse,
    to_latex,
    to_python,
    to_text,
)
from samples import COLUMNS, POINTS, comparable, differ
from strategies import expressions

x = Variable("x")


def run(code, **names):
    """The value of a Python expression that this test had printed."""
    with np.errstate(all="ignore"):
        return eval(code, {"__builtins__": {}, "abs": abs, "np": np, "math": math, **names})  # noqa: S307


# Python


@given(expressions())
def test_python_text_computes_what_evaluate_does(tree):
    known = comparable(tree)
    usable = known[2]
    if not usable.any():  # some constant part of it is huge or undefined: Python would raise
        return
    assert not differ(np.broadcast_to(run(to_python(tree, module="np"), **COLUMNS), POINTS), *known)
    for k in np.flatnonzero(usable)[:3]:
        value = run(to_python(tree), **{name: float(column[k]) for name, column in COLUMNS.items()})
        assert not differ(value, *(entry[k] for entry in known))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("sin(x) + exp(-x)*log(x)", "math.sin(x) + math.exp(-x)*math.log(x)"),
        ("sqrt(tanh(cos(x)))", "math.sqrt(math.tanh(math.cos(x)))"),
        ("abs(x) + pi", "abs(x) + math.pi"),
        ("id(x + 1)*2", "(x + 1)*2"),
        ("inv(x)", "1/x"),
        ("inv(x*y)", "1/(x*y)"),
        ("x/inv(y)", "x/(1/y)"),
        ("inv(x)**2", "(1/x)**2"),
        ("-inv(x)", "-(1/x)"),
        ("pow(x, 2)", "x**2"),
        ("pow(x, y)**3", "(x**y)**3"),
        ("neg(x)**2", "(-x)**2"),
        ("-x**2", "-x**2"),
        ("2*x - 0.5", "2*x - 0.5"),
    ],
)
def test_python_text(text, code):
    assert to_python(parse(text)) == code
    assert to_python(parse(text), module="np") == code.replace("math", "np")


def test_python_text_with_fewer_digits():
    assert to_python(parse("0.123456*x**2.0 + 1e-7"), digits=3) == "0.123*x**2 + 1e-07"


# Plain text


@pytest.mark.parametrize(
    "text",
    [
        "x", "-x", "2", "-2", "0.5", "1e-05", "1e+16", "-0.0", "pi", "x + y", "x - y - z", "x - (y - z)",
        "x + (y + z)", "x*y/z", "x/(y*z)", "x*(y/z)", "x/(y/z)", "-x*y", "-(x*y)", "x - (-y)", "x*(-y)",
        "x + (-2)", "-(-x)", "-(2)", "-(-2)", "-2**2", "(-2)**2", "(-x)**2", "-x**2", "x**(-2)", "x**(-y)",
        "x**y**z", "(x**y)**z", "(x**2)**3", "x**2**y", "2**x", "x**2.0", "pow(x, 2)", "pow(x, 3)", "x**4",
        "pow(x, 2)**2", "sin(x + y)**2", "id(x)", "inv(x + 1)", "sqrt(x**2)", "exp(-x**2/2)", "(x + y)*(x - y)",
        "(x + y)**2", "(x/y)**2", "2*x**2 + 0.5",
    ],
)  # fmt: skip
def test_a_text_as_short_as_can_be_stays_as_it_is(text):
    assert to_text(parse(text)) == text


def test_digits_round_for_reading():
    tree = parse("3.14159265*x**2.0 - 1234567.0*y + 0.000012345 + 7*z")
    assert to_text(tree, digits=3) == "3.14*x**2 - 1.23e+06*y + 1.23e-05 + 7*z"
    assert to_text(tree, digits=1) == "3*x**2 - 1e+06*y + 1e-05 + 7*z"
    assert to_text(tree, digits=15) == "3.14159265*x**2 - 1234567*y + 1.2345e-05 + 7*z"
    assert to_text(parse("0.5*x + 123456789"), digits=2) == "0.5*x + 123456789"  # whole numbers are exact
    assert to_text(parse("x**3.0"), digits=2) == "x**3"
    assert to_text(parse("x - 0.5 + (-0.25)*y"), digits=2) == "x - 0.5 + (-0.25*y)"


@given(expressions(), st.integers(1, 17))
def test_rounded_text_is_close(tree, digits):
    rounded = parse(to_text(tree, digits=digits))
    close = tree.with_constants([float(f"{value:.{digits}g}") for value in tree.constants])
    columns = {name: column[:4] for name, column in COLUMNS.items()}
    np.testing.assert_allclose(evaluate(rounded, columns).values, evaluate(close, columns).values, rtol=1e-9)


# LaTeX

LATEX = [
    ("x", r"x"),
    ("x1", r"x_{1}"),
    ("x_1", r"x_{1}"),
    ("x12 + x_2", r"x_{12} + x_{2}"),
    ("alpha*Omega", r"\alpha \Omega"),
    ("alpha2", r"\alpha_{2}"),
    ("lambda_", r"\lambda"),
    ("mass_kg", r"\mathrm{mass\_kg}"),
    ("mass2", r"\mathrm{mass}_{2}"),
    ("mass_2", r"\mathrm{mass}_{2}"),
    ("_ + __", r"\mathrm{\_} + \mathrm{\_\_}"),
    ("__1", r"\mathrm{\_}_{1}"),
    ("mass_kg**2", r"\mathrm{mass\_kg}^{2}"),
    ("x1**2", r"x_{1}^{2}"),
    ("pi", r"\pi"),
    ("2*pi*x", r"2 \pi x"),
    ("x/y", r"\frac{x}{y}"),
    ("x*y/(z + 1)", r"\frac{x y}{z + 1}"),
    ("x/y/z", r"\frac{\frac{x}{y}}{z}"),
    ("2*x/y", r"\frac{2 x}{y}"),
    ("2*(x/y)", r"2 \frac{x}{y}"),
    ("2*(1/3)", r"2 \cdot \frac{1}{3}"),
    ("x*(1/3)", r"x \frac{1}{3}"),
    ("-x/y", r"\frac{-x}{y}"),
    ("-(x/y)", r"-\frac{x}{y}"),
    ("x - y/z", r"x - \frac{y}{z}"),
    ("inv(x + y)", r"\frac{1}{x + y}"),
    ("-inv(x)", r"-\frac{1}{x}"),
    ("inv(x)**2", r"\left(\frac{1}{x}\right)^{2}"),
    ("(x + y)*z", r"\left(x + y\right) z"),
    ("x*(y + z)", r"x \left(y + z\right)"),
    ("x*(y*z)", r"x \left(y z\right)"),
    ("x - (y - z)", r"x - \left(y - z\right)"),
    ("x - y - z", r"x - y - z"),
    ("(x + y)**2", r"\left(x + y\right)^{2}"),
    ("(x/y)**2", r"\left(\frac{x}{y}\right)^{2}"),
    ("exp(x)**2", r"\left(e^{x}\right)^{2}"),
    ("exp(-x**2/2)", r"e^{\frac{-x^{2}}{2}}"),
    ("sin(x)**2", r"\sin\left(x\right)^{2}"),
    ("(x**2)**3", r"\left(x^{2}\right)^{3}"),
    ("x**(y + 1)", r"x^{y + 1}"),
    ("x**y**z", r"x^{y^{z}}"),
    ("(x**y)**z", r"\left(x^{y}\right)^{z}"),
    ("x**(-2)", r"x^{-2}"),
    ("(-x)**2", r"\left(-x\right)^{2}"),
    ("-x**2", r"-x^{2}"),
    ("(-2)**x", r"\left(-2\right)^{x}"),
    ("-2*x", r"-2 x"),
    ("x*(-2)", r"x \left(-2\right)"),
    ("x + (-2)", r"x + \left(-2\right)"),
    ("x - (-y)", r"x - \left(-y\right)"),
    ("-(-x)", r"-\left(-x\right)"),
    ("-(x + y)", r"-\left(x + y\right)"),
    ("x*2", r"x \cdot 2"),
    ("2*3**x", r"2 \cdot 3^{x}"),
    ("1e-5", r"1 \cdot 10^{-5}"),
    ("1e-5*x", r"1 \cdot 10^{-5} x"),
    ("x*1e-5", r"x \left(1 \cdot 10^{-5}\right)"),
    ("1e-5**x", r"\left(1 \cdot 10^{-5}\right)^{x}"),
    ("-2.5e22*x", r"-2.5 \cdot 10^{22} x"),
    ("sqrt(x + 1)", r"\sqrt{x + 1}"),
    ("sqrt(x)**2", r"\sqrt{x}^{2}"),
    ("abs(x - y)", r"\left|x - y\right|"),
    ("log(x)*tanh(y)*cos(z)", r"\log\left(x\right) \tanh\left(y\right) \cos\left(z\right)"),
    ("id(x + y)*2", r"\left(x + y\right) \cdot 2"),
    ("x**3", r"x^{3}"),
]


@pytest.mark.parametrize(("text", "latex"), LATEX, ids=[text for text, _ in LATEX])
def test_latex(text, latex):
    assert to_latex(parse(text)) == latex


def test_latex_with_fewer_digits():
    tree = parse("3.14159265*x**2 - 0.000012345*y - 1234567.0")
    assert to_latex(tree, digits=3) == r"3.14 x^{2} - 1.23 \cdot 10^{-5} y - 1.23 \cdot 10^{6}"
    assert to_latex(tree) == r"3.14159265 x^{2} - 1.2345 \cdot 10^{-5} y - 1234567.0"
    assert to_latex(Constant(-0.00012345), digits=2) == "-0.00012"


@given(expressions())
def test_latex_is_balanced(tree):
    for formula in (tree, canonical(tree)):
        latex = to_latex(formula)
        depth = np.cumsum([{"{": 1, "}": -1}.get(letter, 0) for letter in latex])
        assert depth.min() >= 0
        assert depth[-1] == 0
        assert latex.count(r"\left") == latex.count(r"\right")
        assert latex.count(r"\left(") == latex.count(r"\right)") == latex.count("(") == latex.count(")")


def test_one_way_to_write_each_tree():
    """Trees that differ have LaTeX that differs, where a reader could take one for the other."""
    texts = [
        "x*(y/z)",
        "x*y/z",
        "x/(y/z)",
        "x/y/z",
        "-(x*y)",
        "(-x)*y",
        "x**y**z",
        "(x**y)**z",
        "-x**2",
        "(-x)**2",
    ]
    shown = {to_latex(parse(text)) for text in texts}
    assert len(shown) == len(texts)
    assert to_latex(apply("pow", x, 2)) == to_latex(x**2)
