"""Groups and targets of one table, each fitted, on the command line."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from prunesymnet.cli.tables import Columns, options_named, table_of
from prunesymnet.data.checks import labelled
from prunesymnet.data.messages import listed, printable
from prunesymnet.errors import DataError
from prunesymnet.estimator import PruneSymRegressor
from prunesymnet.many import ManyModels, fit_many

NUMBERS = {"r2": "{:.6f}", "heldout_r2": "{:.6f}", "seconds": "{:.1f}"}  # how columns are printed
MOST_OF_A_FORMULA = 60  # characters in a line of the table: all of it is in the file


def fit_groups(
    data: str,
    columns: Columns,
    by: Sequence[str],
    estimator: PruneSymRegressor,
    *,
    jobs: int,
    folder: Path | None = None,
    progress: bool = True,
) -> ManyModels:
    """A model for each group and target of a table in a file."""
    table = table_of(data, columns.decimal, columns.sheet)
    labels = list(table.frame.columns)
    columns, groups = columns.called_in(labels), labelled(by, labels)
    with options_named(), table.located():
        if not columns.targets:
            raise DataError(f"name the column to explain: --target, one of {listed(labels)}")
        if not groups and len(columns.targets) == 1:
            raise DataError("name the column whose values make the groups (--by), or several targets (-y a,b)")
        features = table.features(columns.targets, columns.features, columns.exclude, *groups)
        return fit_many(
            table.frame,
            estimator,
            y=list(columns.targets),
            by=groups or None,
            features=[name for name in features if name not in groups],
            drop_missing=columns.drop_missing,
            n_jobs=jobs,
            folder=folder,
            progress=progress,
        )


def printed(found: ManyModels) -> str:
    """The table as the terminal shows it, and whether the groups share one form."""
    table = found.table().drop(columns="notes")
    for name, number in NUMBERS.items():
        table[name] = ["" if pd.isna(value) else number.format(value) for value in table[name]]
    table["complexity"] = ["" if pd.isna(value) else str(value) for value in table["complexity"]]
    for name in table.columns.difference([*NUMBERS, "complexity"]):
        table[name] = [printable(str(value), MOST_OF_A_FORMULA) for value in table[name]]
    lines = [table.to_string(index=False), "", found.summary()]
    lines += [f"{printable(str(key))}: {error}" for key, error in found.errors.items()]
    return "\n".join(lines)
