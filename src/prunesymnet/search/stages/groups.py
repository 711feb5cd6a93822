"""Fewer columns from the data alone: where y, divided by a product of powers, depends on one or two groups of columns
only, the search goes on with these as its only columns.

`x**3*y/(exp(x*y/z) - 1)` has three columns; y/(x**2*z) as a function of `x*y/z` has one, and the same bank reaches much
deeper. What is found is put back and fitted on y itself. The search of what is left has this stage, too: a group may
have a group inside. Where no group is seen, there may still be columns that enter as powers, and fewer that are left.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, product

import numpy as np

from prunesymnet.bank.bank import Term
from prunesymnet.bank.problem import Problem, scale_of, scales_of
from prunesymnet.bank.query import Proposal
from prunesymnet.bank.targets import Factor
from prunesymnet.coefficients.description import rough_length
from prunesymnet.expression import Constant, Expression, Variable, evaluate
from prunesymnet.search.stages.base import Batch, Context, Part, Stage, When, measured, one_by_one
from prunesymnet.structure.frame import FoundGroups
from prunesymnet.structure.products import Product
from prunesymnet.structure.quantities import Quantity
from prunesymnet.structure.reduction import TARGET, Reduction

FACTORS = 2  # products of powers to divide y by: they differ by powers of the group, and either may leave less to find
WAYS = (4, 2)  # of a factor and a group, or one over it, that are searched at the first level and at each later one
# Stages whose turn is when all ways have been tried.
SLOW = (
    "waves_of_sums", "squares", "apart", "sure_parts", "query_pairs", "pursuit", "beside", "in_groups_again",
)  # fmt: skip
BEST = 3  # formulas of the first factor of a product, with which the second is searched
AS_FITTED = 1e-6  # of the variation: what a spline leaves, below which formulas of a factor are not told apart


def propose(context: Context) -> Iterator[Batch]:
    """What was found, for those who want to know; in groups that units make, it would have to be told in these."""
    if context.structure is not None and context.problem.groups is None:
        yield Batch([], structure=(_reduction(context.structure),))


def parts_in_groups(context: Context) -> Iterator[Part]:
    """The search of what is left, in the simplest way, when short formulas of the columns have been tried."""
    if context.structure is not None and GROUPS in context.stages:
        yield from _parts(context, context.structure, again=False)


def parts_without_power_columns(context: Context) -> Iterator[Part]:
    """The search for what columns that enter as powers leave."""
    if not context.reduced:
        for found in context.without_power_columns:
            parts = _parts(context, found, again=False)
            yield from (part.then(_untold) for part in parts)


def parts_again(context: Context) -> Iterator[Part]:
    """The other ways, when most stages have had their turn; where no structure is sure, the group that is likely."""
    if GROUPS not in context.stages:
        return
    if context.structure is not None:
        yield from _parts(context, context.structure, again=True)
    elif not context.reduced and context.likely_group is not None:
        parts = _parts(context, context.likely_group, again=False)
        yield from (part.then(_untold) for part in parts)


def _untold(batch: Batch) -> Batch:
    """Without a word of structure."""
    return replace(batch, structure=())


def _reduction(found: FoundGroups | Product) -> Reduction:
    quantity = Variable(TARGET) if found.factor.formula == Constant(1) else Variable(TARGET) / found.factor.shown
    shown = tuple(group.shown for group in found.groups)
    return Reduction(quantity, shown, found.unexplained, found.second, isinstance(found, Product))


def _parts(context: Context, found: FoundGroups | Product, *, again: bool) -> Iterator[Part]:
    if isinstance(found, Product):
        yield Part(context, of_factors, (int(again),))
        return
    names = free_names(context.problem, len(found.groups))
    reduction, shown = _reduction(found), {n: group.shown for n, group in zip(names, found.groups, strict=True)}
    for part, reduced in of_groups(context, found, names, again=again):
        yield part.then(partial(_put_back, reduced, reduction, shown))


def _put_back(reduced: "Reduced", reduction: Reduction, shown: dict[str, Expression], batch: Batch) -> Batch:
    inner = tuple(one.inside(reduction, shown) for one in batch.structure)
    return replace(batch, proposals=[reduced.put_back(p) for p in batch.proposals], structure=inner)


def of_groups(
    context: Context, found: FoundGroups, names: list[str], *, again: bool
) -> "Iterator[tuple[Part, Reduced]]":
    """The parts of all stages on the problem whose columns are the groups, in several ways; of the first way, or of
    the others and of the slow stages."""
    stand = orientations(found.groups) if context.problem.divides else [found.groups]
    ways = list(product(found.factors[:FACTORS], stand))[: WAYS[min(context.budget.level, 1)]]
    order = range(len(ways))[::-1] if again else range(1)
    for k in order:
        key = found.factor.formula, k
        if key not in context.worked_out:
            reduced = reduced_problem(context.problem, *ways[k], names)
            inner = None if reduced is None else replace(context, problem=reduced.problem, reduced=True)
            context.worked_out[key] = reduced, inner
        reduced, inner = context.worked_out[key]
        if reduced is not None and inner is not None:
            slow = again and k == 0
            yield from ((part, reduced) for part in inner.parts(When.START, When.LEVEL, wanted=_stages(slow=slow)))


def of_factors(context: Context, first: int) -> Iterator[Batch]:
    """A function of the `first` group, with the other's as it was fitted; then the other, with the best of these."""
    found = context.structure
    if not isinstance(found, Product):
        return
    names = free_names(context.problem, len(found.groups))
    rows, group, other = len(context.problem.y), found.groups[first], found.groups[1 - first]
    fitted = Quantity(found.factor.values * found.curves[1 - first], Constant(1), Constant(1))
    reduced = reduced_problem(context.problem, fitted, (group,), names[:1])
    if reduced is None:
        return
    proposals = [p for batch in batches_of(context, reduced.problem) for p in batch.proposals]
    proposals = measured(proposals, reduced.problem)
    proposals.sort(key=lambda p: rough_length(p.expression, rows, max(p.unexplained, AS_FITTED)))
    for best in proposals[:BEST]:
        formula = best.expression.substitute(reduced.parts)
        values, finite = evaluate(formula, context.problem.columns)
        if not finite.all() or not (values != 0).all():
            continue
        before = found.factor.formula * formula
        rest = reduced_problem(
            context.problem, Quantity(found.factor.values * values, before, before), (other,), names[1:]
        )
        if rest is not None:
            for batch in batches_of(context, rest.problem):
                yield replace(batch, proposals=[rest.put_back(p) for p in batch.proposals], structure=())


def _stages(*, slow: bool) -> Callable[[Stage], bool]:
    """Whether a stage is among those that are slow, or among the others."""
    return lambda stage: (stage.name in SLOW) == slow


def batches_of(context: Context, problem: Problem) -> Iterator[Batch]:
    """Of the stages that are not slow, on another problem."""
    parts = replace(context, problem=problem, reduced=True).parts(When.START, When.LEVEL, wanted=_stages(slow=False))
    for _, batch in one_by_one(parts):
        yield batch
        context.check()  # who asks may want all of them before it gives any


def orientations(groups: tuple[Quantity, ...]) -> list[tuple[Quantity, ...]]:
    """Groups as they are, and a single one upside down: exp(1/N**2) is a short formula of 1/N."""
    if len(groups) != 1 or not (groups[0].values != 0).all():
        return [groups]
    (group,) = groups
    return [groups, (Quantity(1 / group.values, 1 / group.formula, 1 / group.shown),)]


@dataclass(frozen=True)
class Reduced:
    """The problem that groups leave, and the way back from its formulas."""

    problem: Problem
    factor: Factor
    parts: dict[str, Expression]

    def put_back(self, proposal: Proposal) -> Proposal:
        return replace(proposal, expression=self.factor.wrap(proposal.expression.substitute(self.parts)))


def reduced_problem(
    problem: Problem, before: Quantity, groups: tuple[Quantity, ...], names: list[str]
) -> Reduced | None:
    """The problem whose columns are the groups, scaled like any column, and whose target is divided by what stands
    before; None where too few rows have a value."""
    divided = problem.target.undo(Factor(Term(before.values, before.formula)))
    if divided is None or not all(np.isfinite(group.values).all() for group in groups):
        return None
    unit = scale_of(divided.values)
    factor = Factor(Term(unit * before.values, before.formula if unit == 1 else Constant(unit) * before.formula))
    columns, parts = {}, {}
    sizes = scales_of({name: group.values for name, group in zip(names, groups, strict=True)})
    for name, group in zip(names, groups, strict=True):
        size = sizes[name]
        columns[name] = group.values / size
        parts[name] = group.formula if size == 1 else Constant(1 / size) * group.formula
    left = replace(
        problem, columns=columns, y=divided.values / unit, weights=divided.weights, scales={}, scale=1.0, groups=None,
        dimensions=None,
    )  # fmt: skip
    return Reduced(left, factor, parts)


def free_names(problem: Problem, count: int) -> list[str]:
    """Names for groups that no column has."""
    free = (name for k in range(1, 100) if (name := f"group_{k}") not in problem.columns)
    return list(islice(free, count))


GROUPS = Stage("groups", When.LEVEL, propose)
IN_GROUPS = Stage("in_groups", When.LEVEL, parts=parts_in_groups)
WITHOUT_POWER_COLUMNS = Stage("without_power_columns", When.LEVEL, parts=parts_without_power_columns)
IN_GROUPS_AGAIN = Stage("in_groups_again", When.LEVEL, parts=parts_again, waits=True)
