"""Tables in and out of the command line."""

import sys
from collections.abc import Sequence

import pandas as pd

from prunesymnet.data import Dataset, Table, from_frame, read_frame
from prunesymnet.data.messages import listed
from prunesymnet.errors import DataError
from prunesymnet.runs import Model


def table_of(data: str) -> Table:
    """The table of a file, or of standard input (-)."""
    if data != "-":
        return read_frame(data)
    if sys.stdin.isatty():
        raise DataError("standard input is the keyboard; pipe a table into it, or name a file")
    return read_frame(sys.stdin.buffer)


def tables_of(
    data: str,
    targets: Sequence[str],
    features: Sequence[str] | None,
    weights: str | None = None,
    y_err: str | None = None,
) -> tuple[tuple[str, ...], list[Dataset]]:
    """The names of the columns as the table has them, and a Dataset for each target."""
    table = table_of(data)
    with table.located():
        if targets == [""]:
            raise DataError(f"name the column to explain: --target, one of {listed(table.frame.columns)}")
        if features is None:
            features = [name for name in table.frame.columns if name not in (*targets, weights, y_err)]
        tables = [
            from_frame(table.frame, target, features=features, weights=weights, y_err=y_err, repair=True)
            for target in targets
        ]
    return tuple(map(str, features)), tables


def predicted(model: Model, data: str, index: int | None, interval: float | None) -> str:
    """The table as CSV, with a column for each target's prediction, and for its interval if one is asked for."""
    table = table_of(data)
    columns = dict(zip(model.names, table.numbers(model.labels).T, strict=True))
    added: dict[str, object] = {}
    for front in model.fronts:
        equation = front.best if index is None else front[index]
        name = f"{front.target}_predicted"
        added[name] = equation.predict(columns)
        if interval is not None:
            added[f"{name}_low"], added[f"{name}_high"] = equation.interval(columns, interval)
    frame = pd.concat([table.frame, pd.DataFrame(added, index=table.frame.index)], axis="columns")
    text: str = frame.to_csv(index=False)
    return text
