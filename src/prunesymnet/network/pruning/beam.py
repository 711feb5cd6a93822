"""Greedy pruning with a beam: of all edges that could be retained, the B of least loss are, in B subnetworks.

Pruning goes layer by layer, from the output to the inputs. In each, every subnetwork is pruned group by group, with a
beam of its own; when all are through, the best of all are kept: so losses are compared of subnetworks that are pruned
equally far. In some layers, edges are drawn by
chance instead, by a softmax over their losses: without chance, a network that has stopped changing would be pruned to
the same formulas for ever.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from prunesymnet.network.pruning.subnetwork import Subnetwork, Trained, retain, score_edges
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
    states = [Subnetwork.whole()]
    for layer in range(trained.network.layers + 1, 0, -1):
        by = settings.sampled_by if settings.samples(layer, trained.network.layers) else None
        pruned = [_through(layer, trained, state, settings, by, rng) for state in states]
        pool = [state for several in pruned for state in several]
        states = [pool[k] for k in chosen(np.array([state.loss for state in pool]), settings.beam, by, rng)]
    return sorted(states, key=lambda state: state.loss)


def _through(
    layer: int, trained: Trained, state: Subnetwork, settings: PruningSettings, by: str | None, rng: np.random.Generator
) -> list[Subnetwork]:
    """What becomes of a subnetwork in one layer: group by group, as many as the beam is wide."""
    network, states = trained.network, [state]
    while states:
        group = states[0].next_group(network)  # the same for all of them: what is retained is open in layers below
        if group is None or network.groups[group].layer < layer:
            break
        scores = [score_edges(trained, one, group, settings.unnested, settings.rescale) for one in states]
        kept = chosen(np.concatenate([one.losses for one in scores]), settings.beam, by, rng)
        width = network.groups[group].width
        states = [
            retain(network, states[k // width], scores[k // width], int(k % width), settings.unnested) for k in kept
        ]
    return states


def greedy(trained: Trained, settings: PruningSettings, rng: np.random.Generator) -> list[Subnetwork]:
    """The edge of least loss in each group."""
    return beam(trained, replace(settings, beam=1, sampled_layers=0), rng)
