"""A product of a function of one group and a function of another: `exp(-(x - 1)**2)/(1 + (z - 2)**2)`.

On logarithms it is a sum of two smooth functions beside a product of powers. Each of the two, with the other as it was
fitted, is then a problem of one column.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.bases import TINY
from prunesymnet.structure.exponents import Vectors
from prunesymnet.structure.frame import (
    AS_GOOD,
    CLEARLY,
    CUT,
    KNOTS,
    NEARLY_ALL,
    SPLINE_ERROR,
    ProductFrame,
    chance_bits,
    without_columns,
)
from prunesymnet.structure.groups import Tried
from prunesymnet.structure.quantities import Quantity
from prunesymnet.structure.smooth import coefficients, curve_of

Array = NDArray[np.float64]

FIRST = 4  # of the best groups, as one of the two


@dataclass(frozen=True)
class Product:
    """y divided by the `factor`, a product of powers, is a function of one of the `groups` times a function of the
    other, but for a share `unexplained` of its variation; the next best second group leaves a share `second` of what
    the first leaves. `curves` are the sizes of the two functions, as fitted."""

    factor: Quantity
    groups: tuple[Quantity, Quantity]
    curves: tuple[Array, Array]
    unexplained: float
    second: float


def find_product(tried: Tried) -> Product | None:
    """The two groups, each of columns of its own; None where none can be claimed."""
    frame, quantities = tried.frame, tried.quantities
    if not ((frame.y > 0).all() or (frame.y < 0).all()):
        return None  # one of the functions changes its sign, and logarithms do not see which
    found = []
    for one in tried.best(FIRST):
        apart = tried.vectors[~((tried.vectors != 0) & (one != 0)).any(axis=1)]
        if not len(apart):
            continue
        part = frame.power_law.with_columns(curve_of(quantities.indices(one[None])[0], frame.fine))
        left = part.left_by_curves(quantities.indices(apart), min(frame.fine, 2 * KNOTS))
        order = np.argsort(left, kind="stable")
        second = float(left[order[1]]) if len(order) > 1 else 1.0
        found.append((part.left * float(left[order[0]]), one, apart[order[0]], part, float(left[order[0]]), second))
    if not found:
        return None
    total, one, two, part, left_share, second = min(found, key=lambda entry: entry[0])
    bits = chance_bits(left_share, part.freedom, coefficients(2 * KNOTS))
    ahead = part.freedom / 2 * math.log2(second / max(left_share, TINY))
    if min(bits, ahead) < CLEARLY or total > NEARLY_ALL * frame.power_law.left:
        return None
    return _fitted(tried, one, two, second)


def _fitted(tried: Tried, one: Vectors, two: Vectors, second: float) -> Product | None:
    """With round powers of the columns, the smallest of those that fit; None where none do. A power of a group is part
    of its function as well as of the product: `(T - U)*k` is `U*k` times a function of `T/U`."""
    frame, quantities = tried.frame, tried.quantities
    curves = [curve_of(quantities.indices(vector[None])[0], frame.fine) for vector in (one, two)]
    fits = []
    for exponents in _round_powers(frame.exponents(np.hstack(curves)), np.array([one, two])):
        factor = quantities.product(exponents)
        functions = _functions(frame, factor, curves)
        fitted = np.sign(frame.y) * np.abs(factor.values) * functions[0] * functions[1]
        fits.append((float(frame.weights @ (frame.y - fitted) ** 2), factor, functions, np.abs(exponents).sum()))
    least = min((left for left, *_ in fits), default=math.inf)
    if not least <= NEARLY_ALL * frame.left_by_power_law:
        return None
    enough = max(AS_GOOD * least, SPLINE_ERROR * frame.left_by_power_law)
    left, factor, functions, _ = min((fit for fit in fits if fit[0] <= enough), key=lambda fit: fit[3])
    groups = quantities.product(one), quantities.product(two)
    return Product(factor, groups, functions, left / frame.variation, second)


def _round_powers(found: Array, groups: Array) -> list[Array]:
    """Powers of the columns as halves: without the groups' columns, and with what the groups' own powers leave of
    these."""
    without = np.where((groups != 0).any(axis=0), 0.0, found)
    return [np.round(2 * exponents) / 2 for exponents in (without, *without_columns(found, groups))]


def _functions(frame: ProductFrame, factor: Quantity, curves: list[Array]) -> tuple[Array, Array]:
    """The sizes of the two functions whose product y is, divided by the factor, as splines fit their logarithms."""
    roots = frame.power_law.roots
    goal = frame.goal - np.log(np.abs(factor.values))
    solved = np.linalg.lstsq(np.hstack(curves) * roots[:, None], goal * roots, rcond=CUT)[0]
    first, other = np.split(solved, [curves[0].shape[1]])
    return np.exp(curves[0] @ first), np.exp(curves[1] @ other)
