"""Does a search find the formula that made the data?

Recovered: the returned formula agrees with the true one to 1e-4, relative to max(|f|, median|f|), on 99% of 2,000
fresh points in the same box and in one 1.5 times as wide, and has at most twice its operations.
"""

import numpy as np

from benchmarks.problems import Problem
from prunesymnet.expression import Apply, Expression, canonical, evaluate, postorder


def operations(expression: Expression) -> int:
    return sum(isinstance(node, Apply) and node.operator.arity > 0 for node in postorder(expression))


def recovered(problem: Problem, found: Expression) -> bool:
    allowed = 2 * max(operations(problem.formula), operations(canonical(problem.formula)))
    if operations(found) > max(allowed, 2):
        return False
    for wide in (1.0, 1.5):
        data = problem.sample(2000, 10_007, wide=wide)
        values, finite = evaluate(found, data.columns)
        size = np.maximum(np.abs(data.y), np.median(np.abs(data.y)))
        close = finite & (np.abs(values - data.y) <= 1e-4 * size)
        if close.mean() < 0.99:
            return False
    return True
