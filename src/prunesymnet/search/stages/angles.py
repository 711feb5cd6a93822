"""Angles: polynomials of the columns whose terms may be multiplied by the sine or cosine of one angle.

`sqrt(x**2 + y**2 - 2*x*y*cos(u - v))` has five terms once it is squared: too many to be found one by one, but all are
products of x and y, some of them times cos(u - v). So each column, and each difference or sum of two, is taken for an
angle w, and the target (and what is inside an operator) is regressed on all products of the columns up to degree 2 and
on the products of the other columns with sin(w) and cos(w): for all angles at once, by products of matrices. The terms
that the data do not need are dropped.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.monomials import monomial_terms
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import Proposal
from prunesymnet.bank.targets import Target, unwrap
from prunesymnet.coefficients.linear import eliminate
from prunesymnet.expression import Constant, Expression, Variable, apply
from prunesymnet.search.stages.base import Batch, Context, Stage, When
from prunesymnet.search.stages.polynomials import weighted_sum
from prunesymnet.structure.frame import CLEARLY, chance_bits
from prunesymnet.structure.quantities import ratio_of_units
from prunesymnet.structure.smooth import LinearPart

Array = NDArray[np.float64]

DEGREE = 2  # of the products: laws of sides and angles have no higher ones
SHARE_OF_ROWS = 1 / 3  # for all terms: the others judge
RANGE = (1.0, 60.0)  # of an angle: of less, a wave is a parabola; of more, a hundred rows do not show it
SAYS_MUCH = 0.1  # of what a polynomial leaves: what leaves more is not all of the law
EXACT = 1e-16  # of the variation: the rounding of a regression


@dataclass(frozen=True)
class Angle:
    """What is taken for an angle: its values, its formula, and the columns that it has."""

    values: Array
    formula: Expression
    names: tuple[str, ...]


def propose(context: Context) -> Iterator[Batch]:
    problem = context.problem
    targets = [problem.target, *unwrap(problem.target, [], problem.operators)[1:]]
    yield Batch([proposal for target in targets for proposal in with_angles(problem, target)])


def angles(problem: Problem) -> list[Angle]:
    """Columns, and differences and sums of two that are of one size."""
    found = [Angle(column, Variable(name), (name,)) for name, column in problem.columns.items()]
    for one, two in combinations(problem.columns, 2):
        if ratio_of_units(problem.scales.get(one, 1.0), problem.scales.get(two, 1.0)) == 1:
            first, second = problem.columns[one], problem.columns[two]
            found.append(Angle(first - second, Variable(one) - Variable(two), (one, two)))
            found.append(Angle(first + second, Variable(one) + Variable(two), (one, two)))
    return [angle for angle in found if RANGE[0] <= np.ptp(angle.values) <= RANGE[1]]


def with_angles(problem: Problem, target: Target) -> Iterator[Proposal]:
    """The polynomial with the angle that leaves least, if that is much less than a polynomial alone leaves."""
    rows, count = int((target.weights > 0).sum()), len(problem.columns)
    plain = [Term(np.ones_like(target.values), Constant(1)), *monomial_terms(problem.columns, DEGREE)]
    most = (SHARE_OF_ROWS * rows - len(plain)) / 2  # products of the other columns: each has a sine and a cosine
    known = [angle for angle in angles(problem) if comb(count - len(angle.names) + DEGREE, DEGREE) <= most]
    if not known or count < 2:
        return
    part = LinearPart.of(target.values, target.weights, [term.values for term in plain])
    mean = LinearPart.of(target.values, target.weights, [plain[0].values])
    if not part.left > EXACT * mean.left:
        return  # a polynomial is enough
    waves = [_waves(problem, angle) for angle in known]
    left = np.array([part.left_by_columns(np.array([t.values for t in terms]).T[None])[0] for terms in waves])
    best = int(left.argmin())
    freedom, terms = part.freedom, waves[best]
    if left[best] > SAYS_MUCH or chance_bits(float(left[best]), freedom, len(terms)) < CLEARLY:
        return
    every, root = [*plain, *terms], np.sqrt(target.weights)
    columns = np.array([term.values for term in every]) * root
    kept, error = eliminate(columns, target.values * root, rows)
    formula = weighted_sum([(coefficient, every[k].expression) for k, coefficient in kept])
    yield Proposal(target.wrap(formula), error / (mean.left * float(target.weights.sum())))


def _waves(problem: Problem, angle: Angle) -> list[Term]:
    """The sine and cosine of an angle, alone and times all products of the other columns."""
    others = {name: column for name, column in problem.columns.items() if name not in angle.names}
    products = [Term(np.ones_like(angle.values), Constant(1)), *monomial_terms(others, DEGREE)]
    waves = [
        Term(row.numpy(angle.values), apply(row, angle.formula))
        for name in ("cos", "sin")
        if (row := problem.operators.get(name)) is not None
    ]
    return [product * wave for wave in waves for product in products]


ANGLES = Stage("angles", When.LEVEL, propose, needs=("sin", "cos"), once=True)
