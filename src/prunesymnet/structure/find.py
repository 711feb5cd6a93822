"""What can be found of a table's structure, the simplest first."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from prunesymnet.structure.exponents import first_vectors
from prunesymnet.structure.frame import Found, ProductFrame
from prunesymnet.structure.groups import Tried, find_group
from prunesymnet.structure.sums import find_sum
from prunesymnet.structure.two_groups import find_two_groups

Array = NDArray[np.float64]


def find_structure(
    columns: Mapping[str, Array], y: Array, weights: Array, units: Mapping[str, float] | None = None
) -> Found | None:
    """The groups that y depends on beside a product of powers of the columns, fewer than there are columns; None where
    none can be claimed. `units` are what the columns have been divided by."""
    units = units or {}
    with np.errstate(all="ignore"):
        frame = ProductFrame.of(columns, y, weights)
        if frame is None:
            return None
        tried = Tried.of(frame, frame.columns, first_vectors(frame.columns.columns))
        found = find_group(tried, columns, units) or find_sum(frame, columns, units)
        return found or find_two_groups(tried)
