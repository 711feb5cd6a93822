"""Tables from files: text in its many dialects, Parquet, and the examples that ship."""

import csv
import gzip
import io
import os
import warnings
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from prunesymnet.data.checks import NUMBER, as_floats
from prunesymnet.data.dataset import Dataset, check_known, from_frame
from prunesymnet.data.messages import counted, listed
from prunesymnet.errors import DataError

# The shipped tables: name -> (target, features). Their other columns are labels for the reader.
EXAMPLES = MappingProxyType(
    {
        "planets": ("period", ("semi_major_axis",)),
        "hubble": ("velocity", ("distance",)),
        "boyle": ("pressure", ("volume",)),
        "balmer": ("wavelength", ("n",)),
    }
)

# Before 3.1, pandas reads a number to the last digit only when asked to; from 3.1 always.
_EXACT: dict[str, Any] = (
    {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
)


def read_table(
    path: str | os.PathLike[str],
    target: str,
    *,
    features: Iterable[str] | None = None,
    weights: str | None = None,
    y_err: str | None = None,
) -> Dataset:
    """A Dataset from a file: ``.csv``, ``.tsv``, ``.txt`` (each also ``.gz``) or ``.parquet``.

    A text file is UTF-8, with one line of names first. Its separator is a tab, semicolon or comma,
    whichever its first line has most of, else blanks. An empty cell or NaN is a missing value; any other
    cell that is not a number is named in the error, with its line.

    >>> read_table("no_such_file.csv", "y")
    Traceback (most recent call last):
    ...
    prunesymnet.errors.DataError: no_such_file.csv: no such file in ...; check the path
    """
    table = read_frame(path)
    with table.located():
        return from_frame(table.frame, target, features=features, weights=weights, y_err=y_err)


@dataclass(frozen=True, eq=False)
class Table:
    """A frame, with where it comes from."""

    frame: pd.DataFrame
    name: str
    text: str = ""  # of a text file, to find the line of a row in

    @contextmanager
    def located(self) -> Iterator[None]:
        """Adds the name of the file, and the lines in it, to an error about the table."""
        try:
            yield
        except DataError as problem:
            rows = getattr(problem, "rows", ())
            where = f" ({counted('line', _lines(self.text, rows))} of the file)" if self.text and rows else ""
            raise DataError(f"{self.name}: {problem}{where}") from None

    def numbers(self, columns: Sequence[str]) -> NDArray[np.float64]:
        """Some columns, all numbers and finite."""
        with self.located():
            check_known(columns, list(self.frame.columns))
            cells = [as_floats(self.frame[name], f"column {name!r}") for name in columns]
            return np.column_stack(cells) if cells else np.zeros((len(self.frame), 0))


def read_frame(source: str | os.PathLike[str] | BinaryIO) -> Table:
    """The whole table of a file, or of what a stream holds (as text)."""
    text = ""
    name = getattr(source, "name", None) or str(source)
    try:
        if not isinstance(source, str | os.PathLike):
            text = _as_text(source.read())
            return Table(_parse(text), str(name).strip("<>"), text)
        file = Path(source)
        kind = Path(file.name.lower().removesuffix(".gz")).suffix
        if file.is_dir():
            raise DataError("is a directory; name a file in it")
        if not file.exists():
            raise DataError(f"no such file in {file.absolute().parent}; check the path")
        if kind == ".parquet":
            return Table(_read_parquet(file), str(file))
        if kind not in (".csv", ".tsv", ".txt"):
            raise DataError(f"can't read a {kind or 'file without a suffix'}; save it as .csv or .parquet")
        text = _read_text(file)
        return Table(_parse(text), str(file), text)
    except DataError as problem:
        raise DataError(f"{str(name).strip('<>')}: {problem}") from None


def load_example(name: str) -> Dataset:
    """One of the shipped tables, all measured: planets, hubble, boyle or balmer (see examples/README.md).

    >>> load_example("hubble").y[:3]
    array([ 170.,  290., -130.])
    """
    if name not in EXAMPLES:
        raise DataError(f"no example is named {name!r}; the names are {listed(EXAMPLES)}")
    target, features = EXAMPLES[name]
    # In an installed package the tables lie beside this package, in a checkout at the root.
    above = Path(__file__).resolve().parents
    installed, checkout = (above[i] / "examples" / f"{name}.csv" for i in (1, 3))
    return read_table(installed if installed.exists() else checkout, target, features=features)


def _read_parquet(file: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(file, engine="pyarrow")
    except (OSError, ValueError, NotImplementedError) as problem:
        reason = str(problem).partition("\n")[0]
        raise DataError(f"can't be read as Parquet ({reason}); write it again") from None


def _read_text(file: Path) -> str:
    try:
        content = file.read_bytes()
        if file.suffix.lower() == ".gz":
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as problem:
        raise DataError(f"can't be read ({problem}); check its permissions, or write it again") from None
    return _as_text(content)


def _as_text(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise DataError("is not a text file in UTF-8; save it as CSV, encoding UTF-8")
    if not text.strip():
        raise DataError("is empty; it needs a line of names and lines of numbers")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _parse(text: str) -> pd.DataFrame:
    separator = _separator(text)
    try:
        header = next((cells for _, cells in _records(text)), [])
        if all(NUMBER.fullmatch(name) for name in header):
            raise DataError(f"starts with numbers ({listed(header)}), not names; put a line of names first")
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # raised where cells would be lost
            frame: pd.DataFrame = pd.read_csv(
                io.StringIO(text),
                sep=r"\s+" if separator == " " else separator,
                header=0,
                names=range(len(header)),  # pandas would rename a name that comes twice
                index_col=False,  # and take surplus cells for an index
                keep_default_na=False,  # "n/a" and its like are to be seen, not made NaN
                na_values=["", "nan", "NaN", "NAN"],
                skipinitialspace=True,
                low_memory=False,  # one type for a whole column
                **_EXACT,
            )
    except pd.errors.ParserWarning:
        raise DataError(f"has more cells in a row than names in its first line, {len(header)}; add the names") from None
    except (csv.Error, pd.errors.ParserError) as problem:
        raise DataError(f"is not a table ({str(problem).strip()}); correct that line") from None
    return frame.set_axis(header, axis="columns")


def _separator(text: str) -> str:
    first = text.lstrip("\n ").partition("\n")[0]
    most = max("\t;,", key=first.count)
    return most if most in first else " "


def _records(text: str) -> Iterator[tuple[int, list[str]]]:
    """The line each record starts at, and its cells; blank lines are no records, as in pandas."""
    separator = _separator(text)
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    line = 1
    for record in reader:
        cells = [cell.strip() for cell in record if cell or separator != " "]
        if len(cells) > 1 or any(cells):
            yield line, cells
        line = reader.line_num + 1


def _lines(text: str, rows: Sequence[int]) -> list[int]:
    wanted = {row + 1 for row in rows}  # record 0 is the line of names
    return [line for i, (line, _) in enumerate(_records(text)) if i in wanted]
