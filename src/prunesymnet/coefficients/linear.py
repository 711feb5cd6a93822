"""Linear least squares with weighted rows: one solve, and the same with terms taken out that the data do not need.

>>> x = np.linspace(0, 1, 20)
>>> columns = np.array([np.ones(20), x, x**2])
>>> weighted_least_squares(columns, 3 * x**2 - 1, np.ones(20)).coefficients.round(6) + 0.0
array([-1.,  0.,  3.])
>>> [term for term, _ in eliminate(columns, 3 * x**2 - 1, rows=20)[0]]
[0, 2]
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.bases import TINY, of_length_one
from prunesymnet.coefficients.description import BITS_PER_SYMBOL, constant_bits, residual_bits

Array = NDArray[np.float64]

DEPENDENT = 1e-12  # relative to the largest singular value: directions below it are rounding errors
LARGEST = 1e300  # of a coefficient: nothing can be computed with one beyond
ROUNDING = 1e-28  # of the target's square: what two roundings of it leave
NO_DIGITS = 1e-13  # of a column of length 1: what is left beside the others has no correct digit


class Linear(NamedTuple):
    """`sizes` are the root mean squares, by the weights, of the terms with their coefficients."""

    coefficients: Array
    sizes: Array


def weighted_least_squares(columns: Array, target: Array, weights: Array) -> Linear:
    """The coefficients of columns [terms, rows] that make the weighted squared error least. Of columns that depend on
    one another the shortest solution is taken; a column that can't be squared gets the coefficient 0."""
    root = np.sqrt(weights)
    with np.errstate(all="ignore"):
        matrix = (columns * root).T
        lengths = np.sqrt(np.einsum("nk,nk->k", matrix, matrix))
        usable = (lengths > 0) & np.isfinite(lengths)
        lengths = np.where(usable, lengths, 1.0)
        scaled = np.where(usable, matrix / lengths, 0.0)
    solved = np.linalg.lstsq(scaled, target * root, rcond=DEPENDENT)[0]
    coefficients = solved / lengths
    return Linear(np.where(np.abs(coefficients) < LARGEST, coefficients, 0.0), np.abs(solved))


class Terms(NamedTuple):
    """Index and coefficient of the columns that are left, their squared error, and their description length."""

    kept: list[tuple[int, float]]
    error: float
    length: float


def eliminate(columns: Array, target: Array, rows: int) -> tuple[list[tuple[int, float]], float]:
    """Least squares, then without the columns [terms, rows] that do not earn their place in description length: index
    and coefficient of those that stay, and the squared error. Rows are weighted already."""
    nothing = Terms([], float(target @ target), np.inf)
    best = min(elimination(columns, target, rows), key=lambda terms: terms.length, default=nothing)
    return best.kept, best.error


def elimination(columns: Array, target: Array, rows: int) -> Iterator[Terms]:
    """Least squares with all columns [terms, rows], then again and again without the one that is needed least."""
    scaled, lengths = of_length_one(columns)
    alive = np.flatnonzero((lengths > 0) & np.isfinite(lengths))[: max(rows - 1, 1)]  # more than rows tell nothing
    total = float(target @ target)
    while len(alive):
        matrix = scaled[alive].T
        q, r = np.linalg.qr(matrix)
        diagonal = np.abs(np.diagonal(r))
        if diagonal.min() < NO_DIGITS:
            alive = np.delete(alive, int(diagonal.argmin()))
            continue
        solved = np.linalg.solve(r, q.T @ target)
        residual = target - matrix @ solved
        error = max(float(residual @ residual), ROUNDING * total)
        length = float(residual_bits(rows, error)) + (constant_bits(rows) + BITS_PER_SYMBOL) * len(alive)
        yield Terms([(int(k), float(c / lengths[k])) for k, c in zip(alive, solved, strict=True)], error, length)
        # The term whose loss costs least: c^2 / (inverse Gram)_kk.
        inverse = np.linalg.inv(r)
        cost = solved**2 / np.maximum(np.einsum("kj,kj->k", inverse, inverse), TINY)
        alive = np.delete(alive, int(cost.argmin()))
