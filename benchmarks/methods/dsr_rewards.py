"""What the formulas of a batch are worth: their values on the data, their constants fitted, 1/(1 + error).

A batch is evaluated from right to left, one token of all formulas at a time. Equal subtrees met in one step are
computed once, and those with one operator in one call. A subtree that is not finite on all rows is worth nothing
whatever is above it, so nothing more is computed there.
"""

import math
import time
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from benchmarks.methods.dsr_policy import Tokens
from prunesymnet.coefficients.least_squares import levenberg_marquardt
from prunesymnet.data import Dataset
from prunesymnet.expression import Constant, Expression, Variable, apply, compile_expression
from prunesymnet.operators import OPERATORS

Array = NDArray[np.float64]
Program = tuple[int, ...]  # the tokens of one formula
DEAD = 0  # the number of all subtrees that are not finite
ITERATIONS = 20  # of a fit of the constants; more find little more and cost other formulas


@dataclass(frozen=True, slots=True)
class Score:
    program: Program
    error: float  # root mean squared, by the target's standard deviation; infinite where the formula is not finite
    constants: tuple[float, ...] = ()

    @property
    def reward(self) -> float:
        return 1 / (1 + self.error)


@dataclass(eq=False)
class Rewards:
    """Scores on one table, remembered where constants were fitted."""

    data: Dataset
    tokens: Tokens
    known: dict[Program, Score] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.scale = float(np.std(self.data.y)) or 1.0

    def __call__(self, sample: NDArray[np.int64], deadline: float = math.inf) -> list[Score]:
        """One for each column of tokens [steps, batch]; after the deadline nothing is fitted."""
        none = self.tokens.none
        programs = [tuple(column[column < none].tolist()) for column in sample.T]
        scores = self.unfitted(list({program: None for program in programs if program not in self.known}))
        for program, score in scores.items():
            # What is not finite where the constants start has no slope to follow and stays worthless.
            if score.constants and math.isfinite(score.error) and time.monotonic() < deadline:
                self.known[program] = self.fitted(score)
        return [self.known.get(program) or scores[program] for program in programs]

    def unfitted(self, programs: list[Program]) -> dict[Program, Score]:
        """With every constant 1."""
        values = batch_values(programs, self.tokens, self.data.X)
        with np.errstate(all="ignore"):
            errors = np.sqrt(np.mean((values - self.data.y) ** 2, axis=1)) / self.scale
        errors = np.where(np.isfinite(errors), errors, np.inf)
        const = self.tokens.none - 1 if self.tokens.constants else None
        return {
            program: Score(program, error, (1.0,) * program.count(const))
            for program, error in zip(programs, errors.tolist(), strict=True)
        }

    def fitted(self, score: Score) -> Score:
        """With better constants, if there are any."""
        form = compile_expression(tree(score, self.tokens))
        starts = np.array([score.constants])
        solution = levenberg_marquardt(
            form, self.data.columns, self.data.y, starts, max_iterations=ITERATIONS, second_chance=False
        )
        error = math.sqrt(solution.cost / self.data.rows) / self.scale
        if error < score.error and np.isfinite(solution.constants).all():
            return replace(score, error=error, constants=tuple(solution.constants.tolist()))
        return score


def batch_values(programs: list[Program], tokens: Tokens, X: Array) -> Array:
    """[programs, rows], with 1 for every constant; not a number throughout where a subtree is not finite."""
    size = max(map(len, programs), default=0)
    backwards = np.full((size, len(programs)), tokens.none)
    for i, program in enumerate(programs):
        backwards[: len(program), i] = program[::-1]
    # Leaves are the first subtrees: dead, a token's number after the operators', then what is computed.
    leaves = [np.full(len(X), np.nan), *X.T, np.ones(len(X))]
    values = np.empty((len(leaves) + len(programs) * size, len(X)))
    values[: len(leaves)] = leaves
    used, first, arity = len(leaves), len(tokens.operators), tokens.arity
    stack = np.zeros((size + 2, len(programs)), dtype=np.int64)
    top = np.ones(len(programs), dtype=np.int64)  # below it are two cells that are never read for their own sake
    columns = np.arange(len(programs))
    for token in backwards:
        takes, there = arity[token], token < tokens.none
        a, b = stack[top, columns], stack[top - 1, columns]
        subtree = token - first + 1
        operator = (token < first) & (a != DEAD) & ((takes == 1) | (b != DEAD))
        subtree[(token < first) & ~operator] = DEAD
        key = (token * len(values) + a) * len(values) + np.where(takes == 2, b, 0)
        unique, inverse = np.unique(key[operator], return_inverse=True)
        subtree[operator] = _compute(unique, tokens, values, used)[inverse]
        used += len(unique)
        top = top + there * (1 - takes)
        stack[top[there], columns[there]] = subtree[there]
    return values[stack[top, columns]]


def _compute(keys: NDArray[np.int64], tokens: Tokens, values: Array, used: int) -> NDArray[np.int64]:
    """The values of subtrees, put after those that are there; their numbers, `DEAD` for those not finite.

    Keys are sorted, the operator first: each operator's subtrees are neighbours."""
    pairs, b = np.divmod(keys, len(values))
    token, a = np.divmod(pairs, len(values))
    ends = np.searchsorted(token, np.arange(len(tokens.operators) + 1)).tolist()
    with np.errstate(all="ignore"):
        for name, (start, end) in zip(tokens.operators, pairwise(ends), strict=True):
            if start < end:
                operator, into = OPERATORS[name], values[used + start : used + end]
                operands = (values[a[start:end]], values[b[start:end]])[: operator.arity]
                operator.numpy(*operands, out=into)
        finite = np.isfinite(values[used : used + len(keys)].sum(axis=1))
    return np.where(finite, used + np.arange(len(keys)), DEAD)


def tree(score: Score, tokens: Tokens) -> Expression:
    """The formula of a program, with its constants in their order from left to right."""
    stack: list[Expression] = []
    numbers = list(score.constants)
    names, columns = tokens.names, len(tokens.operators) + len(tokens.columns)
    for token in reversed(score.program):
        if token < len(tokens.operators):
            name = names[token]
            stack.append(apply(name, *(stack.pop() for _ in range(OPERATORS[name].arity))))
        else:
            stack.append(Variable(names[token]) if token < columns else Constant(numbers.pop()))
    return stack[0]
