"""A picture of what each variable of an equation does, while the others stay at their medians; columns of 0 and 1,
which tell of categories, stay as they are in most rows."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import prunesymnet.report.panels as panels
from prunesymnet.data import Dataset
from prunesymnet.equations import Equation
from prunesymnet.report.drawing import BLUE, GREY, Array

MOST_PANELS = 12  # three across and four down still fit on a page
STEPS = 241  # of a curve: closer than a pixel of its picture on a page

EMPTY: Mapping[str, str] = MappingProxyType({})
Curve = tuple[Array, Array, Array, Array]  # a variable's values, the predictions, and the two ends of their interval


def draw_effects(
    equation: Equation, data: Dataset, variables: Sequence[str] | None = None, *, labels: Mapping[str, str] = EMPTY
) -> Figure:
    """What the equation predicts as one variable goes through its range and the others stay at their medians, a panel
    for each; the band is where 95% of new measurements would be. Each point is a row, moved to where it would be if
    the other variables were at their medians: its residual is what it was. `labels` are names for the axes."""
    wanted = list(effective(equation, data) if variables is None else variables)
    across = 1 if len(wanted) <= 1 else 2 if len(wanted) <= 4 else 3
    down = max(1, -(-len(wanted) // across))
    figure = panels.new_figure(*((4.8, 3.4) if across == 1 else (3.6 * across, 3.0 * down)))
    points = panels.sample(equation, data)
    for k, name in enumerate(wanted):
        axes = panels.set_look(figure.add_subplot(down, across, k + 1))
        _draw_effect(axes, equation, data, points, name)
        xlabel = panels.label(labels.get(name, name), 48)
        axes.set(xlabel=xlabel, ylabel=panels.label(equation.target, 32))
    if not wanted:
        figure.text(0.5, 0.5, "the formula has no variable", color=GREY, ha="center", va="center")
    elif across == 1:
        panels.add_note(figure.axes[0], points.note)
    else:
        figure.suptitle(points.note, size=panels.NOTE_LETTERS, color=GREY)
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
    columns, reach = panels.used_rows(data).columns, {}
    names = [name for name in data.names if name in equation.expression.variables]
    # Categories do not change one by one: where one column of 0 and 1 becomes 1, another becomes 0.
    alone = [name for name in names if not _excluded_by(name, names, columns)]
    names = alone or names
    if len(names) <= MOST_PANELS:
        return names
    for name in names:
        values = equation.predict(_varied(equation, data, name, np.quantile(columns[name], np.linspace(0, 1, 21))))
        reach[name] = float(np.ptp(values[np.isfinite(values)])) if np.isfinite(values).any() else 0.0
    kept = sorted(names, key=lambda name: -reach[name])[:MOST_PANELS]
    return [name for name in names if name in kept]


def effect(equation: Equation, data: Dataset, name: str) -> Curve:
    """The curve of a panel."""
    column = panels.used_rows(data).columns[name]
    low, high = float(column.min()), float(column.max())
    if low == high:
        reach = abs(low) / 2 or 1.0
        low, high = low - reach, high + reach
    grid = np.geomspace(low, high, STEPS) if panels.is_wide(column) else np.linspace(low, high, STEPS)
    table = _varied(equation, data, name, grid)
    return grid, equation.predict(table), *equation.interval(table)


def _varied(equation: Equation, data: Dataset, name: str, values: Array) -> dict[str, Array]:
    """A table in which one variable has these values, and the others are at their medians."""
    columns, variables = panels.used_rows(data).columns, equation.expression.variables
    place = {other: np.full(len(values), float(np.median(columns[other]))) for other in variables}
    flags = [other for other in variables if _is_flag(columns[other])]
    if flags:
        together, times = np.unique(np.column_stack([columns[flag] for flag in flags]), axis=0, return_counts=True)
        place |= {
            flag: np.full(len(values), value) for flag, value in zip(flags, together[times.argmax()], strict=True)
        }
    place |= {other: place[other] * (1 - values) for other in _excluded_by(name, flags, columns)}
    return place | {name: values}


def _is_flag(column: Array) -> bool:
    """Whether it has nothing but 0 and 1."""
    return bool(np.isin(column, (0, 1)).all())


def _excluded_by(name: str, names: Sequence[str], columns: Mapping[str, Array]) -> list[str]:
    """The columns of 0 and 1 that are 1 in no row in which a column of 0 and 1 is."""
    if not _is_flag(columns[name]):
        return []
    others = [other for other in names if other != name and _is_flag(columns[other])]
    return [other for other in others if not (columns[name] * columns[other]).any()]


def _draw_effect(axes: Axes, equation: Equation, data: Dataset, points: panels.Points, name: str) -> None:
    x, values, lower, upper = effect(equation, data, name)
    column = points.columns[name]
    moved = equation.predict(_varied(equation, data, name, column)) + points.observed - points.predicted
    base = next((known for y in (moved, values) if (known := y[np.isfinite(y)]).size), None)
    if base is None:
        panels.say_empty(axes)
        return
    low, high = float(base.min()), float(base.max())
    reach = (high - low) or abs(high) or 1.0
    if panels.is_wide(panels.used_rows(data).columns[name]):
        axes.set_xscale("log")
    if panels.is_wide(base) and (values[np.isfinite(values)] > 0).all():
        axes.set_yscale("log")
    # A curve with a pole is drawn as far as it is near the data; what lies further out has no line through the pole.
    near = (values > low - 10 * reach) & (values < high + 10 * reach)
    sure = np.isfinite(lower) & np.isfinite(upper) & near
    # On a logarithmic axis there is no room for a band that reaches down to 0.
    drawn = values if axes.get_yscale() == "log" else np.concatenate([values, lower[sure], upper[sure]])
    panels.set_limits(axes, x, np.concatenate([base, drawn[(drawn > low - reach) & (drawn < high + reach)]]))
    axes.fill_between(x, lower, upper, where=sure.tolist(), color=BLUE, alpha=0.14, linewidth=0, gid=f"band {name}")
    panels.scatter(axes, column, moved, f"points {name}", faint=True)
    axes.plot(x, np.where(near, values, np.nan), color=BLUE, linewidth=1.8, gid=f"curve {name}", zorder=4)
