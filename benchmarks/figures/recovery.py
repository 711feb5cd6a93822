"""How much is recovered: against time, noise, and the number of points."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.conditions import LIMIT
from benchmarks.figures.style import COLOURS, MARKS, blank, error_bars, name_lines, percent, plain_log
from benchmarks.methods.registry import SHOWN, title
from benchmarks.statistics import MACHINE, machine_words, methods_in, of, on_one_machine, plain, sizes
from benchmarks.tables.methods import first_at_limit

EARLIEST = 0.01  # seconds on the time axis


def time(runs: pd.DataFrame) -> Figure | None:
    """The share of the paper's expressions that a method has answered, and rightly, after so many seconds; all on the
    same machine."""
    chosen = plain(runs[(runs["noise"] == 0) & (runs["seed"] == 0) & runs["method"].isin(SHOWN)], "paper")
    chosen = on_one_machine(chosen)
    if chosen.empty:
        return None
    figure = blank(6.4, 4.2)
    axes = figure.subplots()
    last = chosen["limit"].max()
    ends = {}
    for method in methods_in(chosen):
        own = of(chosen, method)
        at, share = _within(own)
        longest = own["limit"].max()
        until = max(longest, at[-1])
        axes.step([*at, until], [*share, share[-1]], where="post", color=COLOURS[method],
                  lw=2.4 if method == "ours" else 1.6, solid_capstyle="butt")  # fmt: skip
        axes.plot(until, share[-1], MARKS[method], color=COLOURS[method], ms=5, clip_on=False)
        if longest < last:
            axes.plot([until, last], [share[-1]] * 2, ":", color=COLOURS[method], lw=1)
        ends[f"{title(method)}, {share[-1]:.0f}%"] = (share[-1], COLOURS[method])
    axes.set(
        xscale="log",
        xlim=(EARLIEST, last * 1.05),
        xlabel=f"seconds on one core ({machine_words(*chosen[MACHINE].iloc[0])})",
    )
    axes.set_title(f"Recovered within the time, of the paper's {sum(sizes().values())} expressions, without noise")
    plain_log(axes.xaxis, [tick for tick in (0.01, 0.1, 1, 10, 60) if tick <= last])
    percent(axes)
    name_lines(axes, ends, 6.0)
    return figure


def _within(own: pd.DataFrame) -> tuple[list[float], list[float]]:
    """Times, and the percentage recovered until then. A method that was run with several limits has, at each time, the
    best that one of them gives: one that never stops by itself would have nothing to show before the longest."""
    by_limit = [runs for _, runs in own.groupby("limit")]
    at = [EARLIEST, *np.unique(own.loc[own["recovered"], "seconds"].clip(EARLIEST))]
    share = [
        max(100 * (runs["recovered"] & (runs["seconds"].clip(EARLIEST) <= time)).mean() for runs in by_limit)
        for time in at
    ]
    return at, share


def _lines(
    axes: Axes, own: pd.DataFrame, at: Sequence[float], places: Sequence[float], method: str, kind: str
) -> float:
    """One line with its intervals; gives the height of its end."""
    flags = [own.loc[own["at"] == value, kind] for value in at]
    there = [(place, int(flag.sum()), len(flag)) for place, flag in zip(places, flags, strict=True) if len(flag)]
    x, found, tried = (np.array(column) for column in zip(*there, strict=True))
    dashed = kind == "form"
    axes.errorbar(
        x, 100 * found / tried, error_bars(found, tried), color=COLOURS[method], marker=MARKS[method], ms=5,
        capsize=2.5, elinewidth=0.9, lw=1.8, ls="--" if dashed else "-",
        mfc="white" if dashed else COLOURS[method], clip_on=False,
    )  # fmt: skip
    return float(100 * found[-1] / tried[-1])


def noise(runs: pd.DataFrame) -> Figure | None:
    """Recovered and right form against noise, for the methods that were tried at as many levels as ours."""
    chosen = first_at_limit(runs, "paper")
    chosen = chosen.assign(at=chosen["noise"])
    levels = chosen.groupby("method")["at"].nunique()
    most = levels.get("ours", 0)
    if most < 2:
        return None
    at = sorted(of(chosen, "ours")["at"].unique())
    figure = blank(6.4, 4.2)
    axes = figure.subplots()
    there = [method for method in methods_in(chosen) if levels[method] >= most]
    ends = {}
    for place, method in enumerate(there):
        places = np.arange(len(at)) + 0.03 * (place - (len(there) - 1) / 2)
        own = of(chosen, method)
        for kind, word in (("form", "right form"), ("recovered", "recovered")):
            height = _lines(axes, own, at, places, method, kind)
            ends[f"{title(method)}, {word}"] = (height, COLOURS[method])
    axes.set_xticks(range(len(at)), ["none", *(f"{100 * level:g}%" for level in at[1:])] if at[0] == 0 else at)
    axes.set_xlabel("noise, as a part of the target's root mean square")
    axes.set_title(f"Of the paper's {sum(sizes().values())} expressions, {LIMIT:g} s on one core")
    axes.set_xlim(-0.2, len(at) - 0.85)
    percent(axes)
    name_lines(axes, ends, 6.0)
    return figure


def points(runs: pd.DataFrame) -> Figure | None:
    """Recovered against the number of points, for the methods that were tried with several."""
    chosen = runs[(runs["set"] == "paper") & (runs["noise"] == 0) & (runs["limit"] == LIMIT) & (runs["seed"] == 0)]
    chosen = chosen[(chosen["span"] == "") & chosen["method"].isin(SHOWN)].assign(at=lambda part: part["points"])
    numbers = chosen.groupby("method")["at"].nunique()
    there = [method for method in methods_in(chosen) if numbers[method] > 1]
    if not there:
        return None
    at = sorted(chosen.loc[chosen["method"].isin(there), "at"].unique())
    figure = blank(6.4, 4.2)
    axes = figure.subplots()
    ends = {title(m): (_lines(axes, of(chosen, m), at, at, m, "recovered"), COLOURS[m]) for m in there}
    axes.set(xscale="log", xlabel="points", xlim=(at[0] / 1.15, at[-1] * 1.15))
    axes.set_title(
        f"Recovered of the paper's {sum(sizes().values())} expressions, without noise, {LIMIT:g} s on one core"
    )
    plain_log(axes.xaxis, at)
    percent(axes)
    name_lines(axes, ends, 6.0)
    return figure
