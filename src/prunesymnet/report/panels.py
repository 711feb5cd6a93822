"""What the pictures of data share: how their axes look, which scale they have, and which rows are drawn."""

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import SymmetricalLogLocator

from prunesymnet.data import Dataset
from prunesymnet.equations import Equation
from prunesymnet.report.drawing import BLUE, GREY, INK, PALE, Array, drawable, shorten

MOST_POINTS = 2000  # more are a blot, and a file that is slow to open
SEVERAL = 600  # points that a vector graphic draws one by one; more are an image within it
WIDE = 100.0  # a positive range of more than this factor can be shown on a logarithmic axis
LETTERS, NOTE_LETTERS = 10.0, 8.5  # points


class Points(NamedTuple):
    """The rows that are drawn, with their predictions, and what there is to say about them."""

    columns: dict[str, Array]
    observed: Array
    predicted: Array
    residuals: Array  # in units of a row of mean weight
    note: str


def sample(equation: Equation, data: Dataset) -> Points:
    """At most MOST_POINTS rows with a prediction, drawn at random (always the same), and a note on those left out."""
    used = used_rows(data)
    notes = []
    if used.rows > MOST_POINTS:
        chosen = np.random.default_rng(0).choice(used.rows, MOST_POINTS, replace=False)
        notes.append(f"{MOST_POINTS:,} of {used.rows:,} rows, drawn at random")
        used = used.take(np.sort(chosen))
    predicted = equation.predict(used.columns)
    known = np.isfinite(used.y - predicted)
    if not known.all():
        lost = f"{(~known).sum():,}"
        notes.append(f"not defined in {lost} of them" if notes else f"not defined in {lost} of {used.rows:,} rows")
    columns = {name: used.columns[name][known] for name in equation.expression.variables}
    residuals = (used.y - predicted)[known]
    if used.weights is not None and known.any():
        residuals = residuals * np.sqrt(used.weights[known] / used.weights[known].mean())
    return Points(columns, used.y[known], predicted[known], residuals, "; ".join(notes))


def used_rows(data: Dataset) -> Dataset:
    """Without rows of weight 0, which no fit has seen."""
    return data if data.weights is None or data.weights.all() else data.take(data.weights > 0)


def new_figure(width: float, height: float) -> Figure:
    layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.1)
    return Figure(figsize=(width, height), facecolor="white", layout=layout)


def set_look(axes: Axes) -> Axes:
    axes.set_facecolor("none")
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(which="both", color=GREY, labelcolor=INK, labelsize=LETTERS - 1)
    axes.grid(color=PALE, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.ticklabel_format(useMathText=True, scilimits=(-3, 4))  # longer numbers share a power of ten
    axes.locator_params(nbins=6)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set(color=INK, size=LETTERS, parse_math=False)
        axis.get_offset_text().set(color=INK, size=LETTERS - 1)
    return axes


def is_wide(values: Array) -> bool:
    """Whether they are told apart better on a logarithmic axis: they go over decades, and most are small."""
    known = values[np.isfinite(values)]
    return bool(known.size and known.min() > 0 and known.max() > max(WIDE * known.min(), 5 * np.median(known)))


def set_log_scale(axes: Axes, values: Array) -> None:
    """A logarithmic axis for numbers >= 0. If there is a 0 among them, it has a tick of its own below all others."""
    positive = values[values > 0]
    if positive.size == values.size:
        axes.set_yscale("log")
        return
    least = 10.0 ** np.floor(np.log10(positive.min())) if positive.size else 1.0
    axes.set_yscale("symlog", linthresh=least)
    axes.yaxis.set_major_locator(SymmetricalLogLocator(linthresh=least, base=10))
    axes.locator_params(axis="y", numticks=6)
    axes.set_ylim(bottom=-0.5 * least)


def set_limits(axes: Axes, x: Array, y: Array) -> None:
    """The axes show these values with matplotlib's margins, whatever else is drawn; room around a single value, too."""
    lows, highs = np.array([(np.nanmin(values), np.nanmax(values)) for values in (x, y)]).T
    spare = np.where(highs > lows, 0.0, np.abs(highs) / 2 + (highs == 0))
    axes.update_datalim([lows - spare, highs + spare])
    axes.autoscale_view()
    axes.autoscale(False)


def scatter(axes: Axes, x: Array, y: Array, gid: str, *, faint: bool = False) -> None:
    many = len(x) > SEVERAL
    axes.plot(
        x, y, "o", color=GREY if faint else BLUE, markersize=2.5 if many else 4.5 if len(x) > 100 else 5.5,
        alpha=(0.25 if many else 0.5) if faint else (0.35 if many else 0.6), markeredgewidth=0,
        rasterized=many, gid=gid, zorder=3,
    )  # fmt: skip


def say_empty(axes: Axes) -> None:
    axes.set(xticks=[], yticks=[])
    text = "the formula is defined\nin no row of the table"
    axes.text(0.5, 0.5, text, transform=axes.transAxes, color=GREY, ha="center", va="center", gid="empty")


def add_note(axes: Axes, *notes: str) -> None:
    text = "; ".join(note for note in notes if note)
    if text:
        axes.set_title(text, loc="left", size=NOTE_LETTERS, color=GREY, gid="note", wrap=True)


def label(text: str, most: int) -> str:
    return drawable(shorten(text, most))
