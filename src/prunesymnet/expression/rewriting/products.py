"""A sum that is nearly a product of two sums, and a quotient of sums that nearly divides."""

from collections.abc import Iterator
from itertools import product

from prunesymnet.expression.canonical import algebra
from prunesymnet.expression.canonical.numbers import over
from prunesymnet.expression.canonical.terms import Monomial, Terms, to_tree
from prunesymnet.expression.rewriting.likeness import exact_or_free, match, times, without
from prunesymnet.expression.tree import Expression


def one_product(terms: Terms) -> Iterator[Expression]:
    """As a product of two sums, and what is left: what stands beside a factor in several terms may stand, times other
    things, in the rest of the sum as well."""
    tried: set[tuple[Monomial, ...]] = set()
    for factor in dict.fromkeys(part for monomial in terms for part in monomial):
        beside = {without(m, factor): c for m, c in terms.items() if factor in m}
        if not 2 <= len(beside) <= len(terms) / 2 or tuple(beside) in tried:
            continue
        tried.add(tuple(beside))
        first = next(iter(beside.values()))
        sum_of = {m: exact_or_free(float(over(c, first))) for m, c in beside.items()}
        whole, rest = _multiples(terms, sum_of)
        if len(whole) > 1:
            yield to_tree(sum_of) * to_tree(whole) + to_tree(rest)


def _multiples(terms: Terms, sum_of: Terms) -> tuple[Terms, Terms]:
    """By what another sum can be multiplied so that all terms of the product are among these, about; and the rest."""
    whole: Terms = {}
    rest = dict(terms)
    leading = algebra.to_power({next(iter(sum_of)): 1}, -1)
    for monomial, coefficient in terms.items():
        if monomial in rest:
            part = algebra.multiply({monomial: coefficient}, leading)
            taken = {match(rest, entry) for entry in times(part, sum_of)}
            if None not in taken and len(taken) == len(sum_of):
                whole = algebra.add(whole, part)
                rest = {m: c for m, c in rest.items() if m not in taken}
    return whole, rest


def divided(above: Terms, below: Terms) -> Iterator[tuple[Terms, Terms]]:
    """What a sum divided by another is, and what is left to be divided, as long as each step leaves fewer terms."""
    if len(below) < 2:
        return
    whole: Terms = {}
    while len(above) > 1:
        steps = [_step(above, below, m, n) for m, n in product(above, below)]
        part, rest = min(steps, key=lambda step: len(step[1]))
        if len(rest) >= len(above):
            break
        whole, above = algebra.add(whole, part), rest
        yield whole, above


def _step(above: Terms, below: Terms, one: Monomial, two: Monomial) -> tuple[Terms, Terms]:
    """The quotient of a term above and one below, and what is left above without it."""
    part = algebra.multiply({one: above[one]}, algebra.to_power({two: below[two]}, -1))
    left = dict(above)
    for taken, coefficient in times(part, below):
        own = match(left, (taken, coefficient))
        if own is not None:
            del left[own]
        else:
            left = algebra.add(left, {taken: -coefficient})
    return part, left
