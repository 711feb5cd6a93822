"""One regression that a bank is asked about: a target, the terms that are in its formula already, weights of the rows.

>>> x = np.linspace(0, 1, 30)
>>> regression = Regression(np.sin(3 * x) + 2 * x, fixed_terms=x[None])
>>> candidates = np.array([[np.cos(x)], [np.sin(3 * x)]])
>>> unexplained(candidates, regression).round(3) + 0.0
array([0.001, 0.   ])
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEAST_WEIGHT = 1e-24  # of the largest weight: a row that counts less counts nothing, so that no square underflows
DEPENDENT = 1e-9  # of a column's length: what others leave of it is its rounding
CONSTANT = 1e-13  # of the target's size: what varies less is constant but for its rounding


@dataclass(frozen=True, slots=True)
class Regression:
    """A target [rows], terms that are in the formula already [terms, rows], and weights (None: all rows alike). A
    constant term is always there."""

    target: Array
    fixed_terms: Array | None = None
    weights: Array | None = None


@dataclass(frozen=True, slots=True)
class Residual:
    """What the fixed terms leave of a target: `root` of the weights (of sum 1), orthonormal `basis` of the constant and
    the fixed terms, and `values`, in units in which the target's variation is 1. Rows of the last two are weighted.
    `explained` is the share of the variation that the fixed terms explain."""

    root: Array
    basis: Array
    values: Array
    explained: float

    @classmethod
    def of(cls, regression: Regression) -> "Residual":
        target = regression.target
        weights = np.ones(len(target)) if regression.weights is None else regression.weights
        weights = np.where(weights > LEAST_WEIGHT * weights.max(), weights, 0.0)
        root = np.sqrt(weights / weights.sum())
        basis = _orthonormal(root, () if regression.fixed_terms is None else regression.fixed_terms)
        values = target * root
        size = np.sqrt(values @ values)
        values = values - (values @ root) * root
        variation = np.sqrt(values @ values)
        if not variation > CONSTANT * size or not np.isfinite(variation):
            return cls(root, basis, np.zeros(len(target)), 0.0)
        values = values / variation
        for _ in range(2):  # twice is enough for all digits
            values = values - basis.T @ (basis @ values)
        return cls(root, basis, values, 1.0 - float(values @ values))


def _orthonormal(root: Array, terms: Array | tuple[()]) -> Array:
    """An orthonormal basis of the constant and the terms, all weighted."""
    basis = np.empty((1 + len(terms), len(root)))
    basis[0], count = root, 1
    for term in terms:
        column = term * root
        size = np.sqrt(column @ column)
        for _ in range(2):  # twice is enough for all digits
            column = column - (basis[:count] @ column) @ basis[:count]
        length = np.sqrt(column @ column)
        if length > DEPENDENT * size and np.isfinite(length):
            basis[count], count = column / length, count + 1
    return basis[:count]


def unexplained(terms: Array, regression: Regression) -> Array:
    """The share of the target's variation that a constant, the fixed terms and each candidate's `terms` [candidates,
    terms, rows] leave unexplained, in double precision."""
    residual = Residual.of(regression)
    with np.errstate(all="ignore"):
        columns = terms * residual.root
        left = np.broadcast_to(residual.values, (len(columns), len(residual.values)))
        done: list[Array] = []
        for k in range(columns.shape[1]):
            column = columns[:, k]
            size = np.sqrt(np.einsum("cn,cn->c", column, column))
            for _ in range(2):
                column = column - (column @ residual.basis.T) @ residual.basis
                for other in done:
                    column = column - np.einsum("cn,cn->c", column, other)[:, None] * other
            length = np.sqrt(np.einsum("cn,cn->c", column, column))
            usable = length > DEPENDENT * size
            column = np.where(usable[:, None], column / np.where(usable, length, 1.0)[:, None], 0.0)
            left = left - np.einsum("cn,cn->c", left, column)[:, None] * column
            done.append(column)
        out = np.einsum("cn,cn->c", left, left)
    return np.where(np.isfinite(out), np.minimum(out, 1.0), 1.0)
