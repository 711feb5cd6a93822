"""Tables in and out of the command line."""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from prunesymnet.data import Dataset, Table, from_frame, read_frame, repair_names
from prunesymnet.data.checks import check_rows_of_a_search, labelled
from prunesymnet.data.dataset import check_known
from prunesymnet.data.messages import listed
from prunesymnet.errors import DataError
from prunesymnet.runs import Model

# What helps against an error of a kind (`prunesymnet.data.messages.cell_error`).
OPTIONS = {
    "missing": "--drop-missing leaves such rows out",
    "text": "--exclude leaves a column out, --categories makes a column of 0 and 1 of each of its values",
    "dates": "--exclude leaves a column out",
    "decimal": "--decimal , or --decimal .",
}


@dataclass(frozen=True)
class Columns:
    """Which columns of a table are used, for what, and how the table is read."""

    targets: Sequence[str]
    features: Sequence[str] | None = None
    exclude: Sequence[str] = ()
    weights: str | None = None
    y_err: str | None = None
    categories: Sequence[str] = ()
    drop_missing: bool = False
    decimal: str | None = None
    sheet: str | None = None
    form: str | None = None

    def called_in(self, labels: Iterable[str]) -> "Columns":
        """With the labels of a table, `v [m/s]`, for columns that are named without their unit."""
        known = list(labels)
        weights, y_err = (None if name is None else labelled([name], known)[0] for name in (self.weights, self.y_err))
        return replace(
            self,
            targets=labelled(self.targets, known),
            features=None if self.features is None else labelled(self.features, known),
            exclude=labelled(self.exclude, known),
            weights=weights,
            y_err=y_err,
            categories=labelled(self.categories, known),
        )


def table_of(data: str, decimal: str | None = None, sheet: str | None = None) -> Table:
    """The table of a file, or of standard input (-)."""
    if data != "-":
        return read_frame(data, decimal=decimal, sheet=sheet)
    if sys.stdin is None:
        raise DataError("standard input is closed; pipe a table into it, or name a file")
    if sys.stdin.isatty():
        raise DataError("standard input is the keyboard; pipe a table into it, or name a file")
    return read_frame(sys.stdin.buffer, decimal=decimal, sheet=sheet, name="standard input")


def chosen_of(data: str, columns: Columns) -> tuple[Table, list[str], Columns]:
    """The table with the rows and columns that are asked for, which of these are features, and the columns as the table
    calls them."""
    table = table_of(data, columns.decimal, columns.sheet)
    columns = columns.called_in(table.frame.columns)
    others = [name for name in (columns.weights, columns.y_err) if name is not None]
    with options_named():
        with table.located():
            if not columns.targets:
                raise DataError(f"name the column to explain: --target, one of {listed(table.frame.columns)}")
            features = table.features(columns.targets, columns.features, columns.exclude, *others)
        if columns.form is not None and columns.features is None:
            features = _of_the_form(columns.form, table.frame, features, columns.categories)
        if columns.drop_missing:
            table = table.without_missing([*features, *columns.targets, *others])
        if columns.categories:
            table, features = table.with_indicators(features, columns.categories)
        return table, features, columns


def _of_the_form(form: str, frame: pd.DataFrame, features: list[str], categories: Sequence[str]) -> list[str]:
    """The features without those that a form does not name and that could not be used: text, or missing cells. Others
    stay, so that a name that is nearly a column's can be seen to be."""
    named = set(re.findall(r"[^\W\d]\w*", form))
    called = zip(features, repair_names(features), strict=True)
    return [name for name, ours in called if ours in named or name in categories or _is_finite(frame[name])]


def _is_finite(column: "pd.Series[float]") -> bool:
    return column.dtype.kind in "biuf" and bool(np.isfinite(column.to_numpy(np.float64)).all())


def datasets_of(table: Table, features: Sequence[str], columns: Columns) -> list[Dataset]:
    """A Dataset for each target."""
    with options_named(), table.located():
        first, *others = columns.targets
        check_known(others, list(table.frame.columns))
        found = from_frame(
            table.frame, first, features=features, weights=columns.weights, y_err=columns.y_err, repair=True
        )
        check_rows_of_a_search(found.rows)
        called = repair_names(others, taken=[*found.names, found.target])
        more = [found.with_target(table.frame[name], ours) for name, ours in zip(others, called, strict=True)]
    return [found, *more]


def labels_of(tables: Sequence[Dataset], features: Sequence[str], targets: Sequence[str]) -> dict[str, str]:
    """What the file calls the columns and targets, by their names in formulas."""
    called = zip((table.target for table in tables), targets, strict=True)
    return {**dict(zip(tables[0].names, map(str, features), strict=True)), **dict(called)}


@contextmanager
def options_named() -> Iterator[None]:
    """Adds the option that helps to an error about a table."""
    try:
        yield
    except DataError as problem:
        option = OPTIONS.get(getattr(problem, "kind", ""))
        raise DataError(f"{problem}; {option}" if option else str(problem)) from None


def predicted(model: Model, table: Table, index: int | None, interval: float | None, *, forms: bool = False) -> str:
    """The table as CSV, with a column for each target's prediction, and for its interval if one is asked for; whether
    other `forms` of the front count in that."""
    columns = dict(zip(model.names, table.numbers(model.labels).T, strict=True))
    added: dict[str, object] = {}
    for front in model.fronts:
        equation = front.best if index is None else front[index]
        name = f"{front.target}_predicted"
        added[name] = equation.predict(columns)
        if interval is not None:
            source = front if forms else equation
            added[f"{name}_low"], added[f"{name}_high"] = source.interval(columns, interval)
    frame = pd.concat([table.frame, pd.DataFrame(added, index=table.frame.index)], axis="columns")
    text: str = frame.to_csv(index=False)
    return text
