"""What can be found of a table's structure, the simplest first."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from prunesymnet.structure.exponents import first_vectors
from prunesymnet.structure.frame import FoundGroups, ProductFrame
from prunesymnet.structure.groups import Tried, find_group
from prunesymnet.structure.products import Product, find_product
from prunesymnet.structure.smooth import effective_rows
from prunesymnet.structure.sums import find_sum
from prunesymnet.structure.two_groups import find_two_groups

Array = NDArray[np.float64]

FEW_COLUMNS = 2  # of which all short formulas are tried as they are
FEW = 0.5  # of the rows: where no more count by the square of y, all are asked alike, too


def find_structure(
    columns: Mapping[str, Array],
    y: Array,
    weights: Array,
    units: Mapping[str, float] | None = None,
    check: Callable[[], None] = lambda: None,
) -> FoundGroups | Product | None:
    """The groups that y depends on beside a product of powers of the columns, fewer than there are columns; or two that
    it is a product of functions of. None where nothing can be claimed. `units` are what the columns have been divided
    by; `check` is called now and then, and may raise."""
    units = units or {}
    with np.errstate(all="ignore"):
        frame = ProductFrame.of(columns, y, weights)
        found = None if frame is None else _found(frame, columns, units, check)
        if found is not None or (frame is not None and frame.power_law.rows > FEW * effective_rows(weights)):
            return found
        frame = ProductFrame.of(columns, y, weights, evenly=True)
        return None if frame is None else _found(frame, columns, units, check)


def find_likely_group(columns: Mapping[str, Array], y: Array, weights: Array) -> FoundGroups | None:
    """The group that y most likely depends on beside a product of powers of the columns, where none is sure: for a
    search, which can try it, and not to be told. None where there are few columns, of which a search needs none."""
    if len(columns) <= FEW_COLUMNS:
        return None
    with np.errstate(all="ignore"):
        frames = (ProductFrame.of(columns, y, weights, evenly=evenly) for evenly in (False, True))
        tried = (Tried.of(frame, frame.columns, first_vectors(frame.columns.columns)) for frame in frames if frame)
        return next((found for one in tried if (found := one.likely()) is not None), None)


def _found(
    frame: ProductFrame, columns: Mapping[str, Array], units: Mapping[str, float], check: Callable[[], None]
) -> FoundGroups | Product | None:
    check()
    tried = Tried.of(frame, frame.columns, first_vectors(frame.columns.columns))
    for look in (
        lambda: find_group(tried, columns, units),
        lambda: find_sum(frame, columns, units),
        lambda: find_two_groups(tried),
        lambda: find_product(tried),
    ):
        check()
        if (found := look()) is not None:
            return found
    return None
