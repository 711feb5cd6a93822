"""The network's structure, and that a pruned network and its expression are the same function."""

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from prunesymnet.errors import OperatorError
from prunesymnet.expression import evaluate
from prunesymnet.network import Network
from prunesymnet.operators import OPERATORS, PAPER
from torch_network import forward_pass, initial_weights, input_rows, only

OTHERS = ("+", "cube", "inv", "sqrt", "tanh", "abs", "neg", "log")
ALL = tuple(name for name in OPERATORS if name not in ("id", "pow", "pi"))

networks = st.builds(
    Network,
    inputs=st.sampled_from([("x",), ("x", "y"), ("x", "y", "z")]),
    operators=st.sampled_from([PAPER, OTHERS, ALL, ("sin",), ("+", "id"), ("*", "exp")]),
    layers=st.integers(1, 4),
)


def random_choice(network, rng):
    """A source for each group that the output needs, walking back from the output."""
    choice, open_nodes, seen = {}, [-1], set()
    while open_nodes:
        for group in network.groups_of[open_nodes.pop()]:
            choice[group] = int(rng.integers(network.groups[group].width))
            if choice[group] >= network.sizes[0] and choice[group] not in seen:
                seen.add(choice[group])
                open_nodes.append(choice[group])
    return choice


@given(network=networks)
def test_each_layer_has_the_nodes_of_the_one_before_and_one_of_each_operator(network):
    m = len([name for name in network.operators if name != "id"])
    assert network.sizes[0] == len(network.inputs) + 1
    assert len(network.sizes) == network.layers + 1
    assert all(b == a + m for a, b in zip(network.sizes, network.sizes[1:], strict=False))


@given(network=networks)
def test_there_is_an_edge_per_operand_and_node_of_the_layer_before(network):
    operands = sum(OPERATORS[name].arity for name in network.operators if name != "id")
    assert network.edges == operands * sum(network.sizes[:-1]) + network.sizes[-1]


def test_a_network_of_the_papers_size():
    network = Network(("x",))
    assert (network.layers, network.sizes[-1]) == (6, 2 + 6 * 9)
    assert network.edges == 13 * (2 + 11 + 20 + 29 + 38 + 47) + 56


@given(network=networks)
def test_groups_operators_and_nodes_agree(network):
    end = 0
    for i, group in enumerate(network.groups):
        assert group.start == end  # the groups lie side by side, without a gap
        end += group.width
        assert group.width == network.sizes[group.layer - 1]
        assert network.groups_of[group.node][group.operand] == i
        if group.node >= 0:
            assert network.sizes[group.layer - 1] <= group.node < network.sizes[group.layer]
            assert network.operator_of(group.node).name == group.operator
    assert end == network.edges
    assert set(network.groups_of) == {-1, *range(network.sizes[0], network.sizes[-1])}
    for node in range(network.sizes[-1]):
        row = network.operator_of(node)
        assert (row is None) == (node < network.sizes[0])
        assert row is None or len(network.groups_of[node]) == row.arity
    assert str(network.groups[-1]) == "output"


@given(network=networks, seed=st.integers(0, 2**32 - 1))
@settings(max_examples=150)
def test_a_pruned_network_and_its_expression_are_the_same_function(network, seed):
    rng = np.random.default_rng(seed)
    weights = torch.from_numpy(rng.uniform(0.2, 1.2, network.edges) * rng.choice([-1, 1], network.edges))
    choice = random_choice(network, rng)
    columns = {name: rng.uniform(-2, 2, 8) for name in network.inputs}
    passed = forward_pass(
        network, only(network, weights, choice)[None], input_rows(network, columns, dtype=torch.float64)
    )
    needed = {network.groups[i].node for i in network.needed(choice)} - {-1}
    fired = {
        network.sizes[layer] + k for layer, k in torch.nonzero(passed.fired[0]).tolist()
    }  # an unused inv has the operand 0 and fires
    assume(not fired & needed)
    values, finite = evaluate(network.expression(weights, choice), columns)
    assume(finite.all())  # the square root of a negative number and log(0) are held without firing
    np.testing.assert_allclose(passed.output[0].numpy(), values, rtol=1e-9, atol=1e-12)


@given(network=networks, seed=st.integers(0, 2**32 - 1))
def test_needed_groups_are_those_of_the_choice_each_once(network, seed):
    choice = random_choice(network, np.random.default_rng(seed))
    needed = list(network.needed(choice))
    assert needed[0] == len(network.groups) - 1
    assert sorted(needed) == sorted(choice)


def test_only_keeps_the_chosen_edges_and_no_other():
    network = Network(("x", "y"), ("+", "sin"), layers=2)
    weights = torch.arange(1.0, network.edges + 1)
    choice = random_choice(network, np.random.default_rng(5))
    kept = only(network, weights, choice)
    edges = sorted(network.groups[i].start + source for i, source in choice.items())
    assert torch.nonzero(kept).flatten().tolist() == edges
    assert torch.equal(kept[edges], weights[edges])


@given(network=networks, seed=st.integers(0, 1000))
@settings(max_examples=25)
def test_edges_that_read_a_quotient_start_at_zero_and_no_others(network, seed):
    weights = initial_weights(network, 2, seed)
    for group in network.groups:
        for source in range(group.width):
            row = network.operator_of(source)
            reads_quotient = row is not None and row.name in ("/", "inv")
            assert ((weights[:, group.start + source] == 0) == reads_quotient).all()


def test_initial_weights_have_the_scale_of_their_group():
    network = Network(("x", "y"), ("+", "sin", "square"), layers=3)
    weights = initial_weights(network, 4000, 0)
    for group in network.groups:
        spread = weights[:, group.start : group.start + group.width].std(0) * group.width**0.5
        assert (spread - 1).abs().max() < 0.08


def test_the_same_seed_gives_the_same_weights_and_another_seed_others():
    network = Network(("x",), layers=2)
    weights = initial_weights(network, 3, 7)
    assert weights.dtype == torch.float32
    assert torch.equal(weights, initial_weights(network, 3, 7))
    assert not torch.equal(weights, initial_weights(network, 3, 8))
    assert not torch.equal(weights[0], weights[1])


def test_drawing_weights_leaves_the_global_random_numbers_alone():
    state = torch.get_rng_state()
    initial_weights(Network(("x",), layers=1), 2, 3)
    assert torch.equal(state, torch.get_rng_state())


@given(network=networks, seed=st.integers(0, 1000))
@settings(max_examples=25)
def test_a_batch_of_restarts_is_one_network_at_a_time(network, seed):
    weights = initial_weights(network, 4, seed, dtype=torch.float64)
    rng = np.random.default_rng(seed)
    inputs = input_rows(network, {name: rng.uniform(0.5, 2, 9) for name in network.inputs}, dtype=torch.float64)
    together = forward_pass(network, weights, inputs)
    assert together.output.shape == (4, 9)
    assert together.nodes.shape == (4, network.sizes[-1], 9)
    assert together.fired.shape == (4, network.layers, len(network.rows))
    for i in range(4):
        alone = forward_pass(network, weights[i : i + 1], inputs)
        torch.testing.assert_close(together.output[i], alone.output[0], rtol=1e-7, atol=1e-9)
        torch.testing.assert_close(together.nodes[i], alone.nodes[0], rtol=1e-7, atol=1e-9)
        assert torch.equal(together.fired[i], alone.fired[0])


def test_the_input_nodes_are_the_columns_and_one():
    network = Network(("b", "a"), ("+",), layers=1)
    inputs = input_rows(network, {"a": [1, 2], "b": [3, 4], "c": [5, 6]})
    assert inputs.tolist() == [[3, 4], [1, 2], [1, 1]]
    assert inputs.dtype == torch.float32
    assert torch.equal(forward_pass(network, torch.ones(1, network.edges), inputs).nodes[0, :3], inputs)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"layers": 0}, "layers must be at least 1, got 0"),
        ({"layers": -3}, "layers must be at least 1, got -3"),
        ({"inputs": ()}, "inputs must name at least one variable"),
        ({"operators": ("+", "pow")}, "pow can't be a node"),
        ({"operators": ("+", "pi")}, "pi can't be a node"),
        ({"operators": ("id",)}, "operators must have at least one besides id"),
        ({"operators": ()}, "operators must have at least one besides id"),
    ],
)
def test_bad_settings_are_refused(settings, says):
    with pytest.raises(ValueError, match=says):
        Network(**({"inputs": ("x",)} | settings))


@pytest.mark.parametrize("operators", [("+", "sine"), "sin"])
def test_unknown_operators_are_refused(operators):
    with pytest.raises(OperatorError, match="operator"):
        Network(("x",), operators)
