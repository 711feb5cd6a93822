"""The last fit of a formula to a table that is larger than memory: errors and error bars of all rows, chunk by chunk.

A step of Gauss and Newton needs of all rows only what fits into a small triangle: the jacobian J and the residual r,
side by side, are decomposed, [J r] = Q R, and R is kept. The triangles of two chunks, one on top of the other and
decomposed again, are that of both. So nothing is squared: sums of products J'J would have half the digits, and
constants that nearly make up for one another would be lost.

R has all that is asked for: the step, the sum of squares, and the covariance of the constants (`uncertainty`), the same
as from all rows in memory.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.closed_forms import closed_forms
from prunesymnet.coefficients.description import MOST_DIGITS, ROUNDING, formula_bits, residual_bits
from prunesymnet.coefficients.rounded import EXPONENTS
from prunesymnet.coefficients.uncertainty import covariance_of
from prunesymnet.expression import Constant, Expression, Program, apply, compile_expression, fold
from prunesymnet.expression.canonical.terms import constant_value
from prunesymnet.expression.tree import LARGEST_INT, is_free, with_numbers
from prunesymnet.operators import Operator

Array = NDArray[np.float64]

MOST_PASSES = 12  # over all rows: from a good start three are enough, and each may take minutes
NEAR = 1e-3  # standard errors: constants that are so near to the best are the best
STANDARD_ERRORS = 2.0  # by which a rounding may move a constant: nineteen of twenty true values are so near
MOST_OF_A_NUMBER = 0.1  # of a constant: it is hardly known where its standard error is larger, and any number would do
DAMPING = 1e-3  # of a step that made things worse, beside columns of length one
MORE_DAMPING = 10.0  # times, after each such step; less by as much after one that made things better


@dataclass(frozen=True)
class Moments:
    """Of numbers that come in parts: their weights together, their mean, and the sum of squares around it."""

    weight: float = 0.0
    mean: float = 0.0
    squares: float = 0.0

    @classmethod
    def of(cls, values: Array, weights: Array | None = None) -> "Moments":
        weight = float(len(values)) if weights is None else float(weights.sum())
        if not weight > 0:
            return cls()
        mean = float(np.average(values, weights=weights))
        around = (values - mean) ** 2
        return cls(weight, mean, float(around.sum() if weights is None else weights @ around))

    def with_more(self, other: "Moments") -> "Moments":
        """Both together, without the loss of digits that sums of squares would have.

        >>> Moments.of(np.array([1.0, 2.0])).with_more(Moments.of(np.array([6.0])))
        Moments(weight=3.0, mean=3.0, squares=14.0)
        """
        weight = self.weight + other.weight
        if not other.weight or not weight:
            return self
        apart = other.mean - self.mean
        mean = self.mean + apart * other.weight / weight
        return Moments(weight, mean, self.squares + other.squares + apart**2 * self.weight * other.weight / weight)


@dataclass(frozen=True, eq=False)
class Sums:
    """What all rows say of a formula: `triangle` is R of the jacobian and the residual, rows by the roots of their
    weights (without derivatives, the root of the sum of squares alone); `undefined` rows are those in which the formula
    has no value; `target` has the weights together, and the target's mean and squares around it."""

    triangle: Array
    rows: int
    undefined: int
    target: Moments

    @property
    def squares(self) -> float:
        """The weighted sum of squared residuals."""
        with np.errstate(over="ignore"):
            return math.inf if self.undefined else float(self.triangle[:, -1] @ self.triangle[:, -1])

    @property
    def constants(self) -> int:
        return len(self.triangle) - 1

    @property
    def mse(self) -> float:
        return self.squares / self.target.weight

    @property
    def r2(self) -> float:
        """As of a table in memory (`Dataset.r2`)."""
        if self.target.squares > 0:
            return 1 - self.squares / self.target.squares
        return 1.0 if self.squares == 0 else -math.inf

    def with_more(self, other: "Sums") -> "Sums":
        return Sums(
            _triangle(np.vstack([self.triangle, other.triangle])),
            self.rows + other.rows,
            self.undefined + other.undefined,
            self.target.with_more(other.target),
        )

    def variance(self, known: float = 0.0) -> float:
        """Of a row of weight one, from the residuals; at least what is known."""
        freedom = self.rows - self.constants
        return max(self.squares / freedom, known) if freedom > 0 else math.inf

    def covariance(self, known: float = 0.0) -> Array:
        count = self.constants
        if not count or self.undefined:
            return np.full((count, count), np.inf)
        return covariance_of(self.triangle[:-1, :-1].T, self.variance(known))

    def step(self, damping: float) -> tuple[Array, float]:
        """The step to where the squares are least, and by how much they would be less, if the formula were linear."""
        jacobian, residual = self.triangle[:, :-1], self.triangle[:, -1]
        lengths = np.linalg.norm(jacobian, axis=0)
        lengths = np.where(lengths > 0, lengths, 1.0)
        ridge = math.sqrt(damping) * np.eye(self.constants)
        both = np.vstack([jacobian / lengths, ridge]), np.concatenate([residual, np.zeros(self.constants)])
        step = np.linalg.lstsq(*both, rcond=None)[0] / lengths
        left = residual - jacobian @ step
        return step, max(float(residual @ residual - left @ left), 0.0)


def _triangle(columns: Array) -> Array:
    """R of a matrix [rows, columns], with a row for each column even where there are fewer rows."""
    found: Array = np.asarray(np.linalg.qr(columns, mode="r"))
    lacking = columns.shape[1] - len(found)
    return np.vstack([found, np.zeros((lacking, columns.shape[1]))]) if lacking else found


@lru_cache(maxsize=64)  # formulas of a front: each chunk needs them all
def _program(expression: Expression) -> Program:
    return compile_expression(expression)


def sums_of(
    expression: Expression,
    constants: Array | None,
    columns: dict[str, Array],
    y: Array,
    weights: Array | None = None,
    *,
    derivatives: bool = True,
) -> Sums:
    """What the rows of one chunk say of a formula at some values of its constants (None: as they stand)."""
    program = _program(expression)
    at = program.constants if constants is None else constants
    if derivatives and len(at):
        values, jacobian = program.values_and_jacobian(columns, at)
        jacobian = np.broadcast_to(jacobian, (len(at), len(y)))  # a formula without columns has one row
    else:
        values, jacobian = program.values(columns, at), np.empty((0, len(y)))
    with np.errstate(all="ignore"):
        residual = y - values
    defined = np.isfinite(residual)
    undefined = len(y) - int(defined.sum())
    both = np.vstack([jacobian, residual])
    both = np.where(np.isfinite(both), both, 0.0)  # as in memory: a derivative out of the range of floats tells nothing
    if weights is not None:
        both *= np.sqrt(weights)
    return Sums(_triangle(both.T), len(y), undefined, Moments.of(y, weights))


@dataclass(frozen=True, eq=False)
class ChunkedFit:
    """A formula with its constants fitted to all rows, and what these say of it."""

    expression: Expression
    sums: Sums

    @property
    def length(self) -> float:
        """The description length, as of a table in memory (`description`)."""
        if not math.isfinite(self.sums.squares):
            return math.inf
        sums, constants = self.sums, np.array(self.expression.constants)
        size = sums.target.squares / sums.target.weight + sums.target.mean**2
        columns = np.linalg.norm(sums.triangle[:, :-1], axis=0) / math.sqrt(sums.target.weight)
        largest = max(size, *((constants * columns) ** 2), 0.0)
        rms = math.sqrt(max(sums.mse, ROUNDING**2 * largest))
        own = np.abs(np.diagonal(sums.triangle)[:-1]) * math.sqrt(sums.rows / sums.target.weight)
        with np.errstate(all="ignore"):
            digits = np.log2(1 + np.abs(constants) * own / rms)
        free = float(np.clip(np.nan_to_num(digits, nan=0.0), 0.0, MOST_DIGITS).sum()) + len(constants)
        return formula_bits(self.expression) + free + float(residual_bits(sums.rows, rms**2))


Pass = Callable[[Sequence[tuple[Expression, Array | None, bool]]], list[Sums]]
"""One pass over all rows: what these say of each formula, at these constants, with its derivatives or without."""


def fit_in_passes(
    formulas: Sequence[Expression], go_through: Pass, others: Sequence[Expression] = ()
) -> tuple[list[ChunkedFit], list[Sums]]:
    """The formulas with their constants fitted, from where they are, all of them in the same passes over the rows; and
    what all rows say of others as they are, from the first pass."""
    first = go_through([*((formula, None, True) for formula in formulas), *((one, None, False) for one in others)])
    starts, measured = first[: len(formulas)], first[len(formulas) :]
    states = [_State(f, np.array(f.constants), sums) for f, sums in zip(formulas, starts, strict=True)]
    for _ in range(MOST_PASSES - 1):
        trials = [(state, trial) for state in states if (trial := state.trial()) is not None]
        if not trials:
            break
        results = go_through([(state.formula, trial, True) for state, trial in trials])
        for (state, trial), sums in zip(trials, results, strict=True):
            state.take(trial, sums)
    return [ChunkedFit(state.fitted(), state.sums) for state in states], measured


def round_numbers(fitted: ChunkedFit, before: Sequence[Expression], largest: int) -> list[Expression]:
    """For each constant of a fit in which all are free the round number that stands for it, where one lies within two
    standard errors: that `before`, when fewer rows were known, a whole number, or a closed form (`closed_forms`); else
    what was there before, which is free, or is refuted."""
    errors = np.sqrt(np.diagonal(fitted.sums.covariance()))
    found = []
    for value, error, number in zip(fitted.expression.constants, errors, before, strict=True):
        reach = STANDARD_ERRORS * error
        whole = Constant(round(value)) if abs(value) < LARGEST_INT else number
        near = [one for one in (number, whole) if not is_free(one) and abs(constant_value(one) - value) <= reach]
        if not near and value and math.isfinite(reach):
            forms = closed_forms(value, min(reach, MOST_OF_A_NUMBER * abs(value)), largest=largest)
            near = sorted(forms, key=formula_bits)
        found.append(near[0] if near else number)
    return found


def partly_rounded(fitted: ChunkedFit, numbers: Sequence[Expression]) -> Expression | None:
    """Of a formula whose constants are all free, with `numbers` that may stand for them: the reading in which those do
    that make the description shortest (None: none does). What squares would be is told by the triangle, without another
    pass over the rows."""
    free, triangle = np.array(fitted.expression.constants), fitted.sums.triangle
    rounded = [k for k, number in enumerate(numbers) if not is_free(number)]
    apart = {k: constant_value(numbers[k]) - free[k] for k in rounded}
    errors = np.sqrt(np.diagonal(fitted.sums.covariance()))
    best, shortest = None, fitted.length
    order = sorted(rounded, key=lambda k: abs(apart[k]) / errors[k] if errors[k] > 0 else math.inf)
    for count in range(1, len(order) + 1):
        fixed = order[:count]
        rest = [k for k in range(len(free)) if k not in fixed]
        moved = triangle[:, -1] - triangle[:, fixed] @ np.array([apart[k] for k in fixed])
        smaller = _triangle(np.column_stack([triangle[:, rest], moved]))
        smaller[:-1, -1] = 0.0  # the other constants make up for what they can
        form = _with_exact_numbers(fitted.expression, {k: numbers[k] for k in fixed})
        length = ChunkedFit(form, replace(fitted.sums, triangle=smaller)).length
        if length < shortest:
            best, shortest = form, length
    return best


@dataclass
class _State:
    """Where a fit is: the constants, what all rows say there, and how short its steps have to be."""

    formula: Expression
    constants: Array
    sums: Sums
    damping: float = 0.0

    def trial(self) -> Array | None:
        """The constants to look at next; None where those that there are can't be told from the best."""
        if not len(self.constants) or self.sums.undefined:
            return None
        step, less = self.sums.step(self.damping)
        if less <= NEAR**2 * self.sums.variance() or less <= np.finfo(np.float64).eps * self.sums.squares:
            return None
        return self.constants + step

    def take(self, trial: Array, sums: Sums) -> None:
        if sums.squares < self.sums.squares:
            self.constants, self.sums, self.damping = trial, sums, self.damping / MORE_DAMPING
        else:
            self.damping = max(self.damping * MORE_DAMPING, DAMPING)

    def fitted(self) -> Expression:
        return self.formula.with_constants(self.constants.tolist()) if len(self.constants) else self.formula


def _with_exact_numbers(form: Expression, numbers: Mapping[int, Expression]) -> Expression:
    """With exact numbers in place of some of the free constants, which are counted from 0; x**2 is a square then.

    >>> from prunesymnet.expression import parse
    >>> print(_with_exact_numbers(parse("1.5*x**2.0 + 0.5"), {1: parse("2"), 2: parse("1/2")}))
    1.5*x**2 + 1/2
    """

    def combine(operator: Operator, operands: tuple[Expression, ...]) -> Expression:
        whole = {name: Constant(power) for name, power in EXPONENTS.items() if isinstance(power, int)}
        name = next((name for name, power in whole.items() if operands[1:] == (power,)), "")
        return apply(name, operands[0]) if operator.name == "pow" and name else apply(operator, *operands)

    return fold(with_numbers(form, numbers), lambda leaf: leaf, combine)
