"""Formulas that are nothing where a column is 0, with a constant less.

A scan fits a constant beside everything. So `a*(1 - exp(-b*x))` is found as `c - a*exp(-b*x)`, and the potential
`a*log(1 + b*x)` as `c + a*log(x + d)`: with three constants for two, which in few rows are dearer than what a wrong
formula leaves. But that a curve begins at nothing says the same in any units, and shows in the three: two terms that
cancel where x is 0. To see it in the second, too, a number is taken out of each sum in which it stands, so that
`c/(x + d)` is `(c/d)/(1 + x/d)`.

>>> from prunesymnet.expression import parse
>>> x = {"x": np.array([1.0, 2.0, 3.0])}
>>> print(from_nothing(parse("2.0 - 2.01*exp(-0.3*x)"), x, 0.1))
2.0*(1 - exp(-0.3*x))
>>> print(from_nothing(parse("3.0*log(x + 2.0) - 2.1"), x, 0.1))
3.0*log(1 + 0.5*x)
>>> from_nothing(parse("2.0 - 1.5*exp(-0.3*x)"), x, 0.1)
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from prunesymnet.expression import Apply, Constant, Expression, apply, evaluate, fold
from prunesymnet.operators import Operator

Array = NDArray[np.float64]

Part = tuple[float, Expression]  # of a sum: a factor, and what it stands before

SAME = 1e-9  # relative: values that differ in rounding alone
POWERS = {"inv": -1.0, "sqrt": 0.5, "square": 2.0, "cube": 3.0}
ONE: Expression = Constant(1)


def from_nothing(expression: Expression, columns: Mapping[str, Array], most: float) -> Expression | None:
    """The formula with a constant less, where two of its terms cancel where a column is 0, but for at most so much;
    None where there are no such."""
    pieces = [fold(term, _leaf, _combined).times(sign) for sign, term in _signed(expression)]
    constant = sum(piece.factor * (piece.offset if piece.rest is not None else 1.0) for piece in pieces)
    parts = [(piece.factor, piece.rest) for piece in pieces if piece.rest is not None]
    if abs(constant) <= most and any(piece.offset for piece in pieces):
        return _total(parts[1:], Constant(parts[0][0]) * parts[0][1])
    parts += [(constant, ONE)] if constant else []
    gaps = ((_left_at_nothing(*pair, columns), *pair) for pair in combinations(parts, 2))
    left, one, two = min(gaps, key=lambda gap: gap[0], default=(math.inf, (0.0, ONE), (0.0, ONE)))
    if not left <= most:
        return None
    one, two = sorted((one, two), key=lambda part: part[0])  # the positive one first
    together = Constant(two[0]) * (two[1] - one[1])
    return _total([part for part in parts if part is not one and part is not two], together)


def _left_at_nothing(one: Part, two: Part, columns: Mapping[str, Array]) -> float:
    """What two terms add up to where a column is 0, if they differ there in their factors alone, and in sign."""
    if one[0] * two[0] >= 0:
        return math.inf
    least = math.inf
    for name in {*one[1].variables, *two[1].variables}:
        there = {**columns, name: np.zeros_like(columns[name])}
        values, others = evaluate(one[1], there).values, evaluate(two[1], there).values
        size = float(np.abs(values).max())
        if 0 < size < math.inf and np.allclose(values, others, rtol=SAME, atol=0.0):
            least = min(least, abs(one[0] + two[0]) * size)
    return least


def _total(parts: Iterable[Part], total: Expression) -> Expression:
    for factor, rest in parts:
        total = total + Constant(factor) * rest
    return total


def _signed(total: Expression) -> Iterator[tuple[float, Expression]]:
    """The terms of a sum, with their signs."""
    stack = [(1.0, total)]
    while stack:
        sign, node = stack.pop()
        if isinstance(node, Apply) and node.operator.name in ("+", "-", "neg"):
            signs = (sign, sign if node.operator.name == "+" else -sign)[-len(node.operands) :]
            stack.extend(zip(signs, node.operands, strict=True))
        else:
            yield sign, node


@dataclass(frozen=True, slots=True)
class _Piece:
    """A tree as `factor * (rest + offset)`; no `rest` is a number, and `begins` says whether it is 1 where its columns
    are 0 by the way it is written."""

    factor: float
    rest: Expression | None = None
    offset: float = 0.0
    begins: bool = False

    @property
    def inner(self) -> Expression:
        """Without the factor."""
        rest = ONE if self.rest is None else self.rest
        return rest + Constant(self.offset) if self.offset else rest

    @property
    def tree(self) -> Expression:
        if self.rest is None:
            return Constant(self.factor)
        return self.inner if self.factor == 1 else Constant(self.factor) * self.inner

    def times(self, factor: float) -> "_Piece":
        return replace(self, factor=self.factor * factor)


def _leaf(leaf: Expression) -> _Piece:
    free = isinstance(leaf, Constant) and leaf.is_free
    return _Piece(float(leaf.value), begins=True) if free else _Piece(1.0, leaf)  # type: ignore[attr-defined]


def _combined(operator: Operator, operands: tuple[_Piece, ...]) -> _Piece:
    one, two, name = operands[0], operands[-1], operator.name
    if name == "neg":
        return one.times(-1.0)
    if name in ("+", "-"):
        return _sum(one, two.times(-1.0) if name == "-" else two)
    if name == "*" and (one.rest is None or two.rest is None):
        return two.times(one.factor) if one.rest is None else one.times(two.factor)
    if name == "/" and two.rest is None and two.factor:
        return one.times(1 / two.factor)
    if name in ("*", "/") and two.factor:
        factor = one.factor * two.factor if name == "*" else one.factor / two.factor
        return _Piece(factor, apply(operator, one.inner, two.inner), begins=one.begins and two.begins)
    exponent = _number(two) if name == "pow" else POWERS.get(name)
    if exponent is not None and one.rest is not None and (one.factor > 0 or (exponent.is_integer() and one.factor)):
        raised = apply(operator, one.inner, *(piece.tree for piece in operands[1:]))
        return _Piece(float(one.factor**exponent), raised, begins=one.begins)
    if name == "log" and one.begins and one.rest is not None and one.factor > 0:
        return _Piece(1.0, apply(operator, one.inner), offset=math.log(one.factor))
    return _Piece(1.0, apply(operator, *(piece.tree for piece in operands)))


def _number(piece: _Piece) -> float | None:
    if piece.rest is None:
        return piece.factor
    return float(piece.rest.value) if isinstance(piece.rest, Constant) else None


def _sum(one: _Piece, two: _Piece) -> _Piece:
    """With the number in it as its factor, if there is one."""
    if not one.begins and two.begins:
        one, two = two, one
    if not one.begins or two.begins or not one.factor:
        return _Piece(1.0, one.tree + two.tree)
    return _Piece(one.factor, one.inner + two.times(1 / one.factor).tree, begins=True)
