"""From a trained network to candidate subnetworks: one retained edge per operand."""

from collections.abc import Callable

from prunesymnet.pruning.beam import PruningSettings, beam, greedy
from prunesymnet.pruning.random import random
from prunesymnet.pruning.reverse import reverse
from prunesymnet.pruning.subnetwork import Subnetwork, Trained

PRUNERS: dict[str, Callable[..., list[Subnetwork]]] = {"beam": beam, "greedy": greedy, "random": random}
"""The ways to prune, by name."""

__all__ = ["PRUNERS", "PruningSettings", "Subnetwork", "Trained", "beam", "greedy", "random", "reverse"]
