"""Products and sums that are the same but for constants which are about the same: what these forms have in common."""

import math
from itertools import product

from prunesymnet.expression.canonical import algebra
from prunesymnet.expression.canonical.numbers import Number, OutOfRange
from prunesymnet.expression.canonical.terms import GROUP, Atom, Monomial, Terms

ABOUT = 0.05  # a constant within so much of what it may be: the fit decides
SAME = 1e-6  # constants inside of two functions that are one
ROUNDING = 1e-9  # of a number: what is so near a whole one was that, before roots and quotients were taken
LARGEST = 10**6  # whole number that one is taken for: any larger float is as near to one
MOST_TERMS = 30  # of a sum: pairs of them are looked at
HIGHEST_POWER = 3  # of a sum or a wave that is multiplied out


def flat(terms: Terms) -> Terms:
    """A sum multiplied out, also where that writes a constant more than once: what is made of it has fewer. OutOfRange
    where it has too many terms."""
    total: Terms = {}
    for monomial, coefficient in terms.items():
        parts: Terms = {(): coefficient}
        for atom, exponent in monomial:
            sums = atom.rank == GROUP and isinstance(exponent, int) and 0 < exponent <= HIGHEST_POWER
            factors = [flat(atom.terms)] * int(exponent) if sums else [{((atom, exponent),): 1}]
            for factor in factors:
                if len(parts) * len(factor) > MOST_TERMS:
                    raise OutOfRange
                pairs = product(parts.items(), factor.items())
                parts = algebra.add({}, *(algebra.multiply({m: p}, {n: q}) for (m, p), (n, q) in pairs))
        total = algebra.add(total, parts)
    if len(total) > MOST_TERMS:
        raise OutOfRange
    return total


def exact_or_free(value: float) -> Number:
    """A whole number where it is one but for rounding."""
    whole = round(value)
    return whole if 0 < abs(whole) <= LARGEST and abs(value - whole) <= ROUNDING * abs(value) else value


def alike(one: Monomial, two: Monomial, within: float) -> bool:
    """Whether two products are the same but for constants inside, which are about the same."""
    return len(one) == len(two) and all(
        a.order == b.order
        and math.isclose(e, f, rel_tol=within)
        and all(math.isclose(p, q, rel_tol=within) for p, q in zip(a.tree.constants, b.tree.constants, strict=True))
        for (a, e), (b, f) in zip(one, two, strict=True)
    )


def same(one: Terms, two: Terms, within: float = SAME) -> bool:
    """Whether two sums are the same but for constants, which are about the same."""
    return len(one) == len(two) and all(
        alike(m, n, within) and math.isclose(c, d, rel_tol=within)
        for (m, c), (n, d) in zip(one.items(), two.items(), strict=True)
    )


def match(terms: Terms, entry: tuple[Monomial, Number]) -> Monomial | None:
    """The term that is about this one."""
    monomial, coefficient = entry
    own = monomial if monomial in terms else next((m for m in terms if alike(m, monomial, SAME)), None)
    return own if own is not None and math.isclose(terms[own], coefficient, rel_tol=ABOUT) else None


def times(part: Terms, terms: Terms) -> list[tuple[Monomial, Number]]:
    return [entry for m, c in terms.items() for entry in algebra.multiply(part, {m: c}).items()]


def without(monomial: Monomial, factor: tuple[Atom, Number]) -> Monomial:
    return tuple(part for part in monomial if part != factor)
