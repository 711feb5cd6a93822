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
TOLD = 0.05  # of y's variation, at most, where they are told: of a surface that leaves more, too little is known
LEFT_OUT = 0.25  # of the variation, at most, is not predicted of rows that are left out: else nothing is known


@dataclass(frozen=True)
class InParts:
    """y (or its logarithm, where it is a product) is a function of the columns `first` and one of the `rest`; `curve`
    is the former on the rows, but for a constant, and is `uncertain` by a share of its variation; `precision` says how
    likely what is left of y is as a smooth function of the rest.

    `every` are the columns of all functions, where either can be parted again. These leave a share `unexplained` of y's
    variation when each row is predicted from the others, and one function of all columns `unexplained_by_one`.
    `likelihood` is its logarithm, of y (or its logarithm) in its own units on the `rows` that were asked."""

    first: tuple[str, ...]
    rest: tuple[str, ...]
    curve: Array
    uncertain: float
    precision: Array
    every: tuple[tuple[str, ...], ...]
    unexplained: float
    unexplained_by_one: float
    rows: NDArray[np.int64]
    likelihood: float
    product: bool = False


@dataclass(frozen=True)
class _Asked:
    """Some of the rows: the squared distances in the columns that vary, and y without its mean, in its spread."""

    names: tuple[str, ...]
    table: Array  # [columns, rows], all rows, each column with a mean of 0 and a spread of 1
    target: Array
    spread: float
    rows: NDArray[np.int64]
    squares: Array

    @classmethod
    def of(cls, columns: Mapping[str, Array], y: Array) -> "_Asked | None":
        """None where there is nothing to ask."""
        names = tuple(name for name, column in columns.items() if np.ptp(column) > 0)
        spread = float(np.std(y))
        if not (2 <= len(names) <= MOST_COLUMNS and len(y) >= FEWEST_ROWS and np.isfinite(spread) and spread > 0):
            return None
        table = np.array([(columns[name] - columns[name].mean()) / columns[name].std() for name in names])
        some = np.unique(np.linspace(0, len(y) - 1, min(len(y), MOST_ROWS)).astype(np.int64))
        return cls(names, table, (y - y.mean()) / spread, spread, some, squares_of(table[:, some]))

    @property
    def y(self) -> Array:
        return self.target[self.rows]

    def fit(self, parts: Parts, like: Surface | None = None) -> Surface | None:
        return fit_surface(self.squares, self.y, parts, like)

    def one_function(self) -> Surface | None:
        """Of all columns."""
        return self.fit((tuple(range(len(self.names))),))

    def unexplained(self, surface: Surface, *, product: bool) -> float:
        """The share of y's variation that is left when each row is predicted from the others; with `product`, of what
        this is the logarithm of."""
        if not product:
            return float(np.mean(surface.left_out**2))
        y = np.exp(self.spread * (self.y - self.y.max()))
        off = y * np.expm1(-self.spread * surface.left_out)
        return float(np.mean(off**2) / np.var(y))

    def likelihood(self, surface: Surface) -> float:
        """Of y in its own units: its mean is not in it."""
        return surface.likelihood - (len(self.rows) - 1) * math.log(self.spread)


def find_sum_or_product(
    columns: Mapping[str, Array], y: Array, check: Callable[[], None] = lambda: None
) -> InParts | None:
    """The parts of a sum; of a product where the rows do not speak for a sum, and y has one sign."""
    found = find_parts(columns, y, check)
    return find_parts(columns, y, check, product=True) if found is None and _has_one_sign(y) else found


def find_parts(
    columns: Mapping[str, Array], y: Array, check: Callable[[], None] = lambda: None, *, product: bool = False
) -> InParts | None:
    """The two parts that the rows speak for most; None where nothing can be claimed. `check` is called in between."""
    asked = _Asked.of(columns, np.log(np.abs(y)) if product else y)
    whole = None if asked is None else asked.one_function()
    if asked is None or whole is None:
        return None
    ways = list(_ways(len(asked.names)))
    best: Surface | None = None
    for parts in _promising(ways, asked.squares, asked.y, whole):
        check()
        found = asked.fit(parts, whole)
        if found is not None and (best is None or found.likelihood > best.likelihood):
            best = found
    if best is None or float(np.mean(best.left_out**2)) > LEFT_OUT:
        return None
    bits = (best.likelihood - whole.likelihood) / math.log(2) - math.log2(len(ways))
    return None if bits < CLEARLY else _claimed(asked, whole, best, check, product=product)


def can_be_told(
    found: InParts, columns: Mapping[str, Array], y: Array, check: Callable[[], None] = lambda: None
) -> bool:
    """Whether the parts predict y well, and the rows speak for a sum rather than for a product or any other smooth
    function of the logarithm, and for a product rather than for any smooth function of y itself: a product of which few
    factors vary much is nearly a sum."""
    if found.unexplained > TOLD or not _has_one_sign(y):
        return found.unexplained <= TOLD
    logs = np.log(np.abs(y))
    other = None if found.product else find_parts(columns, y, check, product=True)
    asked = _Asked.of(columns, y if found.product else logs)
    whole = None if asked is None else asked.one_function()
    if asked is None or whole is None:
        return True
    rival = asked.likelihood(whole) if other is None else other.likelihood
    # The density of y is that of its logarithm divided by y, for each row but the one that the mean takes.
    gained = (len(found.rows) - 1) * float(np.mean(logs[found.rows])) * (-1 if found.product else 1)
    return (found.likelihood + gained - rival) / math.log(2) >= CLEARLY


def _has_one_sign(y: Array) -> bool:
    return bool((y > 0).all() or (y < 0).all())


def _claimed(
    asked: _Asked, whole: Surface, best: Surface, check: Callable[[], None], *, product: bool
) -> InParts | None:
    every = squares_of(asked.table)
    on_all = surface(every, asked.target, best.parts, best.settings)
    rest = surface(every, asked.target, best.parts[1:], best.settings_of(1))
    if on_all is None or rest is None:
        return None
    curve, finest = on_all.values(0), _parted_further(best, asked, check)
    one, two = (tuple(asked.names[k] for k in part) for part in best.parts)
    return InParts(
        one, two, asked.spread * curve, on_all.variance(0) / float(np.var(curve)), rest.precision,
        every=tuple(tuple(asked.names[k] for k in part) for part in sorted(finest.parts)),
        unexplained=asked.unexplained(finest, product=product),
        unexplained_by_one=asked.unexplained(whole, product=product),
        rows=asked.rows,
        likelihood=asked.likelihood(finest),
        product=product,
    )  # fmt: skip


def _parted_further(found: Surface, asked: _Asked, check: Callable[[], None]) -> Surface:
    """With each function parted in two as long as the rows speak for it."""
    known = []
    for number, part in enumerate(found.parts):
        for one, two in _ways(len(part)):
            pieces = [tuple(part[k] for k in piece) for piece in (one, two)]
            parts = (*found.parts[:number], pieces[0], *found.parts[number + 1 :], pieces[1])
            settings = np.append(found.settings, found.size_of(number))
            known.append(surface(asked.squares, asked.y, parts, settings))
    likely = max((one for one in known if one is not None), key=lambda one: one.likelihood, default=None)
    check()
    finer = None if likely is None else asked.fit(likely.parts, found)
    if finer is None or (finer.likelihood - found.likelihood) / math.log(2) - math.log2(len(known)) < CLEARLY:
        return found
    return _parted_further(finer, asked, check)


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
