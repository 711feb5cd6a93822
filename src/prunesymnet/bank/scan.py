"""Score every pair of nodes of a pool against many questions at once, by dense matrix products.

A question is a target and the terms that are in its formula already: what part of the target's variation do they
explain with `b*f_i*f_j` (or `b*f_i + c*f_j`), for every pair of nodes, each with its best coefficients? With F the
nodes' values [M, n], W the rows' weights (of sum 1), and r what the given terms q leave of the target (1 is always
given; the q are orthonormal),

    products   gain = N^2 / (P - A^2 - sum_q S_q^2),  N = (F W r)F', P = (F^2 W)F^2', A = (F W)F', S = (F W q)F'
    sums       gain = (u^2 V + v^2 U - 2 u v R) / (U V - R^2),  R = GG', u, v = G r,  G = what q leaves of the nodes

so P and A serve all questions that weight the rows alike, and each question costs one matrix product and one more for
each given term, a sum none. The matrices are made in blocks that fit the cache (or the memory asked for): a scan of
M^2/2 pairs needs room for a few copies of the M nodes and a few blocks. Scores in single precision find the best `keep`
pairs of each complexity; `unexplained` says in double precision what they are worth.

The blocks are dealt out to a fixed number of tasks, each with its own list of the best: the answer does not depend on
how many threads work on them, nor on which is faster.
"""

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

BLOCK = 640  # nodes along a side of a block: long enough for the matrix products, short enough for the cache
BLOCKS_PER_TASK, MOST_TASKS = 4, 64
FEWEST = 48  # nodes: smaller levels of complexity share a block with the next
CANCELLED = 1e-4  # of a product's size: a variation smaller than that is lost in single precision
LEAST_GAIN = 1e-6
TINY = 1e-9  # beside the typical: what is less is nought, or its square would be lost in single precision and it not


@dataclass(frozen=True, slots=True)
class Question:
    """A target [points], terms that are given [terms, points], and weights of the rows (None: all alike)."""

    target: Array
    given: Array | None = None
    weights: Array | None = None


@dataclass(frozen=True, slots=True)
class Pairs:
    """The best pairs of each complexity for one question, and the part of the variation that is explained."""

    left: Numbers
    right: Numbers
    explained: Array

    def __len__(self) -> int:
        return len(self.left)


def scan(
    values: Array,
    complexity: Numbers,
    questions: list[Question],
    *,
    products: bool = True,
    keep: int = 10,
    workers: int = 1,
    device: str = "cpu",
    memory: float = 2.0,
) -> list[Pairs]:
    """For each question, the `keep` best pairs of each complexity; nodes must be in order of complexity."""
    groups: dict[bytes, list[int]] = {}
    for k, question in enumerate(questions):
        groups.setdefault(b"" if question.weights is None else question.weights.tobytes(), []).append(k)
    members = list(groups.values())
    xp: Any = np
    block = BLOCK
    if device != "cpu":
        import torch

        xp, workers = torch, 1
        block = int(np.clip(np.sqrt(memory * 2**30 / 4 / 8), 256, 8192))
    slices = list(_slices(complexity, block))
    blocks = [(a, b) for i, a in enumerate(slices) for b in slices[i:]]
    # The largest first, dealt out in turn, so that the tasks take about as long.
    blocks.sort(key=lambda pair: -(pair[0].stop - pair[0].start) * (pair[1].stop - pair[1].start))
    count = 1 if xp is not np else min(max(len(blocks) // BLOCKS_PER_TASK, 1), MOST_TASKS)
    run = _products if products else _sums

    def prepare(group: list[int]) -> _Prepared:
        with np.errstate(all="ignore"):
            ready = _Prepared.of(values, [questions[k] for k in group], products)
        return ready if xp is np else ready.on(xp, device)

    def work(task: tuple[_Prepared, int]) -> list[_Best]:
        with np.errstate(all="ignore"):  # a thread does not have its caller's
            return run(task[0], blocks[task[1] :: count], complexity, keep, xp)

    # Each way to weight the rows needs four copies of the nodes: no more of them at a time than there is memory for.
    at_a_time = max(int(memory * 2**30 / (16 * max(values.size, 1))), 1)
    found: list[list[_Best]] = []
    with threads(workers) as each:
        for start in range(0, len(members), at_a_time):
            ready = each(prepare, members[start : start + at_a_time])
            found += each(work, [(one, k) for one in ready for k in range(count)])
    out: dict[int, Pairs] = {}
    for g, group in enumerate(members):
        parts = found[g * count : (g + 1) * count]
        for n, k in enumerate(group):
            out[k] = _join([part[n] for part in parts], keep)
    return [out[k] for k in range(len(questions))]


@contextmanager
def threads(workers: int) -> Iterator[Callable[[Callable[[Any], Any], list[Any]], list[Any]]]:
    """A map over `workers` threads."""
    if workers == 1:
        yield lambda function, items: [function(item) for item in items]
    else:
        with ThreadPoolExecutor(workers) as pool:
            yield lambda function, items: list(pool.map(function, items))


def scan_singles(
    values: Array, complexity: Numbers, questions: list[Question], *, keep: int = 10
) -> list[list[tuple[int, float]]]:
    """For each question the `keep` best nodes of each complexity, one node alone, and what it leaves unexplained. All
    questions are three matrix products of the nodes [M, n] with as many columns, so M may be large."""
    bases = [Base.of(question) for question in questions]
    largest = np.abs(values).max(axis=1, keepdims=True)
    nodes = _single(values / np.where(largest > 0, largest, 1.0))
    squares = nodes * nodes
    weights = np.array([base.root**2 for base in bases], dtype=np.float32).T
    targets = np.array([base.rest * base.root for base in bases], dtype=np.float32).T
    with np.errstate(all="ignore"):
        sizes = squares @ weights
        spread = sizes - (nodes @ weights) ** 2
        for place in range(1, max(len(base.basis) for base in bases)):
            given = [base.basis[place] * base.root if place < len(base.basis) else 0 * base.root for base in bases]
            spread -= (nodes @ np.array(given, dtype=np.float32).T) ** 2
        gains = np.where(spread > CANCELLED * sizes, (nodes @ targets) ** 2 / spread, 0.0)
    edges = [0, *(np.flatnonzero(np.diff(complexity)) + 1).tolist(), len(complexity)]
    out = []
    for k, question in enumerate(questions):
        gain = gains[:, k]
        best = [
            low + np.argpartition(-gain[low:high], min(keep, high - low) - 1)[:keep]
            for low, high in itertools.pairwise(edges)
        ]
        chosen = np.concatenate(best)
        left = unexplained(values[chosen][:, None], question)
        out.append([(int(i), float(e)) for i, e in zip(chosen, left, strict=True)])
    return out


def unexplained(terms: Array, question: Question) -> Array:
    """The part of the target's variation that a constant, the given terms and each candidate's `terms` [candidates,
    terms, points] leave unexplained, in double precision."""
    base = Base.of(question)
    with np.errstate(all="ignore"):
        columns = terms * base.root
        left = np.broadcast_to(base.rest, (len(columns), len(base.rest)))
        done: list[Array] = []
        for k in range(columns.shape[1]):
            column = columns[:, k]
            size = np.sqrt(np.einsum("cn,cn->c", column, column))
            for _ in range(2):  # twice is enough
                column = column - (column @ base.basis.T) @ base.basis
                for other in done:
                    column = column - np.einsum("cn,cn->c", column, other)[:, None] * other
            length = np.sqrt(np.einsum("cn,cn->c", column, column))
            usable = length > 1e-9 * size
            column = np.where(usable[:, None], column / np.where(usable, length, 1.0)[:, None], 0.0)
            left = left - np.einsum("cn,cn->c", left, column)[:, None] * column
            done.append(column)
        out = np.einsum("cn,cn->c", left, left)
    return np.where(np.isfinite(out), np.minimum(out, 1.0), 1.0)


@dataclass(frozen=True, slots=True)
class Base:
    """A question made ready: `root` of the weights, orthonormal `basis` of the constant and the given terms, and the
    `rest` of the target, whose variation around its mean is 1; rows of the last two are weighted."""

    root: Array
    basis: Array
    rest: Array
    explained: float

    @classmethod
    def of(cls, question: Question) -> "Base":
        points = len(question.target)
        weights = np.full(points, 1.0) if question.weights is None else question.weights
        weights = np.where(weights > TINY * weights.max(), weights, 0.0)
        root = np.sqrt(weights / weights.sum())
        basis = [root]
        for term in () if question.given is None else question.given:
            column = term * root
            size = np.sqrt(column @ column)
            for _ in range(2):
                for other in basis:
                    column = column - (column @ other) * other
            length = np.sqrt(column @ column)
            if length > 1e-9 * size and np.isfinite(length):
                basis.append(column / length)
        stack = np.array(basis)
        rest = question.target * root
        rest = rest - (rest @ root) * root
        size = np.sqrt(rest @ rest)
        if not size > 1e-13 * np.sqrt((question.target * root) @ (question.target * root)) or not np.isfinite(size):
            return cls(root, stack, np.zeros(points), 0.0)  # what varies by its rounding only is constant
        rest = rest / size
        for _ in range(2):
            rest = rest - stack.T @ (stack @ rest)
        return cls(root, stack, rest, 1.0 - float(rest @ rest))


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What the blocks are made of, in single precision, for questions that weight the rows alike."""

    products: bool
    nodes: Any  # [M, n]: of mean square 1; for sums centred and of length 1
    weighted: Any  # nodes times the weights
    squares: Any
    weighted_squares: Any
    targets: list[Any]  # [n]
    given: list[list[Any]]
    explained: list[float]

    @classmethod
    def of(cls, values: Array, questions: list[Question], products: bool) -> "_Prepared":
        bases = [Base.of(question) for question in questions]
        root = bases[0].root
        if products:
            # A target's `rest` is weighted by the root already, so nodes times `rest` times the root is N's left part.
            rms = np.sqrt((values * values) @ (root * root))
            nodes = values / np.where(rms > 0, rms, 1.0)[:, None]
            nodes[np.abs(nodes) < TINY] = 0.0
            weighted = nodes * (root * root)
            squares = nodes * nodes
            heavy = squares * (root * root)
            targets = [base.rest * root for base in bases]
            given = [[_single(q * root) for q in base.basis[1:]] for base in bases]
        else:
            nodes = values * root
            nodes = nodes - np.outer(nodes @ root, root)
            length = np.sqrt(np.einsum("mn,mn->m", nodes, nodes))
            nodes = nodes / np.where(length > 0, length, 1.0)[:, None]
            weighted = squares = heavy = np.zeros((0, 0))
            targets = [base.rest for base in bases]
            given = [[_single(q) for q in base.basis[1:]] for base in bases]
        nodes, weighted, squares, heavy = (_single(part) for part in (nodes, weighted, squares, heavy))
        explained = [base.explained for base in bases]
        return cls(products, nodes, weighted, squares, heavy, [_single(t) for t in targets], given, explained)

    def on(self, torch: Any, device: str) -> "_Prepared":
        def put(a: Any) -> Any:
            return torch.as_tensor(a, device=device)

        nodes, weighted, squares = put(self.nodes), put(self.weighted), put(self.squares)
        given = [[put(q) for q in qs] for qs in self.given]
        targets = [put(t) for t in self.targets]
        heavy = put(self.weighted_squares)
        return _Prepared(self.products, nodes, weighted, squares, heavy, targets, given, self.explained)


def _single(values: Array) -> Any:
    with np.errstate(all="ignore"):
        out = values.astype(np.float32)
    out[~np.isfinite(out)] = 0.0
    return out


class _Best:
    """The best pairs of one question, by complexity."""

    __slots__ = ("found", "keep", "least")

    def __init__(self, keep: int) -> None:
        self.keep = keep
        self.least: dict[int, float] = {}
        self.found: dict[int, tuple[Any, Any, Any]] = {}

    def offer(self, gain: Any, levels: "_Levels", a: slice, b: slice, xp: Any) -> None:
        """Take what is better in a block of gains, level by level; a pair counts once."""
        for level, one, two in levels[a.start, b.start]:
            rows, columns = (
                slice(one.start - a.start, one.stop - a.start),
                slice(two.start - b.start, two.stop - b.start),
            )
            self.offer_level(level, gain[rows, columns], one, two, xp)

    def offer_level(self, level: int, gain: Any, a: slice, b: slice, xp: Any) -> None:
        least = self.least.get(level, LEAST_GAIN)
        top = gain.max()
        if not top <= 2:  # 0/0: two nodes that are nowhere both different from zero (or the rounding of nearly so)
            gain[~(gain <= 2)] = 0.0
            top = gain.max()
        if not top > least:
            return
        most = 2 * self.keep  # a block on the diagonal has every pair twice
        if level not in self.least and len(gain) > most:
            # The best of each row are so many pairs already: none below the `most`th of them is needed.
            tops = gain.max(axis=1) if xp is np else gain.max(dim=1).values
            kth = np.partition(tops, -most)[-most] if xp is np else xp.topk(tops, most).values[-1]
            least = max(least, float(kth) * (1 - 1e-6))
        flat = gain.reshape(-1)
        chosen: Any = np.flatnonzero(flat > least) if xp is np else xp.nonzero(flat > least)[:, 0]
        scores = flat[chosen]
        if len(chosen) > most:
            top = np.argpartition(-scores, most)[:most] if xp is np else xp.topk(scores, most).indices
            chosen, scores = chosen[top], scores[top]
        if xp is not np:
            chosen, scores = chosen.cpu().numpy(), scores.cpu().numpy()
        width = b.stop - b.start
        left, right = a.start + chosen // width, b.start + chosen % width
        if a == b:
            once = left <= right
            left, right, scores = left[once], right[once], scores[once]
        if level in self.found:
            old = self.found[level]
            left, right, scores = (np.concatenate(p) for p in zip(old, (left, right, scores), strict=True))
        order = np.lexsort((right, left, -scores))[: self.keep]
        self.found[level] = left[order], right[order], scores[order]
        if len(order) == self.keep:
            self.least[level] = float(scores[order[-1]])


def _join(best: list[_Best], keep: int) -> Pairs:
    """The best of all tasks, complexity by complexity."""
    levels = sorted({level for one in best for level in one.found})
    parts = []
    for level in levels:
        left, right, scores = (
            np.concatenate(p) for p in zip(*(one.found[level] for one in best if level in one.found), strict=True)
        )
        order = np.lexsort((right, left, -scores))[:keep]
        parts.append((left[order], right[order], scores[order]))
    if not parts:
        none = np.zeros(0, dtype=np.int64)
        return Pairs(none, none, np.zeros(0))
    left, right, scores = (np.concatenate(p) for p in zip(*parts, strict=True))
    return Pairs(left, right, scores.astype(np.float64))


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
_Levels = dict[tuple[int, int], list[tuple[int, slice, slice]]]


def _products(ready: _Prepared, blocks: _Blocks, complexity: Numbers, keep: int, xp: Any) -> list[_Best]:
    best = [_Best(keep) for _ in ready.targets]
    levels = _levels(blocks, complexity)
    room = _Room(blocks, 5, ready.nodes, xp)
    last, rows = None, []
    with np.errstate(all="ignore"):
        for a, b in sorted(blocks, key=lambda pair: (pair[0].start, pair[1].start)):
            if a != last:
                nodes, last = ready.nodes[a], a
                rows = [
                    (nodes * r, [nodes * q for q in given]) for r, given in zip(ready.targets, ready.given, strict=True)
                ]
            spread, least, rest, gain, work = room.of(a, b)
            right = ready.nodes[b].T
            xp.matmul(ready.weighted_squares[a], ready.squares[b].T, out=spread)
            xp.multiply(spread, CANCELLED, out=least)
            xp.matmul(ready.weighted[a], right, out=work)
            xp.multiply(work, work, out=work)
            xp.subtract(spread, work, out=spread)
            xp.maximum(spread, least, out=spread)
            for k, (target, given) in enumerate(rows):
                below = spread
                for q in given:
                    xp.matmul(q, right, out=work)
                    xp.multiply(work, work, out=work)
                    xp.subtract(below, work, out=rest)
                    below = rest
                if given:
                    xp.maximum(rest, least, out=rest)
                xp.matmul(target, right, out=gain)
                xp.multiply(gain, gain, out=gain)
                xp.divide(gain, below, out=gain)
                if ready.explained[k]:
                    xp.add(gain, ready.explained[k], out=gain)
                best[k].offer(gain, levels, a, b, xp)
    return best


def _sums(ready: _Prepared, blocks: _Blocks, complexity: Numbers, keep: int, xp: Any) -> list[_Best]:
    best = [_Best(keep) for _ in ready.targets]
    levels = _levels(blocks, complexity)
    room = _Room(blocks, 4, ready.nodes, xp)
    along = [ready.nodes @ r for r in ready.targets]
    parts = [[ready.nodes @ q for q in given] for given in ready.given]
    left_over: list[Any] = [xp.clip(1 - sum(p * p for p in ps), CANCELLED, 1.0) if ps else None for ps in parts]
    with np.errstate(all="ignore"):
        for a, b in blocks:
            both, alike, work, below = room.of(a, b)
            xp.matmul(ready.nodes[a], ready.nodes[b].T, out=both)
            for k, u in enumerate(along):
                rho = both
                for p in parts[k]:
                    xp.multiply(p[a][:, None], p[b][None, :], out=work)
                    xp.subtract(rho, work, out=alike)
                    rho = alike
                one: Any = 1.0
                two: Any = 1.0
                if left_over[k] is not None:
                    one, two = left_over[k][a][:, None], left_over[k][b][None, :]
                v, w = u[a][:, None], u[b][None, :]
                xp.multiply(rho, -2 * v, out=work)
                xp.multiply(work, w, out=work)
                xp.add(work, v * v * two, out=work)
                xp.add(work, w * w * one, out=work)
                xp.multiply(rho, rho, out=below)
                xp.subtract(one * two, below, out=below)
                xp.clip(below, CANCELLED, None, out=below)
                xp.divide(work, below, out=work)
                if ready.explained[k]:
                    xp.add(work, ready.explained[k], out=work)
                best[k].offer(work, levels, a, b, xp)
    return best


def _levels(blocks: _Blocks, complexity: Numbers) -> _Levels:
    """For each block (by where it starts) its parts of one complexity; below the diagonal there are none."""
    return {
        (a.start, b.start): [
            (int(complexity[one.start] + complexity[two.start]), one, two)
            for one in _runs(complexity, a)
            for two in _runs(complexity, b)
            if one.start <= two.start
        ]
        for a, b in blocks
    }


def _runs(complexity: Numbers, part: slice) -> list[slice]:
    """Where the complexity is one and the same."""
    edges = [0, *(np.flatnonzero(np.diff(complexity[part])) + 1).tolist(), part.stop - part.start]
    return [slice(part.start + low, part.start + high) for low, high in itertools.pairwise(edges)]


class _Room:
    """Matrices to work in, of the largest block, cut to the size of each: nothing is allocated in the loop."""

    def __init__(self, blocks: _Blocks, count: int, like: Any, xp: Any) -> None:
        largest = max(((a.stop - a.start) * (b.stop - b.start) for a, b in blocks), default=0)
        if xp is np:
            self.flat = [np.empty(largest, dtype=np.float32) for _ in range(count)]
        else:
            self.flat = [xp.empty(largest, dtype=like.dtype, device=like.device) for _ in range(count)]

    def of(self, a: slice, b: slice) -> list[Any]:
        rows, columns = a.stop - a.start, b.stop - b.start
        return [flat[: rows * columns].reshape(rows, columns) for flat in self.flat]
