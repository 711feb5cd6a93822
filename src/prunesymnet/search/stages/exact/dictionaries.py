"""Sums with something more, which are exact: the stage `exact_sums` knows sums of terms of a dictionary
(`bank/dictionary.py`). A dictionary may have one more term, which is

- y itself: if `y*f` is a sum of terms and of `c*y`, then y is a sum of terms, divided by `f - c`;
- y times a sum of some terms: then y is a sum divided by another;
- any node of the bank, a wave, or a member of a family (`missing_terms.py`).

And it may be the products of the columns with one function of one of them: `(x + y - 9)*(sqrt(z) + 2)`. What stands
around a sum may have a constant inside (`unknown_constants.py`), and so may a function in a quotient of sums
(`member_quotients.py`).
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank import families
from prunesymnet.bank.bank import Term
from prunesymnet.bank.dictionary import (
    Dictionary,
    functions_of,
    of_size_one,
    polynomials_of_waves,
    polynomials_with_a_function,
)
from prunesymnet.bank.monomials import few_enough
from prunesymnet.bank.ways_down import ExactSums, Factors, divided, itself
from prunesymnet.expression import Constant, Variable
from prunesymnet.search.stages.base import Batch, Context, Stage, When
from prunesymnet.search.stages.exact.member_quotients import quotients_with_a_member
from prunesymnet.search.stages.exact.missing_terms import (
    DIVIDED,
    NODES,
    with_a_member,
    with_a_node,
    with_a_wave,
    with_two_nodes,
)
from prunesymnet.search.stages.exact.sums import NEGLIGIBLE, SIMPLE, all_sums, dictionaries_of, formulas, is_short
from prunesymnet.search.stages.exact.unknown_constants import behind_a_member, in_a_function
from prunesymnet.search.stages.polynomials import weighted_sum

Array = NDArray[np.float64]

DEPENDENT = 1e-9  # a smallest singular value this small, relative to the next: there is one sum below


def propose(context: Context) -> Iterator[Batch]:
    problem, given = context.problem, dictionaries_of(context)
    if given is None:
        return
    words, quotients = given.words, given.quotients
    for way in (
        partial(_quotients, context, words),
        partial(with_a_node, context, words),
        partial(with_a_wave, context, words),
        partial(quotients_with_a_member, problem),
        partial(with_two_nodes, context, words),
        partial(_with_a_function, context, given.products),
        partial(_of_waves, context),
        partial(_with_a_denominator, context, words),
        partial(behind_a_member, problem, [words, quotients]),
        partial(in_a_function, problem, Factors.nodes(context.single_bank), [words]),
        partial(with_a_member, context, quotients, SIMPLE, families.SIMPLE),
        partial(with_a_member, context, words, DIVIDED, families.SIMPLE),
        partial(with_a_member, context, words, SIMPLE, families.WAVES[:1]),
    ):
        hits, tested = way()
        found = formulas(problem, hits)
        yield Batch(found, tested)
        if is_short(found):
            return
        context.check()


def _with_a_function(context: Context, products: Factors) -> ExactSums:
    """Products of the columns with one function of one of them."""
    problem, nodes = context.problem, Factors.nodes(context.pair_bank)
    simple = [divided(problem, factors.first(SIMPLE), 1) for factors in (nodes, products)]
    targets = list(chain(itself(problem, 1), *simple))
    every = polynomials_with_a_function(problem.columns, problem.operators)
    return all_sums((dictionary for _, dictionary in every), targets)


def _of_waves(context: Context) -> ExactSums:
    """y, or y divided by words, as a product of sums of the sine and the cosine of a column."""
    problem = context.problem
    words = Factors(context.words.values, context.words.term)
    every = polynomials_of_waves(problem.columns, problem.operators)
    return all_sums(every, [*itself(problem, 1), *divided(problem, words, 0)])


def _quotients(context: Context, words: Dictionary) -> ExactSums:
    """y, or what is in a function of it, as a sum divided by a node and a constant."""
    problem, bank = context.problem, context.single_bank.first(NODES)
    hits, tested = [], 0
    for targets in itself(problem, 1) if problem.divides else ():
        target = Term(targets.values[0], Constant(1))
        more = words.and_also(target)
        tested += len(bank)
        with np.errstate(all="ignore"):
            there = np.flatnonzero(more.holds(bank.values * target.values)).tolist()
        for k in there:
            hit = targets.hit(0, more, int(bank.complexity[k]))
            hits.append(hit._replace(denominator=bank.term(k), itself=target))
    return hits, tested


def _with_a_denominator(context: Context, words: Dictionary) -> ExactSums:
    """y, or what is in a function of it, as a sum divided by another: if y times the second is the first, then a sum of
    terms that are multiplied by y lies in the span of the others."""
    problem = context.problem
    if not problem.divides:
        return [], 0
    simple = [words.terms[0], *(Term(column, Variable(name)) for name, column in problem.columns.items())]
    functions = [*simple, *functions_of(problem.columns, problem.operators)]
    pairs = [(words, functions)] if few_enough(len(words.terms) + len(functions), len(problem.y)) else []
    every = polynomials_with_a_function(problem.columns, problem.operators, beside=len(simple) + 1)
    pairs += [(dictionary, [*simple, function]) for function, dictionary in every]
    hits, tested = [], 0
    for targets in itself(problem, 1):
        tested += len(pairs)
        for above, below in pairs:
            found = _denominator(above, below, targets.values[0])
            if found is not None:
                hit = targets.hit(0, above, found.expression.complexity)
                hits.append(hit._replace(denominator=found, rough=True))
    return hits, tested


def _denominator(above: Dictionary, below: Sequence[Term], target: Array) -> Term | None:
    """The sum of the terms below that, times the target, lies in the span of those above; None if there is none, or
    more than one."""
    values = np.array([term.values for term in below])
    with np.errstate(all="ignore"):
        scaled, usable = of_size_one(values * target)
    if not usable.all():
        return None
    vectors, sizes, _ = np.linalg.svd(above.rest(scaled), full_matrices=False)
    if not sizes[-1] < DEPENDENT * sizes[-2]:
        return None
    coefficients = vectors[:, -1] / np.abs(values * target).max(axis=1)
    shares = np.abs(coefficients) * np.abs(values).max(axis=1)
    kept = np.flatnonzero(shares > NEGLIGIBLE * shares.max()).tolist()
    total = weighted_sum([(float(coefficients[k] / coefficients[kept[-1]]), below[k].expression) for k in kept])
    return Term(coefficients[kept] @ values[kept] / coefficients[kept[-1]], total)


DICTIONARIES = Stage("dictionaries", When.LEVEL, propose)
