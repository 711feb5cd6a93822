"""Which columns matter, without a formula: those that a Gaussian process needs to predict rows from the others.

A process has a length for each column, and one that does not matter gets a length beyond its range. What counts is the
order of the values alone (their normal scores), in the columns and in y: a few large values, or the units, change
nothing, and a function of some columns stays one of the same.

>>> rng = np.random.default_rng(0)
>>> columns = {name: rng.normal(size=60) for name in "abcdef"}
>>> find_relevant(columns, columns["b"] * np.exp(columns["e"])).names
('b', 'e')
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prunesymnet.structure.surfaces import Surface, fit_surface, squares_of, surface

Array = NDArray[np.float64]

MOST_ROWS = 128  # a process of n rows costs n**3
CLEARLY = 3.0  # of the logarithm of the likelihood: odds of 20 to 1 that a column matters


@dataclass(frozen=True)
class Relevant:
    """The columns without which rows are predicted worse, in their order, and the share of the variation that is left
    when each row is predicted from the others."""

    names: tuple[str, ...] = ()
    unexplained: float = 1.0


def find_relevant(columns: Mapping[str, Array], y: Array, check: Callable[[], None] = lambda: None) -> Relevant:
    """The columns that matter, with what they explain of the order of the rows."""
    rows = np.linspace(0, len(y) - 1, min(len(y), MOST_ROWS)).astype(int)
    scores = {name: normal_scores(column[rows]) for name, column in columns.items() if np.ptp(column[rows]) > 0}
    if not scores or not np.ptp(y[rows]) > 0:
        return Relevant()
    names, squares = list(scores), squares_of(np.array(list(scores.values())))
    target = normal_scores(y[rows])
    found = fit_surface(squares, target, (tuple(range(len(names))),))
    while found is not None and len(names) > 1:
        check()
        without = [_without(found, squares, k) for k in range(len(names))]
        least = int(np.argmax(without))
        if without[least] < found.likelihood - CLEARLY:
            break
        del names[least]
        squares = np.delete(squares, least, axis=0)
        found = surface(squares, target, (tuple(range(len(names))),), np.delete(found.settings, least))
    return Relevant() if found is None else Relevant(tuple(names), float(np.mean(found.left_out**2) / np.var(target)))


def _without(found: Surface, squares: Array, column: int) -> float:
    """The likelihood without a column, all else the same."""
    others = np.delete(squares, column, axis=0)
    less = surface(others, found.y, (tuple(range(len(others))),), np.delete(found.settings, column))
    return -np.inf if less is None else less.likelihood


def normal_scores(values: Array) -> Array:
    """What values of a normal distribution would be at the same ranks, with a spread of 1; equal values stay equal."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    scores = ndtri((rankdata(values) - 0.5) / len(values))
    return np.asarray(scores / scores.std())
