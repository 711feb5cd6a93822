"""Back to front with the target: what must stand inside an operator for the formula to give y.

The paper prunes from the output to the inputs. Here the output's operator is taken off the target instead: if y is
`exp(g)/f` with f from the bank, then g is `log(y*f)`, and that is a target like any other, one level down.

>>> from prunesymnet.operators import PAPER
>>> y = np.array([2.0, 4.0, 8.0])
>>> frames = unwrap(y, [], PAPER)
>>> [frame.text for frame in frames]
['g', '1/g', 'sqrt(g)', 'exp(g)', 'log(g)', 'g**2']
>>> frames[3].target.round(3), frames[3].back(np.log(y)).round(3)
(array([0.693, 1.386, 2.079]), array([2., 4., 8.]))

A `Frame` is the target and the steps of the way back. A row counts by what an error there does to y, (dy/dg)^2, and
rows on which g is not finite (y underflows, a pole) count nothing, for this frame only.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from prunesymnet.expression import Constant, Expression, Variable, apply, to_text
from prunesymnet.operators import Operator, select_operators

Array = NDArray[np.float64]

MOST_LEFT_OUT = 0.2  # of the rows: a target that says nothing about more is none
ENOUGH = 0.4  # of the rows must count, as if all that count did so alike
HOLE = Variable("g")
INVERSE, ROOT = select_operators(["inv"])["inv"], select_operators(["sqrt"])["sqrt"]


class Step(Protocol):
    """One operator that is taken off: a target t becomes g, where t = up(g)."""

    def down(self, target: Array) -> Array:
        """g from t; not a number where there is none."""

    def up(self, inside: Array) -> Array:
        """t from g."""

    def slope(self, inside: Array) -> Array:
        """dt/dg."""

    def wrap(self, inside: Expression) -> Expression:
        """The formula of t from that of g."""


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """t = g*f (`divides`: the target is divided by f), or t = g/f."""

    values: Array
    expression: Expression
    divides: bool

    def down(self, target: Array) -> Array:
        return target / self.values if self.divides else target * self.values

    def up(self, inside: Array) -> Array:
        return inside * self.values if self.divides else inside / self.values

    def slope(self, inside: Array) -> Array:
        return np.broadcast_to(self.values if self.divides else 1 / self.values, inside.shape)

    def wrap(self, inside: Expression) -> Expression:
        return inside * self.expression if self.divides else inside / self.expression


@dataclass(frozen=True, slots=True)
class Outer:
    """t = u(g), or -u(g)."""

    operator: Operator
    sign: int = 1

    def down(self, target: Array) -> Array:
        inverse = self.operator.inverses[0]
        assert inverse is not None  # noqa: S101 - `outers` gives only those that have one
        inside = np.asarray(inverse(self.sign * target))
        # Only where the operator gives the value back is it undone: arcsin and a root know one branch.
        off = np.abs(self.up(inside) - target)
        return np.where(off <= 1e-6 * np.abs(target) + 1e-300, inside, np.nan)

    def up(self, inside: Array) -> Array:
        return np.asarray(self.sign * self.operator.numpy(inside))

    def slope(self, inside: Array) -> Array:
        partial = self.operator.partials[0]
        return np.asarray(partial(self.operator.numpy(inside), inside) if callable(partial) else partial + 0 * inside)

    def wrap(self, inside: Expression) -> Expression:
        inside = 1 / inside if self.operator == INVERSE else apply(self.operator, inside)
        return -inside if self.sign < 0 else inside


@dataclass(frozen=True, slots=True)
class Offset:
    """t = g + c for a whole number c."""

    value: int

    def down(self, target: Array) -> Array:
        return target - self.value

    def up(self, inside: Array) -> Array:
        return inside + self.value

    def slope(self, inside: Array) -> Array:
        return np.ones_like(inside)

    def wrap(self, inside: Expression) -> Expression:
        return inside + Constant(self.value)


@dataclass(frozen=True, slots=True)
class Frame:
    """A target, the weights by which an error of it counts as the error of y that it makes (0 on rows where it is not
    finite), and the steps by which it was reached from y."""

    target: Array
    weights: Array
    steps: tuple[Step, ...] = ()

    def take_off(self, *steps: Step) -> "Frame | None":
        """The frame one or more steps further down; None where too few rows have a target, or it does not vary."""
        target, slope = self.target, np.ones_like(self.target)
        with np.errstate(all="ignore"):
            for step in steps:
                target = step.down(target)
                slope = slope * step.slope(target)
            weights = self.weights * slope * slope
        rows = np.isfinite(target) & np.isfinite(weights) & (self.weights > 0)
        if rows.sum() < (1 - MOST_LEFT_OUT) * len(rows) or not np.ptp(target[rows]) > 0 or not weights[rows].max() > 0:
            return None
        return Frame(np.where(rows, target, 0.0), tempered(np.where(rows, weights, 0.0)), self.steps + steps)

    def wrap(self, inside: Expression) -> Expression:
        """The formula of y from that of the target."""
        for step in reversed(self.steps):
            inside = step.wrap(inside)
        return inside

    def back(self, inside: Array) -> Array:
        """The values of y from those of the target, [..., points]."""
        with np.errstate(all="ignore"):
            for step in reversed(self.steps):
                inside = step.up(inside)
        return inside

    @property
    def text(self) -> str:
        return to_text(self.wrap(HOLE))

    @property
    def complexity(self) -> int:
        return self.wrap(HOLE).complexity - 1


def plain(y: Array, weights: Array | None = None) -> Frame:
    """y itself."""
    weights = np.ones(len(y)) if weights is None else weights
    return Frame(y, weights / weights.sum())


def unwrap(
    y: Array, factors: Iterable[Factor], operators: Iterable[str | Operator], weights: Array | None = None
) -> list[Frame]:
    """The targets that y can be unwrapped to: by each operator's inverse, after each factor; y itself first. `weights`
    are those of the rows for errors of y."""
    return further(plain(y, weights), factors, operators)


def further(start: Frame, factors: Iterable[Factor], operators: Iterable[str | Operator]) -> list[Frame]:
    """The frames one factor and one operator down from a frame, and the frame itself first."""
    table = outers(select_operators(operators))
    frames = [start, *(frame for operator in table if (frame := undone(start, operator)) is not None)]
    inner = [operator for operator in table if _takes_up_a_factor(operator)]
    for factor in factors:
        divided = start.take_off(factor)
        if divided is not None:
            frames.append(divided)
            frames += [frame for operator in inner if (frame := undone(start, operator, factor)) is not None]
    return frames


def undone(frame: Frame, operator: Operator, *before: Step) -> Frame | None:
    """The frame without an operator, for the sign that it has on the rows; other steps may come before."""
    for sign in (1, -1):
        further = frame.take_off(*before, Outer(operator, sign))
        if further is not None:
            return further
    return None


def outers(table: Mapping[str, Operator]) -> list[Operator]:
    """The operators of one operand that can be taken off: those asked for, 1/g where there is a quotient, and the root
    where there is a square."""
    found: dict[str, Operator] = {}
    if "/" in table:
        found["inv"] = INVERSE
    if "square" in table:
        found["sqrt"] = ROOT
    for row in table.values():
        if row.arity == 1 and row.inverses and row.inverses[0] and row.name not in ("id", "neg", "abs"):
            found[row.name] = row
    return list(found.values())


def _takes_up_a_factor(outer: Operator) -> bool:
    """Whether c*u(g) is u(a + b*g) for some a and b, as for exp, roots and powers: if not, as for sin, a factor
    before it would have to be known to be undone."""
    inverse = outer.inverses[0]
    assert inverse is not None  # noqa: S101 - `outers` gives only those that have one
    values = np.array([0.2, 0.4, 0.5, 0.7, 0.9])
    with np.errstate(all="ignore"):
        one, half = np.asarray(inverse(values)), np.asarray(inverse(values / 2))
    if not (np.isfinite(one).all() and np.isfinite(half).all()):
        return False
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
