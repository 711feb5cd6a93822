"""Ours on one thread: the default search, the paper's method with its ablations, the default with Huber's loss, and
without each of its stages."""

import time
from collections.abc import Callable
from dataclasses import replace

from benchmarks.methods.registry import WITHOUT
from prunesymnet.data import Dataset
from prunesymnet.expression import Expression
from prunesymnet.network.pruning import PruningSettings
from prunesymnet.search import PRESETS, STAGES, SearchSettings, search

_DEFAULT, _PAPER = PRESETS["default"], PRESETS["paper"]
ABLATIONS: dict[str, SearchSettings] = {
    f"{WITHOUT}{stage.name}": replace(_DEFAULT, exhaustive=replace(_DEFAULT.exhaustive, without=(stage.name,)))
    for stage in STAGES
}
VARIANTS: dict[str, SearchSettings] = {
    "ours": _DEFAULT,
    "paper": _PAPER,
    "trained-weights": replace(_PAPER, pruning=PruningSettings(rescale=False)),
    "paper-1000": replace(_PAPER, max_epochs=1000),
    "no-gradient-1000": replace(PRESETS["no-gradient"], max_epochs=1000),
    "random-pruning-1000": replace(PRESETS["random-pruning"], max_epochs=1000),
    "huber": replace(_DEFAULT, loss="huber"),
    **ABLATIONS,
}


def variant(name: str) -> Callable[[Dataset, float, int], Expression]:
    settings = VARIANTS[name]

    def fit(data: Dataset, seconds: float, seed: int) -> Expression:
        limited = replace(settings, time_limit=seconds, seed=seed, workers=1)
        # Seconds of one core: what else the machine does is not counted.
        return search(data, limited, clock=time.process_time).best.expression

    return fit
