"""Poles between the rows: a formula with one may fit the table and is worth nothing.

`x**3*(4*x*exp(1/x) - 1)` may go through noisy points on both sides of zero as well as a polynomial does, and leaves the
range of the target between them by any factor. So formulas are also looked at half way between neighbouring rows, and
where a denominator changes its sign between them. How far the target's range is left costs as many bits as it takes to
say so. A law that has a pole pays that too, and can: without it the rows near the pole cost far more.

>>> from prunesymnet.data import make_dataset
>>> from prunesymnet.expression import parse
>>> x = np.linspace(-1, 1.1, 20)
>>> between = BetweenRows.of(make_dataset(x, x**2, names=["x"]))
>>> [round(between.pole_penalty(parse(text))) for text in ("x**2", "x**3/x", "x**2 + 0.01/x", "x**2 + exp(1/x)")]
[0, 0, 26, 1024]
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prunesymnet.data import Dataset
from prunesymnet.expression import Apply, Constant, Expression, evaluate, postorder

Array = NDArray[np.float64]

MOST_ROWS = 1000  # that are looked between: the distances of all pairs are computed
NEIGHBOURS = 2  # of each row in several columns: one for each side, on average
BESIDE, HALVINGS = 1e-9, 30  # of the way between two rows: so near to a pole, which is found by halving the way
POWERS = ("pow", "square", "cube", "sqrt", "abs", "neg", "inv")
FREE = 1.0  # ranges of the target that a formula may go beyond it
MOST_BITS = 1024.0  # for a value that is not finite


@dataclass(frozen=True, slots=True)
class BetweenRows:
    """Pairs of neighbouring rows [pairs, columns], and the range of the target: of one column each row and the next,
    of several each row and the nearest two."""

    names: tuple[str, ...]
    one: Array
    two: Array
    low: float
    high: float

    @classmethod
    def of(cls, data: Dataset) -> "BetweenRows":
        weights = data.search_weights
        counts = np.ones(data.rows, dtype=bool) if weights is None else weights > 0
        X = np.unique(data.X[counts], axis=0)
        X = X[:: math.ceil(len(X) / MOST_ROWS)]
        y = data.y[counts]
        if data.features == 1:
            return cls(data.names, X[:-1], X[1:], float(y.min()), float(y.max()))
        spread = X.std(axis=0)
        scaled = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        square = np.einsum("nd,nd->n", scaled, scaled)
        far = square[:, None] + square - 2 * scaled @ scaled.T
        np.fill_diagonal(far, np.inf)
        near = np.argsort(far, axis=1, kind="stable")[:, : min(NEIGHBOURS, len(X) - 1)]
        one = np.repeat(X, near.shape[1], axis=0)
        return cls(data.names, one, X[near.reshape(-1)], float(y.min()), float(y.max()))

    def pole_penalty(self, expression: Expression) -> float:
        """The bits to say how far it goes beyond the target's range."""
        reach = self.high - self.low
        if not (reach > 0 and len(self.one)):
            return 0.0
        with np.errstate(all="ignore"):
            values, finite = evaluate(expression, self.columns(np.concatenate([*self.points(expression)])))
            beyond = np.maximum(self.low - values, values - self.high) / reach - FREE
        if not (finite & np.isfinite(beyond)).all():
            return MOST_BITS
        return math.log2(1 + max(float(beyond.max()), 0.0))

    def points(self, expression: Expression) -> Iterator[Array]:
        """The points to look at: in the middle, and on both sides of where a denominator is zero."""
        yield (self.one + self.two) / 2
        for denominator in denominators(expression):
            first, second = (evaluate(denominator, self.columns(rows)).values for rows in (self.one, self.two))
            turns = np.flatnonzero(first * second < 0)
            one, way = self.one[turns], (self.two - self.one)[turns]
            low, high = np.zeros((len(turns), 1)), np.ones((len(turns), 1))
            for _ in range(HALVINGS if len(turns) else 0):
                middle = (low + high) / 2
                before = evaluate(denominator, self.columns(one + middle * way)).values * first[turns] > 0
                low, high = (np.where(before[:, None], a, b) for a, b in ((middle, low), (high, middle)))
            yield from (one + part * way for part in (low - BESIDE, high + BESIDE))

    def columns(self, points: Array) -> dict[str, Array]:
        return dict(zip(self.names, points.T, strict=True))


def denominators(expression: Expression) -> list[Expression]:
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
    return list(found)


def _factors(node: Expression) -> Iterator[Expression]:
    if isinstance(node, Apply) and node.operator.name in ("*", "/", *POWERS):
        for operand in node.operands:
            yield from _factors(operand)
    elif node.variables:
        yield node
