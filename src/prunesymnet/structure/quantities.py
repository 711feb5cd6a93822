"""What groups are made of: columns, and differences and sums of two of them; and the values of many groups at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.monomials import quotient_of_powers
from prunesymnet.expression import Constant, Expression, Variable
from prunesymnet.structure.exponents import Vectors

Array = NDArray[np.float64]

COMPARABLE = 1e3  # times the unit of a column: what has another beyond that is nothing beside it, or all there is
LARGEST_LOG = 600.0  # of a group in units of its median: beyond lie no floats


def ratio_of_units(one: float, two: float) -> float:
    """With what the values of one column are multiplied before those of another are added: by the ratio of their units,
    as the table has them, or not at all where their sizes are far apart. Then they are not numbers of the same thing.

    >>> ratio_of_units(1e3, 1e2), ratio_of_units(1e3, 1e-20)
    (10.0, 1.0)
    """
    ratio = one / two
    return ratio if 1 / COMPARABLE <= ratio <= COMPARABLE else 1.0


@dataclass(frozen=True)
class Quantity:
    """Something made of the columns: its values, its formula, and its formula in the table's own columns, whatever
    their units here."""

    values: Array
    formula: Expression
    shown: Expression


@dataclass(frozen=True)
class Quantities:
    """Formulas with their values [quantities, rows], none of them 0; the first ones are columns. `shown` are the
    formulas in the table's own columns, which may have been divided by units here."""

    formulas: tuple[Expression, ...]
    shown: tuple[Expression, ...]
    values: Array
    columns: int

    @classmethod
    def of(cls, columns: Mapping[str, Array]) -> "Quantities":
        """The columns that are never 0."""
        kept = {name: column for name, column in columns.items() if (column != 0).all() and np.ptp(column) > 0}
        rows = len(next(iter(columns.values()), np.zeros(0)))
        values = np.array([*kept.values()]) if kept else np.zeros((0, rows))
        names = tuple(map(Variable, kept))
        return cls(names, names, values, len(kept))

    def with_differences(self, columns: Mapping[str, Array], units: Mapping[str, float]) -> "Quantities":
        """With the differences and sums of any two columns, as the table has them, or of about equal size where they
        are far apart there; `units` are what the columns have been divided by."""
        formulas, shown, values = [*self.formulas], [*self.shown], [*self.values]
        for (one, first), (two, second) in combinations(columns.items(), 2):
            ratio = ratio_of_units(units.get(one, 1.0), units.get(two, 1.0))
            in_table = units.get(one, 1.0) / units.get(two, 1.0) / ratio
            for sign in (-1, 1):
                made = ratio * first + sign * second
                if (made != 0).all() and np.ptp(made) > 0:
                    for known, left, right in (
                        (formulas, times(ratio, one), Variable(two)),
                        (shown, Variable(one), times(in_table, two)),
                    ):
                        known.append(left + right if sign > 0 else left - right)
                    values.append(made)
        return Quantities(tuple(formulas), tuple(shown), np.array(values), self.columns)

    def __len__(self) -> int:
        return len(self.formulas)

    @property
    def logs(self) -> Array:
        return np.log(np.abs(self.values))

    def indices(self, vectors: Vectors) -> Array:
        """For each vector of exponents the variable [vectors, rows] that a smooth function of the group is one of."""
        negative = ((np.abs(vectors) % 2) @ (self.values < 0)) % 2 == 1
        return even_index(vectors @ self.logs, negative)

    def product(self, exponents: Array | Vectors) -> Quantity:
        """The quantities to these powers (the first ones, if there are fewer powers than quantities)."""
        parts = [(k, float(exponent)) for k, exponent in enumerate(exponents) if exponent]
        with np.errstate(all="ignore"):
            values = np.prod([np.power(self.values[k], exponent) for k, exponent in parts], axis=0)
        made = [[(formulas[k], exponent) for k, exponent in parts] for formulas in (self.formulas, self.shown)]
        return Quantity(
            np.broadcast_to(values, self.values.shape[1:]), quotient_of_powers(made[0]), quotient_of_powers(made[1])
        )


def times(factor: float, name: str) -> Expression:
    return Variable(name) if factor == 1 else Constant(factor) * Variable(name)


def even_index(logs: Array, negative: NDArray[np.bool_]) -> Array:
    """The variables [variables, rows] of quantities by the logarithms of their sizes, and where they are negative: the
    logarithm itself, or (where the sign changes) what is as even on both sides of zero."""
    signed = negative.any(axis=1) & ~negative.all(axis=1)
    if not signed.any():
        return logs
    logs = logs.copy()
    size = np.exp(np.clip(logs[signed] - np.median(logs[signed], axis=1, keepdims=True), -LARGEST_LOG, LARGEST_LOG))
    logs[signed] = np.arcsinh(np.where(negative[signed], -size, size))
    return logs
