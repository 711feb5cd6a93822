"""Tables from files, in the formats that people have them in, and the examples that ship.

What had to be assumed to read a file is said in one line, a `DataWarning`.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from prunesymnet.data.categories import indicators_like, with_indicators
from prunesymnet.data.checks import as_matrix, labelled
from prunesymnet.data.dataset import Dataset, check_known, from_frame
from prunesymnet.data.messages import in_rows, listed, reason_of, shown, warn
from prunesymnet.data.sheets import parse_sheet
from prunesymnet.data.sources import MOST_BYTES, check_cells, opened, text_of
from prunesymnet.data.text import decoded, parse_csv, parse_json
from prunesymnet.errors import DataError

TEXT = (".csv", ".tsv", ".txt", ".dat")
JSON = (".json", ".jsonl", ".ndjson")
SHEETS = (".xlsx", ".ods")
SUFFIXES = (*TEXT, *JSON, *SHEETS, ".parquet")

# The shipped tables: name -> (target, features). Their other columns are labels for the reader.
EXAMPLES = MappingProxyType(
    {
        "planets": ("period", ("semi_major_axis",)),
        "hubble": ("velocity", ("distance",)),
        "boyle": ("pressure", ("volume",)),
        "balmer": ("wavelength", ("n",)),
    }
)


def read_table(
    path: str | os.PathLike[str],
    target: str,
    *,
    features: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    weights: str | None = None,
    y_err: str | None = None,
    categories: Sequence[str] = (),
    drop_missing: bool = False,
    decimal: str | None = None,
    sheet: str | None = None,
) -> Dataset:
    """A Dataset from a file: ``.csv``, ``.tsv``, ``.txt``, ``.dat``, ``.json`` (lines of objects), each also ``.gz``;
    ``.xlsx``, ``.ods`` or ``.parquet``.

    A text file has one line of names first; lines that begin with # are comments. Its separator is a tab, semicolon,
    comma or bar, else blanks. Decimal commas, thousands that are set apart, and encodings other than UTF-8 are
    recognised; a warning says what was assumed. ``decimal`` is "," or "." where the file leaves it open, ``sheet`` the
    name of a sheet. A first column without a name that counts the rows is no feature. A unit in brackets, ``v [m/s]``,
    is no part of a column's name.

    ``features`` are all other columns unless named, without those of ``exclude``. An empty cell or NaN is a missing
    value, and ``drop_missing`` leaves such rows out. Columns of ``categories`` become a column of 0 and 1 for each
    category. Any other cell that is not a number is named in the error, with its line.

    >>> read_table("no_such_file.csv", "y")
    Traceback (most recent call last):
    ...
    prunesymnet.errors.DataError: no_such_file.csv: no such file in ...; check the path
    """
    table = read_frame(path, decimal=decimal, sheet=sheet)
    labels = list(table.frame.columns)
    (target,) = labelled([target], labels)
    if weights is not None:
        (weights,) = labelled([weights], labels)
    if y_err is not None:
        (y_err,) = labelled([y_err], labels)
    if features is not None and not isinstance(features, str):
        features = labelled(features, labels)
    exclude = exclude if isinstance(exclude, str) else labelled(exclude, labels)
    categories = labelled(categories, labels)
    with table.located():
        chosen = table.features([target], features, exclude, weights, y_err)
    if drop_missing:
        table = table.without_missing([*chosen, *(name for name in (target, weights, y_err) if name is not None)])
    if categories:
        table, chosen = table.with_indicators(chosen, categories)
    with table.located():
        return from_frame(table.frame, target, features=chosen, weights=weights, y_err=y_err, repair=bool(categories))


@dataclass(frozen=True, eq=False)
class Table:
    """A frame, with where it comes from."""

    frame: pd.DataFrame
    name: str
    where: Callable[[Sequence[int]], str] = lambda rows: ""  # the place of rows (from 0) in the file
    kept: Sequence[int] | None = None  # the rows of the file that are left, where some were dropped
    sheets: Sequence[str] = ()  # that the file has, if it is a spreadsheet

    @contextmanager
    def located(self) -> Iterator[None]:
        """Adds the name of the file, and the lines in it, to an error about the table."""
        try:
            yield
        except DataError as problem:
            rows = getattr(problem, "rows", ())
            where = self.where([row if self.kept is None else self.kept[row] for row in rows]) if rows else ""
            text, place = str(problem), in_rows(rows) if rows else ""
            text = text.replace(place, f"{place} ({where})", 1) if where and place in text else text
            error = DataError(f"{self.name}: {text}")
            vars(error)["kind"] = getattr(problem, "kind", "")
            raise error from None

    def features(
        self,
        targets: Sequence[str],
        features: Iterable[str] | None = None,
        exclude: Iterable[str] = (),
        *others: str | None,
    ) -> list[str]:
        """The columns that explain the targets: those named, else all but the targets, weights and the like (`others`)
        and row numbers; without the excluded ones."""
        columns = list(self.frame.columns)
        if isinstance(features, str) or isinstance(exclude, str):
            name, value = ("features", features) if isinstance(features, str) else ("exclude", exclude)
            raise DataError(f"{name} must be a list of column names; write {name}=[{value!r}]")
        left_out = {*exclude}
        check_known(left_out, columns)
        if features is None:
            left_out |= {*targets, *filter(None, others)} | ({columns[0]} if counts_rows(self.frame) else set())
            features = columns
        chosen = [name for name in features if name not in left_out]
        for name, times in Counter([*chosen, *targets]).items():
            if times > 1 and name in targets:
                raise DataError(f"{shown(name)} is named twice as a target, or as a target and a feature; name it once")
        if not chosen:
            raise DataError(
                f"no feature columns: of {listed(columns)} none is left beside the target, weights, standard errors "
                "and what is excluded; add at least one more"
            )
        return chosen

    def without_missing(self, columns: Sequence[str]) -> "Table":
        """The table without the rows that lack a value in one of the columns; a warning says how many these are."""
        with self.located():
            check_known(columns, list(self.frame.columns))
        cells = self.frame[list(dict.fromkeys(columns))].isna().to_numpy()
        lacking: NDArray[np.bool_] = np.any(cells, axis=1)
        if not lacking.any():
            return self
        rows = np.flatnonzero(lacking).tolist()
        warn(f"{self.name}: left out {len(rows):,} of {len(lacking):,} rows, which lack a value: {in_rows(rows)}")
        return replace(self, frame=self.frame.loc[~lacking], kept=np.flatnonzero(~lacking).tolist())

    def with_indicators(self, features: Sequence[str], categories: Sequence[str]) -> tuple["Table", list[str]]:
        """The table with columns of 0 and 1 in place of those with categories, and the features that it has then."""
        with self.located():
            stray = [name for name in categories if name not in features]
            check_known(stray, list(self.frame.columns))
            if stray:
                raise DataError(f"categories has {shown(stray[0])}, which is no feature here")
            part = with_indicators(self.frame[list(features)], categories)
        others = self.frame[[name for name in self.frame.columns if name not in features]]
        return replace(self, frame=pd.concat([part, others], axis="columns")), list(part.columns)

    def numbers(self, columns: Sequence[str]) -> NDArray[np.float64]:
        """Some columns, all numbers and finite; also those of 0 and 1 that tell of categories."""
        with self.located():
            frame = indicators_like(self.frame, columns)
            check_known(columns, list(frame.columns))
            return as_matrix(frame[list(columns)], columns)


def counts_rows(frame: pd.DataFrame) -> bool:
    """Whether the first column has no name, or the one that pandas gives to such, and counts the rows."""
    if frame.shape[1] < 2 or str(frame.columns[0]) not in ("", "Unnamed: 0"):
        return False
    first = frame.iloc[:, 0]
    return first.dtype.kind in "iuf" and len(first) > 1 and bool((np.diff(first.to_numpy(np.float64)) == 1).all())


def read_frame(
    source: str | os.PathLike[str] | BinaryIO,
    *,
    decimal: str | None = None,
    sheet: str | None = None,
    name: str | None = None,
) -> Table:
    """The whole table of a file, or of what a stream holds (as text), which messages call by its `name`; see
    `read_table`."""
    name = str(source) if name is None else name
    try:
        if not isinstance(source, str | os.PathLike):
            if sheet is not None:
                raise DataError("sheet is for files, and this is a stream; give the file's name")
            table, assumed = _parsed(text_of(source), name, ".csv", decimal)
        else:
            table, assumed = _read(Path(source), decimal, sheet)
        check_cells(*table.frame.shape)
    except DataError as problem:
        raise DataError(f"{name}: {problem}") from None
    if counts_rows(table.frame):
        assumed = [*assumed, "the first column, which has no name, as row numbers"]
    if assumed:
        warn(f"{name}: read with {'; '.join(assumed)}")
    return table


def _read(file: Path, decimal: str | None, sheet: str | None) -> tuple[Table, list[str]]:
    kind = Path(file.name.lower().removesuffix(".gz")).suffix
    packed = file.suffix.lower() == ".gz"
    if sheet is not None and kind not in SHEETS:
        raise DataError(f"sheet is for {' and '.join(SHEETS)}, and this is no spreadsheet")
    with opened(file) as handle:
        if kind not in SUFFIXES or (packed and kind not in TEXT + JSON):
            raise DataError(f"can't read a {kind or 'file without a suffix'}; save it as .csv, .xlsx, .ods or .parquet")
        if kind in SHEETS:
            found = parse_sheet(handle, kind, sheet, decimal)
            return Table(_without_blank(found.frame), str(file), found.where, sheets=found.sheets), found.assumed
        if kind == ".parquet":
            return Table(_read_parquet(handle), str(file)), []
        return _parsed(text_of(handle), str(file), kind, decimal)


def _parsed(content: bytes | bytearray, name: str, kind: str, decimal: str | None) -> tuple[Table, list[str]]:
    text, assumed = decoded(content)
    found = (parse_json if kind in JSON else parse_csv)(text, decimal)
    return Table(_without_blank(found.frame), name, found.where), [*assumed, *found.assumed]


def _without_blank(frame: pd.DataFrame) -> pd.DataFrame:
    """Without columns that have neither a name nor a value, as separators at the ends of lines make them."""
    blank = [name == "" and bool(frame.iloc[:, k].isna().all()) for k, name in enumerate(frame.columns)]
    return frame.loc[:, ~np.array(blank, dtype=bool)] if any(blank) else frame


def load_example(name: str) -> Dataset:
    """One of the shipped tables, all measured: planets, hubble, boyle or balmer (see examples/README.md).

    >>> load_example("hubble").y[:3]
    array([ 170.,  290., -130.])
    """
    if name not in EXAMPLES:
        raise DataError(f"no example is named {name!r}; the names are {listed(EXAMPLES)}")
    target, features = EXAMPLES[name]
    return read_table(example_path(name), target, features=features)


def example_path(name: str) -> Path:
    """The file of a shipped table."""
    # In an installed package the tables lie beside this package, in a checkout at the root.
    above = Path(__file__).resolve().parents
    installed, checkout = (above[i] / "examples" / f"{name}.csv" for i in (1, 3))
    return installed if installed.exists() else checkout


def _read_parquet(handle: BinaryIO) -> pd.DataFrame:
    from pyarrow import BufferReader
    from pyarrow.parquet import ParquetFile

    try:
        told = ParquetFile(handle).metadata
        check_cells(told.num_rows, told.num_columns)
        size = sum(told.row_group(k).total_byte_size for k in range(told.num_row_groups))
        if size > MOST_BYTES:
            raise DataError(f"holds more than {MOST_BYTES:,} bytes; draw some of its rows first")
        handle.seek(0)
        # Bytes that pyarrow has itself are read by this thread. A file of Python's is read by a thread of pyarrow's
        # pool, and one that is still at it when the process ends aborts it.
        table = ParquetFile(BufferReader(handle.read())).read(use_threads=False)
        frame: pd.DataFrame = table.to_pandas(use_threads=False)
        return frame
    except DataError:
        raise
    except Exception as problem:  # what a damaged file makes the reader raise can't be listed
        raise DataError(f"can't be read as Parquet ({reason_of(problem)}); write it again") from None
