"""Stepwise regression with a beam: which few of many columns make up a target, where noise hides what is exact.

A greedy step takes the column that explains most by itself, which is often none of those that explain all of it
together. So the `beam` best sets go on side by side, each with every column that may come next. All that is needed of
the rows are the products of the columns in these sets with all columns, and of all with the target.

>>> x = np.linspace(1, 3, 50)
>>> columns = np.array([x**power for power in (-2.0, -1.0, 0.0, 1.0, 2.0, 3.0)])
>>> noise = 1e-3 * np.sin(37 * x**2)
>>> best = best_sets(columns, 2 / x - 3 * x**2 + noise, bits=np.full(6, 6.0))[0]
>>> best.columns, float(best.unexplained) < 1e-6
((1, 4), True)
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.description import constant_bits, residual_bits

Array = NDArray[np.float64]

BEAM = 48  # sets that go on side by side: those of a law may be far down as long as one of its terms is missing
MOST = 5  # columns of a set
INDEPENDENT = 1e-9  # of a column's square: what the others must leave of it
RIDGE = 1e-12  # beside columns of length one, so that those of a set can always be told apart
LEAST = 1e-13  # of the target's square: as much is lost to rounding in products


class Set(NamedTuple):
    """Numbers of columns, the share of the target's square that they leave, and their description length."""

    columns: tuple[int, ...]
    unexplained: float
    length: float


def best_sets(columns: Array, target: Array, bits: Array, *, most: int = MOST, beam: int = BEAM) -> list[Set]:
    """Sets of up to `most` of the columns [columns, rows], the shortest description first; `bits` are those of each
    column beside its coefficient. Rows are weighted already."""
    rows = len(target)
    size, whole = np.sqrt(np.einsum("kn,kn->k", columns, columns)), float(np.sqrt(target @ target))
    usable = (size > 0) & np.isfinite(size)
    if not usable.any() or not whole > 0:
        return []
    scaled = np.where(usable[:, None], columns / np.where(usable, size, 1.0)[:, None], 0.0)
    along = scaled @ (target / whole)
    bits = bits + constant_bits(rows)
    found: list[Set] = []
    states: list[tuple[int, ...]] = [()]
    for count in range(most):
        chosen = np.array(states, dtype=np.int64).reshape(len(states), count)
        left, rest, own = _beside(scaled, along, chosen)
        gain = np.where((own > INDEPENDENT) & usable, rest**2 / np.maximum(own, INDEPENDENT), 0.0)
        after = np.maximum(left[:, None] - gain, LEAST)
        length = residual_bits(rows, after) + bits[chosen].sum(axis=1)[:, None] + bits
        length = np.where(gain > 0, length, np.inf)
        more: dict[tuple[int, ...], Set] = {}
        for place in _smallest(length.reshape(-1), beam * (count + 1)):
            state, column = divmod(place, len(columns))
            if np.isfinite(length[state, column]):
                key = tuple(sorted((*states[state], column)))  # reached in several orders
                more.setdefault(key, Set(key, float(after[state, column]), float(length[state, column])))
        states = list(more)[:beam]
        found += [more[key] for key in states]
        if not states:
            break
    return sorted(found, key=lambda one: one.length)


def _smallest(values: Array, count: int) -> list[int]:
    """The places of so many of the smallest values, in their order."""
    places = np.arange(len(values))
    if count < len(values):
        places = np.sort(np.argpartition(values, count - 1)[:count])
    return [int(place) for place in places[np.argsort(values[places], kind="stable")]]


def _beside(columns: Array, along: Array, chosen: NDArray[np.int64]) -> tuple[Array, Array, Array]:
    """For each set [sets, columns in it]: what it leaves of the target's square, of each column's product with the
    target, and of each column's square."""
    sets, count = chosen.shape
    if not count:
        return np.ones(sets), np.tile(along, (sets, 1)), np.ones((sets, len(along)))
    there, places = np.unique(chosen, return_inverse=True)
    across = (columns[there] @ columns.T)[places.reshape(chosen.shape)]  # [sets, chosen, columns]
    inner = np.take_along_axis(across, chosen[:, None, :], axis=2)
    inverse = np.linalg.inv(inner + RIDGE * np.eye(count))
    solved = np.einsum("sjk,sk->sj", inverse, along[chosen])
    left = 1 - np.einsum("sk,sk->s", along[chosen], solved)
    rest = along - (solved[:, None] @ across)[:, 0]
    return left, rest, 1 - np.einsum("skc,skc->sc", across, inverse @ across)
