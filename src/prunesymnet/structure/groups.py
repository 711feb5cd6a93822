"""Groups found from the data: is y a product of powers of the columns times a smooth function of one group of them?

For a group N, `log|y| = linear(log|x|) + smooth(log N)` is one least-squares problem with a spline, and thousands of
groups are tried at once. The right one leaves 1e-5 or less of what a product of powers alone leaves, the next 1e-2.

>>> rng = np.random.default_rng(0)
>>> x, y, z = rng.uniform(1, 3, (3, 100))
>>> found = find_group({"x": x, "y": y, "z": z}, x**3 * y / np.expm1(x * y / z), np.ones(100))
>>> print(found.group, "|", found.factor, "|", found.unexplained < 1e-4)
x*y/z | x**2*z | True

A group is claimed where an F-test says that it explains more than chance would, of as many groups as were tried; where
it is clearly better than the next; and where it is complete: what it leaves is next to nothing, or nothing that any
other group or column explains.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.targets import even_out
from prunesymnet.expression import Expression
from prunesymnet.structure.exponents import Vectors, first_vectors, neighbours
from prunesymnet.structure.quantities import Quantities
from prunesymnet.structure.smooth import LinearPart, coefficients
from prunesymnet.structure.splines import basis, knots

Array = NDArray[np.float64]

KNOTS = 4  # inner ones, for all groups: eight coefficients
FINE_KNOTS = 12  # for the best: curves that are steep somewhere
ROWS_PER_COEFFICIENT = 2.5  # at least: fewer rows are fitted by any curve
FOLLOWED = 4  # of the best groups, whose neighbours are tried next
ROUNDS = 4  # of neighbours: an exponent reaches 3 from 0 in three, and one to see that there is no better
COMPARED = 12  # of the best, on fine knots
NEXT_TO_NOTHING = 1e-20  # of the logarithm's variation: a product of powers alone explains y
CLEARLY = 10.0  # bits: one in a thousand
NEARLY_ALL = 1e-3  # of y's variation: what is left is the spline's own error, as nothing is known to be
AS_GOOD = 4.0  # times what the best factor leaves: a rounded one may leave so much, and loses no more than chance
SPLINE_ERROR = 1e-6  # of what a product of powers leaves of y: by that much, curves differ in how a spline fits them
CUT = 1e-10  # of the largest singular value: directions that a spline and the columns share
NEAR_HALF = 0.1  # of an exponent: it is meant to be a whole number or a half


@dataclass(frozen=True)
class Group:
    """y divided by the `factor`, a product of powers, depends on the `group` only, but for a share `unexplained` of its
    variation; the next best group leaves a share `second` of what a product of powers alone leaves. `bits` is by how
    much chance is ruled out, and `tried` how many groups there were. The `shown` formulas are those of the table's own
    columns, whatever their units here."""

    factor: Expression
    group: Expression
    shown_factor: Expression
    shown_group: Expression
    factor_values: Array
    group_values: Array
    unexplained: float
    second: float
    bits: float
    tried: int


def chance_bits(left: float, freedom: float, count: int) -> float:
    """The F-test: how unlikely it is, in bits, that so many coefficients leave no more than this share by chance of
    what has so many degrees of freedom."""
    from scipy.special import betainc

    if freedom <= count:
        return 0.0
    chance = float(betainc((freedom - count) / 2, count / 2, min(max(left, 0.0), 1.0)))
    return -math.log2(max(chance, 1e-300))


def find_group(
    columns: Mapping[str, Array], y: Array, weights: Array, *, units: Mapping[str, float] | None = None
) -> Group | None:
    """The group that y depends on beside a product of powers of the columns; None where none can be claimed."""
    plain = Quantities.of(columns)
    rows = (y != 0) & (weights > 0)
    if len(columns) < 2 or not plain.columns or not rows.any():
        return None
    squares = even_out(weights * (y / np.abs(y).max()) ** 2)  # relative noise grows as y shrinks
    with np.errstate(divide="ignore"):
        goal = np.where(rows, np.log(np.abs(y)), 0.0)
    power_law = LinearPart.of(goal, squares, [np.ones_like(y), *plain.logs])
    mean = LinearPart.of(goal, squares, [np.ones_like(y)])
    fine = fine_knots(power_law.freedom)
    if not power_law.left > NEXT_TO_NOTHING * mean.left or fine is None:
        return None
    found = _Search(plain, power_law, y, weights, goal, fine).best(first_vectors(plain.columns))
    if found is None or found.unexplained > NEARLY_ALL:
        wider = plain.with_differences(columns, units or {})
        if len(wider) > len(plain):
            search = _Search(wider, power_law, y, weights, goal, fine)
            others = search.best(first_of_differences(plain.columns, len(wider)))
            return min((one for one in (found, others) if one), key=lambda one: one.unexplained, default=None)
    return found


def fine_knots(freedom: float) -> int | None:
    """How many knots the best groups get for so many degrees of freedom; None if these are too few for any test."""
    fine = min(FINE_KNOTS, int(freedom / ROWS_PER_COEFFICIENT) - coefficients(0))
    return fine if fine >= KNOTS else None


def first_of_differences(columns: int, quantities: int) -> Vectors:
    """Each difference or sum alone, and with one column before or below it."""
    single = np.eye(quantities, dtype=np.int64)
    steps = np.concatenate([0 * single[:1], single[:columns], -single[:columns]])
    return np.asarray((single[columns:, None] + steps[None]).reshape(-1, quantities))


@dataclass
class _Search:
    quantities: Quantities
    power_law: LinearPart
    y: Array
    weights: Array
    goal: Array
    fine: int

    def best(self, vectors: Vectors) -> Group | None:
        """The best group that can be claimed."""
        vectors, left = self.all_near(vectors)
        order = np.argsort(left, kind="stable")[:COMPARED]
        fine = self.power_law.left_by(self.quantities.indices(vectors[order]), self.fine)
        ranked = np.argsort(fine, kind="stable")
        fine, compared = fine[ranked], vectors[order[ranked]]
        bits = chance_bits(fine[0], self.power_law.freedom, coefficients(self.fine)) - math.log2(len(vectors))
        second = float(fine[1]) if len(fine) > 1 else 1.0
        ahead = self.power_law.freedom / 2 * math.log2(max(second, 1e-30) / max(fine[0], 1e-30))
        if bits < CLEARLY or ahead < CLEARLY:
            return None
        return self.claimed(compared[0], vectors, second, bits)

    def all_near(self, vectors: Vectors) -> tuple[Vectors, Array]:
        """Vectors, those that the best of them lead to, and what each leaves."""
        left = self.power_law.left_by(self.quantities.indices(vectors), KNOTS)
        columns = self.quantities.columns
        for _ in range(ROUNDS):
            best = vectors[np.argsort(left, kind="stable")[:FOLLOWED]]
            near = neighbours(best, columns)
            known = {vector.tobytes() for vector in vectors}
            near = near[[vector.tobytes() not in known for vector in near]]
            if not len(near):
                break
            more = self.power_law.left_by(self.quantities.indices(near), KNOTS)
            better = more.min() < left.min()
            vectors, left = np.concatenate([vectors, near]), np.concatenate([left, more])
            if not better:
                break
        return vectors, left

    def claimed(self, vector: Vectors, vectors: Vectors, second: float, bits: float) -> Group | None:
        """The group with the factor before it, if what it leaves of y is next to nothing; or if that looks like noise,
        and the factor is one that a person would write: sums of functions of single columns are all but products of
        them to odd powers."""
        index = self.quantities.indices(vector[None])[0]
        fitted = [one for exponents in self.factors(vector, index) if (one := self.fitted(exponents, index))]
        if not fitted:
            return None
        enough = max(AS_GOOD * min(one.left for one in fitted), SPLINE_ERROR * self.left_by_power_law)
        best = min((one for one in fitted if one.left <= enough), key=lambda one: (not one.is_round, one.size))
        rest = self.power_law.with_smooth(index, self.fine), best.smooth
        if best.left > NEARLY_ALL * self.left_by_power_law:
            others = vectors[(vectors != vector).any(axis=1)]
            if not best.is_round or not all(self.looks_like_noise(part, others) for part in rest):
                return None
        factor_values, *factor = self.quantities.product(best.exponents)
        group_values, *group = self.quantities.product(vector)
        formulas = factor[0], group[0], factor[1], group[1]
        share = best.left / self.variation
        return Group(*formulas, factor_values, group_values, share, second, bits, len(vectors))

    def factors(self, vector: Vectors, index: Array) -> Iterator[Array]:
        """Exponents of the factor before a smooth function of the group: as they come out, and without each of the
        group's columns, as powers of the group may be in either; rounded, and as they are."""
        part, count = self.power_law, self.quantities.columns
        curve = basis(index[None], knots(index[None], self.fine))[0]
        matrix = np.column_stack([self.quantities.logs[:count].T, curve]) * part.roots[:, None]
        found = np.linalg.lstsq(matrix, self.goal * part.roots, rcond=CUT)[0][:count]
        shifts = [found[k] / vector[k] for k in range(count) if vector[k]] if not vector[count:].any() else [0.0]
        signed = (self.quantities.values[:count] < 0).any(axis=1)
        for shift in shifts:
            exponents = found - shift * vector[:count]
            nearest = np.where(signed, np.round(exponents), np.round(2 * exponents) / 2)
            if (np.abs(exponents - nearest) < NEAR_HALF).all():
                yield nearest
            if not signed.any():
                yield exponents

    def fitted(self, exponents: Array, index: Array) -> "_Fitted | None":
        """y as a factor times a smooth function of the group; None where the factor is not finite."""
        values, _, _ = self.quantities.product(exponents)
        with np.errstate(all="ignore"):
            target, weights = self.y / values, self.weights * values**2
        if not (np.isfinite(target).all() and np.isfinite(weights).all() and weights.max() > 0):
            return None
        smooth = LinearPart.of(target, weights, [np.ones_like(target)]).with_smooth(index, self.fine)
        return _Fitted(exponents, smooth, smooth.left * float(weights.sum()))

    def looks_like_noise(self, part: LinearPart, others: Vectors) -> bool:
        """Whether no other group explains more of what is left than the best of as many would by chance."""
        left = float(part.left_by(self.quantities.indices(others), KNOTS).min(initial=1.0))
        return chance_bits(left, part.freedom, coefficients(KNOTS)) - math.log2(len(others)) < CLEARLY / 2

    @property
    def variation(self) -> float:
        return float(self.weights @ (self.y - self.weights @ self.y / self.weights.sum()) ** 2)

    @property
    def left_by_power_law(self) -> float:
        """Of y itself."""
        part = self.power_law
        with np.errstate(all="ignore"):
            fitted = self.goal - np.where(part.roots > 0, part.residual / part.roots, np.inf)
            return float(self.weights @ (np.abs(self.y) - np.exp(fitted)) ** 2)


@dataclass(frozen=True)
class _Fitted:
    """A factor by its exponents, the smooth function beside it, and the sum of squares of y that is left."""

    exponents: Array
    smooth: LinearPart
    left: float

    @property
    def is_round(self) -> bool:
        return bool((2 * self.exponents == np.round(2 * self.exponents)).all())

    @property
    def size(self) -> float:
        return float(np.abs(self.exponents).sum())
