"""From what a user passes as X, y and weights to numbers, with errors that name the column and the row."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_array

from prunesymnet.data import checks
from prunesymnet.data.messages import shown
from prunesymnet.errors import DataError

Array = NDArray[np.float64]


def has_names(X: Any) -> bool:
    return hasattr(type(X), "columns") or isinstance(X, pd.DataFrame)  # a lazy frame would be computed if asked itself


def as_pandas(values: Any, what: str) -> pd.DataFrame:
    """A frame of any kind as a pandas frame."""
    if isinstance(values, pd.DataFrame):
        return values
    if hasattr(values, "to_delayed"):
        raise DataError(f"{what} is a Dask frame; use fit_large(frame, 'name of the target'), or frame.compute() first")
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
    cells = [checks.as_floats(frame.iloc[:, k], f"target {shown(label)}") for k, label in enumerate(labels)]
    if not cells:
        raise DataError("y has no columns; pass at least one target")
    return cells[0] if one else np.column_stack(cells), labels
