"""Grafts: what would have to stand in place of each branch of a formula that is nearly right?

A search often meets `q*(B*v*sin(theta) + 3)` before `q*(B*v*sin(theta) + E)`. With the rest as it stands, each branch
has a target of its own: the values by which the formula would give y. The bank is asked for them in four ways: one more
term beside the branch, one more factor, another term in place of one of a sum, and another branch in its place.

>>> from prunesymnet.data import make_dataset
>>> from prunesymnet.expression import parse
>>> x = np.linspace(1, 3, 20)
>>> table = make_dataset(x, np.exp(x + x**2), names=["x"])
>>> problem = Problem.of(table, ("+", "exp", "square"), rows=20, seed=0)
>>> [query.target.text for query in branch_queries(parse("exp(2.5*x)"), problem)]
['g*exp(2.5*x)', 'sqrt(g)*exp(2.5*x)', 'exp(g)*exp(2.5*x)', 'g**2*exp(2.5*x)', 'g', 'exp(g)', 'exp(g)',
 'exp(g*(2.5*x))']
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import Query, in_parts
from prunesymnet.bank.targets import Factor, Step, unwrap
from prunesymnet.coefficients.bases import TINY
from prunesymnet.expression import Apply, Constant, Expression, evaluate
from prunesymnet.operators import Operator
from prunesymnet.search.stages.base import (
    PAIRS_AT_A_TIME,
    QUERIES_AT_A_TIME,
    Batch,
    Context,
    Part,
    Stage,
    When,
    measured,
    passes,
)

Array = NDArray[np.float64]

NEWTON = 8  # steps towards the value of an operand, from the one that it has
SAME = 1e-9  # relative: values that are equal but for rounding
PAIRED = 32  # queries that are asked for pairs: those that a single node answers best
PAIR_NODES = 800  # of the bank, whose pairs are scanned for them
LONGEST = 30  # complexity of a formula whose branches are looked at


def propose(context: Context) -> Iterator[Batch]:
    """For the formulas of the front that are new, as long as that makes the best of them much better."""
    done: set[Expression] = set()

    def graft() -> Iterator[Batch]:
        found = map(context.formula, context.archive.front())
        fresh = [f for f in found if f.complexity <= LONGEST and f not in done and context.problem.has(f)]
        done.update(fresh)
        yield from _grafted(context, tuple(fresh))

    yield from passes(context, graft, LONGEST)


def _grafted(context: Context, formulas: tuple[Expression, ...]) -> Iterator[Batch]:
    """One node for each branch, and two for those queries that one answers best."""
    count, best = len(_queries(context, formulas)), dict[int, float]()  # of the queries that were answered
    numbers = [list(some) for some in in_parts(range(count), QUERIES_AT_A_TIME)]
    for part, batch in context.ask(Part(context, one_node, (formulas, some), stage="grafts") for some in numbers):
        best.update((k, left) for k, (left, _) in zip(part.arguments[1], batch.best, strict=True))
        yield batch
    order = sorted(best, key=lambda k: best[k])
    numbers = [list(some) for some in in_parts(order[:PAIRED], PAIRS_AT_A_TIME)]
    parts = (Part(context, two_nodes, (formulas, some), stage="grafts") for some in numbers)
    yield from (batch for _, batch in context.ask(parts))


def _queries(context: Context, formulas: tuple[Expression, ...]) -> list[Query]:
    """About all branches of some formulas."""
    if formulas not in context.worked_out:
        beside, problem = context.polynomial_terms(2), context.problem
        found = [query for formula in formulas for query in branch_queries(formula, problem, beside)]
        context.worked_out[formulas] = found
    queries: list[Query] = context.worked_out[formulas]
    return queries


def one_node(context: Context, formulas: tuple[Expression, ...], numbers: list[int]) -> Iterator[Batch]:
    """The answers to some of the queries, and what the best node leaves of y itself for each."""
    problem, bank = context.problem, context.single_bank
    queries = [_queries(context, formulas)[k] for k in numbers]
    answers = context.scanner.singles(queries, bank)
    pairs = zip(queries, answers.best, strict=True)
    best = tuple((problem.unexplained(query.formula([bank.term(node)])), node) for query, (_, node) in pairs)
    yield Batch(measured(answers.proposals, problem), answers.scored, best=best)


def two_nodes(context: Context, formulas: tuple[Expression, ...], numbers: list[int]) -> Iterator[Batch]:
    queries = [_queries(context, formulas)[k] for k in numbers]
    answers = context.scanner.pairs(queries, context.pair_bank.first(PAIR_NODES))
    yield Batch(measured(answers.proposals, context.problem), answers.scored)


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """t is an operator of g and perhaps another operand: g is its operand number `place`, and has values `now`. Of
    several values that g could have, as below a sine, the one near to these is meant."""

    operator: Operator
    place: int
    now: Array
    other: Term | None

    def operands(self, inside: Array) -> tuple[Array, ...]:
        if self.other is None:
            return (inside,)
        return (inside, self.other.values) if self.place == 0 else (self.other.values, inside)

    def up(self, inside: Array) -> Array:
        return np.asarray(self.operator.numpy(*self.operands(inside)))

    def slope(self, inside: Array) -> Array:
        partial = self.operator.partials[self.place]
        if not callable(partial):
            return np.full(inside.shape, float(partial))
        return np.broadcast_to(partial(self.up(inside), *self.operands(inside)), inside.shape)

    def down(self, target: Array) -> Array:
        inverse = self.operator.inverses[self.place] if self.operator.inverses else None
        others = () if self.other is None else (self.other.values,)
        if inverse is not None:
            inside = np.asarray(inverse(target, *others), dtype=float)
            principal = _same(np.asarray(inverse(self.up(self.now), *others)), self.now)
        else:
            inside, principal = self.now, np.zeros(self.now.shape, dtype=bool)
        if not principal.all():
            inside = np.where(principal, inside, self.nearest(target))
        return np.where(_same(self.up(inside), target), inside, np.nan)

    def nearest(self, target: Array) -> Array:
        """By Newton's steps from where it is now."""
        inside = self.now
        for _ in range(NEWTON):
            inside = inside - (self.up(inside) - target) / self.slope(inside)
        return inside

    def wrap(self, inside: Expression) -> Expression:
        if self.other is None:
            return Apply(self.operator, (inside,))
        other = self.other.expression
        return Apply(self.operator, (inside, other) if self.place == 0 else (other, inside))


def _same(one: Array, two: Array) -> NDArray[np.bool_]:
    return np.abs(one - two) <= SAME * (np.abs(one) + np.abs(two)) + TINY


def branch_queries(formula: Expression, problem: Problem, beside: Iterable[tuple[Term, ...]] = ()) -> list[Query]:
    """What may be asked about a formula, from its root to its leaves; nothing where it is not finite on all rows. About
    what it lacks as a factor it is asked with other terms `beside` it, too."""
    with np.errstate(all="ignore"):
        values, finite = evaluate(formula, problem.columns)
        if not finite.all():
            return []
        divided = problem.target.undo(Factor(Term(values, formula)))
        targets = [] if divided is None else unwrap(divided, (), problem.operators)
        queries = [Query(target, terms) for target in targets for terms in ((), *beside)]
        return [*queries, *_below(formula, (), "", problem)]


def _below(node: Expression, steps: tuple[Step, ...], above: str, problem: Problem) -> Iterator[Query]:
    """About a node and all below it; `above` is the operator that it is an operand of, or "c*" for a coefficient."""
    target = problem.target.undo(*steps) if steps else problem.target
    if target is None or not node.variables:
        return

    def term(part: Expression) -> Term:
        return Term(evaluate(part, problem.columns).values, part)

    terms = [term(part) for part in _terms(node)]
    if above not in ("+", "-", "neg", "c*"):  # where it is a term, the sum is asked
        yield Query(target, tuple(terms))
        if len(terms) > 1:
            yield from (Query(target, tuple(terms[:k] + terms[k + 1 :])) for k in range(len(terms)))
        if steps:
            yield Query(target)
    if steps and above not in ("*", "/", "neg", "c*"):  # where it is a factor, the product is asked
        divided = problem.target.undo(*steps, Factor(term(node)))
        if divided is not None:
            yield Query(divided)
    if not isinstance(node, Apply):
        return
    operands = [term(operand) for operand in node.operands]
    for place, operand in enumerate(operands):
        if node.operator.name == "pow" and place == 1:
            continue  # exponents are no operands of the network
        other = None if len(operands) == 1 else operands[1 - place]
        branch = Branch(node.operator, place, operand.values, other)
        coefficient = node.operator.name == "*" and other is not None and not other.expression.variables
        name = "c*" if coefficient else node.operator.name
        yield from _below(operand.expression, (*steps, branch), name, problem)


def _terms(node: Expression) -> list[Expression]:
    """The terms of a sum that vary, without sign and coefficient."""
    if not node.variables:
        return []
    if isinstance(node, Apply):
        if node.operator.name in ("+", "-", "neg"):
            return [term for operand in node.operands for term in _terms(operand)]
        if node.operator.name == "*" and isinstance(node.operands[0], Constant):
            return _terms(node.operands[1])
    return [node]


GRAFTS = Stage("grafts", When.AFTER_LEVEL, propose)
