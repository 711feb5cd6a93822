"""Ours on one thread: the default search, the paper's method with its ablations, and the default without each of its
mechanisms."""

from collections.abc import Callable
from dataclasses import replace

from prunesymnet.data import Dataset
from prunesymnet.expression import Expression
from prunesymnet.network.pruning import PruningSettings
from prunesymnet.search import PRESETS, SearchSettings, search

MECHANISMS = (
    "unwrapping", "monomials", "polynomials", "quotients", "given", "singles", "powers", "frequencies", "rates",
    "pursuit", "grafts", "blocks", "networks",
)  # fmt: skip
_DEFAULT, _PAPER = PRESETS["default"], PRESETS["paper"]
# The paper's ablation trains for 1000 epochs at most; `trained-weights` scores an edge at the weight it was trained to,
# as the paper does, where ours scores it at the best weight of the output's edge.
PAPERS: dict[str, SearchSettings] = {
    "paper": _PAPER,
    "trained-weights": replace(_PAPER, pruning=PruningSettings(rescale=False)),
    "paper-1000": replace(_PAPER, max_epochs=1000),
    "no-gradient-1000": replace(PRESETS["no-gradient"], max_epochs=1000),
    "random-pruning-1000": replace(PRESETS["random-pruning"], max_epochs=1000),
}
ABLATIONS: dict[str, SearchSettings] = {
    f"without-{name}": replace(_DEFAULT, exhaustive=replace(_DEFAULT.exhaustive, **{name: False}))
    for name in MECHANISMS
}
VARIANTS: dict[str, SearchSettings] = {"ours": _DEFAULT} | PAPERS | ABLATIONS


def variant(name: str) -> Callable[[Dataset, float, int], Expression]:
    settings = VARIANTS[name]

    def fit(data: Dataset, seconds: float, seed: int) -> Expression:
        return search(data, replace(settings, time_limit=seconds, seed=seed, workers=1)).best.expression

    return fit
