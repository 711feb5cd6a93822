"""Back to front with the target: what must stand inside an operator for the formula to give y.

The paper prunes from the output to the inputs. Here the output's operator is taken off the target instead: if y is
`exp(g)/f` with f from the bank, then g is `log(y*f)`, and that is a target like any other, one level down.

>>> y = np.array([2.0, 4.0, 8.0])
>>> from prunesymnet.operators import PAPER
>>> frames = unwrap(y, [], PAPER)
>>> [frame.text for frame in frames]
['g', '1/g', 'exp(g)', 'log(g)', 'g**2']
>>> frames[2].target.round(3), frames[2].back(np.log(y)).round(3)
(array([0.693, 1.386, 2.079]), array([2., 4., 8.]))

A `Frame` is the target and the way back. A row counts by what an error there does to y, (dy/dg)^2, and rows on which
g is not finite (y underflows, a pole) count nothing, for this frame only.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prunesymnet.expression import Expression, Variable, apply, to_text
from prunesymnet.operators import Operator, select_operators

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

MOST_LEFT_OUT = 0.2  # of the rows: a target that says nothing about more is none
ENOUGH = 0.4  # of the rows must count, as if all that count did so alike
HOLE = Variable("g")


@dataclass(frozen=True, slots=True)
class Factor:
    """A node that y may be multiplied by: its values, and y*f undone: g -> g/f (or g*f)."""

    values: Array
    expression: Expression
    divides: bool  # the target is y/f, the formula g*f

    def undo(self, inside: Expression) -> Expression:
        return inside * self.expression if self.divides else inside / self.expression


@dataclass(frozen=True, slots=True)
class Frame:
    """A target with the operators around it, y = u(g)/f, and the weights by which an error of g counts as the error of
    y that it makes: 0 on rows where g is not finite."""

    target: Array
    weights: Array
    outer: Operator | None
    sign: int
    factor: Factor | None

    def wrap(self, inside: Expression) -> Expression:
        """The formula of y from that of the target."""
        if self.outer is not None:
            inside = apply(self.outer, inside) if self.outer.name != "inv" else 1 / inside
        if self.sign < 0:
            inside = -inside
        return inside if self.factor is None else self.factor.undo(inside)

    def back(self, inside: Array) -> Array:
        """The values of y from those of the target, [..., points]."""
        with np.errstate(all="ignore"):
            values = inside if self.outer is None else self.outer.numpy(inside)
            if self.sign < 0:
                values = -values
            if self.factor is None:
                return np.asarray(values)
            return np.asarray(values * self.factor.values if self.factor.divides else values / self.factor.values)

    @property
    def text(self) -> str:
        return to_text(self.wrap(HOLE))

    @property
    def plain(self) -> bool:
        return self.outer is None and self.factor is None

    @property
    def complexity(self) -> int:
        return self.wrap(HOLE).complexity - 1


def unwrap(
    y: Array, factors: Iterable[Factor], operators: Iterable[str | Operator], weights: Array | None = None
) -> list[Frame]:
    """The targets that y can be unwrapped to: by each operator's inverse, after each factor; y itself first. `weights`
    are those of the rows for errors of y."""
    weights = np.ones(len(y)) if weights is None else weights
    table = select_operators(operators)
    outers: list[Operator | None] = [None]
    if "/" in table or "inv" in table:
        outers.append(select_operators(["inv"])["inv"])
    outers += [
        row for row in table.values()
        if row.arity == 1 and row.inverses and row.inverses[0] and row.name not in ("id", "neg", "abs", "inv")
    ]  # fmt: skip
    frames = []
    with np.errstate(all="ignore"):
        for factor in (None, *factors):
            base = y
            if factor is not None:
                base = y / factor.values if factor.divides else y * factor.values
            for outer in outers:
                if factor is not None and outer is not None and not _takes_up_a_factor(outer):
                    continue
                for sign in (1, -1):
                    frame = _frame(base, outer, sign, factor, weights)
                    if frame is not None:
                        frames.append(frame)
                        break
    return frames


def _frame(base: Array, outer: Operator | None, sign: int, factor: Factor | None, weights: Array) -> Frame | None:
    target, slope = sign * base, np.ones_like(base)
    if outer is not None:
        inverse, partial = outer.inverses[0], outer.partials[0]
        assert inverse is not None  # noqa: S101 - `unwrap` takes only those that have one
        target = np.asarray(inverse(target))
        value = outer.numpy(target)
        slope = np.asarray(partial(value, target) if callable(partial) else partial * slope)
        # Only where the operator gives the value back is it undone: arcsin and a root know one branch.
        target = np.where(np.abs(value - sign * base) <= 1e-6 * np.abs(base) + 1e-300, target, np.nan)
    if factor is not None:
        slope = slope * factor.values if factor.divides else slope / factor.values
    weights = weights * slope * slope
    rows = np.isfinite(target) & np.isfinite(base) & np.isfinite(weights)
    if rows.mean() < 1 - MOST_LEFT_OUT or not np.ptp(target[rows]) > 0 or not weights[rows].sum() > 0:
        return None
    return Frame(np.where(rows, target, 0.0), tempered(np.where(rows, weights, 0.0)), outer, sign, factor)


def _takes_up_a_factor(outer: Operator) -> bool:
    """Whether c*u(g) is u(a + b*g) for some a and b, as for exp, roots and powers: if not, as for sin, a factor
    before it would have to be known to be undone."""
    inverse = outer.inverses[0]
    assert inverse is not None  # noqa: S101 - `unwrap` takes only those that have one
    values = np.array([0.2, 0.4, 0.5, 0.7, 0.9])
    one, half = np.asarray(inverse(values)), np.asarray(inverse(values / 2))
    line = np.array([np.ones_like(one), one]).T
    rest = half - line @ np.linalg.lstsq(line, half, rcond=None)[0]
    return bool(np.abs(rest).max() < 1e-9)


def tempered(weights: Array) -> Array:
    """Weights of sum 1, evened out until enough rows count: a handful of rows is fitted by anything."""
    rows = weights > 0
    power = 1.0
    while True:
        even: Array = np.where(rows, weights / weights.max(), 0.0) ** power * rows
        even = even / even.sum()
        if 1 / (even @ even) >= ENOUGH * rows.sum() or power < 0.05:
            return even
        power /= 2
