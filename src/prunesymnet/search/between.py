"""What a formula says between the rows: a pole there fits the table and is worth nothing.

`x**3*(4*x*exp(1/x) - 1)` may go through noisy points on both sides of zero as well as a polynomial does, and leaves the
range of the target between them by any factor. So formulas are also looked at half way between neighbouring rows, and
where a denominator changes its sign between them. How far the target's range is left costs as many bits as it takes to
say so. A law that has a pole pays that too, and can: without it the rows near the pole cost far more.

>>> from prunesymnet.data import make_dataset
>>> from prunesymnet.expression import parse
>>> x = np.linspace(-1, 1.1, 20)
>>> middle = Middle.of(make_dataset(x, x**2, names=["x"]))
>>> [round(middle.surprise(parse(text))) for text in ("x**2", "x**3/x", "x**2 + 0.01/x", "x**2 + exp(1/x)")]
[0, 0, 6, 1024]
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prunesymnet.data import Dataset
from prunesymnet.expression import Apply, Constant, Expression, evaluate, postorder

Array = NDArray[np.float64]

MOST_ROWS = 1000
NEIGHBOURS = 2
BESIDE = 1e-3  # of the way between two rows: so near to a pole
FREE = 1.0  # ranges of the target that a formula may go beyond it
MOST_BITS = 1024.0  # for a value that is not finite


@dataclass(frozen=True, slots=True)
class Middle:
    """Pairs of neighbouring rows [pairs, columns], and the range of the target."""

    names: tuple[str, ...]
    one: Array
    two: Array
    low: float
    high: float

    @classmethod
    def of(cls, data: Dataset) -> "Middle":
        X = data.X[:: math.ceil(data.rows / MOST_ROWS)]
        spread = X.std(axis=0)
        scaled = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        square = np.einsum("nd,nd->n", scaled, scaled)
        far = square[:, None] + square - 2 * scaled @ scaled.T
        np.fill_diagonal(far, np.inf)
        near = np.argsort(far, axis=1, kind="stable")[:, : min(NEIGHBOURS, len(X) - 1)]
        one = np.repeat(X, near.shape[1], axis=0)
        return cls(data.names, one, X[near.reshape(-1)], float(data.y.min()), float(data.y.max()))

    def surprise(self, expression: Expression) -> float:
        """The bits to say how far it goes beyond the target's range."""
        reach = self.high - self.low
        if not reach > 0:
            return 0.0
        with np.errstate(all="ignore"):
            values, finite = evaluate(expression, self.columns(np.concatenate([*self.looks(expression)])))
            beyond = np.maximum(self.low - values, values - self.high) / reach - FREE
        if not (finite & np.isfinite(beyond)).all():
            return MOST_BITS
        return math.log2(1 + max(float(beyond.max()), 0.0))

    def looks(self, expression: Expression) -> Iterator[Array]:
        """The points to look at: in the middle, and on both sides of where a denominator is zero."""
        yield (self.one + self.two) / 2
        for below in denominators(expression):
            first, second = (evaluate(below, self.columns(rows)).values for rows in (self.one, self.two))
            turns = np.flatnonzero(first * second < 0)
            zero = (first / (first - second))[turns, None]
            for part in (zero - BESIDE, zero + BESIDE):
                yield self.one[turns] + part * (self.two - self.one)[turns]

    def columns(self, points: Array) -> dict[str, Array]:
        return dict(zip(self.names, points.T, strict=True))


def denominators(expression: Expression) -> list[Expression]:
    """What the formula divides by."""
    found: dict[Expression, None] = {}
    for node in postorder(expression):
        if isinstance(node, Apply) and node.operator.name in ("/", "inv", "pow"):
            base, exponent = node.operands[0], node.operands[-1]
            if node.operator.name == "/":
                base = exponent
            elif node.operator.name == "pow" and not (isinstance(exponent, Constant) and exponent.value < 0):
                continue
            if base.variables:
                found[base] = None
    return list(found)
