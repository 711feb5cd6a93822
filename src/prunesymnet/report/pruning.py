"""A picture of how a network was pruned, layer by layer, and all pictures of a search in files."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from prunesymnet.network import Choice, Network
from prunesymnet.report.drawing import GREY, INK, RADIUS, network_axes, save
from prunesymnet.report.loss import draw_loss, drawn_formula
from prunesymnet.report.networks import draw_lines, draw_network, draw_nodes, draw_retained, draw_subnetwork
from prunesymnet.report.places import Places
from prunesymnet.search import SearchResult

FORMATS = ("svg", "png", "pdf")
PALEST = 0.02  # opacity of an edge among ever so many
MANY = 700  # edges, of which each has half of the opacity that it has alone


def draw_pruning(network: Network, weights: ArrayLike, choice: Choice, steps: int = 4) -> Figure:
    """The network while it is pruned from the output to the inputs, in `steps` panels: retained edges strong, those
    that are still to be pruned grey."""
    if not isinstance(steps, int) or steps < 2:
        raise ValueError(f"steps must be a whole number >= 2, got {steps!r}")
    numbers, places = np.asarray(weights, dtype=np.float64), Places(network)
    chains, stages = places.chains(choice), _stages(network, choice)
    picked = [stages[k] for k in sorted({round(k) for k in np.linspace(0, len(stages) - 1, steps)})]
    unit = 0.245  # inches; half of what it is where there is one network in a picture
    bottom, top = -places.high - 0.9, places.high + 2.7
    figure, panels = network_axes(places.width, bottom, top, unit, left=places.longest, panels=len(picked))
    for letter, axes, stage in zip("abcdefghijklmnopqrstuvwxyz", panels, picked, strict=False):
        lines = [(places.node(source), places.port(i)) for i, source in stage.open]
        paler = PALEST + (0.4 - PALEST) / (1 + len(lines) / MANY)  # the more, the paler: nodes must stand out
        draw_lines(axes, lines, "open", colors=GREY, alpha=paler)
        draw_retained(axes, places, numbers, {i: choice[i] for i in stage.retained}, chains, width=1.5)
        draw_nodes(axes, places, stage.nodes, size=6)
        axes.text(-RADIUS, places.high + 1.25, letter, size=11, weight="bold")
        axes.text(-RADIUS + 1, places.high + 1.25, stage.title, size=10, color=INK)
    return figure


class _Stage(NamedTuple):
    """A network some of whose layers are pruned."""

    title: str
    retained: list[int]  # groups
    open: list[tuple[int, int]]  # group, source: edges that are still there
    nodes: set[int]


def _stages(network: Network, choice: Choice) -> list[_Stage]:
    """From the full network to the subnetwork, one for each layer at which something is pruned."""
    total = len(list(network.needed(choice)))
    found: list[_Stage] = []
    for pruned_from in range(network.layers + 2, 0, -1):
        nodes, todo = {-1}, [-1]
        retained: list[int] = []
        still: list[tuple[int, int]] = []
        while todo:
            for i in network.groups_of.get(todo.pop(), ()):
                pruned = network.groups[i].layer >= pruned_from
                sources: Iterable[int] = (choice[i],) if pruned else range(network.groups[i].width)
                if pruned:
                    retained.append(i)
                else:
                    still.extend((i, source) for source in sources)
                todo.extend(source for source in sources if source not in nodes)
                nodes.update(sources)
        if found and len(retained) == len(found[-1].retained):
            continue  # no node of this layer was retained
        where = "output" if pruned_from == network.layers + 1 else f"output to layer {pruned_from}"
        title = f"{where} pruned: {len(retained)} retained, {len(still):,} to go"
        if not found:
            title = f"full network: {network.edges:,} edges"
        elif len(retained) == total:
            title = f"subnetwork: {total} edges"
        found.append(_Stage(title, retained, still, nodes))
    return found


class Pictures(NamedTuple):
    """The files that were written, and the names of those that were not."""

    paths: list[Path]
    left_out: list[str]


def save_pictures(result: SearchResult, folder: str | Path, file_format: str = "png") -> Pictures:
    """Write network, subnetwork, pruning and loss, as svg, png or pdf. A formula that was not pruned to one edge per
    operand (the linear model, or a sum of all large edges) has no subnetwork: the two pictures of it are left out."""
    if file_format not in FORMATS:
        raise ValueError(f"file_format must be one of {', '.join(FORMATS)}, got {file_format!r}")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    network, pruned = result.network, result.candidate.pruned
    pictures = {"network": draw_network(network), "subnetwork": None, "pruning": None}
    if pruned is not None and pruned.choice is not None:
        weights, choice = pruned.weights, pruned.choice
        pictures["subnetwork"] = draw_subnetwork(network, weights, choice, fitted=drawn_formula(result))
        pictures["pruning"] = draw_pruning(network, weights, choice)
    pictures["loss"] = draw_loss(result)
    written = {folder / f"{name}.{file_format}": figure for name, figure in pictures.items() if figure is not None}
    for path, figure in written.items():
        save(figure, path)
    return Pictures(list(written), [f"{name}.{file_format}" for name, figure in pictures.items() if figure is None])
