"""Two groups at once: y is a product of powers times a smooth function of two groups.

The function is a sum of smooth functions of the first group times powers of the second, 1, N2 and N2**2: few enough
coefficients for a hundred rows, and as good as any smooth function where the second group goes over a decade or less.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.bases import TINY
from prunesymnet.structure.exponents import Vectors, primitive
from prunesymnet.structure.frame import AS_GOOD, CLEARLY, FINE_KNOTS, KNOTS, Factored, FoundGroups, ProductFrame
from prunesymnet.structure.groups import Tried
from prunesymnet.structure.quantities import Quantities
from prunesymnet.structure.smooth import curve_of, effective_rows
from prunesymnet.structure.splines import BEYOND_KNOTS

Array = NDArray[np.float64]

FIRST = 6  # of the best groups as the first
FITTED = 8  # pairs that are fitted on y itself, where waves show that logarithms do not
ALIKE = 3  # of these that are functions of each other: which is a polynomial in its second group is not known
DEGREE = 2  # of the second group
SHARE_OF_ROWS = 1 / 3  # for the coefficients
LEFT_OUT = 1e-2  # of what a product of powers leaves: of rows that are predicted from the others


@dataclass(frozen=True)
class _Pair:
    one: Vectors
    two: Vectors
    factored: list[Factored]
    left_out: float  # the sum of squares of y when each row is predicted from the others

    @property
    def groups(self) -> tuple[Vectors, Vectors]:
        return self.one, self.two

    @property
    def size(self) -> int:
        return int(np.abs(self.one).sum() + np.abs(self.two).sum())


def find_two_groups(tried: Tried) -> FoundGroups | None:
    """The two groups that y depends on beside a product of powers, where one of the groups that were tried is among
    them; None where none can be claimed."""
    frame, quantities = tried.frame, tried.quantities
    if quantities.columns < 3 or frame.bits(float(tried.left.min()), len(tried.left), KNOTS) < CLEARLY:
        return None  # two groups of two columns are no fewer; and the first must say something alone
    fitted = (pair for one, two in _candidates(tried) for pair in _fitted(frame, quantities, one, two))
    pairs = sorted(fitted, key=lambda pair: pair.left_out)
    if not pairs or pairs[0].left_out > LEFT_OUT * frame.left_by_power_law:
        return None
    best = pairs[0].left_out
    same = [pair for pair in pairs if _same(pair.groups, pairs[0].groups)]
    other = next((pair.left_out for pair in pairs if not _same(pair.groups, pairs[0].groups)), frame.left_by_power_law)
    if frame.ahead(best, other) < CLEARLY:
        return None
    chosen = min((pair for pair in same if pair.left_out <= AS_GOOD * best), key=lambda pair: pair.size)
    groups = tuple(quantities.product(vector) for vector in (chosen.one, chosen.two))
    return frame.found(chosen.factored, groups, other / frame.left_by_power_law)


def _candidates(tried: Tried) -> list[tuple[Vectors, Vectors]]:
    """Of the best groups with any second group beside them, those that leave least on logarithms; few that are
    functions of each other."""
    frame, quantities = tried.frame, tried.quantities
    seconds = primitive(quantities.columns, 1, 2)
    indices = quantities.indices(seconds)
    indices = (indices - indices.mean(axis=1, keepdims=True)) / np.maximum(np.std(indices, axis=1, keepdims=True), TINY)
    found: list[tuple[float, Vectors, Vectors]] = []
    for one in tried.best(FIRST):
        curve = curve_of(quantities.indices(one[None])[0], KNOTS)
        part = frame.power_law.with_columns(curve)
        left = part.left * part.left_by_columns(curve[None] * indices[:, :, None])
        found += [(float(left[k]), one, seconds[k]) for k in range(len(seconds)) if not _dependent(one, seconds[k])]
    found.sort(key=lambda entry: entry[0])
    kept: list[tuple[Vectors, Vectors]] = []
    for _, one, two in found:
        if sum(_same((one, two), other) for other in kept) < ALIKE:
            kept.append((one, two))
        if len(kept) == FITTED:
            break
    return kept


def _fitted(frame: ProductFrame, quantities: Quantities, one: Vectors, two: Vectors) -> Iterator[_Pair]:
    """y itself as a product of round powers times a smooth function of two groups, of each degree in the second."""
    index, values = quantities.indices(one[None])[0], quantities.product(two).values
    values = (values - values.mean()) / (values.std() or 1.0)
    for degree in range(1, DEGREE + 1):
        most = SHARE_OF_ROWS * effective_rows(frame.weights) / (degree + 1) - BEYOND_KNOTS
        if most < KNOTS:
            return
        curve = curve_of(index, min(int(most), FINE_KNOTS))
        tensor = np.concatenate([curve * values[:, None] ** k for k in range(degree + 1)], axis=1)
        factored = frame.factored(tensor, np.array([one, two], dtype=float))
        if factored and factored[0].is_round:
            first = factored[0]
            left_out = first.smooth.left_out * first.left / max(first.smooth.left, TINY)
            yield _Pair(one, two, factored, left_out)


def _same(first: tuple[Vectors, Vectors], second: tuple[Vectors, Vectors]) -> bool:
    """Whether a function of the one pair of groups is one of the other."""
    return int(np.linalg.matrix_rank(np.array([*first, *second]))) == len(first)


def _dependent(one: Vectors, two: Vectors) -> bool:
    return bool((one == two).all() or (one == -two).all())
