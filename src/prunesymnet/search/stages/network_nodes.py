"""Nodes of networks that were trained for a moment, with inner weights that the bank's own nodes do not have."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.expression import Expression, evaluate
from prunesymnet.network import Network
from prunesymnet.network.training import LARGEST, Trainer
from prunesymnet.search.forms import merged_form
from prunesymnet.search.stages.base import Context, Stage, When
from prunesymnet.search.stages.networks import network_of

Array = NDArray[np.float64]

LEVEL = 2  # before it, what is cheaper finds more
RESTARTS, EPOCHS = 8, 200  # a second or two
LAYERS = 2  # of a network, from the inputs, whose nodes are small enough for a bank


def nodes(context: Context) -> list[Term]:
    """Of each operand the edge that carries most."""
    data, settings = context.problem.data, context.settings
    if context.budget.level < LEVEL or max(np.abs(data.X).max(), np.abs(data.y).max()) > LARGEST:
        return []
    network = network_of(data.names, settings)
    seed = settings.training.seed + settings.seed
    trainer = Trainer(network, data, replace(settings.training, restarts=RESTARTS, seed=seed))
    for _ in range(EPOCHS):
        trainer.step()
        context.check()
    found: dict[str, Expression] = {}
    for restart in range(RESTARTS):
        weights, values = trainer.snapshot(restart)
        choice = _strongest(network, weights, values)
        for node in range(network.sizes[0], network.sizes[LAYERS]):
            choice[len(network.groups) - 1] = node
            tree, form = merged_form(network.expression(weights, choice), data)
            if tree.variables and context.problem.has(tree):
                found.setdefault(f"{form} {restart}", tree)
    made = [(tree, evaluate(tree, context.problem.columns)) for tree in found.values()]
    return [Term(value.values, tree) for tree, value in made if value.finite.all()]


def _strongest(network: Network, weights: Array, nodes: Array) -> dict[int, int]:
    """For each operand the node that contributes most to it."""
    size = np.sqrt(np.einsum("mn,mn->m", nodes, nodes))
    chosen: dict[int, int] = {}
    for k, group in enumerate(network.groups):
        part = np.abs(weights[group.start : group.start + group.width]) * size[: group.width]
        chosen[k] = int(np.argmax(part))
    return chosen


NETWORK_NODES = Stage("network_nodes", When.LEVEL, nodes=nodes)
