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

from prunesymnet.data import Dataset
from prunesymnet.expression import Expression, compile_expression

Array = NDArray[np.float64]

STANDARD_ERRORS = 2.0  # by which one formula must predict better than another, so that it is not by chance
MOST_LEVERAGE = 0.5  # a row with more has most of a constant to itself: how it is predicted without it tells nothing
FEWEST_ROWS = 0.5  # of all, by which two formulas can be compared


def left_out(expression: Expression, data: Dataset) -> Array:
    """The squared error in each row of the formula fitted without it, by the row's weight; not a number for a row that
    has a constant nearly to itself."""
    values, jacobian = compile_expression(expression).values_and_jacobian(data.columns)
    known = data.search_weights
    weights = np.ones(data.rows) if known is None else known / known.mean()
    residual = (data.y - values) * np.sqrt(weights)
    if not len(jacobian):
        return np.asarray(residual**2)
    columns = (np.where(np.isfinite(jacobian), jacobian, 0.0) * np.sqrt(weights)).T
    size = np.linalg.norm(columns, axis=0)
    left, singular, _ = np.linalg.svd(columns / np.where(size > 0, size, 1.0), full_matrices=False)
    kept = singular > singular.max(initial=0.0) * max(columns.shape) * np.finfo(float).eps
    own = 1 - np.einsum("nk,nk->n", left[:, kept], left[:, kept])
    return np.where(own >= 1 - MOST_LEVERAGE, residual**2 / np.maximum(own, 1 - MOST_LEVERAGE) ** 2, np.nan)


def predicts_better(one: Array, other: Array) -> bool:
    """Whether one formula predicts rows better than another, by more than chance explains, from what they leave of
    each row when it is left out."""
    gain = other - one
    gain = gain[np.isfinite(gain)]
    if len(gain) < max(FEWEST_ROWS * len(one), 2):
        return False
    return bool(gain.mean() > STANDARD_ERRORS * gain.std(ddof=1) / np.sqrt(len(gain)))
