"""Nodes of networks that were trained for a moment. Nothing here depends on what a network has learned."""

from dataclasses import replace

import numpy as np
import pytest

from contexts import context_of, problem, stages_named
from prunesymnet.bank.bank import LISTED
from prunesymnet.expression import evaluate
from prunesymnet.network.activation import forward
from prunesymnet.network.training import Trainer
from prunesymnet.search import SearchSettings
from prunesymnet.search.stages import network_nodes
from prunesymnet.search.stages.networks import network_of

EPOCHS, RESTARTS = 15, 2
OPERATORS = ("+", "*", "sin", "exp")


@pytest.fixture(autouse=True)
def _short_training(monkeypatch):
    monkeypatch.setattr(network_nodes, "EPOCHS", EPOCHS)
    monkeypatch.setattr(network_nodes, "RESTARTS", RESTARTS)


def context(truth=None, **options):
    settings = SearchSettings(operators=OPERATORS, layers=3, seed=1)
    truth = truth or problem("sin(1.7*x)*y", OPERATORS, rows=50)
    return context_of(truth, stages=stages_named("network_nodes"), settings=settings, **options).at(network_nodes.LEVEL)


def test_they_are_those_of_the_network_with_the_strongest_edges():
    checks = []
    given = context(check=lambda: checks.append(1))
    found = network_nodes.nodes(given)
    assert len(checks) == EPOCHS
    settings, data = given.settings, given.problem.data
    network = network_of(data.names, settings)
    trainer = Trainer(network, data, replace(settings.training, restarts=RESTARTS, seed=settings.training.seed + 1))
    for _ in range(EPOCHS):
        trainer.step()
    known = []
    for restart in range(RESTARTS):
        weights, nodes = trainer.snapshot(restart)
        kept, size = np.zeros_like(weights), np.linalg.norm(nodes, axis=1)
        for group in network.groups[:-1]:
            edges = slice(group.start, group.start + group.width)
            strongest = group.start + int(np.argmax(np.abs(weights[edges]) * size[: group.width]))
            kept[strongest] = weights[strongest]
        inputs = network.input_table(data.columns)
        alone = forward(np, kept[None], inputs, network.rows, network.sizes)[1][0]
        out = weights[network.groups[-1].start :]
        known += [out[node] * alone[node] for node in range(network.sizes[0], network.sizes[network_nodes.LAYERS])]
    assert found
    for values, tree in found:
        assert tree.variables
        np.testing.assert_allclose(values, evaluate(tree, data.columns).values)
        assert any(np.allclose(values, node, rtol=1e-4, atol=1e-6) for node in known), str(tree)


def test_they_join_the_bank_of_pairs():
    given = context()
    bank = given.pair_bank
    listed = [bank.expression(node) for node in range(len(bank)) if bank.operator[node] == LISTED]
    assert listed
    assert set(map(str, listed)) <= {str(term.expression) for term in network_nodes.nodes(given)}


def test_before_their_level_there_are_none():
    assert network_nodes.nodes(context().at(network_nodes.LEVEL - 1)) == []


def test_of_numbers_too_large_for_a_network_there_are_none():
    assert network_nodes.nodes(context(problem("1e30*x*y", OPERATORS, rows=20))) == []


def test_columns_that_were_left_out_are_in_no_node():
    few = problem("sin(1.7*x)*y + z", OPERATORS, names="xyz", rows=50).only(["x", "y"])
    for term in network_nodes.nodes(context(few)):
        assert set(term.expression.variables) <= {"x", "y"}
