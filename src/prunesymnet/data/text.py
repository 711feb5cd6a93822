"""A table from text: CSV in its many dialects, and lines of JSON.

Nothing of a dialect has to be said: the encoding, what separates columns, comments and the sign before decimals are
found in the text. What could have been meant otherwise is told (`assumed`).

>>> found = parse_csv("# from the lab\\nlength;time\\n1,5;2,5\\n3,0;5,0\\n")
>>> found.frame["time"].tolist(), found.assumed
([2.5, 5.0], ['a comment in line 1', 'decimal commas (length, time)'])
"""

import codecs
import csv
import io
import json
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from prunesymnet.data.cells import check_decimal, decimal_of, is_number, with_numbers
from prunesymnet.data.messages import counted, listed, reason_of
from prunesymnet.data.sources import WIDE, check_cells
from prunesymnet.errors import DataError

SEPARATORS = "\t;,|"  # the more telling first: a table with semicolons often has commas in its numbers or names
LOOKED_AT = 20  # lines by which the separator is found
# Before 3.1, pandas reads a number to the last digit only when asked to; from 3.1 always.
_EXACT: dict[str, Any] = (
    {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
)


@dataclass(frozen=True, eq=False)
class Parsed:
    """A frame, what was assumed to read it, and where its rows stand."""

    frame: pd.DataFrame
    assumed: list[str]
    text: str = ""  # of a table with separators, to find the line of a row in
    separator: str = ","
    before: int = 1  # records before the first row: the line of names, if there is one
    numbered: Sequence[int] = ()  # the places of the rows, where they are known
    place: str = "line"  # what is numbered
    whole: str = "file"
    sheets: Sequence[str] = ()  # that a spreadsheet has

    def where(self, rows: Sequence[int]) -> str:
        """'line 3 of the file', 'rows 3 and 7 of the sheet'; nothing where it can't be said."""
        if self.text:
            wanted = {row + self.before for row in rows}
            try:
                places = [line for i, (line, _) in enumerate(_records(self.text, self.separator)) if i in wanted]
            except csv.Error:  # a cell that is longer than the reader takes
                return ""
        else:
            places = [self.numbered[row] for row in rows] if len(self.numbered) else []
        return f"{counted(self.place, places)} of the {self.whole}" if places else ""


def decoded(content: bytes | bytearray) -> tuple[str, list[str]]:
    """The text of a file, with line breaks as \\n, and what was assumed of its encoding."""
    assumed = []
    try:
        text = content.decode("utf-16" if content.startswith(WIDE) else "utf-8-sig")
    except UnicodeDecodeError:
        assumed = ["Latin-1 (Windows-1252), since it is not UTF-8"]
        try:
            text = content.decode("cp1252")
        except UnicodeDecodeError:  # five bytes have no meaning there
            text = content.removeprefix(codecs.BOM_UTF8).decode("latin-1")
    if "\0" in text:
        raise DataError("is not a text file; save it as CSV, encoding UTF-8")
    if not text.strip():
        raise DataError("is empty; it needs a line of names and lines of numbers")
    return text.replace("\r\n", "\n").replace("\r", "\n"), assumed


# Separated values


def parse_csv(text: str, decimal: str | None = None) -> Parsed:
    """The table of a text with separators; `decimal` is "." or "," where it is known."""
    check_decimal(decimal)
    text, comments = _without_comments(text)
    if not text.strip():
        raise DataError("has comments only; it needs a line of names and lines of numbers")
    separator = _separator(text)
    assumed = []
    try:
        header = next((cells for _, cells in _records(text, separator)), [])
        if not any(header):
            raise DataError("has no names; put a line of names first")
        before = 0 if all(map(is_number, header)) else 1
        if not before:
            header, told = _names_of(header, comments, separator)
            assumed.append(told)
        if comments:
            lines = counted("line", [line for line, _ in comments])
            assumed.insert(0, f"{'a comment' if len(comments) == 1 else 'comments'} in {lines}")
        check_cells(text.count("\n") + 1, len(header))
        frame = _frame(text, separator, header, before)
        decimal = decimal_of(frame, separator) if decimal is None else decimal
        if decimal == ",":  # what was read as a number may have points between its thousands
            typed = [k for k, kind in enumerate(frame.dtypes) if kind.kind in "iuf"]
            frame = frame.astype(dict.fromkeys(typed, object))
            frame[typed] = _frame(text, separator, header, before, dtype=str)[typed]
    except pd.errors.ParserWarning:
        raise DataError(f"has more cells in a row than names in its first line, {len(header)}; add the names") from None
    except (csv.Error, pd.errors.ParserError) as problem:
        raise DataError(f"is not a table ({reason_of(problem)}); correct that line") from None
    frame, facts = with_numbers(frame.set_axis(header, axis="columns"), decimal)
    return Parsed(frame, [*assumed, *facts], text, separator, before)


def _frame(text: str, separator: str, header: Sequence[str], before: int, **options: Any) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # raised where cells would be lost
        frame: pd.DataFrame = pd.read_csv(
            io.StringIO(text),
            sep=r"\s+" if separator == " " else separator,
            header=0 if before else None,
            names=range(len(header)),  # pandas would rename a name that comes twice
            index_col=False,  # and take surplus cells for an index
            keep_default_na=False,  # "n/a" and its like are to be seen, not made NaN
            na_values=["", "nan", "NaN", "NAN"],
            skipinitialspace=True,
            low_memory=False,  # one type for a whole column
            **_EXACT,
            **options,
        )
    return frame


def _names_of(cells: Sequence[str], comments: Sequence[tuple[int, str]], separator: str) -> tuple[list[str], str]:
    """The names of columns whose first line is numbers: those of the last comment, as many programs write them, else
    x1, x2, ..."""
    if comments:
        line, comment = comments[-1]
        names = next((found for _, found in _records(comment, separator)), [])
        if len(names) == len(cells) and not all(map(is_number, names)):
            return names, f"the names of the comment in line {line}"
    names = [f"x{k + 1}" for k in range(len(cells))]
    return names, f"the names {listed(names, 3)}, since the first line is numbers"


def _without_comments(text: str) -> tuple[str, list[tuple[int, str]]]:
    """The text with empty lines in place of those that begin with #, so that lines keep their numbers; and these. A
    line inside of a quoted cell is none."""
    if "#" not in text:
        return text, []
    found, lines, quoted = [], text.split("\n"), False
    for k, line in enumerate(lines):
        if not quoted and line.lstrip().startswith("#"):
            found.append((k + 1, line.lstrip().lstrip("#")))
            lines[k] = ""
        elif line.count('"') % 2:
            quoted = not quoted
    return "\n".join(lines), found


def _separator(text: str) -> str:
    """The first of SEPARATORS that parts most of the first lines into as many cells as the line of names; where none
    does, the one that it has most of, or else blanks. A column that stands alone may have blanks in its name: "t [s]".
    """
    lines = [line for line in text.lstrip("\n ")[: 2**16].split("\n") if line.strip()][:LOOKED_AT]
    for separator in SEPARATORS:
        try:
            counts = [len(cells) for _, cells in _records("\n".join(lines), separator)]
        except csv.Error:
            continue
        if counts and counts[0] > 1 and counts.count(counts[0]) > len(counts) / 2:
            return separator
    most = max(SEPARATORS, key=lines[0].count)
    if most in lines[0]:
        return most
    alone = len(lines) > 1 and all(len(line.split()) == 1 for line in lines[1:])
    return most if alone else " "  # one that no line has


def _records(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The line each record starts at, and its cells; blank lines are no records, as in pandas."""
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    line = 1
    for record in reader:
        cells = [cell.strip() for cell in record if cell or separator != " "]
        if len(cells) > 1 or any(cells):
            yield line, cells
        line = reader.line_num + 1


# JSON


def parse_json(text: str, decimal: str | None = None) -> Parsed:
    """The table of a JSON file: an object on each line, or a list of objects, or an object of lists."""
    check_decimal(decimal)
    records, lines = _objects(text)
    columns = dict.fromkeys(key for record in records for key in record)
    check_cells(len(records), len(columns))
    frame = pd.DataFrame.from_records(records, columns=list(columns)).infer_objects()
    frame, facts = with_numbers(frame, decimal_of(frame) if decimal is None else decimal)
    return Parsed(frame, facts, numbered=lines)


def _objects(text: str) -> tuple[list[dict[str, Any]], list[int]]:
    """The rows, and the lines that they stand in where each has one."""
    first = text.lstrip()[:1]
    lines = [k + 1 for k, line in enumerate(text.split("\n")) if line.strip()]
    if first == "{":
        try:
            rows = [_loaded(line, k) for k, line in zip(lines, filter(str.strip, text.split("\n")), strict=True)]
        except DataError:
            if re.match(r"\s*\{\s*\"[^\"]*\"\s*:\s*\[", text) is None:
                raise
            rows = [_loaded(text, 1)]
        if len(rows) == 1 and isinstance(rows[0], dict) and all(isinstance(v, list) for v in rows[0].values()):
            return _rows_of_columns(rows[0]), []
    else:
        rows, lines = _loaded(text, 1), []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError('is not a table; give an object with the names on each line, {"a": 1, "b": 2}')
    return rows, lines


def _rows_of_columns(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    sizes = sorted({len(values) for values in columns.values()})
    if len(sizes) > 1:
        raise DataError(f"is not a table: its lists have from {sizes[0]} to {sizes[-1]} values; give all as many")
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _loaded(text: str, line: int) -> Any:
    try:
        return json.loads(text, parse_int=_whole)
    except json.JSONDecodeError as problem:
        raise DataError(f"line {line + problem.lineno - 1} is not JSON ({problem.msg}); correct it") from None
    except (RecursionError, ValueError):
        raise DataError(f"line {line} is not a row of numbers; correct it") from None


def _whole(digits: str) -> int | float:
    """Whole numbers beyond 64 bits are floats, as in text."""
    value = int(digits) if len(digits) < 20 else float(digits)
    return value if np.iinfo(np.int64).min <= value <= np.iinfo(np.int64).max else float(value)
