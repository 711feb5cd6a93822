"""Constants inside: members of families alone, times a node and beside a node, for the target and for the queries of
other stages (`bank/families.py`)."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import LEAF, RECIPROCAL, Bank, Term
from prunesymnet.bank.families import (
    BENT,
    FACTORS,
    LOCATED,
    SHIFTED_POWERS,
    SIMPLE,
    WAVES,
    Members,
    family_of,
    members,
)
from prunesymnet.bank.family_fit import refined
from prunesymnet.bank.family_scan import MemberAnswer, alone, beside_nodes, terms_of, times_nodes
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import EXACT, Proposal, Query, by_rank
from prunesymnet.bank.targets import Function
from prunesymnet.coefficients.description import BITS_PER_SYMBOL, residual_bits
from prunesymnet.expression import Variable, apply
from prunesymnet.search.constraints import Vocabulary
from prunesymnet.search.stages.base import Batch, Context, Stage, When

Array = NDArray[np.float64]
T = TypeVar("T")

REFINED = 40  # hits for each answer that is kept of a complexity: only at their best constants are they compared
PROPOSED = 5  # the same of formulas
FIRST = 2000  # nodes of the bank among which products of columns are looked for
# Functions whose families are written out, and those in which a constant inside is one outside.
COVERED = {"exp", "log", "sqrt", "inv", "sin", "cos", "square", "cube", "id", "neg", "abs"}
MOST_FIXED = 6  # terms of a query: beside more, anything nearly smooth explains the rest


def batches(context: Context) -> Iterator[Callable[[], Batch]]:
    bank, budget, problem = context.pair_bank, context.budget, context.problem
    known = Vocabulary(problem.operators)
    simple, factors, located, bent, powers, waves = (
        [family for family in families if known.has(family.template)]
        for families in (SIMPLE, FACTORS, LOCATED, BENT, SHIFTED_POWERS, WAVES)
    )
    located += [family_of(row) for name, row in problem.operators.items() if row.arity == 1 and name not in COVERED]
    columns = [bank.term(node) for node in range(len(bank)) if bank.operator[node] == LEAF]
    centred = [*columns, *logarithms(problem)] if len(columns) <= budget.located_columns else []
    if centred and problem.groups is not None and problem.divides:  # a group may stand the other way up
        centred += [Term(1 / column, 1 / Variable(name)) for name, column in problem.nonzero_columns.items()]
    partners, target = bank.first(budget.family_partners), problem.target
    batch = partial(_batch, bank=partners, keep=context.scanner.keep)
    queries = [query for query in [*context.queries, *in_logarithms(problem)] if len(query.fixed_terms) <= MOST_FIXED]
    nodes = nodes_of(context)
    kinds = [members(columns, simple), members(centred, located), members(nodes, simple)]
    kinds = [found for found in kinds if len(found)]
    for asked in ([Query(target)], queries):
        for found in kinds:
            yield partial(batch, found, partial(alone, found, asked), len(found) * len(asked))
    squares = [Term(term.values**2, term.expression**2) for term in columns if centred]
    for found in (members(centred, bent), members([*centred, *squares], powers)):
        if not len(found):
            continue
        asked = [Query(target), *in_logarithms(problem)]  # in sums, and of more targets, they are nearly anything
        yield partial(batch, found, partial(alone, found, asked), len(found) * len(asked))
    kinds += [members(columns, waves[:1])] if waves else []
    beside = [Query(target), *(Query(target, (term,)) for term in context.simple_terms(budget.family_terms))]
    beside += [query for query in queries if is_unwrapped(query)]
    for found in kinds:
        some = bank.first(min(len(partners), budget.family_pairs // max(len(found), 1)))
        for query in beside if found is kinds[0] else beside[:1]:
            yield partial(batch, found, partial(_with_nodes, found, some, query), 2 * len(found) * len(some))
    for inside in (columns, nodes):
        if len(found := members(inside, factors)):
            some = bank.first(min(len(partners), budget.family_pairs // len(found)))
            yield partial(batch, found, partial(times_nodes, found, some, Query(target)), len(found) * len(some))


def _batch(found: Members, scan: Callable[[], list[MemberAnswer]], scored: int, *, bank: Bank, keep: int) -> Batch:
    """What a scan of members finds."""
    return Batch(_answers(found, scan(), bank=bank, keep=keep), scored)


def _with_nodes(found: Members, bank: Bank, query: Query) -> list[MemberAnswer]:
    """A member times a node, and beside one."""
    return [*times_nodes(found, bank, query), *beside_nodes(found, bank, query)]


def is_unwrapped(query: Query) -> bool:
    """Whether it asks for what stands in a function, and for nothing else: the target's logarithm, or one over it."""
    steps = query.target.steps
    return not query.fixed_terms and len(steps) == 1 and isinstance(steps[0], Function)


def nodes_of(context: Context) -> list[Term]:
    """What may stand inside beside the columns: products and quotients of these, one over them, and the simplest of the
    bank."""
    bank, most = context.with_reciprocals(context.single_bank.first(FIRST)), context.budget.family_nodes
    products = set(bank.monomials())
    over = [k for k in range(len(bank)) if bank.operator[k] == RECIPROCAL and int(bank.left[k]) in products]
    simple = bank.algebraic_nodes()[:most]
    nodes = bank.different([*sorted([*products, *over])[: 2 * most], *simple])
    return [bank.term(node) for node in nodes if bank.operator[node] != LEAF][:most]


def logarithms(problem: Problem) -> list[Term]:
    """Of the columns that have one."""
    if not {"exp", "log"} <= set(problem.operators):
        return []
    return [
        Term(np.log(column), apply("log", Variable(name)))
        for name, column in problem.columns.items()
        if (column > 0).all()
    ]


def in_logarithms(problem: Problem) -> list[Query]:
    """A product of any powers of the columns with a member: its logarithm is a sum."""
    logs = logarithms(problem)
    target = problem.target.undo_functions(problem.operators["exp"]) if logs else None
    return [] if target is None else [Query(target, tuple(logs))]


def _answers(found: Members, hits: list[MemberAnswer], *, bank: Bank, keep: int) -> list[Proposal]:
    """The formulas of the best hits, at their best constants."""
    rows = found.columns.shape[2]
    chosen = _promising([(hit.unexplained, hit.complexity, hit) for hit in hits], REFINED * keep, rows)
    after = refined(chosen, found, bank)
    best = [(float(after.unexplained[k]), hit.complexity, k) for k, hit in enumerate(chosen)]
    return [
        Proposal(chosen[k].query.formula(terms_of(chosen[k], after.terms(k), bank)), float(after.unexplained[k]))
        for k in _promising(best, PROPOSED * keep, rows)
    ]


def _promising(entries: list[tuple[float, int, T]], count: int, rows: int) -> list[T]:
    """So many of entries with an error and a complexity: the shortest descriptions, which are what is simple where all
    errors are noise, and the best of each complexity, in equal parts."""
    shortest = sorted(entries, key=lambda e: float(residual_bits(rows, max(e[0], EXACT))) + BITS_PER_SYMBOL * e[1])
    ranked = by_rank(entries, lambda entry: entry[0], lambda entry: entry[1])
    turns = (entry for both in zip(shortest, ranked, strict=True) for entry in both)
    different = {id(entry): entry for entry in turns}
    return [item for _, _, item in islice(different.values(), count)]


FAMILIES = Stage("families", When.LEVEL, batches=batches)
