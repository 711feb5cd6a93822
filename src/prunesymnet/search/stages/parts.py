"""Sums and products of parts that have no column in common: each part is searched alone (`structure/parts.py`).

Of the first part, the values are known roughly before any formula: formulas of these are candidates. With each, what is
left of y must be a smooth function of the other columns; so their constants are fitted to that, without a formula of
the rest, and those that leave what is smoothest go on. Then what the first part leaves of y is a problem of the other
columns alone, which may have parts again: a sum of three is a sum of two, one of which is a sum.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.problem import Problem, scale_of
from prunesymnet.bank.query import Proposal
from prunesymnet.coefficients.description import BITS_PER_SYMBOL, constant_bits, rough_length
from prunesymnet.expression import (
    Apply,
    Constant,
    Expression,
    Program,
    Variable,
    canonical_and_skeleton,
    compile_expression,
    fold,
)
from prunesymnet.search.stages.base import Batch, Context, Stage, When
from prunesymnet.search.stages.groups import GROUPS, batches_of
from prunesymnet.structure.frame import CLEARLY
from prunesymnet.structure.parts import InParts, can_be_told
from prunesymnet.structure.reduction import TARGET, Reduction
from prunesymnet.structure.smooth import LinearPart

Array = NDArray[np.float64]

ROUGHLY = 1e-4  # of the first part's variation: its values are known no better, and formulas are told apart later
SURE = 1e-4  # of y's variation: what parts leave where they are not a likeness
CANDIDATES = 64  # formulas of the first part whose constants are fitted
BEST = 2  # of them, with which the rest is searched
STEPS = 6  # of Gauss and Newton: they begin near the end
LARGEST = 100  # whole number that a constant is rounded to: any larger float is near to one
NEARLY_WHOLE = 3.0  # standard errors from a whole number: a constant may be meant to be it
# Stages for the first part, and those that the rest has besides.
QUICK = ("power_law", "polynomials", "pairs", "singles", "powers", "families", "member_sums", "frequencies")
OF_THE_REST = ("groups", "in_groups", "unwrapping", "fixed_terms", "denominators", "chains", "rational")


def tell(context: Context) -> Iterator[Batch]:
    """What was found, for those who want to know. Where there is a group to tell, that says more; and in groups that
    units make, the parts would have to be told in these."""
    problem = context.problem
    if problem.groups is not None or (GROUPS in context.stages and context.structure is not None):
        return
    found = context.in_parts
    if found is not None and can_be_told(found, problem.columns, problem.y, context.check):
        yield Batch([], structure=(_reduction(found),))


def propose_sure(context: Context) -> Iterator[Batch]:
    """Formulas of the parts before other slow stages, where parts leave next to nothing."""
    if _is_sure(context):
        yield from propose_any(context)


def propose(context: Context) -> Iterator[Batch]:
    """Formulas of the parts after others, where they are less sure."""
    if not _is_sure(context):
        yield from propose_any(context)


def _is_sure(context: Context) -> bool:
    return context.in_parts is not None and context.in_parts.unexplained <= SURE


def propose_any(context: Context) -> Iterator[Batch]:
    """Formulas that are put together from those of the parts."""
    found = context.in_parts
    if found is not None and not (found.product and is_power_law(found, context.problem)):
        for first in first_parts(context, found):
            yield from rest_of(context, found, first)


def _reduction(found: InParts) -> Reduction:
    columns = tuple(Variable(name) for part in found.every for name in part)
    shares = found.unexplained, found.unexplained_by_one
    return Reduction(Variable(TARGET), columns, *shares, found.product, tuple(map(len, found.every)))


@dataclass(frozen=True)
class First:
    """A formula of the first part, its values on the rows, and how long it is to write down with what it leaves."""

    expression: Expression
    values: Array
    length: float


def first_parts(context: Context, found: InParts) -> list[First]:
    """The formulas of the first part that leave the smoothest rest, for what they cost."""
    values = np.exp(found.curve - found.curve.mean()) if found.product else found.curve
    unit, rows = scale_of(values), len(values)
    problem = replace(part_of(context.problem, found.first), y=values / unit)
    quick = replace(context, stages=tuple(stage for stage in context.stages if stage.name in QUICK))
    least = max(ROUGHLY, found.uncertain)
    proposals = [p for batch in batches_of(quick, problem) for p in batch.proposals]
    proposals.sort(key=lambda p: rough_length(p.expression, rows, max(p.unexplained, least)))
    different: dict[str, Expression] = {}
    for proposal in proposals:
        formula, form = canonical_and_skeleton(Constant(unit) * _without_constant(proposal.expression))
        if formula.variables:
            different.setdefault(form, formula)
    asked = _Smoothness(context.problem, found.precision, found.product)
    fitted = [asked.shortest(formula) for formula in list(different.values())[:CANDIDATES]]
    shortest = sorted((one for one in fitted if one is not None), key=lambda one: one.length)[:BEST]
    return [one for one in shortest if one.length < shortest[0].length + CLEARLY]


def is_power_law(found: InParts, problem: Problem) -> bool:
    """Whether either part is a product of powers of its columns: other stages divide by these."""
    for names, curve in ((found.first, found.curve), (found.rest, np.log(np.abs(problem.y)) - found.curve)):
        columns = [problem.nonzero_columns.get(name) for name in names]
        logs = [np.log(np.abs(column)) for column in columns if column is not None]
        if len(logs) == len(names):
            part = LinearPart.of(curve, np.ones_like(curve), [np.ones_like(curve), *logs])
            if part.left <= max(ROUGHLY, found.uncertain) * float(np.var(curve)):
                return True
    return False


def _without_constant(formula: Expression) -> Expression:
    """Without a constant term: nothing is known of it, and the rest has its own."""
    if not (isinstance(formula, Apply) and formula.operator.name in ("+", "-")):
        return formula
    one, two = map(_without_constant, formula.operands)
    if not two.variables:
        return one
    if not one.variables:
        return two if formula.operator.name == "+" else -two
    return Apply(formula.operator, (one, two))


@dataclass(frozen=True)
class _Smoothness:
    """How smooth what formulas of the first part leave of y is, as a function of the other columns."""

    problem: Problem
    precision: Array
    product: bool

    def shortest(self, formula: Expression) -> First | None:
        """With the constants by which what is left is smoothest, or with those of them whole that nearly are; None
        where the formula is not finite."""
        best = self.fit(formula)
        if best is None:
            return None
        constants, errors = np.array(best.expression.constants), self.errors(best)
        whole = np.round(constants)
        near = (np.abs(constants - whole) < NEARLY_WHOLE * errors) & (whole != 0) & (np.abs(whole) <= LARGEST)
        if not near.any():
            return best
        numbers = iter(zip(near.tolist(), constants.tolist(), strict=True))

        def rounded(leaf: Expression) -> Expression:
            if not (isinstance(leaf, Constant) and leaf.is_free):
                return leaf
            is_near, value = next(numbers)
            return Constant(round(value)) if is_near else leaf

        again = self.fit(fold(best.expression, rounded, Apply))
        return best if again is None or again.length > best.length else again

    def seen(self, program: Program, constants: Array) -> tuple[Array, Array, Array]:
        """The values of a formula, them or their logarithms, and the slopes of these in the constants."""
        values, slopes = program.values_and_jacobian(self.problem.columns, constants)
        return (values, np.log(np.abs(values)), slopes / values) if self.product else (values, values, slopes)

    def fit(self, formula: Expression) -> First | None:
        """By the steps of Gauss and Newton."""
        program = compile_expression(formula)
        target = np.log(np.abs(self.problem.y)) if self.product else self.problem.y
        constants, best = program.constants, None
        with np.errstate(all="ignore"):
            for _ in range(STEPS):
                values, seen, slopes = self.seen(program, constants)
                if not (np.isfinite(seen).all() and np.isfinite(slopes).all()):
                    break
                left = target - seen
                rough = float(left @ self.precision @ left)
                weighed = self.precision @ slopes.T
                normal = slopes @ weighed
                if not (np.isfinite(normal).all() and rough < (math.inf if best is None else best[0])):
                    break
                best = rough, constants, values
                constants = constants + np.linalg.pinv(normal, hermitian=True) @ (weighed.T @ left)
        if best is None or not best[0] > 0:
            return None
        rough, constants, values = best
        rows = len(target)
        size = BITS_PER_SYMBOL * formula.complexity + constant_bits(rows) * len(constants)
        return First(formula.with_constants(constants), values, size + rows / 2 * float(np.log2(rough)))

    def errors(self, first: First) -> Array:
        """Standard errors of the constants; none of those that nothing is known of, as of a constant term."""
        program = compile_expression(first.expression)
        _, seen, slopes = self.seen(program, program.constants)
        target = np.log(np.abs(self.problem.y)) if self.product else self.problem.y
        left = target - seen
        variance = float(left @ self.precision @ left) / len(left)
        inverse = np.linalg.pinv(slopes @ self.precision @ slopes.T, hermitian=True)
        return np.asarray(np.sqrt(variance * np.maximum(np.diag(inverse), 0.0)))


def rest_of(context: Context, found: InParts, first: First) -> Iterator[Batch]:
    """Formulas of the other columns for what the first part leaves, put together with it."""
    y, product = context.problem.y, found.product
    with np.errstate(all="ignore"):
        left = y / first.values if product else y - first.values
    if not np.isfinite(left).all() or not np.ptp(left) > 0:
        return
    unit = scale_of(left)
    weights = context.problem.weights * (first.values**2 if product else 1.0)
    problem = replace(part_of(context.problem, found.rest), y=left / unit, weights=weights / weights.sum())

    def put_back(proposal: Proposal) -> Proposal:
        rest = Constant(unit) * proposal.expression
        formula = first.expression * rest if product else first.expression + rest
        return replace(proposal, expression=formula, unexplained=context.problem.unexplained(formula))

    known = replace(context, stages=tuple(stage for stage in context.stages if stage.name in (*QUICK, *OF_THE_REST)))
    for batch in chain(batches_of(known, problem), propose_any(replace(known, problem=problem))):
        yield replace(batch, proposals=list(map(put_back, batch.proposals)), structure=())


def part_of(problem: Problem, names: tuple[str, ...]) -> Problem:
    """The problem of some columns; its target is to be given."""
    return replace(problem.only(names), scales={}, scale=1.0)


APART = Stage("apart", When.LEVEL, tell)
SURE_PARTS = Stage("sure_parts", When.LEVEL, propose_sure)
PARTS = Stage("parts", When.AFTER_LEVEL, propose)
