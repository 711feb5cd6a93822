"""Greedy pruning with a beam: of all edges that could be retained, the B of least loss are, in B subnetworks.

In the layers nearest to the output, edges are drawn by a softmax over the losses instead (of their negative
logarithms, so that the scale of the target does not matter): without chance, a network that has stopped changing
would be pruned to the same formulas for ever.
"""

from dataclasses import dataclass, replace

import numpy as np

from prunesymnet.network.pruning.subnetwork import Subnetwork, Trained, retain, score_edges
from prunesymnet.operators import UNNESTED
from prunesymnet.settings import check_whole

LEAST = 1e-300  # so that a loss of 0 has a logarithm


@dataclass(frozen=True, slots=True)
class PruningSettings:
    """`beam`: how many subnetworks are kept; `sampled_layers`: in how many layers, from the output, edges are drawn
    by chance; `unnested`: operators that may not stand inside one another; `rescale`: score an edge at the best
    weight of the output's edge, not the trained one."""

    beam: int = 5
    sampled_layers: int = 2
    unnested: tuple[str, ...] = UNNESTED
    rescale: bool = True

    def __post_init__(self) -> None:
        check_whole(self, beam=1, sampled_layers=0)


def beam(trained: Trained, settings: PruningSettings, rng: np.random.Generator) -> list[Subnetwork]:
    """The subnetworks that survive, the best first."""
    states = [Subnetwork.whole()]
    while True:
        pool: list[tuple[float, float, Subnetwork, object, int]] = []
        done = True
        for state in states:
            group = state.next_group(trained.network)
            if group is None:
                pool.append((float(np.log(state.loss + LEAST)), state.loss, state, None, -1))
                continue
            done = False
            scores = score_edges(trained, state, group, settings.unnested, settings.rescale)
            layer = trained.network.groups[group].layer
            drawn = layer > trained.network.layers + 1 - settings.sampled_layers
            keys = np.log(scores.losses + LEAST)
            if drawn:
                # Drawing without replacement by a softmax is taking the largest of logits plus Gumbel noise.
                keys = keys - rng.gumbel(size=len(keys))
            best = np.argsort(keys, kind="stable")[: settings.beam]
            pool.extend((float(keys[j]), float(scores.losses[j]), state, scores, int(j)) for j in best)
        if done:
            return sorted(states, key=lambda state: state.loss)
        pool = [entry for entry in pool if np.isfinite(entry[1])]
        if not pool:
            return []
        pool.sort(key=lambda entry: entry[0])
        states = [
            state if scores is None else retain(trained.network, state, scores, source, settings.unnested)  # type: ignore[arg-type]
            for _, _, state, scores, source in pool[: settings.beam]
        ]


def greedy(trained: Trained, settings: PruningSettings, rng: np.random.Generator) -> list[Subnetwork]:
    """The edge of least loss in each group."""
    return beam(trained, replace(settings, beam=1, sampled_layers=0), rng)
