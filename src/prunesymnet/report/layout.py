"""Where the nodes of a formula's network stand: in columns, with few edges that cross, and none too close together.

A node that is read by a later column than the next passes those between: it has a place in each of them, too.
"""

from dataclasses import dataclass
from itertools import chain, count, pairwise, takewhile

import numpy as np
from scipy.optimize import isotonic_regression

from prunesymnet.report.drawing import COLUMN, PORT, Point
from prunesymnet.report.graph import Graph

Place = tuple[int, int]  # a node, and the column that it is seen in: its own, or one that an edge from it passes
Link = tuple[Place, Place, float]  # from a column to the next, and how far below the middle of a node it enters

SWEEPS = 16  # over the columns; pictures of formulas of 100 nodes do not change after about ten
SPACE = {2: 1.0, 1: 0.72, 0: 0.46}  # between two places, by how many of them are nodes


@dataclass(frozen=True)
class Layout:
    graph: Graph
    heights: dict[Place, float]

    @classmethod
    def of(cls, graph: Graph) -> "Layout":
        columns, links = _columns(graph)
        depth = {place: float(k) for column in columns for k, place in enumerate(column)}
        least, best = _crossings(links, depth), columns
        for sweep in range(SWEEPS):  # every other one from the output to the inputs
            columns = _sweep(graph, columns, links, depth, forth=sweep % 2 == 1, reorder=True)
            crossings = _crossings(links, depth)
            if crossings < least or sweep == 0:
                least, best = min(crossings, least), columns
        for sweep in range(2 * SWEEPS):
            _sweep(graph, best, links, depth, forth=sweep % 2 == 1, reorder=False)
        return cls(graph, {place: -at for place, at in depth.items()})

    def point(self, node: int, column: int) -> Point:
        return column * COLUMN, self.heights[node, column]

    def node(self, node: int) -> Point:
        return self.point(node, self.graph.nodes[node].layer)

    def passed(self, node: int) -> list[Point]:
        """The places of a node in the columns that it passes."""
        columns = takewhile(lambda c: (node, c) in self.heights, count(self.graph.nodes[node].layer + 1))
        return [self.point(node, column) for column in columns]

    def ports(self, node: int) -> list[Point]:
        """Where each operand enters."""
        (x, y), read = self.node(node), self.graph.nodes[node]
        order = list(range(len(read.operands)))
        if read.commutes:
            order.sort(key=lambda k: -self.heights[read.operands[k].source, read.layer - 1])
        return [(x, y + PORT * (1 - 2 * order.index(k)) * (len(order) > 1)) for k in range(len(order))]


def _columns(graph: Graph) -> tuple[list[list[Place]], list[list[Link]]]:
    """The places of each column, and the links that enter it."""
    reach = [node.layer for node in graph.nodes]
    for node in graph.nodes:
        for edge in node.operands:
            reach[edge.source] = max(reach[edge.source], node.layer - 1)
    columns: list[list[Place]] = [[] for _ in range(graph.layers + 1)]
    links: list[list[Link]] = [[] for _ in columns]
    for i, node in enumerate(graph.nodes):
        for column in range(node.layer, reach[i] + 1):
            columns[column].append((i, column))
            if column > node.layer:
                links[column].append(((i, column - 1), (i, column), 0.0))
        for k, edge in enumerate(node.operands):
            fixed = len(node.operands) > 1 and not node.commutes
            links[node.layer].append(
                ((edge.source, node.layer - 1), (i, node.layer), PORT * (2 * k - 1) if fixed else 0.0)
            )
    return columns, links


def _sweep(
    graph: Graph, columns: list[list[Place]], links: list[list[Link]], depth: dict[Place, float], *,
    forth: bool, reorder: bool,
) -> list[list[Place]]:  # fmt: skip
    """Move each place to the mean of its neighbours, column by column, as near as the distances between them allow.
    With `reorder`, only the neighbours in the column before count, and a column is put into their order."""
    near: dict[Place, list[tuple[Place, float]]] = {}
    for a, b, below in chain.from_iterable(links):
        if forth or not reorder:
            near.setdefault(b, []).append((a, -below))
        if not forth or not reorder:
            near.setdefault(a, []).append((b, below))
    columns = list(columns)
    for c in range(len(columns)) if forth else range(len(columns) - 1, -1, -1):
        places = columns[c]
        wanted = {p: float(np.mean([depth[q] + below for q, below in near.get(p, [(p, 0.0)])])) for p in places}
        if reorder:
            places = columns[c] = sorted(places, key=wanted.__getitem__)
        nodes = [graph.nodes[node].layer == column for node, column in places]
        space = np.array([0.0, *np.cumsum([SPACE[a + b] for a, b in pairwise(nodes)])])
        together = isotonic_regression(np.array([wanted[place] for place in places]) - space).x
        depth.update(zip(places, map(float, together + space), strict=True))
    return columns


def _crossings(links: list[list[Link]], depth: dict[Place, float]) -> int:
    count = 0
    for entering in links[1:]:
        ends = np.array([(depth[a], depth[b] + below) for a, b, below in entering])
        apart = ends[:, None] - ends[None]
        count += int((apart[..., 0] * apart[..., 1] < 0).sum()) // 2
    return count
