"""What a user knows of the shape of a law: that it rises with a column, is convex, stays between bounds, is even ...

>>> from prunesymnet.expression import parse
>>> shapes = Shapes.of(["increasing in x", "concave in x", "0 at x = 0", "limit 2 at x = inf"], {"x": (0.0, 10.0)})
>>> for verdict in shapes.verdicts(parse("2.0*x/(x + 1.5)")):
...     print(verdict)
increasing in x: proven by interval arithmetic
concave in x: proven by interval arithmetic
0 at x = 0: proven by algebra
limit 2 at x = inf: holds at all sampled points
>>> shapes.broken_by(parse("x*(5 - x)"))
'it is not increasing in x'

A formula is looked at on samples first, which takes microseconds; that is enough to refuse most. Of what is left,
interval arithmetic (`expression.intervals`) proves the shape on the whole box, or finds a part of the box on which it
does not hold. Boxes on which it does not decide are halved, as long as there are not too many. Where it does not come
to an end, samples have to do, and the verdict says so.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from prunesymnet.expression import Constant, Expression, Variable, apply, canonical, evaluate
from prunesymnet.expression.intervals import Interval, Jet, bounds
from prunesymnet.expression.tree import exact_if_whole

Array = NDArray[np.float64]
Box = Mapping[str, tuple[float, float]]

LINES = 24  # along which samples lie: enough for the corners of a box of four columns, and some inside
POINTS = 33  # on each line
TOLERANCE = 1e-7  # of the range of the values: what is smaller is rounding
PINNED = 4  # points at which a value that is known is fitted: of several columns, others may take part in it
MOST_BOXES = 4096  # that are looked at: a few milliseconds for each operator of a formula
LIMIT = 1e-3  # of the size of the values: as near a formula must come to its limit, and stay on the last samples
STAYS = 3  # samples, a factor of a hundred apart
FAR = 10.0 ** np.arange(3, 9)  # times the width of the box: where the limit at infinity is sampled
NEAR = 10.0 ** -np.arange(3.0, 9.0)  # times the width of the box: where the limit at a point is sampled

_NUMBER = r"[-+]?(?:inf|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_SENTENCES = {
    "sign": re.compile(r"(increasing|decreasing|convex|concave) in (\w+)"),
    "symmetry": re.compile(r"(even|odd) in (\w+)"),
    "bound": re.compile(rf"(?:(positive|negative)|(above|below) ({_NUMBER})|between ({_NUMBER}) and ({_NUMBER}))"),
    "limit": re.compile(rf"limit ({_NUMBER}) at (\w+) = ({_NUMBER})"),
    "value": re.compile(rf"({_NUMBER}) at (\w+ = {_NUMBER}(?:, \w+ = {_NUMBER})*)"),
}
KNOWN = (
    "increasing in x, decreasing in x, convex in x, concave in x, even in x, odd in x, positive, negative, above 1, "
    "below 1, between 0 and 1, 0 at x = 0, limit 1 at x = inf"
)


@dataclass(frozen=True)
class Verdict:
    """Whether a formula has a shape, and how that is known: "proven by interval arithmetic", "proven by algebra", or
    "holds at all sampled points"."""

    shape: str
    holds: bool
    how: str

    def __str__(self) -> str:
        return f"{self.shape}: {self.how}"


PROVEN, BY_ALGEBRA, SAMPLED = "proven by interval arithmetic", "proven by algebra", "holds at all sampled points"


@dataclass(frozen=True)
class Shape:
    """One sentence that says what a law is like, as it is read: its kind, and the words and numbers in it."""

    text: str
    kind: str
    words: tuple[str, ...]

    @classmethod
    def read(cls, text: str) -> "Shape":
        """
        >>> Shape.read("between 0 and 1").words
        ('0', '1')
        >>> Shape.read("rising in x")
        Traceback (most recent call last):
        ValueError: shape must be a list of sentences such as increasing in x, ... limit 1 at x = inf, got 'rising in x'
        """
        plain = " ".join(text.replace("=", " = ").replace(",", ", ").split()) if isinstance(text, str) else ""
        for kind, sentence in _SENTENCES.items():
            match = sentence.fullmatch(plain.replace(" ,", ","))
            if match:
                return cls(match[0], kind, tuple(word for word in match.groups() if word is not None))
        raise ValueError(f"shape must be a list of sentences such as {KNOWN}, got {text!r}")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it names."""
        if self.kind in ("sign", "symmetry", "limit"):
            return (self.words[1],)
        return tuple(self.point) if self.kind == "value" else ()

    @property
    def point(self) -> dict[str, float]:
        """Where a law has a value."""
        pairs = (part.split(" = ") for part in self.words[1].split(", "))
        return {name: float(number) for name, number in pairs}

    @property
    def between(self) -> tuple[float, float]:
        """The bounds of a law."""
        first, *others = self.words
        if others and first not in ("above", "below"):
            return float(first), float(others[0])
        value = float(others[0]) if others else 0.0
        return (value, math.inf) if first in ("positive", "above") else (-math.inf, value)


@dataclass(frozen=True)
class Shapes:
    """Shapes that a law must have on a box: the lower and the upper end of every column."""

    shapes: tuple[Shape, ...]
    box: Box
    _samples: dict[str | None, dict[str, Array]] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, texts: Sequence[str], box: Box) -> "Shapes":
        return cls(tuple(map(Shape.read, texts)), dict(box))

    # By samples

    def broken_by(self, expression: Expression) -> str | None:
        """Which shape a formula does not have, in words, as far as samples show; None if it has all."""
        return next((f"it is not {one.text}" for one in self.shapes if not self.sampled(one, expression)), None)

    def sampled(self, shape: Shape, expression: Expression) -> bool:
        """Whether samples show nothing against a shape. A formula must have a value on all of them."""
        if shape.kind == "limit":
            return self._comes_near(shape, expression)
        along = shape.columns[0] if shape.kind in ("sign", "symmetry") else None
        columns = self.samples(along)
        if shape.kind == "value":
            fixed = {name: np.full(1, value) for name, value in shape.point.items()}
            columns = {name: fixed.get(name, column) for name, column in columns.items()}
            length = max(map(len, columns.values()))
            columns = {name: np.broadcast_to(column, length) for name, column in columns.items()}
        values = self._values(expression, columns)
        if values is None:
            return False
        least = TOLERANCE * (float(np.ptp(values)) or float(np.abs(values).max()) or 1.0)
        if shape.kind == "value":
            size = TOLERANCE * max(self._size(expression), abs(float(shape.words[0])))
            return bool(np.abs(values - float(shape.words[0])).max() <= size)
        if shape.kind == "bound":
            low, high = shape.between
            return bool(values.min() >= low - least and values.max() <= high + least)
        if shape.kind == "symmetry":
            mirrored = self._values(expression, {**columns, shape.words[1]: -columns[shape.words[1]]})
            sign = 1 if shape.words[0] == "even" else -1
            return mirrored is not None and bool(np.abs(mirrored - sign * values).max() <= least)
        order = 1 if shape.words[0] in ("increasing", "decreasing") else 2
        steps = np.diff(values.reshape(LINES, POINTS), order, axis=1)
        return bool((steps if shape.words[0] in ("increasing", "convex") else -steps).min() >= -least)

    def samples(self, along: str | None) -> dict[str, Array]:
        """Points of the box, on lines along a column: from corners first, then by chance (None: all by chance)."""
        if along not in self._samples:
            rng = np.random.default_rng(0)
            line = np.tile(np.linspace(0, 1, POINTS), (LINES, 1))
            columns = {}
            for name, (low, high) in self.box.items():
                place = rng.uniform(size=LINES)
                place[: LINES // 2] = rng.integers(0, 2, LINES // 2)
                moved = np.repeat(place[:, None], POINTS, axis=1)
                if along is None:
                    moved = rng.permuted(line, axis=1)
                elif name == along:
                    moved = line
                columns[name] = (low + (high - low) * moved).ravel()
            self._samples[along] = columns
        return self._samples[along]

    def _comes_near(self, shape: Shape, expression: Expression) -> bool:
        """Whether a formula comes ever nearer to its limit."""
        limit, name, way = float(shape.words[0]), shape.words[1], self._way(shape)
        others = {column: values[: LINES * POINTS : POINTS] for column, values in self.samples(name).items()}
        columns = {column: np.repeat(values, len(way)) for column, values in others.items()}
        columns[name] = np.tile(way, len(columns[name]) // len(way))
        with np.errstate(all="ignore"):
            values = evaluate(expression, columns).values.reshape(-1, len(way))
        if math.isinf(limit):
            grown = values[:, -1] * math.copysign(1.0, limit)
            return bool((grown > self._size(expression)).all())
        off = np.abs(values[:, -STAYS:] - limit)
        return bool((off <= LIMIT * max(self._size(expression), abs(limit))).all())

    def _way(self, shape: Shape) -> NDArray[np.floating]:
        """Values of a column on the way to where a law has a limit."""
        where, (low, high) = float(shape.words[2]), self.box[shape.words[1]]
        width = (high - low) or 1.0
        if math.isinf(where):
            return math.copysign(1.0, where) * (max(abs(low), abs(high)) + width * FAR)
        return where + (1 if where <= (low + high) / 2 else -1) * width * NEAR  # from inside the box

    def _size(self, expression: Expression) -> float:
        """How large a formula is on the box."""
        values = self._values(expression, self.samples(None))
        return 0.0 if values is None else float(np.abs(values).max())

    def _values(self, expression: Expression, columns: Mapping[str, Array]) -> Array | None:
        with np.errstate(all="ignore"):
            values, finite = evaluate(expression, columns)
        return values if finite.all() else None

    # By fits

    def pinned(self) -> tuple[dict[str, Array], Array]:
        """Points at which the values of a law are known, and these values: where it has a value or a limit."""
        columns: dict[str, list[Array]] = {name: [] for name in self.box}
        values = []
        for shape in self.shapes:
            if shape.kind not in ("value", "limit") or math.isinf(float(shape.words[0])):
                continue
            points = [shape.point]
            if shape.kind == "limit":
                points = [{shape.words[1]: float(place)} for place in self._way(shape)[-STAYS:]]
            for point in points:
                for name, column in self.samples(None).items():
                    columns[name].append(np.full(PINNED, point[name]) if name in point else column[:PINNED])
                values.append(np.full(PINNED, float(shape.words[0])))
        if not values:
            return {}, np.zeros(0)
        return {name: np.concatenate(parts) for name, parts in columns.items()}, np.concatenate(values)

    # By proof

    def verdicts(self, expression: Expression) -> tuple[Verdict, ...]:
        """For each shape, whether a formula has it, and how that is known."""
        return tuple(self._verdict(shape, expression) for shape in self.shapes)

    def _verdict(self, shape: Shape, expression: Expression) -> Verdict:
        if not self.sampled(shape, expression):
            return Verdict(shape.text, False, "does not hold")
        if shape.kind == "symmetry" and _is_symmetric(shape, expression):
            return Verdict(shape.text, True, BY_ALGEBRA)
        if shape.kind == "value" and _has_value(shape, expression):
            return Verdict(shape.text, True, BY_ALGEBRA)
        decided = None
        if shape.kind in ("sign", "bound", "value") or (shape.kind == "limit" and math.isinf(float(shape.words[2]))):
            with np.errstate(all="ignore"):
                decided = self._decide(shape, expression)
        if decided is False:
            return Verdict(shape.text, False, "does not hold: shown by interval arithmetic")
        return Verdict(shape.text, True, PROVEN if decided else SAMPLED)

    def _decide(self, shape: Shape, expression: Expression) -> bool | None:
        """Whether interval arithmetic shows a shape (True), or that it does not hold (False); None: neither."""
        box = {name: self.box[name] for name in expression.variables}
        by = shape.words[1] if shape.kind == "sign" else None
        if shape.kind == "value":
            box.update({name: (value, value) for name, value in shape.point.items() if name in box})
        if shape.kind == "limit" and shape.words[1] in box:
            low, high = self.box[shape.words[1]]
            far = (max(abs(low), abs(high)) + (high - low)) * float(FAR[-1])
            box[shape.words[1]] = (far, math.inf) if float(shape.words[2]) > 0 else (-math.inf, -far)
        if not box:
            return None
        names = list(box)
        lows, highs = (np.array([[box[name][end]] for name in names]) for end in (0, 1))
        looked, least = 0, self._allowed(shape, expression)
        while lows.shape[1]:
            looked += lows.shape[1]
            if looked > MOST_BOXES:
                return None
            boxes = {name: (lows[k], highs[k]) for k, name in enumerate(names)}
            jet = bounds(expression, boxes, by)
            wanted = _margins(shape, jet, least)
            known = np.isfinite(jet.value.low) & np.isfinite(jet.value.high)
            if any((margin.high < 0)[known].any() for margin in wanted):
                return False
            fine = known & np.logical_and.reduce([margin.low >= 0 for margin in wanted])
            lows, highs = _halved(lows[:, ~fine], highs[:, ~fine])
        return True

    def _allowed(self, shape: Shape, expression: Expression) -> float:
        """How far a quantity may be on the wrong side of its bound: what is smaller is rounding."""
        values = self._values(expression, self.samples(None))
        size = 1.0 if values is None else float(np.ptp(values)) or float(np.abs(values).max()) or 1.0
        if shape.kind == "sign":
            low, high = self.box[shape.words[1]]
            size /= (high - low) ** (1 if shape.words[0] in ("increasing", "decreasing") else 2) or 1.0
        return (LIMIT if shape.kind == "limit" else TOLERANCE) * size


def _margins(shape: Shape, jet: Jet, least: float) -> list[Interval]:
    """The quantities that are nowhere below 0 where a shape holds."""
    if shape.kind == "sign":
        quantity = jet.slope if shape.words[0] in ("increasing", "decreasing") else jet.bend
        return [(quantity if shape.words[0] in ("increasing", "convex") else -quantity) + least]
    low, high = shape.between if shape.kind == "bound" else (float(shape.words[0]),) * 2
    sides = [jet.value - low] if math.isfinite(low) else []
    return [side + least for side in [*sides, *([-jet.value + high] if math.isfinite(high) else [])]]


def _halved(lows: Array, highs: Array) -> tuple[Array, Array]:
    """Every box cut in two, across its longest side."""
    width = highs - lows
    across = np.argmax(np.where(np.isfinite(width), width, -1.0), axis=0)
    every = np.arange(lows.shape[1])
    middle = (lows[across, every] + highs[across, every]) / 2
    left, right = highs.copy(), lows.copy()
    left[across, every] = right[across, every] = middle
    return np.concatenate([lows, right], axis=1), np.concatenate([left, highs], axis=1)


def _is_symmetric(shape: Shape, expression: Expression) -> bool:
    kind, name = shape.words
    mirrored = expression.substitute({name: apply("neg", Variable(name))})
    mirrored = mirrored if kind == "even" else apply("neg", mirrored)
    return canonical(mirrored) == canonical(expression)


def _has_value(shape: Shape, expression: Expression) -> bool:
    """Whether the value at a point is seen when the formula is simplified: numbers with a point are exact there."""
    numbers = {name: Constant(exact_if_whole(value)) for name, value in shape.point.items()}
    after = canonical(expression.substitute(numbers))
    return isinstance(after, Constant) and float(after.value) == float(shape.words[0])
