"""One constant for two that are nearly the same, or have nearly a simple ratio."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from prunesymnet.expression.canonical import algebra, to_terms
from prunesymnet.expression.canonical.numbers import OutOfRange, number
from prunesymnet.expression.canonical.terms import GROUP, Monomial, Terms, to_tree
from prunesymnet.expression.rewriting.likeness import ABOUT
from prunesymnet.expression.tree import Expression

RATIOS = [Fraction(p, q) for p in range(1, 5) for q in range(1, 5)]  # of two constants that may be one


def tied(expression: Expression) -> Iterator[Expression]:
    """The formulas in which two terms of the sum share one free constant, where their constants have about a simple
    ratio; the nearest first, each made when it is asked for: of a hundred terms there are thousands."""
    try:
        terms = to_terms(expression)
    except (OverflowError, OutOfRange):
        return
    free = [(monomial, c) for monomial, c in terms.items() if isinstance(c, float)]
    found = []
    for (one, a), (two, b) in combinations(free, 2):
        ratio = abs(b / a)
        simple = min(RATIOS, key=lambda r: (abs(ratio / float(r) - 1), r.denominator))
        off = abs(ratio / float(simple) - 1)
        if off < ABOUT:
            found.append((off, one, two, a, simple if a * b > 0 else -simple))
    for _, one, two, a, simple in sorted(found, key=lambda entry: entry[0]):
        inner = algebra.add(_summed(one), algebra.scale(_summed(two), number(simple)))
        rest = {m: c for m, c in terms.items() if m not in (one, two)}
        try:
            yield to_tree(algebra.add(rest, algebra.scale(inner, a)))
        except (OverflowError, OutOfRange):
            continue


def _summed(monomial: Monomial) -> Terms:
    """A term without its coefficient; a sum that stands alone as a factor is that sum."""
    if len(monomial) == 1 and monomial[0][0].rank == GROUP and monomial[0][1] == 1:
        return monomial[0][0].terms
    return {monomial: 1}
