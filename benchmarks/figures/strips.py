"""A row of points per method: errors, sizes of formulas, and times."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from benchmarks.conditions import LIMIT
from benchmarks.figures.style import BAND, COLOURS, GREY, INK, MARKS, blank, scatter_widths
from benchmarks.methods.registry import SHOWN, title
from benchmarks.published import DATA_SETS
from benchmarks.statistics import methods_in, of, relative_mse, sizes, usual
from benchmarks.tables.layout import HEADS
from benchmarks.tables.methods import first_at_limit, ratios
from benchmarks.tables.paper import BEST_OF

LEAST, MOST = 1e-30, 1e2  # errors beyond are drawn there


def mse(runs: pd.DataFrame) -> Figure | None:
    """The paper's figure: the test MSE of each method on each data set, the best of its first three runs."""
    chosen = usual(runs, "paper")
    chosen = chosen[(chosen["seed"] < BEST_OF) & chosen["method"].isin(SHOWN)]
    if chosen.empty:
        return None
    best = chosen.assign(mse=relative_mse(chosen)).groupby(["method", "group", "problem"])["mse"].min().reset_index()
    there = methods_in(best)
    figure = blank(8.4, 1.3 + 0.46 * len(there))
    panels = figure.subplots(2, 3, sharex=True, sharey=True)
    for axes, group in zip(panels.flat, DATA_SETS, strict=True):
        for place, method in enumerate(there):
            _errors(axes, place, best.loc[(best["method"] == method) & (best["group"] == group), "mse"], method)
        axes.set_title(HEADS[group])
        axes.set(xscale="log", xlim=(LEAST / 100, MOST * 1000))
        axes.xaxis.set_major_locator(FixedLocator([1e-30, 1e-20, 1e-10, 1]))
        axes.xaxis.set_minor_locator(NullLocator())
        _names(axes, there)
    figure.supxlabel(
        "test MSE / variance of the target (bar: median; leftmost: 1e-30 or less; cross: not finite)", fontsize=9.5
    )
    return figure


def _errors(axes: Axes, place: int, errors: pd.Series, method: str) -> None:
    values = errors.to_numpy()
    if not len(values):
        return
    heights = place + scatter_widths(len(values), 0.5)
    shown, finite = np.clip(values, LEAST, MOST), np.isfinite(values)
    axes.plot(shown[finite], heights[finite], MARKS[method], color=COLOURS[method], ms=3.6, alpha=0.7, mew=0)
    axes.plot(shown[~finite] * 30, heights[~finite], "x", color=COLOURS[method], ms=4)
    _bar(axes, float(np.exp(np.median(np.log(shown)))), place, 0.36)


def complexity(runs: pd.DataFrame) -> Figure | None:
    """How long the formulas are, as multiples of the true one: those that were recovered, and all."""
    chosen = first_at_limit(runs, "paper")
    chosen = chosen[(chosen["noise"] == 0) & (chosen["complexity"] > 0) & (chosen["true_complexity"] > 0)]
    chosen = chosen.assign(ratio=chosen["complexity"] / chosen["true_complexity"], full=chosen["recovered"])
    label = "complexity of the formula / of the true one (filled: recovered; hollow: all)"
    return _rows(chosen, label, 2.0, lambda value: f"{value:g}" if value >= 1 else f"1/{1 / value:g}")


def times(runs: pd.DataFrame) -> Figure | None:
    """How many times longer than ours the others take."""
    paired = ratios(runs)
    label = "seconds / seconds of PruneSymNet (filled: both recover; hollow: all)"
    return _rows(paired.assign(full=paired["both"]), label, 10.0, lambda value: f"{value:g}×")


def _rows(chosen: pd.DataFrame, label: str, base: float, write: Callable[[float], str]) -> Figure | None:
    """Two rows of `ratio` for each method: the runs that are `full`, and all; the medians stand at the right."""
    if chosen.empty:
        return None
    there = methods_in(chosen)
    figure = blank(7.2, 1.1 + 0.55 * len(there))
    axes = figure.subplots()
    for place, method in enumerate(there):
        own = of(chosen, method)
        for height, part, full in ((place - 0.22, own[own["full"]], True), (place + 0.22, own, False)):
            if len(part):
                _row(axes, height, part["ratio"].to_numpy(), method, full)
    _names(axes, there)
    axes.axvline(1, color=GREY, lw=1, zorder=0.5)
    axes.set(xscale="log", xlabel=label)
    axes.set_title(f"The paper's {sum(sizes().values())} expressions, without noise, {LIMIT:g} s on one core")
    axes.annotate("median (runs)", (1, 1), (6, 6), xycoords="axes fraction", textcoords="offset points", fontsize=8)
    ends = np.log([chosen["ratio"].min(), chosen["ratio"].max()]) / np.log(base)
    axes.xaxis.set_major_locator(FixedLocator(base ** np.arange(np.floor(ends[0]), np.ceil(ends[1]) + 1)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: write(value)))
    axes.xaxis.set_minor_locator(NullLocator())
    return figure


def _row(axes: Axes, place: float, values: np.ndarray, method: str, full: bool) -> None:
    colour = COLOURS[method]
    axes.plot(values, place + scatter_widths(len(values), 0.26), MARKS[method], color=colour, ms=3.8, alpha=0.75,
              mfc=colour if full else "none", mew=0 if full else 0.8)  # fmt: skip
    middle = float(np.median(values))
    _bar(axes, middle, place, 0.2)
    axes.annotate(f"{middle:.3g}× ({len(values)})", (1, place), (6, 0), xycoords=("axes fraction", "data"),
                  textcoords="offset points", va="center", fontsize=8, annotation_clip=False)  # fmt: skip


def _bar(axes: Axes, middle: float, place: float, half: float) -> None:
    axes.plot([middle, middle], [place - half, place + half], color=INK, lw=2, solid_capstyle="butt")


def _names(axes: Axes, there: list[str]) -> None:
    """The methods beside their rows, in their colours, every other row on a band."""
    axes.set_yticks(range(len(there)), [title(method) for method in there])
    for label, method in zip(axes.get_yticklabels(), there, strict=False):  # none where panels share them
        label.set_color(COLOURS[method])
    for place in range(0, len(there), 2):
        axes.axhspan(place - 0.5, place + 0.5, color=BAND, lw=0, zorder=0)
    axes.set_ylim(len(there) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.yaxis.grid(False)
    axes.spines["left"].set_visible(False)
