"""The checks that all settings share: a message names the parameter, what it must be and what it was.

>>> from types import SimpleNamespace
>>> check_whole(SimpleNamespace(beam=2.5), beam=1)
Traceback (most recent call last):
ValueError: beam must be a whole number >= 1, got 2.5
>>> check_number(SimpleNamespace(time_limit="5"), "time_limit", "a number of seconds > 0", lambda v: v > 0)
Traceback (most recent call last):
ValueError: time_limit must be a number of seconds > 0, got '5'
"""

import reprlib
from collections.abc import Callable
from numbers import Integral, Real


def check_whole(settings: object, **least: int) -> None:
    """Each parameter named must be a whole number, at least as large as given."""
    for name, bound in least.items():
        value = getattr(settings, name)
        if isinstance(value, bool) or not isinstance(value, Integral) or value < bound:
            raise ValueError(f"{name} must be a whole number >= {bound}, got {value!r}")


def check_number(settings: object, name: str, requirement: str, holds: Callable[[float], bool]) -> None:
    """The parameter must be a number for which `holds` does; `requirement` says so in words."""
    value = getattr(settings, name)
    try:
        fine = not isinstance(value, bool) and isinstance(value, Real) and holds(float(value))
    except OverflowError:  # a whole number that no float can hold
        fine = False
    if not fine:
        raise ValueError(f"{name} must be {requirement}, got {reprlib.repr(value)}")
