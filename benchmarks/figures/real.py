"""Tables without a known formula: how well a method predicts, and how long its formulas are."""

import pandas as pd
from matplotlib.figure import Figure

from benchmarks.figures.style import COLOURS, GREY, MARKS, blank, plain_log
from benchmarks.methods.registry import REFERENCES, title
from benchmarks.statistics import methods_in, of
from benchmarks.tables.real import held_out, with_references


def real(runs: pd.DataFrame) -> Figure | None:
    """Median held-out R² against median complexity, with their quartiles, and the methods that none betters in both;
    what has no formula is a line across."""
    everything = held_out(runs)
    chosen = everything[everything["complexity"] > 0]
    if chosen.empty:
        return None
    there = with_references(chosen)
    figure = blank(6.4, 4.2)
    axes = figure.subplots()
    for method in methods_in(everything, REFERENCES):
        if method not in there:
            height = of(everything, method)["r2"].median()
            axes.axhline(height, color=COLOURS[method], lw=1, ls=":", zorder=0)
            axes.annotate(
                f"{title(method)}\n(no formula)", (1, height), (4, 0), xycoords=("axes fraction", "data"),
                textcoords="offset points", va="center", color=COLOURS[method], annotation_clip=False,
            )  # fmt: skip
    middles, spans = {}, {}
    for method in there:
        sizes, fits = (of(chosen, method)[name].quantile([0.25, 0.5, 0.75]).to_numpy() for name in ("complexity", "r2"))
        colour = COLOURS[method]
        axes.plot(sizes[[0, 2]], fits[[1, 1]], color=colour, lw=1.2, alpha=0.5)
        axes.plot(sizes[[1, 1]], fits[[0, 2]], color=colour, lw=1.2, alpha=0.5)
        axes.plot(sizes[1], fits[1], MARKS[method], color=colour, ms=9)
        middles[method], spans[method] = (sizes[1], fits[1]), (fits[0], fits[2])
    # Names stand above and below in turn, so that neighbours do not meet.
    for turn, method in enumerate(sorted(there, key=middles.__getitem__)):
        above = turn % 2 == 0
        axes.annotate(
            title(method), (middles[method][0], spans[method][above]), (0, 4 if above else -4), ha="center",
            textcoords="offset points", va="bottom" if above else "top", color=COLOURS[method],
        )  # fmt: skip
    front = pareto({method: middle for method, middle in middles.items() if method not in REFERENCES})
    if front:
        axes.plot(*zip(*front, strict=True), color=GREY, lw=1, ls="--", zorder=0)
    low, high = chosen["complexity"].quantile([0.05, 0.95])
    axes.margins(0.12)
    axes.set(xscale="log", xlabel="median complexity (smaller is better)", ylabel="median held-out R²")
    plain_log(axes.xaxis, [t for t in (1, 2, 5, 10, 20, 50, 100, 200, 500) if low / 2 <= t <= high * 2])
    axes.set_title(f"{chosen['problem'].nunique()} tables without a known formula: medians, quartiles and front")
    return figure


def pareto(middles: dict[str, tuple[float, float]]) -> list[tuple[float, float]]:
    """The points that no other one betters in size and fit, by size.

    >>> pareto({"a": (3, 0.5), "b": (5, 0.4), "c": (9, 0.8)})
    [(3, 0.5), (9, 0.8)]
    """
    front: list[tuple[float, float]] = []
    for size, fit in sorted(middles.values(), key=lambda point: (point[0], -point[1])):
        if not front or fit > front[-1][1]:
            front.append((size, fit))
    return front
