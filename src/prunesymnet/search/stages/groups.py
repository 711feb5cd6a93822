"""Fewer columns from the data alone: where y, divided by a product of powers, depends on one or two groups of columns
only, the search goes on with these as its only columns.

`x**3*y/(exp(x*y/z) - 1)` has three columns; y/(x**2*z) as a function of `x*y/z` has one, and the same bank reaches much
deeper. What is found is put back and fitted on y itself. The search of what is left has this stage, too: a group may
have a group inside.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from prunesymnet.bank.bank import Term
from prunesymnet.bank.problem import Problem, unit_of
from prunesymnet.bank.query import Proposal
from prunesymnet.bank.targets import Factor
from prunesymnet.expression import Constant, Expression, Variable
from prunesymnet.search.stages.base import Batch, Context, Stage, When
from prunesymnet.structure.find import find_structure
from prunesymnet.structure.frame import Found
from prunesymnet.structure.reduction import TARGET, Reduction


def propose(context: Context) -> Iterator[Batch]:
    problem = context.problem
    found = find_structure(problem.columns, problem.y, problem.weights, problem.units)
    if found is None:
        return
    names = _free_names(problem, len(found.groups))
    quantity = Variable(TARGET) if found.factor.formula == Constant(1) else Variable(TARGET) / found.factor.shown
    shown = tuple(group.shown for group in found.groups)
    reduction = Reduction(quantity, shown, found.unexplained, found.second)
    yield Batch([], structure=(reduction,))
    reduced = reduced_problem(problem, found, names)
    if reduced is None:
        return
    for _, batch in replace(context, problem=reduced.problem).run(When.START, When.LEVEL):
        inner = tuple(one.inside(reduction, dict(zip(names, shown, strict=True))) for one in batch.structure)
        yield replace(batch, proposals=[reduced.put_back(p) for p in batch.proposals], structure=inner)


@dataclass(frozen=True)
class Reduced:
    """The problem that groups leave, and the way back from its formulas."""

    problem: Problem
    factor: Factor
    parts: dict[str, Expression]

    def put_back(self, proposal: Proposal) -> Proposal:
        return replace(proposal, expression=self.factor.wrap(proposal.expression.substitute(self.parts)))


def reduced_problem(problem: Problem, found: Found, names: list[str]) -> Reduced | None:
    """The problem whose columns are the groups, with units like any column; None where too few rows have a value."""
    before = found.factor
    divided = problem.target.undo(Factor(Term(before.values, before.formula)))
    if divided is None or not all(np.isfinite(group.values).all() for group in found.groups):
        return None
    unit = unit_of(divided.values)
    factor = Factor(Term(unit * before.values, before.formula if unit == 1 else Constant(unit) * before.formula))
    columns, parts = {}, {}
    for name, group in zip(names, found.groups, strict=True):
        size = unit_of(group.values)
        columns[name] = group.values / size
        parts[name] = group.formula if size == 1 else Constant(1 / size) * group.formula
    left = replace(problem, columns=columns, y=divided.values / unit, weights=divided.weights, units={}, unit=1.0)
    return Reduced(left, factor, parts)


def _free_names(problem: Problem, count: int) -> list[str]:
    """Names for groups that no column has."""
    free = (name for k in range(1, 100) if (name := f"group_{k}") not in problem.columns)
    return list(islice(free, count))


GROUPS = Stage("groups", When.LEVEL, propose)
