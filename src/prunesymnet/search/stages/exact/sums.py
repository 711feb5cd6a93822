"""Sums of simple functions of the columns, around which other operators may stand, where they are exact.

`exp(x)*(y**2 + z + 5)`, divided by exp(x), is a sum of products of columns, and one product of matrices says so
(`bank/dictionary.py`). So thousands of targets are tested: y times and by every node of the bank, and what is in a
function of these, or of y less a node.

Whatever is nearly smooth is nearly such a sum, so only what is exact in every row is proposed. The stage `dictionaries`
looks for more than sums, and takes longer.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from prunesymnet.bank.bank import Term
from prunesymnet.bank.dictionary import (
    Dictionary,
    functions_in,
    functions_of,
    in_function,
    is_usable,
    products_of,
    terms_of,
)
from prunesymnet.bank.monomials import few_enough
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import Proposal
from prunesymnet.bank.ways_down import ExactSum, ExactSums, Factors, Targets, divided, itself, less, target_of
from prunesymnet.expression import Constant, canonical
from prunesymnet.search.stages.base import Batch, Context, Stage, When
from prunesymnet.search.stages.chains import factors as products_of_powers
from prunesymnet.search.stages.exact.missing_terms import NODES, without_functions
from prunesymnet.search.stages.polynomials import weighted_sum
from prunesymnet.search.stages.power_law import leading_product

INSIDE = 2500  # nodes by which y is divided before each function is undone
TAKEN_OFF = 600  # the same for nodes that are taken off it
SIMPLE = 60  # the same before two functions are undone, or where dictionaries are many
SUMMED = 40  # terms of which two are added in a function by which y is divided
WORDS = 60  # the same for sums, and squares of these, by which it is
PRODUCTS = 4  # times as many products of powers as chains begin with
LOOKED_AT = 8  # of the targets that are sums, the simplest: the same formula is found in several ways
MOST_TERMS = 12  # of a sum: longer ones are what anything smooth can be written as
SHORT = 24  # symbols of a formula after which no other way is tried: where rows crowd, longer sums may be by chance
STILL_EXACT = 1e-9  # of the variation: what is left of it by a formula that has lost its negligible terms
NEGLIGIBLE = 1e-6  # of a target's size: no law has such a term, but what is smooth and no sum of few terms has
FEW, PART = 6, 0.5  # terms, and of a dictionary, one or the other: a smooth curve needs many, and most of it


class Dictionaries(NamedTuple):
    """What sums may be made of: words, quotients, other products of columns; and products of powers that y may be
    divided by."""

    words: Dictionary
    quotients: Dictionary
    others: list[Dictionary]
    products: Factors

    @classmethod
    def of(cls, context: Context) -> "Dictionaries | None":
        """None where no sum could be told from what anything is."""
        problem = context.problem
        # Sums of any functions are not sound where there are units, and of rounded values none is exact.
        if problem.dimensions is not None or problem.is_rounded:
            return None
        one = Term(np.ones_like(problem.y), Constant(1))
        words = Dictionary.of([one, *terms_of(problem.columns, problem.operators)])
        # So many columns make any target.
        if not few_enough(len(words.terms), len(problem.y)):
            return None
        leading = leading_product(problem)
        if leading is not None and is_usable(leading) and not words.holds(leading.values[None]).all():
            words = words.and_also(leading)
        powers = products_of_powers(problem, len(problem.columns), PRODUCTS * context.budget.chain_factors)
        products = Factors.of([factor.term for factor in powers], len(problem.y))
        quotients, *others = (Dictionary.of([one, *terms]) for terms in products_of(problem.columns, problem.operators))
        return cls(words, quotients, others, products)


def dictionaries_of(context: Context) -> Dictionaries | None:
    """Made once for both stages that ask for it."""
    if "dictionaries" not in context.worked_out:
        context.worked_out["dictionaries"] = Dictionaries.of(context)
    found: Dictionaries | None = context.worked_out["dictionaries"]
    return found


def propose(context: Context) -> Iterator[Batch]:
    given = dictionaries_of(context)
    if given is not None:
        hits, tested = _sums(context, [given.words, given.quotients, *given.others], given.products)
        yield Batch(formulas(context.problem, hits), tested)


def is_short(proposals: list[Proposal]) -> bool:
    """Whether there is one after which no other way is tried."""
    return any(canonical(proposal.expression).complexity <= SHORT for proposal in proposals)


def formulas(problem: Problem, hits: list[ExactSum]) -> list[Proposal]:
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


def _sums(context: Context, dictionaries: Sequence[Dictionary], products: Factors) -> ExactSums:
    """y itself, and divided by nodes, as sums."""
    problem, nodes = context.problem, Factors.nodes(context.single_bank.first(NODES))
    inside = nodes.first(INSIDE)
    # What a smooth curve of one column leaves of another is smooth, too, and nearly any sum.
    taken_off = nodes.first(TAKEN_OFF if len(problem.columns) > 1 else 0)
    summed = list(without_functions(dictionaries[0]).terms[:SUMMED])
    rows = functions_in(problem.operators)
    of_one = functions_of(problem.columns, problem.operators)
    nested = [term for row in rows for one in of_one if is_usable(term := in_function(row, one))]
    around = [Factors.functions_of_sums(summed, rows), Factors.of(nested, len(problem.y))]
    around += [Factors.sums_of(list(dictionaries[0].terms[1 : WORDS + 1]))]
    around += [Factors.products_of(of_one)] if of_one else []
    return all_sums(
        dictionaries,
        chain(
            itself(problem, 2),
            divided(problem, nodes, 0),
            *(divided(problem, factors, 0) for factors in around),
            divided(problem, inside, 1, least=1),
            less(problem, taken_off, 1),
            divided(problem, products, 1, first=1),
            divided(problem, nodes.first(SIMPLE), 2, least=2),
        ),
    )


def all_sums(dictionaries: Iterable[Dictionary], every: Iterable[Targets]) -> ExactSums:
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


EXACT_SUMS = Stage("exact_sums", When.LEVEL, propose)
