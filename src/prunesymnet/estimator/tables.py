"""From what a user passes as X, y and weights to numbers, with errors that name the column and the row."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_array

from prunesymnet.data import checks
from prunesymnet.errors import DataError

Array = NDArray[np.float64]


def weighty(rows: Array, weights: Array | None) -> tuple[Array, Array | None]:
    """Without the rows of no weight."""
    if weights is None:
        return rows, None
    kept = weights > 0
    if kept.sum() < 2:
        raise DataError(f"sample_weight leaves {kept.sum()} of {len(rows)} rows; give at least 2 a positive weight")
    return rows[kept], weights[kept]


def merged(rows: Array, weights: Array | None) -> tuple[Array, Array | None, int]:
    """With one row where several are the same, of their weight together: a row of weight 2 is two rows. And how many
    rows there were."""
    frame = pd.DataFrame(rows)
    if frame.duplicated().any() and frame.drop_duplicates().shape[0] > 1:
        groups = frame.groupby(list(frame.columns), sort=False).ngroup().to_numpy()
        first = np.unique(groups, return_index=True)[1]
        weights = np.bincount(groups, weights=weights).astype(np.float64)
        rows = rows[first]
    return rows, None if weights is None or (weights == weights[0]).all() else weights, len(frame)


def has_names(X: Any) -> bool:
    return hasattr(type(X), "columns") or isinstance(X, pd.DataFrame)  # asking a lazy frame itself makes it work


def as_pandas(values: Any, what: str) -> pd.DataFrame:
    """A frame of any kind as pandas has it."""
    if isinstance(values, pd.DataFrame):
        return values
    if not hasattr(values, "to_pandas"):
        raise DataError(f"{what} is a {type(values).__name__}; make it a frame with rows first (.collect())")
    frame: pd.DataFrame = values.to_pandas()
    return frame


def targets_of(y: Any) -> tuple[Array, list[str]]:
    """y as finite numbers, [rows] or [rows, targets], and what to call its columns."""
    if y is None:
        raise ValueError("PruneSymRegressor requires y to be passed, but the target y is None")
    if np.ma.isMaskedArray(y) and np.ma.is_masked(y):
        raise DataError("y has masked values; fill them (.filled()) or drop their rows")
    if hasattr(y, "to_frame") and not has_names(y):  # a series
        frame = as_pandas(y.to_frame(), "y")
        one = True
    elif has_names(y):
        frame, one = as_pandas(y, "y"), False
    else:
        array = check_array(
            y, ensure_2d=False, dtype=None, ensure_all_finite=False, input_name="y", ensure_min_samples=0
        )
        frame, one = pd.DataFrame(array), array.ndim == 1
    labels: list[Any] = list(frame.columns)
    if not all(isinstance(label, str) and label for label in labels):
        labels = ["y"] if len(labels) == 1 else [f"y{k + 1}" for k in range(len(labels))]
    cells = [checks.as_floats(frame.iloc[:, k], f"target {label!r}") for k, label in enumerate(labels)]
    if not cells:
        raise DataError("y has no columns; pass at least one target")
    return cells[0] if one else np.column_stack(cells), labels
