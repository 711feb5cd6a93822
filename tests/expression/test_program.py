import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from prunesymnet.expression import compile_expression, evaluate, evaluate_torch, parse
from samples import COLUMNS, POINTS, comparable, differ, values_and_gradient
from strategies import expressions

TENSORS = {name: torch.from_numpy(column.copy()) for name, column in COLUMNS.items()}
SMOOTH = ["+", "-", "*", "/", "sin", "cos", "exp", "log", "square", "sqrt", "inv", "neg", "tanh", "cube", "id"]


@given(expressions())
def test_numpy_equals_torch(expression):
    got = evaluate_torch(expression, TENSORS).numpy()
    assert got.shape == (POINTS,)
    assert not differ(got, *comparable(expression))


@given(expressions())
def test_the_flag_says_where_the_values_are_finite(expression):
    values, finite = evaluate(expression, COLUMNS)
    assert values.shape == finite.shape == (POINTS,)
    np.testing.assert_array_equal(finite, np.isfinite(values))


def differences(function, at, step=1e-5):
    """Central differences of values [points] with respect to each entry of `at`."""
    rows = []
    for i in range(len(at)):
        h = step * max(1.0, abs(at[i]))
        up, down = at.copy(), at.copy()
        up[i] += h
        down[i] -= h
        rows.append((function(up) - function(down)) / (2 * h))
    return np.array(rows).reshape(len(at), POINTS)


def agree(got, expected, coarse, values):
    """Derivatives agree where two step sizes of the differences do: elsewhere differences say nothing."""
    with np.errstate(all="ignore"):
        size = np.abs(expected) + np.abs(values) + 1e-3
        trusted = np.isfinite(expected) & (np.abs(expected - coarse) < 1e-5 * size) & np.isfinite(values)
        # sqrt(x - x) is 0 at every step, and has no slope: inf times 0.
        trusted &= (size < 1e5) & np.isfinite(got)
        return np.all(np.abs(got - expected)[trusted] <= 1e-4 * np.broadcast_to(size, got.shape)[trusted])


@given(expressions(SMOOTH))
def test_derivatives_by_constants_equal_differences(expression):
    program = compile_expression(expression)
    values, jacobian = program.values_and_jacobian(COLUMNS)
    with np.errstate(all="ignore"):
        fine = differences(lambda c: program.values(COLUMNS, c), program.constants, 1e-5)
        coarse = differences(lambda c: program.values(COLUMNS, c), program.constants, 1e-4)
    assert agree(jacobian, fine, coarse, values)


@pytest.mark.parametrize(
    "text", ["x**2.5", "abs(x)**y", "1.5**x", "(0.5*abs(x))**(1.5*y)", "x**4", "x**(-3)", "0.7*x**3"]
)
def test_derivatives_of_powers(text):
    program = compile_expression(parse(text))
    positive = {name: np.abs(column) for name, column in COLUMNS.items()}
    _, jacobian = program.values_and_jacobian(positive)
    expected = differences(lambda c: program.values(positive, c), program.constants)
    np.testing.assert_allclose(jacobian, expected, rtol=1e-6, atol=1e-8)
    _, gradient = values_and_gradient(program, positive)
    for row, name in zip(gradient, program.variables, strict=True):
        h = 1e-6
        up, down = ({**positive, name: positive[name] + s * h} for s in (1, -1))
        np.testing.assert_allclose(row, (program.values(up) - program.values(down)) / (2 * h), rtol=1e-5, atol=1e-6)


@given(expressions(SMOOTH))
def test_derivatives_by_inputs_equal_differences(expression):
    program = compile_expression(expression)
    values, gradient = values_and_gradient(program, COLUMNS)

    def shifted(step):
        rows = []
        for name in program.variables:
            h = step * np.maximum(1.0, np.abs(COLUMNS[name]))
            up = program.values({**COLUMNS, name: COLUMNS[name] + h})
            down = program.values({**COLUMNS, name: COLUMNS[name] - h})
            rows.append((up - down) / (2 * h))
        return np.array(rows).reshape(len(program.variables), POINTS)

    with np.errstate(all="ignore"):
        assert agree(gradient, shifted(1e-5), shifted(1e-4), values)


@given(expressions(), st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_many_constant_vectors_at_once_equal_one_at_a_time(expression, starts, seed):
    program = compile_expression(expression)
    batch = np.random.default_rng(seed).normal(size=(starts, len(program.constants)))
    values, jacobian = program.values_and_jacobian(COLUMNS, batch)
    assert values.shape == (starts, POINTS)
    assert jacobian.shape == (starts, len(program.constants), POINTS)
    for k, constants in enumerate(batch):
        one, slope = program.values_and_jacobian(COLUMNS, constants)
        np.testing.assert_allclose(values[k], one, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(jacobian[k], slope, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(evaluate_torch(expression, TENSORS, torch.from_numpy(batch)).shape, (starts, POINTS))


@given(expressions())
def test_the_formula_is_affine_in_the_constants_called_linear(expression):
    program = compile_expression(expression)
    linear = list(program.linear)
    if not linear:
        return
    step = np.zeros_like(program.constants)
    step[linear] = np.linspace(0.5, 1.5, len(linear))
    f = [program.values(COLUMNS, program.constants + k * step) for k in range(3)]
    with np.errstate(all="ignore"):
        size = np.max(np.abs(f), axis=0)
        bend = np.abs(f[0] - 2 * f[1] + f[2])
    usable = np.isfinite(f).all(axis=0) & (size < 1e12)
    assert np.all(bend[usable] <= 1e-7 * size[usable] + 1e-9)


@pytest.mark.parametrize(
    ("text", "linear"),
    [
        ("1.0*x + 2.0", (0, 1)),
        ("1.0*exp(2.0*x) + 3.0", (0, 2)),
        ("1.0*2.0*x", (0,)),
        ("(1.0*x + 2.0)*(3.0*y + 4.0 + 5.0*x)", (2, 3, 4)),
        ("(1.0*x + 2.0)/(3.0*x + 1)", (0, 1)),
        ("sin(1.0*x)", ()),
        ("1.0 - (2.0 - 3.0*x)", (0, 1, 2)),
        ("1.0**x", ()),
    ],
)
def test_which_constants_are_linear(text, linear):
    assert compile_expression(parse(text)).linear == linear


def test_a_parameter_that_appears_twice_is_one_constant():
    program = compile_expression(parse("a*x + sin(a*y) + b"), parameters=["a", "b"])
    assert program.labels == ("a", "b")
    assert program.linear == (1,)
    _, jacobian = program.values_and_jacobian(COLUMNS, np.array([0.5, 2.0]))
    np.testing.assert_allclose(jacobian[0], COLUMNS["x"] + COLUMNS["y"] * np.cos(0.5 * COLUMNS["y"]))


def test_what_holds_no_free_constant_is_computed_once():
    program = compile_expression(parse("1.0*x**4 + 2.0*x**4*sin(x**4)"))
    assert sum(step[0] is parse("x**4").operator.numpy for step in program.steps) == 1


def test_a_formula_without_variables_has_one_value_for_all_points():
    values, jacobian = compile_expression(parse("2.5")).values_and_jacobian(COLUMNS)
    np.testing.assert_array_equal(values, np.full(POINTS, 2.5))
    np.testing.assert_array_equal(jacobian, np.ones((1, POINTS)))
    assert evaluate_torch(parse("2.5"), TENSORS).shape == (POINTS,)


def test_a_column_that_is_missing_is_named():
    with pytest.raises(KeyError, match=r"'z'.*x, y"):
        evaluate(parse("x + z"), {"x": np.ones(2), "y": np.ones(2)})


def test_torch_gradients_flow_to_the_constants():
    constants = torch.tensor([1.5, -0.5], dtype=torch.float64, requires_grad=True)
    evaluate_torch(parse("1.0*exp(1.0*x)"), TENSORS, constants).sum().backward()
    _, jacobian = compile_expression(parse("1.5*exp(-0.5*x)")).values_and_jacobian(COLUMNS)
    np.testing.assert_allclose(constants.grad.numpy(), jacobian.sum(axis=1))
