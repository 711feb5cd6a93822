"""Pictures of equations on their data: the front, predictions, and residuals.

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

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy.special import ndtri

import prunesymnet.report.panels as panels
from prunesymnet.data import Dataset
from prunesymnet.equations import Equation, Front
from prunesymnet.report.drawing import BLUE, GREY, ORANGE

SIZE = (4.8, 4.2)  # inches


def draw_front(front: Front) -> Figure:
    """Complexity against mean squared error, on a logarithmic axis; the chosen equation is marked, and those that
    the data hardly tell from it have a ring."""
    figure = panels.new_figure(SIZE[0], 3.4)
    axes = panels.set_look(figure.subplots())
    known = [i for i, equation in enumerate(front) if np.isfinite(equation.loss) and equation.loss >= 0]
    if known:
        complexity, losses = np.array([(front[i].complexity, front[i].loss) for i in known]).T
        panels.set_log_scale(axes, losses)
        axes.margins(y=0.12)  # room for the ring and the word at the chosen one
        order = np.argsort(complexity, kind="stable")
        steps = complexity[order], np.minimum.accumulate(losses[order])
        axes.plot(*steps, drawstyle="steps-post", color=GREY, linewidth=1.0, gid="steps", zorder=2)
        axes.plot(complexity, losses, "o", color=BLUE, markersize=6, gid="front", zorder=3)
        ties = [(front[i].complexity, front[i].loss) for i in front.ties if i in known]
        if ties:
            axes.plot(*zip(*ties, strict=True), "o", mfc="none", mec=BLUE, markersize=12, gid="ties", zorder=3)
        axes.set_xlim(0, 1.06 * complexity.max() + 0.5)
        if front.chosen in known:
            place = front.best.complexity, front.best.loss
            axes.plot(*place, "o", color=ORANGE, markersize=8, gid="chosen", zorder=4)
            axes.plot(*place, "o", mfc="none", mec=ORANGE, markersize=14, gid="ring", zorder=4)
            side = "right" if place[0] > 0.8 * complexity.max() and len(known) > 1 else "left"
            away = (-8 if side == "right" else 8, 8)
            axes.annotate("chosen", place, away, textcoords="offset points", color=ORANGE, ha=side, gid="chosen name")
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]))
    axes.set(xlabel="complexity", ylabel="mean squared error")
    return figure


def draw_predictions(equation: Equation, data: Dataset) -> Figure:
    """What the equation predicts against what was observed; a perfect prediction lies on the line."""
    points = panels.sample(equation, data)
    figure = panels.new_figure(*SIZE)
    axes = panels.set_look(figure.subplots())
    observed, predicted = points.observed, points.predicted
    if predicted.size:
        low, high = float(observed.min()), float(observed.max())
        if panels.is_wide(observed) and (predicted > 0).all():
            axes.set(xscale="log", yscale="log")
        beyond = (predicted < low - 2 * (high - low)) | (predicted > high + 2 * (high - low))
        shown = np.concatenate([observed, predicted[~beyond]])
        panels.set_limits(axes, shown, shown)
        axes.plot(axes.get_xlim(), axes.get_xlim(), color=GREY, linewidth=1.0, gid="identity", zorder=1)
        panels.scatter(axes, observed, predicted, "points")
        axes.set_aspect("equal", adjustable="box")
        panels.add_note(axes, points.note, f"{beyond.sum()} beyond the picture" if beyond.any() else "")
    else:
        panels.say_empty(axes)
    target = panels.label(equation.target, 40)
    axes.set(xlabel=f"{target}, observed", ylabel=f"{target}, predicted")
    return figure


def draw_residuals(equation: Equation, data: Dataset) -> Figure:
    """Observed minus predicted, against the prediction, and against the quantiles of the normal distribution: there,
    normal scatter lies on the line."""
    points = panels.sample(equation, data)
    figure = panels.new_figure(*SIZE)
    left, right = map(panels.set_look, figure.subplots(1, 2, sharey=True, width_ratios=(1.7, 1)))
    residuals = points.residuals
    if residuals.size:
        if panels.is_wide(points.predicted):
            left.set_xscale("log")
        for axes in (left, right):
            axes.axhline(0.0, color=GREY, linewidth=1.0, zorder=1)
        panels.set_limits(left, points.predicted, residuals)
        panels.scatter(left, points.predicted, residuals, "residuals")
        normal = ndtri((np.arange(len(residuals)) + 0.5) / len(residuals))
        ends = np.array([-1.08, 1.08]) * max(float(normal[-1]), 1.0)
        right.plot(ends, np.sqrt(np.mean(residuals**2)) * ends, color=ORANGE, linewidth=1.0, gid="normal", zorder=2)
        panels.scatter(right, normal, np.sort(residuals), "quantiles")
        right.set_xlim(*ends)
        right.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        rounding = np.abs(residuals).max() <= 1e-12 * np.abs(points.observed).max()
        panels.add_note(left, points.note, "no larger than rounding errors" if rounding else "")
    else:
        panels.say_empty(left)
    weighted = "weighted residual" if data.weights is not None else "residual"
    left.set(xlabel=f"{panels.label(equation.target, 24)}, predicted", ylabel=f"{weighted} (observed − predicted)")
    right.set_xlabel("normal quantile")
    return figure
