"""Sums of several simple terms where there is noise, for y and for what is inside of operators.

The square of an impedance, `R**2 + L**2*w**2 - 2*L/C + 1/(C*w)**2`, is four terms of a few hundred that are as simple.
Without noise it lies in the span of a dictionary. With noise, stepwise regression finds the terms
(`coefficients/stepwise.py`): every set is judged by its description length, on what y is one or two operators down.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import Proposal
from prunesymnet.bank.targets import Target, unwrap
from prunesymnet.coefficients.description import BITS_PER_SYMBOL, rough_length
from prunesymnet.coefficients.linear import weighted_least_squares
from prunesymnet.coefficients.stepwise import best_sets
from prunesymnet.expression import Constant
from prunesymnet.search.stages.base import Batch, Context, Stage, When
from prunesymnet.search.stages.polynomials import weighted_sum

Array = NDArray[np.float64]

OF_A_TARGET = 3  # sets that are proposed
PROPOSED = 24  # formulas of all targets
SYMBOLS = 2  # of a term beside its word: that it has a coefficient, and that it is added
FEWEST_ROWS = 20  # a handful of rows is fitted by some of so many sets


def propose(context: Context) -> Iterator[Batch]:
    problem, budget = context.problem, context.budget
    if len(problem.y) < FEWEST_ROWS:
        return
    one = Term(np.ones_like(problem.y), Constant(1))
    words = [one, *context.words]
    bits = BITS_PER_SYMBOL * np.array([word.expression.complexity + SYMBOLS for word in words], dtype=float)
    values = np.array([word.values for word in words])
    targets = unwrap(problem.target, context.simple_factors(budget.sum_factors), problem.operators)
    found: list[tuple[float, Proposal]] = []
    for target in targets:
        context.check()
        for proposal in _sums(problem, target, words, values, bits):
            error = max(proposal.unexplained, np.finfo(float).tiny)
            found.append((rough_length(proposal.expression, len(problem.y), error), proposal))
    found.sort(key=lambda entry: entry[0])
    yield Batch([proposal for _, proposal in found[:PROPOSED]], len(targets) * len(words))


def _sums(problem: Problem, target: Target, words: list[Term], values: Array, bits: Array) -> Iterator[Proposal]:
    """The best sums of words for a target, as formulas of y."""
    root = np.sqrt(target.weights)
    for best in best_sets(values * root, target.values * root, bits)[:OF_A_TARGET]:
        chosen = list(best.columns)
        solved = weighted_least_squares(values[chosen], target.values, target.weights).coefficients
        total = weighted_sum([(float(c), words[k].expression) for k, c in zip(chosen, solved, strict=True)])
        formula = target.wrap(total)
        left = problem.unexplained(formula)
        if np.isfinite(left):
            yield Proposal(formula, left)


SUMS = Stage("sums", When.LEVEL, propose)
