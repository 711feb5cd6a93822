"""Tables that people bring: kept as they came, read, looked at, and checked before a search.

Nothing in a file is run. It is read by `prunesymnet.data`, which bounds what it unpacks to, and a table that is larger
than a search makes use of is refused.
"""

import re
import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from prunesymnet.data import EXAMPLES, Dataset, Table, from_frame, read_frame
from prunesymnet.data.checks import as_floats, check_rows_of_a_search
from prunesymnet.data.dataset import check_known
from prunesymnet.data.files import SUFFIXES, counts_rows, example_path
from prunesymnet.data.messages import MOST_OF_A_VALUE, printable, shown
from prunesymnet.errors import DataError, DataWarning
from prunesymnet.studio.workspace import NotThere, Workspace, clean_name, read_record, write_record

MOST_CELLS = 10_000_000  # of a table in the studio: 80 MB of numbers, of which several tables may be in memory
MOST_COLUMNS = 60  # that are looked at: more are not chosen by hand
KEPT = 4  # tables in memory, those that were used last
BINS = 24  # of a histogram: finer ones of a few hundred rows are noise
ROWS_SHOWN = 200  # of the table itself
POINTS = 400  # rows of a small plot: more are a blot
CATEGORIES_SHOWN = 8  # the most frequent of a column
LONGEST_SUFFIX = 12  # characters: .parquet, .jsonl.gz
# What one click does against a problem of a kind (`prunesymnet.data.messages.cell_error`).
REMEDIES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "missing": (("drop_missing", "Leave out rows that lack a value"), ("exclude", "Leave out this column")),
    "text": (("categories", "Take its values as categories"), ("exclude", "Leave out this column")),
    "dates": (("exclude", "Leave out this column"),),
    "decimal": (("decimal,", "A comma is before decimals"), ("decimal.", "A point is before decimals")),
}


@dataclass(frozen=True, eq=False)
class Stored:
    """A table of the studio: what it is called, and how it is read."""

    id: str
    folder: Path
    name: str
    file: str
    made: float
    decimal: str | None = None
    sheet: str | None = None

    def record(self) -> dict[str, Any]:
        return {"name": self.name, "file": self.file, "made": self.made, "decimal": self.decimal, "sheet": self.sheet}


@dataclass(frozen=True)
class Columns:
    """Which columns of a table are used, and for what."""

    target: str
    features: tuple[str, ...]
    weights: str | None = None
    y_err: str | None = None
    categories: tuple[str, ...] = ()
    drop_missing: bool = False

    @classmethod
    def of(cls, record: Any) -> "Columns":
        """From a form's answers, or from a record; what is no such thing is a ValueError."""
        if not isinstance(record, dict):
            raise ValueError("the columns must be said by their names")
        lists = [record.get(name, []) for name in ("features", "categories")]
        texts = [record.get("target", ""), record.get("weights") or "", record.get("y_err") or ""]
        if not all(isinstance(one, list | tuple) for one in lists):
            raise ValueError("features and categories must be lists of columns")
        if not all(isinstance(name, str) for name in (*texts, *lists[0], *lists[1])):
            raise ValueError("columns must be said by their names")
        features, categories = (tuple(one) for one in lists)
        return cls(
            texts[0], features, texts[1] or None, texts[2] or None, categories, record.get("drop_missing") is True
        )


def suffix_of(name: str) -> str | None:
    """The suffix of a file that can be read, in lower case; None for others.

    >>> suffix_of("../Planets.CSV"), suffix_of("a.csv.gz"), suffix_of("a.exe"), suffix_of("csv")
    ('.csv', '.csv.gz', None, None)
    """
    found = re.search(r"(\.[a-z]+)(\.gz)?$", name.lower()[-LONGEST_SUFFIX:])
    return found[0] if found and found[1] in SUFFIXES and (not found[2] or found[1] not in SUFFIXES[-3:]) else None


class Tables:
    """The tables of a studio. A few that were used last stay in memory."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.cache: OrderedDict[tuple[Any, ...], tuple[Table, list[str]]] = OrderedDict()
        self.lock = threading.Lock()  # warnings are of the whole process, so that one table is read at a time

    def add(self, name: str, content: Path | bytes) -> Stored:
        """Keep a table: a file that was received, which is moved here, or bytes. One that can't be read is not kept."""
        suffix = suffix_of(name)
        if suffix is None:
            known = ", ".join((*SUFFIXES[:4], *SUFFIXES[-3:]))
            raise DataError(
                f"{clean_name(name, 'this file')} has a format that can't be read; save it as one of {known}"
            )
        made, folder = self.workspace.new("tables")
        stored = Stored(made, folder, clean_name(name, "table"), f"table{suffix}", time.time())
        try:
            if isinstance(content, bytes):
                (folder / stored.file).write_bytes(content)
            else:
                content.replace(folder / stored.file)
            self.read(stored)
        except BaseException:
            self.workspace.remove("tables", made)
            raise
        write_record(folder / "table.json", "table", stored.record())
        return stored

    def add_example(self, name: str) -> Stored:
        if name not in EXAMPLES:
            raise NotThere("there is no example of this name")
        return self.add(f"{name}.csv", example_path(name).read_bytes())

    def get(self, known_as: str) -> Stored:
        folder = self.workspace.folder("tables", known_as)
        content = read_record(folder / "table.json", "table")
        suffix = suffix_of(str(content.get("file")))
        texts = [content.get(key) if isinstance(content.get(key), str) else None for key in ("decimal", "sheet")]
        return Stored(
            known_as, folder, clean_name(str(content.get("name")), "table"), f"table{suffix}",
            float(content.get("made") or 0), *texts,
        )  # fmt: skip

    def all(self) -> list[Stored]:
        """Those that can be read, the newest first."""
        found = []
        for known_as in self.workspace.ids("tables"):
            with suppress(NotThere):  # one that is just being brought, or removed
                found.append(self.get(known_as))
        return sorted(found, key=lambda stored: -stored.made)

    def remove(self, known_as: str) -> None:
        """Remove a table; searches have what they need of it in their own folders."""
        self.workspace.remove("tables", known_as)
        with self.lock:
            for key in [key for key in self.cache if key[0] == known_as]:
                del self.cache[key]

    def read_as(self, stored: Stored, decimal: str | None, sheet: str | None) -> Stored:
        """The table, read in another way from now on."""
        other = replace(stored, decimal=decimal, sheet=sheet)
        self.read(other)
        write_record(stored.folder / "table.json", "table", other.record())
        return other

    def read(self, stored: Stored) -> tuple[Table, list[str]]:
        """The table, and what had to be assumed to read it."""
        key = (stored.id, stored.decimal, stored.sheet)
        with self.lock:
            if key not in self.cache:
                file = stored.folder / stored.file
                if file.is_symlink():
                    raise NotThere("this table is a link, and links are not followed")
                with notes() as said:
                    found = _read(file, stored)
                self.cache[key] = found, [note.removeprefix(f"{stored.name}: ") for note in said]
            self.cache.move_to_end(key)
            while len(self.cache) > KEPT:
                self.cache.popitem(last=False)
            return self.cache[key]


def _read(file: Path, stored: Stored) -> Table:
    try:
        table = read_frame(file, decimal=stored.decimal, sheet=stored.sheet)
    except (DataError, ImportError) as problem:
        raise DataError(str(problem).replace(str(file), stored.name)) from None
    rows, columns = table.frame.shape
    if rows * columns > MOST_CELLS:
        raise DataError(
            f"{stored.name} has {rows:,} rows and {columns:,} columns, more than {MOST_CELLS:,} cells; "
            "draw some of its rows first"
        )
    frame = table.frame.set_axis(
        [printable(str(name), MOST_OF_A_VALUE) for name in table.frame.columns], axis="columns"
    )
    return replace(table, frame=frame, name=stored.name)


@contextmanager
def notes() -> Iterator[list[str]]:
    """Collects what is said of a table on the way."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", DataWarning)
        yield said
        said += list(dict.fromkeys(printable(str(warning.message)) for warning in found))


def dataset_of(table: Table, columns: Columns) -> tuple[Dataset, list[str]]:
    """The checked table of a search, and the names of its features as the file has them."""
    with table.located():
        if not columns.target:
            raise DataError("choose the column to explain, the target")
        used = [name for name in (columns.target, columns.weights, columns.y_err) if name]
        check_known([*columns.features, *used], list(table.frame.columns))
        features = [name for name in columns.features if name not in used]
        if not features:
            raise DataError("choose at least one column to explain the target by")
    if columns.drop_missing:
        table = table.without_missing([*features, *used])
    categories = [name for name in columns.categories if name in features]
    if categories:
        table, features = table.with_indicators(features, categories)
    with table.located():
        found = from_frame(
            table.frame, columns.target, features=features, weights=columns.weights, y_err=columns.y_err, repair=True
        )
        check_rows_of_a_search(found.rows)
    return found, features


# What a page shows


def overview(table: Table) -> dict[str, Any]:
    """All that the page of a table draws: its columns, some of its rows, and what is wrong with each column."""
    frame = table.frame.iloc[:, :MOST_COLUMNS]
    rows = _some(len(frame), POINTS)
    columns = [_column(frame.iloc[:, k], str(frame.columns[k]), rows, table) for k in range(frame.shape[1])]
    return {
        "rows": len(table.frame),
        "columns": columns,
        "hidden_columns": table.frame.shape[1] - frame.shape[1],
        "row_numbers": str(frame.columns[0]) if counts_rows(frame) else None,
        "cells": [[_cell(value) for value in row] for row in frame.iloc[:ROWS_SHOWN].itertuples(index=False)],
        "sheets": [printable(name, MOST_OF_A_VALUE) for name in table.sheets],
        "repeated": sorted({str(name) for name in frame.columns[frame.columns.duplicated()]}),
    }


def _column(column: "pd.Series[Any]", name: str, rows: Sequence[int], table: Table) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": name,
        "missing": int(column.isna().sum()),
        "problem": problem_of(column, name, table),
    }
    numbers = _numbers(column)
    if numbers is None:
        counts = column.dropna().astype(str).value_counts()
        top = [[printable(str(key), MOST_OF_A_VALUE), int(value)] for key, value in counts[:CATEGORIES_SHOWN].items()]
        return found | {"kind": "dates" if column.dtype.kind == "M" else "text", "top": top, "distinct": len(counts)}
    known = numbers[np.isfinite(numbers)]
    found |= {"kind": "number", "distinct": len(np.unique(known))}
    if known.size:
        counts_, edges = np.histogram(known, bins=min(BINS, max(found["distinct"], 1)))
        found["histogram"] = {"counts": counts_.tolist(), "low": float(edges[0]), "high": float(edges[-1])}
        found["median"] = float(np.median(known))
    found["points"] = [float(value) if np.isfinite(value) else None for value in numbers[list(rows)]]
    return found


def problem_of(column: "pd.Series[Any]", name: str, table: Table) -> dict[str, Any] | None:
    """What keeps a column from being used as it is, where, and what helps."""
    try:
        with notes():
            as_floats(column, f"column {shown(name)}")
    except DataError as problem:
        rows = list(getattr(problem, "rows", ()))
        kind = getattr(problem, "kind", "")
        return {
            "message": printable(str(problem)),
            "where": table.where(rows) if rows else "",
            "rows": rows[:ROWS_SHOWN],
            "kind": kind,
            "remedies": [list(pair) for pair in REMEDIES.get(kind, (("exclude", "Leave out this column"),))],
        }
    return None


def _numbers(column: "pd.Series[Any]") -> np.ndarray[Any, np.dtype[np.float64]] | None:
    column = column.infer_objects() if column.dtype == object else column
    return column.to_numpy(np.float64, na_value=np.nan) if column.dtype.kind in "biuf" else None


def _cell(value: Any) -> str | None:
    """A cell as a page shows it; None for one that is missing."""
    if pd.isna(value):
        return None
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    return printable(str(value), MOST_OF_A_VALUE)


def _some(rows: int, most: int) -> list[int]:
    """At most so many rows, drawn at random, always the same."""
    if rows <= most:
        return list(range(rows))
    return sorted(np.random.default_rng(0).choice(rows, most, replace=False).tolist())
