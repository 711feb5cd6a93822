"""The picture of a reduction: all rows on one curve, whatever the columns that are not in the group."""

import numpy as np
from matplotlib.figure import Figure

import prunesymnet.report.panels as panels
from prunesymnet.data import Dataset
from prunesymnet.expression import evaluate, to_text
from prunesymnet.structure import Reduction

SIZE = (4.8, 3.4)  # inches
LONGEST = 48  # letters of an axis' name


def draw_collapse(reduction: Reduction, data: Dataset) -> Figure:
    """The quantity of a reduction against its group; of two groups, the second is the colour.

    >>> from prunesymnet.data import make_dataset
    >>> from prunesymnet.expression import parse
    >>> x, y = np.random.default_rng(0).uniform(1, 2, (2, 40))
    >>> table = make_dataset(np.array([x, y]).T, x * np.sin(x * y), names=["x", "y"], target="z")
    >>> draw_collapse(Reduction(parse("z/x"), (parse("x*y"),), 1e-9, 0.1), table).axes[0].get_xlabel()
    'x*y'
    """
    used = panels.used_rows(data)
    note = ""
    if used.rows > panels.MOST_POINTS:
        chosen = np.random.default_rng(0).choice(used.rows, panels.MOST_POINTS, replace=False)
        used, note = used.take(np.sort(chosen)), f"{panels.MOST_POINTS:,} of {used.rows:,} rows, drawn at random"
    columns = {**used.columns, used.target: used.y}
    made = [evaluate(formula, columns).values for formula in (reduction.quantity, *reduction.groups)]
    known = np.isfinite(made).all(axis=0)
    quantity, group, *others = (values[known] for values in made)
    figure = panels.new_figure(*SIZE)
    axes = panels.set_look(figure.subplots())
    names = [panels.label(to_text(formula, digits=4), LONGEST) for formula in (reduction.quantity, *reduction.groups)]
    if group.size:
        if panels.is_wide(group):
            axes.set_xscale("log")
        if panels.is_wide(quantity):
            axes.set_yscale("log")
        panels.set_limits(axes, group, quantity)
        if others:
            rows = axes.scatter(group, quantity, s=18, c=others[0], linewidths=0, gid="rows", zorder=3)
            figure.colorbar(rows, ax=axes).set_label(names[2], parse_math=False)
        else:
            panels.scatter(axes, group, quantity, "rows")
        panels.add_note(axes, note)
    else:
        panels.say_empty(axes)
    axes.set(xlabel=names[1], ylabel=names[0])
    return figure
