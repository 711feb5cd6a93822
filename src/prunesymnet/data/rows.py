"""The rows that a formula is fitted to: each one once, and none without weight.

A row that stands twice in a table is a row of weight 2: the sum of squares is the same, and there is less to compute.
Left as they are, equal rows could also stand on both sides of a split, and what is held out would have been trained on.
So they are merged before anything else happens to a table, however it comes in.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from prunesymnet.data.checks import Floats
from prunesymnet.data.dataset import Dataset

AT_FIRST = 12  # columns that are looked at one by one: after these, rows that are still equal mostly are


def distinct_rows(data: Dataset) -> Dataset:
    """The table without rows of weight 0, and with one row in place of equal ones, of their weights together.

    Rows keep their order, and `measurements` is still how many there were before they were merged. Weights that are
    all equal become None, unless they are of known standard errors. Rows that are all equal are left as they are: a
    table needs two.

    >>> rows = distinct_rows(Dataset([[1], [2], [1], [3]], [5, 6, 5, 7], ("x",)))
    >>> rows.X.ravel(), rows.weights, rows.measurements
    (array([1., 2., 3.]), array([2., 1., 1.]), 4)
    """
    chosen = np.arange(data.rows) if data.weights is None else np.flatnonzero(data.weights)
    weights = np.ones(data.rows) if data.weights is None else data.weights[chosen]
    count = len(chosen) if data.count is None else data.count
    rows, groups = _equal_rows([data.y, *data.X.T], chosen)
    if len(rows):
        firsts = rows[np.unique(groups, return_index=True)[1]]
        kept = np.ones(len(chosen), dtype=bool)
        kept[rows] = False
        kept[firsts] = True
        if kept.sum() > 1:
            weights = weights.copy()
            weights[firsts] = np.bincount(groups, weights=weights[rows])
            chosen, weights = chosen[kept], weights[kept]
    equal = bool((weights == weights[0]).all()) and not data.errors_known
    if len(chosen) == data.rows and equal == (data.weights is None):
        return data
    return data.take(chosen).with_weights(None if equal else weights, count)


def _equal_rows(columns: Sequence[Floats], chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which of the chosen rows are equal to another one, and the number of the group that each of these belongs to.
    Column after column, groups fall apart; a row that is alone in its group is not looked at again."""
    rows, groups = np.arange(len(chosen)), np.zeros(len(chosen), dtype=np.int64)
    # Of many columns, those that come last are compared as one string of bytes.
    parts: list[Callable[[NDArray[np.int64]], Any]] = [column.__getitem__ for column in columns[:AT_FIRST]]
    if len(columns) > AT_FIRST:
        parts.append(partial(_bytes, columns[AT_FIRST:]))
    for part in parts:
        values = pd.factorize(part(chosen[rows]))[0]
        groups = pd.factorize(groups * (values.max() + 1) + values)[0]
        shared = np.bincount(groups)[groups] > 1
        rows, groups = rows[shared], groups[shared]
        if not len(rows):
            break
    return rows, pd.factorize(groups)[0]


def _bytes(columns: Sequence[Floats], rows: NDArray[np.int64]) -> NDArray[np.object_]:
    table = np.column_stack([column[rows] for column in columns]) + 0.0  # which makes -0 and 0 the same
    found = np.empty(len(rows), dtype=object)
    found[:] = [row.tobytes() for row in table]
    return found
