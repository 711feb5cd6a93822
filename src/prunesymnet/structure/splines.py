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
    """The values [variables, rows, columns] of each variable's B-splines. Four of them are not 0 at a row, and come by
    their recurrence over degrees from the knots around it."""
    low, high = variables.min(axis=1, keepdims=True), variables.max(axis=1, keepdims=True)
    t = np.concatenate([np.repeat(low, DEGREE + 1, 1), inner, np.repeat(high, DEGREE + 1, 1)], axis=1)
    last = (t < high).sum(axis=1, keepdims=True) - 1  # piece that is not empty: it has its end
    piece = np.minimum((variables[:, :, None] >= inner[:, None, :]).sum(axis=2) + DEGREE, np.maximum(last, DEGREE))
    above = [np.take_along_axis(t, piece + k, axis=1) - variables for k in range(1, DEGREE + 1)]
    below = [variables - np.take_along_axis(t, piece + 1 - k, axis=1) for k in range(1, DEGREE + 1)]
    around = [np.ones_like(variables)]
    for degree in range(1, DEGREE + 1):
        carried, made = np.zeros_like(variables), []
        for r, value in enumerate(around):
            width = above[r] + below[degree - 1 - r]
            part = value / np.where(width > 0, width, 1.0)
            made.append(carried + above[r] * part)
            carried = below[degree - 1 - r] * part
        around = [*made, carried]
    values = np.zeros((*variables.shape, inner.shape[1] + BEYOND_KNOTS))
    np.put_along_axis(values, piece[:, :, None] - DEGREE + np.arange(BEYOND_KNOTS), np.stack(around, axis=2), axis=2)
    return values
