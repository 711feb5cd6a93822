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

from prunesymnet.coefficients.description import formula_bits
from prunesymnet.expression import Constant, Expression, apply, canonical


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
    return sorted(found, key=lambda form: (formula_bits(form), str(form)))


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
