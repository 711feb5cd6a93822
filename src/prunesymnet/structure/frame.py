"""The frame of a test: y as a product of powers of the columns times a smooth function of something.

`log|y| = linear(log|x|) + smooth` is least squares on any columns that stand for a smooth function. What comes out well
there is tried on y itself, with the powers rounded.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.targets import even_out
from prunesymnet.coefficients.bases import TINY
from prunesymnet.structure.quantities import Quantities, Quantity
from prunesymnet.structure.smooth import LinearPart, coefficients, effective_rows

Array = NDArray[np.float64]

KNOTS = 4  # inner ones, for all that are tried: eight coefficients
FINE_KNOTS = 12  # for the best: curves that are steep somewhere
ROWS_PER_COEFFICIENT = 2.5  # at least: fewer rows are fitted by any curve
NEXT_TO_NOTHING = 1e-20  # of the logarithm's variation: a product of powers alone explains y
CLEARLY = 10.0  # bits: one in a thousand
NEARLY_ALL = 1e-3  # of what a product of powers leaves of y: what is left is the spline's own error
MOST_LEFT = 0.25  # of y's variation: what leaves more may be chance in a wave that the rows do not follow
MUCH_LESS = 0.5  # of what is left: if a polynomial leaves no more than that, it was not noise
DEGREES = range(1, 9)  # of that polynomial
AS_GOOD = 4.0  # times what the best factor leaves: a rounded one may leave so much, and loses no more than chance
SPLINE_ERROR = 1e-4  # of what a product of powers leaves of y: by that much, curves differ in how a spline fits them
NOTHING_LEFT = 1e-6  # the same where the factor is not one that a person would write
CUT = 1e-10  # of the largest singular value: directions that a spline and the columns share
NEAR_HALF = 0.1  # of an exponent: it is meant to be a whole number or a half
CHOICES = 4  # of columns that a factor may do without
DEPENDENT = 1e-9  # determinant of whole exponents: they are of one group
SMALLEST = 1e-30  # share that is left, for its logarithm


@dataclass(frozen=True)
class FoundGroups:
    """y divided by each of the `factors`, products of powers of which the first is the simplest, depends on the
    `groups` only, but for a share `unexplained` of its variation; the next best groups leave a share `second` of what a
    product of powers alone leaves."""

    factors: tuple[Quantity, ...]
    groups: tuple[Quantity, ...]
    unexplained: float
    second: float

    @property
    def factor(self) -> Quantity:
        return self.factors[0]


@dataclass(frozen=True)
class Factored:
    """A factor by its exponents, y divided by it beside a smooth function, and the sum of squares of y that is left."""

    exponents: Array
    smooth: LinearPart
    left: float

    @property
    def is_round(self) -> bool:
        return bool((2 * self.exponents == np.round(2 * self.exponents)).all())

    @property
    def size(self) -> float:
        return float(np.abs(self.exponents).sum())


@dataclass(frozen=True)
class ProductFrame:
    """The columns that are never 0, y and the rows' weights, and the logarithm of y without a product of powers."""

    columns: Quantities
    y: Array
    weights: Array
    goal: Array
    power_law: LinearPart
    fine: int  # knots for the best

    @classmethod
    def of(
        cls, columns: Mapping[str, Array], y: Array, weights: Array, *, evenly: bool = False
    ) -> "ProductFrame | None":
        """Rows count by the square of y, as relative noise grows where y shrinks; or `evenly`. None where a product of
        powers explains y alone, or there are too few rows to tell."""
        plain = Quantities.of(columns)
        rows = (y != 0) & (weights > 0)
        if len(columns) < 2 or not plain.columns or not rows.any():
            return None
        squares = np.where(rows, weights, 0.0) if evenly else even_out(weights * (y / np.abs(y).max()) ** 2)
        with np.errstate(divide="ignore"):
            goal = np.where(rows, np.log(np.abs(y)), 0.0)
        power_law = LinearPart.of(goal, squares, [np.ones_like(y), *plain.logs])
        mean = LinearPart.of(goal, squares, [np.ones_like(y)])
        fine = min(FINE_KNOTS, int(power_law.freedom / ROWS_PER_COEFFICIENT) - coefficients(0))
        if not power_law.left > NEXT_TO_NOTHING * mean.left or fine < KNOTS:
            return None
        return cls(plain, y, weights, goal, power_law, fine)

    # On logarithms

    @property
    def knots(self) -> list[int]:
        """How many the best are tried on."""
        return sorted({min(count, self.fine) for count in (KNOTS // 2, KNOTS, 2 * KNOTS, self.fine)})

    def bits(self, left: float, tried: int, knots: int | None = None) -> float:
        """How unlikely it is that the best of so many groups leaves so little by chance, on so many knots (None: the
        fine ones)."""
        count = coefficients(self.fine if knots is None else knots)
        return chance_bits(left, self.power_law.freedom, count) - math.log2(tried)

    def ahead(self, left: float, second: float) -> float:
        """By how many bits a group is better than the next."""
        return self.power_law.freedom / 2 * math.log2(max(second, SMALLEST) / max(left, SMALLEST))

    def exponents(self, curve: Array) -> Array:
        """Of the columns, beside a smooth function with these columns [rows, columns]."""
        roots, count = self.power_law.roots, self.columns.columns
        matrix = np.column_stack([self.columns.logs.T, curve]) * roots[:, None]
        return np.asarray(np.linalg.lstsq(matrix, self.goal * roots, rcond=CUT)[0][:count])

    # On y itself

    def factored(self, curve: Array, free: Array | None) -> "list[Factored]":
        """y as a product of powers times a smooth function with these columns [rows, columns], in the ways that are as
        good: the powers rounded if y does not speak against it, and as small as can be. Powers of groups with the
        exponents `free` [groups, columns] are part of the function as well as of the product (None: no power is)."""
        found = [one for exponents in self._choices(self.exponents(curve), free) if (one := self.fit(exponents, curve))]
        enough = max(AS_GOOD * min((one.left for one in found), default=0.0), SPLINE_ERROR * self.left_by_power_law)
        good = sorted((one for one in found if one.left <= enough), key=lambda one: (not one.is_round, one.size))
        different = {tuple((one.exponents + 0.0).tolist()): one for one in reversed(good)}
        return [one for one in reversed(different.values()) if one.is_round == good[0].is_round]

    def _choices(self, found: Array, free: Array | None) -> Iterator[Array]:
        """Exponents as they come out, and without columns that the groups have; rounded, and as they are."""
        signed = (self.columns.values < 0).any(axis=1)

        def rounded(exponents: Array) -> Iterator[Array]:
            nearest = np.where(signed, np.round(exponents), np.round(2 * exponents) / 2)
            if (np.abs(exponents - nearest) < NEAR_HALF).all():
                yield nearest

        if free is not None:  # without any of the groups' columns: near zeros of y, logarithms tell little of these
            yield from rounded(np.where(free.any(axis=0), 0.0, found))
        for exponents in [found] if free is None else without_columns(found, free):
            yield from rounded(exponents)
            if not signed.any():
                yield exponents

    def fit(self, exponents: Array, curve: Array) -> Factored | None:
        """y as this product of powers times a smooth function; None where the product is not finite."""
        values = self.columns.product(exponents).values
        with np.errstate(all="ignore"):
            target, weights = self.y / values, self.weights * values**2
        if not (np.isfinite(target).all() and np.isfinite(weights).all() and weights.max() > 0):
            return None
        smooth = LinearPart.of(target, weights, [np.ones_like(target)]).with_columns(curve)
        return Factored(exponents, smooth, smooth.left * float(weights.sum()))

    def found(self, factored: "list[Factored]", groups: tuple[Quantity, ...], second: float) -> FoundGroups:
        """What is claimed."""
        factors = tuple(self.columns.product(one.exponents) for one in factored)
        return FoundGroups(factors, groups, factored[0].left / self.variation, second)

    @cached_property
    def variation(self) -> float:
        return float(self.weights @ (self.y - self.weights @ self.y / self.weights.sum()) ** 2)

    @cached_property
    def left_by_power_law(self) -> float:
        """Of y itself; no more than a constant leaves, as a fit on logarithms may be far off where y is large."""
        part = self.power_law
        with np.errstate(all="ignore"):
            fitted = self.goal - np.where(part.roots > 0, part.residual / part.roots, np.inf)
            return min(float(self.weights @ (np.abs(self.y) - np.exp(fitted)) ** 2), self.variation)

    @cached_property
    def left_by_polynomial(self) -> float:
        """Of y itself, in rows that are predicted from all others, by the best polynomial of the columns that there are
        rows for."""
        values, rows = self.columns.values, effective_rows(self.weights)
        scaled = dict(enumerate(values / np.abs(values).max(axis=1, keepdims=True)))
        part = LinearPart.of(self.y, self.weights, [np.ones_like(self.y)])
        left = part.left_out
        for degree in DEGREES:
            if comb(len(scaled) + degree, degree) * ROWS_PER_COEFFICIENT > rows:
                break
            products = [np.prod([scaled[k] for k in c], axis=0) for c in combinations_with_replacement(scaled, degree)]
            part = part.with_columns(np.array(products).T)
            left = min(left, part.left_out)
        return left * float(self.weights.sum())

    def is_complete(self, best: Factored, curve: Array, others: Array, in_logarithms: float = 1.0) -> bool:
        """Whether what is left is next to nothing, of y or of its logarithm (`in_logarithms`: as a share of what a
        product of powers leaves of that), which tells of a curve in all rows where y has many decades; or it looks like
        noise to all other variables [variables, rows] and to a polynomial, and the factor is one that a person would
        write: sums of functions of single columns are all but products of them to odd powers."""
        if best.left <= (NEARLY_ALL if best.is_round else NOTHING_LEFT) * self.left_by_power_law:
            return True
        if best.is_round and in_logarithms <= SPLINE_ERROR:
            return True
        return (
            best.is_round
            and best.left <= MOST_LEFT * self.variation
            and self.left_by_polynomial > MUCH_LESS * best.left
            and all(looks_like_noise(p, others) for p in (self.power_law.with_columns(curve), best.smooth))
        )


def without_columns(found: Array, free: Array) -> list[Array]:
    """Exponents of which as many are 0 as there are groups whose powers may be taken off: of all choices of columns
    the few that leave the smallest."""
    choices = []
    for chosen in combinations(np.flatnonzero(free.any(axis=0)), len(free)):
        part = free[:, chosen]
        if abs(np.linalg.det(part)) > DEPENDENT:
            exponents = found - np.linalg.solve(part.T, found[list(chosen)]) @ free
            exponents[list(chosen)] = 0.0
            choices.append(exponents)
    return sorted(choices, key=lambda exponents: float(np.abs(exponents).sum()))[:CHOICES]


def looks_like_noise(part: LinearPart, others: Array) -> bool:
    """Whether no other variable explains more of what is left than the best of as many would by chance."""
    left = float(part.left_by_curves(others, KNOTS).min(initial=1.0))
    return chance_bits(left, part.freedom, coefficients(KNOTS)) - math.log2(max(len(others), 1)) < CLEARLY / 2


def chance_bits(left: float, freedom: float, count: int) -> float:
    """The F-test: how unlikely it is, in bits, that so many coefficients leave no more than this share by chance of
    what has so many degrees of freedom."""
    from scipy.special import betainc

    if freedom <= count:
        return 0.0
    chance = float(betainc((freedom - count) / 2, count / 2, min(max(left, 0.0), 1.0)))
    return -math.log2(max(chance, TINY))
