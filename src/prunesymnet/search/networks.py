"""The paper's way to candidates: train the network, prune it, go on training."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from prunesymnet.data import Dataset
from prunesymnet.expression import Expression, canonical_and_skeleton
from prunesymnet.network import Network
from prunesymnet.network.pruning import PRUNERS, Trained, reverse
from prunesymnet.network.training import Trainer
from prunesymnet.search.forms import without_needless_abs
from prunesymnet.search.judge import Judge
from prunesymnet.search.settings import SearchSettings

Array = NDArray[np.float64]


NODE_LAYERS = 2  # of a trained network, from the inputs, whose nodes are small enough for a bank


def learned_nodes(
    network: Network, data: Dataset, settings: SearchSettings, *, restarts: int, epochs: int, check: Callable[[], None]
) -> list[Expression]:
    """Nodes of networks trained for a while, with their learned inner weights: of each operand the edge that carries
    most. They are for the bank, whose own nodes have weights of one."""
    seed = settings.training.seed + settings.seed
    trainer = Trainer(network, data, replace(settings.training, restarts=restarts, seed=seed))
    for _ in range(epochs):
        trainer.step()
        check()
    found: dict[str, Expression] = {}
    for restart in range(restarts):
        weights, nodes = trainer.snapshot(restart)
        choice = _strongest(network, weights, nodes)
        for node in range(network.sizes[0], network.sizes[NODE_LAYERS]):
            choice[len(network.groups) - 1] = node
            tree, form = canonical_and_skeleton(network.expression(weights, choice))
            if tree.variables:
                found.setdefault(f"{form} {restart}", without_needless_abs(tree, data))
    return list(found.values())


def _strongest(network: Network, weights: Array, nodes: Array) -> dict[int, int]:
    """For each operand the node that contributes most to it."""
    size = np.sqrt(np.einsum("mn,mn->m", nodes, nodes))
    chosen: dict[int, int] = {}
    for k, group in enumerate(network.groups):
        part = np.abs(weights[group.start : group.start + group.width]) * size[: group.width]
        chosen[k] = int(np.argmax(part))
    return chosen


class Networks:
    """A batch of networks in training, and the candidates that pruning makes of them."""

    def __init__(self, judge: Judge, settings: SearchSettings) -> None:
        self.judge, self.settings = judge, settings
        self.network = Network(judge.data.names, settings.operators, settings.layers)
        self.rng = np.random.default_rng(settings.seed)
        self.forms: dict[frozenset[tuple[int, int]], str] = {}  # of the choices that have come up
        self.pruner = settings.pruner if settings.pruner in PRUNERS else "beam"
        self.losses: list[float] = []
        self.prunings: list[int] = []

    def run(self, max_epochs: int, deadline: float) -> Iterator[int]:
        """Train and prune; gives the epoch after each step, and ends when a formula is exact."""
        settings = self.settings
        training = replace(settings.training, seed=settings.training.seed + settings.seed)
        trainer = Trainer(self.network, self.judge.train, training)
        last: list[set[str]] = [set() for _ in range(training.restarts)]
        for epoch in range(1, max_epochs + 1):
            self.losses.append(float(trainer.step().min()))
            if epoch % settings.prune_every == 0:
                self.prunings.append(epoch)
                for restart in range(training.restarts):
                    if self.judge.exact() or time.monotonic() > deadline:
                        break  # many restarts take long to prune
                    forms = self.prune(trainer, restart, epoch)
                    overlap = len(forms & last[restart]) / max(len(forms), 1)
                    trainer.after_pruning(restart, overlap)
                    last[restart] = forms
                if not training.gradient:
                    trainer.reinitialise(trainer.since >= 0)
            yield epoch
            if self.judge.exact():
                return

    def prune(self, trainer: Trainer, restart: int, epoch: int) -> set[str]:
        """Prune one network and try its candidates; the forms that came out."""
        settings, judge = self.settings, self.judge
        weights, nodes = trainer.snapshot(restart)
        trained = Trained(self.network, weights, nodes, judge.train.y, judge.train.weights)
        forms = set()
        for found in PRUNERS[self.pruner](trained, settings.pruning, self.rng):
            key = frozenset(found.chosen.items())
            form = self.forms.get(key)
            if form is None or judge.tries[form] < settings.fits_per_form:
                expression = self.network.expression(weights, found.chosen)
                form = judge.consider(expression, "networks", epoch=epoch, choice=found.chosen, weights=weights)
                self.forms[key] = form
            forms.add(form)
        if settings.reverse:
            several = reverse(trained)
            if several is not None:
                judge.consider(several, "networks", epoch=epoch, weights=weights)
        return forms
