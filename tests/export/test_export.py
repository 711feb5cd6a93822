"""What all targets have in common."""

import builtins
import subprocess
import sys

import numpy as np
import pytest

from prunesymnet.errors import ExportError, PruneSymNetError
from prunesymnet.export import TARGETS, export
from prunesymnet.export.c import to_c
from prunesymnet.export.common import column_names
from prunesymnet.export.excel import to_excel
from prunesymnet.export.latex import to_latex
from prunesymnet.export.numpy import to_numpy
from prunesymnet.export.onnx import to_onnx
from prunesymnet.export.python import to_function, to_python
from prunesymnet.export.torch import to_torch
from prunesymnet.expression import Apply, Variable, apply, parse
from prunesymnet.operators import OPERATORS, make_operator

WITH_NAMES = [to_function, to_numpy, to_torch, to_c, to_onnx, to_excel]


@pytest.mark.parametrize("column", ["python", "c", "excel", "onnx", "latex"])
def test_every_operator_has_a_form_in_every_target(column):
    assert not [name for name, row in OPERATORS.items() if getattr(row, column) is None]


@pytest.mark.parametrize("make", WITH_NAMES)
def test_names_that_do_not_fit(make):
    tree = parse("x + y")
    with pytest.raises(ValueError, match="names must have each variable of the formula, got x, z without 'y'"):
        make(tree, names=["x", "z"])
    with pytest.raises(ValueError, match="names must be a list of column names, got the text 'xy'"):
        make(tree, names="xy")
    with pytest.raises(ValueError, match="names must differ, got 'x' 2 times"):
        make(tree, names=["x", "y", "x"])
    with pytest.raises(ValueError, match="names must be column names, got 3"):
        make(tree, names=["x", "y", 3])
    with pytest.raises(TypeError, match="an Expression is needed, got str"):
        make("x + y")


def test_the_columns_of_a_formula():
    tree = parse("b/a")
    assert column_names(tree) == ("a", "b")
    assert column_names(tree, iter(["c", "b", "a"])) == ("c", "b", "a")
    assert column_names(parse("1")) == ()


MINE = Apply(make_operator("softplus", lambda u: np.log1p(np.exp(u))), (Variable("x"),))


@pytest.mark.parametrize(
    ("make", "target"), [(to_function, "a Python function"), (to_c, "C"), (to_excel, "Excel"), (to_onnx, "ONNX")]
)
def test_a_users_operator_is_refused_by_name(make, target):
    if make is to_onnx:
        pytest.importorskip("onnx")
    with pytest.raises(ExportError, match=f"operator 'softplus' has no form in {target}.*use to_numpy") as caught:
        make(1 + MINE)
    assert isinstance(caught.value, PruneSymNetError)
    assert isinstance(caught.value, ValueError)


def test_a_users_operator_where_its_row_says_enough():
    assert to_python(MINE) == "softplus(x)"
    assert to_latex(MINE) == r"\operatorname{softplus}\left(x\right)"
    assert export(MINE, "sympy") == export(MINE, "text") == "softplus(x)"


RELU = make_operator(
    "relu",
    lambda u: np.maximum(u, 0),
    python="max({0}, 0.0)",
    c="({0} > 0.0 ? {0} : 0.0)",
    excel="MAX({0},0)",
    onnx=lambda op, u: op.Max(u, 0.0),
)
TWICE = make_operator("twice", lambda u: 2 * u + 1, python="2*{0} + 1", c="2*{0} + 1.0", excel="2*{0}+1")


def test_a_users_operator_whose_row_says_it_all():
    tree = parse("1.5*relu(x - 1)", operators=[RELU])
    assert to_python(tree) == "1.5*max(x - 1, 0.0)"
    assert to_python(tree, module="np") == "1.5*relu(x - 1)"
    assert to_excel(tree) == "=1.5*MAX(A2-1,0)"
    assert "return 1.5*max(x - 1, 0.0)" in to_function(tree)
    assert "const double t1 = x - 1.0;\n    return 1.5*((t1 > 0.0 ? t1 : 0.0));" in to_c(tree)
    onnx = pytest.importorskip("onnx.reference")
    values = onnx.ReferenceEvaluator(to_onnx(tree)).run(None, {"X": np.array([[0.0], [3.0]])})[0]
    assert values.tolist() == [0.0, 3.0]


def test_a_users_template_and_its_operands_are_set_apart():
    tree = parse("3*twice(x + y)**2", operators=[TWICE])
    assert to_python(tree) == "3*(2*(x + y) + 1)**2"
    assert to_excel(tree) == "=3*(2*(A2+B2)+1)^2"
    assert "3.0*pow((2*(x + y) + 1.0), 2.0)" in to_c(tree)


def test_no_argument_has_the_name_of_what_a_users_form_calls():
    mine = make_operator("softest", lambda u: np.log1p(np.exp(u)), c="softest_c({0})", python="soft({0})")
    tree = Apply(mine, (Variable("softest_c"),)) + Variable("soft")
    assert "double formula(double soft, double softest_c_)" in to_c(tree)
    assert "def formula(soft_: float, softest_c: float)" in to_function(tree)


EXPORTED = {
    "text": "x**2/t",
    "latex": r"z = \frac{x^{2}}{t}",
    "excel": "=B2^2/A2",
    "sympy": "x**2/t",
}


@pytest.mark.parametrize("to", TARGETS)
def test_export_by_name(to):
    if to == "onnx":
        pytest.importorskip("onnx")
    made = export(parse("x**2/t"), to, target="z")
    assert isinstance(made, bytes if to == "onnx" else str)
    if to in EXPORTED:
        assert made == EXPORTED[to]
    if to == "python":
        assert made == to_function(parse("x**2/t"), target="z")
    if to == "c":
        assert made == to_c(parse("x**2/t"))
    with pytest.raises(ValueError, match="names must have each variable of the formula, got t without 'x'"):
        export(parse("x**2/t"), to, names=["t"])


def test_names_reach_the_target():
    names = ["x", "u", "t"]
    assert export(parse("x/t"), "excel", names) == "=A2/C2"
    assert "double formula(double x, double u, double t)" in export(parse("x/t"), "c", names)
    assert "def formula(x: float, u: float, t: float)" in export(parse("x/t"), "python", names)


def test_an_unknown_target():
    with pytest.raises(
        ValueError, match="to must be one of text, latex, mathml, python, c, excel, sympy, onnx, got 'fortran'"
    ):
        export(parse("x"), "fortran")


DEEP = {
    "calls": lambda tree: apply("sin", tree),
    "left": lambda tree: apply("+", tree, 1),
    "right": lambda tree: apply("/", 1.5, tree),
    "minus": lambda tree: apply("neg", tree),
    "power": lambda tree: apply("pow", Variable("y"), tree),
    "square": lambda tree: apply("square", tree),
}


@pytest.mark.parametrize("grow", DEEP.values(), ids=DEEP)
def test_no_formula_is_too_deep(grow):
    tree = Variable("x")
    for _ in range(5000):  # five times what Python's recursion allows
        tree = grow(tree)
    for make in (to_latex, to_python, to_function, to_c):
        text = make(tree)
        assert len(text) > 5000
        assert text.count("(") == text.count(")")
    with pytest.raises(ExportError, match="characters in Excel"):
        to_excel(tree)


def test_importing_the_targets_imports_none_of_their_libraries():
    code = (
        "import sys, prunesymnet.export; "
        "from prunesymnet.export import c, common, excel, latex, numpy, onnx, python, torch; "
        "print(*({'torch', 'sympy', 'onnx'} & set(sys.modules)), 'done')"
    )
    out = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["done"]


def test_without_onnx_the_error_names_the_remedy(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name == "onnx":
            raise ImportError("No module named 'onnx'")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"needs the package onnx: pip install 'prunesymnet\[onnx\]'"):
        to_onnx(parse("x"))
