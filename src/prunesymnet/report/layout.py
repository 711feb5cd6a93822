"""Where the nodes of a formula's network stand: in columns, with few edges that cross, and none too close together."""

from itertools import pairwise

import numpy as np
from scipy.optimize import isotonic_regression

from prunesymnet.report.drawing import COLUMN, PORT, Array, Point
from prunesymnet.report.graph import Graph, Node

Link = tuple[int, int, float]  # a node, one that reads it, and how far below the middle of that one the edge enters

SWEEPS = 16  # over the columns; pictures of formulas of 100 nodes do not change after about ten
SPACE = {0: 1.0, 1: 0.72, 2: 0.46}  # between two neighbours, by how many of them only pass a value on


def place_nodes(graph: Graph) -> list[Point]:
    """Each column is put into the order of its neighbours' places, forth and back, and the order with the fewest
    crossings is kept; then nodes move towards their neighbours, so that edges become straight."""
    columns = [[i for i, node in enumerate(graph.nodes) if node.layer == c] for c in range(graph.layers + 1)]
    links = [(edge.source, i, -port) for i, node in enumerate(graph.nodes)
             for edge, port in zip(node.operands, ports(node), strict=True)]  # fmt: skip
    depth = np.zeros(len(graph.nodes))  # below the top
    for column in columns:
        depth[column] = range(len(column))
    least, best = _crossings(graph, links, depth), columns
    for sweep in range(SWEEPS):  # every other one from the output to the inputs
        columns = _sweep(graph, columns, links, depth, forth=sweep % 2 == 1, reorder=True)
        if (crossings := _crossings(graph, links, depth)) < least:
            least, best = crossings, columns
    for sweep in range(2 * SWEEPS):
        _sweep(graph, best, links, depth, forth=sweep % 2 == 1, reorder=False)
    return [(node.layer * COLUMN, -float(at)) for node, at in zip(graph.nodes, depth, strict=True)]


def ports(node: Node, heights: list[float] | None = None) -> list[float]:
    """How far above its middle each operand enters a node: the higher one above, where they can change places."""
    if len(node.operands) < 2 or (heights is None and node.commutes):
        return [0.0] * len(node.operands)
    crossed = node.commutes and heights is not None and heights[0] < heights[1]
    return [-PORT, PORT] if crossed else [PORT, -PORT]


def _sweep(
    graph: Graph, columns: list[list[int]], links: list[Link], depth: Array, *, forth: bool, reorder: bool
) -> list[list[int]]:
    """Move each node to the mean of its neighbours, column by column, as near as the distances between them allow. With
    `reorder`, only the neighbours in the column before count, and a column is put into their order."""
    near: dict[int, list[tuple[int, float]]] = {}
    for source, reader, below in links:
        if forth or not reorder:
            near.setdefault(reader, []).append((source, -below))
        if not forth or not reorder:
            near.setdefault(source, []).append((reader, below))
    swept = list(columns)
    for c in range(len(columns)) if forth else range(len(columns) - 1, -1, -1):
        wanted = {n: float(np.mean([depth[other] + off for other, off in near.get(n, [(n, 0.0)])])) for n in swept[c]}
        if reorder:
            swept[c] = sorted(swept[c], key=wanted.__getitem__)
        passing = [graph.nodes[node].kind == "id" for node in swept[c]]
        space = np.array([0.0, *np.cumsum([SPACE[a + b] for a, b in pairwise(passing)])])
        depth[swept[c]] = isotonic_regression(np.array([wanted[node] for node in swept[c]]) - space).x + space
    return swept


def _crossings(graph: Graph, links: list[Link], depth: Array) -> int:
    entering: dict[int, list[Point]] = {}
    for source, reader, below in links:
        entering.setdefault(graph.nodes[reader].layer, []).append((depth[source], depth[reader] + below))
    count = 0
    for ends in map(np.array, entering.values()):
        apart = ends[:, None] - ends[None]
        count += int((apart[..., 0] * apart[..., 1] < 0).sum()) // 2
    return count
