"""Smooth functions of several columns without a formula: a Gaussian process, and how well the rows speak for it.

A process says that values at two points are the more alike the nearer these are, in units of a length for each column.
A sum of functions, each of columns of its own, is a sum of such processes. The lengths, the sizes of the functions and
the noise are those of the highest likelihood, with the scale of y and its mean integrated out; so the likelihoods of
two sums say which of them the rows speak for, and with how many bits.

n rows cost n**3 for each of a few dozen steps: some hundred rows are enough, and a few milliseconds each.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Parts = tuple[tuple[int, ...], ...]  # the columns of each function

LENGTHS = np.log([0.2, 50.0])  # in standard deviations of a column: from what rows can still show to a straight line
NOISE = np.log([1e-9, 1.0])  # beside the variance of the functions: below, rounding decides
SIZES = np.log([1e-3, 1e3])  # of one function beside the first
STEPS = 40  # of the likelihood's climb: it is flat by then
FIRST = np.log([1.0, 3.0])  # lengths to begin with
FIRST_NOISE = np.log(1e-4)
JITTER = 1e-10  # of the variance: added to the noise, so that rounding leaves the matrix positive


@dataclass(frozen=True)
class Surface:
    """A sum of smooth functions on some rows: its `settings`, and what follows from them: the covariances of each
    function [parts, rows, rows], the precision (with the mean taken out) and the logarithm of the likelihood."""

    y: Array
    parts: Parts
    settings: Array  # logarithms of the lengths, the noise, and the sizes of all functions but the first
    covariances: Array
    precision: Array
    weighted: Array  # precision times y
    likelihood: float

    def values(self, part: int) -> Array:
        """One of the functions on the rows; their means are not known apart."""
        return np.asarray(self.covariances[part] @ self.weighted)

    def variance(self, part: int) -> float:
        """By how much the values of one of the functions, but for a constant, are uncertain: the mean over the rows."""
        own = self.covariances[part]
        left = own - own @ self.precision @ own
        return max(float(np.trace(left) - left.mean(axis=0).sum()), 0.0) / len(own) * _scale(self.y, self.weighted)

    def size_of(self, part: int) -> float:
        """The logarithm of the size of one of the functions beside the first."""
        return float(self.settings[len(self.settings) - len(self.parts) + part]) if part else 0.0

    def settings_of(self, part: int) -> Array:
        """Of one of the functions with the noise, alone."""
        count = len(self.settings) - len(self.parts)
        return np.concatenate([self.settings[:count], [self.settings[count] - self.size_of(part)]])

    @property
    def left_out(self) -> Array:
        """What is left of each row when it is predicted from all others."""
        return np.asarray(self.weighted / np.diag(self.precision))


def squares_of(columns: Array) -> Array:
    """Squared distances of the rows in each of the columns [columns, rows], which have a spread of 1."""
    return np.asarray((columns[:, :, None] - columns[:, None, :]) ** 2)


def fit_surface(squares: Array, y: Array, parts: Parts, like: Surface | None = None) -> Surface | None:
    """The sum of functions of these parts that is most likely; `like` says where to begin. None where no covariance is
    positive, as for rows that are all alike."""
    from scipy.optimize import minimize

    count, more = len(squares), len(parts) - 1
    bounds = [tuple(LENGTHS)] * count + [tuple(NOISE)] + [tuple(SIZES)] * more

    def slope(settings: Array) -> tuple[float, Array]:
        value, gradient = _likelihood(settings, squares, y, parts)
        return -value, -gradient

    first = [np.append(np.full(count, length), FIRST_NOISE) for length in FIRST]
    best = None
    for begin in first if like is None else [like.settings[: count + 1]]:
        begin = np.append(begin, np.zeros(more))
        found = minimize(slope, begin, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": STEPS})
        if np.isfinite(found.fun) and (best is None or found.fun < best.fun):
            best = found
    return None if best is None else surface(squares, y, parts, best.x)


def surface(squares: Array, y: Array, parts: Parts, settings: Array) -> Surface | None:
    """As the settings have it; None where the covariance is not positive."""
    count = len(squares)
    scaled = squares / np.exp(2 * settings[:count])[:, None, None]
    sizes = [0.0, *settings[count + 1 :]]
    covariances = np.array(
        [np.exp(size - 0.5 * scaled[list(part)].sum(axis=0)) for size, part in zip(sizes, parts, strict=True)]
    )
    solved = _precision(covariances.sum(axis=0), float(np.exp(settings[count])))
    if solved is None:
        return None
    precision, log_determinant = solved
    weighted = precision @ y
    likelihood = -0.5 * (len(y) - 1) * np.log(_scale(y, weighted)) - log_determinant
    return Surface(y, parts, settings, covariances, precision, weighted, float(likelihood))


def _scale(y: Array, weighted: Array) -> float:
    """The variance of y in units of the covariances."""
    return max(float(y @ weighted), np.finfo(float).tiny) / (len(y) - 1)


def _precision(covariance: Array, noise: float) -> tuple[Array, float] | None:
    """The inverse with the mean taken out, and half the logarithm of its determinant."""
    from scipy.linalg import lapack

    rows = len(covariance)
    root, failed = lapack.dpotrf(covariance + (noise + JITTER) * np.eye(rows), lower=1)
    if failed:
        return None
    inverse = lapack.dpotri(root, lower=1)[0]
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    ones = inverse.sum(axis=0)
    total = float(ones.sum())
    if not total > 0:
        return None
    return inverse - np.outer(ones, ones) / total, float(np.log(np.diag(root)).sum() + 0.5 * np.log(total))


def _likelihood(settings: Array, squares: Array, y: Array, parts: Parts) -> tuple[float, Array]:
    """The logarithm of the likelihood and its slope; no likelihood where the matrix is not positive."""
    now = surface(squares, y, parts, settings)
    if now is None:
        return -np.inf, np.zeros_like(settings)
    weighted, count = now.weighted, len(squares)
    # The slope in a number is half the sum of this matrix times the covariances' slope.
    push = np.outer(weighted, weighted) / _scale(y, weighted) - now.precision
    gradient = np.empty_like(settings)
    for k in range(count):
        part = next(number for number, columns in enumerate(parts) if k in columns)
        gradient[k] = np.vdot(push, now.covariances[part] * squares[k]) / np.exp(2 * settings[k])
    gradient[count] = np.trace(push) * np.exp(settings[count])
    gradient[count + 1 :] = [np.vdot(push, covariance) for covariance in now.covariances[1:]]
    return now.likelihood, gradient / 2
