"""The protected operators against the operator table, and the pass through a network and back against autograd."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from prunesymnet.network import Network
from prunesymnet.network.activation import LARGEST_GRADIENT, backward, forward
from prunesymnet.operators import OPERATORS, PAPER, make_operator
from prunesymnet.operators.protection import (
    LARGEST_EXPONENT,
    LARGEST_PRODUCT,
    LARGEST_QUOTIENT,
    SMALLEST,
    protected_form,
)
from torch_network import forward_pass, input_rows, propagate

NAMES = sorted({*OPERATORS} - {"id", "pow", "pi"})
SWITCHED_ON = ("+", "tan", "asin", "acos", "atan", "sinh", "cosh", "max", "min", "erf")
OTHERS = ("+", "cube", "inv", "sqrt", "tanh", "abs", "neg")
BOUNDS = {
    "*": LARGEST_PRODUCT,
    "square": LARGEST_PRODUCT,
    "cube": LARGEST_PRODUCT,
    "/": LARGEST_QUOTIENT,
    "inv": LARGEST_QUOTIENT,
    "exp": math.exp(LARGEST_EXPONENT),
    "log": math.log(1e31),
    "sin": 1.0,
    "cos": 1.0,
    "tanh": 1.0,
    "asin": math.pi / 2,
    "acos": math.pi,
    "atan": math.pi / 2,
    "erf": 1.0,
    **dict.fromkeys(("tan", "sinh", "cosh", "max", "min"), LARGEST_PRODUCT),
}
# The size that a protection holds down, in exact terms, and the limit it is held to.
HELD = {
    "*": (lambda a, b: abs(a * b), LARGEST_PRODUCT),
    "/": (lambda a, b: abs(a / np.where(abs(b) < SMALLEST, SMALLEST, b)), LARGEST_QUOTIENT),
    "inv": (lambda u: abs(1 / np.where(abs(u) < SMALLEST, SMALLEST, u)), LARGEST_QUOTIENT),
    "square": (lambda u: u * u, LARGEST_PRODUCT),
    "cube": (lambda u: abs(u**3), LARGEST_PRODUCT),
    "exp": (lambda u: u, LARGEST_EXPONENT),
    "sinh": (lambda u: abs(np.sinh(u)), LARGEST_PRODUCT),
    "cosh": (np.cosh, LARGEST_PRODUCT),
}
RNG = np.random.default_rng(0)
MODERATE = RNG.uniform(0.1, 6.0, (2, 500)) * RNG.choice([-1, 1], (2, 500))
_sizes = np.concatenate([[0.0], np.logspace(-30, 30, 121), RNG.uniform(0.1, 40, 60)])
WIDE = np.meshgrid(np.concatenate([_sizes, -_sizes]), np.concatenate([_sizes, -_sizes]))


def table_form(name, *operands):
    """What the network's operator is by the operator table."""
    if name == "log":
        operands = (abs(operands[0]),)
    return OPERATORS[name].numpy(*operands)


def protected(name, *operands):
    """Value, partials (filled up to arrays) and factor (1 where there is none) on arrays."""
    with np.errstate(all="ignore"):
        value, partials, factor = protected_form(OPERATORS[name])(np, *operands)
    filled = [np.broadcast_to(p, value.shape) for p in partials]
    return value, filled, np.ones_like(value) if factor is None else factor


def operands_of(name, table):
    operands = [np.ravel(column) for column in table[: OPERATORS[name].arity]]
    if name in ("asin", "acos", "tan") and table is MODERATE:
        operands = [u / 6.1 for u in operands]  # inside the domain, and away from poles
    return [abs(u) for u in operands] if name == "sqrt" else operands


def random_network(operators, layers=2, inputs=("x", "y"), points=7, restarts=2, seed=0, scale=1.0):
    network = Network(inputs, operators, layers)
    generator = torch.Generator().manual_seed(seed)
    weights = scale * torch.randn(restarts, network.edges, generator=generator, dtype=torch.float64)
    columns = {n: torch.rand(points, generator=generator, dtype=torch.float64).numpy() * 3 + 0.2 for n in inputs}
    return network, weights, input_rows(network, columns, dtype=torch.float64)


def test_an_operator_is_a_node_whether_or_not_its_row_has_a_form_for_it():
    forms = {name: OPERATORS[name].protected for name in NAMES}
    assert {name for name, form in forms.items() if form is None} == {*SWITCHED_ON} - {"+", "asin", "acos"}
    network, weights, inputs = random_network(tuple(NAMES))
    assert torch.isfinite(forward_pass(network, weights, inputs).nodes).all()


@pytest.mark.parametrize("name", NAMES)
def test_values_are_the_tables_where_no_protection_fires(name):
    operands = operands_of(name, MODERATE)
    value, _, factor = protected(name, *operands)
    assert (factor == 1).all()
    np.testing.assert_allclose(value, table_form(name, *operands), rtol=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_partial_derivatives_are_those_of_finite_differences(name):
    operands = operands_of(name, MODERATE)
    _, partials, _ = protected(name, *operands)
    assert len(partials) == OPERATORS[name].arity
    for i, partial in enumerate(partials):
        step = 1e-5 * np.abs(operands[i])
        up, down = (
            protected(name, *(u + sign * step if i == j else u for j, u in enumerate(operands)))[0] for sign in (1, -1)
        )
        np.testing.assert_allclose(partial, (up - down) / (2 * step), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_values_are_bounded_and_finite_whatever_the_operands(name):
    operands = operands_of(name, WIDE)
    value, partials, _ = protected(name, *operands)
    assert np.isfinite(value).all()
    assert (np.abs(value) <= BOUNDS.get(name, 2e30) * (1 + 1e-12)).all()
    assert all(np.isfinite(partial).all() for partial in partials)


@pytest.mark.parametrize("name", sorted(HELD))
def test_the_factor_is_below_one_exactly_where_the_size_is_beyond_the_limit(name):
    operands = operands_of(name, WIDE)
    size, limit = HELD[name]
    _, _, factor = protected(name, *operands)
    with np.errstate(over="ignore"):
        sizes = size(*operands)
    clear = abs(sizes - limit) > 1e-9 * limit
    np.testing.assert_array_equal(factor[clear] < 1, sizes[clear] > limit)
    assert (factor < 1).any()
    assert (factor == 1).any()


@pytest.mark.parametrize(
    ("name", "operands", "partials"),
    [
        ("*", (1e6, -1e6), (-100.0, 100.0)),
        ("square", (1e6,), (2e6 * 1e-4,)),
        ("cube", (-1e4,), (3e8 * 1e-4,)),
        ("/", (1e6, 2.0), (0.5 * 1e4 / 5e5, -1e4 / 2)),
        ("exp", (34.0,), (math.exp(17) * 0.5,)),
    ],
)
def test_the_gradient_shrinks_with_the_factor_and_does_not_vanish(name, operands, partials):
    _, found, factor = protected(name, *(np.array([u]) for u in operands))
    assert factor[0] < 1
    np.testing.assert_allclose([p[0] for p in found], partials, rtol=1e-12)


@pytest.mark.parametrize("operands", [(0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), (1e-12, 1e-11)])
def test_a_quotient_by_nearly_zero_is_finite(operands):
    value, partials, _ = protected("/", *(np.array([u]) for u in operands))
    assert abs(value[0]) <= LARGEST_QUOTIENT
    assert all(abs(p[0]) <= 1e6 for p in partials)


@pytest.mark.parametrize("name", ["*", "/", "square", "cube"])
def test_values_are_finite_in_the_precision_of_training(name):
    numbers = np.array([1e12, -1e10, 1e10, -1e12], dtype=np.float32)  # sums are held to 1e12
    operands = [numbers, np.float32(1) / numbers if name == "/" else numbers][: OPERATORS[name].arity]
    value, partials, factor = protected(name, *operands)
    assert (factor < 1).all()
    assert np.isfinite(value).all()
    assert all(np.isfinite(partial).all() for partial in partials)


@pytest.mark.parametrize("name", sorted(HELD))
def test_fired_says_which_restart_layer_and_operator(name):
    network = Network(("x",), (name, "+", "sin"), layers=2)
    below, above = {"/": (1.0, 1e-6), "inv": (1.0, 1e-6), "exp": (16.0, 18.0)}.get(name, (1.0, 1e9))
    weights = torch.zeros(3, network.edges, dtype=torch.float64)
    groups = {(g.layer, g.operand): g for g in network.groups if g.operator == name}
    for layer in (1, 2):  # every operand is 1 (the input node after x), in every restart ...
        for operand in range(OPERATORS[name].arity):
            weights[:, groups[layer, operand].start + 1] = 1.0
    last = OPERATORS[name].arity - 1
    weights[0, groups[1, last].start + 1] = below
    weights[1, groups[1, last].start + 1] = above  # ... but for restart 1 in layer 1, and 2 in layer 2
    weights[2, groups[2, last].start + 1] = above
    passed = forward_pass(network, weights, input_rows(network, {"x": [0.5, 0.25]}, dtype=torch.float64))
    assert torch.nonzero(passed.fired).tolist() == [[1, 0, 0], [2, 1, 0]]


@pytest.mark.parametrize(
    ("operators", "scale", "seed"), [(PAPER, 0.4, 1), (PAPER, 0.4, 2), (OTHERS, 0.4, 3), (SWITCHED_ON, 0.15, 1)]
)
def test_gradients_of_a_network_are_right(operators, scale, seed):
    network, weights, inputs = random_network(operators, seed=seed, scale=scale, points=4, restarts=2)
    assert not forward_pass(network, weights, inputs).fired.any()
    weights.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda w: propagate(w, inputs, network.rows, network.sizes)[0], (weights,), eps=1e-7, atol=1e-5, rtol=1e-4
    )


@given(seed=st.integers(0, 10_000), scale=st.sampled_from([0.1, 1.0, 10.0, 1e4]), operators=st.sampled_from([0, 1, 2]))
@settings(max_examples=30)
def test_numpy_and_torch_compute_the_same(seed, scale, operators):
    names = (PAPER, OTHERS, tuple(NAMES))[operators]
    network, weights, inputs = random_network(names, seed=seed, scale=scale)
    arrays = forward(np, weights.numpy(), inputs.numpy(), network.rows, network.sizes)
    tensors = forward(torch, weights, inputs, network.rows, network.sizes)
    assert torch.equal(torch.from_numpy(arrays[3]), tensors[3])
    # Where the two libraries round differently, sin of a huge number differs altogether: compare bounded networks.
    if np.abs(arrays[1]).max() > 1e3:
        assert all(torch.isfinite(tensors[i]).all() for i in (0, 1))
        return
    for mine, theirs in zip([*arrays[:2], *arrays[2]], [*tensors[:2], *tensors[2]], strict=True):
        np.testing.assert_allclose(mine, theirs.numpy(), rtol=1e-6, atol=1e-8)
    upstream = torch.randn(arrays[0].shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    mine = backward(np, upstream.numpy(), weights.numpy(), arrays[1], arrays[2], network.rows, network.sizes)
    theirs = backward(torch, upstream, weights, tensors[1], tensors[2], network.rows, network.sizes)
    np.testing.assert_allclose(mine, theirs.numpy(), rtol=1e-5, atol=1e-6 * np.abs(mine).max())


@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from([(1.0, torch.float32), (30.0, torch.float32), (1e3, torch.float64)]),
)
@settings(max_examples=25)
def test_gradients_are_bounded_whatever_the_weights(seed, kind):
    scale, dtype = kind
    network, weights, inputs = random_network(tuple(NAMES), layers=4, seed=seed, scale=scale)
    weights, inputs = (t.to(dtype) for t in (weights, inputs))
    weights.requires_grad_()
    output, nodes, _ = propagate(weights, inputs, network.rows, network.sizes)
    (gradient,) = torch.autograd.grad(output.sum(), weights)
    assert torch.isfinite(gradient).all()
    hidden = gradient[:, : network.groups[-1].start].abs().amax(1)
    assert (hidden <= LARGEST_GRADIENT * nodes.abs().sum(-1).amax(1) * (1 + 1e-5)).all()


def test_nodes_and_flags_are_no_part_of_the_graph():
    network, weights, inputs = random_network(PAPER)
    output, nodes, fired = propagate(weights.requires_grad_(), inputs, network.rows, network.sizes)
    assert output.requires_grad
    assert not nodes.requires_grad
    assert not fired.requires_grad


def users_operators():
    return {
        "on tensors": make_operator("bump", lambda u: 1 / (1 + u * u)),
        "numpy only": make_operator("softplus", lambda u: np.logaddexp(0.0, u)),
        "with derivative": make_operator("root", lambda u: np.hypot(u, 1), derivatives=lambda u: u / np.hypot(u, 1)),
        "of two operands": make_operator("hypot", lambda u, v: (u * u + v * v + 1) ** 0.5),
    }


@pytest.mark.parametrize("kind", sorted(users_operators()))
def test_a_users_operator_is_a_node_with_right_gradients(kind):
    row = users_operators()[kind]
    network, weights, inputs = random_network(("+", row, "*"), seed=3, scale=0.5, points=4)
    passed = forward_pass(network, weights, inputs)
    first = [network.groups[i] for i in network.groups_of[network.sizes[0] + 1]]
    sums = [weights[0, g.start : g.start + g.width] @ inputs for g in first]
    np.testing.assert_allclose(passed.nodes[0, network.sizes[0] + 1], row.numpy(*(s.numpy() for s in sums)), rtol=1e-12)
    weights.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda w: propagate(w, inputs, network.rows, network.sizes)[0], (weights,), eps=1e-6, atol=1e-5, rtol=1e-4
    )


@pytest.mark.parametrize("xp", [np, torch])
def test_a_users_operator_is_kept_finite(xp):
    row = make_operator("pole", lambda u: 1 / (u - 2) ** 3, domain=lambda u: u != 2)
    numbers = np.array([2.0, 2.0 + 1e-9, 2.0 - 1e-9, 3.0])
    value, (slope,), factor = protected_form(row)(xp, numbers if xp is np else torch.from_numpy(numbers))
    assert np.abs(np.asarray(value)).max() <= LARGEST_PRODUCT * (1 + 1e-12)
    assert np.isfinite(np.asarray(slope)).all()
    assert float(value[3]) == 1.0
    assert float(slope[3]) == pytest.approx(-3.0)
    assert [bool(f < 1) for f in factor[1:]] == [True, True, False]


def test_a_users_operator_outside_its_domain_is_kept_finite():
    row = make_operator("half_log", lambda u: np.log(u) / 2, domain=lambda u: u > 0)
    value, (slope,), _ = protected_form(row)(np, np.array([-1.0, 0.0, 1.0]))
    assert np.isfinite(value).all()
    assert np.isfinite(slope).all()


def test_an_infinite_value_of_a_users_operator_fires():
    row = make_operator("rcp", lambda u: 1 / u, domain=lambda u: u != 0)
    _, _, factor = protected_form(row)(np, np.array([0.0]))
    assert factor[0] < 1


def test_a_users_operator_whose_torch_form_has_no_gradient_is_a_node():
    row = make_operator("step", lambda u: (u > 0) * 1.0, torch=lambda u: (u > 0).to(u.dtype))
    network, weights, inputs = random_network(("+", row))
    output, _, _ = propagate(weights.requires_grad_(), inputs, network.rows, network.sizes)
    (gradient,) = torch.autograd.grad(output.sum(), weights)
    assert torch.isfinite(gradient).all()
