"""Quotients of polynomials: p - y*q = 0 is linear and homogeneous in all coefficients of p and q.

So they are what a matrix of columns [1, x, ..., -y, -y*x, ...] takes to zero: its null vector. The lowest degrees come
first, where the answer is unique.
"""

from collections.abc import Iterator
from functools import reduce
from math import comb

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.monomials import few_enough, monomial_terms
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import EXACT, Proposal
from prunesymnet.expression import Constant, Expression
from prunesymnet.search.stages.base import Batch, Context, Stage, When

Array = NDArray[np.float64]

DEGREES = range(1, 5), range(1, 4)  # of numerator and denominator
DEPENDENT = 1e-7  # a smallest singular value this small, relative to the next: there is one null vector
STILL_DEPENDENT, NEGLIGIBLE = 1e-10, 1e-3  # for taking out a term: what must remain, and how small it must be


def propose(context: Context) -> Iterator[Batch]:
    if context.budget.level == 0:  # a larger bank has nothing to add
        yield Batch(list(rational_functions(context.problem)))


def rational_functions(problem: Problem) -> Iterator[Proposal]:
    """The simplest exact quotient of polynomials, if there is one."""
    y, columns = problem.y, problem.columns
    one = Term(np.ones_like(y), Constant(1))
    for p, q in sorted(((p, q) for p in DEGREES[0] for q in DEGREES[1]), key=lambda d: (d[0] + d[1], d[1])):
        if not few_enough(comb(len(columns) + p, p) + comb(len(columns) + q, q), len(y)):
            continue
        above, below = ([one, *monomial_terms(columns, degree)] for degree in (p, q))
        matrix = np.array([*(term.values for term in above), *(-y * term.values for term in below)])
        matrix = matrix * (np.sqrt(problem.weights) / (1 + np.abs(y)))
        size = np.sqrt(np.einsum("kn,kn->k", matrix, matrix))
        if not (np.isfinite(size).all() and size.all()):
            continue  # a product that is zero on all rows can stand anywhere
        found = _null(np.asarray(np.linalg.qr((matrix / size[:, None]).T, mode="r")))
        if found is None:
            continue
        kept, vector = found
        sides: tuple[list[Expression], list[Expression]] = ([], [])
        for index, value in zip(kept.tolist(), vector / size[kept], strict=True):
            sides[index >= len(above)].append(Constant(float(value)) * [*above, *below][index].expression)
        if all(sides):
            numerator, denominator = (reduce(Expression.__add__, terms) for terms in sides)
            yield Proposal(numerator / denominator, EXACT)
            return


def _null(triangle: Array) -> tuple[NDArray[np.int64], Array] | None:
    """The fewest columns that are still dependent, and the coefficients; None if all are independent."""
    kept = np.arange(triangle.shape[1])
    least = np.linalg.svd(triangle, compute_uv=False)
    if not least[-1] < DEPENDENT * least[-2]:
        return None
    while len(kept) > 2:
        vector = np.linalg.svd(triangle[:, kept])[2][-1]
        for drop in np.argsort(np.abs(vector)):
            rest = np.delete(kept, drop)
            values = np.linalg.svd(triangle[:, rest], compute_uv=False)
            if abs(vector[drop]) < NEGLIGIBLE and values[-1] < STILL_DEPENDENT:
                kept = rest
                break
        else:
            break
    return kept, np.linalg.svd(triangle[:, kept])[2][-1]


RATIONAL = Stage("rational", When.LEVEL, propose, needs=("/", "inv"))
