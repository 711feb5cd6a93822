"""Formulas as C functions, compiled and run."""

import ctypes
import math
import re
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.problems import load
from prunesymnet.export.c import to_c
from prunesymnet.expression import Constant, Variable, apply, evaluate, parse
from samples import COLUMNS, NAMES, POINTS, comparable, differ
from strategies import expressions, odd_leaf

COMPILER = shutil.which("gcc") or shutil.which("cc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler here")
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-O2", "-shared", "-fPIC"]


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Compile many functions at once: (trees, their columns, or None for each one's own) -> functions."""

    def compiled(trees, names=None):
        folder = tmp_path_factory.mktemp("c")
        columns = [tree.variables if names is None else names for tree in trees]
        texts = [to_c(tree, own, name=f"f{i}") for i, (tree, own) in enumerate(zip(trees, columns, strict=True))]
        (folder / "formulas.c").write_text("\n".join(texts), encoding="utf-8")
        subprocess.run(
            [COMPILER, *FLAGS, "-o", folder / "formulas.so", folder / "formulas.c", "-lm"], check=True, timeout=120
        )
        library = ctypes.CDLL(str(folder / "formulas.so"))
        functions = [library[f"f{i}"] for i in range(len(trees))]
        for function, own in zip(functions, columns, strict=True):
            function.argtypes, function.restype = [ctypes.c_double] * len(own), ctypes.c_double
        return functions

    return compiled


def test_the_papers_formulas(build):
    problems = load()
    for problem, function in zip(problems, build([problem.formula for problem in problems]), strict=True):
        data = problem.sample(16)
        got = [function(*row) for row in data.X.tolist()]
        np.testing.assert_allclose(got, data.y, rtol=1e-12, atol=1e-15, err_msg=problem.name)


@settings(max_examples=4)
@given(st.lists(expressions(), min_size=40, max_size=40))
def test_functions_compute_what_evaluate_does(build, trees):
    rows = list(zip(*(COLUMNS[name].tolist() for name in NAMES), strict=True))
    for tree, function in zip(trees, build(trees, NAMES), strict=True):
        got = np.array([function(*row) for row in rows])
        assert not differ(got, *comparable(tree)), tree
        assert len(got) == POINTS


@settings(max_examples=4)
@given(st.lists(expressions(leaves=odd_leaf), min_size=40, max_size=40))
def test_whatever_the_names_and_the_numbers_it_compiles(build, trees):
    build(trees)


def test_literals_keep_every_bit(build):
    values = [
        0.1,
        1 / 3,
        -0.0,
        5e-324,
        2.2250738585072014e-308,
        1.7976931348623157e308,
        1e16,
        123456789.123456789,
        -1e-5,
    ]
    for value, function in zip(values, build([Constant(value) for value in values]), strict=True):
        assert repr(function()) == repr(value)
    whole = [2**53, -(2**53), 0, 7]
    assert [function() for function in build([Constant(value) for value in whole])] == whole
    thirds = build([parse("1/3"), parse("x*(1/3)"), parse("inv(3)"), parse("7/2/2")])
    assert [thirds[0](), thirds[1](3.0), thirds[2](), thirds[3]()] == [1 / 3, 1.0, 1 / 3, 1.75]


def test_precedence(build):
    texts = [
        "x - (y - z)", "x - y - z", "x/(y/z)", "x/y/z", "x/(y*z)", "x*(y/z)", "-(x*y)", "-x*y", "-(x + y)", "-(-x)",
        "-x**2", "(-x)**2", "x**(-2)", "x**y**z", "(x**y)**z", "x - (-2)", "x*(-2.5)", "x + (-y*z)", "(x + y)*(x - y)",
        "inv(x + y)/inv(z)", "x/inv(y*z)", "id(x + y)*z", "-(2)*x", "2 - (-(3.5))*x", "abs(-x - y)", "x**(y - z)**2",
    ]  # fmt: skip
    point = {"x": 1.7, "y": 2.3, "z": 0.6}
    for text, function in zip(texts, build([parse(text) for text in texts], NAMES), strict=True):
        expected = evaluate(parse(text), {name: np.array([value]) for name, value in point.items()}).values[0]
        assert function(*point.values()) == pytest.approx(expected, rel=1e-12), text


def test_where_an_operand_of_max_or_min_has_no_value_it_has_none(build):
    texts = ("max(log(x), 1)", "max(1, log(x))", "min(log(x), 1)", "min(1, log(x))")
    for text, function in zip(texts, build([parse(text) for text in texts]), strict=True):
        assert math.isnan(function(-1.0)), text
        assert function(2.0) == evaluate(parse(text), {"x": np.array([2.0])}).values[0]


def test_an_operand_that_a_form_mentions_twice_is_computed_once():
    tree = Variable("x")
    for _ in range(50):
        tree = apply("max", apply("sin", tree), 0.5)
    assert to_c(tree).count("sin(") == 50 + str(tree).count("sin(")  # in the code, and in the comment


def test_outside_the_domain(build):
    root, log, pole, large = build([parse("x**(1/3)"), parse("log(x)"), parse("1/x"), parse("exp(x)")])
    assert math.isnan(root(-8.0))
    assert math.isnan(log(-1.0))
    assert pole(0.0) == large(1000.0) == math.inf


NAMED = [
    (["x", "y"], ["x", "y"]),
    (["y1", "j0", "gamma", "yn"], ["y1_", "j0_", "gamma_", "yn_"]),
    (["sinf", "powl", "int", "double", "main"], ["sinf_", "powl_", "int_", "double_", "main_"]),
    (["new", "template", "I", "NAN", "M_PI", "linux"], ["new_", "template_", "I_", "NAN_", "M_PI_", "linux_"]),
    (["T1", "Q", "PH", "x_1"], ["T1", "Q", "PH", "x_1"]),
    (["é", "e", "Größe", "λ", "Ω", "µ", "μ"], ["e_", "e", "Grosse", "lambda", "Omega", "mu", "mu_"]),
    (["gamma", "gamma_", "formula", "formula_"], ["gamma__", "gamma_", "formula__", "formula_"]),
    (["_x", "__x", "_"], ["v_x", "v__x", "v_"]),
    (["द्रव्यमान", "质量"], [None, "u8d28u91cf"]),
    (["t1", "t2", "t_1"], ["t1", "t2", "t_1"]),
    (["mass (kg)", "2nd", "", "*/ evil /*", "a\nb"], ["mass__kg_", "v2nd", "v", "v___evil___", "a_b"]),
]  # fmt: skip


@pytest.mark.parametrize(("names", "arguments"), NAMED, ids=[" ".join(names) for names, _ in NAMED])
def test_names_of_arguments(build, names, arguments):
    known = [name for name in names if name.isidentifier()]
    tree = Constant(0)
    for place, name in enumerate(known):
        tree = tree + 10**place * apply("exp", apply("sin", Variable(name)))  # functions that a name might hide
    text = to_c(tree, names)
    found = re.findall(r"double (\w+)[,)]", text.splitlines()[text.splitlines().index("{") - 1])
    assert len(found) == len(names) == len(set(found))
    for got, wanted in zip(found, arguments, strict=True):
        assert got.isascii()
        assert wanted in (got, None)
    row = [0.5 + place / 10 for place in range(len(names))]
    columns = {name: np.array([value]) for name, value in zip(names, row, strict=True)}
    assert build([tree], names)[0](*row) == pytest.approx(evaluate(tree, columns).values[0], rel=1e-12)


def test_what_a_function_looks_like():
    assert to_c(parse("2*x/gamma - 0.1"), ["gamma", "t", "x"], name="law") == (
        "#include <math.h>\n\n"
        "/* 2*x/gamma - 0.1\n"
        " *\n"
        " * gamma_: column gamma\n"
        " * t: column t\n"
        " * x: column x\n"
        " */\n"
        "double law(double gamma_, double t, double x)\n"
        "{\n"
        "    (void)t;\n"
        "    return 2.0*x/gamma_ - 0.1;\n"
        "}\n"
    )
    assert "double formula(void)" in to_c(parse("pi"))


@pytest.mark.parametrize("name", ["", "2f", "exp", "y1", "int", "a b", "é", "_f", "NAN", "M_PI", None])
def test_names_of_functions_that_are_refused(name):
    with pytest.raises(ValueError, match="name must be a C identifier"):
        to_c(parse("x"), name=name)


def test_deep_formulas_compile(build):
    sines = right = left = Variable("t1")
    for _ in range(1000):
        sines, right, left = apply("sin", sines), apply("-", 1, right), apply("*", apply("+", left, 1), 0.5)
    for tree, function in zip((sines, right, left), build([sines, right, left]), strict=True):
        expected = evaluate(tree, {"t1": np.array([0.5])}).values[0]
        assert function(0.5) == pytest.approx(expected, rel=1e-12)
    deepest = max(np.cumsum([{"(": 1, ")": -1}.get(letter, 0) for letter in to_c(right).split("{")[1]]))
    assert deepest <= 63  # what C99 promises
