"""The rows that a formula is fitted to: each one once, and none without weight.

A row that stands twice in a table is a row of weight 2: the sum of squares is the same, and there is less to compute.
Left as they are, equal rows could also stand on both sides of a split, and what is held out would have been trained on.
So they are merged before anything else happens to a table, however it comes in.
"""

import numpy as np
import pandas as pd

from prunesymnet.data.dataset import Dataset


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
    y = data.y[chosen]
    if len(np.unique(y)) < len(y):  # rows that differ in the target need no closer look
        frame = pd.DataFrame(np.column_stack([data.X[chosen], y]))
        groups = frame.groupby(list(frame.columns), sort=False).ngroup().to_numpy()  # numbered as they come
        firsts = np.unique(groups, return_index=True)[1]
        if 1 < len(firsts) < len(y):
            chosen, weights = chosen[firsts], np.bincount(groups, weights=weights).astype(np.float64)
    equal = bool((weights == weights[0]).all()) and not data.errors_known
    if len(chosen) == data.rows and equal == (data.weights is None):
        return data
    return data.take(chosen).with_weights(None if equal else weights, count)
