"""Rows that are far from their neighbours, before there is any formula.

A search by squares must not be led by gross outliers from its first scan on. Each row is compared with the rows nearest
to it: their median, and how far they are from it themselves. A row that is many times as far away is left out at first.
That may be a value beside a pole, too: what is left out of the scan still counts when a formula is fitted and judged.

>>> from prunesymnet.data.dataset import make_dataset
>>> x = np.linspace(-1, 1, 21)
>>> y = x**2
>>> y[4] += 30
>>> table = make_dataset(x, y).with_loss("huber")
>>> np.flatnonzero(first_weights(table) == 0)
array([4])
"""

import numpy as np
from numpy.typing import NDArray

from prunesymnet.data.dataset import Dataset

Array = NDArray[np.float64]

NEIGHBOURS = 8  # of each row: up to three of them may be outliers themselves
NORMAL_MEDIAN = 0.6745  # of the size of a standard normal variable
FAR = 6.0  # robust standard deviations, at which a row has no weight left: so far off, none is by chance
ROWS_AT_A_TIME = 500  # whose distances to all others are computed together


def bisquare(off: Array) -> Array:
    """Tukey's weights of residuals in robust standard deviations: 1 near to 0, falling to 0 where they are far off."""
    return np.where(off < FAR, (1 - (off / FAR) ** 2) ** 2, 0.0)


def first_weights(data: Dataset) -> Array | None:
    """The weights that a search begins with; None for squares."""
    if data.loss.quadratic:
        return None
    near = nearest(data.X)
    around = data.y[near]
    middle = np.median(around, axis=1)
    weights = data.loss.tilt(data.y, _prediction(data, around))
    if data.loss.rejects:
        spread = np.median(np.abs(around - middle[:, None]), axis=1) / NORMAL_MEDIAN
        weights = weights * _unless_far(np.abs(data.y - middle), np.maximum(spread, np.median(spread)))
    return _some_left(weights, data)


def weights_around(data: Dataset, values: Array) -> Array | None:
    """The weights that a search goes on with when it has a formula with such values."""
    weights = data.loss.tilt(data.y, values)
    if data.loss.rejects:
        residual = data.y - values
        weights = weights * _unless_far(np.abs(residual), np.sqrt(data.loss.variance(data.y, values, data.weights)))
    return _some_left(weights, data)


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


def _prediction(data: Dataset, around: Array) -> Array:
    """For each row, the constant of least loss for its neighbours."""
    return np.array([data.loss.centre(values, None) for values in around])


def _unless_far(off: Array, spread: Array | float) -> Array:
    with np.errstate(all="ignore"):
        return np.where(off > 0, bisquare(off / spread), 1.0)


def _some_left(weights: Array, data: Dataset) -> Array | None:
    """The weights, unless they leave too few rows to say anything."""
    counts = weights > 0 if data.weights is None else weights * data.weights > 0
    return weights / weights.max() if 2 * counts.sum() > data.rows else None
