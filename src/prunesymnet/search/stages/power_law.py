"""Power laws of the columns: c * x1**a * x2**b * ..., one linear solve for any number of columns."""

from collections.abc import Iterator

import numpy as np

from prunesymnet.bank.bank import Term
from prunesymnet.bank.monomials import power_law
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import Proposal
from prunesymnet.expression import Variable, evaluate
from prunesymnet.search.stages.base import Batch, Context, Stage, When

ALL_HALVES = 0.25  # every exponent is as near to a whole number or a half
ALL_WHOLE = 0.5  # and to a whole number


def propose(context: Context) -> Iterator[Batch]:
    """With exponents rounded and as they are; with errors of y and of its logarithm made small."""
    problem = context.problem
    factors = _factors(problem)
    if not factors:
        return
    size = np.abs(problem.y) / np.abs(problem.y).max()
    for weights in (problem.weights * size**2, np.ones_like(size)):
        for near in (ALL_HALVES, 0.0):
            formula = power_law(factors, problem.y, weights, near=near, near_signed=ALL_WHOLE)
            if formula is not None:
                yield Batch([Proposal(formula, problem.unexplained(formula))])


def leading_product(problem: Problem) -> Term | None:
    """The product of whole or half powers that is nearest to y; None if its powers are others."""
    factors = _factors(problem)
    if not factors:
        return None
    weights = problem.weights * np.square(problem.y / np.abs(problem.y).max())
    formula = power_law(factors, problem.y, weights, near=ALL_HALVES, near_signed=ALL_WHOLE)
    if formula is None or len(formula.constants) > 1 or not formula.variables:
        return None
    return Term(evaluate(formula, problem.columns).values, formula)


def _factors(problem: Problem) -> list[Term]:
    """The columns that have a logarithm; none where y has none."""
    if not (problem.y != 0).all():
        return []
    return [Term(column, Variable(name)) for name, column in problem.nonzero_columns.items()]


POWER_LAW = Stage("power_law", When.START, propose)
