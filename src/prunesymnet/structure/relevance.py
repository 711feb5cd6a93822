"""Which columns matter, without a formula: those that a smooth function, or a wave, needs to predict rows.

Columns are taken one by one, each time the one with which a Gaussian process of those so far makes y most likely, as
long as that is more than the best of so many columns gives by chance. Beginning with none, the process has few numbers
to be wrong in, however many columns there are.

What is smooth depends on how numbers are looked at: a product of powers in logarithms, what has a pole where y is a
point on a circle, which goes from plus to minus infinity in one step, and where a few values are far from all others,
the order alone. Waves that are shorter than the distance between rows are no smooth functions, and are asked for apart
(`waves`).

>>> rng = np.random.default_rng(0)
>>> columns = {name: rng.normal(size=60) for name in "abcdef"}
>>> find_relevant(columns, columns["b"] * np.exp(columns["e"])).names
('b', 'e')
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, log

import numpy as np
from numpy.typing import NDArray

from prunesymnet.structure.surfaces import squares_of
from prunesymnet.structure.waves import find_waves

Array = NDArray[np.float64]

MOST_ROWS = 96  # a process of n rows costs n**3
# In standard deviations of a column: from waves that rows can still show to what is next to nothing beside the others.
LENGTHS = (0.4, 3.0, 30.0, 0.15, 1.0, 10.0, 100.0, 300.0)
FIRST_LENGTHS = 3  # of these, with which all columns are tried, and the best with the others
BEST = 4  # columns
PAIRED = 12  # columns, of which two may matter only together: the best of those that do not matter alone
LONGEST_FIRST = 10.0  # the same of a column that stands alone: beyond, it is a straight line
NEARER = (0.6, 1.6, 3.0)  # times its length: how that of a column moves when another comes
NOISES = 10.0 ** -np.arange(11.0)  # beside the variance of the function
JITTER = 1e-10  # the same, so that rounding leaves all eigenvalues positive
CLEARLY = 5.0  # of the logarithm of the likelihood, beyond chance: odds of a hundred to 1 that a column matters
MOST_TAKEN = 6  # columns: of more, rows that are so few say nothing
NEARLY_ALL = 1e-3  # of the variation is left: no other way to look at numbers is needed
MUCH = 0.05  # is left where columns may be missed that others show, or waves
SAYS_NOTHING = 0.9  # is left by columns that may as well be chance


@dataclass(frozen=True)
class Relevant:
    """The columns without which rows are predicted worse, and the share of the variation that is left when each row is
    predicted from the others."""

    names: tuple[str, ...] = ()
    unexplained: float = 1.0


@dataclass(frozen=True)
class _Likely:
    """The logarithm of a likelihood, and the share of the variation that is left of rows that are left out."""

    value: float
    unexplained: float


def find_relevant(
    columns: Mapping[str, Array], y: Array, check: Callable[[], None] = lambda: None, *, spare: int = 1
) -> Relevant:
    """The columns that matter, with what they explain of the rows; no more is asked once it is clear that fewer than
    `spare` of them do not."""
    rows = np.linspace(0, len(y) - 1, min(len(y), MOST_ROWS)).astype(int)
    varying = {name: column for name, column in columns.items() if np.ptp(column[rows]) > 0}
    if not varying or not np.ptp(y[rows]) > 0:
        return Relevant()
    found: list[Relevant] = []
    for table, targets in _ways(np.array([column[rows] for column in varying.values()]), y[rows]):
        taken, unexplained = _taken(squares_of(table), targets, check, len(columns) - spare + 1)
        found.append(Relevant(tuple(name for k, name in enumerate(varying) if k in taken), unexplained))
        if unexplained < NEARLY_ALL or len(taken) > len(columns) - spare:
            break
    best = min(found, key=lambda one: one.unexplained)
    if best.unexplained < MUCH or len(found[-1].names) > len(columns) - spare:
        return best if best.unexplained < MUCH else found[-1]
    waves = find_waves(varying, normal_scores(y), check)
    said = [one for one in (best, *found) if one.unexplained < SAYS_NOTHING]
    names = {name for one in said for name in one.names} | {name for wave in waves for name in wave.names}
    left = min(best.unexplained, *(wave.unexplained for wave in waves), 1.0)
    return Relevant(tuple(name for name in columns if name in names), left)


def _ways(columns: Array, y: Array) -> Iterator[tuple[Array, Array]]:
    """Columns [columns, rows] and one or two targets [rows, targets], all with a spread of 1: as they are, in
    logarithms, as a point on a circle, in order."""
    as_they_are = _standard(columns)
    yield as_they_are, _standard(y[None]).T
    if (y != 0).all() and np.ptp(np.abs(y)) > 0:
        sizes = np.array([np.log(np.abs(column)) if (column != 0).all() else column for column in columns])
        whole = np.ptp(sizes, axis=1, keepdims=True) > 0
        yield _standard(np.where(whole, sizes, columns)), _standard(np.log(np.abs(y))[None]).T
    off = y - np.median(y)
    off = off / (np.median(np.abs(off)) or np.abs(off).mean())
    # The angle of such a point is twice that of a line whose slope y is: the same at plus and at minus infinity.
    with np.errstate(over="ignore"):
        yield as_they_are, _standard(np.array([2 / (1 + off**2), 2 * off / (1 + off**2)])).T
    yield np.array([normal_scores(column) for column in columns]), normal_scores(y)[:, None]


def _standard(values: Array) -> Array:
    """Each row of values with a mean of 0 and a spread of 1."""
    largest = np.abs(values).max(axis=1, keepdims=True)
    values = values / np.where(largest > 0, largest, 1.0)
    off = values - values.mean(axis=1, keepdims=True)
    spread = off.std(axis=1, keepdims=True)
    return np.asarray(off / np.where(spread > 0, spread, 1.0))


def _taken(
    squares: Array, targets: Array, check: Callable[[], None], most: int = MOST_TAKEN
) -> tuple[dict[int, float], float]:
    """The columns that matter, at most so many, each with its length, and the share of the variation that these
    leave."""
    taken: dict[int, float] = {}
    (now,) = _likely(np.zeros((1, *squares.shape[1:])), targets)
    while len(taken) < min(len(squares), MOST_TAKEN, most):
        check()
        others = [k for k in range(len(squares)) if k not in taken]
        so_far = _covariance(squares, taken)
        lengths = LENGTHS if taken else [length for length in LENGTHS if length <= LONGEST_FIRST]
        quick, slow = lengths[:FIRST_LENGTHS], lengths[FIRST_LENGTHS:]
        ranked = _ranked(so_far, squares, targets, [((column,), length) for column in others for length in quick])
        best = list(dict.fromkeys(columns for _, columns, _ in ranked))
        ranked += _ranked(so_far, squares, targets, [(columns, length) for columns in best[:BEST] for length in slow])
        found, columns, length = max(ranked, key=lambda one: one[0].value)
        if found.value < now.value + CLEARLY + log(len(others)) and taken and now.unexplained > MUCH:
            pairs = list(combinations([column for (column,) in best[:PAIRED]], 2))
            more = _ranked(so_far, squares, targets, [(pair, length) for pair in pairs for length in quick])
            if more and more[0][0].value > now.value + CLEARLY + log(comb(len(others), 2)):
                found, columns, length = more[0]
        if found.value < now.value + CLEARLY + log(comb(len(others), len(columns))):
            break
        taken, now = {**taken, **dict.fromkeys(columns, length)}, found
        now = _nearer(taken, now, squares, targets)
    return taken, now.unexplained if taken else 1.0


def _ranked(
    so_far: Array, squares: Array, targets: Array, ways: Sequence[tuple[tuple[int, ...], float]]
) -> list[tuple[_Likely, tuple[int, ...], float]]:
    """How likely the targets are with more columns, of some length, beside those so far; the best first."""
    if not ways:
        return []
    more = np.array([so_far * _covariance(squares, dict.fromkeys(columns, length)) for columns, length in ways])
    found = [(one, *way) for one, way in zip(_likely(more, targets), ways, strict=True)]
    return sorted(found, key=lambda one: -one[0].value)


def _nearer(taken: dict[int, float], now: _Likely, squares: Array, targets: Array) -> _Likely:
    """Change the lengths of the columns, one after the other, where that makes the targets more likely."""
    for column in list(taken) if len(taken) > 1 else []:
        others = {k: length for k, length in taken.items() if k != column}
        tried = [((column,), taken[column] * factor) for factor in NEARER]
        found, _, length = _ranked(_covariance(squares, others), squares, targets, tried)[0]
        if found.value > now.value:
            taken[column], now = length, found
    return now


def _covariance(squares: Array, lengths: Mapping[int, float]) -> Array:
    exponent = np.zeros(squares.shape[1:])
    for column, length in lengths.items():
        exponent += squares[column] / length**2
    return np.asarray(np.exp(-0.5 * exponent))


def _likely(covariances: Array, targets: Array) -> list[_Likely]:
    """How likely the targets are with each covariance [ways, rows, rows] and the best noise; the scale of each target,
    and its mean, integrated out."""
    rows, count = targets.shape
    sizes, along = np.linalg.eigh(covariances)
    ones, parts = along.sum(axis=1), along.transpose(0, 2, 1) @ targets  # [ways, rows], [ways, rows, targets]
    variances = np.maximum(sizes, 0.0)[:, None] + (NOISES + JITTER)[:, None]  # [ways, noises, rows]
    total = (ones[:, None] ** 2 / variances).sum(axis=2)
    means = (ones[:, None] / variances) @ parts / total[..., None]
    squares = (1 / variances) @ parts**2 - means**2 * total[..., None]  # [ways, noises, targets]
    scales = np.maximum(squares, np.finfo(float).tiny) / (rows - 1)
    determinants = np.log(variances).sum(axis=2) + np.log(total)
    values = -0.5 * ((rows - 1) * np.log(scales).sum(axis=2) + count * determinants)
    best = values.argmax(axis=1)
    way = np.arange(len(best))
    precisions = (along / variances[way, best][:, None]) @ along.transpose(0, 2, 1)
    sums = precisions.sum(axis=2)
    diagonals = np.einsum("wnn->wn", precisions) - sums**2 / total[way, best][:, None]
    weighted = precisions @ targets - sums[..., None] * means[way, best][:, None]
    left = np.mean((weighted / diagonals[..., None]) ** 2, axis=(1, 2)) / np.mean(targets**2)
    return [_Likely(float(value), float(share)) for value, share in zip(values[way, best], left, strict=True)]


def normal_scores(values: Array) -> Array:
    """What values of a normal distribution would be at the same ranks, with a spread of 1; equal values stay equal."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    scores = ndtri((rankdata(values) - 0.5) / len(values))
    return np.asarray(scores / scores.std())
