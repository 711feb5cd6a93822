"""Formulas for spreadsheets, computed by rules of their own."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from scipy import special

from benchmarks.problems import load
from prunesymnet.errors import ExportError
from prunesymnet.export.excel import to_excel
from prunesymnet.expression import Apply, Constant, Variable, apply, evaluate, parse
from prunesymnet.operators import OPERATORS
from samples import COLUMNS, NAMES, POINTS, comparable, differ
from strategies import expressions

TOKEN = re.compile(r"(\d+\.?\d*(?:E[+-]?\d+)?)|([A-Z]+\d+)|([A-Z]+)\(|([-+*/^(),])")
FUNCTIONS = {
    "SIN": np.sin, "COS": np.cos, "EXP": np.exp, "LN": np.log, "SQRT": np.sqrt, "ABS": np.abs, "TANH": np.tanh,
    "TAN": np.tan, "ASIN": np.arcsin, "ACOS": np.arccos, "ATAN": np.arctan, "SINH": np.sinh, "COSH": np.cosh,
    "ERF": special.erf, "MAX": np.maximum, "MIN": np.minimum,
}  # fmt: skip
# From the tightest: a minus in front, then powers, then products, then sums; all of them from left to right.
INFIX = {"+": (1, np.add), "-": (1, np.subtract), "*": (2, np.multiply), "/": (2, np.divide), "^": (3, np.power)}


def spreadsheet(formula, **cells):
    """The value of a formula by a spreadsheet's rules: -2^2 is 4, 2^3^2 is 64."""
    assert formula.startswith("=")
    tokens, at = [], 1
    while at < len(formula):
        match = TOKEN.match(formula, at)
        assert match, f"{formula[at:]!r} is not understood"
        tokens.append((match.lastindex, match[match.lastindex]))
        at = match.end()
    tokens.append((0, ""))
    tokens.reverse()

    def operand():
        kind, text = tokens.pop()
        if (kind, text) == (4, "-"):
            return np.negative(operand())
        if (kind, text) == (4, "("):
            return closed(expression(0))
        if kind == 1:
            return float(text)
        if kind == 2:
            return cells[text]
        assert kind == 3, f"{text!r} is no operand"
        if text == "PI":
            return closed(math.pi)
        operands = [expression(0)]
        while tokens[-1] == (4, ","):
            tokens.pop()
            operands.append(expression(0))
        return closed(FUNCTIONS[text](*operands))

    def closed(value):
        assert tokens.pop() == (4, ")")
        return value

    def expression(loosest):
        value = operand()
        while tokens[-1][1] in INFIX and INFIX[tokens[-1][1]][0] > loosest:
            binds, function = INFIX[tokens.pop()[1]]
            value = function(value, expression(binds))
        return value

    with np.errstate(all="ignore"):
        value = expression(0)
    assert tokens == [(0, "")]
    return value


@pytest.mark.parametrize(
    ("formula", "value"),
    [("=-2^2", 4), ("=2^3^2", 64), ("=2--3", 5), ("=1-2-3", -4), ("=2^-1", 0.5), ("=-(2^2)", -4), ("=8/2/2*3", 6)],
)
def test_the_rules_are_a_spreadsheets(formula, value):
    assert spreadsheet(formula) == value


@pytest.mark.parametrize("problem", load(), ids=lambda problem: problem.name)
def test_the_papers_formulas(problem):
    data = problem.sample(16)
    cells = {f"{letter}2": column for letter, column in zip("ABC", data.X.T, strict=False)}
    np.testing.assert_allclose(spreadsheet(to_excel(problem.formula), **cells), data.y, rtol=1e-12, atol=1e-15)


@given(expressions())
def test_a_cell_computes_what_evaluate_does(tree):
    cells = {f"{letter}2": COLUMNS[name] for letter, name in zip("ABC", NAMES, strict=True)}
    got = spreadsheet(to_excel(tree, names=NAMES), **cells)
    assert not differ(np.broadcast_to(got, POINTS), *comparable(tree))


@pytest.mark.parametrize("name", [name for name in OPERATORS if name.isidentifier()])
def test_another_program_knows_every_function(name):
    formulas = pytest.importorskip("formulas")
    tree = Apply(OPERATORS[name], tuple(Variable(letter) for letter in "xy"[: OPERATORS[name].arity]))
    function = formulas.Parser().ast(to_excel(tree))[1].compile()
    for x, y in ((0.3, 0.7), (0.9, 0.2)):
        expected = evaluate(tree, {"x": np.array([x]), "y": np.array([y])}).values[0]
        assert float(function(*(x, y)[: OPERATORS[name].arity])) == pytest.approx(expected, rel=1e-9)


def test_another_program_agrees():
    formulas = pytest.importorskip("formulas")
    for problem in load():
        data = problem.sample(2)
        function = formulas.Parser().ast(to_excel(problem.formula))[1].compile()
        places = [ord(cell[0]) - ord("A") for cell in function.inputs]
        for row, value in zip(data.X, data.y, strict=True):
            assert float(function(*row[places])) == pytest.approx(value, rel=1e-9), problem.name


CELLS = [
    ("-x**2", "=-(A2^2)"),
    ("(-x)**2", "=(-A2)^2"),
    ("-x**2*y", "=-(A2^2)*B2"),
    ("x - y**2", "=A2-B2^2"),
    ("x**y**2", "=A2^(B2^2)"),
    ("(x**y)**2", "=(A2^B2)^2"),
    ("x**(-2)", "=A2^(-2)"),
    ("x**(-y)", "=A2^(-B2)"),
    ("x**(1/3)", "=A2^(1/3)"),
    ("(-2)**x", "=(-2)^A2"),
    ("-(2)", "=-(2)"),
    ("x - (-2)", "=A2-(-2)"),
    ("x*(-2.5)", "=A2*(-2.5)"),
    ("-2*x", "=-2*A2"),
    ("x/(y*x)", "=A2/(B2*A2)"),
    ("exp(x)**2", "=EXP(A2)^2"),
    ("sqrt(x**2)*pi", "=SQRT(A2^2)*PI()"),
    ("log(abs(x)) + tanh(cos(sin(y)))", "=LN(ABS(A2))+TANH(COS(SIN(B2)))"),
    ("inv(x)/id(y)", "=1/A2/B2"),
    ("max(x, -y)*erf(x/2)", "=MAX(A2,-B2)*ERF(A2/2)"),
    ("atan(asin(x)) - min(2, cosh(y))", "=ATAN(ASIN(A2))-MIN(2,COSH(B2))"),
    ("-inv(x)", "=-(1/A2)"),
    ("x**3 + 1e-5*x", "=A2^3+1E-05*A2"),
    ("1e22*x + 2.0*y", "=1E+22*A2+2*B2"),
    ("0.1*x", "=0.1*A2"),
    ("0.30000000000000004*x", "=0.30000000000000004*A2"),
]


@pytest.mark.parametrize(("text", "cell"), CELLS, ids=[text for text, _ in CELLS])
def test_the_text_of_a_cell(text, cell):
    assert to_excel(parse(text)) == cell


def test_every_digit_is_written():
    rng = np.random.default_rng(0)
    for value in (*rng.normal(size=20) * 10.0 ** rng.integers(-300, 300, 20), 1e16, -1e-300, 5e-324, 123456789.5):
        assert spreadsheet(to_excel(Constant(float(value)))) == value


def test_references():
    tree = parse("mass*speed**2/2")
    assert to_excel(tree) == "=A2*B2^2/2"
    assert to_excel(tree, names=["t", "speed", "mass"]) == "=C2*B2^2/2"
    assert to_excel(tree, {"mass": "$B$1", "speed": "'My sheet'!C7", "more": "D1"}) == "=$B$1*'My sheet'!C7^2/2"
    assert to_excel(tree, {"mass": "[@mass]", "speed": " v "}) == "=[@mass]*v^2/2"
    assert to_excel(parse("sin(x)"), {"x": "'to do ('!A1"}) == "=SIN('to do ('!A1)"
    names = [f"c{i}" for i in range(16384)]
    for place, letters in ((25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA"), (16383, "XFD")):
        assert to_excel(Variable(f"c{place}"), names=names) == f"={letters}2"
    with pytest.raises(ExportError, match="a sheet of Excel has 16,384 columns"):
        to_excel(Variable("x"), names=[*names, "x"])
    with pytest.raises(ValueError, match="cells must have each variable of the formula, got mass without 'speed'"):
        to_excel(tree, {"mass": "A1"})
    with pytest.raises(ValueError, match="cells must be references such as 'A2', got '' for 'speed'"):
        to_excel(tree, {"mass": "A1", "speed": ""})


def test_the_limits_of_excel():
    tree = Variable("x")
    for _ in range(2729):
        tree = tree + Variable("x")
    assert len(to_excel(tree)) == 8190
    tree = tree + Variable("x")
    with pytest.raises(ExportError, match="has 8,193 characters in Excel, which takes 8,192"):
        to_excel(tree)
    deep = Variable("x")
    for _ in range(64):
        deep = apply("sin", deep + 1) * 2
    assert spreadsheet(to_excel(deep), A2=0.5) == pytest.approx(evaluate(deep, {"x": np.array([0.5])}).values[0])
    with pytest.raises(ExportError, match="functions in functions 65 deep, of which Excel takes 64"):
        to_excel(apply("exp", deep))
