"""Formulas as Python: an expression, and a function that stands alone."""

import ast
import math
import warnings

import numpy as np
import pytest
import scipy.special
from hypothesis import given

from benchmarks.problems import load
from prunesymnet.export.python import to_function, to_python
from prunesymnet.expression import Variable, apply, evaluate, parse
from samples import COLUMNS, NAMES, POINTS, comparable, differ
from strategies import expressions


def run(code, **names):
    """The value of a Python expression that this test had printed."""
    known = {"abs": abs, "max": max, "min": min, "np": np, "math": math, "scipy": scipy}
    with np.errstate(all="ignore"):
        return eval(code, {"__builtins__": {}, **known, **names})  # noqa: S307


# An expression


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
        ("tan(x)/cosh(x - 1)", "math.tan(x)/math.cosh(x - 1)"),
    ],
)
def test_python_text(text, code):
    assert to_python(parse(text)) == code
    assert to_python(parse(text), module="np") == code.replace("math", "np")


@pytest.mark.parametrize(
    ("text", "numbers", "arrays"),
    [
        ("asin(x)", "math.asin(x)", "np.arcsin(x)"),
        ("acos(x) + atan(x)", "math.acos(x) + math.atan(x)", "np.arccos(x) + np.arctan(x)"),
        ("max(x, -min(y, 2))", "max(x, -min(y, 2))", "np.maximum(x, -np.minimum(y, 2))"),
        ("erf(x)", "math.erf(x)", "scipy.special.erf(x)"),
    ],
)
def test_python_text_that_is_another_for_arrays(text, numbers, arrays):
    assert to_python(parse(text)) == numbers
    assert to_python(parse(text), module="np") == arrays
    assert to_python(parse(text), module="numpy") == arrays.replace("np.", "numpy.")


def test_python_text_with_fewer_digits():
    assert to_python(parse("0.123456*x**2.0 + 1e-7"), digits=3) == "0.123*x**2 + 1e-07"


# A function


def function(text, name="formula"):
    """The function that a text defines, in an empty module."""
    scope = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(text, name, "exec"), scope)  # noqa: S102 - a text that this test had printed
    return scope[name]


@pytest.mark.parametrize("problem", load(), ids=lambda problem: problem.name)
def test_a_function_computes_the_papers_formulas(problem):
    data = problem.sample(16)
    f = function(to_function(problem.formula))
    np.testing.assert_allclose([f(*row) for row in data.X.tolist()], data.y, rtol=1e-12, atol=1e-15)


@given(expressions())
def test_a_function_computes_what_evaluate_does(tree):
    known = comparable(tree)
    f = function(to_function(tree, NAMES))
    got = np.array([f(*(float(COLUMNS[name][k]) for name in NAMES)) for k in range(POINTS)])  # never raises
    assert not differ(got, *known)
    # Where both are finite, both are; numpy may be inf where this is nan, at a pole.
    values = evaluate(tree, COLUMNS).values
    assert not (np.isinf(got) & np.isfinite(values)).any()
    assert not (np.isfinite(got) & np.isnan(values)).any()


INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("text", "x", "value"),
    [
        ("x**(1/3)", -8.0, NAN),  # a complex number in Python
        ("x**(1/3)", 8.0, 2.0),
        ("x**0.5", -1.0, NAN),
        ("sqrt(x)", -1.0, NAN),
        ("log(x)", -1.0, NAN),
        ("log(x)", 0.0, NAN),  # numpy: -inf
        ("1/x", 0.0, NAN),  # numpy: inf
        ("inv(x)", 0.0, NAN),
        ("x**(-2)", 0.0, NAN),
        ("exp(x)", 1000.0, INF),
        ("exp(-x)", 1000.0, 0.0),
        ("1/(1 + exp(x))", 1000.0, 0.0),
        ("-exp(x)", 1000.0, -INF),
        ("exp(x) - exp(x)", 1000.0, NAN),
        ("tanh(exp(x))", 1000.0, 1.0),
        ("sin(exp(x))", 1000.0, NAN),
        ("x**2", -1e200, NAN),
        ("x**3", -1e200, NAN),
        ("exp(-x**2)", 1e20, 0.0),
        ("x**(-3)", -1e-200, -INF),
        ("x**(-4)", -1e-200, INF),
        ("x**2.5", 1e200, INF),
        ("x*x", 1e200, INF),
        ("7**x", 900.0, INF),
        ("9007199254740992**2*x", 2.0, 2.0**107),
        ("sinh(x)", -1000.0, -INF),
        ("cosh(x)", -1000.0, INF),
        ("asin(x)", 1.5, NAN),
        ("acos(x)", 1.0, 0.0),
        ("erf(x)", -1000.0, -1.0),
        ("max(x, exp(x) - exp(x))", 1000.0, NAN),
        ("max(exp(x) - exp(x), x)", 1000.0, NAN),
        ("min(x, exp(x) - exp(x))", 1000.0, NAN),
        ("min(exp(x) - exp(x), x)", 1000.0, NAN),
        ("max(x, 2)", 1.0, 2.0),
        ("min(x + 1, 2)", 0.5, 1.5),
        ("x + 1", NAN, NAN),
        ("x**0", NAN, 1.0),
        ("abs(x)", -2.0, 2.0),
    ],
)
def test_a_function_at_the_edge(text, x, value):
    got = function(to_function(parse(text)))(x)
    assert got == value or (math.isnan(got) and math.isnan(value))


def test_what_a_function_looks_like():
    text = to_function(parse("1.23456*x**2/y"), ["y", "x", "t"], name="law", target="mass", digits=3)
    assert text == (
        "import math\n\n\n"
        "def law(y: float, x: float, t: float) -> float:\n"
        '    """mass = 1.23*x**2/y\n\n'
        "    nan where it is not defined.\n"
        '    """\n'
        "    try:\n"
        "        return 1.23*x**2/y\n"
        "    except (ArithmeticError, ValueError):\n"
        "        return math.nan\n"
    )
    assert function(text, "law")(2.0, 4.0, NAN) == 9.84
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert [alias.name for node in imports for alias in node.names] == ["math"]
    assert "_or_inf" not in text


def test_a_function_of_nothing():
    assert function(to_function(parse("2*pi")))() == 2 * math.pi


@pytest.mark.parametrize(
    ("names", "arguments"),
    [
        (["math", "abs", "x"], ["math_", "abs_", "x"]),
        (["_or_inf", "_power", "ValueError"], ["_or_inf_", "_power_", "ValueError_"]),
        (["math_", "math", "x"], ["math_", "math__", "x"]),
        (["x", "mass (kg)", "mass__kg_", "2nd", ""], ["x", "mass__kg__", "mass__kg_", "v2nd", "v"]),
        (["class", "None", "__debug__"], ["class_", "None_", "__debug___"]),
        (["\N{MICRO SIGN}", "\N{GREEK SMALL LETTER MU}"], ["μ_", "μ"]),  # one name to Python
        (["द्रव्यमान", "Größe", "t1"], ["द्रव्यमान", "Größe", "t1"]),
        (["formula", "float", "print"], ["formula", "float", "print"]),
    ],
)
def test_names_of_arguments(names, arguments):
    tree = parse("0")
    for place, name in enumerate(names):
        if name.isidentifier() and name not in ("class", "None", "abs"):
            tree = apply("+", tree, apply("*", 10**place, apply("abs", apply("pow", Variable(name), 1))))
    text = to_function(tree, names)
    f = function(text)
    assert list(f.__code__.co_varnames[: f.__code__.co_argcount]) == arguments
    row = [0.5 + place for place in range(len(names))]
    assert f(*row) == evaluate(tree, {name: np.array([v]) for name, v in zip(names, row, strict=True)}).values[0]
    for name, argument in zip(names, arguments, strict=True):
        assert (f"{argument}: the column {name!r}." in f.__doc__) == (name != argument)


@pytest.mark.parametrize("target", ['a"""b', "back\\slash", 'ends in "', "two\nlines", "\\N{x}"])
def test_any_target_fits_into_the_docstring(target):
    f = function(to_function(parse("x + 1"), target=target))
    assert f(1.0) == 2.0
    assert f.__doc__.startswith(f"{' '.join(target.split())} = x + 1\n")


@pytest.mark.parametrize("name", ["", "2f", "class", "math", "a b", None])
def test_names_of_functions_that_are_refused(name):
    with pytest.raises(ValueError, match="name must be a Python identifier"):
        to_function(parse("x"), name=name)


@pytest.mark.parametrize("grow", ["sin", "+", "-"])
def test_a_deep_function(grow):
    """Deeper than Python's parser goes: the parts get names, which are no column's."""
    tree = t1 = Variable("t1")
    for _ in range(2000):
        tree = apply("sin", tree) if grow == "sin" else apply("+", tree, 1) if grow == "+" else apply("-", 1, tree)
    f = function(to_function(tree))
    assert f(0.5) == pytest.approx(evaluate(tree, {"t1": np.array([0.5])}).values[0], rel=1e-12)
    assert t1.name in to_function(tree)


EDGES = [0.0, -0.0, 0.5, -1.0, 2.5, -2.5, 1.4e154, -1.4e154, 1e200, 1e-200, 1e308, 5e-324, 710.0, -710.0]


@pytest.mark.parametrize(
    "text",
    [
        "exp(-x**2)", "1/(1/x)", "exp(-1/x**2)", "exp(-1/x)", "tanh(1/x)", "1/(1 + 1/x)", "x/(1 + x**2)",
        "exp(2*log(x))", "1/log(x)", "1/x**3", "x**(-3)", "exp(-x**3)", "atan(1/x)", "1/x**(-1.5)", "max(1/x, 2)",
        "sqrt(x**2 + 1)", "x**2/(1 + y**2)", "exp(-x**2/y)", "1/(exp(x) - 1)", "erf(1/x)", "x**(1/y)", "abs(x)**y",
        "1/sinh(x)", "inv(inv(x))", "1/cube(x)", "exp(-exp(x))", "min(log(x), y)", "x**2 + 1/y", "log(x)*y",
    ],
)  # fmt: skip
def test_at_the_edges_the_function_has_the_values_of_predict(text):
    tree, names = parse(text), {}
    exec(to_function(tree, ["x", "y"]), names)  # noqa: S102
    x, y = (grid.ravel() for grid in np.meshgrid(EDGES, EDGES))
    with np.errstate(all="ignore"):
        expected = evaluate(tree, {"x": x, "y": y}).values
    found = np.array([names["formula"](*point) for point in zip(x.tolist(), y.tolist(), strict=True)])
    expected, found = (np.where(np.isfinite(values), values, np.nan) for values in (expected, found))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["a\0b", "a\nb", "half \ud800", "tab\there", 'quote """ \\'])
def test_any_name_of_a_target_or_a_column_makes_a_function(name):
    text = to_function(Variable("x") + 1, ["x", name], target=name)
    names = {}
    exec(compile(text.encode().decode(), "<formula>", "exec"), names)  # noqa: S102
    assert names["formula"](2.0, 0.0) == 3.0


def test_what_is_simple_stays_as_one_writes_it():
    text = to_function(parse("x**2/2 + 1/sqrt(x) + log(x)"))
    assert "return x**2/2 + 1/math.sqrt(x) + math.log(x)" in text
