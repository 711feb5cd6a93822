"""Ours on one thread: the default search, the paper's method with its ablations and with each of our differences, the
default with Huber's loss, with the units of the columns, and without each of its stages."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from benchmarks.methods.registry import WITHOUT
from prunesymnet.data import Dataset
from prunesymnet.expression import Expression
from prunesymnet.search import DIFFERENCES, PRESETS, STAGES, SearchSettings, search
from prunesymnet.search.settings import with_differences

WITH_UNITS = ("with-units", "with-pure-numbers")  # constants may carry units, or not
_DEFAULT, _PAPER = PRESETS["default"], PRESETS["paper"]
ABLATIONS: dict[str, SearchSettings] = {
    f"{WITHOUT}{stage.name}": replace(_DEFAULT, exhaustive=replace(_DEFAULT.exhaustive, without=(stage.name,)))
    for stage in STAGES
}
WITH_ONE: dict[str, SearchSettings] = {f"paper+{name}": with_differences(_PAPER, [name]) for name in DIFFERENCES}
VARIANTS: dict[str, SearchSettings] = {
    "ours": _DEFAULT,
    "paper": _PAPER,
    "paper+": PRESETS["paper+"],
    **WITH_ONE,
    "paper-1000": replace(_PAPER, max_epochs=1000),
    "no-gradient-1000": replace(PRESETS["no-gradient"], max_epochs=1000),
    "random-pruning-1000": replace(PRESETS["random-pruning"], max_epochs=1000),
    "huber": replace(_DEFAULT, loss="huber"),
    **dict.fromkeys(WITH_UNITS, _DEFAULT),
    **ABLATIONS,
}


class Answer(NamedTuple):
    """A formula, and the same with all numbers free that were fitted: some of them may have been rounded since."""

    expression: Expression
    fitted: Expression


def variant(name: str) -> Callable[..., Answer]:
    settings = VARIANTS[name]

    def fit(
        data: Dataset,
        seconds: float,
        seed: int,
        fresh: Dataset | None = None,
        units: Mapping[str, str] | None = None,
    ) -> Answer:
        limited = replace(settings, time_limit=seconds, seed=seed, workers=1)
        if units:
            limited = replace(limited, units=units, constant_units=name != "with-pure-numbers")
        # Seconds of one core: what else the machine does is not counted.
        found = search(data, limited, fresh=fresh, clock=time.process_time)
        return Answer(found.best.expression, found.front.best.free_form or found.best.expression)

    return fit


def takes_units(name: str) -> bool:
    """Whether it is told the units of columns and target."""
    return name in WITH_UNITS


def stops_on_fresh(name: str) -> bool:
    """Whether it takes fresh points of the problem to say when to stop: that is the paper's way."""
    return name in VARIANTS and not VARIANTS[name].holdout
