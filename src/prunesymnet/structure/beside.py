"""A group beside linear terms: is y linear in the columns, plus a smooth function of one group of them?

`y = linear(x) + smooth(N)` is one least-squares problem for each group N, as on logarithms (`groups`); so is
`y = linear(x) + x_k*smooth(N)`, where the function's columns are multiplied by those of a column.

>>> rng = np.random.default_rng(0)
>>> columns = dict(zip("xyz", rng.uniform(1, 3, (3, 100))))
>>> x, y, z = columns.values()
>>> found = find_beside(columns, 2 * z - x + np.exp(-x * y), np.full(100, 0.01))
>>> print(found.group.formula, "|", *found.coefficients, "|", found.unexplained < 1e-6)
x*y | x z | True
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.linear import elimination
from prunesymnet.structure.exponents import Vectors, first_vectors, primitive
from prunesymnet.structure.frame import (
    CLEARLY,
    FINE_KNOTS,
    KNOTS,
    NEARLY_ALL,
    NEXT_TO_NOTHING,
    ROWS_PER_COEFFICIENT,
    SMALLEST,
    SPLINE_ERROR,
    chance_bits,
    looks_like_noise,
)
from prunesymnet.structure.groups import COMPARED, first_of_differences, with_better_neighbours
from prunesymnet.structure.quantities import Quantities, Quantity
from prunesymnet.structure.smooth import AT_A_TIME, LinearPart, coefficients
from prunesymnet.structure.splines import basis, knots

Array = NDArray[np.float64]

LEFT_OUT = 0.1  # of what linear terms leave: of rows that are predicted from the others, as a few far out fit any curve
OWN = 1e-4  # of a column: what a function of the group leaves of it, at least, if it is a term of its own
MOST_COLUMNS = 8  # of the table: beside as many linear terms, a hundred rows show no curve


@dataclass(frozen=True)
class Beside:
    """y without the columns times their `coefficients`, divided by the `factor`, depends on the `group` only, but for
    a share `unexplained` of its variation; the next best group leaves a share `second` of what the columns leave."""

    coefficients: Mapping[str, float]
    factor: Quantity
    group: Quantity
    unexplained: float
    second: float


@dataclass(frozen=True)
class _Group:
    """By its exponents, with the column that its function is multiplied by (None: none), and the share it leaves."""

    vector: Vectors
    factor: int | None
    left: float


def find_beside(
    columns: Mapping[str, Array],
    y: Array,
    weights: Array,
    units: Mapping[str, float] | None = None,
    check: Callable[[], None] = lambda: None,
) -> Beside | None:
    """The group that y depends on beside linear terms; None where none can be claimed."""
    plain = Quantities.of(columns)
    if not (2 <= len(columns) <= MOST_COLUMNS and plain.columns):
        return None
    with np.errstate(all="ignore"):
        ones = np.ones_like(y)
        linear, mean = (LinearPart.of(y, weights, part) for part in ([ones, *columns.values()], [ones]))
        fine = min(FINE_KNOTS, int(linear.freedom / ROWS_PER_COEFFICIENT) - coefficients(0))
        if not linear.left > NEXT_TO_NOTHING * mean.left or fine < KNOTS:
            return None
        frame = _Frame(linear, plain, fine)
        found = frame.claim(list(frame.tried(check)), columns, y, weights, mean.left)
        wider = plain.with_differences(columns, units or {})
        if found is not None or len(wider) == len(plain):
            return found
        frame = _Frame(linear, wider, fine)
        tried = list(frame.followed(first_of_differences(plain.columns, len(wider)), None))
        return frame.claim(tried, columns, y, weights, mean.left)


@dataclass(frozen=True)
class _Frame:
    """What linear terms leave of y, and what groups are made of."""

    linear: LinearPart
    quantities: Quantities
    fine: int

    def tried(self, check: Callable[[], None]) -> "Iterator[_Group]":
        """All groups that are tried, alone and times each of the columns."""
        count = self.quantities.columns
        for factor in (None, *range(count)):
            check()
            yield from self.followed(first_vectors(count) if factor is None else primitive(count, 1), factor)

    def followed(self, vectors: Vectors, factor: int | None) -> "Iterator[_Group]":
        """These groups, and those that the best of them lead to."""
        vectors, left = with_better_neighbours(
            vectors, self.quantities.columns, lambda some: self.left(some, factor, KNOTS)
        )
        for vector, share in zip(vectors, left.tolist(), strict=True):
            yield _Group(vector, factor, share)

    def left(self, vectors: Vectors, factor: int | None, count: int) -> Array:
        """The share of what linear terms leave that each group leaves."""
        return np.concatenate([
            self.linear.left_by_columns(self.curves(vectors[k : k + AT_A_TIME], factor, count))
            for k in range(0, len(vectors), AT_A_TIME)
        ])  # fmt: skip

    def curves(self, vectors: Vectors, factor: int | None, count: int) -> Array:
        """The columns [vectors, rows, columns] of a smooth function of each group."""
        indices = self.quantities.indices(vectors)
        made = basis(indices, knots(indices, count))
        return made if factor is None else made * self.quantities.values[factor][:, None]

    def claim(
        self, tried: list[_Group], columns: Mapping[str, Array], y: Array, weights: Array, variation: float
    ) -> Beside | None:
        """The best group, if it can be claimed."""
        best = sorted(tried, key=lambda one: one.left)[:COMPARED]
        again = [_Group(g.vector, g.factor, float(self.left(g.vector[None], g.factor, self.fine)[0])) for g in best]
        first, *others = sorted(again, key=lambda one: one.left)
        second = min((one.left for one in others if (one.vector != first.vector).any()), default=1.0)
        freedom, count = self.linear.freedom, coefficients(self.fine) + (2 if first.factor is not None else 0)
        bits = chance_bits(first.left, freedom, count) - math.log2(len(tried))
        ahead = freedom / 2 * math.log2(max(second, SMALLEST) / max(first.left, SMALLEST))
        if min(bits, ahead) < CLEARLY or self.is_of_one_column(first):
            return None
        curve = self.curves(first.vector[None], first.factor, self.fine)[0]
        part = self.linear.with_columns(curve)
        if part.left_out > LEFT_OUT * self.linear.left_out:
            return None
        vectors = np.array([one.vector for one in tried if one.factor is None and (one.vector != first.vector).any()])
        if first.left > NEARLY_ALL and not looks_like_noise(part, self.quantities.indices(vectors)):
            return None
        terms = linear_terms(columns, y, weights, curve)
        factor = np.zeros(len(self.quantities)) if first.factor is None else np.eye(len(self.quantities))[first.factor]
        return Beside(
            terms,
            self.quantities.product(factor),
            self.quantities.product(first.vector),
            part.left / variation,
            second,
        )

    def is_of_one_column(self, group: _Group) -> bool:
        """Whether its function is one of a single column: a sum of such functions has no group."""
        columns: set[int] = set(np.flatnonzero(group.vector).tolist())
        columns |= set() if group.factor is None else {group.factor}
        return len(columns) == 1 and max(columns) < self.quantities.columns


def linear_terms(columns: Mapping[str, Array], y: Array, weights: Array, curve: Array) -> dict[str, float]:
    """The columns that y is linear in beside a smooth function with these columns [rows, columns]; those are left out
    that the rows do not ask for."""
    part = LinearPart.of(y, weights, [np.ones_like(y)]).with_columns(curve)
    every = np.array([*columns.values()]) * part.roots
    terms = every - (every @ part.columns) @ part.columns.T
    sizes = (np.einsum("kn,kn->k", values, values) for values in (terms, every))
    own = np.divide(*sizes) > OWN  # the others are functions of the group
    names = [name for name, is_own in zip(columns, own.tolist(), strict=True) if is_own]
    steps = list(elimination(terms[own], part.residual, len(y)))
    best = min(steps, key=lambda step: step.length, default=None)
    if best is None:
        return {}
    # Below that, terms only make up for the error of the spline.
    enough = max(best.error, SPLINE_ERROR * part.left)
    fewest = min((step for step in steps if step.error <= enough), key=lambda step: len(step.kept))
    return {names[k]: float(value) for k, value in fewest.kept}
