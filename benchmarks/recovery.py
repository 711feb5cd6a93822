"""Does a search find the formula that made the data? Three answers, from the strictest on.

Strictly recovered: recovered, and the same formula but for rounding. Either its canonical form is that of the true one,
to the last number; or it agrees with the true one to 1e-6 on 99% of the points in the same box and in one three times
as wide, as far as the true one is finite there, relative to max(|f|, median|f| in the same box), and is equal to it
once its floats are fitted in a hundred digits, which may move none of them by more than a thousandth
(`benchmarks.identity`). So it has no pole and no term that the truth has not, however small; only a number that is
added to something a million times as large is taken for rounding.

Recovered: the returned formula agrees with the true one to 1e-4, relative to max(|f|, median|f|), on 99% of 2,000
fresh points in the same box and in one 1.5 times as wide, and has at most twice its operations.

The right form: recovered once the numbers that were fitted, its floats, are fitted to points without noise: from noisy
points no method can know them to 1e-4. Whole numbers, fractions of them and pi are what the formula says, and stay.
"""

from functools import lru_cache

import numpy as np

from benchmarks.conditions import FRESH
from benchmarks.identity import same_formula, without_rounding
from benchmarks.problems import Problem
from prunesymnet.coefficients import FitSettings, fit
from prunesymnet.data import Dataset
from prunesymnet.expression import Apply, Constant, Expression, canonical, evaluate, fold, postorder
from prunesymnet.operators import Operator

CLOSE, WIDE = 1e-4, 1.5  # how well values agree, and on which box besides the problem's own
STRICTLY_CLOSE, VERY_WIDE = 1e-6, 3.0  # the same for the strict answer
NEARLY_ALL = 0.99  # of the points: near a pole of the truth, rounding is as large as the values


def operations(expression: Expression) -> int:
    return sum(isinstance(node, Apply) and node.operator.arity > 0 for node in postorder(expression))


def short_enough(problem: Problem, found: Expression) -> bool:
    allowed = 2 * max(operations(problem.formula), operations(canonical(problem.formula)))
    return operations(found) <= max(allowed, 2)


def recovered(problem: Problem, found: Expression) -> bool:
    return short_enough(problem, found) and all(agrees(problem, found, wide, CLOSE) for wide in (1.0, WIDE))


def strictly_recovered(problem: Problem, found: Expression) -> bool:
    """Of a formula that is recovered: is it the same, too?"""
    if canonical(found) == canonical(problem.formula):
        return True
    usual = fresh(problem, 1.0)
    typical = float(np.median(np.abs(usual.y)))
    found = without_rounding(found, usual.columns)
    if not all(agrees(problem, found, wide, STRICTLY_CLOSE, typical) for wide in (1.0, VERY_WIDE)):
        return False
    return same_formula(problem.formula, found, fresh(problem, VERY_WIDE).columns)


def agrees(problem: Problem, found: Expression, wide: float, tolerance: float, typical: float | None = None) -> bool:
    """Relative to max(|f|, typical), at nearly all fresh points of a box that is so many times as wide; typical is the
    median of |f| there, unless it is given."""
    data = fresh(problem, wide)
    values, finite = evaluate(found, data.columns)
    size = np.maximum(np.abs(data.y), np.median(np.abs(data.y)) if typical is None else typical)
    with np.errstate(over="ignore", invalid="ignore"):
        close = finite & (np.abs(values - data.y) <= tolerance * size)
    return bool(close.mean() >= NEARLY_ALL)


@lru_cache(maxsize=8)  # what judges one problem is needed several times in a row
def _sampled(
    formula: Expression, ranges: tuple[tuple[str, tuple[float, float]], ...], quantities: bool, wide: float
) -> Dataset:
    return Problem("", "", formula, dict(ranges), quantities=quantities).sample(*FRESH, wide=wide)


def fresh(problem: Problem, wide: float) -> Dataset:
    """The points that judge, drawn where the true formula is finite."""
    return _sampled(problem.formula, tuple(problem.ranges.items()), problem.quantities, wide)


def right_form(problem: Problem, found: Expression) -> bool:
    """Is it the true formula but for the values of its floats? Whole exponents are its form, floats too. A term may be
    left over that vanishes when its number is fitted, if the whole is short enough."""
    if not short_enough(problem, found):
        return False
    free = fold(found, lambda leaf: leaf, _keep_exponents)
    if not free.constants:
        return recovered(problem, found)
    fitted = fit(free, problem.sample(256, 10_009), settings=FitSettings(starts=4, time_limit=5.0))
    return recovered(problem, fitted.expression)


def _keep_exponents(operator: Operator, operands: tuple[Expression, ...]) -> Expression:
    if operator.name == "pow" and isinstance(operands[1], Constant) and float(operands[1].value).is_integer():
        operands = operands[0], Constant(int(operands[1].value))
    return Apply(operator, operands)
