"""All there is to see of one formula: its numbers, its constants with intervals, and the curves that a page draws.

A formula of a front that has ended is what the search made of it. Any other, of a search that still runs or of a
person's own, is fitted here.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients import Fit, FitSettings, FitStatus, fit
from prunesymnet.coefficients.by_category import fit_by_category
from prunesymnet.equations import Equation
from prunesymnet.errors import ExportError
from prunesymnet.estimator.forms import no_value_error, parameters_of, read_form
from prunesymnet.estimator.parameters import with_units_of_constants
from prunesymnet.export import export
from prunesymnet.export.mathml import to_mathml
from prunesymnet.expression import Expression, Variable, parse, to_text
from prunesymnet.expression.categories import indexed, named
from prunesymnet.report.numbers import number, percent, share, with_digits
from prunesymnet.runs.records import to_formula
from prunesymnet.studio.front import LONGEST_SHOWN, SearchInMemory, key_of
from prunesymnet.studio.tables import notes
from prunesymnet.units import is_sound

Array = NDArray[np.float64]
STARTS = 24  # points from which the constants of a person's form are fitted: it answers at once
SECONDS = 3.0  # for that at most
MOST_EQUATIONS = 60  # that stay in memory with a search
MOST_POINTS = 600  # rows of a plot
STEPS = 161  # of a curve: closer than two pixels
BEYOND = 0.35  # of its range, how far a curve goes on where there are no rows
WIDE = 100.0  # a positive range of more than this factor is shown on a logarithmic axis
FAR = 3.0  # times the usual distance between neighbours: further from all rows, nothing is known
CONFIDENCE = 0.95
WAYS = {
    "latex": "LaTeX", "python": "Python", "c": "C", "excel": "Excel", "text": "Text", "mathml": "MathML",
}  # fmt: skip


def equation_of(found: SearchInMemory, text: str) -> Equation:
    """The equation of a formula's text: the search's own where it has ended, else fitted from where it stands."""
    if not found.is_live() and found.model is not None:
        for equation in found.model:
            if to_text(equation.expression) == text:
                return equation
    with found.lock:
        if text in found.equations:
            found.equations.move_to_end(text)
            return found.equations[text]
    expression, values = to_formula(text, found.data.names), dict[str, float]()
    if found.run.settings.constants_per is not None:
        expression, values = named(expression, found.groups)
    settings, first = FitSettings(time_limit=SECONDS), [values] if values else []
    made = _equation(found, fit(expression, found.data, parameters=list(values), settings=settings, first=first))
    with found.lock:
        found.equations[text] = made
        while len(found.equations) > MOST_EQUATIONS:
            found.equations.popitem(last=False)
    return made


def _equation(found: SearchInMemory, result: Fit) -> Equation:
    """A fit as an equation, with the units of its constants where the table has units."""
    return with_units_of_constants(Equation.of(result, found.data), found.run.settings)


def refitted(found: SearchInMemory, form: str) -> tuple[str, Equation, list[str]]:
    """A person's formula with its constants fitted: its text, the equation, and what there is to say about it. Names
    that are no columns are constants, and so are numbers with a point; whole numbers stay as they are."""
    if len(form) > LONGEST_SHOWN:
        raise ValueError(f"a formula may have {LONGEST_SHOWN} characters here, and this has {len(form)}")
    tree = read_form(form, ())
    data = found.data
    with notes() as said:
        constants = parameters_of(tree, data.names)
    settings = FitSettings(starts=STARTS, time_limit=SECONDS)
    unknown = {*indexed(tree).values()} - {*found.groups}
    if unknown:
        raise ValueError(
            f"{min(unknown)} is no column of categories here ({', '.join(found.groups) or 'there are none'})"
        )
    if indexed(tree):
        result = fit_by_category(tree, data, found.groups, settings=settings)
    else:
        result = fit(tree, data, parameters=constants, settings=settings)
    if result.status is FitStatus.NOT_FINITE:
        raise no_value_error(tree, result.parameters, found.run.tables[0])
    equation = _equation(found, result)
    units = found.run.settings.units_of(data.names, data.target)
    if units is not None and not is_sound(equation.expression, units):
        said.append("Its units do not fit together: the search would not try it.")
    text = to_text(equation.expression)
    with found.lock:
        found.equations[text] = equation
        found.point(text)
    return text, equation, said


# As a page has it


def look(found: SearchInMemory, text: str, equation: Equation, labels: Mapping[str, str]) -> dict[str, Any]:
    """Everything about a formula but its curves."""
    data = found.data
    variables = [name for name in data.names if name in equation.expression.variables]
    constants, choices = equation.constants, _choices(found, equation)
    chosen = {place for choice in choices for place in choice["places"].values()}
    return {
        "key": key_of(text),
        "text": f"{equation.target} = {equation.text()}",
        "edit": equation.text() if equation.has_categories else to_text(equation.expression, digits=6),  # can be parsed
        "math": _math(_shown(equation), equation.target),
        "named": _math(equation.named_form, equation.target) if constants else "",
        "known_as": equation.known_as,
        "parts": [[part, to_mathml(formula, digits=6)] for part, formula in equation.parts.items()],
        "numbers": [
            ["R²", share(equation.r2), "share of the variance that it explains"],
            ["R² on held-out rows", share(equation.heldout_r2), "fitted without them"]
            if math.isfinite(equation.heldout_r2)
            else [
                "Bits",
                f"{equation.description_length:.1f}".replace("-", "−"),
                "to write it down with its residuals",
            ],
            ["Typical error", *_typical_error(equation)],
            ["Complexity", str(equation.complexity), "operators, variables and numbers"],
        ],
        "constants": [_constant(estimate) for estimate in constants],
        "rounded": equation.free_form is not None,
        "units": bool(equation.units),
        "variables": [_variable(found, name, labels) for name in variables if name not in chosen],
        "choices": choices,
        "ways": _ways(equation),
        "rows": data.rows,
        "target": equation.target,
        "relative": equation.relative,
        **_residuals(found, equation),
    }


def _shown(equation: Equation) -> Expression:
    """The formula; where constants have a value in each category, with names for these."""
    if not equation.has_categories:
        return equation.expression
    return parse(equation.text())


def _choices(found: SearchInMemory, equation: Equation) -> list[dict[str, Any]]:
    """The columns of categories that a formula has, with the most frequent category: one is chosen, not a number for
    each."""
    chosen = []
    for name, places in found.groups.items():
        if {*places.values()} & {*equation.expression.variables}:
            frequent = max(places, key=lambda one: found.data.mean(found.data.columns[places[one]]))
            chosen.append({"name": name, "places": dict(places), "usual": frequent})
    return chosen


def _middle(found: SearchInMemory, equation: Equation) -> dict[str, float]:
    """Where the variables of a formula are unless somebody moves them: at their medians, and in the most frequent
    category."""
    variables = [name for name in found.data.names if name in equation.expression.variables]
    place = {name: float(np.median(found.data.columns[name])) for name in variables}
    for choice in _choices(found, equation):
        for category, name in choice["places"].items():
            if name in place:
                place[name] = float(category == choice["usual"])
    return place


def _math(expression: Expression, target: str) -> str:
    shown = to_mathml(expression, digits=6, target=target, block=True)
    return shown if len(shown) <= 20 * LONGEST_SHOWN else ""


def _typical_error(equation: Equation) -> tuple[str, str]:
    """How large errors are, and in comparison to what."""
    if equation.relative:
        return percent(math.sqrt(equation.variance)), f"of {equation.target}: errors grow with it, and are counted so"
    spread = percent(math.sqrt(max(1 - equation.r2, 0.0))) if math.isfinite(equation.r2) else ""
    return number(math.sqrt(max(equation.loss, 0.0))), f"{spread} of the spread of {equation.target}" if spread else ""


def _constant(estimate: Any) -> dict[str, str]:
    value, error, low, high = with_digits(estimate)
    sure = math.isfinite(estimate.standard_error)
    return {
        "math": to_mathml(Variable(estimate.name)),
        "name": estimate.name,
        "in_formula": estimate.in_formula,
        "value": value,
        "error": f"± {error}" if sure else "not determined by the data",
        "interval": f"{low} to {high}" if sure else "—",
        "unit": estimate.unit,
    }


def _variable(found: SearchInMemory, name: str, labels: Mapping[str, str]) -> dict[str, Any]:
    column = found.data.columns[name]
    low, high = float(column.min()), float(column.max())
    return {
        "name": name,
        "label": labels.get(name, name),
        "low": low,
        "high": high,
        "middle": float(np.median(column)),
        "from": low - BEYOND * (high - low),
        "to": high + BEYOND * (high - low),
    }


def _ways(equation: Equation) -> list[list[str]]:
    """The formula in forms that can be taken elsewhere: name, title, text."""
    found = []
    for name, title in WAYS.items():
        try:
            made = str(export(equation.expression, name, names=equation.names, target=equation.target))
        except ExportError as problem:
            made = str(problem)
        found.append([name, title, f"{equation.target} = {made}" if name == "text" else made])
    return found


def _residuals(found: SearchInMemory, equation: Equation) -> dict[str, Any]:
    """Observed and predicted values of some rows, and how many have none."""
    data = found.data
    predicted = equation.predict(data.columns)
    known = np.isfinite(predicted)
    rows = _some(np.flatnonzero(known))
    return {
        "observed": data.y[rows].tolist(),
        "predicted": predicted[rows].tolist(),
        "undefined": int((~known).sum()),
        "log": bool(is_wide(data.y) and (predicted[known] > 0).all()),
        "sampled": len(rows) < int(known.sum()),
    }


def is_wide(values: Array) -> bool:
    """Whether values are told apart better on a logarithmic axis: they go over decades, and most are small."""
    return bool(values.size and values.min() > 0 and values.max() > max(WIDE * values.min(), 5 * np.median(values)))


def _some(rows: NDArray[np.int64], most: int = MOST_POINTS) -> NDArray[np.int64]:
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))


def effects(found: SearchInMemory, equation: Equation, at: Mapping[str, float]) -> dict[str, Any]:
    """For each variable: what the formula predicts as it goes through its range and beyond, while the others are where
    the sliders are; the band in which new measurements lie; and the rows, moved to where the others are as on the
    sliders. Then what is predicted at the sliders, and whether there are rows nearby."""
    data = found.data
    place = {name: float(at.get(name, value)) for name, value in _middle(found, equation).items()}
    chosen = {name for choice in _choices(found, equation) for name in choice["places"].values()}
    variables = [name for name in place if name not in chosen]
    rows = _some(np.arange(data.rows))
    residuals = (data.y - equation.predict(data.columns))[rows]
    panels = [_panel(found, equation, name, place, rows, residuals) for name in variables]
    here = {name: np.array([value]) for name, value in place.items()}
    low, high = equation.interval(here, CONFIDENCE)
    value = float(equation.predict(here)[0])
    return {
        "panels": panels,
        "at": place,
        "value": number(value, 5) if math.isfinite(value) else "no value",
        "interval": f"{number(float(low[0]))} to {number(float(high[0]))}"
        if np.isfinite([low[0], high[0]]).all()
        else "",
        "warning": extrapolates(data.columns, place),
    }


def _panel(
    found: SearchInMemory,
    equation: Equation,
    name: str,
    place: Mapping[str, float],
    rows: NDArray[np.int64],
    residuals: Array,
) -> dict[str, Any]:
    data = found.data
    column = data.columns[name]
    grid, wide = _grid(column)
    table = {other: np.full(len(grid), value) for other, value in place.items()} | {name: grid}
    values = equation.predict(table)
    low, high = equation.interval(table, CONFIDENCE)
    moved = {other: np.full(len(rows), value) for other, value in place.items()} | {name: column[rows]}
    points = equation.predict(moved) + residuals
    inside = (grid >= column.min()) & (grid <= column.max())
    return {
        "name": name,
        "x": grid.tolist(),
        "y": _plain(values),
        "low": _plain(low),
        "high": _plain(high),
        "points": [[float(x), float(y)] for x, y in zip(column[rows], points, strict=True) if np.isfinite(y)],
        "from": float(column.min()),
        "to": float(column.max()),
        "at": place[name],
        "log": wide,
        "beyond": _beyond(grid, values, inside, data.y),
    }


def _grid(column: Array) -> tuple[Array, bool]:
    low, high = float(column.min()), float(column.max())
    if low == high:
        reach = abs(low) / 2 or 1.0
        low, high = low - reach, high + reach
    if is_wide(column):
        stretch = (high / low) ** BEYOND
        return np.geomspace(low / stretch, high * stretch, STEPS), True
    reach = BEYOND * (high - low)
    return np.linspace(low - reach, high + reach, STEPS), False


def _plain(values: Array) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]


def _beyond(grid: Array, values: Array, inside: NDArray[np.bool_], y: Array) -> str:
    """What becomes of a curve where there are no rows, if that is something to know."""
    reach = float(np.ptp(y)) or 1.0
    wild = ~np.isfinite(values) | (values < y.min() - 10 * reach) | (values > y.max() + 10 * reach)
    if wild[inside].any():
        at = grid[inside][wild[inside]][0]
        return f"between the rows it runs off or has no value, near {number(float(at), 3)}"
    found = []
    below, above = wild & ~inside & (grid < grid[inside].min()), wild & ~inside & (grid > grid[inside].max())
    if below.any():
        found.append(f"below {number(float(grid[below].max()), 3)}")
    if above.any():
        found.append(f"above {number(float(grid[above].min()), 3)}")
    return f"runs off or has no value {' and '.join(found)}" if found else ""


def extrapolates(columns: Mapping[str, Array], place: Mapping[str, float]) -> str:
    """Why a place is one of which the rows say nothing: outside of a column's range, or far from all rows."""
    outside = [name for name, value in place.items() if not columns[name].min() <= value <= columns[name].max()]
    if outside:
        return f"Outside the rows: {', '.join(outside)}"
    names = [name for name in place if np.ptp(columns[name]) > 0]
    if len(names) < 2:
        return ""
    rows = _some(np.arange(len(columns[names[0]])))
    table = np.column_stack([columns[name][rows] / np.ptp(columns[name]) for name in names])
    here = np.array([place[name] / np.ptp(columns[name]) for name in names])
    apart = np.linalg.norm(table[:, None] - table[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    usual = float(np.median(apart.min(axis=1)))
    nearest = float(np.linalg.norm(table - here, axis=1).min())
    return "No row is near this combination" if usual > 0 and nearest > FAR * usual else ""


def difference(found: SearchInMemory, first: Equation, second: Equation) -> dict[str, Any]:
    """Where two formulas differ the most among places like those of the rows: what to measure next to tell them
    apart."""
    data, rng = found.data, np.random.default_rng(0)
    names = [name for name in data.names if name in {*first.expression.variables, *second.expression.variables}]
    near = np.abs(first.predict(data.columns) - second.predict(data.columns))
    rms = float(np.sqrt(np.nanmean(near**2))) if np.isfinite(near).any() else math.nan
    count = 2000  # places, each made of the values that columns have
    table = {name: rng.uniform(data.columns[name].min(), data.columns[name].max(), count) for name in names}
    columns = [(name, list(places.values())) for name, places in found.groups.items()]
    drawn = {name: rng.integers(len(places), size=count) for name, places in columns}
    in_groups = {place: (drawn[name] == k) * 1.0 for name, places in columns for k, place in enumerate(places)}
    table = {name: in_groups.get(name, values) for name, values in table.items()}
    apart = np.abs(first.predict(table) - second.predict(table)) if names else np.zeros(0)
    if not np.isfinite(apart).any():
        return {"rms": number(rms, 3), "place": []}
    best = int(np.nanargmax(apart))
    return {
        "rms": number(rms, 3),
        "most": number(float(apart[best]), 3),
        "place": [
            *([name, number(float(table[name][best]), 3)] for name in names if name not in in_groups),
            *(
                [name, list(places)[drawn[name][best]]]
                for name, places in found.groups.items()
                if {*places.values()} & {*names}
            ),
        ],
    }
