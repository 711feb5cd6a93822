"""Greedy pruning with a beam: of all edges that could be retained, the B of least loss are, in B subnetworks.

Pruning goes layer by layer, from the output to the inputs: all subnetworks are through with a layer before the next
begins, so that losses are compared of subnetworks that are pruned equally far. In some layers, edges are drawn by
chance instead, by a softmax over their losses: without chance, a network that has stopped changing would be pruned to
the same formulas for ever.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from prunesymnet.network.pruning.subnetwork import Scores, Subnetwork, Trained, retain, score_edges
from prunesymnet.operators import UNNESTED
from prunesymnet.settings import check_whole

Array = NDArray[np.float64]

LEAST = 1e-300  # so that a loss of 0 has a logarithm
ENDS, LOGITS = ("input", "output"), ("loss", "log")


@dataclass(frozen=True, slots=True)
class PruningSettings:
    """`beam`: how many subnetworks are kept. In `sampled_layers` layers, counted from the `sampled_from` ("input": the
    first hidden layers; "output": the output and the last), edges are drawn by a softmax: with `sampled_by` "loss" of
    their negative losses, divided by the Euclidean norm of all of them (so that the target's unit does not matter),
    with "log" of the negative logarithms. `unnested`: operators that may not stand inside one another; `rescale`:
    score an edge at the best weight of the output's edge, not the trained one."""

    beam: int = 5
    sampled_layers: int = 2
    sampled_from: str = "input"
    sampled_by: str = "loss"
    unnested: tuple[str, ...] = UNNESTED
    rescale: bool = False

    def __post_init__(self) -> None:
        check_whole(self, beam=1, sampled_layers=0)
        for name, known in {"sampled_from": ENDS, "sampled_by": LOGITS}.items():
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")

    def samples(self, layer: int, layers: int) -> bool:
        """Whether edges are drawn in a layer of so many; the first hidden layer is 1, the output `layers` + 1."""
        if self.sampled_from == "input":
            return layer <= self.sampled_layers
        return layer > layers + 1 - self.sampled_layers


def logits(losses: Array, by: str = "loss") -> Array:
    """What the softmax is taken of; -inf where an edge is not allowed.

    >>> logits(np.array([3.0, 4.0, np.inf])).tolist()
    [-0.6, -0.8, -inf]
    """
    if by == "log":
        return np.asarray(-np.log(losses + LEAST))
    finite = np.isfinite(losses)
    most = losses[finite].max(initial=0.0)
    if not most > 0:
        return np.where(finite, 0.0, -np.inf)
    scaled = losses / most  # squares of large losses would overflow
    result: Array = -scaled / np.sqrt((scaled[finite] ** 2).sum())
    return result


def chosen(losses: Array, count: int, by: str | None, rng: np.random.Generator) -> NDArray[np.int64]:
    """At most so many of those with a finite loss: of least loss, the best first; or drawn without replacement, by the
    softmax that `by` names."""
    order = losses
    if by is not None:
        # Drawing without replacement by a softmax is taking the largest of logits plus Gumbel noise.
        order = -(logits(losses, by) + rng.gumbel(size=len(losses)))
    best = np.argsort(order, kind="stable")[:count]
    return best[np.isfinite(losses[best])]


def beam(trained: Trained, settings: PruningSettings, rng: np.random.Generator) -> list[Subnetwork]:
    """The subnetworks that survive, the best first."""
    network = trained.network
    states = [Subnetwork.whole()]
    while states:
        groups = [state.next_group(network) for state in states]
        layer = max((network.groups[group].layer for group in groups if group is not None), default=0)
        if not layer:
            break
        by = settings.sampled_by if settings.samples(layer, network.layers) else None
        pool: list[tuple[float, Subnetwork, Scores | None, int]] = []
        for state, group in zip(states, groups, strict=True):
            if group is None or network.groups[group].layer < layer:
                pool.append((state.loss, state, None, -1))  # it waits for the others
                continue
            scores = score_edges(trained, state, group, settings.unnested, settings.rescale)
            drawn = chosen(scores.losses, settings.beam, by, rng)
            pool.extend((float(scores.losses[source]), state, scores, int(source)) for source in drawn)
        kept = [pool[k] for k in chosen(np.array([entry[0] for entry in pool]), settings.beam, by, rng)]
        states = [
            state if scores is None else retain(network, state, scores, source, settings.unnested)
            for _, state, scores, source in kept
        ]
    return sorted(states, key=lambda state: state.loss)


def greedy(trained: Trained, settings: PruningSettings, rng: np.random.Generator) -> list[Subnetwork]:
    """The edge of least loss in each group."""
    return beam(trained, replace(settings, beam=1, sampled_layers=0), rng)
