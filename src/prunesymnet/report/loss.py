"""A picture of the loss: the network's over the epochs, and that of the best formula."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from prunesymnet.expression import Expression, to_text
from prunesymnet.report.drawing import BLUE, GREY, INK, ORANGE, shorten
from prunesymnet.report.numbers import count
from prunesymnet.report.panels import new_figure, set_log_scale, set_look
from prunesymnet.search import SearchResult


def drawn_formula(result: SearchResult) -> Expression:
    """What became of the subnetwork of least error: the formula that the pictures show. Where it is exact, it is the
    chosen one, which is the same and rounded; else a simpler one may have been chosen, of another subnetwork."""
    return (result.best if result.status.is_exact else result.candidate.fit).expression


def draw_loss(result: SearchResult) -> Figure:
    """The network's loss over the epochs with the prunings marked, and the error of the best formula so far, on the
    rows that are held out (where none are, on those that it was fitted to). What is not a positive number is left out,
    but for an error of 0, which has a tick of its own."""
    figure = new_figure(9, 5.4)
    upper, lower = map(set_look, figure.subplots(2, 1, sharex=True, height_ratios=(1.15, 1)))
    last = max(result.epochs, 1)
    losses = np.asarray(result.losses, dtype=np.float64)
    losses = np.where(np.isfinite(losses) & (losses > 0), losses, np.nan)
    upper.set_yscale("log")
    upper.plot(np.arange(1, len(losses) + 1), losses, color=BLUE, linewidth=1.1, gid="loss")
    upper.margins(y=0.12)
    rug = upper.get_xaxis_transform()
    upper.vlines(result.prunings, 0, 0.04, transform=rug, color=INK, linewidth=0.8, gid="prunings")
    upper.tick_params(axis="x", length=0)
    upper.set_title(
        f"ticks along the bottom: {count(len(result.prunings), 'pruning')}", loc="right", size=9, color=GREY
    )
    upper.set_ylabel("training loss\nof the network")
    _draw_improvements(lower, result, last)
    lower.set(xlabel="epoch", ylabel="error of the\nbest formula", xlim=(-0.015 * last, 1.015 * last))
    formula = shorten(to_text(drawn_formula(result), digits=3), 80)
    figure.suptitle(f"{formula}\n{count(result.epochs, 'epoch')}: {result.status.value}", size=11)
    return figure


def _draw_improvements(axes: Axes, result: SearchResult, last: int) -> None:
    found = [(epoch, error) for epoch, _, error in result.improvements if np.isfinite(error)]
    if not found:
        return
    epochs, errors = np.array(found, dtype=np.float64).T
    set_log_scale(axes, errors)
    axes.margins(y=0.25)  # room for the formula below the curve's end: a curve that only falls is never there
    steps = [*epochs, last], [*errors, errors[-1]]
    axes.plot(*steps, drawstyle="steps-post", color=ORANGE, linewidth=1.4, gid="held-out", zorder=2)
    axes.plot(epochs, errors, "o", markersize=4.5, color=ORANGE, gid="improvements", zorder=3)
    right = epochs[-1] > 0.5 * last
    axes.annotate(
        shorten(to_text(drawn_formula(result), digits=3), 70),
        (float(epochs[-1]), float(errors[-1])), xytext=(3 if right else -3, -8), textcoords="offset points",
        ha="right" if right else "left", va="top", size=10, color=INK, gid="formula", zorder=4,
        path_effects=[withStroke(linewidth=3, foreground="white")],
    )  # fmt: skip
