"""A power of a sum and its factor with a constant less: a term of the sum is 1, and the factor a simple number."""

import math
from collections.abc import Iterator
from fractions import Fraction

from prunesymnet.expression.canonical import algebra
from prunesymnet.expression.canonical.numbers import Number, is_exact, is_whole, number, over, raised, size
from prunesymnet.expression.canonical.terms import GROUP, Monomial, Terms
from prunesymnet.expression.rewriting.likeness import ABOUT

LARGEST = round(1 / (2 * ABOUT))  # whole number: each one that is larger is about a whole one


def with_unit_term(terms: Terms) -> Iterator[Terms]:
    """With c*x/sqrt(b - x**2) as x/sqrt(1 - x**2/b), where c is about sqrt(b). It makes no difference to what a sum can
    say which of its terms is 1; but what then stands before it may be a simple number."""
    for monomial, factor in terms.items():
        rest = {m: c for m, c in terms.items() if m != monomial}
        for atom, exponent in monomial if not is_exact(factor) else ():
            beside = {tuple(part for part in monomial if part != (atom, exponent)): factor}
            for own, coefficient in atom.terms.items() if atom.rank == GROUP else ():
                if is_exact(coefficient):
                    continue
                # Under a root, the sum keeps its sign.
                by = coefficient if is_whole(exponent) else size(coefficient)
                outside, inner = raised(by, exponent), _divided(atom.terms, own, by)
                simple = None if outside is None else _simple(float(factor) * float(outside))
                if simple is not None and _free(inner) <= _free(atom.terms):
                    unit = algebra.multiply(dict.fromkeys(beside, simple), algebra.to_power(inner, exponent))
                    yield algebra.add(rest, unit)


def _divided(terms: Terms, own: Monomial, by: Number) -> Terms:
    """A sum divided by the size of one of its coefficients, or by that coefficient: that term is 1 or -1 then."""
    return {m: (1 if c * by > 0 else -1) if m == own else over(c, by) for m, c in terms.items()}


def _free(terms: Terms) -> int:
    return sum(not is_exact(c) for c in terms.values())


def _simple(value: float) -> Number | None:
    """The whole number, or one over it, that a number is about."""
    if not math.isfinite(value) or not 1 / LARGEST <= abs(value) * (1 + ABOUT) <= LARGEST * (1 + ABOUT) ** 2:
        return None
    simple = Fraction(round(value)) if abs(value) >= 1 else Fraction(1, round(1 / value))
    return number(simple) if math.isclose(value, simple, rel_tol=ABOUT) else None
