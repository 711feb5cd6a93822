"""Pictures of a network: the full one, and the subnetwork that was retained.

>>> from prunesymnet.network import Network
>>> network = Network(("x", "y"), layers=2)
>>> figure = draw_network(network)
>>> figure.savefig("network.png")  # doctest: +SKIP

Each function returns a figure; nothing is shown, and no global state of matplotlib is touched.
"""

import textwrap
from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

import prunesymnet.report.drawing as drawing
from prunesymnet.expression import Expression, canonical, to_text
from prunesymnet.network import Choice, Network
from prunesymnet.report.drawing import COLUMN, GREY, INK, RADIUS, Array, Point, network_axes
from prunesymnet.report.numbers import count
from prunesymnet.report.places import Places

CAPTION = "blue: weight > 0, orange: weight < 0, black with dots: id; the first operand enters above, the second below"
LETTERS_PER_INCH = 10  # of a title: those of the default font, 11 points high, are about 0.09 inches wide
INK_OF_DOTS = 4.0  # the opacities of the edges to one operand from all dots, together: darker, they hide what is behind
LINE = 0.2  # inches: the height of a line of a title


def draw_network(network: Network) -> Figure:
    """The full network. A dot is an `id`: it carries a node of an earlier layer on to the next."""
    places = Places(network)
    tracks = network.sizes[network.layers - 1]
    step = min(0.3, 5.0 / tracks)  # between two dots: close together where there are many
    top = -places.high - 0.9

    def carried(node: int, column: int) -> Point:
        return (column * COLUMN, top - node * step) if column > places.column(node) else places.node(node)

    size = f"{count(len(network.inputs), 'input')} and the constant 1, {count(network.layers, 'layer')} of "
    title = _wrapped(places, 0.4, f"{size}{len(network.rows)} operators: {network.edges:,} weighted edges", 3)
    bottom, above = top - max(tracks * step, 1.2) - 0.4, 1.4 + len(title) * LINE / 0.4
    figure, (axes,) = network_axes(places.width, bottom, places.high + above, 0.4, left=places.longest)
    ends = [(i, group, source) for i, group in enumerate(network.groups) for source in range(group.width)]
    ids = [(node, column) for column in range(1, network.layers + 1) for node in range(network.sizes[column - 1])]
    draw_lines(axes, [(carried(n, c - 1), carried(n, c)) for n, c in ids], "fixed", colors=GREY, alpha=0.6)
    # Edges from dots lie so close together that they need to be paler to look the same, the more of them the paler.
    from_dot = min(0.1, INK_OF_DOTS / tracks)
    strength = [0.3 if places.column(source) == group.layer - 1 else from_dot for _, group, source in ends]
    lines = [(carried(source, group.layer - 1), places.port(i)) for i, group, source in ends]
    draw_lines(axes, lines, "edges", colors=[to_rgba(drawing.BLUE, alpha) for alpha in strength])
    dots = np.array([carried(node, column) for node, column in ids])
    axes.scatter(dots[:, 0], dots[:, 1], s=min(9.0, (20 * step) ** 2), color=INK, linewidths=0, zorder=2, gid="ids")
    draw_nodes(axes, places, range(-1, network.sizes[-1]), size=8.5)
    _draw_headers(axes, places, places.high)
    note = "dots: id, which carries\na node of an earlier\nlayer to the next"
    axes.text(-RADIUS, top, note, size=8, color=GREY, va="top")
    _draw_title(figure, title)
    return figure


def draw_subnetwork(
    network: Network, weights: ArrayLike, choice: Choice, *, fitted: Expression | None = None
) -> Figure:
    """The retained nodes and edges with their weights; under its formula, what became of it when it was `fitted`."""
    numbers = np.asarray(weights, dtype=np.float64)
    formula = to_text(canonical(network.expression(numbers, choice)), digits=3)
    places = Places(network)
    chains = places.chains(choice)
    high = max([places.high, *(abs(y) for chain in chains.values() for _, y in chain)])
    title = _wrapped(places, 0.5, formula if fitted is None else f"trained: {formula}")
    result = [] if fitted is None else _wrapped(places, 0.5, f"fitted: {to_text(fitted, digits=3)}")
    caption = _wrapped(places, 0.5, CAPTION, 3)
    above, below = 1.4 + len(title + result) * LINE / 0.5, 0.8 + len(caption) * LINE / 0.5
    figure, (axes,) = network_axes(places.width, -high - below, high + above, 0.5, left=places.longest)
    near = [
        (places.node(source), places.port(i))
        for i, group in enumerate(network.groups)
        for source in range(group.width)
        if places.column(source) == group.layer - 1
    ]
    draw_lines(axes, near, "faint", colors=drawing.PALE, alpha=0.3)
    needed = {i: choice[i] for i in network.needed(choice)}
    kept = {-1, *needed.values()}
    draw_nodes(axes, places, (n for n in range(network.sizes[-1]) if n not in kept), size=10, faint=True)
    draw_retained(axes, places, numbers, needed, chains, width=1.8, with_text=True)
    draw_nodes(axes, places, kept, size=11)
    _draw_headers(axes, places, high)
    _draw_title(figure, title)
    _draw_title(figure, result, below=len(title), gid="fitted", weight="bold")
    figure.text(0.5, 0.02, "\n".join(caption), size=9, color=GREY, ha="center", va="bottom", gid="caption")
    return figure


def draw_lines(axes: Axes, lines: list[tuple[Point, Point]], gid: str, **look: Any) -> None:
    axes.add_collection(LineCollection(lines, linewidths=0.3, zorder=1, gid=gid, **look))


def draw_retained(
    axes: Axes, places: Places, numbers: Array, choice: Choice, chains: dict[int, list[Point]], *,
    width: float, with_text: bool = False,
) -> None:  # fmt: skip
    """The retained edges, and as much of the chains of `id` before them as they need."""
    reach: dict[int, int] = {}
    for i, source in choice.items():
        group = places.network.groups[i]
        between = group.layer - 1 - places.column(source)
        reach[source] = max(between, reach.get(source, 0))
        start = places.node(source) if between == 0 else chains[source][between - 1]
        weight = float(numbers[group.start + source])
        text = drawing.short_number(weight) if with_text else ""
        drawing.draw_edge(axes, start, places.port(i), weight, gid=i, width=width, text=text)
    for source, passed in reach.items():
        if passed:
            drawing.draw_chain(axes, places.node(source), chains[source][:passed], gid=source, width=width)


def draw_nodes(axes: Axes, places: Places, nodes: Iterable[int], *, size: float, faint: bool = False) -> None:
    network = places.network
    for node in nodes:
        row = network.operator_of(node) if node >= 0 else None
        if row is not None:
            text, kind = drawing.SYMBOLS.get(row.name, row.name), "unary" if row.arity == 1 else "binary"
        else:
            text, kind = ("out", "output") if node < 0 else ((*network.inputs, "1")[node], "input")
        beside = "left" if kind == "input" else ""
        drawing.draw_node(axes, places.node(node), text, kind, gid=node, size=size, beside=beside, faint=faint)


def _draw_headers(axes: Axes, places: Places, high: float) -> None:
    for column, name in enumerate(["input", *(f"layer {k + 1}" for k in range(places.network.layers)), "output"]):
        axes.text(column * COLUMN, high + 0.8, name, size=9, color=GREY, ha="center")


def _wrapped(places: Places, unit: float, text: str, most: int = 2) -> list[str]:
    """A text in at most so many lines that are no wider than the network; what does not fit is left out."""
    return textwrap.wrap(text, int(places.width * unit * LETTERS_PER_INCH), max_lines=most, placeholder=" …")


def _draw_title(
    figure: Figure, lines: list[str], *, below: int = 0, gid: str = "title", weight: str = "normal"
) -> None:
    """At the top of the picture, `below` so many other lines."""
    top = 1 - (0.1 + LINE * below) / figure.get_figheight()
    figure.text(0.5, top, "\n".join(lines), size=11, color=INK, ha="center", va="top", weight=weight, gid=gid)
