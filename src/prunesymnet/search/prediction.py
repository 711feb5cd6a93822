"""How well formulas predict rows that they were not fitted to, without a fit for each: leave one out by leverage.

The residual of a row in a fit without it is its residual divided by one less its leverage: exactly for linear models,
nearly for others. So a table of a hundred rows is split in a hundred ways for one decomposition.

>>> from prunesymnet.coefficients import fit
>>> from prunesymnet.data import load_example
>>> from prunesymnet.expression import parse
>>> hubble = load_example("hubble")
>>> line, constant = (left_out(fit(parse(form), hubble).expression, hubble) for form in ("1.0*distance", "1.0"))
>>> predicts_better(line, constant), predicts_better(constant, line)
(True, False)
"""

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.bases import basis_of
from prunesymnet.data import Dataset
from prunesymnet.expression import Expression, compile_expression

Array = NDArray[np.float64]

STANDARD_ERRORS = 2.0  # by which one formula must predict better than another, so that it is not by chance
MOST_LEVERAGE = 0.5  # a row with more has most of a constant to itself: how it is predicted without it tells nothing
FEWEST_ROWS = 0.5  # of all, by which two formulas can be compared
ROWS_PER_TERM = 6  # of the quadratic model: with fewer it is fitted to chance, and predicts nothing
MOST_TERMS = 100  # of it: for more the decomposition takes long


def left_out(expression: Expression, data: Dataset) -> Array:
    """The squared error in each row of the formula fitted without it, by the row's weight; not a number for a row that
    has a constant nearly to itself."""
    values, jacobian = compile_expression(expression).values_and_jacobian(data.columns)
    root = _root_weights(data)
    return _without_own_row((data.y - values) * root, _basis(np.where(np.isfinite(jacobian), jacobian, 0.0) * root))


def left_out_by_quadratic(data: Dataset) -> Array | None:
    """The same of the quadratic model, all columns, their squares and their products; None if the rows are too few for
    so many terms."""
    count = (data.features + 1) * (data.features + 2) // 2
    if count > min(data.rows / ROWS_PER_TERM, MOST_TERMS):
        return None
    spread = data.X.std(axis=0)
    X = ((data.X - data.X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)).T
    products = [X[i] * X[j] for i in range(len(X)) for j in range(i, len(X))]
    root = _root_weights(data)
    basis = _basis(np.array([np.ones(data.rows), *X, *products]) * root)
    target = data.y * root
    return _without_own_row(target - basis @ (basis.T @ target), basis)


def _root_weights(data: Dataset) -> Array:
    known = data.search_weights
    return np.ones(data.rows) if known is None else np.sqrt(known / known.mean())


def _basis(columns: Array) -> Array:
    """An orthonormal basis [rows, dimensions] of what columns [count, rows] span."""
    return basis_of(columns, max(columns.shape) * np.finfo(float).eps).T


def _without_own_row(residual: Array, basis: Array) -> Array:
    """The squared residuals of fits without the row, from those of the fit with all rows."""
    own = 1 - np.einsum("nk,nk->n", basis, basis)
    return np.where(own >= 1 - MOST_LEVERAGE, residual**2 / np.maximum(own, 1 - MOST_LEVERAGE) ** 2, np.nan)


def predicts_better(one: Array, other: Array) -> bool:
    """Whether one formula predicts rows better than another, by more than chance explains, from what they leave of
    each row when it is left out."""
    gain = other - one
    gain = gain[np.isfinite(gain)]
    if len(gain) < max(FEWEST_ROWS * len(one), 2):
        return False
    return bool(gain.mean() > STANDARD_ERRORS * gain.std(ddof=1) / np.sqrt(len(gain)))
