"""The best pairs of each complexity, kept while a scan goes through its blocks of scores."""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
Levels = dict[tuple[int, int], list[tuple[int, slice, slice]]]  # where a block starts -> its parts of one complexity

LEAST_GAIN = 1e-6  # of the variation: a pair that explains less is noise of single precision


@dataclass(frozen=True, slots=True)
class Pairs:
    """The best pairs of each complexity for one regression, and the part of the variation that is explained."""

    left: Numbers
    right: Numbers
    explained: Array

    def __len__(self) -> int:
        return len(self.left)


class Best:
    """The best pairs of one regression, by complexity."""

    __slots__ = ("found", "keep", "least")

    def __init__(self, keep: int) -> None:
        self.keep = keep
        self.least: dict[int, float] = {}
        self.found: dict[int, tuple[Any, Any, Any]] = {}

    def offer(self, gain: Any, levels: "Levels", a: slice, b: slice) -> None:
        """Take what is better in a block of gains, level by level; a pair counts once."""
        for level, one, two in levels[a.start, b.start]:
            rows, columns = (
                slice(one.start - a.start, one.stop - a.start),
                slice(two.start - b.start, two.stop - b.start),
            )
            self.offer_level(level, gain[rows, columns], one, two)

    def offer_level(self, level: int, gain: Any, a: slice, b: slice) -> None:
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
            kth = np.partition(gain.max(axis=1), -most)[-most]
            # A little less, for rounding.
            least = max(least, float(kth) * (1 - 1e-6))
        flat = gain.reshape(-1)
        chosen = np.flatnonzero(flat > least)
        scores = flat[chosen]
        if len(chosen) > most:
            top = np.argpartition(-scores, most)[:most]
            chosen, scores = chosen[top], scores[top]
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


def join(best: list[Best], keep: int) -> Pairs:
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


def levels_of(blocks: list[tuple[slice, slice]], complexity: Numbers) -> Levels:
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
