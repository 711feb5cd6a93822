"""A picture of any formula: the smallest network that computes it.

>>> from prunesymnet.expression import parse
>>> figure = draw_formula(parse("2.5*x**2 - 1.3*x*y + 0.7"), target="z")
>>> [text.get_text() for text in figure.axes[0].texts if text.get_gid().startswith("weight")]
['2.5', '−1.3', '0.7']

It looks like the pictures of a network: inputs on the left, the output on the right, operators in layers between them,
and one edge per operand, with its weight if that is not 1. A black line with dots carries a node past a layer.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prunesymnet.expression import Constant, Expression, evaluate, to_text
from prunesymnet.report.drawing import (
    COLUMN,
    INK,
    PORT,
    RADIUS,
    SYMBOLS,
    ZONE,
    Point,
    curve,
    draw_node,
    drawable,
    figure_of,
    short_number,
    shorten,
    sign_colour,
)
from prunesymnet.report.graph import Graph, make_graph

Place = tuple[int, int]  # a node, and the column that it is seen in: its own, or one that an edge from it passes
Link = tuple[Place, Place, float]  # from a column to the next, and how far below the middle it enters

SWEEPS = 16  # over the columns, to get edges out of each other's way
UNIT = 0.5  # inches between two rows
LETTER = 0.22  # the width of a letter beside a node
SPACE = {2: 1.0, 1: 0.72, 0: 0.46}  # between two places, by how many of them are nodes


def draw_formula(expression: Expression, *, target: str = "out") -> Figure:
    """The formula as a network; the output has the name of the `target`."""
    graph = make_graph(expression)
    layout = _Layout.of(graph)
    names = [node.text for node in graph.nodes if node.kind == "input"]
    left = 0.6 + (LETTER * min(18, max(map(len, names))) if max(map(len, names)) > 3 else 0.0)
    right = 0.6 + (LETTER * min(18, len(target)) if len(target) > 3 else 0.0)
    ys = list(layout.heights.values())
    low, high = min(ys) - 0.65, max(ys) + 0.65
    width = graph.layers * COLUMN + left + right
    axes = Figure(figsize=(width * UNIT, (high - low) * UNIT), facecolor="white").add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(-left, graph.layers * COLUMN + right)
    axes.set_ylim(low, high)
    _draw_edges(axes, graph, layout)
    outside = max(map(len, names)) > 3
    for i, node in enumerate(graph.nodes[:-1]):
        text = SYMBOLS.get(node.text, node.text) if node.kind != "input" else node.text
        draw_node(axes, layout.place(i), text, node.kind, name=i, size=11, outside=outside and node.kind == "input")
    last = len(graph.nodes) - 1
    draw_node(axes, layout.place(last), "" if len(target) > 3 else target, "output", name=last, size=11)
    if len(target) > 3:
        x, y = layout.place(last)
        axes.text(
            x + RADIUS + 0.15, y, drawable(shorten(target, 18)), size=11, va="center_baseline", color=INK, zorder=8,
            style="italic", parse_math=False, gid="target",
        )  # fmt: skip
    return figure_of(axes)


def _draw_edges(axes: Axes, graph: Graph, layout: "_Layout") -> None:
    for i, node in enumerate(graph.nodes):
        for k, edge in enumerate(node.operands):
            before = node.layer - 1
            start = layout.point((edge.source, before))
            if graph.nodes[edge.source].layer == before:
                start = (start[0] + RADIUS, start[1])
            end = layout.port(graph, i, k)
            value = 1.0 if edge.weight is None else _value(edge.weight)
            curve(axes, [start, end], sign_colour(value), 1.8, f"edge {i}.{k}", 4)
            if edge.weight is not None:
                axes.text(
                    end[0] - (ZONE - RADIUS) / 2, end[1], weight_text(edge.weight), size=9, ha="center", va="center",
                    color=sign_colour(value), zorder=6, gid=f"weight {i}.{k}", parse_math=False,
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
                )  # fmt: skip
    for source in range(len(graph.nodes)):
        passed = sorted(column for node, column in layout.heights if node == source)[1:]
        if passed:
            x, y = layout.place(source)
            dots = [layout.point((source, column)) for column in passed]
            curve(axes, [(x + RADIUS, y), *dots], INK, 1.35, f"chain {source}", 3)
            axes.plot(*np.array(dots).T, "o", markersize=3.6, color=INK, zorder=5, gid=f"ids {source}")


def weight_text(weight: Expression) -> str:
    """A weight in as little room as there is: three digits of a float, 2π and 1/3 as they are.

    >>> from prunesymnet.expression import parse
    >>> [weight_text(parse(text)) for text in ("-0.123456", "2*pi", "1/3", "-1")]
    ['−0.123', '2π', '1/3', '−1']
    """
    if not isinstance(weight, Constant):
        text = to_text(weight, digits=3)
        text = text.replace("*pi", "π").replace("pi", "π").replace("inv(", "1/(").replace("*", "·").replace("-", "−")
        if text.startswith("1/(") and text[3:-1].isalnum():
            text = f"1/{text[3:-1]}"
        if len(text) <= 7:
            return text
    elif isinstance(weight.value, int) and abs(weight.value) < 10**6:
        return str(weight.value).replace("-", "−")
    return short_number(_value(weight))


def _value(weight: Expression) -> float:
    with np.errstate(all="ignore"):
        values = np.asarray(evaluate(weight, {}).values, dtype=np.float64)
    return float(values.ravel()[0]) if values.size else math.nan


@dataclass(frozen=True)
class _Layout:
    """Where each node stands, and where the edges that pass a column do."""

    heights: dict[Place, float]
    ports: dict[tuple[int, int], float]  # (node, operand): how far above its middle the operand enters

    @classmethod
    def of(cls, graph: Graph) -> "_Layout":
        columns, links = _columns(graph)
        _untangle(columns, links)
        heights = _straighten(columns, links, graph)
        ports = {}
        for i, node in enumerate(graph.nodes):
            order = list(range(len(node.operands)))
            if node.text in ("+", "*"):  # whose operands can enter as they come
                order.sort(key=lambda k: -heights[node.operands[k].source, node.layer - 1])
            spread = np.linspace(PORT, -PORT, len(order)) if len(order) > 1 else np.zeros(len(order))
            ports.update({(i, k): float(at) for k, at in zip(order, spread, strict=True)})
        return cls(heights, ports)

    def point(self, place: Place) -> Point:
        return place[1] * COLUMN, self.heights[place]

    def place(self, node: int) -> Point:
        column = min(column for n, column in self.heights if n == node)
        return self.point((node, column))

    def port(self, graph: Graph, node: int, operand: int) -> Point:
        x, y = self.place(node)
        offset = self.ports[node, operand]
        return x - math.sqrt(RADIUS**2 - offset**2), y + offset


def _columns(graph: Graph) -> tuple[list[list[Place]], list[list[Link]]]:
    """The places of each column, and the links that enter it."""
    reach = [node.layer for node in graph.nodes]
    for node in graph.nodes:
        for edge in node.operands:
            reach[edge.source] = max(reach[edge.source], node.layer - 1)
    columns: list[list[Place]] = [[] for _ in range(graph.layers + 1)]
    links: list[list[Link]] = [[] for _ in range(graph.layers + 1)]
    for i, node in enumerate(graph.nodes):
        for column in range(node.layer, reach[i] + 1):
            columns[column].append((i, column))
            if column > node.layer:
                links[column].append(((i, column - 1), (i, column), 0.0))
        fixed = len(node.operands) > 1 and node.text not in ("+", "*")
        for k, edge in enumerate(node.operands):
            below = PORT * (2 * k / (len(node.operands) - 1) - 1) if fixed else 0.0
            links[node.layer].append(((edge.source, node.layer - 1), (i, node.layer), below))
    return columns, links


def _untangle(columns: list[list[Place]], links: list[list[Link]]) -> None:
    """Order each column, from above to below, so that few edges cross: each place goes to the middle of its neighbours,
    forth and back over the columns, and the best order seen is taken."""
    best, least = [list(column) for column in columns], _crossings(columns, links)
    for sweep in range(SWEEPS):
        forth = sweep % 2 == 1
        for c in range(1, len(columns)) if forth else range(len(columns) - 2, -1, -1):
            beside = columns[c - 1] if forth else columns[c + 1]
            at = {place: float(k) for k, place in enumerate(beside)}
            wanted: dict[Place, list[float]] = {}
            for a, b, below in links[c] if forth else links[c + 1]:
                wanted.setdefault(b if forth else a, []).append(at[a] if forth else at[b] + below)
            now = {place: float(k) for k, place in enumerate(columns[c])}
            columns[c].sort(key=lambda p: float(np.mean(wanted.get(p, [now[p]]))))
        crossings = _crossings(columns, links)
        if crossings < least:
            best, least = [list(column) for column in columns], crossings
    columns[:] = best


def _crossings(columns: list[list[Place]], links: list[list[Link]]) -> int:
    count = 0
    for (before, column), entering in zip(pairwise(columns), links[1:], strict=True):
        at = {place: k for k, place in enumerate(before)} | {place: k for k, place in enumerate(column)}
        ends = np.array([(at[a], at[b] + below) for a, b, below in entering])
        apart = ends[:, None] - ends[None]
        count += int((apart[..., 0] * apart[..., 1] < 0).sum()) // 2
    return count


def _straighten(columns: list[list[Place]], links: list[list[Link]], graph: Graph) -> dict[Place, float]:
    """Heights: each place near the middle of its neighbours, in the order of its column, and not too close."""
    spaces = []
    for column in columns:
        nodes = [graph.nodes[node].layer == at for node, at in column]
        spaces.append(np.array([0.0, *np.cumsum([SPACE[a + b] for a, b in pairwise(nodes)])]))
    depth = {
        p: s - space[-1] / 2
        for column, space in zip(columns, spaces, strict=True)
        for p, s in zip(column, space, strict=True)
    }
    near: dict[Place, list[tuple[Place, float]]] = {}
    for entering in links:
        for a, b, below in entering:
            near.setdefault(a, []).append((b, below))
            near.setdefault(b, []).append((a, -below))
    for sweep in range(2 * SWEEPS):
        order = range(len(columns)) if sweep % 2 else range(len(columns) - 1, -1, -1)
        for c in order:
            wanted = [np.mean([depth[other] + below for other, below in near[place]]) for place in columns[c]]
            depth.update(zip(columns[c], _apart(np.array(wanted), spaces[c]), strict=True))
    return {place: -float(at) for place, at in depth.items()}


def _apart(
    wanted: np.ndarray[tuple[int], np.dtype[np.float64]], space: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> list[float]:
    """The places nearest to those wanted, in the same order, that keep their distance."""
    groups: list[tuple[float, int]] = []  # places that touch, by the mean of where they would be
    for value in wanted - space:
        mean, count = float(value), 1
        while groups and groups[-1][0] > mean:
            other, more = groups.pop()
            mean, count = (mean * count + other * more) / (count + more), count + more
        groups.append((mean, count))
    flat = [mean for mean, count in groups for _ in range(count)]
    return [mean + float(at) for mean, at in zip(flat, space, strict=True)]
