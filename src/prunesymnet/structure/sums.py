"""A group that is a sum: `(x1 - x2)**2 + (y1 - y2)**2`, a distance, or `x**2 + y**2`, what rotations leave as it is.

Sums are grown term by term from the columns, their squares, their products or the squares of their differences; of
each kind several go on side by side. Whether y depends on a sum only, beside a product of powers, is tested as for any
group.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prunesymnet.expression import Constant, Expression
from prunesymnet.structure.frame import CLEARLY, KNOTS, FoundGroups, ProductFrame
from prunesymnet.structure.quantities import Quantity, even_index, times
from prunesymnet.structure.smooth import curve_of

Array = NDArray[np.float64]
Sum = tuple[tuple[int, int], ...]  # the numbers of its terms, in order, each with its sign

BEAM = 8  # sums of each kind that go on side by side
MOST_TERMS = 4  # a distance in space has three, and one more shows that there is no more
MOST_COLUMNS = 10  # of the table, for sums to be tried
COMPARED = 8  # of the best, on fine knots
TINY = float(np.finfo(np.float64).tiny)  # a sum of 0 has no logarithm


@dataclass(frozen=True)
class _Terms:
    """What is added up: values [terms, rows], formulas, formulas as they are shown, and of which kind each is."""

    values: Array
    formulas: tuple[Expression, ...]
    shown: tuple[Expression, ...]
    kinds: tuple[int, ...]

    @classmethod
    def of(cls, columns: Mapping[str, Array], size: Mapping[str, float], shown_size: Mapping[str, float]) -> "_Terms":
        """Of the columns multiplied by these sizes, which are others for the table's own."""
        here, shown = ({name: times(factors[name], name) for name in columns} for factors in (size, shown_size))
        values = _combined({name: size[name] * column for name, column in columns.items()}, 2)
        formulas, as_shown = (_combined(names, Constant(2)) for names in (here, shown))
        return cls(
            np.array([value for _, value in values]),
            tuple(formula for _, formula in formulas),
            tuple(formula for _, formula in as_shown),
            tuple(kind for kind, _ in values),
        )

    def indices(self, sums: Iterable[Sum]) -> Array:
        """The variable [sums, rows] that a smooth function of each sum is one of."""
        values = np.array([_signed(term) @ self.values[[k for k, _ in term]] for term in sums])
        return even_index(np.log(np.maximum(np.abs(values), TINY)), values < 0)

    def quantity(self, chosen: Sum) -> Quantity:
        values = _signed(chosen) @ self.values[[k for k, _ in chosen]]
        return Quantity(values, _added(self.formulas, chosen), _added(self.shown, chosen))

    def grown(self, sums: Iterable[Sum]) -> list[Sum]:
        """Each sum with one more term of its kind, added or taken away; none twice, and none with its signs turned."""
        found: dict[Sum, None] = {}
        for chosen in sums:
            known = {k for k, _ in chosen}
            for more, kind in enumerate(self.kinds):
                if kind == self.kinds[chosen[0][0]] and more not in known:
                    for sign in (1, -1):
                        terms = sorted((*chosen, (more, sign)))
                        found[tuple((k, s * terms[0][1]) for k, s in terms)] = None
        return list(found)

    def best(self, left: Mapping[Sum, float]) -> list[Sum]:
        """Of each kind the sums that leave least."""
        ranked = sorted(left, key=left.__getitem__)
        kinds = [[one for one in ranked if self.kinds[one[0][0]] == kind] for kind in sorted(set(self.kinds))]
        return [one for of_a_kind in kinds for one in of_a_kind[:BEAM]]


def find_sum(frame: ProductFrame, columns: Mapping[str, Array], units: Mapping[str, float]) -> FoundGroups | None:
    """The sum that y depends on beside a product of powers; None where none can be claimed. Columns are added as the
    table has them, and if that is nothing, as they are here, divided by `units`."""
    if not 2 <= len(columns) <= MOST_COLUMNS:
        return None
    own = {name: units.get(name, 1.0) for name in columns}
    largest, smallest, alike = max(own.values()), min(own.values()), dict.fromkeys(columns, 1.0)
    found = _sum_of(frame, _Terms.of(columns, {name: unit / largest for name, unit in own.items()}, alike))
    if found is not None or largest == smallest:
        return found
    return _sum_of(frame, _Terms.of(columns, alike, {name: smallest / unit for name, unit in own.items()}))


def _sum_of(frame: ProductFrame, terms: _Terms) -> FoundGroups | None:
    sums: list[Sum] = [((k, 1),) for k in range(len(terms.formulas))]
    known: dict[Sum, float] = {}
    for _ in range(MOST_TERMS):
        left = frame.power_law.left_by_curves(terms.indices(sums), KNOTS)
        newest = dict(zip(sums, left.tolist(), strict=True))
        before = min(known.values(), default=math.inf)
        known |= newest
        if math.isfinite(before) and frame.ahead(min(newest.values()), before) < CLEARLY:
            break
        sums = terms.grown(terms.best(newest))
        if not sums:
            break
    return _claimed(frame, terms, known)


def _claimed(frame: ProductFrame, terms: _Terms, known: Mapping[Sum, float]) -> FoundGroups | None:
    best = sorted(known, key=known.__getitem__)[:COMPARED]
    fine = frame.power_law.left_by_curves(terms.indices(best), frame.fine)
    ranked = np.argsort(fine, kind="stable")
    left, second = float(fine[ranked[0]]), float(fine[ranked[1]]) if len(fine) > 1 else 1.0
    chosen = best[ranked[0]]
    if len(chosen) < 2 or frame.bits(left, len(known)) < CLEARLY or frame.ahead(left, second) < CLEARLY:
        return None
    curve = curve_of(terms.indices([chosen])[0], frame.fine)
    factored = frame.factored(curve, None)
    others = terms.indices(one for one in known if one != chosen)
    if not factored or not frame.is_complete(factored[0], curve, others):
        return None
    return frame.found(factored, (terms.quantity(chosen),), second)


def _combined(columns: Mapping[str, Any], two: Any) -> list[tuple[int, Any]]:
    """Columns, squares, products and squared differences, values or formulas, each with the number of its kind."""
    found = [(0, column) for column in columns.values()] + [(1, column**two) for column in columns.values()]
    pairs = list(combinations(columns.values(), 2))
    return found + [(2, one * other) for one, other in pairs] + [(3, (one - other) ** two) for one, other in pairs]


def _signed(chosen: Sum) -> Array:
    return np.array([float(sign) for _, sign in chosen])


def _added(formulas: Sequence[Expression], chosen: Sum) -> Expression:
    total = formulas[chosen[0][0]]  # whose sign is positive
    for k, sign in chosen[1:]:
        total = total + formulas[k] if sign > 0 else total - formulas[k]
    return total
