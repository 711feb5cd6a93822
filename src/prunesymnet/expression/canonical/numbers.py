"""The numbers of canonical forms: exact ones (int, Fraction) stay exact, a float makes a float.

>>> times(Fraction(1, 3), 3), times(2, 0.5), raised(4, Fraction(1, 2)), raised(2, Fraction(1, 2))
(1, 1.0, 2, None)
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import reduce

import numpy as np

Number = int | Fraction | float

EXACT_LIMIT = 2**53  # beyond it an exact number would not survive as a float


class OutOfRange(Exception):
    """A constant left the range of floats, or of whole numbers that floats hold, on the way: no canonical form."""


def number(value: Number) -> Number:
    """A number in its simplest type."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise OutOfRange
        return value
    if max(abs(value.numerator), value.denominator) > EXACT_LIMIT:
        raise OutOfRange  # as a float it would be a free constant
    return value.numerator if value.denominator == 1 else value


def size(value: Number) -> Number:
    return -value if value < 0 else value


def times(a: Number, b: Number) -> Number:
    product = number(a * b)
    if product == 0 and a != 0 and b != 0:
        raise OutOfRange  # it underflowed
    return product


def over(a: Number, b: Number) -> Number:
    quotient = a / b if isinstance(a, float) or isinstance(b, float) else Fraction(a) / Fraction(b)
    if quotient == 0 and a != 0:
        raise OutOfRange
    return number(quotient)


def raised(base: Number, exponent: Number) -> Number | None:
    """base**exponent where that is a number (an exact one for exact numbers), else None."""
    if isinstance(base, float) or isinstance(exponent, float):
        with np.errstate(all="ignore"):
            value = float(np.power(float(base), float(exponent)))
        return value if math.isfinite(value) and (value != 0 or base == 0) else None
    if base == 0:
        return 0 if exponent > 0 else None
    if isinstance(exponent, int):
        if abs(exponent) * max(base.numerator.bit_length(), base.denominator.bit_length()) > 4096:
            return None
        return number(Fraction(base) ** exponent)
    root = _exact_root(base, exponent.denominator)
    return None if root is None else raised(root, exponent.numerator)


def _exact_root(base: int | Fraction, degree: int) -> int | Fraction | None:
    if base < 0:
        return None
    top, bottom = (round(part ** (1 / degree)) for part in (base.numerator, base.denominator))
    return Fraction(top, bottom) if top**degree == base.numerator and bottom**degree == base.denominator else None


def content(values: Iterable[Number]) -> Number:
    """The largest exact number of which all these exact ones are whole multiples."""

    def common(a: Fraction, b: Fraction) -> Fraction:
        return Fraction(math.gcd(a.numerator, b.numerator), math.lcm(a.denominator, b.denominator))

    return number(reduce(common, (abs(Fraction(value)) for value in values)))


def is_exact(value: Number) -> bool:
    return not isinstance(value, float)


def is_one(value: Number) -> bool:
    """Exactly one: a free constant that happens to be 1.0 is another thing."""
    return value == 1 and is_exact(value)


def is_whole(exponent: Number) -> bool:
    return isinstance(exponent, int)


def is_even(exponent: Number) -> bool:
    return exponent == int(exponent) and int(exponent) % 2 == 0
