"""Reading formulas: Python's arithmetic and nothing else, whatever the text."""

import ast
import math
import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prunesymnet.errors import ParseError
from prunesymnet.expression import Apply, Constant, Expression, Variable, apply, canonical, evaluate, parse, to_text
from prunesymnet.operators import OPERATORS, make_operator
from strategies import expressions, odd_leaf

x, y = Variable("x"), Variable("y")
POINT = {"x": 1.7, "y": 0.6}


def value(text):
    columns = {name: np.array([number]) for name, number in POINT.items()}
    return float(evaluate(parse(text), columns).values[0])


def by_python(text):
    """What Python makes of the text: it is one that this test wrote."""
    names = ("sin", "cos", "exp", "log", "sqrt", "tanh", "pi", "tan", "atan", "erf")
    functions = {name: getattr(math, name) for name in names}
    known = {"__builtins__": {}, "abs": abs, "pow": pow, "max": max, "min": min, **functions, **POINT}
    return eval(f"({text.replace('^', '**')})", known)  # noqa: S307


# Text and tree


@given(expressions(leaves=odd_leaf, max_leaves=12))
@example(Apply(OPERATORS["neg"], (Constant(2),)))
@example(Apply(OPERATORS["neg"], (Constant(-2.5),)))
@example(Apply(OPERATORS["pow"], (Constant(-2), Constant(2))))
@example(Apply(OPERATORS["pow"], (Constant(2), Constant(-2))))
@example(Apply(OPERATORS["neg"], (Constant(2) ** 2,)))
@example(Apply(OPERATORS["neg"], (Constant(1e-5) ** x,)))
@example((-x) ** 2 * -(y**2) - (-x) - -Constant(3))
def test_the_text_of_a_tree_is_read_back_as_that_tree(tree):
    assert parse(to_text(tree)) == tree
    assert parse(str(tree), variables=tree.variables) == tree


@pytest.mark.parametrize(
    "text",
    [
        "x + y*x", "(x + y)*x", "x - y - x", "x - (y - x)", "x/y/x", "x/(y/x)", "x/y*x", "x*y/x", "x - y + x",
        "-x**2", "(-x)**2", "-x*y", "-x/y", "x*-y", "x/-y", "x--y", "x - -y", "x + -y", "x+-+-y", "--x", "---x",
        "+x", "-+x", "+-x", "x**-y", "x**-y**2", "x**+y", "x**--y", "-x**-y", "2**-x*3", "2**-x**2*3", "-2**2",
        "(-2)**2", "-2.5**2", "2**-2", "2**-2**2", "-2**-2", "x**y**2", "(x**y)**2", "x**2**3", "(x**2)**3",
        "x**y*x", "x*y**2", "x/y**2", "-x - -x**2 - -2", "2 - 2", "2 -2", "2-2", "2--2", "x-2", "x -2*y",
        "-2*x", "-2*x**2", "- 2", "-(2)", "-(2)**2", "(-2)", "((x))", "( x+(y) )*x", "sin(x)**2", "-sin(x)",
        "sin(-x)", "sin(x)*cos(y)", "pow(x, y)", "pow(x, 2)", "pow(x + 1, -y)**2", "abs(-x)", "sqrt(x)/log(y)",
        "exp(-x**2)", "tanh(x - y)", "2*pi*x", "pi**2", "-pi", "1e-5*x", "1E5*x", "1e+5", ".5*x", "5.*x",
        "5.e1", ".5e-1", "0.1e1", "1 / 3", "1/3*x", "007.5", "x ^ 2", "-x^2", "2^-x", "x^y^2", "x^y**2",
        "max(x, y)**2 - min(-x, 2)", "tan(x)*atan(erf(-y))",
        "\tx\n+ y ", "  x", "x\r\n", "x*2**y", "2*x**y - 3*y/x**2/y",
    ],
)  # fmt: skip
def test_formulas_mean_what_they_mean_in_python(text):
    assert value(text) == pytest.approx(by_python(text), rel=1e-13)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("-2", Constant(-2)),
        ("-2.5", Constant(-2.5)),
        ("- 2", Constant(-2)),
        ("-(2)", apply("neg", 2)),
        ("--2", apply("neg", -2)),
        ("-2**2", apply("neg", Constant(2) ** 2)),
        ("-2^2", apply("neg", Constant(2) ** 2)),
        ("(-2)**2", Constant(-2) ** 2),
        ("2**-2", Constant(2) ** -2),
        ("x - 2", x - 2),
        ("x + -2", x + -2),
        ("-2*x", -2 * x),
        ("-x*y", (-x) * y),
        ("-0.0", Constant(-0.0)),
        ("-0", Constant(0)),
        ("x**2", apply("square", x)),
        ("x^3", apply("cube", x)),
        ("x**2.0", apply("pow", x, 2.0)),
        ("pow(x, 2)", apply("pow", x, 2)),
        ("x**-2", apply("pow", x, -2)),
        ("x**(2)", apply("square", x)),
        ("+x", x),
        ("neg(x)", -x),
        ("id(x)", apply("id", x)),
        ("pi", apply("pi")),
        ("e", Variable("e")),
        ("3", Constant(3)),
        ("3.0", Constant(3.0)),
        ("3.", Constant(3.0)),
        ("3e0", Constant(3.0)),
        (".5", Constant(0.5)),
        ("1e-5", Constant(1e-5)),
        ("1E-5", Constant(1e-5)),
        ("1e-999", Constant(0.0)),
        ("007", Constant(7)),
        ("9007199254740992", Constant(2**53)),
        ("-9007199254740992", Constant(-(2**53))),
        ("9007199254740993.0", Constant(2.0**53)),
        ("1.7976931348623157e308", Constant(1.7976931348623157e308)),
    ],
)
def test_the_tree_of_a_text(text, tree):
    assert parse(text) == tree


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_is_read_to_the_last_bit(number):
    assert parse(repr(number)) == Constant(number)
    for text in (f"{number:.17e}", f"{number:+.17e}"):
        assert parse(text) == Constant(number)


def test_names():
    for name in (
        "x1",
        "_",
        "_x",
        "mass_kg",
        "é",
        "e\u0301",
        "α",
        "Größe",
        "質量",
        "द्रव्यमान",
        "E",
        "e5",
        "x_²"[:2],
    ):
        assert parse(name) == Variable(name)
        assert parse(f"sin({name})*2 + {name}**2") == apply("sin", Variable(name)) * 2 + Variable(name) ** 2
        assert parse(name, variables=[name]) == Variable(name)
    assert parse("α+β").variables == ("α", "β")


def test_users_operators_are_read():
    row = make_operator("sinc", np.sinc)
    assert parse("2*sinc(x)", operators=[row]) == 2 * apply(row, x)
    assert parse("2*sinc(x)", operators={"sinc": row}) == 2 * apply(row, x)
    assert parse("sinc + 1") == Variable("sinc") + 1
    with pytest.raises(ParseError, match="'sinc' is an operator"):
        parse("sinc + 1", operators=[row])


# Errors

ERRORS = [
    # text, what the message says, the column (from 1) that it points at
    ("", "the formula is empty", 1),
    ("   ", "the formula is empty", 1),
    ("x +", "the formula ends where an operand is due", 4),
    ("x +  ", "the formula ends where an operand is due", 4),
    ("-", "the formula ends where an operand is due", 2),
    ("(", "the formula ends where an operand is due", 2),
    ("sin(", "the formula ends where an operand is due", 5),
    ("x + * y", "expected an operand before '*'", 5),
    ("*x", "expected an operand before '*'", 1),
    ("x */ y", "expected an operand before '/'", 4),
    ("x***y", "expected an operand before '*'", 4),
    ("x//y", "expected an operand before '/'", 3),
    ("x + ()", "expected an operand before ')'", 6),
    ("()", "expected an operand before ')'", 2),
    ("sin()", "expected an operand before ')'", 5),
    ("pow(x,)", "expected an operand before ')'", 7),
    ("pow(,x)", "expected an operand before ','", 5),
    (")", "expected an operand before ')'", 1),
    ("2x", "expected an operator before 'x' (a product needs its *)", 2),
    ("2 x", "expected an operator before 'x'", 3),
    ("x y", "expected an operator before 'y'", 3),
    ("x 2", "expected an operator before '2'", 3),
    ("2(x)", "expected an operator before '('", 2),
    ("(x)(y)", "expected an operator before '('", 4),
    ("(x)y", "expected an operator before 'y'", 4),
    ("1.5.2", "expected an operator before '.2'", 4),
    ("1_000", "expected an operator before '_000'", 2),
    ("0x10", "expected an operator before 'x10'", 2),
    ("2j", "expected an operator before 'j'", 2),
    ("1e", "expected an operator before 'e'", 2),
    ("1e+", "expected an operator before 'e'", 2),
    ("pi x", "expected an operator before 'x'", 4),
    ("x + (y", "this parenthesis is never closed", 5),
    ("sin(x", "this parenthesis is never closed", 1),
    ("((x)", "this parenthesis is never closed", 1),
    ("x)", "this parenthesis was never opened", 2),
    ("x + y) - (x", "this parenthesis was never opened", 6),
    ("x, y", "a comma may only stand between the operands of a function", 2),
    ("(x, y)", "a comma may only stand between the operands of a function", 3),
    ("sin((x, y))", "a comma may only stand between the operands of a function", 7),
    ("pow(x, (y, x))", "a comma may only stand between", 10),
    ("2 + sin(x, y)", "'sin' takes 1 operand(s), got 2", 5),
    ("pow(x)", "'pow' takes 2 operand(s), got 1", 1),
    ("x*pow(x, y, 2)", "'pow' takes 2 operand(s), got 3", 3),
    ("x + expo(y)", "unknown function 'expo'; did you mean 'exp'?", 5),
    ("f(x)", "unknown function 'f'", 1),
    ("x(y)", "unknown function 'x'", 1),
    ("pi()", "'pi' is a number: write it without parentheses", 1),
    ("1 + sin", "'sin' is an operator: write its operand in parentheses", 5),
    ("sin*2", "'sin' is an operator", 1),
    ("sin x", "'sin' is an operator", 1),
    ("9007199254740993", "a whole number must be at most 2**53; write a larger one as 1.0e20", 1),
    ("x - 9007199254740993", "a whole number must be at most 2**53", 5),
    ("-9007199254740993", "a whole number must be at most 2**53", 2),
    ("1" * 5000, "a whole number must be at most 2**53", 1),
    ("1e999", "this number is too large", 1),
    ("x*-1e999", "this number is too large", 4),
    ("x = 1", "'=' has no meaning in a formula", 3),
    ("x=1", "'=' has no meaning", 2),
    ("x;y", "';' has no meaning", 2),
    ("[x]", "'[' has no meaning", 1),
    ("{x}", "'{' has no meaning", 1),
    ("x[0]", "an index must be the name of a column in brackets, as in a", 2),
    ("x[site", "an index must be the name of a column in brackets, as in a", 2),
    ("[site]", "'[' has no meaning", 1),
    ("x.__class__", "'.' has no meaning", 2),
    (".", "'.' has no meaning", 1),
    ("x.", "'.' has no meaning", 2),
    ("__import__('os')", '"\'" has no meaning', 12),
    ('"a"', "'\"' has no meaning", 1),
    ("lambda: 0", "':' has no meaning", 7),
    ("x if y else y", "expected an operator before 'if'", 3),
    ("x and y", "expected an operator before 'and'", 3),
    ("not x", "'not' is a word of Python's own", 1),
    ("2*lambda", "'lambda' is a word of Python's own", 3),
    ("x @ y", "'@' has no meaning", 3),
    ("x % y", "'%' has no meaning", 3),
    ("~x", "'~' has no meaning", 1),
    ("x < y", "'<' has no meaning", 3),
    ("x # y", "'#' has no meaning", 3),
    ("x\\\ny", "'\\\\' has no meaning", 2),
    ("x\0", "'\\x00' has no meaning", 2),
    ("\0x", "'\\x00' has no meaning", 1),
    ("x²", "'²' has no meaning in a formula", 2),
    ("² + x", "'²' has no meaning", 1),
    ("2²", "'²' has no meaning", 2),
    ("x + ½", "'½' has no meaning", 5),
    ("x·y", "'·' has no meaning", 2),
    ("x × y", "'×' has no meaning", 3),
    ("x − y", "'−' has no meaning", 3),
    ("α−y", "'−' has no meaning", 2),
    ("x\u0301\u200dy", "'\\u200d' has no meaning", 3),
    ("🙂", "'🙂' has no meaning", 1),
    ("x\ud800", "'\\ud800' has no meaning", 2),
]


@pytest.mark.parametrize(("text", "problem", "column"), ERRORS, ids=[repr(text)[:20] for text, _, _ in ERRORS])
def test_errors_point_at_their_column(text, problem, column):
    with pytest.raises(ParseError) as caught:
        parse(text)
    error = caught.value
    assert error.problem.startswith(problem)
    assert (error.text, error.column) == (text, column - 1)
    first, shown, mark = str(error).split("\n")
    assert first == f"{error.problem}, at column {column}:"
    assert mark.endswith("^")
    if column <= len(text) and text[column - 1].isprintable():
        assert shown[len(mark) - 1] == text[column - 1]
    assert isinstance(error, ValueError)


def test_variables_limit_the_names():
    assert parse("a*x", variables=("a", "x")) == Variable("a") * x
    with pytest.raises(ParseError, match="unknown variable 'b'; the variables are a, x, at column 5"):
        parse("a + b*x", variables=("a", "x"))
    with pytest.raises(ParseError, match="unknown variable 'x'"):
        parse("x", variables=[])


@pytest.mark.parametrize("text", [None, 3, b"x", ["x"], x])
def test_only_text_is_read(text):
    with pytest.raises(TypeError, match="a formula must be text, got"):
        parse(text)


# Hostile texts


@pytest.mark.parametrize(("text", "word"), [("2*exp[z]", "exp"), ("pi[z]", "pi"), ("x + lambda[z]", "lambda")])
def test_what_has_an_index_must_be_a_name(text, word):
    with pytest.raises(ParseError, match=f"'{word}' is .*needs another name") as problem:
        parse(text)
    assert problem.value.column == text.index(word)


def test_what_was_read_can_be_read_again_however_deep_it_is():
    for text in ("-" * 1000 + "x", "1/(-" * 450 + "x" + ")" * 450):
        assert parse(to_text(parse(text))) == parse(text)
    with pytest.raises(ParseError, match="1,000 operations inside one another"):
        parse("-" * 1002 + "x")


def test_size():
    with pytest.raises(ParseError, match="a formula may have 1,000,000 characters, this text has 10,000,000"):
        parse("(" * 10_000_000)
    assert parse("x" + " " * 999_999) == x
    with pytest.raises(ParseError, match="may have 1,000,000 characters"):
        parse("x" + " " * 1_000_000)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("(" * 1_000 + "x" + ")" * 1_000, 1),
        ("sin(" * 1_000 + "x" + ")" * 1_000, 1_001),
        ("-" * 1_000 + "x", 1_001),
        ("+" * 9_000 + "x", 1),
        ("x**" * 1_000 + "x", 2_001),
        ("x-" * 24_999 + "x", 49_999),
        ("x*(" * 500 + "x" + ")" * 500, 1_001),
    ],
    ids=["parentheses", "calls", "minus", "plus", "powers", "differences", "products"],
)
def test_much_nesting_is_read_and_simplified(text, size):
    tree = parse(text)
    assert tree.size == size
    canonical(tree)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("sin(" * 50_000 + "x" + ")" * 50_000, "may have 50,000 symbols, this text has 50,001"),
        ("-" * 99_999 + "x", "may have 50,000 symbols, this text has 100,000"),
        ("x+" * 30_000 + "x", "may have 50,000 symbols"),
        ("sin(" * 2_000 + "x" + ")" * 2_000, "may have 1,000 operations inside one another"),
        ("(" * 100_000 + "x" + ")" * 100_000, "may have 1,000 operations inside one another"),
        ("-" * 2_000 + "x", "may have 1,000 operations inside one another"),
    ],
)
def test_what_nobody_would_write_is_refused(text, problem):
    with pytest.raises(ParseError, match=problem):
        parse(text)


def test_ln_is_log():
    assert parse("ln(x) + 2*ln(ln)") == parse("log(x) + 2*log(ln)")
    own = make_operator("ln", lambda x: x + 1)
    assert parse("ln(x)", operators=[own]).operator is own


def test_bad_texts_are_refused():
    for text in (
        "(" * 100_000,
        "x" * 100_000 + "²",
        "é" * 100_000 + "²",
        " " * 100_000 + "$",
        "1" * 100_000,
        "x y " * 9999,
    ):
        with pytest.raises(ParseError):
            parse(text)


def read(text):
    """The tree or None; anything else but a ParseError is a failure."""
    try:
        tree = parse(text)
    except ParseError as error:
        assert 0 <= error.column <= len(text)  # noqa: PT017
        return None
    assert isinstance(tree, Expression)
    assert parse(to_text(tree)) == tree
    return tree


@pytest.mark.parametrize("text", ["٣", "1٣", "٣.٣e٣", "__class__", "__import__", "exec", "x\u00a0+\u2003y"])
def test_odd_texts_that_are_harmless(text):
    assert read(text) is not None


@given(st.text())
def test_any_text_is_read_or_refused(text):
    read(text)


@given(st.text(alphabet="x1e.+-*/^(), sin²é٣\u0301\0"))
def test_any_text_of_formula_characters_is_read_or_refused(text):
    read(text)


KNOWN = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Name, ast.Constant, ast.Call, ast.Load,
         ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.USub, ast.UAdd)  # fmt: skip
token = st.sampled_from(["x", "y", "2.0", "0.5", "+", "-", "-", "*", "/", "**", "(", ")", " ", "sin("])


def python_tree(text):
    """Python's own tree of the text, or None if it is not made of our arithmetic."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if not isinstance(node, KNOWN):
            return None
        if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id == "sin" and node.args):
            return None
    return tree


@given(st.lists(token, max_size=14).map("".join))
@example("-x**-x**2.0*y")
@example("x(y)")
@example("x//y")
@example("2.0x")
@example("sin(x)sin(x)")
def test_the_grammar_is_pythons(text):
    tree = read(text)
    assert (tree is not None) == (python_tree(text.strip()) is not None)
    if tree is None or not set(tree.variables) <= set(POINT):
        return
    try:
        expected = by_python(text)
    except (ArithmeticError, TypeError):  # 1/0, an overflow, the sine of a complex number
        return
    if isinstance(expected, float) and abs(expected) < 1e6:
        assert value(text) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_an_error_can_be_passed_between_processes():
    with pytest.raises(ParseError) as caught:
        parse("x + * y")
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - our own
    assert (str(again), again.column, again.text) == (str(caught.value), 4, "x + * y")
