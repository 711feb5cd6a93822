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
# Three standard deviations below the law is 0: with larger ones, rows near 0 would count more than all others.
LARGEST_SHARE = 1 / 3
LIKELY_SHARE = 0.1  # of measurements; more is rare
NOT_SEEN = 0.1  # standard errors: so much off is nothing
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


def likely_share(rows: int) -> float:
    """How large shares may be before other formulas have been looked for; in few rows, chance makes them larger."""
    return max(LIKELY_SHARE, 1 / math.sqrt(rows))


def bias(share: float) -> float:
    """How much too small a formula's values are, as a part of these, where rows are weighted by the inverse squares of
    their targets: those that are too small by chance count more than those that are too large. To second order in the
    share, for errors that are normal.

    >>> y = 7 * (1 + 0.1 * np.random.default_rng(0).normal(size=10**5))
    >>> round(float(1 - np.average(y, weights=1 / y**2) / 7), 2), round(bias(0.1), 2)
    (0.02, 0.02)
    """
    return 2 * share**2


def bias_is_seen(share: float, rows: int) -> bool:
    """Whether that is not small beside the standard error of a mean."""
    return bias(share) > NOT_SEEN * share / math.sqrt(rows)


def bias_bits(share: float, rows: int) -> float:
    """What it adds to the bits of the residuals."""
    share = min(share, LARGEST_SHARE)  # larger ones may be those of a formula that is not near
    return 0.5 * rows * math.log2(1 + (bias(share) / share) ** 2) if share else 0.0


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


def share_of(data: Dataset, predicted: Array) -> float:
    """The root mean square of the errors as shares of what a formula predicts: large where some rows are far above it,
    which are no more than once their own value off."""
    with np.errstate(all="ignore"):
        counts = None if data.weights is None else data.weights * data.y**2
        value = float(np.sqrt(np.average((data.y / predicted - 1) ** 2, weights=counts)))
    return value if math.isfinite(value) else math.inf


def _ranks(values: Array) -> NDArray[np.int64]:
    return np.argsort(np.argsort(values, kind="stable"), kind="stable")
