"""Formulas as torch modules."""

import copy
import io
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given

from benchmarks.problems import load
from prunesymnet.export.torch import to_torch
from prunesymnet.expression import Apply, Variable, apply, compile_expression, evaluate, parse
from prunesymnet.operators import make_operator
from samples import COLUMNS, NAMES, comparable, differ, values_and_gradient
from strategies import expressions

TABLE = torch.tensor(np.column_stack([COLUMNS[name] for name in NAMES]))


@pytest.mark.parametrize("problem", load(), ids=lambda problem: problem.name)
def test_the_papers_formulas(problem):
    data = problem.sample(16)
    values = to_torch(problem.formula)(torch.tensor(data.X))
    assert values.dtype == torch.float64
    np.testing.assert_allclose(values.numpy(), data.y, rtol=1e-12, atol=1e-15)


@given(expressions())
def test_a_module_computes_what_evaluate_does(tree):
    known = comparable(tree)
    module = to_torch(tree, NAMES, trainable=True)
    values = module(TABLE)
    assert values.shape == (len(TABLE),)
    assert not differ(values.detach().numpy(), *known)


def test_single_precision_gives_single_precision():
    X = torch.rand(5, 2)
    for module in (to_torch(parse("0.1*x + sin(y)/3")), to_torch(parse("0.1*x + sin(y)/3"), trainable=True).float()):
        values = module(X)
        assert values.dtype == torch.float32
        torch.testing.assert_close(values, 0.1 * X[:, 0] + torch.sin(X[:, 1]) / 3)
    assert module.constants.dtype == torch.float32
    assert to_torch(parse("x/2"))(torch.tensor([[3]])).tolist() == [1.5]  # whole numbers, too


def test_gradients_of_inputs_and_constants():
    tree = parse("1.5*exp(-0.5*x)*y + 2.5")
    columns = {"x": np.linspace(0.1, 2, 5), "y": np.linspace(-1, 1, 5)}
    module = to_torch(tree, ["y", "x"], trainable=True)
    X = torch.tensor(np.column_stack([columns["y"], columns["x"]]), requires_grad=True)
    module(X).sum().backward()
    _, gradient = values_and_gradient(compile_expression(tree), columns)
    _, jacobian = compile_expression(tree).values_and_jacobian(columns)
    np.testing.assert_allclose(X.grad.numpy(), gradient[::-1].T, rtol=1e-12)
    np.testing.assert_allclose(module.constants.grad.numpy(), jacobian.sum(1), rtol=1e-12)


def test_constants_are_trained():
    torch.manual_seed(0)
    X = torch.linspace(0.5, 2, 20, dtype=torch.float64)[:, None]
    target = 3 * X[:, 0] ** 2 + 1
    module = to_torch(parse("1.0*x**2 + 0.5"), trainable=True)
    optimizer = torch.optim.LBFGS(module.parameters(), max_iter=50)

    def closure():
        optimizer.zero_grad()
        loss = ((module(X) - target) ** 2).mean()
        loss.backward()
        return loss

    optimizer.step(closure)
    np.testing.assert_allclose(module.constants.detach().numpy(), [3, 1], rtol=1e-3)


@pytest.mark.parametrize("trainable", [True, False])
def test_state_copies_and_files(trainable):
    tree = parse("1.5*x + 0.25/y")
    module = to_torch(tree, trainable=trainable)
    assert [name for name, _ in module.named_parameters()] == ["constants"] * trainable
    assert [name for name, _ in module.named_buffers()] == ["constants"] * (not trainable)
    assert module.state_dict()["constants"].tolist() == [1.5, 0.25]
    file = io.BytesIO()
    torch.save(module.state_dict(), file)
    file.seek(0)
    other = to_torch(parse("0.0*x + 0.0/y"), trainable=trainable)
    other.load_state_dict(torch.load(file, weights_only=True))
    X = torch.rand(4, 2, dtype=torch.float64) + 0.5
    torch.testing.assert_close(other(X), module(X))
    with torch.no_grad():
        module.constants += 1
    for again in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):  # noqa: S301
        torch.testing.assert_close(again(X), module(X))
        assert again.constants.requires_grad == trainable
        assert again.constants is not module.constants
        assert again.names == module.names
    with torch.no_grad():
        again.constants += 1
    assert module.constants.tolist() == [2.5, 1.25]


def test_a_module_says_its_formula():
    assert repr(to_torch(parse("x**2 + 0.5"))) == "TorchFormula(x**2 + 0.5)"
    network = torch.nn.Sequential(torch.nn.Linear(3, 1), to_torch(parse("exp(-u)")))
    assert network(torch.ones(4, 3)).shape == (4,)


def test_formulas_without_columns():
    assert to_torch(parse("1.5"))(torch.empty(3, 0)).tolist() == [1.5] * 3
    assert to_torch(parse("2*pi"), ["x"])(torch.zeros(2, 1, dtype=torch.float64)).tolist() == [2 * np.pi] * 2
    assert to_torch(parse("x"))(torch.empty(0, 1)).shape == (0,)


def test_what_does_not_fit_is_refused():
    module = to_torch(parse("x + y"))
    for shape in ((4, 3), (2,), (1, 2, 2)):
        with pytest.raises(ValueError, match=r"X must have the shape \[rows, 2\], the columns x, y, got \["):
            module(torch.zeros(shape))


def test_a_users_operator():
    for function in (lambda u: u * u + 1, np.cbrt):
        tree = apply("*", 2.0, Apply(make_operator("mine", function), (Variable("x"),)))
        module = to_torch(tree, trainable=True)
        X = torch.tensor([[1.0], [8.0]], dtype=torch.float64, requires_grad=True)
        values = module(X)
        np.testing.assert_allclose(values.detach().numpy(), evaluate(tree, {"x": np.array([1.0, 8.0])}).values)
        values.sum().backward()
        assert X.grad.isfinite().all()
        assert module.constants.grad.isfinite().all()


def test_ten_thousand_levels():
    tree = Variable("x")
    for _ in range(10_000):
        tree = tree + 1
    assert to_torch(tree)(torch.tensor([[0.5]], dtype=torch.float64)).tolist() == [10_000.5]
