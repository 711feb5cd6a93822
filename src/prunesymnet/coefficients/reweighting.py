"""Fits by other losses than the squared one: least squares, again and again.

At the constants so far, a loss gives each row a weight and a target by which squares have the same slope as the loss
(`Loss.surrogate`). A few steps of least squares lead to better constants, and so on (iteratively reweighted least
squares). A step that makes the loss worse is halved: with a formula that is not linear, or a loss of one's own, it may
lead too far.
"""

import math
import time

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.least_squares import EPSILON, FitStatus, Solution, levenberg_marquardt
from prunesymnet.data import Dataset
from prunesymnet.expression import Program

Array = NDArray[np.float64]

STEPS = 5  # of each least-squares fit: the weights change after it anyway
HALVINGS = 6  # of a step, until it is given up
LEAST_CHANGE = 1e-9  # of the mean loss, relative: a smaller one is the end
LEAST_MOVE = 1e-14  # of all constants, relative: so is a smaller one of these, which is their rounding
FEW = 5  # fits: with so few, a formula is only looked at, and
WORTH = 0.5  # of what the best constant leaves is more than is worth a closer look


def reweighted(
    program: Program, data: Dataset, first: Solution, most: int, deadline: float = math.inf
) -> tuple[Solution, float]:
    """The solution of least loss that at most so many fits lead to from the `first` before the deadline, and its mean
    loss."""
    theta, y, loss = first.constants, data.y, data.loss
    with np.errstate(all="ignore"):
        values = program.values(data.columns, theta)
        mean = _mean(data, values)
        if not len(theta) or not np.isfinite(values).all():
            return _solution(theta, mean, first.status, 0), mean
        if most <= FEW and math.isfinite(mean) and mean > WORTH * data.variation:
            return _solution(theta, mean, first.status, 0), mean
        nothing = (16 * EPSILON) ** 2 * data.mean(y**2)
        status, iterations = FitStatus.MAX_ITERATIONS, first.iterations
        for _ in range(most):
            if mean <= nothing:
                status = FitStatus.CONVERGED
                break
            left = deadline - time.monotonic()
            if left <= 0:
                status = FitStatus.TIME_LIMIT
                break
            scale = loss.scale(y - values, data.weights)
            before = data.mean(loss.each(y, values, scale))
            weights, target = loss.surrogate(y, values, scale)
            root = np.sqrt(weights if data.weights is None else weights * data.weights)
            step = levenberg_marquardt(
                program, data.columns, target, theta[None], root_weights=root, max_iterations=STEPS, time_limit=left,
                second_chance=False,
            )  # fmt: skip
            iterations += step.iterations
            move = step.constants - theta
            for _ in range(HALVINGS):
                values_there = program.values(data.columns, theta + move)
                after = data.mean(loss.each(y, values_there, scale))
                if after <= before or (math.isfinite(after) and not math.isfinite(before)):
                    break
                move = move / 2
            else:
                status = step.status if step.status is not FitStatus.MAX_ITERATIONS else FitStatus.CONVERGED
                break
            small, last = (np.abs(move) <= LEAST_MOVE * np.abs(theta)).all(), mean
            theta, values = theta + move, values_there
            mean = _mean(data, values)
            if small or abs(mean - last) <= LEAST_CHANGE * last:
                status = FitStatus.RANK_DEFICIENT if step.status is FitStatus.RANK_DEFICIENT else FitStatus.CONVERGED
                break
    return _solution(theta, mean, status, iterations), mean


def first_root(program: Program, data: Dataset) -> Array | None:
    """The roots of the weights of the first fit: those that the table says, or those of the loss at the constants as
    they stand, where these are good for something."""
    weights = data.search_weights
    if not data.loss.quadratic and data.start_weights is None:
        values = program.values(data.columns, program.constants)
        if _mean(data, values) < data.variation:
            loss_weights, _ = data.loss.surrogate(data.y, values, data.loss.scale(data.y - values, data.weights))
            weights = loss_weights if weights is None else weights * loss_weights
    return None if weights is None else np.sqrt(weights)


def _mean(data: Dataset, values: Array) -> float:
    return data.mse(values) if np.isfinite(values).all() else math.inf


def _solution(theta: Array, mean: float, status: FitStatus, iterations: int) -> Solution:
    return Solution(theta, mean, status if math.isfinite(mean) else FitStatus.NOT_FINITE, iterations)
