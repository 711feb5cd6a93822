"""A table from a spreadsheet: Excel's .xlsx (by openpyxl, an optional package) and OpenDocument's .ods.

A sheet may claim a billion empty cells in a few bytes, so that cells are counted as they come. The first row with two
cells or more is the line of names: titles stand alone.
"""

import datetime
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO
from xml.etree import ElementTree

import pandas as pd

from prunesymnet.data.cells import check_decimal, decimal_of, with_numbers
from prunesymnet.data.messages import listed, reason_of, shown
from prunesymnet.data.sources import MOST_BYTES, MOST_CELLS
from prunesymnet.data.text import Parsed
from prunesymnet.errors import DataError

OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"

MOST_ROWS, MOST_COLUMNS = 2**20, 2**14  # of a sheet, by the programs that make them

Row = tuple[Any, ...]


def parse_sheet(handle: BinaryIO, kind: str, sheet: str | None = None, decimal: str | None = None) -> Parsed:
    """The table of a sheet, the first unless it is named; `kind` is .xlsx or .ods."""
    check_decimal(decimal)
    try:
        with zipfile.ZipFile(handle) as packed, warnings.catch_warnings():
            if sum(part.file_size for part in packed.infolist()) > MOST_BYTES:
                raise DataError(f"holds more than {MOST_BYTES:,} bytes; save the table alone, as CSV")
            warnings.simplefilter("ignore")  # of styles and the like, which are not read
            names, rows = (_excel if kind == ".xlsx" else _open_document)(handle, sheet)
            filled = _filled(rows)
    except (DataError, ImportError):
        raise
    except Exception as problem:  # what a damaged file makes the readers raise can't be listed
        raise DataError(f"can't be read as a spreadsheet ({reason_of(problem)}); save it again, or as CSV") from None
    chosen = names[0] if sheet is None else sheet
    assumed = [f"the first of its sheets, {shown(chosen)}"] if sheet is None and len(names) > 1 else []
    if not filled:
        raise DataError(f"the sheet {shown(chosen)} is empty; name another of {listed(names)} (sheet)")
    (line, header), *below = filled
    assumed += [f"the names in row {line} of the sheet"] * (line > 1)
    width = max(len(row) for _, row in filled)
    cells = [[*row, *[None] * (width - len(row))] for _, row in below]
    labels = ["" if name is None else str(name).strip() for name in [*header, *[None] * (width - len(header))]]
    frame = pd.DataFrame(cells, columns=range(width)).infer_objects().set_axis(labels, axis="columns")
    frame, facts = with_numbers(frame, decimal_of(frame) if decimal is None else decimal)
    numbered = [k for k, _ in below]
    return Parsed(frame, [*assumed, *facts], numbered=numbered, place="row", whole="sheet", sheets=names)


def _filled(rows: Iterable[tuple[int, Row]]) -> list[tuple[int, Row]]:
    """The rows that hold something from the line of names on, each with its number; empty cells at their ends cut."""
    found: list[tuple[int, Row]] = []
    count = 0
    for number, row in rows:
        count += len(row)
        if count > MOST_CELLS or number > MOST_ROWS:
            raise DataError(f"has more than {MOST_CELLS:,} cells or {MOST_ROWS:,} rows; save the table alone, as CSV")
        last = max((k for k, cell in enumerate(row) if cell not in (None, "")), default=-1)
        if last >= (0 if found else 1):
            found.append((number, row[: last + 1]))
    return found


def _chosen(names: Sequence[str], sheet: str | None) -> int:
    if sheet is None:
        return 0
    if sheet not in names:
        raise DataError(f"has no sheet {shown(sheet)}; the sheets are {listed(names)}")
    return list(names).index(sheet)


# Excel


def _excel(handle: BinaryIO, sheet: str | None) -> tuple[list[str], Iterable[tuple[int, Row]]]:
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise ImportError("to read .xlsx install openpyxl: pip install 'prunesymnet[tables]'") from None
    book = load_workbook(handle, read_only=True, data_only=True)
    names = [page.title for page in book.worksheets]
    if not names:
        raise DataError("has no sheet with cells; save the table as CSV")
    page = book.worksheets[_chosen(names, sheet)]
    page.reset_dimensions()  # what a file says of its size may be wrong, and rows would be filled up to it
    return names, enumerate(page.iter_rows(values_only=True), start=1)


# OpenDocument


def _open_document(handle: BinaryIO, sheet: str | None) -> tuple[list[str], Iterable[tuple[int, Row]]]:
    with zipfile.ZipFile(handle) as packed, packed.open("content.xml") as content:
        found = ElementTree.iterparse(content, ("start",))  # noqa: S314 - expat itself bounds what entities expand to
        pages = [element for _, element in found if element.tag == f"{TABLE}table"]
    names = [page.get(f"{TABLE}name", "") for page in pages]
    if not names:
        raise DataError("has no sheet; save the table as CSV")
    return names, _rows_of(pages[_chosen(names, sheet)])


def _rows_of(page: ElementTree.Element) -> Iterator[tuple[int, Row]]:
    number = 1
    for element in page.iter(f"{TABLE}table-row"):
        row, times = _row_of(element), _repeated(element, "rows")
        for k in range(times if row else 0):  # the empty rest of a sheet is one element, of a million rows
            yield number + k, row
        number += times


def _repeated(element: ElementTree.Element, what: str) -> int:
    return int(element.get(f"{TABLE}number-{what}-repeated", "1"))


def _row_of(element: ElementTree.Element) -> Row:
    row: list[Any] = []
    blank = 0
    for cell in element:
        if cell.tag not in (f"{TABLE}table-cell", f"{TABLE}covered-table-cell"):
            continue
        value, times = _value_of(cell), _repeated(cell, "columns")
        if value is None:  # the empty rest of a row is one element, of thousands
            blank += times
            continue
        if len(row) + blank + times > MOST_COLUMNS:
            raise DataError(f"has more than {MOST_COLUMNS:,} columns; save the table alone, as CSV")
        row += [None] * blank + [value] * times
        blank = 0
    return tuple(row)


def _value_of(cell: ElementTree.Element) -> Any:
    kind = cell.get(f"{OFFICE}value-type")
    if kind in ("float", "percentage", "currency"):
        return float(cell.get(f"{OFFICE}value", ""))
    if kind == "boolean":
        return cell.get(f"{OFFICE}boolean-value") == "true"
    if kind == "date":
        return datetime.datetime.fromisoformat(cell.get(f"{OFFICE}date-value", ""))
    text = "\n".join("".join(part.itertext()) for part in cell.iter(f"{TEXT}p"))
    return text or None
