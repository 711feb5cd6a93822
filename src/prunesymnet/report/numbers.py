"""Numbers as a page has them.

>>> number(-1.2346e-7), number(423.937), number(float("nan"))
('−1.235 × 10⁻⁷', '423.9', '—')
>>> share(0.99999999), share(0.98764)
('1 − 1 × 10⁻⁸', '0.9876')
"""

import math
from datetime import datetime

from prunesymnet.coefficients import Estimate
from prunesymnet.coefficients.significant import written

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int = 4, *, zeros: bool = False) -> str:
    """A number for reading, with or without zeros at its end."""
    if not math.isfinite(value):
        return "—" if math.isnan(value) else "∞" if value > 0 else "−∞"
    text, _, exponent = f"{value:{'#' * zeros}.{digits}g}".partition("e")
    raised = power_of_ten(int(exponent)) if exponent else ""
    return text.rstrip(".").replace("-", "−") + raised


def share(r2: float) -> str:
    """R² with the digits that count: 0.99999999 is not 1."""
    if r2 == 1:
        return "1"
    if not 0.9995 < r2 < 1:
        return f"{round(r2, 4) + 0.0:.4f}".replace("-", "−") if abs(r2) < 100 else number(r2)
    return f"1 − {number(1 - r2, 1)}"


def percent(value: float) -> str:
    """
    >>> percent(1.0), percent(0.061), percent(0.00011234), percent(1e-9)
    ('100%', '6.1%', '0.011%', '1 × 10⁻⁷%')
    """
    return f"{100 * value:.0f}%" if value >= 0.1 else f"{number(100 * value, 2)}%"


def count(value: int, what: str) -> str:
    """
    >>> count(1, "row"), count(1234, "row")
    ('1 row', '1,234 rows')
    """
    return f"{value:,} {what}{'' if value == 1 else 's'}"


def seconds(value: float) -> str:
    """
    >>> seconds(0.1234), seconds(75), seconds(7300)
    ('0.12 s', '1 min 15 s', '2 h 1 min')
    """
    if value < 60:
        return f"{value:.2g} s" if value < 10 else f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    hours, left = divmod(minutes, 60)
    return f"{hours} h {left} min" if hours else f"{minutes} min {rest} s"


def date(moment: float) -> str:
    """A day and a time of day, where this is read, from seconds since 1970."""
    there = datetime.fromtimestamp(moment).astimezone()
    return f"{there.day} {there:%B %Y, %H:%M}"


def power_of_ten(exponent: int) -> str:
    return f" × 10{str(exponent).translate(SUPERSCRIPT)}"


def with_digits(estimate: Estimate) -> tuple[str, ...]:
    """What was fitted, its standard error, and the ends of the interval, as far as two digits of the standard error
    reach.

    >>> with_digits(Estimate("c1", 423.937, 42.123, 336.8, 511.1, 0.95, 423.937))
    ('424', '42', '337', '511')
    >>> with_digits(Estimate("c1", 1.23456e-7, 1.5e-9, 1.2e-7, 1.26e-7, 0.95, 1.23456e-7))
    ('1.235 × 10⁻⁷', '0.015 × 10⁻⁷', '1.200 × 10⁻⁷', '1.260 × 10⁻⁷')
    """
    shown = written(estimate.fitted, estimate.standard_error, (estimate.low, estimate.high), power_of_ten)
    return tuple(text.replace("-", "−").replace("inf", "∞") for text in (shown.value, shown.error, *shown.others))
