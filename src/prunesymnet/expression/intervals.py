"""Interval arithmetic: between which values a formula, and its first two derivatives by a column, lie on whole boxes.

>>> from prunesymnet.expression.parsing import parse
>>> found = bounds(parse("x*exp(-x)"), {"x": (np.array([0.0, 2.0]), np.array([0.5, 2.1]))}, by="x")
>>> found.value.low.round(3), found.value.high.round(3)
(array([0.   , 0.245]), array([0.5  , 0.284]))
>>> (found.slope.low > 0).tolist(), (found.slope.high < 0).tolist()  # it rises in the first, and falls in the second
([True, False], [False, True])

A box may hold any number of points, so what is said of it is proven, up to the last digits of floats: every operation
takes the largest and the smallest value that its operands allow, and a little more for rounding. Where an operator may
leave its domain, or is a user's own, the bounds are infinite: nothing is known. Bounds get closer as boxes get smaller.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.expression.tree import Constant, Expression, Variable, fold
from prunesymnet.operators import Operator

Array = NDArray[np.float64]
WIDER = 8 * float(np.finfo(np.float64).eps)  # relative: more than any operation is off by rounding


class Interval(NamedTuple):
    """Lower and upper bounds, one pair for each box."""

    low: Any
    high: Any

    def __add__(self, other: Any) -> "Interval":
        other = _interval(other)
        return _wider(self.low + other.low, self.high + other.high)

    def __neg__(self) -> "Interval":
        return Interval(-self.high, -self.low)

    def __sub__(self, other: Any) -> "Interval":
        return self + -_interval(other)

    def __mul__(self, other: Any) -> "Interval":
        other = _interval(other)
        ends = [_times(a, b) for a in self for b in other]
        return _wider(np.minimum.reduce(ends), np.maximum.reduce(ends))

    def inverse(self) -> "Interval":
        """1/u, unknown where u may be 0."""
        fine = (self.low > 0) | (self.high < 0)
        return _wider(1 / self.high, 1 / self.low).where(fine)

    def __truediv__(self, other: Any) -> "Interval":
        return self * _interval(other).inverse()

    def where(self, fine: Any) -> "Interval":
        """Unknown elsewhere."""
        return Interval(np.where(fine, self.low, -np.inf), np.where(fine, self.high, np.inf))

    def rising(self, function: Callable[[Any], Any], least: float = -math.inf, most: float = math.inf) -> "Interval":
        """Of a function that rises; unknown outside its domain."""
        return _wider(function(self.low), function(self.high)).where((self.low >= least) & (self.high <= most))

    def power(self, exponent: float) -> "Interval":
        """u**p for a number p."""
        if exponent == 0:
            return Interval(np.ones_like(self.low), np.ones_like(self.high))
        if exponent < 0:
            return self.power(-exponent).inverse()
        if not float(exponent).is_integer():
            return self.rising(lambda u: np.power(np.maximum(u, 0.0), exponent), least=0.0)
        if exponent % 2:
            return self.rising(lambda u: np.power(u, exponent))
        largest = np.maximum(np.abs(self.low), np.abs(self.high))
        crosses = (self.low <= 0) & (self.high >= 0)
        smallest = np.where(crosses, 0.0, np.minimum(np.abs(self.low), np.abs(self.high)))
        return _wider(np.power(smallest, exponent), np.power(largest, exponent))

    def wave(self, function: Callable[[Any], Any], top: float) -> "Interval":
        """Of a sine or a cosine, whose maxima are at `top` and a whole number of periods from there."""
        turns = 2 * math.pi
        ends = function(self.low), function(self.high)
        with np.errstate(invalid="ignore"):
            high = np.floor((self.high - top) / turns) >= np.ceil((self.low - top) / turns)
            low = np.floor((self.high - top) / turns + 0.5) >= np.ceil((self.low - top) / turns + 0.5)
        low, high = np.where(low, -1.0, np.minimum(*ends)), np.where(high, 1.0, np.maximum(*ends))
        known = np.isfinite(self.low) & np.isfinite(self.high)
        return _wider(np.where(known, low, -1.0), np.where(known, high, 1.0))


class Jet(NamedTuple):
    """A value, and its first and second derivatives by a column."""

    value: Interval
    slope: Interval
    bend: Interval


def bounds(expression: Expression, boxes: Mapping[str, tuple[Any, Any]], by: str | None = None) -> Jet:
    """The bounds of a formula on boxes, by the lower and upper ends of each column in them, [boxes]; and those of its
    derivatives by a column (None: these are 0)."""
    shape = np.shape(next(iter(boxes.values()))[0]) if boxes else ()
    none = _number(0.0, shape)

    def leaf(node: Expression) -> Jet:
        if isinstance(node, Constant):
            return Jet(_number(float(node.value), shape), none, none)
        assert isinstance(node, Variable)  # noqa: S101 - the only other leaf
        low, high = boxes[node.name]
        return Jet(Interval(low, high), _number(float(node.name == by), shape), none)

    with np.errstate(all="ignore"):
        return fold(expression, leaf, lambda operator, operands: _applied(operator, operands, shape))


def _applied(operator: Operator, operands: tuple[Jet, ...], shape: tuple[int, ...]) -> Jet:
    name = operator.name
    if not operands:
        value = _number(float(operator.numpy()), shape)
        return Jet(value, _number(0.0, shape), _number(0.0, shape))
    if name in _BINARY:
        return _BINARY[name](*operands)
    if name in _FUNCTIONS and len(operands) == 1:
        (u,) = operands
        return _chained(u, *_FUNCTIONS[name](u.value))
    unknown = _number(0.0, shape).where(np.zeros(shape, dtype=bool))
    return Jet(unknown, unknown, unknown)


def _chained(u: Jet, value: Interval, slope: Interval, bend: Interval) -> Jet:
    """f(u) by the chain rule."""
    return Jet(value, slope * u.slope, bend * u.slope.power(2) + slope * u.bend)


def _product(a: Jet, b: Jet) -> Jet:
    return Jet(
        a.value * b.value,
        a.slope * b.value + a.value * b.slope,
        a.bend * b.value + a.slope * b.slope * 2.0 + a.value * b.bend,
    )


def _quotient(a: Jet, b: Jet) -> Jet:
    return _product(a, _chained(b, *_inverted(b.value)))


def _power(a: Jet, b: Jet) -> Jet:
    low, high = b.value
    if np.all(low == high) and np.ndim(low) and np.all(low == low.flat[0]) and _is_zero(b.slope):
        p = float(low.flat[0])
        u = a.value
        return _chained(a, u.power(p), u.power(p - 1) * p, u.power(p - 2) * (p * (p - 1)))
    inside = _product(b, _chained(a, *_FUNCTIONS["log"](a.value)))
    return _chained(inside, *_FUNCTIONS["exp"](inside.value))


def _larger(a: Jet, b: Jet) -> Jet:
    first, second = a.value.low >= b.value.high, b.value.low >= a.value.high
    value = Interval(np.maximum(a.value.low, b.value.low), np.maximum(a.value.high, b.value.high))

    def chosen(one: Interval, two: Interval) -> tuple[Any, Any]:
        low = np.where(first, one.low, np.where(second, two.low, np.minimum(one.low, two.low)))
        return low, np.where(first, one.high, np.where(second, two.high, np.maximum(one.high, two.high)))

    bend = Interval(*chosen(a.bend, b.bend)).where(first | second)
    return Jet(value, Interval(*chosen(a.slope, b.slope)), bend)


def _negated(a: Jet) -> Jet:
    return Jet(-a.value, -a.slope, -a.bend)


def _inverted(u: Interval) -> tuple[Interval, Interval, Interval]:
    return u.inverse(), -u.power(-2), u.power(-3) * 2.0


def _tanh(u: Interval) -> tuple[Interval, Interval, Interval]:
    t = u.rising(np.tanh)
    slope = Interval(1.0, 1.0) - t.power(2)
    return t, slope, t * slope * -2.0


def _tan(u: Interval) -> tuple[Interval, Interval, Interval]:
    same = np.floor(u.low / math.pi + 0.5) == np.floor(u.high / math.pi + 0.5)
    t = u.rising(np.tan).where(same)
    slope = t.power(2) + 1.0
    return t, slope, t * slope * 2.0


def _sqrt(u: Interval) -> tuple[Interval, Interval, Interval]:
    root = u.rising(lambda v: np.sqrt(np.maximum(v, 0.0)), least=0.0)
    return root, root.inverse() * 0.5, u.power(-1.5) * -0.25


def _abs(u: Interval) -> tuple[Interval, Interval, Interval]:
    positive, negative = u.low >= 0, u.high <= 0
    size = u.power(2).rising(np.sqrt)
    slope = Interval(np.where(positive, 1.0, -1.0), np.where(negative, -1.0, 1.0))
    return size, slope, Interval(0.0 * u.low, 0.0 * u.high).where(positive | negative)


def _asin(u: Interval) -> tuple[Interval, Interval, Interval]:
    rest = Interval(1.0, 1.0) - u.power(2)
    return u.rising(lambda v: np.arcsin(np.clip(v, -1, 1)), -1.0, 1.0), rest.power(-0.5), u * rest.power(-1.5)


def _acos(u: Interval) -> tuple[Interval, Interval, Interval]:
    value, slope, bend = _asin(u)
    return Interval(math.pi / 2, math.pi / 2) - value, -slope, -bend


def _atan(u: Interval) -> tuple[Interval, Interval, Interval]:
    below = u.power(2) + 1.0
    return u.rising(np.arctan), below.inverse(), u * below.power(-2) * -2.0


def _cosh(u: Interval) -> tuple[Interval, Interval, Interval]:
    value = _abs(u)[0].rising(np.cosh)
    return value, u.rising(np.sinh), value


def _erf(u: Interval) -> tuple[Interval, Interval, Interval]:
    from scipy.special import erf

    slope = (-u.power(2)).rising(np.exp) * (2 / math.sqrt(math.pi))
    return u.rising(erf), slope, u * slope * -2.0


def _sine(u: Interval) -> Interval:
    return u.wave(np.sin, math.pi / 2)


def _cosine(u: Interval) -> Interval:
    return u.wave(np.cos, 0.0)


_FUNCTIONS: dict[str, Callable[[Interval], tuple[Interval, Interval, Interval]]] = {
    "exp": lambda u: (u.rising(np.exp),) * 3,
    "log": lambda u: (u.rising(np.log).where(u.low > 0), u.inverse().where(u.low > 0), -u.power(-2)),
    "sin": lambda u: (_sine(u), _cosine(u), -_sine(u)),
    "cos": lambda u: (_cosine(u), -_sine(u), -_cosine(u)),
    "tan": _tan,
    "asin": _asin,
    "acos": _acos,
    "atan": _atan,
    "sinh": lambda u: (u.rising(np.sinh), _cosh(u)[0], u.rising(np.sinh)),
    "cosh": _cosh,
    "tanh": _tanh,
    "sqrt": _sqrt,
    "square": lambda u: (u.power(2), u * 2.0, Interval(2.0 + 0 * u.low, 2.0 + 0 * u.high)),
    "cube": lambda u: (u.power(3), u.power(2) * 3.0, u * 6.0),
    "inv": _inverted,
    "abs": _abs,
    "erf": _erf,
    "neg": lambda u: (-u, _like(-1.0, u), _like(0.0, u)),
    "id": lambda u: (u, _like(1.0, u), _like(0.0, u)),
}
_BINARY: dict[str, Callable[[Jet, Jet], Jet]] = {
    "+": lambda a, b: Jet(a.value + b.value, a.slope + b.slope, a.bend + b.bend),
    "-": lambda a, b: Jet(a.value - b.value, a.slope - b.slope, a.bend - b.bend),
    "*": _product,
    "/": _quotient,
    "pow": _power,
    "max": _larger,
    "min": lambda a, b: _negated(_larger(_negated(a), _negated(b))),
}


def _like(value: float, u: Interval) -> Interval:
    return _number(value, np.shape(u.low))


def _number(value: float, shape: tuple[int, ...]) -> Interval:
    return Interval(np.full(shape, value), np.full(shape, value))


def _interval(value: Any) -> Interval:
    return value if isinstance(value, Interval) else Interval(value, value)


def _is_zero(one: Interval) -> bool:
    return bool(np.all(one.low == 0) and np.all(one.high == 0))


def _times(a: Any, b: Any) -> Any:
    """The product, of which 0 times infinity is 0: the bound is never reached."""
    product = a * b
    return np.where((a == 0) | (b == 0), 0.0, product)


def _wider(low: Any, high: Any) -> Interval:
    """A little wider than computed, for rounding; unknown where it is not a number."""
    low, high = low - WIDER * np.abs(low), high + WIDER * np.abs(high)
    known = ~(np.isnan(low) | np.isnan(high))
    return Interval(np.where(known, low, -np.inf), np.where(known, high, np.inf))
