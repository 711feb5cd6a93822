"""Units as people write them: `m/s`, `kg*m^2`, `J/K`, `µm`. The package pint knows them.

>>> speed = parse_unit("km/h")
>>> speed.powers, round(speed.factor, 4)
({'length': Fraction(1, 1), 'time': Fraction(-1, 1)}, 0.2778)
>>> parse_unit("smoot/s2x", "the unit of v")
Traceback (most recent call last):
prunesymnet.errors.UnitError: the unit of v, 'smoot/s2x', is not known: write it as in m/s, kg*m^2 or J/K, ...
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from prunesymnet.errors import UnitError
from prunesymnet.optional import import_pint

LONGEST = 60  # characters: kg*m^2*s^-2*K^-1*mol^-1 has 24
LARGEST_DENOMINATOR = 12  # of a power: sqrt(Hz), and roots of these
SIMPLE = re.compile(r"[\w\s*/^().·%°µμΩÅ+-]*")  # without anything that could be more than a product of powers
LONG_NUMBER = re.compile(r"\d{4}")
POWER_OF_POWER = re.compile(r"(\^|\*\*)[^A-Za-z]*(\^|\*\*)")  # a number like 9^9^9 would be computed without end
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
PURE = frozenset({"", "1", "-", "dimensionless"})  # ways to say that a column is a pure number
PROPORTIONAL = 1e-9  # relative: two of a unit are twice one of it, or it has an offset as degrees Celsius have
HOW = "write it as in m/s, kg*m^2 or J/K, and 1 for a pure number"


@dataclass(frozen=True)
class Unit:
    """A unit: its `text`, by which powers of length, time, mass ... it is measured, and how many SI units it is.
    `from_zero`: whether twice its number is twice the quantity, which is not so of degrees Celsius and decibels."""

    text: str
    powers: Mapping[str, Fraction]
    factor: float = 1.0
    from_zero: bool = True


def parse_unit(text: str, what: str = "a unit") -> Unit:
    """The unit that a text means; `what` is how an error calls it."""
    if not isinstance(text, str):
        raise TypeError(f"{what} must be a text, as 'm/s', got {text!r}")
    text = text.strip()
    if text in PURE:
        return Unit("", {})
    return _parsed(text, what)


@lru_cache(maxsize=1024)
def _parsed(text: str, what: str) -> Unit:
    unknown = UnitError(f"{what}, {text[:LONGEST]!r}, is not known: {HOW}")
    plain = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda found: f"^({found[0].translate(SUPERSCRIPTS)})", text).replace("·", "*")
    if len(text) > LONGEST or not SIMPLE.fullmatch(plain) or LONG_NUMBER.search(plain) or POWER_OF_POWER.search(plain):
        raise unknown
    found = _found(plain)
    if found is None:
        raise unknown
    registry = _registry()
    unit, number = found.units, found.magnitude
    if number != 1:
        raise UnitError(f"{what}, {text!r}, has a number in it: {HOW}")
    factor = _factor(registry, unit)
    powers = {
        base.strip("[]"): Fraction(float(power)).limit_denominator(LARGEST_DENOMINATOR)
        for base, power in unit.dimensionality.items()
    }
    return Unit(text, dict(sorted(powers.items())), factor or 1.0, factor is not None)


def _found(text: str) -> Any:
    """What pint makes of a text; None where that is nothing."""
    registry = _registry()
    readings = (
        registry.parse_expression,
        lambda text: registry.Quantity(1, registry.parse_units(text)),  # degC/m is of differences of temperatures
    )
    for read in readings:
        try:
            found = read(text)
            if found.units.dimensionality is not None:
                return found
        except Exception:  # noqa: S112 - what the parser raises for texts that mean nothing can't be listed
            continue
    return None


def _factor(registry: Any, unit: Any) -> float | None:
    """How many SI units it is; None where twice its number is not twice the quantity."""
    try:
        one, two = (float(registry.Quantity(number, unit).to_base_units().magnitude) for number in (1.0, 2.0))
    except Exception:  # pint has an error for each way in which degrees Celsius can't be part of a product
        return None
    return one if abs(two - 2 * one) <= PROPORTIONAL * abs(one) else None


@lru_cache(maxsize=1)
def _registry() -> Any:
    return import_pint("units").UnitRegistry()
