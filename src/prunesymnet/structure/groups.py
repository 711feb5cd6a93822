"""Groups found from the data: is y a product of powers of the columns times a smooth function of one group of them?

For a group N, `log|y| = linear(log|x|) + smooth(log N)` is one least-squares problem with a spline, and thousands of
groups are tried at once. The right one leaves 1e-5 or less of what a product of powers alone leaves, the next 1e-2.

>>> from prunesymnet.structure.exponents import first_vectors
>>> rng = np.random.default_rng(0)
>>> columns = dict(zip("xyz", rng.uniform(1, 3, (3, 100))))
>>> x, y, z = columns.values()
>>> frame = ProductFrame.of(columns, x**3 * y / np.expm1(x * y / z), np.ones(100))
>>> found = Tried.of(frame, frame.columns, first_vectors(3)).claim()
>>> print(found.groups[0].formula, "|", found.factor.formula, "|", found.unexplained < 1e-4)
x*y/z | x**2*z | True

A group is claimed where an F-test says that it explains more than chance would, of as many groups as were tried; where
it is clearly better than the next; and where it is complete: what it leaves is next to nothing, or nothing that any
other group explains.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.structure.exponents import Vectors, neighbours
from prunesymnet.structure.frame import CLEARLY, KNOTS, NEARLY_ALL, FoundGroups, ProductFrame
from prunesymnet.structure.quantities import Quantities
from prunesymnet.structure.smooth import curve_of

Array = NDArray[np.float64]

FOLLOWED = 4  # of the best groups, whose neighbours are tried next
ROUNDS = 4  # of neighbours: an exponent reaches 3 from 0 in three, and one to see that there is no better
COMPARED = 64  # of the best, on fine knots: on few, a curve that saturates is far down in a table of many decades


def find_group(tried: "Tried", columns: Mapping[str, Array], units: Mapping[str, float]) -> FoundGroups | None:
    """The group that y depends on beside a product of powers, of those that were tried or of those that have a
    difference or a sum of two columns in them; None where none can be claimed. `units` are what the columns have been
    divided by."""
    frame, plain = tried.frame, tried.quantities
    found = tried.claim()
    if found is not None and found.unexplained <= NEARLY_ALL:
        return found
    wider = plain.with_differences(columns, units)
    if len(wider) == len(plain):
        return found
    other = Tried.of(frame, wider, first_of_differences(plain.columns, len(wider))).claim()
    return min((one for one in (found, other) if one), key=lambda one: one.unexplained, default=None)


def first_of_differences(columns: int, quantities: int) -> Vectors:
    """Each difference or sum alone, and with one column before or below it."""
    single = np.eye(quantities, dtype=np.int64)
    steps = np.concatenate([0 * single[:1], single[:columns], -single[:columns]])
    return np.asarray((single[columns:, None] + steps[None]).reshape(-1, quantities))


def with_better_neighbours(
    vectors: Vectors, columns: int, left_by: Callable[[Vectors], Array]
) -> tuple[Vectors, Array]:
    """These groups and those that the best of them lead to, as long as one is better than all before; and what each
    leaves, which `left_by` says."""
    left = left_by(vectors)
    for _ in range(ROUNDS):
        near = neighbours(vectors[np.argsort(left, kind="stable")[:FOLLOWED]], columns)
        known = {vector.tobytes() for vector in vectors}
        near = near[[vector.tobytes() not in known for vector in near]]
        if not len(near):
            break
        more = left_by(near)
        better = more.min() < left.min()
        vectors, left = np.concatenate([vectors, near]), np.concatenate([left, more])
        if not better:
            break
    return vectors, left


@dataclass(frozen=True)
class Tried:
    """Groups by their exponents, and what each leaves of what a product of powers does."""

    frame: ProductFrame
    quantities: Quantities
    vectors: Vectors
    left: Array

    @classmethod
    def of(cls, frame: ProductFrame, quantities: Quantities, vectors: Vectors) -> "Tried":
        """These groups, and those that the best of them lead to."""

        def left_by(some: Vectors) -> Array:
            return frame.power_law.left_by_curves(quantities.indices(some), KNOTS)

        return cls(frame, quantities, *with_better_neighbours(vectors, quantities.columns, left_by))

    def best(self, count: int) -> Vectors:
        return self.vectors[np.argsort(self.left, kind="stable")[:count]]

    def claim(self) -> FoundGroups | None:
        """The best group, if it can be claimed on some number of knots; first on as many as tell most. Where there is
        noise, a curve on many of them follows the noise, for a wrong group as well."""
        found = (self._found(look, sure=True) for look in self.looks())
        return next((one for one in found if one is not None), None)

    def likely(self) -> FoundGroups | None:
        """The best group, if chance alone would hardly leave so little, and a person would write the factor like that;
        others may be nearly as good."""
        look = next(self.looks(), None)
        return None if look is None else self._found(look, sure=False)

    def looks(self) -> Iterator["Look"]:
        """The best groups on several numbers of knots, those that tell most first, as far as they tell anything."""
        frame, best = self.frame, self.best(COMPARED)
        indices = self.quantities.indices(best)
        looks = []
        for count in frame.knots:
            shares = frame.power_law.left_by_curves(indices, count)
            order = np.argsort(shares, kind="stable")
            bits = frame.bits(float(shares[order[0]]), len(frame.knots) * len(self.vectors), count)
            looks.append(Look(bits, count, best[order], shares[order]))
        return iter(sorted((look for look in looks if look.bits >= CLEARLY), key=lambda look: -look.bits))

    def _found(self, look: "Look", *, sure: bool) -> FoundGroups | None:
        """The first group of a look, if its factor is found; to be `sure`, if it is ahead of the next and complete."""
        frame, vector = self.frame, look.vectors[0]
        left, second = float(look.shares[0]), float(look.shares[1]) if len(look.shares) > 1 else 1.0
        if sure and frame.ahead(left, second) < CLEARLY:
            return None
        curve = curve_of(self.quantities.indices(vector[None])[0], look.knots)
        columns = self.quantities.columns
        factored = frame.factored(curve, None if vector[columns:].any() else vector[None, :columns].astype(float))
        if not factored or not (sure or factored[0].is_round):
            return None
        others = self.vectors[(self.vectors != vector).any(axis=1)]
        if sure and not frame.is_complete(factored[0], curve, self.quantities.indices(others), left):
            return None
        return frame.found(factored, (self.quantities.product(vector),), second)


class Look(NamedTuple):
    """Groups and the share that each leaves on so many knots, the best first; `bits` says how unlikely it is that the
    first leaves so little by chance."""

    bits: float
    knots: int
    vectors: Vectors
    shares: Array
