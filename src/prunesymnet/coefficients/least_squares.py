"""Levenberg-Marquardt with the linear constants eliminated, from one start or from many as one batch.

A formula is affine in some of its constants: f = f0(a) + sum_j c_j phi_j(a), where `a` are the others. For
given `a` the best c is the solution of a linear least-squares problem, so only `a` is searched (variable
projection). One backward run of the program gives the phi, which are the derivatives with respect to c, and
the columns of `a` together; their Gram matrix gives both the step, undamped in c (Kaufman's form), and after
it the best c. Residuals are always recomputed, so the accuracy is that of the data, not of the Gram matrix.

One iteration for S starts of P constants on n points costs one evaluation with derivatives and S n P^2
multiplications. A start that overflows or has constants that can't be told apart is a result with that status.
"""

import enum
import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from prunesymnet.expression.program import Bound, Columns, Program

Array = NDArray[np.float64]

# Where a fit has converged: the last step gained or moved less than this, relatively. A small move that still gains
# something is no end: on exact data over a narrow range it is small because it was damped.
LEAST_GAIN, LEAST_MOVE, SOMETHING = 1e-12, 1e-7, 1e-3
FIRST_DAMPING, DAMPING_DOWN, DAMPING_UP, LEAST_DAMPING, MOST_DAMPING = 1e-3, 0.03, 5.0, 1e-14, 1e10
EPSILON = float(np.finfo(np.float64).eps)
SAME = 1e-6  # relative: costs that differ by less are the same
SAME_CONSTANTS = SAME**0.5  # relative: around its minimum, a cost grows with the square of the distance
SWALLOWS = 1e20  # times as large (squared) as the target: a column beside which the target is hardly seen
POOR = 1e-3  # of the variation left unexplained
CLEARLY = 1e-8  # a column of which this part (squared) is left beside the others is certainly independent
RANK_TOLERANCE = 1e-10  # of the singular values of the jacobian with its columns scaled to one length


class FitStatus(enum.Enum):
    """How a fit ended; the value is the message."""

    CONVERGED = "converged"
    RANK_DEFICIENT = "converged, but some constants can't be told apart by these data"
    MAX_ITERATIONS = "stopped at the limit of iterations"
    TIME_LIMIT = "stopped at the time limit"
    NOT_FINITE = "the formula is not finite on these data from any start"


@dataclass(frozen=True, slots=True)
class Solution:
    """The best of all starts: its constants, the weighted sum of squared residuals, how it ended."""

    constants: Array
    cost: float
    status: FitStatus
    iterations: int


def levenberg_marquardt(
    program: Program,
    columns: Columns,
    y: Array,
    starts: Array,
    *,
    root_weights: Array | None = None,
    max_iterations: int = 100,
    time_limit: float = float("inf"),
    second_chance: bool = True,
) -> Solution:
    """The constants of least squared residual, from `starts` of shape [starts, constants]."""
    if not starts.shape[1]:
        raise ValueError("the formula has no free constant to fit")
    deadline = time.monotonic() + time_limit
    linear = program.linear
    order = None if len(linear) == starts.shape[1] else [*linear, *(set(range(starts.shape[1])) - set(linear))]
    if order is not None:
        starts = starts[:, order]
    with np.errstate(all="ignore"):
        problem = _Problem(program.bind(columns, order), y, root_weights, len(linear))
        if order is None:
            theta, cost, status, iterations = _linear(problem, starts[0])
        else:
            run = _one if len(starts) == 1 else _many
            result = run(problem, starts, max_iterations, deadline)
            if second_chance and linear and result[1] > POOR * problem.variation():
                # Elimination jumps to the best linear constants for a wrong frequency or pole, and can lose a
                # start that was near the truth: a poor fit is tried again with every constant moving freely.
                problem.linear = 0
                result = min(result, run(problem, starts, max_iterations, deadline), key=lambda r: r[1])
            theta, cost, status, iterations = result
            theta[order] = theta.copy()
    return Solution(theta, cost, status if math.isfinite(cost) else FitStatus.NOT_FINITE, iterations)


class _Problem:
    """The weighted problem, with the linear constants first (`linear` of them)."""

    def __init__(self, bound: Bound, y: Array, root: Array | None, linear: int) -> None:
        self.bound, self.root, self.linear = bound, root, linear
        self.y = y if root is None else y * root
        self.size = float(self.y @ self.y)

    def sweep(self, theta: Array) -> tuple[Array, Array]:
        """Residuals [..., n] and jacobian [..., P, n]."""
        values, jacobian = self.bound.values_and_jacobian(theta)
        if self.root is not None:
            values, jacobian = values * self.root, jacobian * self.root
        return self.y - values, jacobian

    def cost(self, theta: Array) -> float:
        """The sum of squares as the formula gives it. Elimination computes it as a difference, which can be 0 where a
        huge term has swallowed the target."""
        values = self.bound.values(theta)
        rest = self.y - (values if self.root is None else values * self.root)
        cost = float(rest @ rest)
        return cost if math.isfinite(cost) else math.inf

    def true_cost(self, cost: float, gram: Array, theta: Array) -> float:
        """The cost, looked at again where a term may have swallowed the target."""
        largest = max(gram.diagonal().tolist())  # of a few numbers Python's own maximum is the quicker
        return self.cost(theta) if largest > SWALLOWS * self.size else cost

    def sensitivity(self, theta: Array) -> float:
        """By how much the values change if each constant that is not linear does, as a share of it."""
        jacobian = _finite(self.sweep(theta)[1])[self.linear :]
        return float(np.abs(theta[self.linear :]) @ np.sqrt(np.einsum("pn,pn->p", jacobian, jacobian)))

    def floor(self) -> float:
        """A cost below which the residual is all but the rounding of the evaluation itself."""
        return (16 * EPSILON) ** 2 * self.size

    def variation(self) -> float:
        """The weighted sum of squares around the mean."""
        root = np.ones_like(self.y) if self.root is None else self.root
        mean = (self.y @ root) / (root @ root)
        rest = self.y - mean * root
        return float(rest @ rest)

    def converged(self, theta: Array) -> FitStatus:
        """Whether the data tell all constants apart at a solution, by the singular values of the jacobian."""
        jacobian = _finite(self.sweep(theta)[1])
        lengths = np.sqrt(np.einsum("pn,pn->p", jacobian, jacobian))
        told_apart = lengths.all() and len(lengths) <= jacobian.shape[1]
        if told_apart:
            smallest = np.linalg.svd(jacobian / lengths[:, None], compute_uv=False)[-1]
            told_apart = smallest > RANK_TOLERANCE
        return FitStatus.CONVERGED if told_apart else FitStatus.RANK_DEFICIENT


def _finite(jacobian: Array) -> Array:
    """Where the value is finite, an infinite slope (sqrt at 0, 0**c) must not spoil the other rows."""
    return np.where(np.isfinite(jacobian), jacobian, 0.0)


_Result = tuple[Array, float, FitStatus, int]


def _linear(problem: _Problem, start: Array) -> _Result:
    """A formula that is affine in all its constants: a linear solve, and a second one of what it left over."""
    start = np.zeros_like(start)  # from 0, the first residual is the target itself, to the last digit
    residual, jacobian = problem.sweep(start)
    gram = jacobian @ jacobian.T
    factor, change, failed = lapack.dposv(gram, jacobian @ residual)
    apart = 0.0 if failed else _told_apart(factor, gram)
    if apart > CLEARLY:
        rest = residual - change @ jacobian
        if apart < 0.1:  # the second solve gives back the digits that the first lost
            again, _ = lapack.dpotrs(factor, jacobian @ rest)
            change += again
            rest -= again @ jacobian
        cost = float(rest @ rest)
        if math.isfinite(cost):
            return change, problem.true_cost(cost, gram, change), FitStatus.CONVERGED, 0
    # Constants that can hardly be told apart, an infinite slope, or a value that is not finite.
    theta, cost = start, math.inf
    for _ in range(3):
        state = _evaluate(problem, theta)
        if state is None:
            return theta, math.inf, FitStatus.NOT_FINITE, 0
        cost = problem.true_cost(state[2], state[0], theta)
    return theta, cost, problem.converged(theta), 0


def _one(problem: _Problem, starts: Array, max_iterations: int, deadline: float) -> _Result:
    """From a single start: the same method as `_many`, in plain vectors, which is several times faster."""
    linear, theta = problem.linear, starts[0].copy()
    free = range(linear, len(theta))
    state = _evaluate(problem, theta)
    if state is None:
        return theta, math.inf, FitStatus.NOT_FINITE, 0
    if linear and (abs(theta - starts[0]) > 0.5 * abs(starts[0])).any():
        # The linear constants were far off, and the other columns depend on them.
        state = _evaluate(problem, theta) or state
    gram, gradient, cost = state
    floor = problem.floor()
    scale = [0.0] * len(free)
    damping = FIRST_DAMPING
    iteration = 0
    while cost > floor:
        if iteration == max_iterations:
            return theta, cost, FitStatus.MAX_ITERATIONS, iteration
        if time.monotonic() > deadline:
            return theta, cost, FitStatus.TIME_LIMIT, iteration
        iteration += 1
        damped = gram.copy()
        for k, i in enumerate(free):
            scale[k] = max(scale[k], gram[i, i]) or 1.0
            damped[i, i] += damping * scale[k]
        step = _solve_one(damped, gradient)
        trial = theta + step
        small = all(
            abs(move) <= LEAST_MOVE * abs(at)
            for move, at in zip(step[linear:].tolist(), theta[linear:].tolist(), strict=True)
        )
        state = _evaluate(problem, trial)
        if state is not None and state[2] < cost:
            gain = cost - state[2]
            theta = trial
            gram, gradient, cost = state
            damping = max(damping * DAMPING_DOWN, LEAST_DAMPING)
            if gain < (SOMETHING if small else LEAST_GAIN) * cost:
                break
        else:
            damping *= DAMPING_UP
            if small or damping > MOST_DAMPING:
                break
    factor, failed = lapack.dpotrf(gram)
    sure = not failed and _told_apart(factor, gram) > CLEARLY
    cost = problem.true_cost(cost, gram, theta)
    return theta, cost, FitStatus.CONVERGED if sure else problem.converged(theta), iteration


def _told_apart(factor: Array, gram: Array) -> float:
    """By the Cholesky factor, the least part of a column of the jacobian that is left when those before it
    are projected out (squared). Where that is little, `converged` looks closer."""
    left, whole = factor.diagonal().tolist(), gram.diagonal().tolist()
    # The square of a column of tiny numbers may be 0: nothing of it is left.
    return float(min([rest * rest / length if length else 0.0 for rest, length in zip(left, whole, strict=True)]))


def _evaluate(problem: _Problem, theta: Array, *, jacobian_is_clean: bool = False) -> tuple[Array, Array, float] | None:
    """Gram matrix, gradient and cost at `theta`, whose linear constants are moved to their best values in
    place; None where the formula is not finite."""
    residual, jacobian = problem.sweep(theta)
    if jacobian_is_clean:
        jacobian = _finite(jacobian)
    gram = jacobian @ jacobian.T
    linear = problem.linear
    if linear and residual @ residual > SWALLOWS * problem.size and theta[:linear].any():
        # Beside such values the target is lost in rounding, and nothing would seem to be left of it.
        theta[:linear] = 0.0
        return _evaluate(problem, theta, jacobian_is_clean=jacobian_is_clean)
    if linear:
        phi = jacobian[:linear]
        change = _solve_one(gram[:linear, :linear], phi @ residual)
        rest = residual - change @ phi
    else:
        change, rest = None, residual
    gradient = jacobian @ rest
    cost = float(rest @ rest)
    if not (math.isfinite(cost) and math.isfinite(gradient @ gradient)):
        if jacobian_is_clean or not np.isfinite(residual).all():
            return None
        return _evaluate(problem, theta, jacobian_is_clean=True)
    if change is not None:
        theta[:linear] += change
    return gram, gradient, cost


def _solve_one(gram: Array, right: Array) -> Array:
    _, solution, failed = lapack.dposv(gram, right)
    if failed:
        solution = _solve_deficient(gram[None], right[None])[0]
    return solution  # type: ignore[no-any-return]


def _solve_deficient(gram: Array, right: Array) -> Array:
    """The shortest solution (columns scaled to one length) where some directions are not determined. A column that is
    too long to be squared is left out: beside it, numbers would be left that are not scaled at all."""
    lengths = np.sqrt(np.maximum(np.einsum("sii->si", gram), 0.0))
    usable = (lengths > 0) & np.isfinite(lengths)
    lengths = np.where(usable, lengths, 1.0)
    scaled = gram / lengths[:, :, None] / lengths[:, None, :]
    scaled = np.where(np.isfinite(scaled) & usable[:, :, None] & usable[:, None, :], scaled, 0.0)
    values, vectors = np.linalg.eigh(scaled)
    along = np.einsum("sij,si->sj", vectors, np.where(np.isfinite(right), right, 0.0) / lengths)
    kept = values > 1e-13 * values[:, -1:]
    along = np.where(kept, along / np.where(kept, values, 1.0), 0.0)
    solution: Array = np.einsum("sij,sj->si", vectors, along) / lengths
    return solution


def _is_preferred(problem: _Problem, one: Array, other: Array, first: Array) -> bool:
    """Which of two that fit equally well is taken: sin(7*x) looks like sin(3051*x) on a regular grid.

    Where the constants of the first start say something (a constant of which nothing is known starts from 1), the one
    that is nearest to these. Else the one whose constants need fewer digits, as lower frequencies do: an error of 1% in
    7 moves the values less than one in 3051. And of two that need the same, the nearest again: of sin(7*x) and
    -sin(-7*x) the first."""
    inside = slice(problem.linear, None)
    near = _distance(one[inside], first[inside]), _distance(other[inside], first[inside])
    if (first[inside] == 1).any():
        digits = problem.sensitivity(one), problem.sensitivity(other)
        if not math.isclose(*digits, rel_tol=SAME_CONSTANTS):
            return digits[0] < digits[1]
    return bool(near[0] < near[1] - SAME_CONSTANTS)


def _distance(theta: Array, start: Array) -> float:
    """How far constants are from others, by their ratios; another sign is further than a factor of 20."""
    ratio = np.where(start == 0, 1 + theta, theta / start)
    return float(np.abs(np.log(ratio.astype(complex))).sum())


def _many(problem: _Problem, starts: Array, max_iterations: int, deadline: float) -> _Result:
    """From many starts as one batch. Each has its own damping; those that are done leave the batch."""
    linear, count = problem.linear, starts.shape[1]
    best: _Result = (starts[0], float("inf"), FitStatus.NOT_FINITE, 0)
    floor = problem.floor()

    def record(theta: Array, cost: Array, status: FitStatus, iteration: int) -> None:
        nonlocal best
        for k in np.argsort(cost).tolist():
            if cost[k] > (1 + SAME) * best[1] + floor:
                return
            true = problem.cost(theta[k])
            same = math.isfinite(best[1]) and abs(true - best[1]) <= SAME * best[1] + floor
            if _is_preferred(problem, theta[k], best[0], starts[0]) if same else true < best[1]:
                best = (theta[k].copy(), true, status, iteration)

    theta = starts.copy()
    state = _evaluate_many(problem, theta)
    if linear:
        state = _evaluate_many(problem, theta)
    gram, gradient, cost = state
    damping, scale = np.full(len(theta), FIRST_DAMPING), np.zeros((len(theta), count - linear))
    diagonal = np.arange(linear, count)
    done = ~np.isfinite(cost)
    for iteration in range(max_iterations + 1):
        done |= cost <= floor
        if done.any():
            record(theta[done], cost[done], FitStatus.CONVERGED, iteration)
            going = ~done
            theta, gram, gradient, cost = theta[going], gram[going], gradient[going], cost[going]
            damping, scale = damping[going], scale[going]
        if not len(theta):
            break
        if iteration == max_iterations or time.monotonic() > deadline:
            break
        scale = np.maximum(scale, gram[:, diagonal, diagonal])
        damped = gram.copy()
        damped[:, diagonal, diagonal] += damping[:, None] * np.where(scale > 0, scale, 1.0)
        step = _solve_many(damped, gradient)
        trial = theta + step
        trial_gram, trial_gradient, trial_cost = _evaluate_many(problem, trial)
        small = (np.abs(step[:, linear:]) <= LEAST_MOVE * np.abs(theta[:, linear:])).all(axis=1)
        better = trial_cost < cost
        enough = cost - trial_cost >= np.where(small, SOMETHING, LEAST_GAIN) * trial_cost
        done = np.where(better, ~enough, small | (damping > MOST_DAMPING))
        damping = np.where(better, np.maximum(damping * DAMPING_DOWN, LEAST_DAMPING), damping * DAMPING_UP)
        theta = np.where(better[:, None], trial, theta)
        gram = np.where(better[:, None, None], trial_gram, gram)
        gradient = np.where(better[:, None], trial_gradient, gradient)
        cost = np.where(better, trial_cost, cost)
    record(
        theta,
        cost,
        FitStatus.MAX_ITERATIONS if iteration == max_iterations else FitStatus.TIME_LIMIT,
        iteration,
    )
    at, least, status, iteration = best
    return at, least, problem.converged(at) if status is FitStatus.CONVERGED else status, iteration


def _evaluate_many(problem: _Problem, theta: Array) -> tuple[Array, Array, Array]:
    """As `_evaluate`, for a batch; the cost is inf where the formula is not finite."""
    residual, jacobian = problem.sweep(theta)
    finite = np.asarray(np.isfinite(residual).all(axis=1))
    if not finite.all():
        residual = np.where(finite[:, None], residual, 0.0)
    if not np.isfinite(jacobian.sum()):
        jacobian = _finite(jacobian)
    gram = jacobian @ jacobian.transpose(0, 2, 1)
    linear = problem.linear
    swallowed = np.einsum("sn,sn->s", residual, residual) > SWALLOWS * problem.size
    if linear and theta[swallowed, :linear].any():
        theta[swallowed, :linear] = 0.0
        return _evaluate_many(problem, theta)
    if linear:
        phi = jacobian[:, :linear]
        change = _solve_many(gram[:, :linear, :linear], (phi @ residual[:, :, None])[:, :, 0])
        theta[:, :linear] += change
        residual = residual - (change[:, None, :] @ phi)[:, 0]
    gradient = (jacobian @ residual[:, :, None])[:, :, 0]
    cost = np.einsum("sn,sn->s", residual, residual)
    return gram, gradient, np.where(finite & np.isfinite(cost), cost, np.inf)


def _solve_many(gram: Array, right: Array) -> Array:
    try:
        solution: Array = np.linalg.solve(gram, right[:, :, None])[:, :, 0].astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        return _solve_deficient(gram, right)
    wild = np.logical_not(np.isfinite(solution).all(axis=1))
    if wild.any():
        solution[wild] = _solve_deficient(gram[wild], right[wild])
    return solution
