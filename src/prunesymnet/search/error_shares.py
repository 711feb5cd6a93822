"""Are errors equally large in all rows, or shares of the values: what describes the rows in fewer bits?

An instrument that is good to one per cent makes errors in proportion to what it reads. Squares then count little else
than the rows of the largest values, and a formula may do as it likes in all others. Divided by the target, the errors
are alike again (the loss "relative").

Which of the two a table has need not be known: each is a distribution of the residuals, and so a number of bits to
write them down. The formulas of a search are fitted in both ways where residuals grow with the target, and
the shorter description decides.

>>> from prunesymnet.data import make_dataset
>>> noise = np.random.default_rng(0).normal(size=60)
>>> x = np.linspace(1, 5, 60)
>>> shares, alike = x**3 * (1 + 0.01 * noise), x**3 + noise
>>> [grow_with_target(make_dataset(x, y), y - x**3) for y in (shares, alike)]
[True, False]
"""

import math

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.description import SMALLEST
from prunesymnet.data import Dataset
from prunesymnet.selection import NEAR_TIE
from prunesymnet.structure.splines import BEYOND_KNOTS, basis, knots

Array = NDArray[np.float64]

STANDARD_ERRORS = 2.0  # by which residuals must grow with the target so that it is not by chance
LARGEST_SHARE = 0.1  # weights of 1/y**2 are themselves as wrong as y: a mean is off by the square of this share, 1%
INNER_KNOTS = 2  # of a smooth curve through the rows: enough for a peak or a step


def makes_a_difference(data: Dataset) -> bool:
    """Whether the values are so different that errors in proportion to them would be seen: the bits that are won where
    errors are shares, and lost where they are alike."""
    with np.errstate(divide="ignore", over="ignore"):
        weights = 1 / data.y**2
    return data.weights is None and bool(np.isfinite(weights).all()) and weight_bits(weights) > NEAR_TIE


def grow_with_target(data: Dataset, residual: Array) -> bool:
    """Whether residuals are larger where the target is: by their ranks, or by their mean squares in the rows of large
    values and the others. Where a formula misses what matters for small values only, just the latter says so."""
    sizes, values = np.abs(residual), np.abs(data.y)
    if np.corrcoef(_ranks(sizes), _ranks(values))[0, 1] * np.sqrt(data.rows - 1) > STANDARD_ERRORS:
        return True
    large = values > np.median(values)
    below, above = (max(float((sizes[rows] ** 2).sum() / data.rows), SMALLEST) for rows in (~large, large))
    # A mean square of m residuals by chance has a logarithm with the standard error sqrt(2/m).
    return bool(np.log(above / below) > STANDARD_ERRORS * np.sqrt(8 / data.rows))


def left_by_curve(data: Dataset) -> Array | None:
    """What a smooth curve leaves of a target that depends on one column; None for several, and where rows are few. As
    long as no formula is near, it shows better than the best of them which rows have the large errors."""
    column = next(iter(data.columns.values()))
    if len(data.columns) > 1 or len(np.unique(column)) < 2 * (INNER_KNOTS + BEYOND_KNOTS):
        return None
    ranks = _ranks(column)[None].astype(float)  # a curve may be steep where rows are close
    curve = basis(ranks, knots(ranks, INNER_KNOTS))[0]
    return np.asarray(data.y - curve @ np.linalg.lstsq(curve, data.y)[0])


def largest_share(rows: int) -> float:
    """How large shares may be: what their weights are off by is then below 1%, or below a mean's standard error."""
    return max(LARGEST_SHARE, 1 / math.sqrt(rows))


def weight_bits(weights: Array | None) -> float:
    """What rows of different weights take more bits to describe than rows of one weight, if the weighted mean square of
    the residuals is the same: each row's standard deviation goes with the inverse root of its weight."""
    if weights is None:
        return 0.0
    return float(0.5 * len(weights) * (np.log2(weights.mean()) - np.log2(np.maximum(weights, SMALLEST)).mean()))


def share(data: Dataset, mse: float) -> float:
    """The root mean square of the errors as shares of the values, from the weighted mean square."""
    assert data.weights is not None  # noqa: S101 - the relative loss has made them
    return float(np.sqrt(mse * data.weights.mean()))


def _ranks(values: Array) -> NDArray[np.int64]:
    return np.argsort(np.argsort(values, kind="stable"), kind="stable")
