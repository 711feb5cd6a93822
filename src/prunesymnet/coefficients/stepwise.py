"""Stepwise regression with a beam: which few of many columns make up a target, where noise hides what is exact.

A greedy step takes the column that explains most by itself, which is often none of those that explain all of it
together. So the `beam` best sets go on side by side, each with every column that may come next. All that is needed of
the rows are the products of the columns in these sets with all columns, and of all with the target.

Two terms that nearly cancel explain nothing alone, neither of them. `best_pairs` looks at all pairs, which takes the
products of all columns with each other.

>>> x = np.linspace(1, 3, 50)
>>> columns = np.array([x**power for power in (-2.0, -1.0, 0.0, 1.0, 2.0, 3.0)])
>>> noise = 1e-3 * np.sin(37 * x**2)
>>> best = best_sets(columns, 2 / x - 3 * x**2 + noise, bits=np.full(6, 6.0))[0]
>>> best.columns, float(best.unexplained) < 1e-6
((1, 4), True)
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.bases import of_length_one
from prunesymnet.coefficients.description import constant_bits, residual_bits

Array = NDArray[np.float64]

BEAM = 48  # sets that go on side by side: those of a law may be far down as long as one of its terms is missing
MOST = 5  # columns of a set
PAIRS_AT_A_TIME = 256  # columns whose pairs with all others are looked at together
INDEPENDENT = 1e-9  # of a column's square: what the others must leave of it
RIDGE = 1e-12  # beside columns of length one, so that those of a set can always be told apart
LEAST = 1e-13  # of the target's square: as much is lost to rounding in products


class Set(NamedTuple):
    """Numbers of columns, the share of the target's square that they leave, and their description length."""

    columns: tuple[int, ...]
    unexplained: float
    length: float


def best_sets(
    columns: Array, target: Array, bits: Array, *, most: int = MOST, beam: int = BEAM, begin: Sequence[Set] = ()
) -> list[Set]:
    """Sets of up to `most` of the columns [columns, rows], the shortest description first; `bits` are those of each
    column beside its coefficient. Rows are weighted already. The sets to `begin` with are of one size (none: the empty
    set)."""
    rows = len(target)
    scaled, along, usable = _scaled(columns, target)
    if not usable.any():
        return []
    bits = bits + constant_bits(rows)
    found = list(begin)
    states: list[tuple[int, ...]] = [one.columns for one in begin] or [()]
    for count in range(len(states[0]), most):
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


def best_beside_first(columns: Array, target: Array, bits: Array) -> list[Set]:
    """The pairs of the first column, the constant, with each of the others: many more may be tried than of all pairs.
    As `best_sets` has them."""
    _, along, usable = _scaled(columns, target)
    if not usable[0]:
        return []
    alone = 1 - float(along[0] ** 2)
    length = float(residual_bits(len(target), max(alone, LEAST)) + bits[0] + constant_bits(len(target)))
    return best_sets(columns, target, bits, most=2, begin=[Set((0,), alone, length)])


def best_pairs(columns: Array, target: Array, bits: Array, *, beam: int = BEAM) -> list[Set]:
    """The best of all pairs of the columns, as `best_sets` has them.

    >>> x = np.linspace(1, 3, 50)
    >>> columns = np.array([x**power for power in (-2.0, -1.0, 0.0, 1.0, 2.0, 3.0)])
    >>> best_pairs(columns, 2 * x**3 - 3 * x**2, bits=np.full(6, 6.0))[0].columns
    (4, 5)
    """
    scaled, along, usable = _scaled(columns, target)
    if not usable.any():
        return []
    bits, rows = bits + constant_bits(len(target)), len(target)
    shortest: list[Set] = []
    for first in range(0, len(columns), PAIRS_AT_A_TIME):
        part = slice(first, first + PAIRS_AT_A_TIME)
        across = scaled[part] @ scaled[first:].T
        own = 1 - across**2
        one, two = along[part, None], along[first:]
        with np.errstate(all="ignore"):
            gain = (one**2 + two**2 - 2 * one * two * across) / own
        later = np.arange(len(across))[:, None] < np.arange(across.shape[1])
        usable_pair = later & (own > INDEPENDENT) & usable[part, None] & usable[first:]
        after = np.where(usable_pair, np.maximum(1 - gain, LEAST), np.inf)
        length = residual_bits(rows, after) + bits[part, None] + bits[first:]
        for place in _smallest(length.reshape(-1), beam):
            i, j = divmod(place, across.shape[1])
            if np.isfinite(after[i, j]):
                shortest.append(Set((first + i, first + j), float(after[i, j]), float(length[i, j])))
    return sorted(shortest, key=lambda one: one.length)[:beam]


def _scaled(columns: Array, target: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    """The columns with length one, their products with the target, which has length one, too, and which of them can be
    used."""
    (scaled, size), whole = of_length_one(columns), float(np.sqrt(target @ target))
    usable = (size > 0) & np.isfinite(size) & (whole > 0)
    scaled = np.where(usable[:, None], scaled, 0.0)
    return scaled, scaled @ (target / (whole or 1.0)), usable


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
