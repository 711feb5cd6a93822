"""The Dataset, and how to make one of arrays or of a frame's columns."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from prunesymnet.data import checks
from prunesymnet.data.checks import Floats
from prunesymnet.data.losses import SQUARED, Loss, Relative, loss_of
from prunesymnet.data.messages import listed, shown
from prunesymnet.errors import DataError

LONG_NAME, MANY_NAMES = 100, 2000  # characters and names: beyond them nobody waits for a suggestion


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A checked table: features ``X`` [rows, features], target ``y`` [rows], and their names.

    The arrays are read-only float64 copies; X lies column by column in memory, as it is read. ``weights``
    are one per row, at least 0, and positive in at least two rows; None means that all are equal. ``count`` is how many
    measurements the rows stand for, where equal ones were merged (None: one each). ``errors_known``: the weights are
    1/sigma**2, with the standard error sigma of each row's target. ``loss`` is what an error costs, and
    ``start_weights`` are further weights of the rows, by which the first of the fits is made that another loss than the
    squared one takes.

    >>> Dataset([[1, 2], [3, 5]], [0, 1], ("a", "b")).columns["b"]
    array([2., 5.])
    """

    X: Floats
    y: Floats
    names: tuple[str, ...]
    target: str = "y"
    weights: Floats | None = None
    count: int | None = None
    errors_known: bool = False
    loss: Loss = SQUARED
    start_weights: Floats | None = None

    def __post_init__(self) -> None:
        table = checks.as_table(self.X, "X")
        rows, features = table.shape
        names = checks.check_names(self.names, self.target, features)
        target = checks.as_column(self.y, "y", self.X)
        weights = None if self.weights is None else checks.as_column(self.weights, "weights", self.X)
        if rows < 2:
            raise DataError(f"the table has {'one row' if rows else 'no rows'}; a formula needs at least 2")
        X = checks.as_matrix(table, names)
        y = checks.as_floats(target, f"target {shown(self.target)}")
        w = None if weights is None else checks.as_weights(weights)
        checks.warn_of_oddities(X, y, names, self.target)
        self.__setstate__({"X": X, "y": y, "names": names, "weights": w})

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}  # what was computed of them stays here

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Pickling and copying forget that an array was read-only, so it is said wherever fields are set.
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    @property
    def rows(self) -> int:
        return len(self.y)

    @property
    def variation(self) -> float:
        """The variance of the target, each row by its weight; by another loss, what the best constant leaves."""
        if self.loss.quadratic:
            return self.mean((self.y - self.mean(self.y)) ** 2)
        return self._left_by_a_constant

    @cached_property
    def _left_by_a_constant(self) -> float:
        return self.mse(np.full(self.rows, self.loss.centre(self.y, self.weights)))

    def mean(self, values: Floats) -> float:
        """The mean of one value per row, each row by its weight."""
        return float(np.average(values, weights=self.weights))

    def mse(self, values: Floats) -> float:
        """The mean squared error of some values of the target, or the mean loss in such units; infinite where one is
        not finite."""
        with np.errstate(all="ignore"):
            quadratic = self.loss.quadratic
            error = self.mean((self.y - values) ** 2) if quadratic else self.loss.mean(self.y, values, self.weights)
        return error if np.isfinite(error) else float("inf")

    def r2(self, mse: float) -> float:
        """The share of the target's variation that a mean squared error leaves explained; where the target does not
        vary, 1 without an error and -inf with one."""
        variation = self.variation
        if variation > 0:
            return 1 - mse / variation
        return 1.0 if mse == 0 else float("-inf")

    @property
    def known_variance(self) -> float:
        """The mean squared error that the known standard errors of the target make; 0 where they are not known."""
        return self.measurements / float(self.weights.sum()) if self.errors_known and self.weights is not None else 0.0

    @property
    def search_weights(self) -> Floats | None:
        """The weights by which a search scores rows: their own, times those that the loss begins with."""
        if self.start_weights is None:
            return self.weights
        return self.start_weights if self.weights is None else self.weights * self.start_weights

    def information(self, values: Floats) -> Floats:
        """What each row says about constants at a prediction: its weight, and for counts one by the mean."""
        weights = np.ones(self.rows) if self.weights is None else self.weights
        return weights if self.loss.quadratic else weights * self.loss.information(values)

    @property
    def measurements(self) -> int:
        return self.rows if self.count is None else self.count

    @property
    def features(self) -> int:
        return len(self.names)

    def check_sizes(self) -> None:
        """An error for a column whose squares are out of the range of floats: sums of squares would not be numbers."""
        largest = np.maximum(self.X.max(axis=0), -self.X.min(axis=0))
        for k in np.flatnonzero(~checks.is_fine_size(largest)).tolist():
            checks.check_size(self.X[:, k], f"column {shown(self.names[k])}")
        checks.check_size(self.y, f"target {shown(self.target)}")

    @cached_property
    def columns(self) -> Mapping[str, Floats]:
        """The features by name, as views of X."""
        return MappingProxyType(dict(zip(self.names, self.X.T, strict=True)))

    def only(self, names: Sequence[str]) -> "Dataset":
        """The same rows with some of the columns, in the order of `names`."""
        places = {name: k for k, name in enumerate(self.names)}
        X = np.asfortranarray(self.X[:, [places[name] for name in names]])
        return self._with(X=X, names=tuple(names))

    def with_columns(self, X: Floats) -> "Dataset":
        """The same rows with other values in the columns, which are not checked again."""
        return self._with(X=np.asfortranarray(X))

    def with_target(self, y: Any, target: str) -> "Dataset":
        """The same columns and weights with another target, which alone is checked."""
        values = checks.as_floats(checks.as_column(y, "y", self.X), f"target {shown(target)}")
        checks.check_names(self.names, target, self.features)
        checks.warn_of_target(self.X, values, self.names, target)
        return self._with(y=values, target=target)

    def __repr__(self) -> str:
        weighted = "" if self.weights is None else ", weighted"
        return f"Dataset({self.target} from {listed(self.names, 5)}; {self.rows} rows{weighted})"

    def take(self, index: Any) -> "Dataset":
        """The rows that ``index`` selects: row numbers from 0 (repeats allowed), a mask, or a slice.

        One row is enough here, and a column that becomes constant is no cause for a warning: the whole table was
        checked when it was made.

        >>> make_dataset([1, 2, 3], [2, 4, 8]).take([0, -1]).y
        array([2., 8.])
        """
        try:
            chosen = np.atleast_1d(np.arange(self.rows)[index])
        except IndexError as problem:
            raise DataError(
                f"index must be row numbers from 0 to {self.rows - 1}, a mask of {self.rows} booleans or a "
                f"slice: {problem}"
            ) from None
        if chosen.ndim != 1 or chosen.size == 0:
            raise DataError(f"index must select at least one row; it selects shape {chosen.shape}")
        weights = None if self.weights is None else self.weights[chosen]
        if weights is not None and not weights.any():
            raise DataError("the rows taken all have weight 0; take others (another seed), or drop those rows")
        X = np.take(self.X.T, chosen, axis=1).T  # column by column, in one copy
        start = None if self.start_weights is None else self.start_weights[chosen]
        return self._with(X=X, y=self.y[chosen], weights=weights, count=None, start_weights=start)

    def with_more_columns(self, columns: Mapping[str, Floats]) -> "Dataset":
        """With further columns, which are not checked."""
        X = np.asfortranarray(np.column_stack([self.X, *columns.values()]))
        return self._with(X=X, names=(*self.names, *columns))

    def with_rows(self, X: Floats, y: Floats, weight: float) -> "Dataset":
        """With further rows, each of which counts by a weight; they are not checked."""
        weights = np.ones(self.rows) if self.weights is None else self.weights
        every = np.concatenate([weights, np.full(len(y), weight)])
        table = np.asfortranarray(np.vstack([self.X, X]))
        return self._with(X=table, y=np.concatenate([self.y, y]), weights=every, count=None, start_weights=None)

    def with_weights(self, weights: Floats | None, count: int | None = None) -> "Dataset":
        """The same rows with other weights, which are not checked again; they stand for `count` measurements."""
        return self._with(weights=weights, count=count)

    def with_loss(self, loss: Any) -> "Dataset":
        """The same rows with another loss, by its name or as a function, if the target allows it.

        >>> make_dataset([1, 2, 3], [2, 4, 8]).with_loss("relative").weights
        array([0.25    , 0.0625  , 0.015625])
        """
        found = loss_of(loss)
        if found == self.loss:
            return self
        found = found.prepared(self.y, self.weights)
        if isinstance(found, Relative):
            weights = 1 / self.y**2 if self.weights is None else self.weights / self.y**2
            return self._with(weights=weights, loss=found)
        return self._with(loss=found, start_weights=None)

    def with_shares_of(self, values: Floats) -> "Dataset":
        """With the relative loss, the same rows with errors as shares of these values, those of a formula, and no
        longer of the target: this is as wrong as its errors, and where it is too small, it counts too much.

        >>> make_dataset([1, 2, 3], [2, 4, 8]).with_loss("relative").with_shares_of([2, 5, 8]).weights
        array([0.25    , 0.04    , 0.015625])
        """
        assert isinstance(self.loss, Relative)  # noqa: S101 - there are weights then
        assert self.weights is not None  # noqa: S101
        return self._with(weights=self.weights * (self.y / np.asarray(values)) ** 2)

    def as_squares(self, values: Floats) -> "Dataset":
        """The table by whose squared errors a prediction is as good, and moves the same way, as by the loss."""
        if self.loss.quadratic or not np.isfinite(values).all():
            return self
        weights, target = self.loss.surrogate(self.y, values, self.loss.scale(self.y - values, self.weights))
        weights = weights if self.weights is None else weights * self.weights
        return self._with(y=target, weights=weights, loss=SQUARED, start_weights=None)

    def with_start_weights(self, weights: Floats | None) -> "Dataset":
        return self._with(start_weights=weights)

    def _with(self, **fields: Any) -> "Dataset":
        other = object.__new__(Dataset)
        other.__setstate__(self.__getstate__() | fields)
        return other

    def split(self, holdout: float = 0.25, seed: int = 0) -> tuple["Dataset", "Dataset"]:
        """Training part and hold-out part, drawn without replacement; each keeps the table's order.

        The hold-out has ``holdout * rows`` rows, rounded, but at least 1, and leaves at least 2 to train on.

        >>> [part.rows for part in make_dataset(range(14), range(1, 15)).split(0.3, seed=7)]
        [10, 4]
        """
        return tuple(map(self.take, self.split_rows(holdout, seed)))  # type: ignore[return-value]  # two of them

    def split_rows(self, holdout: float = 0.25, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The numbers of the rows in the two parts of a split."""
        if not (isinstance(holdout, Real) and 0 < holdout < 1):
            raise DataError(f"holdout must be a fraction between 0 and 1, both excluded; it is {holdout!r}")
        if not (isinstance(seed, Integral) and seed >= 0):
            raise DataError(f"seed must be a whole number of at least 0; it is {seed!r}")
        if self.rows < 3:
            raise DataError(f"a split needs 3 rows (2 to train on, 1 held out); there are {self.rows}")
        held = min(max(round(holdout * self.rows), 1), self.rows - 2)
        order = np.random.default_rng(seed).permutation(self.rows)
        return np.sort(order[held:]), np.sort(order[:held])


def make_dataset(
    X: Any,
    y: Any,
    *,
    names: Sequence[str] | None = None,
    target: str | None = None,
    weights: Any = None,
    y_err: Any = None,
) -> Dataset:
    """A Dataset from arrays, lists, frames or Series. ``y_err`` are standard errors of y, in place of weights.

    A one-dimensional X is one feature. Names come from ``names``, else from the frame's columns or the
    Series' name, else they are x1, x2, ...; ``target`` likewise, else y. A frame's column that is called like an
    operator, `min`, is `min_` in formulas. Rows are paired by position.

    >>> make_dataset([1, 2, 3], [2, 4, 6])
    Dataset(y from x1; 3 rows)
    """
    table = checks.as_table(X, "X")
    if names is None:
        names = checks.apart_from_operators(_labels(X) or [f"x{i + 1}" for i in range(table.shape[1])])
    if target is None:
        (target,) = checks.apart_from_operators((_labels(y) or ["y"])[:1], taken=names)
    if y_err is not None:
        checks.check_not_both(weights, "weights")
        weights = checks.weights_of_errors(y_err, X)
    known = y_err is not None
    return Dataset(table, y, names, target, weights, errors_known=known)  # type: ignore[arg-type]  # made a tuple there


def from_frame(
    frame: pd.DataFrame,
    target: str,
    *,
    features: Iterable[str] | None = None,
    weights: str | None = None,
    y_err: str | None = None,
    repair: bool = False,
) -> Dataset:
    """A Dataset from columns of a pandas frame; ``features`` are all the others unless named. A column that is called
    like an operator, `min`, is `min_` in formulas; ``repair``: others whose names formulas can't have get others too
    (see `repair_names`).

    >>> frame = pd.DataFrame({"a": [1, 2, 4], "b": [3, 1, 2], "w": [1, 1, 2]})
    >>> from_frame(frame, "b", weights="w")
    Dataset(b from a; 3 rows, weighted)
    """
    if not isinstance(frame, pd.DataFrame):
        raise DataError(
            f"frame must be a pandas DataFrame, not {type(frame).__name__}; convert it (.to_pandas()) or use "
            "make_dataset for arrays"
        )
    if isinstance(features, str):
        raise DataError(f"features must be a list of column names; write features=[{features!r}]")
    columns = list(frame.columns)
    used = [target, *(name for name in (weights, y_err) if name is not None)]
    chosen = [name for name in columns if name not in used] if features is None else list(features)
    if target in chosen:
        raise DataError(f"target {shown(target)} is also a feature; take it out of the features")
    if not chosen:
        raise DataError(f"no feature columns: the table has only {listed(columns)}; add at least one more")
    used += chosen
    check_known(used, columns)
    wanted = set(used)
    checks.check_unique([name for name in columns if name in wanted])
    w, sigma = (None if name is None else frame[name] for name in (weights, y_err))
    names = checks.apart_from_operators(chosen, taken=[target])
    (called,) = checks.apart_from_operators([target], taken=names)
    if repair:
        names = checks.repair_names(chosen)
        (called,) = checks.repair_names([target], taken=names)
    # What is wrong with a cell is said of the column as the frame calls it.
    features_ = frame[chosen] if list(names) == chosen else checks.as_matrix(frame[chosen], chosen)
    goal = frame[target] if called == target else checks.as_floats(frame[target], f"target {shown(target)}")
    return make_dataset(features_, goal, names=names, target=called, weights=w, y_err=sigma)


def check_known(names: Iterable[Any], columns: Sequence[Any]) -> None:
    """An error for the first name that is no column."""
    known = set(columns)
    for name in names:
        if name not in known:
            near = [str(column) for column in columns if len(str(column)) < LONG_NAME]
            close = difflib.get_close_matches(str(name)[:LONG_NAME], near[:MANY_NAMES], n=1, cutoff=0.5)
            hint = f"did you mean {shown(close[0])}? The" if close else "the"
            raise DataError(f"no column is named {shown(name)}; {hint} columns are {listed(columns)}")


def _labels(values: Any) -> list[Any] | None:
    """The names that pandas data bring along; numbers that pandas gave are none."""
    if isinstance(values, pd.Series):
        return [values.name] if isinstance(values.name, str) else None
    if isinstance(values, pd.DataFrame) and not isinstance(values.columns, pd.RangeIndex):
        return list(values.columns)
    return None
