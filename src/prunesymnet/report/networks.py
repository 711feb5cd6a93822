"""Pictures of a network: the full one, the subnetwork that was retained, and the way there.

>>> from prunesymnet.network import Network
>>> network = Network(("x", "y"), layers=2)
>>> figure = draw_network(network)
>>> figure.savefig("network.png")  # doctest: +SKIP

Each function takes numbers and returns a figure; nothing is shown, and no global state of matplotlib is touched. All
pictures of a network have the same places: one column per layer, from the inputs on the left to the output on the
right, and one row per operator. So the same node is found at the same place in each.
"""

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from prunesymnet.expression import Expression, canonical, to_text
from prunesymnet.network import Choice, Network
from prunesymnet.report.drawing import (
    BLUE,
    COLUMN,
    GREY,
    INK,
    PALE,
    PORT,
    RADIUS,
    SYMBOLS,
    ZONE,
    Point,
    curve,
    draw_node,
    figure_of,
    save,
    short_number,
    shorten,
    sign_colour,
)  # fmt: skip
from prunesymnet.report.loss import draw_loss
from prunesymnet.search import SearchResult

CAPTION = "blue: weight > 0, orange: weight < 0, black with dots: id; the first operand enters above, the second below"


def draw_network(network: Network) -> Figure:
    """The full network. A dot is an `id`: it carries a node of an earlier layer on to the next."""
    places = _Places(network, unit=0.4)
    tracks = network.sizes[network.layers - 1]
    step = min(0.3, 5.0 / tracks)
    top = places.low - 0.9

    def carried(node: int, column: int) -> Point:
        return (column * COLUMN, top - node * step) if column > places.column(node) else places.node(node)

    title = (
        f"{len(network.inputs)} input{'s' * (len(network.inputs) > 1)} and the constant 1, {network.layers} "
        f"layer{'s' * (network.layers > 1)} of {len(network.rows)} operators: {network.edges:,} weighted edges"
    )
    lines = _wrap(places, title)
    axes = _canvas(places, below=1.3 + max(tracks * step, 1.2), above=1.6 + places.line * len(lines))
    edges = [
        [carried(source, group.layer - 1), places.port(i)]
        for i, group in enumerate(network.groups)
        for source in range(group.width)
    ]
    ids = [(node, column) for column in range(1, network.layers + 1) for node in range(network.sizes[column - 1])]
    fixed = [[carried(node, column - 1), carried(node, column)] for node, column in ids]
    axes.add_collection(LineCollection(fixed, colors=GREY, linewidths=0.3, alpha=0.6, zorder=1, gid="fixed"))
    # Edges from dots lie so close together that they need to be paler to look the same.
    direct = [places.column(source) == group.layer - 1 for group in network.groups for source in range(group.width)]
    shades = [to_rgba(BLUE, 0.3 if straight else 0.1) for straight in direct]
    axes.add_collection(LineCollection(edges, colors=shades, linewidths=0.3, zorder=1, gid="edges"))
    dots = np.array([carried(node, column) for node, column in ids])
    axes.scatter(dots[:, 0], dots[:, 1], s=min(9.0, (20 * step) ** 2), color=INK, linewidths=0, zorder=2, gid="ids")
    _nodes(axes, places, range(-1, network.sizes[-1]), size=8.5)
    _headers(axes, places, size=9)
    axes.text(
        -RADIUS, top, "dots: id, which carries\na node of an earlier\nlayer to the next",
        size=8, color=GREY, va="top", linespacing=1.4,
    )  # fmt: skip
    _title(axes, places, lines)
    return figure_of(axes)


def draw_subnetwork(
    network: Network, weights: ArrayLike, choice: Choice, *, fitted: Expression | None = None
) -> Figure:
    """The retained nodes and edges with their weights; under its formula, what became of it when it was `fitted`."""
    numbers = np.asarray(weights, dtype=np.float64)
    formula = canonical(network.expression(numbers, choice))
    places = _Places(network)
    chains = places.chains(choice)
    ends = [y for chain in chains.values() for _, y in chain]
    over, under = max(0.0, max(ends, default=0.0) - places.high), max(0.0, places.low - min(ends, default=0.0))
    title = _wrap(places, to_text(formula, digits=3) if fitted is None else f"trained: {to_text(formula, digits=3)}")
    result = [] if fitted is None else _wrap(places, f"fitted: {to_text(fitted, digits=3)}")
    caption = _wrap(places, CAPTION, most=3)
    axes = _canvas(
        places,
        below=0.9 + places.line * len(caption) + under,
        above=1.6 + places.line * len(title + result) + over,
    )
    kept = _retained_nodes(network, choice)
    rest = [node for node in range(-1, network.sizes[-1]) if node not in kept]
    near = [
        [places.node(source), places.port(i)]
        for i, group in enumerate(network.groups)
        for source in range(group.width)
        if places.column(source) == group.layer - 1
    ]
    axes.add_collection(LineCollection(near, colors=PALE, linewidths=0.3, alpha=0.3, zorder=0, gid="faint"))
    _nodes(axes, places, rest, size=10, faint=True)
    _retained(axes, places, numbers, choice, width=1.8)
    for i in network.needed(choice):
        weight = float(numbers[network.groups[i].start + choice[i]])
        x, y = places.port(i)
        axes.text(
            x - (ZONE - RADIUS) / 2, y, short_number(weight), size=9, ha="center", va="center", zorder=6,
            gid=f"weight {i}", color=sign_colour(weight), bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        )  # fmt: skip
    _nodes(axes, places, kept, size=11)
    _headers(axes, places, size=9, above=over)
    _title(axes, places, title, result)
    axes.text(
        sum(axes.get_xlim()) / 2, axes.get_ylim()[0] + 0.3, "\n".join(caption),
        size=9, color=GREY, ha="center", va="bottom", gid="caption",
    )  # fmt: skip
    return figure_of(axes)


def draw_pruning(network: Network, weights: ArrayLike, choice: Choice, steps: int = 4) -> Figure:
    """The network while it is pruned from the output to the inputs, in `steps` panels: retained edges strong, those
    that are still to be pruned grey."""
    if not isinstance(steps, int) or steps < 2:
        raise ValueError(f"steps must be a whole number >= 2, got {steps!r}")
    numbers = np.asarray(weights, dtype=np.float64)
    places = _Places(network, unit=0.245)
    stages = _stages(network, choice)
    picked = [stages[k] for k in sorted({round(k) for k in np.linspace(0, len(stages) - 1, steps)})]
    across = min(2, len(picked))
    down = -(-len(picked) // across)
    width, height = (places.breadth + 0.8) * places.unit, (places.high - places.low + 3.6) * places.unit
    figure = Figure(figsize=(across * width, down * height), facecolor="white")
    for k, stage in enumerate(picked):
        axes = figure.add_axes(((k % across) / across, 1 - (k // across + 1) / down, 1 / across, 1 / down))
        _frame(axes, places, below=0.9, above=2.7)
        lines = [[places.node(source), places.port(i)] for i, source in stage.open]
        alpha = 0.1 + 0.3 / (1 + len(lines) / 200)
        axes.add_collection(LineCollection(lines, colors=GREY, linewidths=0.35, alpha=alpha, zorder=1, gid="open"))
        _retained(
            axes, places, numbers, {i: choice[i] for i in stage.retained}, width=1.5, chains=places.chains(choice)
        )
        _nodes(axes, places, stage.nodes, size=6)
        axes.text(-RADIUS, places.high + 1.25, f"{'abcdefghijklmnopqrstuvwxyz'[k % 26]}", size=11, weight="bold")
        axes.text(-RADIUS + 1, places.high + 1.25, stage.title, size=10, color=INK)
    return figure


class Pictures(NamedTuple):
    """The files that were written, and the names of those that were not."""

    paths: list[Path]
    left_out: list[str]


def save_pictures(result: SearchResult, folder: str | Path) -> Pictures:
    """Write network.png, subnetwork.png, pruning.png and loss.png. A formula that was not pruned to one edge per
    operand (the linear model, or a sum of all large edges) has no subnetwork: the two pictures of it are left out."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    pruned = result.candidate.pruned
    choice, weights = (None, None) if pruned is None else (pruned.choice, pruned.weights)
    figures = {"network.png": draw_network(result.network), "loss.png": draw_loss(result)}
    if choice is not None and weights is not None:
        figures["subnetwork.png"] = draw_subnetwork(result.network, weights, choice, fitted=result.best.expression)
        figures["pruning.png"] = draw_pruning(result.network, weights, choice)
    names = ("network.png", "subnetwork.png", "pruning.png", "loss.png")
    for name, figure in figures.items():
        save(figure, folder / name)
    return Pictures([folder / n for n in names if n in figures], [n for n in names if n not in figures])


@dataclass(frozen=True)
class _Places:
    """Where the nodes stand (-1 is the output), and where their operands enter."""

    network: Network
    unit: float = 0.5  # inches

    @property
    def line(self) -> float:
        """The height of a line of a title."""
        return 0.2 / self.unit

    @cached_property
    def inputs(self) -> list[float]:
        count = self.network.sizes[0]
        step = min(2.0, max(1.0, (len(self.network.rows) - 1) / max(count - 1, 1)))
        return [((count - 1) / 2 - k) * step for k in range(count)]

    @cached_property
    def high(self) -> float:
        return max(self.inputs[0], (len(self.network.rows) - 1) / 2)

    @property
    def low(self) -> float:
        return -self.high

    @property
    def width(self) -> float:
        return (self.network.layers + 1) * COLUMN

    @cached_property
    def names_outside(self) -> bool:
        return max(map(len, self.network.inputs)) > 3

    @cached_property
    def left(self) -> float:
        """The room that the names of the inputs need beside their nodes."""
        return 0.8 + (min(18, max(map(len, self.network.inputs))) * 0.2 if self.names_outside else 0.0)

    @property
    def breadth(self) -> float:
        """Of the picture: a small network has room beside it, for the titles."""
        return max(self.left + self.width + 1.0, 5.5 / self.unit)

    def column(self, node: int) -> int:
        if node < 0:
            return self.network.layers + 1
        behind = node - self.network.sizes[0]
        return 0 if behind < 0 else 1 + behind // len(self.network.rows)

    def node(self, node: int) -> Point:
        if node < 0:
            return self.width, 0.0
        rows = len(self.network.rows)
        if node < self.network.sizes[0]:
            return 0.0, self.inputs[node]
        return self.column(node) * COLUMN, (rows - 1) / 2 - (node - self.network.sizes[0]) % rows

    def port(self, group: int) -> Point:
        """Where the edges of a group end: the first operand of two enters above the second."""
        g = self.network.groups[group]
        x, y = self.node(g.node)
        offset = 0.0 if len(self.network.groups_of[g.node]) == 1 else PORT * (1 - 2 * g.operand)
        return x - (RADIUS**2 - offset**2) ** 0.5, y + offset

    def chains(self, choice: Choice) -> dict[int, list[Point]]:
        """The `id` nodes that carry each retained node on to the layers that read it, between the other nodes."""
        readers: dict[int, list[int]] = {}
        for i in self.network.needed(choice):
            readers.setdefault(choice[i], []).append(i)
        rows = len(self.network.rows)
        gaps = [rows / 2 - k for k in range(rows + 1)]
        gaps += [side * (rows / 2 + 0.5 * k) for k in range(1, 1 + len(readers)) for side in (1, -1)]
        taken: set[tuple[int, float]] = set()
        found: dict[int, list[Point]] = {}
        for source in sorted(readers, key=lambda n: -self.node(n)[1]):
            furthest = max(readers[source], key=lambda i: self.network.groups[i].layer)
            goal, y = self.port(furthest)[1], self.node(source)[1]
            columns = range(self.column(source) + 1, self.network.groups[furthest].layer)
            found[source] = []
            for column in columns:
                wanted = y + (goal - y) / (columns.stop - column + 1)
                y = min((g for g in gaps if (column, g) not in taken), key=lambda g: abs(g - wanted))
                taken.add((column, y))
                found[source].append((column * COLUMN, y))
        return found


class _Stage(NamedTuple):
    """A network some of whose layers are pruned."""

    title: str
    retained: list[int]  # groups
    open: list[tuple[int, int]]  # group, source: edges that are still there
    nodes: list[int]


def _stages(network: Network, choice: Choice) -> list[_Stage]:
    """From the full network to the subnetwork, one for each layer at which something is pruned."""
    needed = list(network.needed(choice))
    found: list[_Stage] = []
    for pruned_from in range(network.layers + 2, 0, -1):
        nodes, todo = {-1}, [-1]
        retained: list[int] = []
        still: list[tuple[int, int]] = []
        while todo:
            for i in network.groups_of.get(todo.pop(), ()):
                group = network.groups[i]
                if group.layer >= pruned_from:
                    sources: Iterable[int] = (choice[i],)
                    retained.append(i)
                else:
                    sources = range(group.width)
                    still.extend((i, source) for source in sources)
                fresh = [source for source in sources if source not in nodes]
                nodes.update(fresh)
                todo.extend(fresh)
        if found and len(retained) == len(found[-1].retained):
            continue  # no node of this layer was retained
        if pruned_from > network.layers + 1:
            title = f"full network: {network.edges:,} edges"
        elif len(retained) == len(needed):
            title = f"subnetwork: {len(needed)} edges"
        else:
            where = "output" if pruned_from == network.layers + 1 else f"output to layer {pruned_from}"
            title = f"{where} pruned: {len(retained)} retained, {len(still):,} to go"
        found.append(_Stage(title, retained, still, sorted(nodes)))
        if len(retained) == len(needed):
            break
    return found


def _retained_nodes(network: Network, choice: Choice) -> list[int]:
    return sorted({-1, *(choice[i] for i in network.needed(choice))})


def _retained(
    axes: Axes,
    places: _Places,
    numbers: np.ndarray[Any, np.dtype[np.float64]],
    choice: Choice,
    *,
    width: float,
    chains: dict[int, list[Point]] | None = None,
) -> None:
    """The retained edges: level where they end, and the chains of `id` before them."""
    chains = places.chains(choice) if chains is None else chains
    network = places.network
    reach: dict[int, int] = {}  # how many `id` nodes of a chain are needed
    for i, source in choice.items():
        between = network.groups[i].layer - 1 - places.column(source)
        reach[source] = max(between, reach.get(source, 0))
        start = places.node(source) if between == 0 else chains[source][between - 1]
        weight = float(numbers[network.groups[i].start + source])
        start = (start[0] + (RADIUS if between == 0 else 0.0), start[1])
        curve(axes, [start, places.port(i)], sign_colour(weight), width, f"edge {i}", 4)
    for source, count in reach.items():
        if count:
            x, y = places.node(source)
            curve(axes, [(x + RADIUS, y), *chains[source][:count]], INK, 0.75 * width, f"chain {source}", 3)
            dots = np.array(chains[source][:count])
            axes.plot(*dots.T, "o", markersize=2 * width, color=INK, zorder=5)


def _nodes(axes: Axes, places: _Places, nodes: Iterable[int], *, size: float, faint: bool = False) -> None:
    network = places.network
    for node in nodes:
        row = network.operator_of(node) if node >= 0 else None
        if node < 0:
            text, kind = "out", "output"
        elif row is not None:
            text, kind = SYMBOLS.get(row.name, row.name), "unary" if row.arity == 1 else "binary"
        else:
            text, kind = (*network.inputs, "1")[node], "input"
        outside = kind == "input" and places.names_outside
        draw_node(axes, places.node(node), text, kind, name=node, size=size, outside=outside, faint=faint)


def _headers(axes: Axes, places: _Places, *, size: float, above: float = 0.0) -> None:
    layers = places.network.layers
    for column in range(layers + 2):
        text = "input" if column == 0 else "output" if column > layers else f"layer {column}"
        axes.text(column * COLUMN, places.high + 0.8 + above, text, size=size, color=GREY, ha="center")


def _title(axes: Axes, places: _Places, lines: list[str], result: Sequence[str] = ()) -> None:
    middle, top = sum(axes.get_xlim()) / 2, axes.get_ylim()[1] - 0.3
    for k, text in enumerate([*lines, *result]):
        axes.text(
            middle, top - k * places.line, text, size=11, color=INK, ha="center", va="top",
            weight="normal" if k < len(lines) else "bold", gid="title" if k < len(lines) else "fitted",
        )  # fmt: skip


def _wrap(places: _Places, text: str, most: int = 2) -> list[str]:
    """A title in at most so many lines; what does not fit is left out."""
    fits = int(places.breadth * places.unit * 72 / (11 * 0.65))
    lines = textwrap.wrap(text, fits)
    return lines if len(lines) <= most else [*lines[: most - 1], shorten(lines[most - 1], fits - 2) + " …"]


def _canvas(places: _Places, *, below: float, above: float) -> Axes:
    """Axes that fill their figure."""
    size = places.breadth * places.unit, (places.high - places.low + below + above) * places.unit
    axes = Figure(figsize=size, facecolor="white").add_axes((0, 0, 1, 1))
    _frame(axes, places, below=below, above=above)
    return axes


def _frame(axes: Axes, places: _Places, *, below: float, above: float) -> None:
    spare = (places.breadth - (places.left + places.width + 1.0)) / 2
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set_xlim(-places.left - spare, places.width + 1.0 + spare)
    axes.set_ylim(places.low - below, places.high + above)
