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
ALL_ITS_OWN = 1e-6  # of a row's leverage are missing to one: the row alone determines a constant, and tells nothing


def left_out(expression: Expression, data: Dataset) -> Array:
    """The squared error in each row of the formula fitted without it, by the row's weight; infinite for a row that
    alone determines a constant."""
    values, jacobian = compile_expression(expression).values_and_jacobian(data.columns)
    weights = np.ones(data.rows) if data.weights is None else data.weights / data.weights.mean()
    residual = (data.y - values) * np.sqrt(weights)
    if not len(jacobian):
        return np.asarray(residual**2)
    columns = (np.where(np.isfinite(jacobian), jacobian, 0.0) * np.sqrt(weights)).T
    size = np.linalg.norm(columns, axis=0)
    left, singular, _ = np.linalg.svd(columns / np.where(size > 0, size, 1.0), full_matrices=False)
    kept = singular > singular.max(initial=0.0) * max(columns.shape) * np.finfo(float).eps
    own = 1 - np.einsum("nk,nk->n", left[:, kept], left[:, kept])
    return np.where(own > ALL_ITS_OWN, residual**2 / np.maximum(own, ALL_ITS_OWN) ** 2, np.inf)


def predicts_better(one: Array, other: Array) -> bool:
    """Whether one formula predicts rows better than another, by more than chance explains, from what they leave of
    each row when it is left out."""
    if not np.isfinite(one).all():
        return False
    if not np.isfinite(other).all():
        return True
    gain = other - one
    return bool(gain.mean() > STANDARD_ERRORS * gain.std(ddof=1) / np.sqrt(len(gain))) if len(gain) > 1 else False
