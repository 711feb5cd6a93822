"""Exponentials that are nearly a hyperbolic sine, cosine, tangent or cotangent.

A search finds these as exponentials side by side, or above and below. As one function they have fewer constants, and
are what people write: `a*exp(k*x) + a*exp(-k*x)` is a catenary, `c - 2*c/(exp(k*t) + 1)` a fall with drag.
"""

import math
from collections.abc import Iterator
from itertools import combinations

from prunesymnet.expression.canonical import algebra
from prunesymnet.expression.canonical.numbers import Number, is_one, over, size
from prunesymnet.expression.canonical.terms import GROUP, Atom, Monomial, Terms, function_atom, negated, plain, single
from prunesymnet.expression.rewriting.likeness import ABOUT, alike, exact_or_free, same, without


def one_hyperbolic(terms: Terms) -> Iterator[Terms]:
    """With two exponentials, or a number and one over an exponential and a number, as one function."""
    yield from _sines_and_cosines(terms)
    yield from _tangents(terms)


def _sines_and_cosines(terms: Terms) -> Iterator[Terms]:
    """a*exp(u) + b*exp(-u) as a cosine where a and b have one sign, else as a sine: 2*a*cosh(u) where they are about as
    large, and sqrt(4*a*b)*cosh(u + log(a/b)/2) in any case."""
    parts = {monomial: found for monomial in terms if (found := _exponential(monomial)) is not None}
    for one, two in combinations(parts, 2):
        (u, beside), (v, others) = parts[one], parts[two]
        if not alike(beside, others, ABOUT) or not same(negated(u), v, ABOUT):
            continue
        name = "cosh" if terms[one] * terms[two] > 0 else "sinh"
        a, b = size(terms[one]), size(terms[two])
        sign = 1 if terms[one] > 0 else -1
        rest = {m: c for m, c in terms.items() if m not in (one, two)}
        forms: list[tuple[Number, Terms]] = [(2 * terms[one], u)] if math.isclose(a, b, rel_tol=ABOUT) else []
        if a != b:
            shift = plain(math.log(a / b) / 2)
            forms.append((exact_or_free(2 * sign * math.sqrt(a * b)), algebra.add(u, shift)))
        for factor, inner in forms:
            whole = algebra.scale(single(function_atom(name, inner)), factor)
            yield algebra.add(rest, algebra.multiply({beside: 1}, whole))


def _tangents(terms: Terms) -> Iterator[Terms]:
    """c + b/(p + q*exp(u)), where b is about -2*c*p, as c*tanh((u + log(q/p))/2); where q/p is negative, as
    c/tanh((u + log(-q/p))/2)."""
    for monomial, b in terms.items():
        for factor in monomial:
            below = _beside_an_exponential(*factor)
            beside = without(monomial, factor)
            if below is None or beside not in terms:
                continue
            u, p, q = below
            c = terms[beside]
            if not math.isclose(b, -2 * c * p, rel_tol=ABOUT):
                continue
            ratio = over(q, p)
            inner = u if size(ratio) == 1 else algebra.add(u, plain(math.log(size(ratio))))
            tangent = single(function_atom("tanh", algebra.scale(inner, over(1, 2))))
            one = algebra.multiply({beside: c}, algebra.to_power(tangent, 1 if ratio > 0 else -1))
            yield algebra.add({m: k for m, k in terms.items() if m not in (monomial, beside)}, one)


def _exponential(monomial: Monomial) -> tuple[Terms, Monomial] | None:
    """What stands in the exponential of a product, and beside it; None if there is none."""
    found = [(atom.terms, without(monomial, (atom, e))) for atom, e in monomial if atom.function == "exp" and is_one(e)]
    return found[0] if len(found) == 1 else None


def _beside_an_exponential(atom: Atom, exponent: Number) -> tuple[Terms, Number, Number] | None:
    """u, p and q of a factor 1/(p + q*exp(u)); None if it is none."""
    if atom.rank != GROUP or exponent != -1 or len(atom.terms) != 2 or () not in atom.terms:
        return None
    (monomial,) = (m for m in atom.terms if m)
    found = _exponential(monomial)
    return None if found is None or found[1] else (found[0], atom.terms[()], atom.terms[monomial])
