"""Constants inside: members of families alone, times a node, beside a node, and two of them, for the target and for the
queries of other stages (`bank/families.py`)."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import LEAF, RECIPROCAL, Bank, Term
from prunesymnet.bank.families import LOCATED, SIMPLE, WAVES, Members, members
from prunesymnet.bank.family_fit import refined
from prunesymnet.bank.family_scan import Hit, alone, beside_members, beside_nodes, terms_of, times_nodes
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import Proposal, Query, by_rank
from prunesymnet.bank.targets import Function
from prunesymnet.expression import Variable, apply
from prunesymnet.search.constraints import Vocabulary
from prunesymnet.search.stages.base import Batch, Context, Stage, When

Array = NDArray[np.float64]

REFINED = 64  # hits for each answer that is kept of a complexity: only at their best constants are they compared
PROPOSED = 8  # the same of formulas
FIRST = 2000  # nodes of the bank among which products of columns are looked for
MOST_FIXED = 6  # terms of a query: beside more, anything nearly smooth explains the rest


def propose(context: Context) -> Iterator[Batch]:
    bank, budget, problem = context.pair_bank, context.budget, context.problem
    known = Vocabulary(problem.operators)
    simple, located, waves = (
        [family for family in families if known.has(family.template)] for families in (SIMPLE, LOCATED, WAVES)
    )
    columns = [bank.term(node) for node in range(len(bank)) if bank.operator[node] == LEAF]
    logs = logarithms(problem)
    partners, target = bank.first(budget.family_partners), problem.target
    answers = partial(_answers, bank=partners, keep=context.scanner.keep)
    queries = [query for query in [*context.queries, *in_logarithms(problem)] if len(query.fixed_terms) <= MOST_FIXED]
    kinds = [members(columns, simple), members([*columns, *logs], located), members(nodes_of(context), simple)]
    kinds = [found for found in kinds if len(found)]
    for found in kinds:
        yield Batch(answers(found, alone(found, queries)), len(found) * len(queries))
    kinds += [members(columns, waves[:1])] if waves else []
    beside = [Query(target), *(Query(target, (term,)) for term in context.simple_terms(budget.family_terms))]
    for found in kinds:
        for query in beside[:1] if found is kinds[-1] else beside:
            context.check()
            hits = [*times_nodes(found, partners, query), *beside_nodes(found, partners, query)]
            yield Batch(answers(found, hits), 2 * len(found) * len(partners))
    both = members(columns, [*simple, *waves[:1]])
    if len(both):
        yield Batch(answers(both, beside_members(both, Query(target))), len(both) ** 2 // 2)


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


def _answers(found: Members, hits: list[Hit], *, bank: Bank, keep: int) -> list[Proposal]:
    """The formulas of the best hits of each complexity, at their best constants."""
    chosen = by_rank(hits, lambda hit: hit.unexplained, lambda hit: hit.complexity)[: REFINED * keep]
    after = zip(chosen, refined(chosen, found, bank), strict=True)
    best = by_rank(after, lambda entry: entry[1][0], lambda entry: entry[0].complexity)[: PROPOSED * keep]
    return [Proposal(hit.query.formula(terms_of(hit, terms, bank)), left) for hit, (left, terms) in best]


FAMILIES = Stage("families", When.LEVEL, propose)
