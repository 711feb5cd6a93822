"""Quotients of polynomials, and roots of quadratic equations: what is linear in all coefficients at once.

`p - y*q = 0` is linear and homogeneous in the coefficients of the polynomials p and q, and so is `p - y*q + y**2*r =
0`. So they are what a matrix of columns [1, x, ..., -y, -y*x, ...] takes to zero: its null vector. The lowest degrees
come first, where the answer is unique.
"""

from collections.abc import Iterator
from functools import reduce
from itertools import count
from math import comb

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.monomials import few_enough, monomial_terms
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import EXACT, Proposal
from prunesymnet.coefficients.bases import of_length_one
from prunesymnet.coefficients.linear import eliminate
from prunesymnet.expression import Constant, Expression, apply, evaluate
from prunesymnet.search.stages.base import Batch, Context, Stage, When
from prunesymnet.search.stages.polynomials import weighted_sum

Array = NDArray[np.float64]

DEGREES = range(1, 5), range(1, 5)  # of numerator and denominator
QUADRATIC = (2, 1, 0), (1, 1, 1), (2, 1, 1), (2, 2, 0), (4, 2, 0)  # degrees of what stands beside 1, y and y**2
NOISY = (1, 1), (2, 1), (1, 2), (2, 2), (3, 2)  # the same where there is noise
ROWS_PER_TERM = 2  # at least, there: terms that the rows do not need are dropped
WITH_Y, TIMES = 2, 6  # that a regression is solved: the first ones, which have y among their columns, and the others
NEAR_A_POLE = 1e-3  # of the largest value of a denominator: no more than the smallest one, or rows there decide alone
SMALLEST = 1e-12  # of the largest singular value: what is less is rounding
DEPENDENT = 1e-7  # a smallest singular value this small, relative to the next: there is one null vector
STILL_DEPENDENT, NEGLIGIBLE = 1e-10, 1e-3  # for taking out a term: what must remain, and how small it must be


def propose(context: Context) -> Iterator[Batch]:
    exact = [*rational_functions(context.problem), *roots(context.problem)]
    yield Batch(exact or list(nearly_rational(context.problem)))


def rational_functions(problem: Problem) -> Iterator[Proposal]:
    """The simplest exact quotient of polynomials, if there is one."""
    for p, q in sorted(((p, q) for p in DEGREES[0] for q in DEGREES[1]), key=lambda d: (d[0] + d[1], d[1])):
        found = _equation(problem, (p, q))
        if found is not None and all(found):
            above, below = (reduce(Expression.__add__, part) for part in found)
            yield Proposal(above / below, EXACT)
            return


def roots(problem: Problem) -> Iterator[Proposal]:
    """A root of the simplest quadratic equation that y solves exactly, if there is one."""
    if "sqrt" not in problem.operators:
        return
    for degrees in QUADRATIC:
        found = _equation(problem, degrees)
        if found is None or not found[2]:
            continue
        constant, linear, square = (reduce(Expression.__add__, part or [Constant(0)]) for part in found)
        # constant - linear*y + square*y**2 = 0
        inside = linear**2 - 4 * square * constant
        with np.errstate(all="ignore"):
            slope = 2 * evaluate(square, problem.columns).values * problem.y - evaluate(linear, problem.columns).values
        signs = np.sign(slope[np.abs(slope) > STILL_DEPENDENT * np.abs(slope).max()])
        if len(signs) and (signs == signs[0]).all():
            root = apply("sqrt", inside)
            yield Proposal((linear + root if signs[0] > 0 else linear - root) / (2 * square), EXACT)
            return


def nearly_rational(problem: Problem) -> Iterator[Proposal]:
    """Quotients of polynomials where there is noise, with the terms that the rows need.

    `p - y*q` is nearly 0, and the coefficients are those of unit length that make it smallest; y is among the columns
    with its errors, and rows count by q. That gives a first quotient f. One coefficient may be 1, that of the largest
    term below. Then `p/q` is linear in what the others may be nearby, with f among the columns instead, and is solved
    again and again. Terms that the last regression does not need are dropped."""
    y, root = problem.y, np.sqrt(problem.weights)
    one = Term(np.ones_like(y), Constant(1))
    for degrees in NOISY:
        above, below = ([one, *monomial_terms(problem.columns, degree)] for degree in degrees)
        if (len(above) + len(below)) * ROWS_PER_TERM > len(y):
            continue
        found = _nearly(y, root, *(np.array([term.values for term in terms]) for terms in (above, below)))
        if found is None:
            continue
        first, kept = found
        top = [(c, above[k].expression) for k, c in kept if k < len(above)]
        bottom = [(c, below[k - len(above)].expression) for k, c in kept if k >= len(above)]
        if top and bottom:
            formula = weighted_sum(top) / weighted_sum([(1.0, below[first].expression), *bottom])
            yield Proposal(formula, problem.unexplained(formula))


def _nearly(y: Array, root: Array, tops: Array, bottoms: Array) -> tuple[int, list[tuple[int, float]]] | None:
    """Which term below has the coefficient 1, and the coefficients of the others that are needed, above and below; None
    where the quotient has a pole in the rows."""
    f, q, count = y, np.ones_like(y), len(tops)
    for _ in range(WITH_Y):
        scaled, size = of_length_one(np.concatenate([tops, -f * bottoms]) * (root / q))
        if not _can_divide(size):
            return None
        solved = np.linalg.svd(np.linalg.qr(scaled.T, mode="r"))[2][-1]
        first = count + int(np.abs(solved[count:]).argmax())
        solved = solved * (size[first] / solved[first]) / size
        q = solved[count:] @ bottoms
        if not np.abs(q).min() > NEAR_A_POLE * np.abs(q).max():
            return None
    others = np.delete(np.arange(count + len(bottoms)), first)
    for _ in range(TIMES):
        f = solved[:count] @ tops / q
        columns = (np.concatenate([tops, -f * bottoms]) * (root / q))[others]
        goal = (y - f + f * bottoms[first - count] / q) * root
        scaled, size = of_length_one(columns)
        if not _can_divide(size):
            return None
        solved[others] = np.linalg.lstsq(scaled.T, goal, rcond=SMALLEST)[0] / size
        q = solved[count:] @ bottoms
        if not np.abs(q).min() > NEAR_A_POLE * np.abs(q).max():
            return None
    kept, _ = eliminate(columns, goal, len(y))
    return first - count, [(int(others[k]), c) for k, c in kept]


def _can_divide(sizes: Array) -> bool:
    """Whether something can be divided by each of them: a product that is zero on all rows can stand anywhere."""
    return bool(np.isfinite(sizes).all() and sizes.all())


def _equation(problem: Problem, degrees: tuple[int, ...]) -> list[list[Expression]] | None:
    """Terms of polynomials p, q, ... of these degrees, with which `p - y*q + y**2*r - ...` is 0 in every row; None if
    there are none, or too many."""
    y, columns = problem.y, problem.columns
    if not few_enough(sum(comb(len(columns) + degree, degree) for degree in degrees), len(y)):
        return None
    one = Term(np.ones_like(y), Constant(1))
    parts = [[one, *monomial_terms(columns, degree)] for degree in degrees]
    matrix = np.array([(-y) ** k * term.values for k, part in enumerate(parts) for term in part])
    matrix = matrix * (np.sqrt(problem.weights) / (1 + np.abs(y)) ** (len(degrees) - 1))
    scaled, size = of_length_one(matrix)
    if not _can_divide(size):
        return None
    found = _null(np.asarray(np.linalg.qr(scaled.T, mode="r")))
    if found is None:
        return None
    kept, vector = found
    coefficients = dict(zip(kept.tolist(), (vector / size[kept]).tolist(), strict=True))
    numbers = count()
    return [
        [Constant(coefficients[k]) * term.expression for term in part if (k := next(numbers)) in coefficients]
        for part in parts
    ]


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


RATIONAL = Stage("rational", When.LEVEL, propose, needs=("/", "inv"), once=True)
