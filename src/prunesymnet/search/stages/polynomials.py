"""Polynomials of all columns, and of what is inside an operator: one decomposition says what each degree leaves."""

from collections.abc import Iterator
from math import comb

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.monomials import few_enough, monomial_terms
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import Proposal
from prunesymnet.bank.targets import Target, unwrap
from prunesymnet.coefficients.bases import of_length_one
from prunesymnet.coefficients.description import BITS_PER_SYMBOL, constant_bits, residual_bits
from prunesymnet.coefficients.linear import elimination
from prunesymnet.expression import Constant, Expression
from prunesymnet.search.stages.base import Batch, Context, Stage, When

Array = NDArray[np.float64]

MOST_DEGREE = 12  # beyond it, floats tell powers apart badly
EXACT_BY_DIFFERENCE = 1e-13  # of the variation, where it is a difference of sums of squares: less is rounding


def propose(context: Context) -> Iterator[Batch]:
    problem = context.problem
    yield Batch(list(polynomials(problem, problem.target)))
    inside = unwrap(problem.target, [], problem.operators)[1:]
    yield Batch([found for target in inside for found in polynomials(problem, target, only_exact=True)])


def polynomials(
    problem: Problem, target: Target, *, only_exact: bool = False, degrees: int = 1, lengths: int = 1
) -> Iterator[Proposal]:
    """The polynomial of all columns of the lowest degree that is exact, without the terms that the data do not need;
    else (unless `only_exact`) those of so many `degrees` that pay best, each with so many numbers of terms
    (`lengths`)."""
    root = np.sqrt(target.weights)
    rows = int((target.weights > 0).sum())
    counts = [comb(len(problem.columns) + degree, degree) for degree in range(MOST_DEGREE + 1)]
    counts = [count for count in counts if few_enough(count, rows)]
    if len(counts) < 2:
        return
    terms = [Term(np.ones_like(root), Constant(1)), *monomial_terms(problem.columns, len(counts) - 1)]
    columns = np.array([term.values for term in terms]) * root
    scaled, size = of_length_one(columns)
    if not np.isfinite(size).all():
        return
    values = target.values * root
    # Terms are in order of degree: one decomposition says what each degree leaves.
    along = np.linalg.qr(scaled.T)[0].T @ values
    left = np.maximum(values @ values - np.cumsum(along**2)[np.array(counts) - 1], 0.0)
    variation = float(left[0])
    exact = np.flatnonzero(left <= EXACT_BY_DIFFERENCE * variation)
    if not len(exact) and only_exact:
        return
    bits = residual_bits(rows, left) + (constant_bits(rows) + BITS_PER_SYMBOL) * np.array(counts)
    tried = exact[:1] if len(exact) else np.argsort(bits, kind="stable")[:degrees]
    seen: set[tuple[int, ...]] = set()
    for degree in tried.tolist():
        steps = sorted(elimination(columns[: counts[degree]], values, rows), key=lambda step: step.length)
        for step in steps[: 1 if len(exact) else lengths]:
            which = tuple(index for index, _ in step.kept)
            if which in seen:
                continue
            seen.add(which)
            formula = weighted_sum([(coefficient, terms[index].expression) for index, coefficient in step.kept])
            yield Proposal(target.wrap(formula), step.error / variation if variation > 0 else 0.0)


def weighted_sum(terms: list[tuple[float, Expression]]) -> Expression:
    """The sum of coefficients times trees."""
    total: Expression = Constant(0)
    for coefficient, tree in terms:
        total = total + Constant(coefficient) * tree
    return total


POLYNOMIALS = Stage("polynomials", When.START, propose)
