"""What a page needs to draw the front by itself, so that a click on a formula shows its plot."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prunesymnet.data import Dataset
from prunesymnet.equations import Equation, Front
from prunesymnet.report.panels import is_wide, used_rows

MOST_ROWS = 300  # of each plot: with twenty formulas, the page is some fifty kilobytes longer
STEPS = 121  # of a curve
DIGITS = 5  # of a number: a plot shows three


def live_front(front: Front, data: Dataset) -> str:
    """The front as JSON: each formula's place in it, and its predictions of some rows; where the formulas are of one
    column, their curves."""
    used = used_rows(data)
    if used.rows > MOST_ROWS:
        used = used.take(np.sort(np.random.default_rng(0).choice(used.rows, MOST_ROWS, replace=False)))
    names = sorted({name for equation in front for name in equation.expression.variables})
    grid = _grid(data.columns[names[0]]) if len(names) == 1 else None
    points = [_point(equation, used, names, grid) for equation in front]
    for k, point in enumerate(points):
        point |= {"key": str(k), "chosen": k == front.chosen, "tie": k in front.ties}
    content: dict[str, Any] = {"target": front.target, "observed": _short(used.y), "points": points}
    if grid is not None:
        column = data.columns[names[0]]
        content |= {"x": _short(used.columns[names[0]]), "grid": _short(grid), "name": names[0], "log": is_wide(column)}
    return json.dumps(content, allow_nan=False, ensure_ascii=False)


def _point(equation: Equation, data: Dataset, names: list[str], grid: NDArray[np.float64] | None) -> dict[str, Any]:
    known = np.isfinite(equation.loss) and equation.loss >= 0
    found: dict[str, Any] = {
        "complexity": equation.complexity,
        "error": float(equation.loss) if known else None,
        "text": equation.text(DIGITS)[:MOST_ROWS],
        "predicted": _short(equation.predict(data.columns) + np.zeros(data.rows)),
    }
    if grid is not None:
        found["curve"] = _short(equation.predict({names[0]: grid}) + np.zeros(len(grid)))
    return found


def _grid(column: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = float(column.min()), float(column.max())
    return np.geomspace(low, high, STEPS) if is_wide(column) else np.linspace(low, high, STEPS)


def _short(values: NDArray[np.float64]) -> list[float | None]:
    return [float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None for value in values]
