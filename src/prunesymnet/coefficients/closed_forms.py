"""Numbers that a person would write in closed form: small rationals, multiples of pi, square roots, e.

>>> [str(form) for form in closed_forms(0.5, 1e-9)][0]
'1/2'
>>> [str(form) for form in closed_forms(0.0795774715459, 1e-12)][0]
'1/(4*pi)'
>>> [str(form) for form in closed_forms(0.70710678118, 1e-10)][0]
'1/sqrt(2)'
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from prunesymnet.expression import Constant, Expression, apply, canonical, fold
from prunesymnet.operators import Operator
from prunesymnet.operators.operator import CALL

BITS_PER_UNIT = 3.0  # of complexity: one of eight symbols, about as many as a formula is written with
SURPRISE = 6.0  # bits for an irrational constant: of the numbers of a formula, few are made with pi, roots or e


@dataclass(frozen=True, slots=True)
class _Family:
    """Numbers of the form write(p/q); `read` gives p/q from the number."""

    read: Callable[[float], float]
    write: Callable[[Expression], Expression]


_PI = apply("pi")
_E = apply("exp", 1)
_FAMILIES = (
    _Family(lambda v: v, lambda r: r),
    _Family(lambda v: v / math.pi, lambda r: r * _PI),
    _Family(lambda v: v * math.pi, lambda r: r / _PI),
    _Family(lambda v: v / math.pi**2, lambda r: r * _PI**2),
    _Family(lambda v: v * math.pi**2, lambda r: r / _PI**2),
    _Family(lambda v: v * v, lambda r: apply("sqrt", r)),
    _Family(lambda v: v * v / math.pi, lambda r: apply("sqrt", r * _PI)),
    _Family(lambda v: v * v * math.pi, lambda r: apply("sqrt", r / _PI)),
    _Family(lambda v: v / math.e, lambda r: r * _E),
    _Family(lambda v: v * math.e, lambda r: r / _E),
)


def closed_forms(value: float, tolerance: float, *, largest: int = 100) -> list[Expression]:
    """The forms within `tolerance` of a number that is not 0, the simplest (in bits) first; the simplest
    fraction p/q in each family stands for it, if p*q is at most `largest`: 2.12 is no better as 53/25."""
    found = set(_search(abs(value), tolerance, largest))
    if value < 0:
        found = {canonical(-form) for form in found}
    return sorted(found, key=lambda form: (bits(form), str(form)))


def _search(size: float, tolerance: float, largest: int) -> Iterator[Expression]:
    low, high = size - tolerance, size + tolerance
    if low <= 0:
        return
    for family in _FAMILIES:
        if not math.isfinite(family.read(high)):
            continue
        fraction = simplest_fraction(family.read(low), family.read(high))
        if 0 < fraction.numerator * fraction.denominator <= largest:
            yield canonical(family.write(Constant(fraction.numerator) / Constant(fraction.denominator)))


def simplest_fraction(low: float, high: float) -> Fraction:
    """The fraction of smallest denominator between two positive numbers, both included.

    >>> simplest_fraction(0.332, 0.334), simplest_fraction(3.14, 3.143)
    (Fraction(1, 3), Fraction(22, 7))
    """
    # Along the continued fraction that both ends share; the first difference decides.
    bottom, top = Fraction(low), Fraction(high)
    terms: list[int] = []
    while True:
        whole = math.ceil(bottom)
        if whole <= top:
            result = Fraction(whole)
            for term in reversed(terms):
                result = term + 1 / result
            return result
        floor = whole - 1
        terms.append(floor)
        bottom, top = 1 / (top - floor), 1 / (bottom - floor)


def bits(expression: Expression) -> float:
    """What it takes to write a formula down, its free constants aside: 3 bits per unit of complexity, for a
    whole number k log2(1 + |k|), and 6 for pi and for a function of a number."""

    def leaf(node: Expression) -> tuple[float, bool]:
        exact = isinstance(node, Constant) and not node.is_free
        return (math.log2(1 + abs(node.value)) if exact else 0.0), exact  # type: ignore[attr-defined]

    def combine(operator: Operator, parts: tuple[tuple[float, bool], ...]) -> tuple[float, bool]:
        exact = all(part[1] for part in parts)
        surprising = exact and operator.precedence == CALL
        return sum(part[0] for part in parts) + (SURPRISE if surprising else 0.0), exact

    return BITS_PER_UNIT * expression.complexity + fold(expression, leaf, combine)[0]
