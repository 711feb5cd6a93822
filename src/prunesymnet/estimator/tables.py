"""From what a user passes as X, y and weights to checked tables, with errors that name the column and the row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from prunesymnet.data import Dataset, check_finite, checks, indicators_like, repair_names, with_indicators
from prunesymnet.data.messages import shown
from prunesymnet.errors import DataError
from prunesymnet.estimator.parameters import own_operators
from prunesymnet.search import SearchSettings

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Inputs:
    """What a fit is given, checked."""

    columns: tuple[str, ...] | None  # of X as the user calls them; None where X has no names
    tables: list[Dataset]  # one for each target
    labels: dict[str, str]  # what the user calls each name of a formula, those of the targets too
    flat: bool  # whether y has one dimension


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
            y, ensure_2d=False, dtype=None, ensure_all_finite=False, input_name="y", ensure_min_samples=0, allow_nd=True
        )
        if array.ndim > 2:
            raise DataError(f"y must be [rows] or [rows, targets]; it has shape {array.shape}")
        frame, one = pd.DataFrame(array), array.ndim == 1
    labels: list[Any] = list(frame.columns)
    if not all(isinstance(label, str) and label for label in labels):
        labels = ["y"] if len(labels) == 1 else [f"y{k + 1}" for k in range(len(labels))]
    cells = [checks.as_floats(frame.iloc[:, k], f"target {shown(label)}") for k, label in enumerate(labels)]
    if not cells:
        raise DataError("y has no columns; pass at least one target")
    return cells[0] if one else np.column_stack(cells), labels


def inputs_of(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    settings: SearchSettings,
    *,
    names: Sequence[str] | None = None,
    y_err: Any = None,
    categories: Sequence[str] = (),
) -> Inputs:
    """X, y and weights as an estimator's fit uses them; columns of `categories` as columns of 0 and 1."""
    features = features_of(estimator, X, reset=True, categories=categories)
    targets, labels = targets_of(y)
    if len(targets) != len(features):
        raise DataError(f"X has {len(features)} rows and y has {len(targets)}; give one value per row")
    weights = None
    if sample_weight is not None:
        given = np.asarray(sample_weight)
        given = np.full(len(features), given) if given.ndim == 0 else given  # one number is for all rows
        weights = checks.as_weights(checks.as_column(given, "sample_weight", features), "sample_weight")
    if y_err is not None:
        checks.check_not_both(sample_weight, "sample_weight")
        weights = checks.weights_of_errors(y_err, features)
    if len(features) < 2:
        raise DataError("X has one row (n_samples = 1); a formula needs at least 2")
    columns = tuple(map(str, estimator.feature_names_in_)) if hasattr(estimator, "feature_names_in_") else None
    wanted = columns or names or [f"x{i + 1}" for i in range(features.shape[1])]
    ours = repair_names(wanted, taken=[operator.name for operator in own_operators(settings)])
    if len(ours) != features.shape[1] or len({*wanted}) != len(ours):
        raise DataError(f"names must be {features.shape[1]} different names, one per column of X, got {names!r}")
    called = repair_names(labels, taken=ours)
    flat = np.ndim(targets) == 1
    each = targets[:, None] if flat else targets
    first = Dataset(features, each[:, 0], ours, called[0], weights, errors_known=y_err is not None)
    others = [first.with_target(one, name) for one, name in zip(each.T[1:], called[1:], strict=True)]
    known = dict(zip((*ours, *called), (*wanted, *labels), strict=True))
    return Inputs(columns, [first, *others], known, flat)


def features_of(estimator: Any, X: Any, *, reset: bool = False, categories: Sequence[str] = ()) -> Array:
    """X as finite numbers. With `reset` the estimator takes its columns from it; else it must have the columns of the
    fit."""
    if not has_names(X):
        if reset and categories:
            raise DataError(f"categories are columns of a frame by their names, and X is a {type(X).__name__}")
        if np.ma.isMaskedArray(X) and np.ma.is_masked(X):
            raise DataError("X has masked cells; fill them (.filled()) or drop their rows")
        _check_kind(X)
        try:
            table: Array = validate_data(estimator, X, dtype=np.float64, ensure_all_finite=False, reset=reset)
        except OverflowError:
            raise DataError(f"X has a whole number beyond the range of floats; {checks.TOO_LONG}") from None
        except ValueError:
            checks.check_cells(X)  # which says where it is
            raise
        known = getattr(estimator, "model_", None)
        check_finite(table, known.labels if known and not reset else [f"x{i + 1}" for i in range(table.shape[1])])
        return table
    frame = as_pandas(X, "X")  # whose names every version of scikit-learn reads
    checks.check_unique(frame.columns)  # first: scikit-learn's own message lists every name
    if reset and categories:
        frame = with_indicators(frame, categories)
    elif not reset:
        frame = indicators_like(frame, estimator.model_.labels)
    validate_data(estimator, frame, skip_check_array=True, reset=reset)
    if 0 in frame.shape:
        raise DataError(f"X has shape {frame.shape}: 0 feature(s) or 0 sample(s), while at least 1 is needed")
    return checks.as_matrix(frame, list(frame.columns))


def _check_kind(X: Any) -> None:
    """An error for what is no table of numbers, in a line: scikit-learn's own print all of it. The words in them by
    which its checks know these errors are kept."""
    if X is None:
        raise DataError("X is None; pass a table, [rows, columns]")
    if isinstance(X, pd.Series):
        raise DataError("X is a Series, and a table has two dimensions; pass a frame of one column, X.to_frame()")
    if not hasattr(X, "shape") and not isinstance(X, list | tuple):
        return
    shape = X.shape if hasattr(X, "shape") else (len(X), *np.shape(X[0])) if len(X) else (0,)
    if len(shape) == 1:
        raise DataError(
            f"X has one dimension, shape {shape}, and a table has two. Reshape your data: X.reshape(-1, 1) of an array "
            "makes one column of it, X.reshape(1, -1) one row"
        )
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise DataError("Complex data not supported: give the real and imaginary parts of X as columns")
