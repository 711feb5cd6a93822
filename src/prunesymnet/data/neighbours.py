"""Rows that are far from their neighbours, before there is any formula.

A search by squares must not be led by gross outliers from its first scan on. Each row is compared with the rows nearest
to it: their median, and how far they are from it themselves. A row that is many times as far away is left out at first.
That may be a value beside a pole, too: what is left out of the scan still counts when a formula is fitted and judged.

>>> from prunesymnet.data.dataset import make_dataset
>>> x = np.linspace(-1, 1, 21)
>>> y = x**2
>>> y[4] += 30
>>> table = make_dataset(x, y).with_loss("huber")
>>> np.flatnonzero(weighted_by_neighbours(table).start_weights == 0)
array([4])
"""

import math

import numpy as np
from numpy.typing import NDArray

from prunesymnet.data.dataset import Dataset

Array = NDArray[np.float64]

NEIGHBOURS = 8  # of each row: up to three of them may be outliers themselves
NORMAL_MEDIAN = 0.6745  # of the size of a standard normal variable
FAR = 6.0  # robust standard deviations, at which a row has no weight left: so far off, none is by chance
ENOUGH = 0.5  # of the rows must be left: outliers are the fewer
ROWS_AT_A_TIME = 500  # whose distances to all others are computed together


def bisquare(off: Array) -> Array:
    """Tukey's weights of residuals in robust standard deviations: 1 near to 0, falling to 0 where they are far off."""
    return np.where(off < FAR, (1 - (off / FAR) ** 2) ** 2, 0.0)


def from_neighbours(X: Array, *targets: Array) -> list[Array]:
    """For each target, how far rows are off those nearest to them, in robust standard deviations."""
    rows, found = nearest(X), []
    for y in targets:
        middle, spread = _middle_and_spread(y[rows])
        with np.errstate(all="ignore"):
            found.append(np.where(y != middle, np.abs(y - middle) / spread, 0.0))
    return found


def weighted_by_neighbours(data: Dataset) -> Dataset:
    """The table with the weights that a search begins with; as it is for squares."""
    if data.loss.quadratic:
        return data
    around = data.y[nearest(data.X)]
    middle, spread = _middle_and_spread(around)
    weights = data.loss.tilt(data.y, np.array([data.loss.centre(values, None) for values in around]))
    if data.loss.rejects:
        weights = weights * _unless_far(data.y - middle, spread)
    return _started(data, weights)


def weighted_around(data: Dataset, values: Array) -> Dataset:
    """The table with the weights that a search goes on with when it has a formula with such values; as it is for
    squares, and where the formula is not finite."""
    if data.loss.quadratic or not np.isfinite(values).all():
        return data
    weights = data.loss.tilt(data.y, values)
    if data.loss.rejects:
        weights = weights * _unless_far(data.y - values, math.sqrt(data.loss.variance(data.y, values, data.weights)))
    return _started(data, weights)


def nearest(X: Array) -> NDArray[np.int64]:
    """The rows nearest to each row [rows, neighbours], with all columns in units of their standard deviation."""
    spread = X.std(axis=0)
    scaled = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    square = np.einsum("nd,nd->n", scaled, scaled)
    count = min(NEIGHBOURS, len(X) - 1)
    found = np.empty((len(X), count), dtype=np.int64)
    for first in range(0, len(X), ROWS_AT_A_TIME):
        part = slice(first, first + ROWS_AT_A_TIME)
        far = square[part, None] + square - 2 * scaled[part] @ scaled.T
        far[np.arange(len(far)), np.arange(first, first + len(far))] = np.inf
        found[part] = np.argsort(far, axis=1, kind="stable")[:, :count]
    return found


def _middle_and_spread(around: Array) -> tuple[Array, Array]:
    """The median of each row's neighbours [rows, neighbours], and how far they are from it themselves, at least as far
    as those of most rows."""
    middle = np.median(around, axis=1)
    spread = np.median(np.abs(around - middle[:, None]), axis=1) / NORMAL_MEDIAN
    return middle, np.maximum(spread, np.median(spread))


def _unless_far(residual: Array, spread: Array | float) -> Array:
    with np.errstate(all="ignore"):
        return np.where(residual != 0, bisquare(np.abs(residual) / spread), 1.0)


def _started(data: Dataset, weights: Array) -> Dataset:
    """With these weights to start from, unless they leave too few rows to say anything."""
    counts = weights > 0 if data.weights is None else weights * data.weights > 0
    return data.with_start_weights(weights / weights.max() if counts.sum() > ENOUGH * data.rows else None)
