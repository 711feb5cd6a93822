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
from prunesymnet.search.archive import Pruned
from prunesymnet.search.forms import merged_form
from prunesymnet.search.settings import SearchSettings
from prunesymnet.search.stages.base import Batch, Context, Stage, Training, When


def propose(context: Context) -> Iterator[Batch]:
    """The candidates of each pruning."""
    settings, data = context.settings, context.train
    training = replace(settings.training, seed=settings.training.seed + settings.seed)
    network = network_of(context.train.names, settings)
    trainer, trace = Trainer(network, data, training), Training(network)
    candidates = _Candidates(context, network)
    forms: list[set[str]] = [set() for _ in range(training.restarts)]
    for epoch in range(1, settings.max_epochs + 1):
        trace.losses.append(float(trainer.step().min()))
        if epoch % settings.prune_every == 0:
            trace.prunings.append(epoch)
            for restart in range(training.restarts):
                batch, found = candidates.of(trainer, restart, epoch)
                trainer.after_pruning(restart, len(found & forms[restart]) / max(len(found), 1))
                forms[restart] = found
                yield replace(batch, training=trace)
            if not training.gradient:
                trainer.reinitialise(trainer.since >= 0)
        context.check()
    yield Batch([], training=trace)


def network_of(names: tuple[str, ...], settings: SearchSettings) -> Network:
    return Network(names, settings.operators, settings.layers)


class _Candidates:
    """What pruning makes of trained networks, each form only so often."""

    def __init__(self, context: Context, network: Network) -> None:
        self.settings, self.data, self.network = context.settings, context.train, network
        self.rng = np.random.default_rng(self.settings.seed)
        self.prune = PRUNERS[self.settings.pruner]
        self.forms: dict[frozenset[tuple[int, int]], str] = {}  # of the choices that have come up
        self.times: dict[str, int] = {}

    def of(self, trainer: Trainer, restart: int, epoch: int) -> tuple[Batch, set[str]]:
        """The candidates of one network, and their forms."""
        weights, nodes = trainer.snapshot(restart)
        trained = Trained(self.network, weights, nodes, self.data.y, self.data.search_weights)
        forms, found = set(), []
        for subnetwork in self.prune(trained, self.settings.pruning, self.rng):
            key = frozenset(subnetwork.chosen.items())
            form = self.forms.get(key)
            if form is None or self.times[form] < self.settings.fits_per_form:
                expression = self.network.expression(weights, subnetwork.chosen)
                form = self.forms[key] = merged_form(expression, self.data)[1]
                self.times[form] = self.times.get(form, 0) + 1
                found.append((expression, Pruned(epoch, subnetwork.chosen, weights)))
            forms.add(form)
        several = reverse(trained) if self.settings.reverse else None
        if several is not None:
            found.append((several, Pruned(epoch, None, weights)))
        return Batch([Proposal(tree, 1.0) for tree, _ in found], pruned=tuple(where for _, where in found)), forms


NETWORKS = Stage("networks", When.START, propose)
