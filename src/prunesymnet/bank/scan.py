"""Score every pair of nodes of a bank in many regressions at once, by dense matrix products.

A regression has a target and terms that are in its formula already. What share of the target's variation do they
explain together with `b*f_i*f_j` (or `b*f_i + c*f_j`), for every pair of nodes, each with its best coefficients? With F
the nodes' values [M, n], W the rows' weights (of sum 1), and r what the fixed terms q leave of the target (1 is always
one of them; the q are orthonormal),

    products   gain = N^2 / (P - A^2 - sum_q S_q^2),  N = (F W r)F', P = (F^2 W)F^2', A = (F W)F', S = (F W q)F'
    sums       gain = (u^2 V + v^2 U - 2 u v R) / (U V - R^2),  R = GG', u, v = G r,  G = what q leaves of the nodes

so P and A serve all regressions that weight the rows alike, and each costs one matrix product and one more for each
fixed term, a sum none. The matrices are made in blocks that fit the cache (or the memory asked for): a scan of
M^2/2 pairs needs room for a few copies of the M nodes and a few blocks. Scores in single precision find the best `keep`
pairs of each complexity; `unexplained` says in double precision what they are worth.

The blocks are dealt out to a fixed number of tasks, each with its own list of the best: the answer does not depend on
how many threads work on them, nor on which is faster.
"""

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.best import Best, Pairs, join, levels_of
from prunesymnet.bank.regression import Regression, Residual, unexplained
from prunesymnet.coefficients.bases import of_length_one

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

BLOCK = 640  # nodes along a side of a block: long enough for the matrix products, short enough for the cache
BLOCKS_PER_TASK, MOST_TASKS = 4, 64  # enough for each of many threads, few enough that joining them costs nothing
FEWEST = 48  # nodes: smaller levels of complexity share a block with the next
CANCELLED = 1e-4  # of a product's size: a variation smaller than that is lost in single precision
TINY = 1e-9  # beside the typical value: set to 0, because the square of less underflows in single precision


def scan(
    values: Array,
    complexity: Numbers,
    regressions: list[Regression],
    *,
    products: bool = True,
    keep: int = 10,
    workers: int = 1,
    memory: float = 2.0,
) -> list[Pairs]:
    """For each regression, the `keep` best pairs of each complexity; nodes must be in order of complexity."""
    groups: dict[bytes, list[int]] = {}
    for k, regression in enumerate(regressions):
        groups.setdefault(b"" if regression.weights is None else regression.weights.tobytes(), []).append(k)
    members = list(groups.values())
    slices = list(_slices(complexity, BLOCK))
    blocks = [(a, b) for i, a in enumerate(slices) for b in slices[i:]]
    # The largest first, dealt out in turn, so that the tasks take about as long.
    blocks.sort(key=lambda pair: -(pair[0].stop - pair[0].start) * (pair[1].stop - pair[1].start))
    count = min(max(len(blocks) // BLOCKS_PER_TASK, 1), MOST_TASKS)
    run = _products if products else _sums

    def prepare(group: list[int]) -> _Prepared:
        with np.errstate(all="ignore"):
            return _Prepared.of(values, [regressions[k] for k in group], products)

    def work(task: tuple[_Prepared, int]) -> list[Best]:
        with np.errstate(all="ignore"):  # a thread does not have its caller's
            return run(task[0], blocks[task[1] :: count], complexity, keep)

    # Each way to weight the rows needs four copies of the nodes: no more of them at a time than there is memory for.
    at_a_time = max(int(memory * 2**30 / (16 * max(values.size, 1))), 1)
    found: list[list[Best]] = []
    with threads(workers) as each:
        for start in range(0, len(members), at_a_time):
            ready = each(prepare, members[start : start + at_a_time])
            found += each(work, [(one, k) for one in ready for k in range(count)])
    out: dict[int, Pairs] = {}
    for g, group in enumerate(members):
        parts = found[g * count : (g + 1) * count]
        for n, k in enumerate(group):
            out[k] = join([part[n] for part in parts], keep)
    return [out[k] for k in range(len(regressions))]


_may_use_threads: ContextVar[bool] = ContextVar("may_use_threads", default=True)


@contextmanager
def one_thread() -> Iterator[None]:
    """Scans have one thread, however many they are given: where other processes have the other cores."""
    token = _may_use_threads.set(False)
    try:
        yield
    finally:
        _may_use_threads.reset(token)


@contextmanager
def threads(workers: int) -> Iterator[Callable[[Callable[[Any], Any], list[Any]], list[Any]]]:
    """A map over `workers` threads."""
    if workers == 1 or not _may_use_threads.get():
        yield lambda function, items: [function(item) for item in items]
    else:
        with ThreadPoolExecutor(workers) as pool:
            yield lambda function, items: list(pool.map(function, items))


def scan_singles(
    values: Array, complexity: Numbers, regressions: list[Regression], *, keep: int = 10
) -> list[list[tuple[int, float]]]:
    """For each regression the `keep` best nodes of each complexity, one node alone, and what it leaves unexplained. All
    regressions are three matrix products of the nodes [M, n] with as many columns, so M may be large."""
    residuals = [Residual.of(regression) for regression in regressions]
    largest = np.abs(values).max(axis=1, keepdims=True)
    nodes = _single(values / np.where(largest > 0, largest, 1.0))
    squares = nodes * nodes
    weights = np.array([residual.root**2 for residual in residuals], dtype=np.float32).T
    targets = np.array([residual.values * residual.root for residual in residuals], dtype=np.float32).T
    with np.errstate(all="ignore"):
        sizes = squares @ weights
        spread = sizes - (nodes @ weights) ** 2
        for place in range(1, max(len(residual.basis) for residual in residuals)):
            fixed = [
                residual.basis[place] * residual.root if place < len(residual.basis) else 0 * residual.root
                for residual in residuals
            ]
            spread -= (nodes @ np.array(fixed, dtype=np.float32).T) ** 2
        gains = np.where(spread > CANCELLED * sizes, (nodes @ targets) ** 2 / spread, 0.0)
    edges = [0, *(np.flatnonzero(np.diff(complexity)) + 1).tolist(), len(complexity)]
    out = []
    for k, regression in enumerate(regressions):
        gain = gains[:, k]
        best = [
            low + np.argpartition(-gain[low:high], min(keep, high - low) - 1)[:keep]
            for low, high in itertools.pairwise(edges)
        ]
        chosen = np.concatenate(best)
        left = unexplained(values[chosen][:, None], regression)
        out.append([(int(i), float(e)) for i, e in zip(chosen, left, strict=True)])
    return out


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What the blocks are made of, in single precision, for regressions that weight the rows alike."""

    products: bool
    nodes: Any  # [M, n]: of mean square 1; for sums centred and of length 1
    weighted: Any  # nodes times the weights
    squares: Any
    weighted_squares: Any
    targets: list[Any]  # [n]
    fixed: list[list[Any]]
    explained: list[float]

    @classmethod
    def of(cls, values: Array, regressions: list[Regression], products: bool) -> "_Prepared":
        residuals = [Residual.of(regression) for regression in regressions]
        root = residuals[0].root
        if products:
            # A residual is weighted by the root already, so nodes times `rest` times the root is N's left part.
            rms = np.sqrt((values * values) @ (root * root))
            nodes = values / np.where(rms > 0, rms, 1.0)[:, None]
            nodes[np.abs(nodes) < TINY] = 0.0
            weighted = nodes * (root * root)
            squares = nodes * nodes
            heavy = squares * (root * root)
            targets = [residual.values * root for residual in residuals]
            fixed = [[_single(q * root) for q in residual.basis[1:]] for residual in residuals]
        else:
            nodes = values * root
            nodes = nodes - np.outer(nodes @ root, root)
            nodes = of_length_one(nodes)[0]
            weighted = squares = heavy = np.zeros((0, 0))
            targets = [residual.values for residual in residuals]
            fixed = [[_single(q) for q in residual.basis[1:]] for residual in residuals]
        nodes, weighted, squares, heavy = (_single(part) for part in (nodes, weighted, squares, heavy))
        explained = [residual.explained for residual in residuals]
        return cls(products, nodes, weighted, squares, heavy, [_single(t) for t in targets], fixed, explained)


def _single(values: Array) -> Any:
    with np.errstate(all="ignore"):
        out = values.astype(np.float32)
    out[~np.isfinite(out)] = 0.0
    return out


def _slices(complexity: Numbers, block: int) -> Iterator[slice]:
    """Runs of nodes of one complexity (small ones joined), cut to at most `block`."""
    edges = [0, *(np.flatnonzero(np.diff(complexity)) + 1).tolist(), len(complexity)]
    start = 0
    for edge in edges[1:]:
        if edge - start < FEWEST and edge != len(complexity):
            continue
        pieces = -(-(edge - start) // block)
        cuts = [start + (edge - start) * k // pieces for k in range(pieces + 1)] if pieces else []
        for low, high in itertools.pairwise(cuts):
            yield slice(low, high)
        start = edge


_Blocks = list[tuple[slice, slice]]


def _products(ready: _Prepared, blocks: _Blocks, complexity: Numbers, keep: int) -> list[Best]:
    best = [Best(keep) for _ in ready.targets]
    levels = levels_of(blocks, complexity)
    room = _Room(blocks, 5)
    last, rows = None, []
    with np.errstate(all="ignore"):
        for a, b in sorted(blocks, key=lambda pair: (pair[0].start, pair[1].start)):
            if a != last:
                nodes, last = ready.nodes[a], a
                rows = [
                    (nodes * r, [nodes * q for q in fixed]) for r, fixed in zip(ready.targets, ready.fixed, strict=True)
                ]
            spread, least, rest, gain, work = room.of(a, b)
            right = ready.nodes[b].T
            np.matmul(ready.weighted_squares[a], ready.squares[b].T, out=spread)
            np.multiply(spread, CANCELLED, out=least)
            np.matmul(ready.weighted[a], right, out=work)
            np.multiply(work, work, out=work)
            np.subtract(spread, work, out=spread)
            np.maximum(spread, least, out=spread)
            for k, (target, fixed) in enumerate(rows):
                below = spread
                for q in fixed:
                    np.matmul(q, right, out=work)
                    np.multiply(work, work, out=work)
                    np.subtract(below, work, out=rest)
                    below = rest
                if fixed:
                    np.maximum(rest, least, out=rest)
                np.matmul(target, right, out=gain)
                np.multiply(gain, gain, out=gain)
                np.divide(gain, below, out=gain)
                if ready.explained[k]:
                    np.add(gain, ready.explained[k], out=gain)
                best[k].offer(gain, levels, a, b)
    return best


def _sums(ready: _Prepared, blocks: _Blocks, complexity: Numbers, keep: int) -> list[Best]:
    best = [Best(keep) for _ in ready.targets]
    levels = levels_of(blocks, complexity)
    room = _Room(blocks, 4)
    along = [ready.nodes @ r for r in ready.targets]
    parts = [[ready.nodes @ q for q in fixed] for fixed in ready.fixed]
    left_over: list[Any] = [np.clip(1 - sum(p * p for p in ps), CANCELLED, 1.0) if ps else None for ps in parts]
    with np.errstate(all="ignore"):
        for a, b in blocks:
            both, alike, work, below = room.of(a, b)
            np.matmul(ready.nodes[a], ready.nodes[b].T, out=both)
            for k, u in enumerate(along):
                rho = both
                for p in parts[k]:
                    np.multiply(p[a][:, None], p[b][None, :], out=work)
                    np.subtract(rho, work, out=alike)
                    rho = alike
                one: Any = 1.0
                two: Any = 1.0
                if left_over[k] is not None:
                    one, two = left_over[k][a][:, None], left_over[k][b][None, :]
                v, w = u[a][:, None], u[b][None, :]
                np.multiply(rho, -2 * v, out=work)
                np.multiply(work, w, out=work)
                np.add(work, v * v * two, out=work)
                np.add(work, w * w * one, out=work)
                np.multiply(rho, rho, out=below)
                np.subtract(one * two, below, out=below)
                np.clip(below, CANCELLED, None, out=below)
                np.divide(work, below, out=work)
                if ready.explained[k]:
                    np.add(work, ready.explained[k], out=work)
                best[k].offer(work, levels, a, b)
    return best


class _Room:
    """Matrices to work in, of the largest block, cut to the size of each: nothing is allocated in the loop."""

    def __init__(self, blocks: _Blocks, count: int) -> None:
        largest = max(((a.stop - a.start) * (b.stop - b.start) for a, b in blocks), default=0)
        self.flat = [np.empty(largest, dtype=np.float32) for _ in range(count)]

    def of(self, a: slice, b: slice) -> list[Any]:
        rows, columns = a.stop - a.start, b.stop - b.start
        return [flat[: rows * columns].reshape(rows, columns) for flat in self.flat]
