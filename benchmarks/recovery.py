"""Does a search find the formula that made the data?

Recovered: the returned formula agrees with the true one to 1e-4, relative to max(|f|, median|f|), on 99% of 2,000
fresh points in the same box and in one 1.5 times as wide, and has at most twice its operations.

From noisy points no method can know free constants to 1e-4. So there is a second question: the right form, which is
recovered once its constants are fitted to points without noise.
"""

import numpy as np

from benchmarks.conditions import FRESH
from benchmarks.problems import Problem
from prunesymnet.coefficients import FitSettings, fit
from prunesymnet.expression import Apply, Constant, Expression, canonical, evaluate, fold, postorder
from prunesymnet.operators import Operator


def operations(expression: Expression) -> int:
    return sum(isinstance(node, Apply) and node.operator.arity > 0 for node in postorder(expression))


def short_enough(problem: Problem, found: Expression) -> bool:
    allowed = 2 * max(operations(problem.formula), operations(canonical(problem.formula)))
    return operations(found) <= max(allowed, 2)


def recovered(problem: Problem, found: Expression) -> bool:
    if not short_enough(problem, found):
        return False
    for wide in (1.0, 1.5):
        data = problem.sample(*FRESH, wide=wide)
        values, finite = evaluate(found, data.columns)
        size = np.maximum(np.abs(data.y), np.median(np.abs(data.y)))
        close = finite & (np.abs(values - data.y) <= 1e-4 * size)
        if close.mean() < 0.99:
            return False
    return True


def right_form(problem: Problem, found: Expression) -> bool:
    """Is it the true formula but for the values of its numbers? Exponents are its form. A term may be left over that
    vanishes when its number is fitted, if the whole is short enough."""
    if not short_enough(problem, found):
        return False
    free = fold(found, _free, _keep_exponents)
    if not free.constants:
        return recovered(problem, found)
    fitted = fit(free, problem.sample(256, 10_009), settings=FitSettings(starts=4, time_limit=5.0))
    return recovered(problem, fitted.expression)


def _free(leaf: Expression) -> Expression:
    return Constant(float(leaf.value)) if isinstance(leaf, Constant) else leaf


def _keep_exponents(operator: Operator, operands: tuple[Expression, ...]) -> Expression:
    if operator.name == "pow" and isinstance(operands[1], Constant) and operands[1].value.is_integer():
        operands = operands[0], Constant(int(operands[1].value))
    return Apply(operator, operands)
