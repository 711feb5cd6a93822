"""The forms that users write: `y = a*exp(-b*x)`, names that are nearly a column's, and where a form has no value."""

import difflib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from prunesymnet.coefficients import FitSettings, FitStatus, fit
from prunesymnet.coefficients.by_category import fit_by_category, groups_of
from prunesymnet.data import Dataset, distinct_rows, repair_names, weighted_by_neighbours
from prunesymnet.data.messages import warn
from prunesymnet.equations import Equation, Front
from prunesymnet.errors import DataError
from prunesymnet.estimator.parameters import with_units_of_constants
from prunesymnet.estimator.tables import Inputs, has_names
from prunesymnet.expression import Apply, Expression, evaluate, parse, postorder, to_text
from prunesymnet.expression.categories import indexed
from prunesymnet.operators import Operator
from prunesymnet.search import SearchSettings
from prunesymnet.search.guesses import STARTS

SHORTEST_NAME = 3  # letters: names that are shorter are near to one another without a mistake, x0 and x1
NEARLY = 0.75  # of the letters are the same: as in sped and speed, temp and tempo


def read_form(form: str | Expression, operators: Sequence[Operator]) -> Expression:
    """The formula that is meant: what stands on the right of an `=`, if there is one."""
    if isinstance(form, Expression):
        return form
    left, equals, right = form.partition("=") if isinstance(form, str) else ("", "", form)
    if not equals:
        return parse(form, operators=operators)
    tree = parse(right, operators=operators)
    if not left.strip().isidentifier() or left.strip() in tree.variables:
        raise ValueError(f"a form must be a formula, or `y = formula` with the target alone on the left, got {form!r}")
    return tree


def category_columns(form: Expression, X: Any) -> dict[str, str]:
    """The columns of categories that a form has constants by, `a[site]`: what each is called in formulas, and in X."""
    wanted = indexed(form)
    if not wanted:
        return {}
    name, column = next(iter(wanted.items()))
    if not has_names(X):
        raise DataError(f"{name} has a value in each category of the column {column!r}: X must be a frame with names")
    known = dict(zip(repair_names([str(label) for label in X.columns]), map(str, X.columns), strict=True))
    for name, column in wanted.items():
        if column not in known:
            raise ValueError(f"{name} must have a column of X in its brackets ({', '.join(known)}), got {column!r}")
        if column in form.variables:
            raise ValueError(f"{column!r} must be a column of categories, as in {name}, or one of numbers, not both")
    return {column: known[column] for column in wanted.values()}


def parameters_of(form: Expression, columns: Sequence[str]) -> list[str]:
    """The names in a form that are no columns: constants to be fitted. One that is nearly the name of a column which
    the form does not have is told of."""
    parameters = [name for name in form.variables if name not in columns]
    hints = {name: near for name in parameters if (near := _nearly(name, set(columns) - set(form.variables)))}
    if parameters == list(form.variables) != [str(form)]:
        hint = "".join(f"; did you mean {near!r} by {name!r}?" for name, near in hints.items())
        known = ", ".join(columns)
        raise ValueError(f"the form {form} has none of the columns ({known}): all its names would be constants{hint}")
    for name, near in hints.items():
        warn(f"{name!r} is no column, so it is fitted as a constant; did you mean {near!r}?")
    return parameters


def _nearly(name: str, columns: Collection[str]) -> str | None:
    if len(name) < SHORTEST_NAME:
        return None
    return next(iter(difflib.get_close_matches(name, sorted(columns), n=1, cutoff=NEARLY)), None)


def fronts_of(form: Expression, inputs: Inputs, by: Mapping[str, str], settings: SearchSettings) -> tuple[Front, ...]:
    """A front for each target, of this form alone with its constants fitted; `by` are the columns of categories that
    some of them go by."""
    names = inputs.tables[0].names
    groups = groups_of(inputs.columns or (), names if inputs.columns else (), by)
    parameters = parameters_of(form, names)
    starts = FitSettings(starts=STARTS, seed=settings.seed)
    fronts = []
    for whole in inputs.tables:
        whole.check_sizes()
        table = distinct_rows(whole).with_loss(settings.loss)
        if table.rows <= settings.rows:  # of more, all distances would take long
            table = weighted_by_neighbours(table)
        if groups:
            found = fit_by_category(form, table, groups, settings=starts)
        else:
            found = fit(form, table, parameters=parameters, settings=starts)
        if found.status is FitStatus.NOT_FINITE:
            raise no_value_error(form, found.parameters, whole)
        equation = with_units_of_constants(Equation.of(found, table), settings)
        fronts.append(Front((equation,), 0, found.status.value, found.seconds, 1))
    return tuple(fronts)


def no_value_error(form: Expression, parameters: Mapping[str, float], data: Dataset) -> DataError:
    """That a form has no value, and where: the first of its parts that has none, the row, and the values there."""
    for node in postorder(form):
        if not isinstance(node, Apply):
            continue
        values = np.broadcast_to(evaluate(node.substitute(dict(parameters)), data.columns).values, data.rows)
        rows = np.flatnonzero(~np.isfinite(values))
        if len(rows):
            row, named = int(rows[0]), [name for name in node.variables if name not in parameters]
            at = ", ".join(f"{name} = {data.columns[name][row]:.6g}" for name in named)
            constants = ", ".join(f"{name} = {parameters[name]:.6g}" for name in node.variables if name in parameters)
            said = f" (from {constants})" if constants else ""
            return DataError(
                f"the form {form} has no value in row {row + 1}: {to_text(node, digits=6)} is not a finite number "
                f"where {at or 'its numbers are such'}{said}; {len(rows)} of {data.rows} rows are so: leave them "
                "out, or change the form"
            )
    return DataError(f"the form {form} is too large on these data to be fitted; use other units")
