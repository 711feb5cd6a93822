"""Fit a form of which some constants have another value in each category, `a[site] + b*exp(-k[site]*t)`.

>>> from prunesymnet.data import make_dataset
>>> from prunesymnet.expression import parse
>>> north = np.arange(40) % 2
>>> t = np.linspace(0, 5, 40)
>>> y = np.where(north, 1.0, 2.0) + 3 * np.exp(-np.where(north, 0.5, 0.8) * t)
>>> table = make_dataset(np.array([t, north, 1 - north]).T, y, names=["t", "site_north", "site_south"])
>>> groups = {"site": {"north": "site_north", "south": "site_south"}}
>>> found = fit_by_category(parse("a[site] + b*exp(-k[site]*t)"), table, groups)
>>> {name: round(value, 4) for name, value in found.parameters.items()}
{'a[site=north]': 1.0, 'a[site=south]': 2.0, 'b': 3.0, 'k[site=north]': 0.5, 'k[site=south]': 0.8}

All constants at once, from many points, would be a search in a space of many dimensions. So the form is fitted to all
rows together first, with one value for all categories; from there to the rows of each category; and all constants at
once from what came out.
"""

import time
from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from prunesymnet.coefficients.fit import Fit, FitSettings, fit
from prunesymnet.data import Dataset
from prunesymnet.expression import Expression
from prunesymnet.expression.categories import Groups, constant_of, expand, indexed

STARTS = 24  # points from which the constants of one category are fitted, beside those of all rows together
LEAST = 1e-3  # seconds for a fit whose turn comes after all time is used
ALL_BUT = 0.99  # R² of a category from the constants of all rows: less, and it is fitted from other points, too


def fit_by_category(
    form: Expression,
    data: Dataset,
    groups: Groups,
    *,
    settings: FitSettings | None = None,
    first: Mapping[str, float] | None = None,
) -> Fit:
    """The form with its constants fitted: those of each category, and those that all share. The names in it that are
    no columns are constants. `first` are values to start from, by the names of constants (`a[site=north]`), where these
    are known."""
    settings = settings or FitSettings()
    deadline = time.monotonic() + settings.time_limit
    parameters = [name for name in form.variables if name not in data.names]
    if first is not None:
        return _together(form, data, groups, [first], settings)
    pooled = fit(form, data, parameters=parameters, settings=settings)
    form = form if pooled.form is None else pooled.form
    each = _one_by_one(form, data, groups, pooled.parameters, settings, deadline)
    starts = [_spread(form, groups, pooled.parameters, {}), _spread(form, groups, pooled.parameters, each)]
    shared = set(parameters) - set(indexed(form))
    if shared and each:
        middle = {name: float(np.median([at[name] for at in each.values()])) for name in shared}
        starts.append(_spread(form, groups, {**pooled.parameters, **middle}, each))
    return _together(form, data, groups, starts, _until(deadline, settings))


def _until(deadline: float, settings: FitSettings) -> FitSettings:
    """The settings with the time that is left; where none is, constants stay nearly as they stand."""
    return replace(settings, time_limit=max(deadline - time.monotonic(), LEAST))


def _together(
    form: Expression, data: Dataset, groups: Groups, starts: list[dict[str, float]] | list[Mapping[str, float]],
    settings: FitSettings,
) -> Fit:  # fmt: skip
    """All constants at once: the best of these starts."""
    full = expand(form, groups)
    names = [name for name in full.variables if name not in data.names]
    return fit(full, data, parameters=names, settings=replace(settings, starts=1), first=starts)


def _one_by_one(
    form: Expression,
    data: Dataset,
    groups: Groups,
    pooled: Mapping[str, float],
    settings: FitSettings,
    deadline: float,
) -> dict[tuple[str, str], dict[str, float]]:
    """The constants of the form on the rows of each category alone, from those of all rows; by column and category.
    Categories of fewer rows than constants are left out."""
    found = {}
    numbers = form.substitute(dict(pooled))
    for column in {*indexed(form).values()}:
        for category, place in groups[column].items():
            rows = np.flatnonzero(data.columns[place])
            if len(rows) <= max(len(numbers.constants), 1):
                continue
            few = _until(deadline, replace(settings, starts=min(settings.starts, STARTS)))
            near = fit(form, data.take(rows), parameters=list(pooled), settings=few, first=[pooled])
            fresh = near if near.r2 > ALL_BUT else fit(form, data.take(rows), parameters=list(pooled), settings=few)
            found[column, category] = min(near, fresh, key=lambda one: one.mse).parameters
    return found


def _spread(
    form: Expression,
    groups: Groups,
    pooled: Mapping[str, float],
    each: Mapping[tuple[str, str], Mapping[str, float]],
) -> dict[str, float]:
    """Values of all constants: those of each category where they are known, else those of all rows together."""
    columns: Mapping[str, str] = indexed(form)
    values = {name: value for name, value in pooled.items() if name not in columns}
    for name, column in columns.items():
        for category in groups[column]:
            values[constant_of(name, category)] = each.get((column, category), pooled)[name]
    return values


def groups_of(labels: Collection[str], names: Collection[str], columns: Mapping[str, str]) -> Groups:
    """The columns of 0 and 1 of each category, from the `labels` of all columns (`site=north`), the `names` that these
    have in formulas, and the columns of categories: what each is called in formulas, and its label.

    >>> groups_of(["t", "my site=north"], ["t", "my_site_north"], {"my_site": "my site"})
    {'my_site': {'north': 'my_site_north'}}
    """
    pairs = list(zip(labels, names, strict=True))
    return {
        ours: {label[len(theirs) + 1 :]: name for label, name in pairs if label.startswith(f"{theirs}=")}
        for ours, theirs in columns.items()
    }
