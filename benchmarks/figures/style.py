"""How the figures look: one colour and mark per method, names beside what they name, and files that never change by
themselves."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from benchmarks.methods.registry import METHODS, REFERENCES, SHOWN
from benchmarks.statistics import wilson

INK, GREY, PALE, BAND = "#222222", "#8A8A8A", "#E4E4E4", "#F5F6F7"
COLOURS = {name: METHODS[name].colour for name in (*SHOWN, *REFERENCES)}
MARKS = {name: METHODS[name].mark for name in (*SHOWN, *REFERENCES)}
LOOK = {
    "axes.axisbelow": True,
    "axes.edgecolor": GREY,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 9.5,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "figure.facecolor": "white",  # solid: the pages they are on may be dark
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.color": PALE,
    "grid.linewidth": 0.7,
    "savefig.dpi": 150,
    "svg.hashsalt": "prunesymnet",  # names inside the file, the same each time
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """As SVG and PNG, without a date or the name of a program, so that the same runs make the same bytes."""
    paths = [folder / f"{name}.svg", folder / f"{name}.png"]
    with mpl.rc_context(LOOK):
        figure.savefig(paths[0], metadata={"Date": None, "Creator": None})
        figure.savefig(paths[1], metadata={"Software": None}, pil_kwargs={"optimize": True})
    return paths


def blank(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), layout="constrained")


def apart(values: Sequence[float], gap: float) -> list[float]:
    """The values moved as little as is simple until neighbours are `gap` apart, in their order.

    >>> apart([1.0, 5.0, 1.0], 2.0)
    [0.0, 5.0, 2.0]
    """
    order = np.argsort(values, kind="stable")
    groups: list[tuple[float, list[int]]] = []  # middles, and who stands around them
    for index in order:
        groups.append((float(values[index]), [int(index)]))
        while len(groups) > 1:
            (low, first), (high, second) = groups[-2:]
            if high - low >= gap * (len(first) + len(second)) / 2:
                break
            middle = (low * len(first) + high * len(second)) / (len(first) + len(second))
            groups[-2:] = [(middle, first + second)]
    placed = np.empty(len(values))
    for middle, members in groups:
        placed[members] = middle + gap * (np.arange(len(members)) - (len(members) - 1) / 2)
    return placed.tolist()


def name_lines(axes: Axes, ends: dict[str, tuple[float, str]], gap: float) -> None:
    """Names at the right end of lines: each with the height where its line ends, and its colour."""
    places = apart([height for height, _ in ends.values()], gap)
    for (name, (height, colour)), place in zip(ends.items(), places, strict=True):
        axes.annotate(
            name, (1, height), (12, place), xycoords=("axes fraction", "data"), color=colour, va="center", fontsize=9,
            textcoords=("offset points", "data"), annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.7, "shrinkA": 1, "shrinkB": 1},
        )  # fmt: skip


def scatter_widths(number: int, width: float) -> np.ndarray:
    """Offsets that keep points of one row from hiding each other: even, not random, so that they stay the same."""
    return width * ((np.arange(number) * 0.6180339887) % 1 - 0.5)


def error_bars(found: Sequence[int], tried: Sequence[int]) -> np.ndarray:
    """Wilson's intervals as lengths below and above the share, in percent."""
    shares = np.array([k / n for k, n in zip(found, tried, strict=True)])
    ends = np.array([wilson(k, n) for k, n in zip(found, tried, strict=True)])
    return 100 * np.clip([shares - ends[:, 0], ends[:, 1] - shares], 0, None)


def percent(axes: Axes) -> None:
    axes.set_ylim(-3, 103)
    axes.yaxis.set_major_locator(FixedLocator([0, 25, 50, 75, 100]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}%"))


def plain_log(axis: object, ticks: Sequence[float], unit: str = "") -> None:
    """Ticks of a logarithmic axis as plain numbers."""
    axis.set_major_locator(FixedLocator(list(ticks)))  # type: ignore[attr-defined]
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}{unit}"))  # type: ignore[attr-defined]
    axis.set_minor_locator(NullLocator())  # type: ignore[attr-defined]
