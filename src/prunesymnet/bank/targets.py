"""Back to front with the target: what must stand inside an operator for the formula to give y.

The paper prunes from the output to the inputs. Here the output's operator is undone on the target instead: if y is
`exp(g)/f` with f from the bank, then g is `log(y*f)`, and that is a target like any other, one level down.

>>> from prunesymnet.operators import PAPER, select_operators
>>> y = np.array([2.0, 4.0, 8.0])
>>> targets = unwrap(Target.of(y), [], select_operators(PAPER))
>>> [target.text for target in targets]
['g', '1/g', 'sqrt(g)', '1/sqrt(g)', 'exp(g)', 'log(g)', 'g**2']
>>> targets[4].values.round(3), targets[4].back(np.log(y)).round(3)
(array([0.693, 1.386, 2.079]), array([2., 4., 8.]))

A `Target` has its values and the steps of the way back to y. A row counts by what an error there does to y, (dy/dg)^2,
and rows on which g is not finite (y underflows, a pole) count nothing, for this target only.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.coefficients.bases import TINY
from prunesymnet.expression import Constant, Expression, Variable, apply, to_text
from prunesymnet.operators import Operator, select_operators

Array = NDArray[np.float64]

MOST_LEFT_OUT = 0.2  # of the rows: a target that says nothing about more of them is none
SMALL_ONES = 0.01  # of the sum of squares: rows that have so little together may be left out in any number
NEARLY_NOTHING = 0.001  # of all weight: what rows that are left out have together
ENOUGH = 0.4  # of the rows must count, as if all that count did so alike: a handful of rows is fitted by anything
FLATTEST = 0.05  # power of the weights: below it all rows count alike anyway
UNDONE = 1e-6  # relative: an operator is undone where it gives the value back to so many digits
LINE = 1e-9  # how straight two numbers of digits less than those of floats are
HOLE = Variable("g")
INVERSE, ROOT = select_operators(["inv"])["inv"], select_operators(["sqrt"])["sqrt"]


class Step(Protocol):
    """One operator that is undone: a target t becomes g, where t = up(g)."""

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

    term: Term
    divides: bool = True

    def down(self, target: Array) -> Array:
        return target / self.term.values if self.divides else target * self.term.values

    def up(self, inside: Array) -> Array:
        return inside * self.term.values if self.divides else inside / self.term.values

    def slope(self, inside: Array) -> Array:
        return np.broadcast_to(self.term.values if self.divides else 1 / self.term.values, inside.shape)

    def wrap(self, inside: Expression) -> Expression:
        return inside * self.term.expression if self.divides else inside / self.term.expression


@dataclass(frozen=True, slots=True, eq=False)
class Summand:
    """t = g + f (`taken_off`: f is taken off the target), or t = g - f."""

    term: Term
    taken_off: bool = True

    def down(self, target: Array) -> Array:
        return target - self.term.values if self.taken_off else target + self.term.values

    def up(self, inside: Array) -> Array:
        return inside + self.term.values if self.taken_off else inside - self.term.values

    def slope(self, inside: Array) -> Array:
        return np.ones_like(inside)

    def wrap(self, inside: Expression) -> Expression:
        return inside + self.term.expression if self.taken_off else inside - self.term.expression


@dataclass(frozen=True, slots=True)
class Function:
    """t = u(g), or -u(g)."""

    operator: Operator
    sign: int = 1

    def down(self, target: Array) -> Array:
        inside = np.asarray(self.inverse(self.sign * target))
        # Only where the operator gives the value back is it undone: arcsin and a root know one branch.
        off = np.abs(self.up(inside) - target)
        return np.where(off <= UNDONE * np.abs(target) + TINY, inside, np.nan)

    def inverse(self, values: Array) -> Array:
        inverse = self.operator.inverses[0]
        assert inverse is not None  # noqa: S101 - `invertible` gives only those that have one
        return np.asarray(inverse(values))

    def up(self, inside: Array) -> Array:
        return np.asarray(self.sign * self.operator.numpy(inside))

    def slope(self, inside: Array) -> Array:
        partial = self.operator.partials[0]
        return np.asarray(partial(self.operator.numpy(inside), inside) if callable(partial) else partial + 0 * inside)

    def wrap(self, inside: Expression) -> Expression:
        inside = 1 / inside if self.operator == INVERSE else apply(self.operator, inside)
        return -inside if self.sign < 0 else inside

    def takes_up_a_factor(self) -> bool:
        """Whether c*u(g) is u(a + b*g) for some a and b, as for exp, roots and powers: if not, as for sin, a factor
        before it would have to be known to be undone."""
        # Sines, roots and exponentials all have such values, and their halves.
        values = np.array([0.2, 0.4, 0.5, 0.7, 0.9])
        with np.errstate(all="ignore"):
            one, half = self.inverse(values), self.inverse(values / 2)
        if not (np.isfinite(one).all() and np.isfinite(half).all()):
            return False
        line = np.array([np.ones_like(one), one]).T
        rest = half - line @ np.linalg.lstsq(line, half, rcond=None)[0]
        return bool(np.abs(rest).max() < LINE)


@dataclass(frozen=True, slots=True)
class Offset:
    """t = g + c for a number c."""

    value: float

    def down(self, target: Array) -> Array:
        return target - self.value

    def up(self, inside: Array) -> Array:
        return inside + self.value

    def slope(self, inside: Array) -> Array:
        return np.ones_like(inside)

    def wrap(self, inside: Expression) -> Expression:
        return inside + Constant(self.value)


@dataclass(frozen=True, slots=True)
class Target:
    """Values to be explained, the weights by which an error of them counts as the error of y that it makes (0 on rows
    where they are not finite), and the steps by which they were reached from y. Where errors of y are `shares` of its
    values, weights have many decades, and yet all rows may count: each by its share of the sum of squares."""

    values: Array
    weights: Array
    steps: tuple[Step, ...] = ()
    shares: bool = False

    @classmethod
    def of(cls, y: Array, weights: Array | None = None, *, shares: bool = False) -> "Target":
        """y itself."""
        weights = np.ones(len(y)) if weights is None else weights
        return cls(y, weights / weights.sum(), shares=shares)

    @property
    def variation(self) -> float:
        """The variance of the values, by weight."""
        return float(self.weights @ (self.values - self.weights @ self.values) ** 2)

    def undo(self, *steps: Step) -> "Target | None":
        """The target one or more steps further down; None where too few rows have one, or it does not vary."""
        values, slope = self.values, np.ones_like(self.values)
        with np.errstate(all="ignore"):
            for step in steps:
                values = step.down(values)
                slope = slope * step.slope(values)
            weights = self.weights * slope * slope
        rows = np.isfinite(values) & np.isfinite(weights) & (self.weights > 0)
        if not self.says_enough(rows) or not np.ptp(values[rows]) > 0 or not weights[rows].max() > 0:
            return None
        values, weights = np.where(rows, values, 0.0), np.where(rows, weights, 0.0)
        if not self.shares or not enough_count(weights / weights.max() * values**2):
            weights = even_out(weights)
        return Target(values, weights / weights.sum(), self.steps + steps, self.shares)

    def says_enough(self, rows: NDArray[np.bool_]) -> bool:
        """Whether few of the other rows are left out, or only such as are small: noise around zero has no logarithm."""
        if np.count_nonzero(rows) >= (1 - MOST_LEFT_OUT) * len(rows):
            return True
        square = self.weights * self.values**2
        return bool(rows.sum() >= ENOUGH * len(rows) and square[~rows].sum() <= SMALL_ONES * square.sum())

    def undo_functions(self, *operators: Operator, before: tuple[Step, ...] = ()) -> "Target | None":
        """The target inside operators, the first of which is outermost and has the sign that it has on the rows; other
        steps may come before."""
        first, *others = operators
        for sign in (1, -1):
            inside = self.undo(*before, Function(first, sign), *map(Function, others))
            if inside is not None:
                return inside
        return None

    def wrap(self, inside: Expression) -> Expression:
        """The formula of y from that of the target."""
        for step in reversed(self.steps):
            inside = step.wrap(inside)
        return inside

    def back(self, inside: Array) -> Array:
        """The values of y from those of the target, [..., rows]."""
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


def unwrap(start: Target, factors: Iterable[Factor], table: Mapping[str, Operator]) -> list[Target]:
    """The targets one operator down from a target, one factor down, and one factor and one operator; the target itself
    first."""
    functions: list[tuple[Operator, ...]] = [(row,) for row in invertible(table)]
    if (INVERSE,) in functions and (ROOT,) in functions:
        functions.insert(2, (INVERSE, ROOT))  # the one power with a name of its own: lengths and gains have it
    found = [start, *(target for rows in functions if (target := start.undo_functions(*rows)) is not None)]
    inner = [rows for rows in functions if Function(rows[0]).takes_up_a_factor()]
    for factor in factors:
        divided = start.undo(factor)
        if divided is not None:
            found.append(divided)
            found += [target for rows in inner if (target := start.undo_functions(*rows, before=(factor,))) is not None]
    return found


def exponents_beside_one(start: Target, factors: Iterable[Factor], table: Mapping[str, Operator]) -> list[Target]:
    """What g must be where the target is exp(g) + 1, exp(g) - 1 or 1 - exp(g), or one divided by these; also times a
    factor: occupations, probabilities, what saturates.

    >>> from prunesymnet.operators import DEFAULT, select_operators
    >>> y = np.array([0.2, 0.4, 0.8])
    >>> targets = exponents_beside_one(Target.of(y), [], select_operators(DEFAULT))
    >>> [target.text for target in targets]
    ['-exp(g) + 1', 'exp(g) + (-1)', '1/(exp(g) + 1)', '1/(exp(g) + (-1))']
    """
    if "exp" not in table:
        return []
    outer: list[tuple[Step, ...]] = [(), (Function(INVERSE),)] if "/" in table else [()]
    before: list[tuple[Step, ...]] = [(), *((factor,) for factor in factors)]
    found = []
    for first, steps in product(before, outer):
        for offset, sign in ((1, -1), (1, 1), (-1, 1)):
            inside = start.undo(*first, *steps, Offset(offset), Function(table["exp"], sign))
            if inside is not None:
                found.append(inside)
    return found


def invertible(table: Mapping[str, Operator]) -> list[Operator]:
    """The operators of one operand that can be undone: those asked for, 1/g where there is a quotient, and the root
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


def even_out(weights: Array) -> Array:
    """Weights of sum 1: rows that hardly count are left out, as long as enough are left (noise on top of nearly nothing
    has a logarithm that is far off), and the others evened out until enough of them count."""
    rows, total = weights > 0, weights.sum()
    if weights.min() <= NEARLY_NOTHING * total:
        order = np.argsort(-weights, kind="stable")
        most = np.searchsorted(np.cumsum(weights[order]), (1 - NEARLY_NOTHING) * total) + 1
        if most >= ENOUGH * rows.sum():
            rows[order[most:]] = False
    power = 1.0
    while True:
        even: Array = np.where(rows, weights / weights.max(), 0.0) ** power * rows
        even = even / even.sum()
        if enough_count(even) or power < FLATTEST:
            return even
        power /= 2


def enough_count(weights: Array) -> bool:
    """Whether enough of the rows that have a weight count."""
    return bool(weights.sum() ** 2 >= ENOUGH * np.count_nonzero(weights) * (weights @ weights))
