"""Numbers written with the digits that their standard error leaves them: two of the error, and the value to the same
place.

>>> written(423.937, 42.123).together, written(-0.0012, 0.5).together
('424 ± 42', '0.00 ± 0.50')
>>> written(6.67408e-11, 3.1e-14, (6.6680e-11, 6.6802e-11))
Written(value='6.6741e-11', error='0.0031e-11', others=('6.6680e-11', '6.6802e-11'), together='(6.6741 ± 0.0031)e-11')

Value and error share one power of ten, so that they can be compared at a glance.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal

DIGITS_OF_ERROR = 2  # the first digit alone may be off by half of itself (1 for 1.49), a third is chance
MOST_DIGITS = 12  # of a value: a longer row of digits is not read, and the error is written apart
SMALLEST_PLAIN = -3  # the power of ten down to which people write 0.00123
LARGEST_PLAIN = 5  # the power of ten up to which zeros may stand for digits that nobody knows: 123000 ± 1200
LONGEST_PLAIN = 14  # the power of ten up to which a whole number is written out if all its digits count
WITHOUT_ERROR = 6  # digits of a value that the data do not determine, as many as formulas are shown with
_ROOM = Context(prec=1100)  # digits: any float is a decimal of at most 767 digits, between 1e-324 and 1e309


@dataclass(frozen=True, slots=True)
class Written:
    """A value, its error and `others` (the ends of an interval) as texts; value and error `together`."""

    value: str
    error: str
    others: tuple[str, ...]
    together: str


def power_of_ten(exponent: int) -> str:
    """
    >>> power_of_ten(-11), power_of_ten(7)
    ('e-11', 'e+07')
    """
    return f"e{exponent:+03d}"


def written(
    value: float, error: float, others: Sequence[float] = (), power: Callable[[int], str] = power_of_ten
) -> Written:
    """A value, its standard error and the ends of its interval; `power` writes a power of ten."""
    if not (math.isfinite(error) and error > 0):
        digits = MOST_DIGITS if error == 0 else WITHOUT_ERROR
        texts = [_plain(number, digits, power) for number in (value, error, *others)]
        return Written(texts[0], texts[1], tuple(texts[2:]), f"{texts[0]} ± {texts[1]}")
    place = _leading(error, DIGITS_OF_ERROR) - DIGITS_OF_ERROR + 1
    leading = max(_leading(value, MOST_DIGITS), place + DIGITS_OF_ERROR - 1)
    apart = leading - place >= MOST_DIGITS
    if apart:
        place = leading - MOST_DIGITS + 1
    exponent = leading if _is_scientific(leading, place) else 0
    mantissas = [_rounded(number, place, exponent, shorten=apart) for number in (value, error, *others)]
    after = power(exponent) if exponent else ""
    texts = [mantissa + after if mantissa.strip("-") != "inf" else mantissa for mantissa in mantissas]
    if apart:
        texts[1] = _plain(error, DIGITS_OF_ERROR, power)
    together = f"({mantissas[0]} ± {mantissas[1]}){after}" if after and not apart else f"{texts[0]} ± {texts[1]}"
    return Written(texts[0], texts[1], tuple(texts[2:]), together)


def _leading(number: float, digits: int) -> int:
    """The power of ten of a number's first digit, once it is rounded to so many."""
    return int(f"{number:.{digits - 1}e}".partition("e")[2]) if number else -400  # below all floats


def _is_scientific(leading: int, place: int) -> bool:
    return leading < SMALLEST_PLAIN or leading > LONGEST_PLAIN or (leading > LARGEST_PLAIN and place > 0)


def _rounded(number: float, place: int, exponent: int, *, shorten: bool) -> str:
    """A number by a power of ten, rounded at a place; `shorten`: without zeros at its end."""
    if not math.isfinite(number):
        return str(number)
    there = _ROOM.scaleb(Decimal(number).quantize(Decimal(1).scaleb(place), context=_ROOM), -exponent)
    text = f"{there:f}" if there else f"{abs(there):f}"  # no -0.00
    return text.rstrip("0").rstrip(".") if shorten and "." in text else text


def _plain(number: float, digits: int, power: Callable[[int], str]) -> str:
    text, _, exponent = f"{number:.{digits}g}".partition("e")
    return text + power(int(exponent)) if exponent else text
