"""From a trained network to candidate subnetworks: one retained edge per operand."""

from collections.abc import Callable

from prunesymnet.network.pruning.beam import PruningSettings, beam, greedy
from prunesymnet.network.pruning.random import random
from prunesymnet.network.pruning.reverse import reverse
from prunesymnet.network.pruning.subnetwork import Subnetwork, Trained

PRUNERS: dict[str, Callable[..., list[Subnetwork]]] = {"beam": beam, "greedy": greedy, "random": random}
"""The ways to prune, by name."""

__all__ = ["PRUNERS", "PruningSettings", "Subnetwork", "Trained", "beam", "greedy", "random", "reverse"]
