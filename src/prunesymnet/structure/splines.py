"""Cubic B-splines of many variables at once: the columns by which a smooth function of one is a linear regression.

>>> u = np.linspace(0, 1, 50)[None]
>>> columns = basis(u, knots(u, 3))
>>> columns.shape, bool(np.allclose(columns.sum(axis=2), 1))
((1, 50, 7), True)
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DEGREE = 3  # cubic: a smooth curve on few knots, and with continuous curvature
BEYOND_KNOTS = DEGREE + 1  # columns that a basis has more than inner knots


def knots(variables: Array, count: int) -> Array:
    """Inner knots [variables, count] of variables [variables, rows]: at quantiles, nearer to each other at both ends,
    where curves are steep."""
    share = (1 - np.cos(np.pi * np.arange(1, count + 1) / (count + 1))) / 2
    return np.asarray(np.quantile(variables, share, axis=1).T)


def basis(variables: Array, inner: Array) -> Array:
    """The values [variables, rows, columns] of each variable's B-splines, by their recurrence over degrees."""
    low, high = variables.min(axis=1, keepdims=True), variables.max(axis=1, keepdims=True)
    t = np.concatenate([np.repeat(low, DEGREE + 1, 1), inner, np.repeat(high, DEGREE + 1, 1)], axis=1)[:, None]
    u = variables[:, :, None]
    values = ((u >= t[..., :-1]) & (u < t[..., 1:])).astype(float)
    last = (t[:, 0] < high).sum(axis=1) - 1  # piece that is not empty: it has its end
    which, rows = np.nonzero(variables >= high)
    values[which, rows] = 0.0
    values[which, rows, last[which]] = 1.0
    for p in range(1, DEGREE + 1):
        left, right = t[..., p:-1] - t[..., : -p - 1], t[..., p + 1 :] - t[..., 1:-p]
        rising = (u - t[..., : -p - 1]) / np.where(left > 0, left, np.inf)
        falling = (t[..., p + 1 :] - u) / np.where(right > 0, right, np.inf)
        values = rising * values[..., :-1] + falling * values[..., 1:]
    return values
