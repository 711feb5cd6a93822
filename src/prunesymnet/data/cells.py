r"""Numbers as people write them: decimal commas, thousands set apart, percent signs, and words for a value that is
missing.

A column of text becomes numbers only if all of its cells can be read the same way. `1,234` can be read in two ways;
what decides is the other cells of the table, then what separates its columns: a table with semicolons has them because
its commas are taken.

>>> import pandas as pd
>>> frame = pd.DataFrame({"a": ["1.234,5", "7,25"], "b": ["1,234", "5,678"], "c": ["u", "v"]})
>>> found, assumed = with_numbers(frame, decimal_of(frame))
>>> found["a"].tolist(), found["b"].tolist(), assumed
([1234.5, 7.25], [1.234, 5.678], ['decimal commas (a, b)', 'points between thousands (a)'])
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from prunesymnet.data.messages import listed, shown
from prunesymnet.errors import DataError

NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*")
AMBIGUOUS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*")  # 1.234 or 1234
MISSING = frozenset({"", "nan", "na", "n/a", "#n/a", "null", "none", "-", "--", "?", "."})  # in a column of numbers
SPACES = " '’\u00a0\u2009\u202f"  # what else stands between thousands: spaces of every width, apostrophes
# A number whose decimals are set apart by the one sign, and its thousands, if at all, by the other or by a space.
STYLES = {
    decimal: re.compile(
        rf"[+-]?(?:(?:[1-9]\d{{0,2}}(?:(?P<group>[{other}{SPACES}])\d{{3}})(?:(?P=group)\d{{3}})*|\d+)"
        rf"(?:{re.escape(decimal)}\d*)?|{re.escape(decimal)}\d+)(?:[eE][+-]?\d+)?"
    )
    for decimal, other in ((".", ","), (",", "."))
}
PERCENT = re.compile(r"(?<=[\d.,])\s*%$")
_BETWEEN = {".": "points", ",": "commas", "'": "apostrophes", "’": "apostrophes"}


@dataclass
class _Column:
    """The cells of a column, and in which ways its text can be read."""

    cells: list[Any]
    texts: list[str] = field(default_factory=list)  # stripped, without words for what is missing
    missing: set[str] = field(default_factory=set)
    decimals: list[str] = field(default_factory=list)  # by which all of the texts are numbers
    percent: bool = False  # whether percent signs were left out of them

    @classmethod
    def of(cls, cells: Sequence[Any]) -> "_Column":
        written = [cell.strip() if isinstance(cell, str) else cell for cell in cells]
        found = cls([PERCENT.sub("", cell) if isinstance(cell, str) else cell for cell in written])
        found.percent = found.cells != written
        for cell in found.cells:
            if isinstance(cell, str):
                (found.missing.add if cell.lower() in MISSING else found.texts.append)(cell)
            elif not pd.api.types.is_number(cell) and not pd.isna(cell):
                return cls(list(cells))  # dates and the like: not a column of numbers
        if found.texts:
            found.decimals = [d for d, style in STYLES.items() if all(map(style.fullmatch, found.texts))]
        return found

    @property
    def undecided(self) -> bool:
        return len(self.decimals) > 1 and any("," in text or "." in text for text in self.texts)

    def numbers(self, decimal: str) -> list[float]:
        other = ("," if decimal == "." else ".") + SPACES
        table = str.maketrans({decimal: ".", **dict.fromkeys(other, "")})
        return [self._number(cell, table) for cell in self.cells]

    def _number(self, cell: Any, table: dict[int, Any]) -> float:
        if isinstance(cell, str):
            return np.nan if cell.lower() in MISSING else float(cell.translate(table))
        return np.nan if pd.isna(cell) else float(cell)

    def groups(self, decimal: str) -> set[str]:
        """What stands between thousands, in words."""
        found = (STYLES[decimal].fullmatch(text) for text in self.texts)
        signs = {match["group"] for match in found if match and match["group"]}
        return {_BETWEEN.get(sign, "spaces") for sign in signs}


def decimal_of(frame: pd.DataFrame, separator: str = "") -> str | None:
    """The decimal sign of a table, "." or ","; None where nothing needs to be decided, or nothing decides it.

    `separator` is what separates the columns of a text file.
    """
    columns = _columns_of_text(frame).values()
    certain = {column.decimals[0] for column in columns if len(column.decimals) == 1}
    if len(certain) == 1:
        return certain.pop()
    if certain or not any(column.undecided for column in columns):
        return None
    floats = (column.to_numpy() for _, column in frame.items() if column.dtype.kind == "f")
    with np.errstate(invalid="ignore"):
        points = any((values % 1 > 0).any() for values in floats)
    return "." if points else {";": ",", ",": "."}.get(separator)


def with_numbers(frame: pd.DataFrame, decimal: str | None = None) -> tuple[pd.DataFrame, list[str]]:
    """The frame with numbers in place of text where all of a column can be read as such, and what was assumed for it.

    A column that could be read in two ways is left as it is where `decimal` is None: the error for it says what to do.
    """
    facts: dict[str, list[str]] = {}
    made = {}
    for k, column in _columns_of_text(frame).items():
        if not column.decimals or (column.undecided and decimal is None):
            continue
        style = decimal if decimal is not None and decimal in column.decimals else column.decimals[0]
        made[k] = pd.Series(column.numbers(style), index=frame.index)
        used = [f"{words} between thousands" for words in sorted(column.groups(style))]
        used += ["percent signs left out"] * column.percent
        used += ["decimal commas"] * (style == "," and any("," in text for text in column.texts))
        used += [f"{shown(word)} as a missing value" for word in sorted(column.missing - {""})]
        for fact in used:
            facts.setdefault(fact, []).append(str(frame.columns[k]))
    if made:
        columns = [made.get(k, frame.iloc[:, k]) for k in range(frame.shape[1])]
        frame = pd.concat(columns, axis="columns").set_axis(frame.columns, axis="columns")
    return frame, [f"{fact} ({listed(names, 3)})" for fact, names in sorted(facts.items())]


def _columns_of_text(frame: pd.DataFrame) -> dict[int, _Column]:
    """By position, since names may come twice."""
    kinds = enumerate(frame.dtypes)
    text = [k for k, kind in kinds if kind.kind == "O" and not isinstance(kind, pd.CategoricalDtype)]
    return {k: _Column.of(frame.iloc[:, k].tolist()) for k in text}


def is_number(text: str) -> bool:
    """Whether a text can be read as a number, in whatever way.

    >>> [is_number(text) for text in ("1e-5", "1.234,5", "1 000", "x1", "")]
    [True, True, True, False, False]
    """
    return any(style.fullmatch(text.strip()) for style in STYLES.values())


def check_decimal(decimal: str | None) -> None:
    if decimal not in (None, ".", ","):
        raise DataError(f"decimal must be '.' or ',', the sign before the decimals, got {shown(decimal)}")
