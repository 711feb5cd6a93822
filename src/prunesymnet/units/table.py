"""The units of a table: what its columns and its target are measured in, and whether the units fit together.

>>> units = TableUnits.of({"m": "kg", "v": "m/s", "E": "J"}, ("m", "v"), "E")
>>> units.coherent, units.text("E")
(True, 'J')
>>> TableUnits.of({"m": "g", "v": "m/s", "E": "J"}, ("m", "v"), "E").coherent
False

A dimension is one number here: each base (length, time, ...) has a number that no sum of fractions of the others is
equal to, the root of a prime, and a dimension is the sum of these by its powers. So that of a product is a sum, that of
a root a half, that of a pure number 0, and all nodes of a bank are compared at once.

>>> same_dimension(units.dimension("E"), units.dimension("m") + 2 * units.dimension("v"))
True
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from prunesymnet.errors import UnitError
from prunesymnet.units.parsing import Unit, parse_unit

Array = NDArray[np.float64]

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)  # more than there are bases
SAME = 1e-9  # between the numbers of two dimensions: these are sums of a few roots, rounded in the last digit
COHERENT = 1e-9  # of a logarithm of a factor: units with round factors agree to the last digits
NUMBER = Unit("", {})


def same_dimension(one: float, two: float) -> bool:
    return abs(one - two) < SAME


@dataclass(frozen=True)
class TableUnits:
    """The `units` of all columns, and of the target where it is known. `constants`: whether a fitted constant may carry
    a unit; if not, all are pure numbers."""

    units: Mapping[str, Unit]
    names: tuple[str, ...]
    target: str
    constants: bool = True

    @classmethod
    def of(cls, texts: Mapping[str, str], names: Sequence[str], target: str, *, constants: bool = True) -> "TableUnits":
        """From the texts of units by name. A column without one is a pure number; the target's may be unknown."""
        found = {name: parse_unit(text, f"the unit of {name}") for name, text in texts.items()}
        units = {name: found.get(name, NUMBER) for name in names}
        if target in found:
            units[target] = found[target]
        return cls(units, tuple(names), target, constants)

    @cached_property
    def bases(self) -> tuple[str, ...]:
        """What the units are made of: length, time ..."""
        return tuple(sorted({base for unit in self.units.values() for base in unit.powers}))

    def text(self, name: str) -> str:
        return self.units[name].text

    def powers(self, name: str) -> tuple[Fraction, ...]:
        """The powers of the bases in the unit of a column, or of the target."""
        return tuple(self.units[name].powers.get(base, Fraction(0)) for base in self.bases)

    def dimension(self, name: str) -> float:
        """The one number that stands for a dimension."""
        return sum(float(p) * math.sqrt(prime) for p, prime in zip(self.powers(name), PRIMES, strict=False))

    @cached_property
    def dimensions(self) -> dict[str, float]:
        """Those of the columns."""
        return {name: self.dimension(name) for name in self.names}

    @property
    def target_known(self) -> bool:
        return self.target in self.units

    @cached_property
    def _misfit(self) -> Array:
        """How far the factor of each unit is from what units of the bases make of it, as logarithms: units that are of
        one system have bases in which all factors are 1."""
        names = list(self.units)
        matrix = np.array([[float(power) for power in self.powers(name)] for name in names]).reshape(len(names), -1)
        factors = np.log([self.units[name].factor for name in names])
        if not matrix.size:
            return factors
        return np.asarray(factors - matrix @ np.linalg.lstsq(matrix, factors, rcond=None)[0])

    @property
    def coherent(self) -> bool:
        """Whether no conversion factors are needed: m, s and m/s fit together, as km, h and km/h do; m and km do not,
        nor do degrees in a sine, or degrees Celsius anywhere."""
        return all(unit.from_zero for unit in self.units.values()) and bool((np.abs(self._misfit) < COHERENT).all())

    def check_pure(self) -> None:
        """An error where constants are pure numbers and no formula can be right."""
        if not self.target_known:
            raise UnitError(
                f"the target {self.target!r} has no unit, and constants are to be pure numbers: give its unit (1 for a "
                "pure number), or let constants carry units (constant_units)"
            )
        for name, unit in self.units.items():
            if not unit.from_zero:
                raise UnitError(
                    f"the unit of {name}, {unit.text!r}, does not begin at zero, and constants are to be pure numbers: "
                    "convert degrees Celsius to K and decibels to what they are of (differences of temperatures are "
                    "delta_degC), or let constants carry units (constant_units)"
                )
        if not self.coherent:
            texts = ", ".join(f"{name} [{unit.text or 1}]" for name, unit in self.units.items())
            raise UnitError(
                f"the units {texts} are not of one system, so formulas would need conversion factors: convert columns "
                "(km to m, degrees to radians), or let constants carry units (constant_units)"
            )
        if not self.target_can_be_made:
            raise UnitError(
                f"no product of powers of the columns has the unit of {self.target!r}, {self.text(self.target)}, and "
                "constants are to be pure numbers: add the column of the constant that is missing, or let constants "
                "carry units (constant_units)"
            )

    @property
    def target_can_be_made(self) -> bool:
        """Whether a product of powers of the columns has the unit of the target."""
        if not self.target_known:
            return False
        columns = np.array([[float(p) for p in self.powers(name)] for name in self.names]).reshape(len(self.names), -1)
        goal = np.array([float(p) for p in self.powers(self.target)])
        if not columns.size:
            return True
        powers = np.linalg.lstsq(columns.T, goal, rcond=None)[0]
        return bool((np.abs(columns.T @ powers - goal) < SAME).all())
