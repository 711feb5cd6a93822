"""Waves of one product of powers of columns, of any frequency, for thousands of products at once.

What a wave of each frequency explains of some values is the size of their Fourier transform along the product; with the
values put into bins along it, that is one fast Fourier transform for each product.

>>> rng = np.random.default_rng(0)
>>> columns = {name: rng.uniform(1, 2, 80) for name in "abcdef"}
>>> [wave.names for wave in find_waves(columns, np.sin(90 * columns["b"] / columns["e"]))]
[('b', 'e')]
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.structure.exponents import first_vectors

Array = NDArray[np.float64]

BINS = 2048  # along a product
PER_WAVE = 4  # bins at least: fewer lose more than a fifth of the shortest wave
PADDED = 2  # times as many: frequencies between those of the bins
POWERS = (2.0, 3.0, 0.5)  # of single columns, besides the products: to a wave, these are other variables
AT_A_TIME = 256  # products: their transforms fit into a cache
CENTRAL, TAILS = 3.0, 2.0  # as for `frequencies.Grid`: rows beyond so many median deviations are left out, if far
NEAR = np.linspace(-1, 1, 41)  # steps of the grid, between which the best frequency lies
OF_A_WAVE = 4  # numbers: its frequency, its sine and cosine, and a constant
NEARLY_ALL = 0.01  # of the variation is left: no more than what the frequencies are off
MOST = 3  # waves, one after the other: each shows what the others hide
CLEARLY = 6.0  # of the logarithm of the odds, beyond what the best of so many waves explains by chance


class FoundWave(NamedTuple):
    """The columns of a wave, and the share of the variation that it leaves with the waves before it, of the rows along
    which it can be told."""

    names: tuple[str, ...]
    unexplained: float


def find_waves(columns: Mapping[str, Array], y: Array, check: Callable[[], None] = lambda: None) -> list[FoundWave]:
    """The waves that explain more of y than chance."""
    varying = {name: column for name, column in columns.items() if np.ptp(column) > 0}
    if not varying:
        return []
    exponents, values = _products(varying)
    left, unexplained, found = y - y.mean(), 1.0, list[FoundWave]()
    while len(values) and len(found) < MOST and unexplained > NEARLY_ALL:
        check()
        shares, steps = _explained(values, left)
        best = int(shares.argmax())
        rows = _central(values[best : best + 1])[0]
        step = 1 / (PADDED * float(np.ptp(values[best][rows])))
        after = _without(values[best], left, rows, float(steps[best]) * step + step * NEAR)
        share = float(after[rows] @ after[rows] / max(left[rows] @ left[rows], np.finfo(float).tiny))
        tried = len(values) * BINS / PER_WAVE * PADDED
        gained = -0.5 * (rows.sum() - OF_A_WAVE) * np.log(max(share, np.finfo(float).tiny)) - np.log(tried)
        if gained < CLEARLY:
            break
        left, unexplained = after, unexplained * share
        names = tuple(name for name, power in zip(varying, exponents[best], strict=True) if power)
        found.append(FoundWave(names, unexplained))
    return found


def _products(columns: Mapping[str, Array]) -> tuple[Array, Array]:
    """The exponents [products, columns] of products of powers, and their values [products, rows], in units of their
    medians."""
    count, single = len(columns), np.eye(len(columns))
    vectors = first_vectors(count).astype(float)
    exponents = np.concatenate([vectors, *(power * single for power in POWERS)])
    exponents = np.concatenate([exponents, -exponents])
    table = np.array(list(columns.values()))
    with np.errstate(all="ignore"):
        logs = np.log(np.abs(table / np.median(np.abs(table), axis=1, keepdims=True)))
        # A column that is 0 somewhere has no logarithm there: a large negative one is 0 again, or infinite.
        values = np.exp(exponents @ np.maximum(logs, -(np.finfo(float).max ** 0.5)))
    negative = (table < 0).astype(float)
    values = values * (1 - 2 * (((exponents % 2 == 1) @ negative) % 2))
    roots = ((exponents % 1 != 0) @ negative) > 0
    there = np.isfinite(values).all(axis=1) & (np.ptp(values, axis=1) > 0) & ~roots.any(axis=1)
    return exponents[there], values[there]


def _central(values: Array) -> NDArray[np.bool_]:
    """The rows [products, rows] along which a wave can be told: all, or without long tails."""
    off = np.abs(values - np.median(values, axis=1, keepdims=True))
    central = off <= CENTRAL * np.median(off, axis=1, keepdims=True)
    inner = np.where(central, values, -np.inf).max(axis=1) - np.where(central, values, np.inf).min(axis=1)
    long = (np.ptp(values, axis=1) > TAILS * inner) & (inner > 0)
    return np.asarray(central | ~long[:, None])


def _explained(values: Array, y: Array) -> tuple[Array, Array]:
    """What the best wave of each product explains of y, as a share, and its frequency in steps of the grid."""
    from scipy.fft import rfft

    shares, steps = np.zeros(len(values)), np.zeros(len(values))
    for start in range(0, len(values), AT_A_TIME):
        some = values[start : start + AT_A_TIME]
        rows = _central(some)
        first = np.where(rows, some, np.inf).min(axis=1, keepdims=True)
        last = np.where(rows, some, -np.inf).max(axis=1, keepdims=True)
        place = np.where(rows, (some - first) / (last - first) * (BINS - 1), 0).round().astype(np.int64)
        counts = rows.sum(axis=1, keepdims=True)
        left = np.where(rows, y - np.where(rows, y, 0.0).sum(axis=1, keepdims=True) / counts, 0.0)
        flat = (place + BINS * np.arange(len(some))[:, None]).reshape(-1)
        bins = np.bincount(flat, left.reshape(-1), len(some) * BINS).reshape(-1, BINS).astype(np.float32)
        turns = rfft(bins, PADDED * BINS)[:, : PADDED * BINS // PER_WAVE]
        size = turns.real**2 + turns.imag**2
        steps[start : start + AT_A_TIME] = size.argmax(axis=1)
        variation = np.maximum((left**2).sum(axis=1), np.finfo(float).tiny)
        shares[start : start + AT_A_TIME] = 2 * size.max(axis=1) / (counts[:, 0] * variation)
    return shares, steps


def _without(values: Array, y: Array, rows: NDArray[np.bool_], frequencies: Array) -> Array:
    """What the wave of the best of some frequencies leaves of y, on the rows along which it can be told."""
    best = None
    for frequency in 2 * np.pi * frequencies:
        columns = np.array([np.ones_like(y), np.sin(frequency * values), np.cos(frequency * values)]).T
        left = y - columns @ np.linalg.lstsq(columns[rows], y[rows], rcond=None)[0]
        if best is None or left[rows] @ left[rows] < best[rows] @ best[rows]:
            best = left
    assert best is not None  # noqa: S101 - there are frequencies
    return np.where(rows, best, y)
