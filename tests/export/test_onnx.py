"""Formulas as ONNX models, run by two runtimes."""

import json

import numpy as np
import pytest
from hypothesis import given, settings

from benchmarks.problems import load
from prunesymnet.export import export
from prunesymnet.export.onnx import to_onnx
from prunesymnet.expression import Variable, apply, evaluate, parse
from samples import COLUMNS, NAMES, comparable, differ
from strategies import expressions

TABLE = np.column_stack([COLUMNS[name] for name in NAMES])
onnx = pytest.importorskip("onnx")
reference = pytest.importorskip("onnx.reference")


def by_reference(model, X):
    with np.errstate(all="ignore"):
        return reference.ReferenceEvaluator(model).run(None, {"X": X})[0]


def by_runtime(model, X):
    onnxruntime = pytest.importorskip("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"X": X})[0]


RUNTIMES = [by_reference, by_runtime]


@pytest.mark.parametrize("run", RUNTIMES)
def test_the_papers_formulas(run):
    for problem in load():
        data = problem.sample(16)
        values = run(to_onnx(problem.formula), data.X)
        assert values.dtype == np.float64
        np.testing.assert_allclose(values, data.y, rtol=1e-12, atol=1e-14, err_msg=problem.name)


@pytest.mark.parametrize("run", RUNTIMES)
@settings(max_examples=60)
@given(tree=expressions())
def test_a_model_computes_what_evaluate_does(run, tree):
    values = run(to_onnx(tree, NAMES), TABLE)
    assert values.shape == (len(TABLE),)
    assert not differ(values, *comparable(tree))


@pytest.mark.parametrize("run", RUNTIMES)
def test_outside_the_domain(run):
    X = np.array([[-8.0], [0.0], [1000.0]])
    np.testing.assert_array_equal(run(to_onnx(parse("x**(1/3)")), X)[:1], [np.nan])
    np.testing.assert_array_equal(run(to_onnx(parse("log(x)")), X)[:2], [np.nan, -np.inf])
    np.testing.assert_array_equal(run(to_onnx(parse("exp(x)")), X)[2:], [np.inf])
    np.testing.assert_array_equal(run(to_onnx(parse("1/x")), X)[1:2], [np.inf])
    np.testing.assert_array_equal(run(to_onnx(parse("asin(x) + acos(x)")), X)[::2], [np.nan, np.nan])
    np.testing.assert_array_equal(run(to_onnx(parse("max(log(x), 1)")), X)[:1], [np.nan])
    np.testing.assert_array_equal(run(to_onnx(parse("min(1, log(x))")), X)[:1], [np.nan])


@pytest.mark.parametrize("run", RUNTIMES)
def test_beside_the_zeros_of_a_sine_a_runtime_is_off_in_the_last_digits(run):
    """As the docs say: a runtime's sines are its own, and the format can't say more."""
    X = np.pi * np.arange(1.0, 50.0)[:, None]
    for text in ("sin(x)", "cos(x - 1.5707963267948966)"):
        values = evaluate(parse(text), {"x": X[:, 0]}).values
        np.testing.assert_allclose(run(to_onnx(parse(text)), X), values, rtol=0, atol=2e-14)


@pytest.mark.parametrize("run", RUNTIMES)
def test_cosines_of_large_numbers(run):
    x = np.array([0.0, 1e-8, np.pi / 2, 3.0, 1e3, -1e6, 1e12])
    model = to_onnx(parse("cos(x)"))
    np.testing.assert_allclose(run(model, x[:, None]), np.cos(x), rtol=0, atol=1e-15)
    assert "Cos" not in {node.op_type for node in model.graph.node}  # not every runtime has it in double precision


FUNCTIONS = {
    "tan": np.linspace(-1.5, 1.5, 101), "asin": np.linspace(-1, 1, 101), "acos": np.linspace(-1, 1, 101),
    "atan": np.array([0.0, 1e-300, 1e-8, -0.3, 1.0, 7.0, -1e5, 1e200, np.inf]), "sinh": np.linspace(-20, 20, 101),
    "cosh": np.linspace(-20, 20, 101), "erf": np.array([0.0, 1e-300, 1e-8, 0.3, -1.0, 2.5, 5.5, -7.0, np.inf]),
}  # fmt: skip


@pytest.mark.parametrize("run", RUNTIMES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_that_a_runtime_lacks_in_double_precision(run, name):
    x = FUNCTIONS[name]
    expected = evaluate(parse(f"{name}(x)"), {"x": x}).values
    np.testing.assert_allclose(run(to_onnx(parse(f"{name}(x)")), x[:, None]), expected, rtol=5e-14)
    small = np.array([[1e-9], [-1e-12]])  # as exact as the operand is
    expected = evaluate(parse(f"{name}(x)"), {"x": small[:, 0]}).values
    np.testing.assert_allclose(run(to_onnx(parse(f"{name}(x)")), small), expected, rtol=1e-14)
    assert np.isnan(run(to_onnx(parse(f"{name}(x)")), np.array([[np.nan]]))).all()


def test_what_a_model_says():
    model = to_onnx(parse("0.5*x/y + sin(x/y) - 2*1.5"), ["y", "t", "x"], target="speed")
    (given,), (made,) = model.graph.input, model.graph.output
    assert (given.name, made.name) == ("X", "speed")
    kinds = [tensor.type.tensor_type.elem_type for tensor in (given, made)]
    assert kinds == [onnx.TensorProto.DOUBLE] * 2
    assert given.type.tensor_type.shape.dim[1].dim_value == 3
    assert len(made.type.tensor_type.shape.dim) == 1
    said = {entry.key: entry.value for entry in model.metadata_props}
    assert said["formula"] == "0.5*x/y + sin(x/y) - 2*1.5"
    assert json.loads(said["columns"]) == ["y", "t", "x"]
    assert said["target"] == "speed"
    assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", 13)]
    assert model.ir_version == 7
    numbers = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    assert (float(numbers["c0"]), float(numbers["c1"])) == (0.5, 1.5)
    assert {tensor.dtype for name, tensor in numbers.items() if not name.startswith("column")} == {np.dtype(np.float64)}


def test_what_is_the_same_is_computed_once():
    model = to_onnx(parse("sin(x + y)*sin(x + y) + cos(x + y)"))
    kinds = [node.op_type for node in model.graph.node]
    assert kinds.count("Gather") == 2
    assert kinds.count("Sin") == 2  # one of x + y, one of its half
    square = parse("x")
    for _ in range(40):
        square = apply("square", square)
    assert len(to_onnx(square).graph.node) == 42  # and not 2**40


@pytest.mark.parametrize("run", RUNTIMES)
@pytest.mark.parametrize("text", ["x", "id(x)", "2.5", "3*pi", "y - x", "2/(1 - 1)"])
def test_bare_variables_and_numbers(run, text):
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    expected = evaluate(parse(text), {"x": X[:, 0], "y": X[:, 1]}).values
    np.testing.assert_allclose(run(to_onnx(parse(text), ["x", "y"]), X), expected, rtol=1e-15)


@pytest.mark.parametrize("run", RUNTIMES)
def test_no_columns_and_no_rows(run):
    assert run(to_onnx(parse("2.5")), np.empty((3, 0))).tolist() == [2.5] * 3
    assert run(to_onnx(parse("x + 1")), np.empty((0, 1))).shape == (0,)


@pytest.mark.parametrize("target", ["X", "c0", "add_2", "column_0", "number_2", "power (W)", "größe", "rows"])
def test_any_name_of_the_target(target):
    model = to_onnx(parse("2*x + 0.5"), target=target)
    assert by_reference(model, np.array([[1.0]])).tolist() == [2.5]
    assert by_runtime(model, np.array([[1.0]])).tolist() == [2.5]
    assert model.graph.output[0].name.rstrip("_") == target
    with pytest.raises(ValueError, match="target must be a name, got ''"):
        to_onnx(parse("x"), target="")


def test_bytes():
    data = export(parse("x**2"), "onnx", target="z")
    assert onnx.load_from_string(data).graph.output[0].name == "z"


def test_a_thousand_levels():
    tree = Variable("x")
    for _ in range(1000):
        tree = apply("sin", tree + 1)
    expected = evaluate(tree, {"x": np.array([0.5])}).values
    for run in RUNTIMES:
        np.testing.assert_allclose(run(to_onnx(tree), np.array([[0.5]])), expected, rtol=1e-9)
