"""Sums of several simple terms where there is noise, for y and for what is inside of operators.

The square of an impedance, `R**2 + L**2*w**2 - 2*L/C + 1/(C*w)**2`, is four terms of a few hundred that are as simple.
Without noise it lies in the span of a dictionary. With noise, stepwise regression finds the terms
(`coefficients/stepwise.py`): every set is judged by its description length, on what y is one or two operators down.

Where two terms nearly cancel in the rows that count most, as in `q*(E + B*v*sin(theta))` with errors that are shares of
the values, neither explains anything alone. So y itself, and y divided by a column, are tried with all pairs of several
times as many words. And one word beside a constant, as in `n*(1 + p*E*cos(theta)/(k*T))`, is one of many more.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import Proposal
from prunesymnet.bank.targets import Factor, Target, exponents_beside_one, unwrap
from prunesymnet.bank.words import Words, words_of
from prunesymnet.coefficients.description import BITS_PER_SYMBOL, rough_length
from prunesymnet.coefficients.linear import weighted_least_squares
from prunesymnet.coefficients.stepwise import Set, best_beside_first, best_pairs, best_sets
from prunesymnet.expression import Constant, Variable
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
    terms = Terms.of(context.words)
    columns = [Factor(Term(column, Variable(name))) for name, column in problem.nonzero_columns.items()]
    targets = unwrap(problem.target, context.simple_factors(budget.sum_factors), problem.operators)
    targets += exponents_beside_one(problem.target, columns, problem.operators)
    found: list[Proposal] = []
    for target in targets:
        context.check()
        found += terms.sums(problem, target, best_sets(*terms.weighted(target)))
    yield Batch(_shortest(problem, found), len(targets) * len(terms.bits))
    yield _of_many_words(context)


def _of_many_words(context: Context) -> Batch:
    """Sums that begin with one of all pairs of words, and words beside a constant: for y, and for y divided by a
    column, with the words of the others."""
    problem, budget = context.problem, context.budget
    found: list[Proposal] = []
    scored = 0
    for name in (None, *problem.nonzero_columns):
        columns = {other: values for other, values in problem.columns.items() if other != name}
        factor = None if name is None else Factor(Term(problem.columns[name], Variable(name)))
        target = problem.target if factor is None else problem.target.undo(factor)
        if columns and target is not None:
            terms = Terms.of(words_of(columns, problem.operators, budget.paired_words))
            given = terms.weighted(target)
            found += terms.sums(problem, target, best_sets(*given, begin=best_pairs(*given)))
            terms = Terms.of(words_of(columns, problem.operators, budget.lone_words))
            found += terms.sums(problem, target, best_beside_first(*terms.weighted(target)))
            scored += budget.paired_words**2 // 2 + len(terms.bits)
        context.check()
    return Batch(_shortest(problem, found), scored)


def _shortest(problem: Problem, proposals: list[Proposal]) -> list[Proposal]:
    """Those of the shortest descriptions, the shortest first."""

    def length(proposal: Proposal) -> float:
        error = max(proposal.unexplained, np.finfo(float).tiny)
        return rough_length(proposal.expression, len(problem.y), error)

    return sorted(proposals, key=length)[:PROPOSED]


class Terms(NamedTuple):
    """What sums are made of: the constant, and words. Their values [terms, rows], and the bits that each takes."""

    words: Words
    values: Array
    bits: Array

    @classmethod
    def of(cls, words: Words) -> "Terms":
        complexity = np.concatenate([[1], words.complexity])
        values = np.concatenate([np.ones((1, words.values.shape[1])), words.values])
        return cls(words, values, BITS_PER_SYMBOL * (complexity + SYMBOLS))

    def weighted(self, target: Target) -> tuple[Array, Array, Array]:
        """What stepwise regression is given for a target."""
        root = np.sqrt(target.weights)
        return self.values * root, target.values * root, self.bits

    def sums(self, problem: Problem, target: Target, sets: Sequence[Set]) -> Iterator[Proposal]:
        """The first of the sets, as formulas of y."""
        for best in sets[:OF_A_TARGET]:
            chosen = list(best.columns)
            solved = weighted_least_squares(self.values[chosen], target.values, target.weights).coefficients
            terms = [Constant(1) if not k else self.words.term(k - 1).expression for k in chosen]
            formula = target.wrap(weighted_sum(list(zip(solved.tolist(), terms, strict=True))))
            left = problem.unexplained(formula)
            if np.isfinite(left):
                yield Proposal(formula, left)


SUMS = Stage("sums", When.LEVEL, propose)
