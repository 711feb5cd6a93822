"""Sums of simple functions of the columns, around which other operators may stand, where they are exact.

`exp(x)*(y**2 + z + 5)`, divided by exp(x), is a sum of products of columns, and one product of matrices says so
(`bank/dictionary.py`). So thousands of targets are tested: y times and by every node of the bank, and what is in a
function of these. A dictionary may have one more term, which is

- y itself: if `y*f` is a sum of terms and of `c*y`, then y is a sum of terms, divided by `f - c`;
- y times a sum of some terms: then y is a sum divided by another;
- any node of the bank, a wave, or a member of a family (`missing_terms.py`).

And it may be the products of the columns with one function of one of them: `(x + y - 9)*(sqrt(z) + 2)`. What stands
around a sum may have a constant inside (`unknown_constants.py`), and so may a function in a quotient of sums
(`member_quotients.py`).

Whatever is nearly smooth is nearly such a sum, so only what is exact in every row is proposed.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank import families
from prunesymnet.bank.bank import Term
from prunesymnet.bank.dictionary import (
    Dictionary,
    functions_in,
    functions_of,
    is_usable,
    of_size_one,
    polynomials_of_waves,
    polynomials_with_a_function,
    products_of,
    terms_of,
)
from prunesymnet.bank.monomials import few_enough
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import Proposal
from prunesymnet.bank.ways_down import Factors, Found, Hit, Targets, divided, itself, target_of
from prunesymnet.expression import Constant, Variable, canonical
from prunesymnet.search.stages.base import Batch, Context, Stage, When
from prunesymnet.search.stages.chains import factors as products_of_powers
from prunesymnet.search.stages.member_quotients import quotients_with_a_member
from prunesymnet.search.stages.missing_terms import (
    DIVIDED,
    NODES,
    with_a_member,
    with_a_node,
    with_a_wave,
    with_two_nodes,
    without_functions,
)
from prunesymnet.search.stages.polynomials import weighted_sum
from prunesymnet.search.stages.power_law import leading_product
from prunesymnet.search.stages.unknown_constants import behind_a_member, in_a_function

Array = NDArray[np.float64]

DIVIDED_IN_A_FUNCTION = 2500  # nodes by which y is divided before each function is undone
SIMPLE = 60  # nodes by which y is divided before two functions are undone, or where dictionaries are many
SUMMED = 40  # terms of which two are added in a function by which y is divided
PRODUCTS = 4  # times as many products of powers as chains begin with
LOOKED_AT = 8  # of the targets that are sums, the simplest: the same formula is found in several ways
MOST_TERMS = 12  # of a sum: longer ones are what anything smooth can be written as
SHORT = 24  # symbols of a formula after which no other way is tried: where rows crowd, longer sums may be by chance
DEPENDENT = 1e-9  # a smallest singular value this small, relative to the next: there is one sum below
STILL_EXACT = 1e-9  # of the variation: what is left of it by a formula that has lost its negligible terms
NEGLIGIBLE = 1e-6  # of a target's size: no law has such a term, but what is smooth and no sum of few terms has
FEW, PART = 6, 0.5  # terms, and of a dictionary, one or the other: a smooth curve needs many, and most of it


def propose(context: Context) -> Iterator[Batch]:
    problem = context.problem
    if problem.dimensions is not None or problem.is_rounded:  # sums of any functions are not sound, or none is exact
        return
    one = Term(np.ones_like(problem.y), Constant(1))
    words = Dictionary.of([one, *terms_of(problem.columns, problem.operators)])
    if not few_enough(len(words.terms), len(problem.y)):  # so many columns make any target
        return
    leading = leading_product(problem)
    if leading is not None and is_usable(leading) and not words.holds(leading.values[None]).all():
        words = words.and_also(leading)
    powers = products_of_powers(problem, len(problem.columns), PRODUCTS * context.budget.chain_factors)
    products = Factors.of([factor.term for factor in powers], len(problem.y))
    quotients, *others = (Dictionary.of([one, *terms]) for terms in products_of(problem.columns, problem.operators))
    for way in (
        partial(_sums, context, [words, quotients, *others], products),
        partial(_quotients, context, words),
        partial(with_a_node, context, words),
        partial(with_a_wave, context, words),
        partial(quotients_with_a_member, problem),
        partial(with_two_nodes, context, words),
        partial(_with_a_function, context, products),
        partial(_of_waves, context),
        partial(_with_a_denominator, context, words),
        partial(behind_a_member, problem, [words, quotients]),
        partial(in_a_function, problem, Factors.nodes(context.single_bank), [words]),
        partial(with_a_member, context, quotients, SIMPLE, families.SIMPLE),
        partial(with_a_member, context, words, DIVIDED, families.SIMPLE),
        partial(with_a_member, context, words, SIMPLE, families.WAVES[:1]),
    ):
        hits, tested = way()
        found = _formulas(problem, hits)
        yield Batch(found, tested)
        if any(canonical(proposal.expression).complexity <= SHORT for proposal in found):
            return
        context.check()


def _formulas(problem: Problem, hits: list[Hit]) -> list[Proposal]:
    """The formulas of the simplest hits."""
    found = []
    for hit in sorted(hits, key=lambda hit: hit.complexity)[:LOOKED_AT]:
        target = target_of(problem, hit.steps)
        if target is None:
            continue
        values = target.values if hit.denominator is None else target.values * hit.denominator.values
        kept = hit.dictionary.shortest(values, target.weights)
        size = [np.abs(coefficient * term.values).max() / np.abs(values).max() for term, coefficient in kept]
        if hit.rough:
            kept = [term for term, share in zip(kept, size, strict=True) if share > NEGLIGIBLE]
        most = min(MOST_TERMS, max(FEW, PART * len(hit.dictionary.terms)))
        if not 0 < len(kept) <= most or (not hit.rough and min(size) < NEGLIGIBLE):
            continue
        if hit.denominator is None:
            formula = weighted_sum([(coefficient, term.expression) for term, coefficient in kept])
        else:
            above = [(coefficient, term.expression) for term, coefficient in kept if term is not hit.itself]
            if not above:
                continue
            less = sum(coefficient for term, coefficient in kept if term is hit.itself)
            formula = weighted_sum(above) / (hit.denominator.expression - Constant(less))
        formula = target.wrap(formula)
        if problem.unexplained(formula) < STILL_EXACT:
            found.append(Proposal(formula, 0.0))
    return found


def _sums(context: Context, dictionaries: Sequence[Dictionary], products: Factors) -> Found:
    """y itself, and divided by nodes, as sums."""
    problem, nodes = context.problem, Factors.nodes(context.single_bank.first(NODES))
    inside = nodes.first(DIVIDED_IN_A_FUNCTION)
    summed = list(without_functions(dictionaries[0]).terms[:SUMMED])
    functions = Factors.functions_of_sums(summed, functions_in(problem.operators))
    return _all_sums(
        dictionaries,
        chain(
            itself(problem, 2),
            divided(problem, nodes, 0),
            divided(problem, functions, 0),
            divided(problem, inside, 1, least=1),
            divided(problem, products, 1, first=1),
            divided(problem, nodes.first(SIMPLE), 2, least=2),
        ),
    )


def _with_a_function(context: Context, products: Factors) -> Found:
    """Products of the columns with one function of one of them."""
    problem, nodes = context.problem, Factors.nodes(context.pair_bank)
    simple = [divided(problem, factors.first(SIMPLE), 1) for factors in (nodes, products)]
    targets = list(chain(itself(problem, 1), *simple))
    every = polynomials_with_a_function(problem.columns, problem.operators)
    return _all_sums((dictionary for _, dictionary in every), targets)


def _of_waves(context: Context) -> Found:
    """y, or y divided by words, as a product of sums of the sine and the cosine of a column."""
    problem = context.problem
    words = Factors(context.words.values, context.words.term)
    every = polynomials_of_waves(problem.columns, problem.operators)
    return _all_sums(every, [*itself(problem, 1), *divided(problem, words, 0)])


def _all_sums(dictionaries: Iterable[Dictionary], every: Iterable[Targets]) -> Found:
    """Which targets are sums of the terms of a dictionary."""
    ways = list(every)
    stacked = np.concatenate([targets.values for targets in ways])
    starts = np.cumsum([0, *(len(targets.values) for targets in ways)])
    hits, tested = [], 0
    for words in dictionaries:
        tested += len(stacked)
        for place in np.flatnonzero(words.holds(stacked)).tolist():
            way = int(np.searchsorted(starts, place, side="right")) - 1
            hits.append(ways[way].hit(place - int(starts[way]), words))
    return hits, tested


def _quotients(context: Context, words: Dictionary) -> Found:
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


def _with_a_denominator(context: Context, words: Dictionary) -> Found:
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
