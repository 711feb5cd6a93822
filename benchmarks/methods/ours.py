"""Ours on one thread: the default search, the paper's method with its ablations, and the default without each of its
mechanisms."""

from collections.abc import Callable
from dataclasses import fields, replace

from benchmarks.methods.registry import WITHOUT
from prunesymnet.data import Dataset
from prunesymnet.expression import Expression
from prunesymnet.network.pruning import PruningSettings
from prunesymnet.search import PRESETS, SearchSettings, search
from prunesymnet.search.stages import ExhaustiveSettings

_DEFAULT, _PAPER = PRESETS["default"], PRESETS["paper"]
# What the package says can be switched off, and how: nothing else here knows the mechanisms.
SWITCHES = {field.name: {field.name: False} for field in fields(ExhaustiveSettings) if field.type is bool}


def without(mechanism: str) -> SearchSettings:
    """The default search without a mechanism. Networks are used twice, for nodes of the bank and to be pruned at the
    end: without them, training ends with its first epoch, before any pruning."""
    exhaustive = replace(_DEFAULT.exhaustive, **SWITCHES[mechanism])
    return replace(_DEFAULT, exhaustive=exhaustive, max_epochs=1 if mechanism == "networks" else _DEFAULT.max_epochs)


ABLATIONS: dict[str, SearchSettings] = {WITHOUT + name.replace(" ", "-"): without(name) for name in SWITCHES}
VARIANTS: dict[str, SearchSettings] = {
    "ours": _DEFAULT,
    "paper": _PAPER,
    "trained-weights": replace(_PAPER, pruning=PruningSettings(rescale=False)),
    "paper-1000": replace(_PAPER, max_epochs=1000),
    "no-gradient-1000": replace(PRESETS["no-gradient"], max_epochs=1000),
    "random-pruning-1000": replace(PRESETS["random-pruning"], max_epochs=1000),
    **ABLATIONS,
}


def variant(name: str) -> Callable[[Dataset, float, int], Expression]:
    settings = VARIANTS[name]

    def fit(data: Dataset, seconds: float, seed: int) -> Expression:
        return search(data, replace(settings, time_limit=seconds, seed=seed, workers=1)).best.expression

    return fit
