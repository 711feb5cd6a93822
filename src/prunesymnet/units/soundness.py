"""Whether a formula is dimensionally sound: terms of a sum have one dimension, functions are of pure numbers.

>>> from prunesymnet.expression import parse
>>> units = TableUnits.of({"m": "kg", "v": "m/s", "t": "s", "E": "J"}, ("m", "v", "t"), "E")
>>> [is_sound(parse(text), units) for text in ("m*v**2/2", "m*v**2 + t", "m*v**2*exp(-t)", "m*v**2*exp(-0.1*t)")]
[True, False, False, True]

An exact number is a pure number. A fitted constant (a float) is one, too, unless constants may carry units: then it has
the unit that makes the formula sound, if there is one, as the rate of 0.1/s here.

A logarithm of a quantity with a unit may stand in a sum: log(x) - log(z) is log(x/z), and log(x) + 0.3 is log(x/x0).
"""

from typing import NamedTuple

import numpy as np

from prunesymnet.expression import Constant, Expression, Variable, fold
from prunesymnet.operators import Operator
from prunesymnet.units.table import TableUnits, same_dimension


class _Part(NamedTuple):
    """What is known of a part of a formula. `dimension` None: that which is needed, by a constant that carries it;
    `in_logarithms` is that of what stands in its logarithms, and is 0 in the end. `number`: its value, if it is one."""

    dimension: float | None
    in_logarithms: float = 0.0
    number: float | None = None
    fitted: bool = False  # a number that a fit may move


class _Unsound(Exception):
    pass


def is_sound(expression: Expression, units: TableUnits) -> bool:
    """Whether a formula of the columns can have the target's unit."""
    fitted = None if units.constants else 0.0

    def leaf(node: Expression) -> _Part:
        if isinstance(node, Variable):
            return _Part(units.dimensions[node.name])
        assert isinstance(node, Constant)  # noqa: S101 - a leaf is one of the two
        if node.is_free:
            return _Part(fitted, 0.0, float(node.value), True)
        return _Part(0.0, 0.0, float(node.value))

    try:
        with np.errstate(all="ignore"):  # of numbers that are none, log(0)
            whole = fold(expression, leaf, lambda operator, parts: _combined(operator, parts, units.constants))
    except _Unsound:
        return False
    if not same_dimension(whole.in_logarithms, 0.0):
        return False
    return whole.dimension is None or not units.target_known or same_dimension(
        whole.dimension, units.dimension(units.target)
    )  # fmt: skip


def _combined(operator: Operator, parts: tuple[_Part, ...], constants: bool) -> _Part:
    if all(part.number is not None for part in parts):
        fitted = any(part.fitted for part in parts)
        value = float(operator.numpy(*(part.number for part in parts)))
        return _Part(None if fitted and constants else 0.0, 0.0, value, fitted)
    if operator.name == "pow":
        return _power(parts[0], parts[1], constants)
    if operator.units == "alike":
        return _sum(operator, parts, constants)
    if operator.name == "log":
        (inside,) = parts
        return _Part(0.0, 0.0 if inside.dimension is None else _without_logarithms(inside).dimension or 0.0)
    if operator.name == "exp":  # exp(log(x)/2) is a power of x
        (inside,) = parts
        _pure(inside.dimension)
        return _Part(inside.in_logarithms)
    if operator.units is None:
        for part in parts:
            _pure(_without_logarithms(part).dimension)
        return _Part(0.0)
    return _product(operator.units, parts)


def _product(powers: tuple[float, ...], parts: tuple[_Part, ...]) -> _Part:
    if any(part.in_logarithms for part in parts):
        return _times_logarithm(powers, parts)
    dimensions = [part.dimension for part in parts]
    if None in dimensions:
        return _Part(None)
    return _Part(sum(power * (d or 0.0) for power, d in zip(powers, dimensions, strict=True)))


def _times_logarithm(powers: tuple[float, ...], parts: tuple[_Part, ...]) -> _Part:
    """A number times (or dividing) what has logarithms of quantities in it."""
    (whole,) = [part for part in parts if part.in_logarithms][:1]
    others = [(power, part) for power, part in zip(powers, parts, strict=True) if part is not whole]
    if powers[parts.index(whole)] != 1 or any(part.number is None for _, part in others):
        raise _Unsound
    times, dimension = 1.0, whole.dimension
    for power, part in others:
        times *= float(part.number or 0.0) ** power if part.number else 0.0
        dimension = None if part.dimension is None else dimension
    return _Part(dimension, whole.in_logarithms * times)


def _sum(operator: Operator, parts: tuple[_Part, ...], constants: bool) -> _Part:
    known = [part.dimension for part in parts if part.dimension is not None]
    if any(not same_dimension(known[0], other) for other in known[1:]):
        raise _Unsound
    if constants and any(part.fitted for part in parts):
        inside = 0.0  # log(x) + c is log(x/x0)
    elif any(part.in_logarithms for part in parts):
        if operator.name not in ("+", "-"):
            raise _Unsound
        signs = (1.0, -1.0 if operator.name == "-" else 1.0)
        inside = sum(sign * part.in_logarithms for sign, part in zip(signs, parts, strict=True))
    else:
        inside = 0.0
    return _Part(known[0] if known else None, inside)


def _power(base: _Part, exponent: _Part, constants: bool) -> _Part:
    _pure(_without_logarithms(exponent).dimension)
    dimension = _without_logarithms(base).dimension
    if exponent.number is None or (exponent.fitted and not constants):
        _pure(dimension)
        return _Part(0.0)
    return _Part(None if dimension is None else dimension * exponent.number)


def _without_logarithms(part: _Part) -> _Part:
    if not same_dimension(part.in_logarithms, 0.0):
        raise _Unsound
    return part


def _pure(dimension: float | None) -> None:
    if dimension is not None and not same_dimension(dimension, 0.0):
        raise _Unsound
