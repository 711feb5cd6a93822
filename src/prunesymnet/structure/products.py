"""A product of a function of one group and a function of another: `exp(-(x - 1)**2)/(1 + (z - 2)**2)`.

On logarithms it is a sum of two smooth functions beside a product of powers. Each of the two, with the other as it was
fitted, is then a problem of one column.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prunesymnet.structure.exponents import Vectors
from prunesymnet.structure.frame import CLEARLY, KNOTS, NEARLY_ALL, chance_bits
from prunesymnet.structure.groups import Tried
from prunesymnet.structure.quantities import Quantity
from prunesymnet.structure.smooth import coefficients, curve_of

Array = NDArray[np.float64]

FIRST = 4  # of the best groups, as one of the two
TINY = 1e-300
CUT = 1e-10  # of the largest singular value: directions that two splines and the columns share


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
        left = part.left_by(quantities.indices(apart), min(frame.fine, 2 * KNOTS))
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
    """With round powers of the columns that neither group has; None where these do not fit."""
    frame, quantities = tried.frame, tried.quantities
    first, other = (curve_of(quantities.indices(vector[None])[0], frame.fine) for vector in (one, two))
    exponents = np.where((one != 0) | (two != 0), 0.0, np.round(2 * frame.exponents(np.hstack([first, other]))) / 2)
    factor = quantities.product(exponents)
    roots = frame.power_law.roots
    goal = frame.goal - np.log(np.abs(factor.values))
    matrix = np.hstack([first, other])
    solved = np.linalg.lstsq(matrix * roots[:, None], goal * roots, rcond=CUT)[0]
    logs = first @ solved[: first.shape[1]], other @ solved[first.shape[1] :]
    fitted = np.sign(frame.y) * np.abs(factor.values) * np.exp(logs[0] + logs[1])
    left = float(frame.weights @ (frame.y - fitted) ** 2)
    if not left <= NEARLY_ALL * frame.left_by_power_law:
        return None
    groups = quantities.product(one), quantities.product(two)
    return Product(factor, groups, (np.exp(logs[0]), np.exp(logs[1])), left / frame.variation, second)
