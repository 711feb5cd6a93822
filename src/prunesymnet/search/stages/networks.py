"""The paper's way to candidates: train the network, prune it, go on training.

It is a search of its own (`pruner="beam"` and the like). After banks it was measured to find nothing that they miss.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from prunesymnet.bank.query import Proposal
from prunesymnet.network import Network
from prunesymnet.network.pruning import PRUNERS, Trained, reverse
from prunesymnet.network.training import Trainer
from prunesymnet.operators import PAPER, select_operators
from prunesymnet.search.archive import Pruned
from prunesymnet.search.settings import SearchSettings
from prunesymnet.search.stages.base import Batch, Context, Stage, Training, When

Edges = frozenset[tuple[int, int]]  # that a candidate retains: (group, node)
SETTLED = 100  # epochs since the weights were drawn, until small ones are small for a reason


def propose(context: Context) -> Iterator[Batch]:
    """The candidates of each pruning."""
    settings, data = context.settings, context.train
    training = replace(settings.training, seed=settings.training.seed + settings.seed)
    network = network_of(context.train.names, settings)
    trainer, trace = Trainer(network, data, training), Training(network)
    candidates = _Candidates(context, network)
    before: list[set[Edges]] = [set() for _ in range(training.restarts)]
    for epoch in range(1, settings.max_epochs + 1):
        trace.losses.append(float(trainer.step().min()))
        if epoch % settings.prune_every == 0:
            trace.prunings.append(epoch)
            for restart in range(training.restarts):
                batch, found = candidates.of(trainer, restart, epoch)
                trainer.after_pruning(restart, overlap(before[restart], found))
                before[restart] = found
                yield replace(batch, training=trace)
        context.check()
    yield Batch([], training=trace)


def overlap(before: set[Edges], now: set[Edges]) -> float:
    """The share of the candidates that retain the same edges as one of the pruning before.

    >>> overlap({frozenset({(3, 0)}), frozenset({(3, 1)})}, {frozenset({(3, 1)}), frozenset({(3, 2)})})
    0.5
    """
    return len(before & now) / max(len(now), 1)


def network_of(names: tuple[str, ...], settings: SearchSettings) -> Network:
    """The network to be trained. A search of banks trains none, and there operators may be asked for that are no nodes
    of a network, powers and pi."""
    operators = settings.searched_operators
    if settings.pruner == "exhaustive":
        rows = [row for row in select_operators(operators).values() if row.name != "id"]
        operators = tuple(row for row in rows if row.arity and row.name != "pow") or (PAPER if rows else ())
    return Network(names, operators, settings.layers)


class _Candidates:
    """What pruning makes of trained networks, each choice of edges only so often."""

    def __init__(self, context: Context, network: Network) -> None:
        self.settings, self.data, self.network = context.settings, context.train, network
        self.rng = np.random.default_rng(self.settings.seed)
        self.prune = PRUNERS[self.settings.pruner]
        self.times: dict[Edges, int] = {}  # that a choice has come up

    def of(self, trainer: Trainer, restart: int, epoch: int) -> tuple[Batch, set[Edges]]:
        """The candidates of one network, and the edges that each of them retains."""
        weights, nodes = trainer.snapshot(restart)
        trained = Trained(self.network, weights, nodes, self.data.y, self.data.search_weights)
        retained, found = set(), []
        for subnetwork in self.prune(trained, self.settings.pruning, self.rng):
            key = frozenset(subnetwork.chosen.items())
            times = self.times[key] = self.times.get(key, 0) + 1
            if times <= self.settings.fits_per_form:
                expression = self.network.expression(weights, subnetwork.chosen)
                found.append((expression, Pruned(epoch, subnetwork.chosen, weights)))
            retained.add(key)
        settled = int(trainer.since[restart]) > SETTLED
        several = reverse(trained) if self.settings.reverse and settled else None
        if several is not None:
            found.append((several, Pruned(epoch, None, weights)))
        return Batch([Proposal(tree, 1.0) for tree, _ in found], pruned=tuple(where for _, where in found)), retained


NETWORKS = Stage("networks", When.START, propose)
