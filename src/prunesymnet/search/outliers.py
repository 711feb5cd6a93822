"""Rows that are gross outliers: a slip of the pen, a cable that was loose. Do they take fewer bits when they are told
as such?

Squares are led by a few rows that are far off, and miss the law of all others. A loss that they do not decide (Huber's)
finds it. Whether a table has such rows need not be known: a row that is told by its value alone, anywhere in the
target's range, takes some ten bits, and that it is one of these a few more. If the others are then described in so much
fewer bits, they are outliers.

>>> from prunesymnet.data import make_dataset
>>> rng = np.random.default_rng(0)
>>> x = np.linspace(0, 5, 60)
>>> y = np.exp(-x) + 0.01 * rng.normal(size=60)
>>> y[[5, 20]] += 3.0
>>> found = told_apart(y - np.exp(-x), np.ptp(y))
>>> found.outliers, bool(found.bits < residual_bits(60, np.mean((y - np.exp(-x)) ** 2)))
(2, True)
>>> are_suspected(make_dataset(x, y)), are_suspected(make_dataset(x, np.exp(-x)))
(True, False)
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.description import SMALLEST, residual_bits
from prunesymnet.data import Dataset
from prunesymnet.data.neighbours import FAR, from_neighbours

Array = NDArray[np.float64]

MOST = 0.1  # of the rows: where more are off, there may be a law of these, too
SUSPECTED = 0.2  # of the rows at most: beside a pole, others are far off as well
EVENED_OUT = 3.0  # robust standard deviations off its neighbours, at least, where values count by their logarithms
LEAD = 0.5  # of the squares about the median
GROSS = 6.0  # standard deviations of the others, at least: so far off, no row is by chance
FEWEST_ROWS = 20  # of fewer, one that is off may as well be all that there is to see
EXPLAINED = 0.9  # of the variation of the others: rows are off what is known, not off what is not
PERHAPS_EXPLAINED = 0.5  # the same as long as better formulas may come
NORMAL = 0.5 * math.log2(2 * math.pi * math.e)  # bits of a row by a normal distribution, beside its standard deviation


class Told(NamedTuple):
    """Residuals, the largest of which are outliers: how many, the bits of all rows, the mean square of the others, and
    whether all outliers are gross."""

    outliers: int
    bits: float
    mean_square: float
    gross: bool


def are_suspected(data: Dataset) -> bool:
    """Whether some rows, and not too many, are far off those nearest to them, and have most of the squares: then these
    lead a search by squares."""
    if data.rows < FEWEST_ROWS or data.weights is not None:
        return False
    from_middle = data.y - np.median(data.y)
    size = float(np.median(np.abs(from_middle)))
    if not size > 0:
        return False
    # Beside a pole, and where values have many decades, rows are far off their neighbours by size alone.
    by_value, evened_out = from_neighbours(data.X, data.y, np.arcsinh(from_middle / size))
    off = (by_value >= FAR) & (evened_out >= EVENED_OUT)
    few = 0 < np.count_nonzero(off) <= SUSPECTED * data.rows
    return bool(few and (from_middle[off] ** 2).sum() > LEAD * (from_middle**2).sum())


def told_apart(residual: Array, span: float, least: float = 0.0) -> Told:
    """The residuals with as many outliers as make the description shortest, none at least and a tenth of the rows at
    most; the target has values within a `span`, and mean squares below the `least` are of no interest."""
    squares = np.sort(residual**2)
    rows = len(squares)
    counts = range(int(MOST * rows) + 1)
    inside = [max(float(squares[: rows - k].mean()), least, SMALLEST) for k in counts]
    alone = math.log2(max(span, math.sqrt(SMALLEST))) - NORMAL  # of an outlier, by its value
    which = [math.log2(math.comb(rows, k)) for k in counts]
    bits = [float(residual_bits(rows - k, inside[k])) + k * alone + which[k] for k in counts]
    k = int(np.argmin(bits))
    gross = k > 0 and bool(squares[rows - k] > GROSS**2 * inside[k])
    return Told(k, bits[k] + math.log2(len(counts)), inside[k], gross)
