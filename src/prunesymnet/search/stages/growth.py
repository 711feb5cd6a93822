"""Growth by a share in each step: `P*(1 + r)**n`, `1 - (1 - p)**n`, `P*r/(1 - (1 + r)**(-n))`.

A power whose exponent is a column is an exponential, exp(n*log(1 + r)), and a bank that has functions of functions
would be needed to have it. But r is a share: a rate or a probability, below one in size. So there are few pairs of such
columns, and for each of them the product of powers beside `u**a * (u - 1)**b`, with u = (1 + r)**n, is one linear solve
on logarithms. The powers a and b are tried one by one, as nearly the same can be said by others where there is noise. A
column of numbers that are far from ordinary may be a share, or a number of steps, in other units.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.monomials import few_enough, power_law, raised
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import Proposal
from prunesymnet.expression import Constant, Variable, apply
from prunesymnet.search.stages.base import Batch, Context, Stage, When
from prunesymnet.search.stages.power_law import ALL_HALVES, ALL_WHOLE
from prunesymnet.structure.smooth import LinearPart

Array = NDArray[np.float64]

SHARE = 1.0  # sizes below it may be shares
UNITS = np.array(
    [1.0, 10.0, 100.0, 1000.0]
)  # numbers of steps from one to thousands, and shares from all to a thousandth
LARGEST = 100.0  # exponent: squares of larger exponentials leave the range of floats
FOLLOWED = 4  # pairs that leave least, with any powers: in tables of shares alone there are dozens
PROPOSED = 12  # the best: most others are the same with other powers
POWERS = (1, 0), (-1, 0), (0, 1), (0, -1), (-1, 1), (1, -1)  # of what has grown, and of what it has gained


@dataclass(frozen=True)
class Growth:
    """What grows by a `share` in each step, 1 + r or 1 - r; and the logarithm of what has grown, its `exponent`."""

    share: Term
    exponent: Term

    @property
    def grown(self) -> Term:
        return Term(np.exp(self.exponent.values), apply("exp", self.exponent.expression))

    @property
    def gained(self) -> Term:
        return Term(np.expm1(self.exponent.values), self.grown.expression - Constant(1))

    def factors(self) -> Iterator[Term]:
        """Products of powers of what has grown and of what it has gained."""
        for powers in POWERS:
            used = [(term, power) for term, power in zip((self.grown, self.gained), powers, strict=True) if power]
            with np.errstate(divide="ignore"):
                values = np.prod([term.values ** float(power) for term, power in used], axis=0)
            formula = raised(used[0][0].expression, used[0][1])
            for term, power in used[1:]:
                formula = formula * raised(term.expression, power)
            if np.isfinite(values).all() and values.all():
                yield Term(values, formula)


def growths(problem: Problem) -> list[Growth]:
    """(1 + r)**n and (1 - r)**n, for each two columns of which r may be a share."""
    if not {"exp", "log"} <= set(problem.operators) or problem.dimensions is not None:
        return []
    found = []
    for n, r in permutations(problem.columns, 2):
        for steps, rate in product(_in_units(problem, n, UNITS), _in_units(problem, r, 1 / UNITS)):
            if not np.abs(rate.values).max() < SHARE:
                continue
            for share in (
                Term(1 + rate.values, Constant(1) + rate.expression),
                Term(1 - rate.values, Constant(1) - rate.expression),
            ):
                exponent = steps * Term(np.log(share.values), apply("log", share.expression))
                if 0 < np.abs(exponent.values).max() < LARGEST:
                    found.append(Growth(share, exponent))
    return found


def _in_units(problem: Problem, name: str, units: Array) -> Iterator[Term]:
    """A column as the table has it; and if it is far from ordinary numbers there, with its largest value at about each
    of some."""
    values, scale = problem.columns[name], problem.scales.get(name)
    if scale is None:
        yield Term(values, Variable(name))
        return
    for unit in (scale, *units.tolist()):
        if 0 < unit * np.abs(values).max() < np.inf:
            yield Term(unit * values, Constant(unit) * Variable(name))


def likeliest(found: list[Growth], columns: list[Term], y: Array, weights: Array) -> list[Growth]:
    """Those that leave least of log|y| beside the columns, with any powers; none where the columns leave nothing."""
    logs = [np.log(np.abs(column.values)) for column in columns]
    beside = LinearPart.of(np.log(np.abs(y)), weights, [np.ones_like(y), *logs])
    if not found or not beside.left > 0:
        return []
    with np.errstate(divide="ignore"):
        sets = [(g.exponent.values, np.log(np.abs(g.gained.values)), np.log(g.share.values)) for g in found]
    left = beside.left_by_columns(np.nan_to_num(np.array(sets), neginf=0.0).transpose(0, 2, 1))
    return [found[k] for k in np.argsort(left, kind="stable")[:FOLLOWED]]


def propose(context: Context) -> Iterator[Batch]:
    problem = context.problem
    columns = [Term(column, Variable(name)) for name, column in problem.nonzero_columns.items()]
    if not (problem.y != 0).all() or not few_enough(len(columns) + 3, len(problem.y)):
        return
    by_size = problem.weights * (problem.y / np.abs(problem.y).max()) ** 2
    proposals = []
    for growth in likeliest(growths(problem), columns, problem.y, by_size):
        for factor, beside in product(growth.factors(), ([], [growth.share])):
            for weights, near in product((by_size, np.ones_like(by_size)), (ALL_HALVES, 0.0)):
                rest = power_law(
                    [*columns, *beside], problem.y / factor.values, weights, near=near, near_signed=ALL_WHOLE
                )
                if rest is not None:
                    formula = rest * factor.expression
                    proposals.append(Proposal(formula, problem.unexplained(formula)))
    proposals.sort(key=lambda proposal: proposal.unexplained)
    if proposals:
        yield Batch(proposals[:PROPOSED], len(proposals))


GROWTH = Stage("growth", When.START, propose, needs=("exp",))
