"""Columns of categories as columns of 0 and 1, one for each category: `material=steel` is 1 where `material` is steel.

The label says it all: by it a new table is encoded like the one of the fit, and a saved model needs to hold no more.

>>> frame = pd.DataFrame({"material": ["steel", "wood", "steel"], "length": [1.0, 2.0, 3.0]})
>>> found = with_indicators(frame, ["material"])
>>> found.columns.tolist(), found["material=wood"].tolist()
(['material=steel', 'material=wood', 'length'], [0.0, 1.0, 0.0])
>>> indicators_like(frame[:1], found.columns).iloc[0].tolist()
[1.0, 0.0, 1.0]
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from prunesymnet.data.dataset import check_known
from prunesymnet.data.messages import cell_error, in_rows, listed, shown
from prunesymnet.errors import DataError

MOST = 50  # categories of a column: where there are more, they are most likely labels, each of few rows


def with_indicators(frame: pd.DataFrame, categories: Iterable[str]) -> pd.DataFrame:
    """The frame with a column of 0 and 1 for each category in place of each column that is named."""
    if isinstance(categories, str):
        raise DataError(f"categories must be a list of column names; write categories=[{categories!r}]")
    wanted = list(categories)
    check_known(wanted, list(frame.columns))
    groups = {}
    for name in wanted:
        texts = _texts(frame[name], name)
        found = sorted({*texts}, key=_in_order)
        if len(found) > MOST:
            raise DataError(
                f"column {shown(name)} has {len(found):,} categories, more than {MOST}; leave it out if they are "
                "labels, or give it as numbers"
            )
        groups[name] = (texts, found)
    return _replaced(frame, groups)


def indicators_like(frame: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """The frame with the columns of 0 and 1 that the labels of an earlier table tell of, where it lacks them."""
    there = set(frame.columns)
    wanted: dict[Any, list[str]] = {}
    for label in labels:
        column = None if label in there else _column_of(label, there)
        if column is not None:
            wanted.setdefault(column, []).append(label[len(column) + 1 :])
    groups = {}
    for name, known in wanted.items():
        texts = _texts(frame[name], name)
        new = [row for row, text in enumerate(texts) if text not in known]
        if new:
            raise cell_error(
                f"column {shown(name)}: {shown(texts[new[0]])} in {in_rows(new)} is a category that the fit did not "
                f"have; it had {listed(known)}",
                new,
            )
        groups[name] = (texts, known)
    return _replaced(frame, groups) if groups else frame


def _replaced(frame: pd.DataFrame, groups: dict[Any, tuple[list[str], list[str]]]) -> pd.DataFrame:
    parts: list[Any] = []
    for k, name in enumerate(frame.columns):
        if name not in groups:
            parts.append(frame.iloc[:, k])
            continue
        texts, found = groups[name]
        cells = np.array(texts)
        parts += [pd.Series((cells == one).astype(float), frame.index, name=f"{name}={one}") for one in found]
    made: pd.DataFrame = pd.concat(parts, axis="columns")
    if not made.columns.is_unique and frame.columns.is_unique:
        name = made.columns[made.columns.duplicated()][0]
        raise DataError(f"the table has a column {shown(name)} already; rename it")
    return made


def _column_of(label: str, there: set[Any]) -> str | None:
    """The longest name of a column that the label begins with, before an equals sign."""
    ends = [k for k, sign in enumerate(label) if sign == "=" and label[:k] in there]
    return label[: ends[-1]] if ends else None


def _texts(column: "pd.Series[Any]", name: Any) -> list[str]:
    """The categories of the rows as text; 1, 1.0 and True are not told apart by how a table was read."""
    blank = np.flatnonzero(column.isna().to_numpy()).tolist()
    if blank:
        message = f"column {shown(name)}: no category in {in_rows(blank)}; drop or fill what is missing first"
        raise cell_error(message, blank, "missing")
    return [_text(cell) for cell in column.tolist()]


def _text(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def _in_order(text: str) -> tuple[bool, float, str]:
    """Numbers by their size, then the others."""
    try:
        return False, float(text), text
    except ValueError:
        return True, 0.0, text
