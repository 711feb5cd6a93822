"""Columns that enter as powers: y is a product of powers of some columns times a function of the others.

`K*A*(h - g)/L` is `K*A/L` times a function of h and g. To see that, nothing need be known of the function. A surface

    y = exp(linear in log(x) + quadratic + cubes)

is fitted to y itself, so that noise is where it is in the table. A column that enters as a power has a straight line
there, and no part in the other terms. So columns whose other terms are no more than chance lose these, one after the
other. What is left of them is an exponent with its standard error, and one that is a whole number or a half within that
error is taken for it.

>>> rng = np.random.default_rng(0)
>>> K, L, h, g = rng.uniform(1, 4, (4, 200))
>>> y = K / L * (h + 3 * g**2) + 0.3 * rng.standard_normal(200)
>>> found = find_power_columns({"K": K, "L": L, "h": h, "g": g}, y, np.ones(200))
>>> [(str(one.factor.formula), [str(group.formula) for group in one.groups]) for one in found]
[('K/L', ['h', 'g'])]
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.bases import TINY
from prunesymnet.expression import Variable
from prunesymnet.structure.frame import MOST_LEFT, FoundGroups
from prunesymnet.structure.quantities import Quantities, Quantity
from prunesymnet.structure.smooth import effective_rows

Array = NDArray[np.float64]

STEPS = 30  # of Gauss and Newton: from logarithms on, ten are enough for most
HALVINGS = 8  # of a step that makes things worse
CONVERGED = 1e-5  # of what is left: a step that gains less makes no difference to a test
CHANCE = 0.01  # that terms which say nothing explain so much: those that explain less are dropped
RULED_OUT = 1e-3  # the same of exponents that were rounded: the data speak against them
MOST_TERMS = 0.75  # of the rows: with more, hardly anything is left that shows how large errors are
WITH_CUBES = 0.6  # of the rows: there are cubes as long as there are no more terms than that
OTHER_SIGN = 0.02  # of the squares of y, in rows of the rarer sign: more is no noise about zero
SURE_OF_WHOLE, SURE_OF_HALF = 0.15, 0.05  # standard errors of an exponent that is told from other such numbers
STANDARD_ERRORS, NEARLY = 3.0, 0.02  # it is so near to the number: within errors, and those of the surface
LEAST_SURE = 2  # columns that are left in once more: two that nearly enter as powers may be a difference
DEPENDENT = 1e-10  # of the largest singular value: terms that others stand for, as the square of a column of 0 and 1


def find_power_columns(
    columns: Mapping[str, Array], y: Array, weights: Array, check: Callable[[], None] = lambda: None
) -> list[FoundGroups]:
    """Products of powers that y can be divided by, each with the columns that it then depends on; of the second, the
    least sure columns are left in. None where no column is seen to enter as a power. `check` is called now and then,
    and may raise."""
    quantities = Quantities.of(columns)
    varied = {name: column for name, column in columns.items() if np.ptp(column) > 0}
    if not quantities.columns or len(varied) == 1:
        return []
    with np.errstate(all="ignore"):
        surface = Surface.of(varied, y, weights)
        while surface is not None and (fewer := surface.with_fewer_terms()) is not None:
            check()
            surface = fewer
        if surface is None or not surface.left <= MOST_LEFT * surface.variation:
            return []
        return _found(surface, quantities)


def _found(surface: "Surface", quantities: Quantities) -> list[FoundGroups]:
    exponents = surface.simple_exponents()
    least_sure = sorted(exponents, key=lambda name: surface.exponent(name)[1])[-LEAST_SURE:]
    fewer = {name: exponent for name, exponent in exponents.items() if name not in least_sure}
    found = []
    for divided in (exponents, fewer):
        left = [name for name in surface.columns if name not in divided]
        if divided and left and not surface.rules_out(divided):
            powers = [divided.get(str(column), 0.0) for column in quantities.formulas]
            groups = tuple(Quantity(surface.columns[name], Variable(name), Variable(name)) for name in left)
            unexplained = surface.left / surface.variation
            found.append(FoundGroups((quantities.product(np.array(powers)),), groups, unexplained, 1.0))
    return found


@dataclass(frozen=True)
class Surface:
    """The surface fitted to `y`, which is mostly positive, in rows with the roots of their weights: the `columns`, the
    names of those that are `curved` (that have terms of degree two), and whether these have `cubes`."""

    columns: Mapping[str, Array]
    y: Array
    roots: Array
    curved: tuple[str, ...]
    cubes: bool

    @classmethod
    def of(cls, columns: Mapping[str, Array], y: Array, weights: Array) -> "Surface | None":
        """With all its terms; None where y has both signs, or there are too few rows."""
        shares = weights / weights.sum()
        y = y if shares @ (y * np.abs(y)) > 0 else -y
        if not shares[y <= 0] @ y[y <= 0] ** 2 <= OTHER_SIGN * (shares @ y**2):
            return None
        whole = cls(columns, y, np.sqrt(shares), tuple(columns), cubes=True)
        whole = replace(whole, cubes=whole.terms.shape[1] <= WITH_CUBES * whole.rows)
        return whole if whole.terms.shape[1] <= MOST_TERMS * whole.rows else None

    @cached_property
    def rows(self) -> float:
        """How many rows count, by their weights or, where errors are shares of the values, by what these shares say."""
        shares = self.roots**2
        return max(effective_rows(shares), effective_rows(shares * self.y**2))

    @cached_property
    def freedom(self) -> float:
        return max(self.rows - float(self.terms.shape[1]), 1.0)

    @cached_property
    def variation(self) -> float:
        return float(self.roots**2 @ (self.y - self.roots**2 @ self.y) ** 2)

    # Terms

    @cached_property
    def lines(self) -> dict[str, Array]:
        """The logarithm of each column, or the column where it has none."""
        return {name: np.log(np.abs(x)) if (x != 0).all() else scaled(x) for name, x in self.columns.items()}

    @cached_property
    def _curved_terms(self) -> list[tuple[tuple[str, ...], Array]]:
        """The terms of degree two and three, each with the names of its columns."""
        u = {name: scaled(line) for name, line in self.lines.items()}
        squares = [((a, b), u[a] * u[b]) for a, b in combinations_with_replacement(self.curved, 2)]
        return squares + [((name,), u[name] ** 3) for name in self.curved if self.cubes]

    @cached_property
    def terms(self) -> Array:
        """A constant, a line for each column, and the curved terms [rows, terms]."""
        lines = [line - line.mean() for line in self.lines.values()]
        return np.array([np.ones_like(self.y), *lines, *(values for _, values in self._curved_terms)]).T

    # The fit

    @cached_property
    def coefficients(self) -> Array:
        """By least squares on y; from a fit of its logarithm on, in which rows count by the square of y."""
        above = np.maximum(self.y, 0.0)
        start = least_squares(self.terms, np.log(np.where(above > 0, above, 1.0)), self.roots * above)
        return fitted(self.terms, self.y, self.roots, start)

    @cached_property
    def values(self) -> Array:
        return np.exp(self.terms @ self.coefficients)

    @cached_property
    def left(self) -> float:
        """The mean square that is left."""
        return float(np.sum((self.roots * (self.y - self.values)) ** 2))

    @cached_property
    def covariance(self) -> Array:
        slopes = self.terms * (self.values * self.roots)[:, None]
        inverse = np.linalg.pinv(slopes.T @ slopes, rcond=DEPENDENT, hermitian=True)
        return np.asarray(inverse * self.left / self.freedom)

    # What it tells

    def with_fewer_terms(self) -> "Surface | None":
        """Without the curved terms of the column to which they matter least; None where all that are left matter."""
        begin = 1 + len(self.columns)
        if not np.isfinite(self.left) or not self.left > 0:
            return None
        chances = {}
        for name in self.curved:
            own = [begin + k for k, (names, _) in enumerate(self._curved_terms) if name in names]
            part, errors = self.coefficients[own], self.covariance[np.ix_(own, own)]
            explained = float(part @ np.linalg.pinv(errors, rcond=DEPENDENT, hermitian=True) @ part)
            chances[name] = chance_of(explained, len(own), self.freedom)
        least = max(chances, key=lambda name: chances[name], default=None)
        if least is None or chances[least] < CHANCE:
            return None
        return replace(self, curved=tuple(name for name in self.curved if name != least))

    def exponent(self, name: str) -> tuple[float, float]:
        """Of a column, and its standard error."""
        place = 1 + list(self.columns).index(name)
        return float(self.coefficients[place]), float(np.sqrt(self.covariance[place, place]))

    def simple_exponents(self) -> dict[str, float]:
        """Of the columns that enter as powers, those that are whole numbers or halves."""
        simple = {}
        for name, column in self.columns.items():
            if name in self.curved or not (column != 0).all():
                continue
            value, error = self.exponent(name)
            for nearest, sure in ((round(value), SURE_OF_WHOLE), (round(2 * value) / 2, SURE_OF_HALF)):
                near = abs(value - nearest) <= STANDARD_ERRORS * error + NEARLY
                defined = (column > 0).all() or nearest == round(nearest)
                if nearest and near and error <= sure and defined:
                    simple[name] = float(nearest)
                    break
        return simple

    def rules_out(self, exponents: Mapping[str, float]) -> bool:
        """Whether y speaks against these exponents, together."""
        places = [1 + list(self.columns).index(name) for name in exponents]
        off = self.coefficients[places] - np.array([*exponents.values()])
        off = np.sign(off) * np.maximum(np.abs(off) - NEARLY, 0.0)
        errors = self.covariance[np.ix_(places, places)]
        explained = float(off @ np.linalg.pinv(errors, rcond=DEPENDENT, hermitian=True) @ off)
        return chance_of(explained, len(places), self.freedom) < RULED_OUT


def scaled(values: Array) -> Array:
    """From -1 to 1."""
    middle, half = (values.max() + values.min()) / 2, np.ptp(values) / 2
    return np.asarray((values - middle) / (half or 1.0))


def chance_of(explained: float, terms: int, freedom: float) -> float:
    """The F-test: how likely terms that say nothing explain so much, in units of one error's square."""
    from scipy.special import betainc

    return float(betainc(freedom / 2, terms / 2, freedom / (freedom + max(explained, TINY))))


def least_squares(terms: Array, goal: Array, roots: Array) -> Array:
    return np.asarray(np.linalg.lstsq(terms * roots[:, None], goal * roots, rcond=DEPENDENT)[0])


def fitted(terms: Array, y: Array, roots: Array, start: Array) -> Array:
    """The coefficients by which the exponential of a sum of the terms is nearest to y: steps of Gauss and Newton, each
    a regression, halved until they make things better."""

    def left_by(coefficients: Array) -> tuple[float, Array]:
        values = np.exp(terms @ coefficients)
        return float(np.sum((roots * (y - values)) ** 2)), values

    best = start
    left, values = left_by(best)
    for _ in range(STEPS):
        step = least_squares(terms * values[:, None], y - values, roots)
        for _ in range(HALVINGS):
            after, there = left_by(best + step)
            if after < left:
                break
            step = step / 2
        else:
            return best
        gained, best, left, values = left - after, best + step, after, there
        if gained < CONVERGED * after:
            return best
    return best
