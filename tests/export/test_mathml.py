"""MathML is read as a person reads it, by a reader of its own, and must mean the same formula."""

from xml.etree import ElementTree

import pytest
from hypothesis import given

from prunesymnet.export.mathml import to_mathml
from prunesymnet.expression import Constant, Variable, apply, evaluate, parse
from prunesymnet.operators import make_operator
from samples import COLUMNS, comparable, differ
from strategies import expressions

SIGNS = {"−": "-", "⋅": "*", "×": "*", "\u2062": "*", "\u2061": "", "π": "pi"}
SIGNS |= {"arcsin": "asin", "arccos": "acos", "arctan": "atan"}


def read(node):
    """What stands on the page, as text: only what is enclosed by its place (a fraction, an exponent) is in
    parentheses."""
    parts = list(node)
    if node.tag in ("mn", "mi", "mo"):
        return "".join(SIGNS.get(sign, sign) for sign in ([node.text] if node.text in SIGNS else node.text))
    if node.tag == "mspace":
        return "*"
    if node.tag == "mfrac":
        return f"(({read(parts[0])})/({read(parts[1])}))"
    if node.tag == "msqrt":
        return f"sqrt({''.join(map(read, parts))})"
    if node.tag == "msup":
        base, exponent = map(read, parts)
        # An exponent belongs to the one thing before it, and not to all of a row.
        bare = parts[0].tag != "mrow" or len(parts[0]) == 1 or (base.endswith(")") and base.count("("))
        assert bare, base
        return f"exp({exponent})" if base == "e" else f"({base})**({exponent})"
    inside = "".join(map(read, parts))
    return f"abs({inside[1:-1]})" if inside.startswith("|") and inside.endswith("|") else inside


def meant(text):
    return parse(read(ElementTree.fromstring(text)))  # noqa: S314 - our own


@given(expressions())
def test_what_is_read_is_what_was_written(expression):
    text = to_mathml(expression)
    values, slack, usable = comparable(expression)
    assert not differ(evaluate(meant(text), COLUMNS).values, values, slack, usable), (text, str(expression))


@pytest.mark.parametrize(
    ("formula", "seen"),
    [
        ("x - (y - z)", "x-(y-z)"),
        ("(x + y)*z", "(x+y)*z"),
        ("x*(-y)", "x*(-y)"),
        ("-(x + y)", "-(x+y)"),
        ("(x + y)**2", "((x+y))**(2)"),
        ("2*(1/3)", "2*((1)/(3))"),
        ("x*2", "x*2"),
        ("1.5e-7*x", "1.5*(10)**(-7)*x"),
        ("abs(x)", "abs(x)"),
        ("max(x, y)", "max(x,y)"),
    ],
)
def test_parentheses_where_they_are_needed(formula, seen):
    assert read(ElementTree.fromstring(to_mathml(parse(formula)))) == seen  # noqa: S314 - our own


def test_names_of_columns():
    assert "<mi>θ</mi><mn>2</mn>" in to_mathml(Variable("theta_2"))
    assert '<mi mathvariant="normal">speed</mi>' in to_mathml(Variable("speed"))
    assert to_mathml(Constant(1.23456), digits=3) == "<math><mn>1.23</mn></math>"
    assert to_mathml(Variable("x"), target="y", block=True).startswith(
        '<math display="block"><mrow><mi>y</mi><mo>=</mo>'
    )


def test_whatever_a_target_is_called_is_text():
    root = ElementTree.fromstring(to_mathml(Variable("x"), target='<script>alert("1")</script>&'))  # noqa: S314
    assert "script" not in {node.tag for node in root.iter()}
    assert '<script>alert("1")</script>&' in "".join(root.itertext())


def test_an_operator_of_ones_own_is_a_call():
    own = make_operator("softplus", lambda a: a**2)
    assert "<mi>softplus</mi>" in to_mathml(apply(own, Variable("x")))
