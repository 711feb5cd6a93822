"""Fewer columns from the data alone: where y, divided by a product of powers, depends on one group of columns only,
the search goes on with that group as its only column.

`x**3*y/(exp(x*y/z) - 1)` has three columns; y/(x**2*z) as a function of `x*y/z` has one, and the same bank reaches much
deeper. What is found is put back and fitted on y itself. The search of what is left has this stage, too: a group may
have a group inside.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from prunesymnet.bank.bank import Term
from prunesymnet.bank.problem import Problem, unit_of
from prunesymnet.bank.query import Proposal
from prunesymnet.bank.targets import Factor
from prunesymnet.expression import Constant, Expression, Variable
from prunesymnet.search.stages.base import Batch, Context, Stage, When
from prunesymnet.structure.groups import Group, find_group
from prunesymnet.structure.reduction import TARGET, Reduction


def propose(context: Context) -> Iterator[Batch]:
    problem = context.problem
    found = find_group(problem.columns, problem.y, problem.weights, units=problem.units)
    if found is None:
        return
    name = _free_name(problem)
    quantity = Variable(TARGET) if found.factor == Constant(1) else Variable(TARGET) / found.shown_factor
    reduction = Reduction(quantity, (found.shown_group,), found.unexplained, found.second)
    yield Batch([], structure=(reduction,))
    reduced = reduced_problem(problem, found, name)
    if reduced is None:
        return
    for _, batch in replace(context, problem=reduced.problem).run(When.START, When.LEVEL):
        inner = tuple(one.inside(reduction, {name: found.shown_group}) for one in batch.structure)
        yield replace(batch, proposals=[reduced.put_back(p) for p in batch.proposals], structure=inner)


class Reduced:
    """The problem that a group leaves, and the way back from its formulas."""

    def __init__(self, problem: Problem, factor: Factor, parts: dict[str, Expression]) -> None:
        self.problem, self.factor, self.parts = problem, factor, parts

    def put_back(self, proposal: Proposal) -> Proposal:
        return replace(proposal, expression=self.factor.wrap(proposal.expression.substitute(self.parts)))


def reduced_problem(problem: Problem, found: Group, name: str) -> Reduced | None:
    """The problem whose only column is the group, with a unit like any column; None where too few rows have a value."""
    divided = problem.target.undo(Factor(Term(found.factor_values, found.factor)))
    if divided is None or not np.isfinite(found.group_values).all():
        return None
    unit, of_group = unit_of(divided.values), unit_of(found.group_values)
    factor = Factor(Term(unit * found.factor_values, found.factor if unit == 1 else Constant(unit) * found.factor))
    part = found.group if of_group == 1 else Constant(1 / of_group) * found.group
    left = replace(
        problem, columns={name: found.group_values / of_group}, y=divided.values / unit, weights=divided.weights
    )
    return Reduced(left, factor, {name: part})


def _free_name(problem: Problem) -> str:
    return next(name for k in range(1, 100) if (name := f"group_{k}") not in problem.columns)


GROUPS = Stage("groups", When.LEVEL, propose)
