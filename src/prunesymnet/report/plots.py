"""Pictures of equations on their data: the front, predictions, residuals, and what each variable does.

>>> from prunesymnet.coefficients import fit
>>> from prunesymnet.data import load_example
>>> from prunesymnet.expression import parse
>>> hubble = load_example("hubble")
>>> law = Equation.of(fit(parse("1.0*distance"), hubble), hubble)
>>> figure = draw_predictions(law, hubble)
>>> figure.savefig("predictions.png")  # doctest: +SKIP

Each function returns a figure; nothing is shown, and no global state of matplotlib is touched. Of a large table a few
thousand rows are drawn, and the picture says so. Rows of weight 0, which no fit has seen, are left out.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator, ScalarFormatter
from scipy.special import ndtri

from prunesymnet.data import Dataset
from prunesymnet.equations import Equation, Front
from prunesymnet.report.drawing import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    PALE,
    Array,
    drawable,
    on_log_axis,
    power_text,
    shorten,
    superscript,
)

MOST_POINTS = 2000
MOST_PANELS = 12
STEPS = 241  # of a curve
SEVERAL = 600  # points that a vector graphic draws one by one
WIDE = 100.0  # a positive range of more than this factor can be shown on a logarithmic axis
SIZE = (4.8, 4.2)  # inches
LETTERS = 10.0  # points


Curve = tuple[Array, Array, Array, Array]


class Points(NamedTuple):
    """The rows that are drawn, with their predictions, and what there is to say about them."""

    columns: dict[str, Array]
    observed: Array
    predicted: Array
    weights: Array | None
    note: str

    @property
    def residuals(self) -> Array:
        """In units of a row of mean weight."""
        residual = self.observed - self.predicted
        return residual if self.weights is None else residual * np.sqrt(self.weights / self.weights.mean())


def draw_front(front: Front) -> Figure:
    """Complexity against mean squared error, on a logarithmic axis; the chosen equation is marked."""
    figure, axes = _panel((SIZE[0], 3.4))
    known = [i for i, equation in enumerate(front) if np.isfinite(equation.loss) and equation.loss >= 0]
    if known:
        losses = np.array([front[i].loss for i in known])
        _logarithmic(axes, "y", float(losses.min()), float(losses.max()))
        heights = on_log_axis(axes, losses)
        ends = np.log10([heights.min(), heights.max()])
        spare = max(0.35, 0.1 * float(np.ptp(ends)))
        axes.set_ylim(10 ** max(ends[0] - spare, -300.0), 10 ** min(ends[1] + spare, 300.0))
        complexity = np.array([front[i].complexity for i in known])
        order = np.argsort(complexity, kind="stable")
        axes.plot(
            complexity[order], np.minimum.accumulate(heights[order]),
            drawstyle="steps-post", color=GREY, linewidth=1.0, gid="steps", zorder=2,
        )  # fmt: skip
        axes.plot(complexity, heights, "o", color=BLUE, markersize=6, gid="front", zorder=3)
        _mark(axes, complexity, heights, known.index(front.chosen) if front.chosen in known else None)
        axes.set_xlim(0, 1.06 * complexity.max() + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]))
    axes.set_xlabel("complexity")
    axes.set_ylabel("mean squared error")
    return figure


def _mark(axes: Axes, complexity: Array, heights: Array, chosen: int | None) -> None:
    if chosen is None:
        return
    x, y = float(complexity[chosen]), float(heights[chosen])
    axes.plot([x], [y], "o", color=ORANGE, markersize=8, gid="chosen", zorder=4)
    axes.plot([x], [y], "o", markerfacecolor="none", markeredgecolor=ORANGE, markersize=14, gid="ring", zorder=4)
    left = x > 0.8 * complexity.max() and len(complexity) > 1
    axes.annotate(
        "chosen", (x, y), xytext=(-8 if left else 8, 8), textcoords="offset points", color=ORANGE, size=LETTERS,
        ha="right" if left else "left", va="bottom", gid="chosen name", zorder=4,
    )  # fmt: skip


def draw_predictions(equation: Equation, data: Dataset) -> Figure:
    """What the equation predicts against what was observed; a perfect prediction lies on the line."""
    points = sample(equation, data)
    figure, axes = _panel(SIZE)
    target = _label(equation.target, 40)
    observed, predicted = points.observed, points.predicted
    if not _empty(axes, predicted):
        low, high = float(observed.min()), float(observed.max())
        if _is_wide(observed) and (predicted > 0).all():
            _logarithmic(axes, "x", low, high)
            _logarithmic(axes, "y", low, high)
        beyond = (predicted < low - 2 * (high - low)) | (predicted > high + 2 * (high - low))
        ends = _margins(np.array([low, high, *predicted[~beyond]]), axes.get_xscale() == "log")
        axes.plot(ends, ends, color=GREY, linewidth=1.0, gid="identity", zorder=1)
        _scatter(axes, observed, predicted, "points")
        axes.set_xlim(ends)
        axes.set_ylim(ends)
        axes.set_aspect("equal", adjustable="box")
        _note(axes, points.note, f"{beyond.sum()} beyond the picture" if beyond.any() else "")
    axes.set_xlabel(f"{target}, observed", parse_math=False)
    axes.set_ylabel(f"{target}, predicted", parse_math=False)
    return figure


def draw_residuals(equation: Equation, data: Dataset) -> Figure:
    """Observed minus predicted, against the prediction, and against the quantiles of the normal distribution: there,
    normal scatter lies on the line."""
    points = sample(equation, data)
    figure = _figure(SIZE)
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(1.7, 1))
    _look(left)
    _look(right)
    if not _empty(left, points.predicted):
        residual = points.residuals
        if _is_wide(points.predicted):
            _logarithmic(left, "x", float(points.predicted.min()), float(points.predicted.max()))
        for axes in (left, right):
            axes.axhline(0.0, color=GREY, linewidth=1.0, zorder=1)
        _scatter(left, points.predicted, residual, "residuals")
        _spare(left, "x", points.predicted)
        _spare(left, "y", residual)
        ranks = (np.arange(len(residual)) + 0.5) / len(residual)
        normal = ndtri(ranks)
        spread = float(np.sqrt(np.mean(residual**2)))
        ends = np.array([-1.08, 1.08]) * max(float(normal[-1]), 1.0)
        right.plot(ends, spread * ends, color=ORANGE, linewidth=1.0, gid="normal", zorder=2)
        _scatter(right, normal, np.sort(residual), "quantiles")
        right.set_xlim(*ends)
        right.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        rounding = np.abs(residual).max() <= 1e-12 * np.abs(points.observed).max()
        _note(left, points.note, "no larger than rounding errors" if rounding else "")
    weighted = "weighted residual" if data.weights is not None else "residual"
    left.set_ylabel(f"{weighted} (observed − predicted)")
    left.set_xlabel(f"{_label(equation.target, 24)}, predicted", parse_math=False)
    right.set_xlabel("normal quantile")
    return figure


def draw_effects(
    equation: Equation,
    data: Dataset,
    variables: Sequence[str] | None = None,
    *,
    labels: Mapping[str, str] | None = None,
) -> Figure:
    """What the equation predicts as one variable goes through its range and the others stay at their medians, a panel
    for each; the band is where 95% of new measurements would be. Each point is a row, moved to where it would be if
    the other variables were at their medians: its residual is what it was. `labels` are names for the axes."""
    wanted = list(effective(equation, data) if variables is None else variables)
    across = 1 if len(wanted) <= 1 else 2 if len(wanted) <= 4 else 3
    down = max(1, -(-len(wanted) // across))
    width = SIZE[0] if across == 1 else 3.6 * across
    figure = _figure((width, 3.4 * down if across == 1 else 3.0 * down))
    panels = np.atleast_1d(figure.subplots(down, across, squeeze=False)).ravel()
    points = sample(equation, data)
    middle = _medians(equation, data)
    for axes, name in zip(panels, wanted, strict=False):
        _look(axes)
        _draw_effect(axes, equation, points, name, middle, effect(equation, data, name, middle))
        axes.set_xlabel(_label((labels or {}).get(name, name), 48), parse_math=False)
        axes.set_ylabel(_label(equation.target, 32), parse_math=False)
    for axes in panels[len(wanted) :]:
        axes.set_axis_off()
    if not wanted:
        panels[0].text(0.5, 0.5, "the formula has no variable", color=GREY, ha="center", va="center")
    elif across == 1:
        _note(panels[0], points.note)
    else:
        figure.suptitle(points.note, size=LETTERS - 1.5, color=GREY)
    return figure


def effective(equation: Equation, data: Dataset) -> list[str]:
    """The variables of an equation, in the order of the table; of many, those that change its value the most.

    >>> from prunesymnet.data import load_example
    >>> from prunesymnet.coefficients import fit
    >>> from prunesymnet.expression import parse
    >>> hubble = load_example("hubble")
    >>> effective(Equation.of(fit(parse("1.0*distance"), hubble), hubble), hubble)
    ['distance']
    """
    names = [name for name in data.names if name in equation.expression.variables]
    if len(names) <= MOST_PANELS:
        return names
    used = _used(data)
    middle = _medians(equation, data)
    reach = {}
    for name in names:
        values = equation.predict(_varied(middle, name, np.quantile(used.columns[name], np.linspace(0, 1, 21))))
        known = values[np.isfinite(values)]
        reach[name] = float(np.ptp(known)) if known.size else 0.0
    kept = sorted(names, key=lambda name: -reach[name])[:MOST_PANELS]
    return [name for name in names if name in kept]


def effect(equation: Equation, data: Dataset, name: str, middle: Mapping[str, float] | None = None) -> Curve:
    """The curve of a panel: the variable's values, the predictions, and the lower and upper end of their interval.
    `middle` has the medians of the variables, if they are known."""
    column = _used(data).columns[name]
    low, high = float(column.min()), float(column.max())
    if low == high:
        reach = abs(low) / 2 or 1.0
        low, high = low - reach, high + reach
    grid = np.geomspace(low, high, STEPS) if _is_wide(column) else np.linspace(low, high, STEPS)
    table = _varied(_medians(equation, data) if middle is None else middle, name, grid)
    lower, upper = equation.interval(table)
    return grid, equation.predict(table), lower, upper


def _medians(equation: Equation, data: Dataset) -> dict[str, float]:
    columns = _used(data).columns
    return {name: float(np.median(columns[name])) for name in equation.expression.variables}


def _draw_effect(
    axes: Axes, equation: Equation, points: Points, name: str, middle: Mapping[str, float], curve: Curve
) -> None:
    x, values, lower, upper = curve
    column = points.columns[name]
    moved = equation.predict(_varied(middle, name, column)) + points.observed - points.predicted
    if x[1] - x[0] < 0.5 * (x[-1] - x[-2]):  # its steps grow: it goes over decades
        _logarithmic(axes, "x", float(x[0]), float(x[-1]))
    shown = np.concatenate([moved[np.isfinite(moved)], values[np.isfinite(values)]])
    if not shown.size:
        _empty(axes, shown)
        return
    base = moved[np.isfinite(moved)] if np.isfinite(moved).any() else shown
    low, high = float(base.min()), float(base.max())
    reach = (high - low) or abs(high) or 1.0
    if _is_wide(base) and (values[np.isfinite(values)] > 0).all():
        _logarithmic(axes, "y", low, high)
    # A curve with a pole is drawn as far as it is near the data; what lies further out has no line through the pole.
    near = (values > low - 10 * reach) & (values < high + 10 * reach)
    sure = np.isfinite(lower) & np.isfinite(upper) & near
    drawn = np.concatenate([values, lower[sure], upper[sure]])
    inside = drawn[(drawn > low - reach) & (drawn < high + reach)]
    axes.fill_between(x, lower, upper, where=sure.tolist(), color=BLUE, alpha=0.14, linewidth=0, gid=f"band {name}")
    _scatter(axes, column, moved, f"points {name}", faint=True)
    line = np.where(near, values, np.nan)
    axes.plot(x, line, color=BLUE, linewidth=1.8, gid=f"curve {name}", zorder=4)
    _spare(axes, "x", x, 0.02)
    _spare(axes, "y", np.concatenate([base, inside]), 0.08)


def sample(equation: Equation, data: Dataset) -> Points:
    """At most MOST_POINTS rows with a prediction, drawn at random (always the same), and a note on those left out."""
    used = _used(data)
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
    weights = None if used.weights is None else used.weights[known]
    return Points(columns, used.y[known], predicted[known], weights, "; ".join(notes))


def _used(data: Dataset) -> Dataset:
    return data if data.weights is None or data.weights.all() else data.take(data.weights > 0)


def _label(text: str, most: int) -> str:
    return drawable(shorten(text, most))


def _varied(middle: Mapping[str, float], name: str, values: Array) -> dict[str, Array]:
    return {other: values if other == name else np.full(len(values), at) for other, at in middle.items()}


def _is_wide(values: Array) -> bool:
    """Whether they are told apart better on a logarithmic axis: they go over decades, and most are small."""
    known = values[np.isfinite(values)]
    return bool(known.size and known.min() > 0 and known.max() > max(WIDE * known.min(), 5 * np.median(known)))


def _panel(size: tuple[float, float]) -> tuple[Figure, Axes]:
    figure = _figure(size)
    axes = figure.subplots()
    _look(axes)
    return figure, axes


def _figure(size: tuple[float, float]) -> Figure:
    layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.1)
    return Figure(figsize=size, facecolor="white", layout=layout)


def _look(axes: Axes) -> None:
    axes.set_facecolor("none")
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(which="both", color=GREY, labelcolor=INK, labelsize=LETTERS - 1)
    axes.grid(color=PALE, linewidth=0.5)
    axes.set_axisbelow(True)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set(color=INK, size=LETTERS)
        axis.get_offset_text().set(color=INK, size=LETTERS - 1)
        axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
        axis.set_major_formatter(_Plain())


class _Plain(ScalarFormatter):
    """Ticks as letters, with a power of ten common to all where numbers are long."""

    def __init__(self) -> None:
        super().__init__(useMathText=False)
        self.set_powerlimits((-3, 4))

    def get_offset(self) -> str:
        return re.sub(r"1e([−-]?\d+)", lambda m: "×10" + superscript(int(m[1].replace("−", "-"))), super().get_offset())


def _logarithmic(axes: Axes, which: str, low: float, high: float) -> None:
    """An axis with ticks at powers of ten, and between them if there are few."""
    getattr(axes, f"set_{which}scale")("log")
    axis = getattr(axes, f"{which}axis")
    axis.set_major_locator(LogLocator(subs=(1.0,) if high > 60 * low else (1.0, 2.0, 5.0), numticks=8))
    axis.set_minor_locator(LogLocator(subs=range(2, 10)) if high < 1e6 * low else NullLocator())
    plain = low >= 1e-3 and high < 1e4
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}" if plain else power_text(value)))
    axis.set_minor_formatter(NullFormatter())


def _scatter(axes: Axes, x: Array, y: Array, gid: str, *, faint: bool = False) -> None:
    many = len(x) > SEVERAL
    axes.plot(
        x, y, "o", color=GREY if faint else BLUE, markersize=2.5 if many else 4.5 if len(x) > 100 else 5.5,
        alpha=(0.25 if many else 0.5) if faint else (0.35 if many else 0.6), markeredgewidth=0,
        rasterized=many, gid=gid, zorder=3,
    )  # fmt: skip


def _empty(axes: Axes, predicted: Array) -> bool:
    if predicted.size:
        return False
    axes.set(xticks=[], yticks=[])
    axes.text(
        0.5, 0.5, "the formula is defined\nin no row of the table",
        transform=axes.transAxes, color=GREY, ha="center", va="center", size=LETTERS, gid="empty",
    )  # fmt: skip
    return True


def _margins(values: Array, log: bool, share: float = 0.05) -> tuple[float, float]:
    """Limits with a margin; around one value only, too."""
    known = values[np.isfinite(values)]
    low, high = float(known.min()), float(known.max())
    if log and low > 0:
        step = max(share * np.log10(high / low), 0.02)
        return low / 10**step, high * 10**step
    step = share * (high - low) or abs(high) * share or 1.0
    return low - step, high + step


def _spare(axes: Axes, axis: str, values: Array, share: float = 0.05) -> None:
    scale, limit = getattr(axes, f"get_{axis}scale")(), getattr(axes, f"set_{axis}lim")
    limit(*_margins(values, scale == "log", share))


def _note(axes: Axes, *notes: str) -> None:
    text = "; ".join(note for note in notes if note)
    if text:
        axes.set_title(text, loc="left", size=LETTERS - 1.5, color=GREY, gid="note", wrap=True)
