"""Tiles of pairs of nodes for a scan on a GPU: each lies within two complexities, so that all its pairs have one.

Nodes are laid out by complexity, each complexity filled up to whole tiles with rows that are no node (-1). A tile of
pairs is a tile of nodes with another, or with itself: its pairs are then those on and above the diagonal.

>>> layout = Layout.of(np.array([1, 1, 2, 2, 2]), tile=2)
>>> layout.nodes.tolist(), layout.complexity.tolist()
([0, 1, 2, 3, 4, -1], [1, 2, 2])
"""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

TOGETHER = 8  # tiles of nodes on the left that are gone through side by side: those on the right stay in the cache


@dataclass(frozen=True, slots=True)
class Layout:
    """`nodes` by rows (-1: none), and the `complexity` of each tile of them."""

    tile: int
    nodes: Numbers
    complexity: Numbers

    @classmethod
    def of(cls, complexity: Numbers, tile: int) -> "Layout":
        """The nodes must be in order of complexity."""
        edges = [0, *(np.flatnonzero(np.diff(complexity)) + 1).tolist(), len(complexity)]
        parts, sizes = [], []
        for start, stop in itertools.pairwise(edges):
            count = -(-(stop - start) // tile)
            part = np.full(count * tile, -1)
            part[: stop - start] = np.arange(start, stop)
            parts.append(part)
            sizes += [complexity[start]] * count
        return cls(tile, np.concatenate(parts), np.array(sizes, dtype=np.int64))

    def __len__(self) -> int:
        """How many tiles of nodes there are."""
        return len(self.complexity)

    def blocks(self, most: int) -> list[slice]:
        """The tiles of nodes, at most so many at a time, in blocks of about one size."""
        count = -(-len(self) // max(most, 1))
        cuts = [len(self) * k // count for k in range(count + 1)]
        return [slice(low, high) for low, high in itertools.pairwise(cuts)]


def tiles_of(a: slice, b: slice) -> tuple[Numbers, Numbers]:
    """The tiles of pairs of two blocks of tiles of nodes: those on the left, and those on the right. None is twice."""
    lefts, rights = [], []
    for low in range(a.start, a.stop, TOGETHER):
        left = np.arange(low, min(low + TOGETHER, a.stop))
        right = np.arange(max(low, b.start), b.stop)
        one, two = np.tile(left, len(right)), np.repeat(right, len(left))
        once = one <= two
        lefts.append(one[once])
        rights.append(two[once])
    return np.concatenate(lefts), np.concatenate(rights)
