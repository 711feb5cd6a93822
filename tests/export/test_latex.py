"""Formulas as LaTeX."""

import numpy as np
import pytest
from hypothesis import given

from prunesymnet.export.latex import to_latex
from prunesymnet.expression import Constant, Variable, apply, canonical, parse
from strategies import expressions

x = Variable("x")

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
    ("asin(x) + acos(x) + atan(x)", r"\arcsin\left(x\right) + \arccos\left(x\right) + \arctan\left(x\right)"),
    ("tan(x)*sinh(y)*cosh(z)", r"\tan\left(x\right) \sinh\left(y\right) \cosh\left(z\right)"),
    ("max(x, -y)/min(x + y, 2)", r"\frac{\max\left(x, -y\right)}{\min\left(x + y, 2\right)}"),
    ("erf(x)**2", r"\operatorname{erf}\left(x\right)^{2}"),
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


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        ("y", "y"),
        ("y1", "y_{1}"),
        ("theta", r"\theta"),
        ("mass_kg", r"\mathrm{mass\_kg}"),
        ("power (W)", r"\mathrm{power\ (W)}"),
        ("50%", r"\mathrm{50\%}"),
        ("%", r"\mathrm{\%}"),
        ("a{b}\\c", r"\mathrm{a\{b\}\backslash{}c}"),
    ],
)
def test_an_equation(target, shown):
    assert to_latex(parse("2*x"), target=target) == f"{shown} = 2 x"
    assert to_latex(parse("1.23456*x"), target=target, digits=2) == f"{shown} = 1.2 x"
