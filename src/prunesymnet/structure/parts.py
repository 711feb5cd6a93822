"""Parts: is y a sum of a function of some columns and a function of the others, or a product of two?

`x + cos((y + z)/u)` is a sum of two parts, and each is a smaller problem than the whole. Whether the rows speak for a
sum is asked without a formula: a sum of two smooth functions against one of all columns (`surfaces`), for every way to
part the columns in two. For products the same is asked of the logarithm.

>>> rng = np.random.default_rng(0)
>>> x, y, z = rng.uniform(-2, 2, (3, 100))
>>> found = find_parts({"x": x, "y": y, "z": z}, np.exp(y) * z - np.sin(2 * x))
>>> found.first, found.rest
(('x',), ('y', 'z'))
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from prunesymnet.structure.frame import CLEARLY
from prunesymnet.structure.surfaces import Parts, Surface, fit_surface, squares_of, surface

Array = NDArray[np.float64]

MOST_ROWS = 128  # that are asked: the cost grows with their cube
FEWEST_ROWS = 24  # below, any surface goes through all of them
MOST_COLUMNS = 8  # that may be parted
LARGER = 2  # columns of the smaller part where there are many: all ways to part eight columns would be 127
FEW = 6  # columns of which all ways are asked
FITTED = 4  # ways, the most likely as they are, whose lengths are fitted
LEFT_OUT = 0.25  # of the variation, at most, is not predicted of rows that are left out: else nothing is known


@dataclass(frozen=True)
class InParts:
    """y (or its logarithm, where it is a product) is a function of the columns `first` and one of the `rest`; `curve`
    is the former on the rows, but for a constant, and is `uncertain` by a share of its variation; `precision` says how
    likely what is left of y is as a smooth function of the rest. `bits` is how strongly the rows speak for it."""

    first: tuple[str, ...]
    rest: tuple[str, ...]
    curve: Array
    uncertain: float
    precision: Array
    bits: float


def find_parts(columns: Mapping[str, Array], y: Array, check: Callable[[], None] = lambda: None) -> InParts | None:
    """The two parts that the rows speak for most; None where nothing can be claimed. `check` is called in between."""
    names = tuple(name for name, column in columns.items() if np.ptp(column) > 0)
    spread = float(np.std(y))
    if not (2 <= len(names) <= MOST_COLUMNS and len(y) >= FEWEST_ROWS and np.isfinite(spread) and spread > 0):
        return None
    table = np.array([(columns[name] - columns[name].mean()) / columns[name].std() for name in names])
    target = (y - y.mean()) / spread
    some = np.unique(np.linspace(0, len(y) - 1, min(len(y), MOST_ROWS)).astype(np.int64))
    squares, asked = squares_of(table[:, some]), target[some]
    whole = fit_surface(squares, asked, (tuple(range(len(names))),))
    if whole is None:
        return None
    ways = list(_ways(len(names)))
    best: Surface | None = None
    for parts in _promising(ways, squares, asked, whole):
        check()
        found = fit_surface(squares, asked, parts, whole)
        if found is not None and (best is None or found.likelihood > best.likelihood):
            best = found
    if best is None or float(np.mean(best.left_out**2)) > LEFT_OUT:
        return None
    bits = (best.likelihood - whole.likelihood) / math.log(2) - math.log2(len(ways))
    if bits < CLEARLY:
        return None
    one, two = (tuple(names[k] for k in part) for part in best.parts)
    on_all = surface(squares_of(table), target, best.parts, best.settings)
    rest = surface(squares_of(table), target, best.parts[1:], best.settings_of(1))
    if on_all is None or rest is None:
        return None
    curve = on_all.values(0)
    return InParts(one, two, spread * curve, on_all.variance(0) / float(np.var(curve)), rest.precision, bits)


def _promising(ways: list[Parts], squares: Array, y: Array, whole: Surface) -> list[Parts]:
    """The ways that are most likely with the lengths of the whole."""
    found = [(surface(squares, y, parts, np.append(whole.settings, 0.0)), parts) for parts in ways]
    likely = [(one.likelihood, parts) for one, parts in found if one is not None]
    return [parts for _, parts in sorted(likely, reverse=True)[:FITTED]]


def _ways(count: int) -> Iterator[Parts]:
    """To part so many columns in two, the smaller part first."""
    for size in range(1, count // 2 + 1 if count <= FEW else LARGER + 1):
        for first in combinations(range(count), size):
            if 2 * size < count or 0 in first:
                yield first, tuple(k for k in range(count) if k not in first)
