"""What a bank is asked about: some rows of a table, with the columns and the operators to use.

A bank has `1 + x` and `exp(x)`, which say something of numbers around one. So columns of atoms and of galaxies, and
such targets, are divided by a power of ten here, and formulas are translated on their way in and out. Columns of about
the same size are divided by the same one, since they may be of one kind: two temperatures have a difference. Where the
table has units, columns and target may be dimensionless groups instead (`units.groups`), translated in the same way.

>>> scale_of(np.array([2e8, 3e8])), scale_of(np.array([-3.0, 40.0]))
(100000000.0, 1.0)
>>> scales_of({"T": np.array([300.0, 950.0]), "U": np.array([290.0, 400.0]), "k": np.array([0.01, 0.05])})
{'T': 1000.0, 'U': 1000.0, 'k': 0.01}
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.targets import Target, even_out
from prunesymnet.data import Dataset
from prunesymnet.data.losses import Relative
from prunesymnet.expression import Constant, Expression, Variable, evaluate
from prunesymnet.operators import Operator, select_operators
from prunesymnet.units import Groups

Array = NDArray[np.float64]

DIGITS = 6  # of a number that was rounded: tables of measurements have no more
WHOLE = 1e-6  # how far it may be from one with so many digits
TAIL = 5.0  # median deviations from the median, beyond which a row counts less: a few values near a pole would decide
ORDINARY = (0.1, 100.0)  # largest values of columns that are left as they are...
ORDINARY_TARGET = (1e-4, 1e5)  # ...and of targets, as powers of ordinary columns reach these
LEAST_SCALED = 0.7  # of others, when they are scaled, and ten times as much at most
ALIKE = 10.0  # times as large, at most, is a column of about the same size


def scale_of(values: Array, ordinary: tuple[float, float] = ORDINARY) -> float:
    """A power of ten by which the largest value is about one; 1 where it is an ordinary number already."""
    largest = float(np.abs(values).max(initial=0.0))
    if not np.isfinite(largest) or largest == 0 or ordinary[0] <= largest <= ordinary[1]:
        return 1.0
    return float(f"1e{math.floor(math.log10(largest / LEAST_SCALED))}")


def scales_of(columns: Mapping[str, Array]) -> dict[str, float]:
    """The scale of each column: its own, or that of the next larger one of about the same size. Ordinary numbers stay
    as they are, and so do numbers of about their size."""
    own = {name: scale_of(column) for name, column in columns.items()}
    largest = {name: float(np.abs(column).max(initial=0.0)) for name, column in columns.items()}
    scales = {name: scale for name, scale in own.items() if scale == 1}
    for name in sorted(own.keys() - scales.keys(), key=lambda name: (-largest[name], name)):
        near = [other for other in scales if 1 / ALIKE <= largest[other] / largest[name] <= ALIKE]
        nearest = min(near, key=lambda other: abs(math.log(largest[other] / largest[name])), default=name)
        scales[name] = scales.get(nearest, own[name])
    return {name: scales[name] for name in columns}


def _less_on_tails(y: Array) -> Array:
    """Weights that fall where the target is far out on its tails."""
    off = np.abs(y - np.median(y))
    scale = TAIL * (float(np.median(off)) or float(off.mean()) or 1.0)
    return 1 / (1 + (off / scale) ** 2)


@dataclass(frozen=True)
class Problem:
    """The rows that are scanned: the `columns` to use by name and the target `y`, each scaled, the rows' weights (of
    sum 1), and the operators to use. `data` are the same rows of the table, as they are; `scales` are those of columns
    that have one, `scale` is that of the target. With `groups`, columns and target are dimensionless groups of the
    table's. `dimensions` are those of the columns, where only nodes that are dimensionally sound are wanted."""

    columns: Mapping[str, Array]
    y: Array
    weights: Array
    operators: Mapping[str, Operator]
    data: Dataset
    scales: Mapping[str, float] = field(default_factory=dict)
    scale: float = 1.0
    groups: Groups | None = None
    dimensions: Mapping[str, float] | None = None

    @classmethod
    def of(
        cls,
        data: Dataset,
        operators: Iterable[str | Operator],
        rows: int,
        seed: int,
        *,
        groups: Groups | None = None,
        dimensions: Mapping[str, float] | None = None,
    ) -> "Problem":
        """At most `rows` rows, drawn by the seed; far out on the target's tails they count less, unless errors are
        shares of the target: then all rows are alike."""
        counts = data.search_weights
        if counts is not None and not counts.all():
            data = data.take(counts > 0)
        if groups is not None and not (told := groups.rows(data.columns)).all():
            data = data.take(told)
        if data.rows > rows:
            data = data.take(np.sort(np.random.default_rng(seed).choice(data.rows, rows, replace=False)))
        weights: Array = np.ones(data.rows) if isinstance(data.loss, Relative) else _less_on_tails(data.y)
        if data.search_weights is not None:
            weights = weights * data.search_weights
        columns, y = dict(data.columns), data.y
        if groups is not None:
            measure = groups.scale(columns)
            columns, y = groups.values(columns), y / measure
            weights = even_out(weights * (measure / np.abs(measure).max()) ** 2)  # an error of y/m is one of y times m
        scales = {name: by for name, by in scales_of(columns).items() if by != 1}
        columns = {name: column / scales[name] if name in scales else column for name, column in columns.items()}
        by, table = scale_of(y, ORDINARY_TARGET), select_operators(operators)
        return cls(columns, y / by, weights / weights.sum(), table, data, scales, by, groups, dimensions)

    @property
    def is_translated(self) -> bool:
        """Whether formulas of these columns are others than those of the table's."""
        return bool(self.scales) or self.scale != 1 or self.groups is not None

    def to_table(self, formula: Expression) -> Expression:
        """A formula of these columns as one of the table's."""
        formula = formula.substitute({name: Constant(1 / by) * Variable(name) for name, by in self.scales.items()})
        formula = formula if self.scale == 1 else Constant(self.scale) * formula
        return formula if self.groups is None else self.groups.put_back(formula)

    def from_table(self, formula: Expression) -> Expression:
        """A formula of the table's columns as one of these; with groups, it must be sound with pure numbers."""
        if self.groups is not None:
            formula = self.groups.taken_in(formula)
        formula = formula.substitute({name: Constant(by) * Variable(name) for name, by in self.scales.items()})
        return formula if self.scale == 1 else Constant(1 / self.scale) * formula

    def scaled(self, values: Array) -> Array:
        """Values of the table's target as ones of this."""
        measured = values if self.groups is None else values / self.groups.scale(self.data.columns)
        return measured / self.scale

    @cached_property
    def target(self) -> Target:
        """y itself."""
        return Target.of(self.y, self.weights, shares=isinstance(self.data.loss, Relative))

    @cached_property
    def target_in_full(self) -> Target | None:
        """y itself, where rows on its tails count as in the table; None where y is not the table's target."""
        if self.groups is not None or not np.array_equal(self.scaled(self.data.y), self.y):
            return None
        return Target.of(self.y, self.data.search_weights)

    @property
    def divides(self) -> bool:
        """Whether formulas may have quotients."""
        return bool({"/", "inv"} & set(self.operators))

    @cached_property
    def is_rounded(self) -> bool:
        """Whether the table's target has been rounded, as measurements are: then no formula but the simplest is exact
        in every row."""
        y = self.data.y[self.data.y != 0]
        scaled = y * 10.0 ** (DIGITS - 1 - np.floor(np.log10(np.abs(y))))
        few = np.abs(scaled - np.round(scaled)) < WHOLE
        whole = (y == np.round(y)) & (np.abs(y) < 10.0**DIGITS)  # has all its digits
        return bool(few.all() and not whole.all())

    @cached_property
    def nonzero_columns(self) -> dict[str, Array]:
        """The columns that have a logarithm of their size on every row."""
        return {name: column for name, column in self.columns.items() if (column != 0).all()}

    def only(self, names: Iterable[str]) -> "Problem":
        """With some of the columns."""
        return replace(self, columns={name: self.columns[name] for name in names})

    def with_columns(self, columns: Mapping[str, Array]) -> "Problem":
        """The same rows and target, and other columns, whose dimensions are not known."""
        return replace(self, columns=columns, dimensions=None)

    def has(self, formula: Expression) -> bool:
        """Whether all columns of a formula are there: of many, those that matter most are."""
        return set(formula.variables) <= set(self.columns)

    def unexplained(self, formula: Expression) -> float:
        """The share of the target's variation that a formula leaves as it stands; 1 where it is not finite."""
        values, finite = evaluate(formula, self.columns)
        if not finite.all():
            return 1.0
        with np.errstate(over="ignore"):
            left = float(self.weights @ (self.y - values) ** 2)
        variation = float(self.weights @ (self.y - self.weights @ self.y) ** 2)
        return left / variation if variation > 0 else 0.0
