"""Random pruning: a coin decides which edge stays. The ablation that shows what looking at the loss is worth."""

import numpy as np

from prunesymnet.network.pruning.beam import PruningSettings
from prunesymnet.network.pruning.subnetwork import Subnetwork, Trained, retain, score_edges


def random(trained: Trained, settings: PruningSettings, rng: np.random.Generator) -> list[Subnetwork]:
    """As many subnetworks as the beam would keep, each pruned by chance alone."""
    found = []
    for _ in range(settings.beam):
        state = Subnetwork.whole()
        while (group := state.next_group(trained.network)) is not None:
            scores = score_edges(trained, state, group, settings.unnested, settings.rescale)
            allowed = np.flatnonzero(np.isfinite(scores.losses))
            if not len(allowed):
                break
            state = retain(trained.network, state, scores, int(rng.choice(allowed)), settings.unnested)
        else:
            found.append(state)
    return sorted(found, key=lambda state: state.loss)
