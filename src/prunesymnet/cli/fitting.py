"""From a table and what is asked of it to a model: by a search, by a form whose constants are fitted, or in chunks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from prunesymnet.cli.tables import Columns, chosen_of, datasets_of, labels_of, options_named
from prunesymnet.data import Table
from prunesymnet.data.chunks import is_large
from prunesymnet.errors import DataError
from prunesymnet.estimator import PruneSymRegressor
from prunesymnet.runs import Model, run
from prunesymnet.search import SearchSettings
from prunesymnet.units import units_of_labels


def fitted(
    data: str,
    columns: Columns,
    settings: SearchSettings,
    *,
    units: Mapping[str, str] | None = None,
    constant_units: bool = True,
    folder: Path | None = None,
    progress: bool = True,
) -> Model:
    """The model of the table in a file, in a folder of files, or on standard input (-)."""
    if data != "-" and is_large(data):
        return _large(data, columns, settings, units, constant_units, folder, progress)
    table, features, columns = chosen_of(data, columns)
    if columns.form is not None:
        return _form(table, features, columns, settings, units)
    tables = datasets_of(table, features, columns)
    known = units_of_labels(labels_of(tables, features, columns.targets), units)
    settings = replace(settings, units=known, constant_units=constant_units)
    source = "standard input" if data == "-" else Path(data).name
    return run(tables, settings, columns=tuple(map(str, features)), folder=folder, progress=progress, source=source)


def _form(
    table: Table,
    features: Sequence[str],
    columns: Columns,
    settings: SearchSettings,
    units: Mapping[str, str] | None = None,
) -> Model:
    """The model whose formula has this form, with its constants fitted."""
    frame, targets = table.frame, list(columns.targets)
    weights, errors = (None if name is None else frame[name] for name in (columns.weights, columns.y_err))
    with options_named(), table.located():
        y = frame[targets[0]] if len(targets) == 1 else frame[targets]
        fitted = PruneSymRegressor(preset=settings, units=units).fit_form(
            columns.form or "", frame[list(features)], y, weights, y_err=errors
        )
    model: Model = fitted.model_
    return model


def _large(
    data: str,
    columns: Columns,
    settings: SearchSettings,
    units: Mapping[str, str] | None = None,
    constant_units: bool = True,
    folder: Path | None = None,
    progress: bool = True,
) -> Model:
    """The model of a table that is larger than memory."""
    unknown = {"--form": columns.form, "--categories": columns.categories, "--decimal": columns.decimal}
    for option, value in (unknown | {"--sheet": columns.sheet}).items():
        if value:
            raise DataError(f"{data}: {option} is for tables in memory, and this one is read in chunks")
    if len(columns.targets) != 1:
        found = f"got {', '.join(columns.targets)}" if columns.targets else "got none"
        raise DataError(f"{data}: name one column to explain (--target) of a table that is read in chunks, {found}")
    estimator = PruneSymRegressor(
        preset=settings, units=units, constant_units=constant_units, run_dir=folder, progress=progress
    )
    with options_named():
        fitted = estimator.set_params(n_jobs=settings.workers or -1, random_state=settings.seed).fit_large(
            data,
            columns.targets[0],
            features=columns.features,
            exclude=columns.exclude,
            weights=columns.weights,
            y_err=columns.y_err,
            drop_missing=columns.drop_missing,
        )
    model: Model = fitted.model_
    return model
