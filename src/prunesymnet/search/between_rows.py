"""What a formula does between the rows: poles and waves that no row shows are worth nothing.

`x**3*(4*x*exp(1/x) - 1)` may go through noisy points on both sides of zero as well as a polynomial does, and leaves the
range of the target between them by any factor. So formulas are also looked at half way between neighbouring rows, and
beside the places where a denominator changes its sign between them. How far the target's range is left there costs as
many bits as it takes to say so. A law that has a pole pays that too, and can: without it the rows near the pole cost
far more. A pole that pulls no row by more than the residuals are large is not in the data: `x**2 + 0.01/(x - 0.4)` is
no better than `x**2`.

Waves are looked at in the same way. Where the phase of a sine moves by more than half a wave from nearly every row to
its neighbours, the rows would look the same with other frequencies. And a sine of which the rows show less than one
wave, many waves away from where its phase is zero, is a bend in disguise: `cos(sqrt(year))` from 1871 to 1970.

>>> from prunesymnet.data import make_dataset
>>> from prunesymnet.expression import parse
>>> x = np.linspace(-1, 1.1, 20)
>>> between = BetweenRows.of(make_dataset(x, x**2, names=["x"]))
>>> [round(between.penalty(parse(text), rms=0.02)) for text in ("x**2", "x**3/x", "x**2 + 0.1/x**2")]
[0, 0, 9]
>>> [between.penalty(parse(text), rms=0.02) for text in ("sin(x)", "sin(60*x)")]
[0.0, inf]
>>> between.penalty(parse("x**2 + 0.01/x"), rms=1.0)
inf
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from prunesymnet.data import Dataset
from prunesymnet.expression import Apply, Constant, Expression, evaluate, postorder, summands

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_ROWS = 1000  # that are looked between: the distances of all pairs are computed
NEIGHBOURS = 2  # of each row in several columns: one for each side, on average
BESIDE = 1e-9  # of the way between two rows: so near to a pole it shows, however small it is
TYPICAL = 0.1  # of that way: as near to a pole as one row in five that lies between these two
PARTS, ROUNDS = 32, 6  # the way is cut into, again and again, to find a pole: 32**6 is as near as that
STEPS = np.array([1e-6, 1e-5, 1e-4])  # of that way, from a pole: how the values grow there tells its order
LEAST_ORDER = 0.5  # of a pole, 1/sqrt(x); what grows more slowly has none
SEEN = 2.0  # times the residuals' root mean square: so far must a pole pull a row to be seen in the data
POWERS = ("pow", "square", "cube", "sqrt", "abs", "neg", "inv")
WAVES = ("sin", "cos", "tan")
SUPPORTED = 0.05  # of all neighbouring rows must be less than half a wave apart: fewer are so by chance
FREE = 1.0  # ranges of the target that a formula may go beyond it
MOST_BITS = math.inf  # for a value that is not finite, and for what no row shows: it is not to be believed


@dataclass(frozen=True)
class Pairs:
    """Neighbouring rows: of one column each row and the next, of several each row and the nearest two. All distinct
    rows [rows, columns], and which of them are the first and the second of each pair."""

    names: tuple[str, ...]
    rows: Array
    first: Indices
    second: Indices

    @classmethod
    def of(cls, names: tuple[str, ...], rows: Array) -> "Pairs":
        X = np.unique(rows, axis=0)
        X = X[:: math.ceil(len(X) / MOST_ROWS)]
        if len(names) == 1:
            return cls(names, X, np.arange(len(X) - 1), np.arange(1, len(X)))
        spread = X.std(axis=0)
        scaled = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        square = np.einsum("nd,nd->n", scaled, scaled)
        far = square[:, None] + square - 2 * scaled @ scaled.T
        np.fill_diagonal(far, np.inf)
        near = np.argsort(far, axis=1, kind="stable")[:, : min(NEIGHBOURS, len(X) - 1)]
        return cls(names, X, np.repeat(np.arange(len(X)), near.shape[1]), near.reshape(-1))

    @cached_property
    def between(self) -> Array:
        """The points half way between the two rows of each pair."""
        return np.asarray((self.rows[self.first] + self.rows[self.second]) / 2)

    def columns(self, points: Array) -> dict[str, Array]:
        return dict(zip(self.names, points.T, strict=True))

    def values(self, expression: Expression) -> tuple[Array, Array]:
        """What a formula says in both rows of each pair."""
        values = evaluate(expression, self.columns(self.rows)).values
        return values[self.first], values[self.second]


@dataclass(frozen=True)
class BetweenRows:
    """The rows that count."""

    names: tuple[str, ...]
    rows: Array  # [rows, columns]
    y: Array
    _pairs: dict[tuple[str, ...], Pairs] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, data: Dataset) -> "BetweenRows":
        weights = data.search_weights
        counts = np.ones(data.rows, dtype=bool) if weights is None else weights > 0
        return cls(data.names, data.X[counts], data.y[counts])

    @cached_property
    def low(self) -> float:
        return float(self.y.min())

    @cached_property
    def high(self) -> float:
        return float(self.y.max())

    def pairs(self, names: tuple[str, ...]) -> Pairs:
        """Neighbours in some of the columns."""
        if names not in self._pairs:
            self._pairs[names] = Pairs.of(names, self.rows[:, [self.names.index(name) for name in names]])
        return self._pairs[names]

    def residual_rms(self, expression: Expression) -> float:
        residual = evaluate(expression, dict(zip(self.names, self.rows.T, strict=True))).values - self.y
        return float(np.sqrt(np.mean(residual**2)))

    def shows(self, expression: Expression) -> bool:
        """Whether the rows show its waves and poles."""
        if not self.high > self.low:
            return True
        with np.errstate(all="ignore"):
            return self.shows_waves(expression) and math.isfinite(self.pole_bits(expression))

    def shows_waves(self, expression: Expression) -> bool:
        return all(map(self.shows_wave, waves(expression)))

    def penalty(self, expression: Expression, rms: float | None = None) -> float:
        """The bits that a formula whose residuals have this root mean square (None: as they are) costs for what it does
        between the rows; infinite for what no row shows."""
        if not self.high > self.low:
            return 0.0
        with np.errstate(all="ignore"):
            if not self.shows_waves(expression):
                return MOST_BITS
            pairs = self.pairs(self.names)
            if not len(pairs.first):
                return 0.0
            half_way = self.bits_beyond(expression, pairs, pairs.between)
            return max(half_way, self.pole_bits(expression, rms))

    def pole_bits(self, expression: Expression, rms: float | None = None) -> float:
        """The bits to say how far it goes beyond the target's range in a typical point beside its poles."""
        most = 0.0
        for denominator in denominators(expression):
            values = evaluate(denominator, dict(zip(self.names, self.rows.T, strict=True))).values
            if (values > 0).all() or (values < 0).all():
                continue
            pairs = self.pairs(self.names)
            one, way, place = _zeros(denominator, pairs)
            if len(place):
                beside, typical = (
                    self.bits_beyond(
                        expression, pairs, np.concatenate([one + (place + s * far) * way for s in (-1, 1)])
                    )
                    for far in (BESIDE, TYPICAL)
                )
                if beside:
                    rms = self.residual_rms(expression) if rms is None else rms
                    if not _pull(expression, pairs, one, way, place) > SEEN * rms:
                        return MOST_BITS
                most = max(most, typical)
        return most

    def bits_beyond(self, expression: Expression, pairs: Pairs, points: Array) -> float:
        values, finite = evaluate(expression, pairs.columns(points))
        beyond = np.maximum(self.low - values, values - self.high) / (self.high - self.low) - FREE
        if not (finite & np.isfinite(beyond)).all():
            return MOST_BITS
        return math.log2(1 + max(float(beyond.max()), 0.0))

    def shows_wave(self, phase: Expression) -> bool:
        """Whether the rows show the wave of a phase: some neighbours are less than half a wave apart, and all rows
        together see a whole wave of it, or its beginning, or have a constant to say where it begins."""
        pairs = self.pairs(phase.variables)
        if not len(pairs.first):
            return True
        one, two = pairs.values(phase)
        if np.mean(np.abs(two - one) < math.pi) < SUPPORTED:
            return False
        seen = np.ptp(one) >= 2 * math.pi or np.abs(one).min() <= 2 * math.pi
        return bool(seen) or any(isinstance(term, Constant) and term.is_free for term in summands(phase))


@lru_cache(maxsize=256)  # asked for several times in a row
def waves(expression: Expression) -> tuple[Expression, ...]:
    """The phases of all waves in a formula."""
    nodes = (node for node in postorder(expression) if isinstance(node, Apply) and node.operator.name in WAVES)
    return tuple(dict.fromkeys(node.operands[0] for node in nodes if node.variables))


def _zeros(denominator: Expression, pairs: Pairs) -> tuple[Array, Array, Array]:
    """The pairs of rows between which a denominator is zero: the first row, the way to the second, and at which part
    of the way [pairs, 1]."""
    first, second = pairs.values(denominator)
    turns = np.flatnonzero(first * second < 0)
    one = pairs.rows[pairs.first[turns]]
    way = pairs.rows[pairs.second[turns]] - one
    low, width = np.zeros((len(turns), 1)), 1.0
    for _ in range(ROUNDS if len(turns) else 0):
        width /= PARTS
        inner = low + width * np.arange(1, PARTS)  # [pairs, parts]: all at once
        points = (one[:, None] + inner[:, :, None] * way[:, None]).reshape(-1, one.shape[1])
        values = evaluate(denominator, pairs.columns(points)).values.reshape(inner.shape)
        before = np.logical_and.accumulate(values * first[turns, None] > 0, axis=1)
        low = low + width * before.sum(axis=1, keepdims=True)
    return one, way, low + width / 2


def _pull(expression: Expression, pairs: Pairs, one: Array, way: Array, place: Array) -> float:
    """How far a pole moves the values in the rows beside it, at most: from how the values grow next to it."""
    most = 0.0
    for side, distance in ((-1, place[:, 0]), (1, 1 - place[:, 0])):
        at = [evaluate(expression, pairs.columns(one + (place + side * step) * way)).values for step in STEPS]
        near, far = np.abs(at[0] - at[1]), np.abs(at[1] - at[2])  # without the smooth part, which is the same
        order = np.log10(near / far)
        pull = near / (1 - 10.0**-order) * (STEPS[0] / distance) ** order
        most = max(most, float(np.max(pull, initial=0.0, where=(order > LEAST_ORDER) & np.isfinite(pull))))
    return most


@lru_cache(maxsize=256)  # asked for several times in a row
def denominators(expression: Expression) -> tuple[Expression, ...]:
    """What the formula divides by: the factors, without powers, that a sign is changed by."""
    found: dict[Expression, None] = {}
    for node in postorder(expression):
        if isinstance(node, Apply) and node.operator.name in ("/", "inv", "pow"):
            below, exponent = node.operands[0], node.operands[-1]
            if node.operator.name == "/":
                below = exponent
            elif node.operator.name == "pow" and not (isinstance(exponent, Constant) and exponent.value < 0):
                continue
            found.update(dict.fromkeys(_factors(below)))
    return tuple(found)


def _factors(node: Expression) -> Iterator[Expression]:
    if isinstance(node, Apply) and node.operator.name in ("*", "/", *POWERS):
        for operand in node.operands:
            yield from _factors(operand)
    elif node.variables:
        yield node
