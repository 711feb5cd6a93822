"""Rows drawn from a table in one pass, stratified by the target.

A search looks at a few thousand rows. Which ones, of a hundred million?

- **Every row must have the same chance.** To take more rows from where the target is large would show more of what is
  rare there, but a fit to rows that were chosen by their target is biased: of a noisy row, the noise decides whether it
  is taken.
- **Every part of the target's range must have its share.** Of rows drawn by chance alone, a tail that is one part in a
  thousand may have no row or six among three thousand.

So a large number of rows is drawn first, each by a number of chance that it gets (those with the smallest are kept,
which takes one pass and bounded memory). These are put in the order of the target and cut into as many strata as rows
are wanted, and one is drawn from each.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prunesymnet.data.checks import is_fine_size
from prunesymnet.data.chunks import Chunk, Chunks
from prunesymnet.data.messages import shown, warn
from prunesymnet.errors import DataError

Array = NDArray[np.float64]

MOST_DRAWN = 2**17  # rows: quantiles of so many are right to a tenth of a percent, a fifth of what a sample's are
MOST_VALUES = 2**24  # of all columns, 128 MiB: wide tables have fewer rows drawn
STREAM = 1  # of the random numbers that a seed gives: any but those that others begin with
SPARE = 6.0  # standard deviations of the number of rows drawn, so that hardly ever fewer come than are wanted


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows of a table by label of the column, in the table's order, and what is known of all its rows: how many there
    are, how many were left out for want of a value, the least value of each column, and which are 0 somewhere."""

    columns: Mapping[str, Array]
    rows: int
    left_out: int
    least: Mapping[str, float]
    zeros: frozenset[str]

    def take(self, rows: NDArray[np.int64]) -> dict[str, Array]:
        return {label: values[rows] for label, values in self.columns.items()}


@dataclass(frozen=True, eq=False)
class _Part:
    """What one chunk gives."""

    keys: Array
    values: Array  # [rows, columns]
    rows: int
    left_out: int
    least: Array
    greatest: Array
    zeros: frozenset[str]


def draw(
    chunks: Chunks,
    columns: Sequence[str],
    *,
    seed: int = 0,
    drop_missing: bool = False,
    most: int = MOST_DRAWN,
    tell: Callable[[int], Any] = lambda rows: None,
) -> Drawn:
    """About `most` rows, each row with the same chance, in one pass; `tell` is told how many rows were read."""
    chunks.check_numbers(columns)
    most = max(min(most, MOST_VALUES // len(columns)), 2)
    state = _Threshold(most, chunks.rows)
    work = partial(_drawn, columns=tuple(columns), seed=seed, drop_missing=drop_missing)
    rows, left_out, zeros = 0, 0, frozenset[str]()
    least, greatest = np.full(len(columns), np.inf), np.full(len(columns), -np.inf)
    for part in chunks.map(work, columns, lambda: state.below):
        state.add(part)
        rows, left_out = rows + part.rows, left_out + part.left_out
        least, greatest = np.minimum(least, part.least), np.maximum(greatest, part.greatest)
        zeros |= part.zeros
        tell(part.rows + part.left_out)
    if not rows:
        raise DataError(f"{chunks.name}: has no rows{' that lack no value' if left_out else ''}; check the files")
    for label, size in zip(columns, np.maximum(greatest, -least), strict=True):
        if not is_fine_size(size):
            raise DataError(
                f"column {shown(label)} reaches {size:.0e}, and its square is out of range; use another unit"
            )
    if left_out:
        warn(f"{chunks.name}: left out {left_out:,} of {rows + left_out:,} rows, which lack a value")
    values = state.values()
    found = {label: np.ascontiguousarray(values[:, k]) for k, label in enumerate(columns)}
    return Drawn(found, rows, left_out, dict(zip(columns, least.tolist(), strict=True)), zeros)


@dataclass
class _Threshold:
    """The rows so far, and below which number of chance a row is kept. Where the number of rows is known it is fixed;
    else it falls when there are too many."""

    most: int
    rows: int | None
    keys: list[Array] = field(default_factory=list)
    kept: list[Array] = field(default_factory=list)
    below: float = 1.0

    def __post_init__(self) -> None:
        if self.rows:
            self.below = min((self.most + SPARE * math.sqrt(self.most)) / self.rows, 1.0)

    def add(self, part: _Part) -> None:
        chosen = part.keys < self.below  # which may have fallen since
        self.keys.append(part.keys[chosen])
        self.kept.append(part.values[chosen])
        if sum(map(len, self.keys)) > 2 * self.most:
            self._cut()

    def _cut(self) -> None:
        keys, values = np.concatenate(self.keys), np.concatenate(self.kept)
        if len(keys) > self.most:
            self.below = float(np.partition(keys, self.most)[self.most])
        chosen = keys < self.below
        self.keys, self.kept = [keys[chosen]], [values[chosen]]

    def values(self) -> Array:
        self._cut()
        return self.kept[0]


def _drawn(chunk: Chunk, below: float, *, columns: Sequence[str], seed: int, drop_missing: bool) -> _Part:
    whole = chunk.complete(drop_missing=drop_missing)
    rows = whole.rows
    keys = _random_numbers(seed, chunk.number).random(rows)
    chosen = np.flatnonzero(keys < below)
    values = np.column_stack([whole.columns[label][chosen] for label in columns])
    every = [whole.columns[label] for label in columns]
    least = np.array([values.min(initial=np.inf) for values in every])
    greatest = np.array([values.max(initial=-np.inf) for values in every])
    zeros = frozenset(label for label in columns if not whole.columns[label].all())
    return _Part(keys[chosen], values, rows, chunk.rows - rows, least, greatest, zeros)


def stratified(target: Array, count: int, seed: int = 0) -> NDArray[np.int64]:
    """The numbers of `count` rows, one from each of as many strata of the target, in the table's order; all rows where
    there are no more.

    >>> rows = stratified(np.array([5.0, 1.0, 4.0, 2.0, 3.0, 6.0]), 3)
    >>> sorted(np.array([5.0, 1.0, 4.0, 2.0, 3.0, 6.0])[rows] // 2.1)  # of 1 and 2, 3 and 4, 5 and 6 one each
    [np.float64(0.0), np.float64(1.0), np.float64(2.0)]
    """
    if len(target) <= count:
        return np.arange(len(target))
    rng = _random_numbers(seed)
    # Rows of one value are in an order by chance: else the first of them would have a better one.
    order = np.lexsort([rng.random(len(target)), target])
    edges = np.linspace(0, len(target), count + 1)
    low, high = np.ceil(edges[:-1]).astype(np.int64), np.ceil(edges[1:]).astype(np.int64)
    return np.sort(order[rng.integers(low, high)])


def _random_numbers(seed: int, *which: int) -> np.random.Generator:
    """A stream of its own: of a table that was made with the same seed, the values would decide what is drawn."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(STREAM, *which)))
