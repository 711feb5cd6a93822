"""What a bank is asked about: some rows of a table, with the columns and the operators to use."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.targets import Target
from prunesymnet.data import Dataset
from prunesymnet.expression import Expression, evaluate
from prunesymnet.operators import Operator, select_operators

Array = NDArray[np.float64]

TAIL = 5.0  # median deviations from the median, beyond which a row counts less: a few values near a pole would decide


@dataclass(frozen=True)
class Problem:
    """The rows that are scanned: the `columns` to use by name, the target `y`, the rows' weights (of sum 1), and the
    operators to use. `data` are the same rows of the table."""

    columns: Mapping[str, Array]
    y: Array
    weights: Array
    operators: Mapping[str, Operator]
    data: Dataset

    @classmethod
    def of(cls, data: Dataset, operators: Iterable[str | Operator], rows: int, seed: int) -> "Problem":
        """At most `rows` rows, drawn by the seed; far out on the target's tails they count less."""
        counts = data.search_weights
        if counts is not None and not counts.all():
            data = data.take(counts > 0)
        if data.rows > rows:
            data = data.take(np.sort(np.random.default_rng(seed).choice(data.rows, rows, replace=False)))
        off = np.abs(data.y - np.median(data.y))
        scale = TAIL * (float(np.median(off)) or float(off.mean()) or 1.0)
        weights: Array = 1 / (1 + (off / scale) ** 2)
        if data.search_weights is not None:
            weights = weights * data.search_weights
        return cls(data.columns, data.y, weights / weights.sum(), select_operators(operators), data)

    @cached_property
    def target(self) -> Target:
        """y itself."""
        return Target.of(self.y, self.weights)

    @property
    def divides(self) -> bool:
        """Whether formulas may have quotients."""
        return bool({"/", "inv"} & set(self.operators))

    @cached_property
    def nonzero_columns(self) -> dict[str, Array]:
        """The columns that have a logarithm of their size on every row."""
        return {name: column for name, column in self.columns.items() if (column != 0).all()}

    def only(self, names: Iterable[str]) -> "Problem":
        """With some of the columns."""
        return self.with_columns({name: self.columns[name] for name in names})

    def with_columns(self, columns: Mapping[str, Array]) -> "Problem":
        """The same rows and target, and other columns."""
        return replace(self, columns=columns)

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
