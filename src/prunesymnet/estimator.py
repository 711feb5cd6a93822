"""The estimator: scikit-learn's contract around a run.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> X = rng.uniform(-3, 3, (100, 2))
>>> model = PruneSymRegressor(time_limit=10).fit(X, X[:, 0] ** 2 / 2 + np.sin(X[:, 1]))
>>> print(model.best_)
y = x1**2/2 + sin(x2)
>>> model.predict([[2.0, 0.0]])
array([2.])
>>> print(model.latex())
y = \\frac{x_{1}^{2}}{2} + \\sin\\left(x_{2}\\right)

What it does itself is to check what comes in and to hand out what came out; the search is in `search`, what is kept of
it in `runs`.
"""

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from prunesymnet.coefficients import FitSettings, fit
from prunesymnet.data import Dataset, check_finite, make_dataset, repair_names
from prunesymnet.equations import Equation, Front
from prunesymnet.errors import DataError, DomainWarning, InterruptedWarning
from prunesymnet.expression import Expression, parse
from prunesymnet.operators import Operator
from prunesymnet.runs import Model, ended_by_hand, load_model, resume, run
from prunesymnet.search import PRESETS, Constraints, SearchSettings, Start

Array = NDArray[np.float64]
STARTS = 64  # points from which the constants of a user's form are fitted


class PruneSymRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Finds the short formula behind a table.

    Parameters
    ----------
    operators : list of str or Operator, default=None
        What formulas are made of: names of the table, or your own (`make_operator`). None: what the preset has,
        `+ - * / sin cos exp log square sqrt`.
    max_complexity : int, default=None
        The largest complexity of a formula: one for each variable, constant and operator, two for functions.
    constraints : Constraints or dict, default=None
        Further rules: `max_uses`, `max_argument`, `forbid_nested`, `max_constants`, `requires`, `allow`.
    selection : str or callable, default="mdl"
        Which formula of the front is chosen: that of least description length ("mdl"), "bic", "aic", "accuracy" (least
        error), "heldout" (least error on held-out rows), or a function from the table `equations_` to a row.
    time_limit : float, default=None
        Seconds for the whole fit. None: what the preset has, 60. A search that finds an exact formula, or nothing but
        noise left, ends earlier.
    preset : str or SearchSettings, default="default"
        "default", "paper" (the paper's method alone), "no-gradient", "random-pruning", or settings of your own.
    n_jobs : int, default=-1
        Threads; -1 is one for each core. Their number does not change the result.
    device : str, default=None
        "cpu" or "cuda": where banks are scanned and networks trained.
    random_state : int, RandomState or None, default=0
        The same number gives the same formula; None draws another each time.
    progress : bool, default=True
        Whether to show the search on a terminal. Elsewhere it is silent.
    callbacks : list of callables, default=()
        Each is called with an `Update` at every new best formula, and may raise StopIteration to end the fit.
    run_dir : path, default=None
        A folder in which all is kept while it is found; see `resume`.
    warm_start : bool, default=False
        Whether a second fit begins with the formulas of the first.

    Attributes
    ----------
    equations_ : DataFrame, or a list of them for several targets
        The front: complexity, loss, R², held-out R², description length, equation.
    best_ : Equation, or a list of them
        The chosen one, which `predict` uses.
    constants_ : DataFrame, or a list of them
        Its constants: value, standard error, 95% interval.
    fronts_ : tuple of Front
    n_features_in_, feature_names_in_, n_outputs_
    """

    def __init__(
        self,
        *,
        operators: Sequence[str | Operator] | None = None,
        max_complexity: int | None = None,
        constraints: Constraints | Mapping[str, Any] | None = None,
        selection: Any = "mdl",
        time_limit: float | None = None,
        preset: str | SearchSettings = "default",
        n_jobs: int | None = -1,
        device: str | None = None,
        random_state: Any = 0,
        progress: bool = True,
        callbacks: Sequence[Any] = (),
        run_dir: str | os.PathLike[str] | None = None,
        warm_start: bool = False,
    ) -> None:
        self.operators = operators
        self.max_complexity = max_complexity
        self.constraints = constraints
        self.selection = selection
        self.time_limit = time_limit
        self.preset = preset
        self.n_jobs = n_jobs
        self.device = device
        self.random_state = random_state
        self.progress = progress
        self.callbacks = callbacks
        self.run_dir = run_dir
        self.warm_start = warm_start

    # Fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "PruneSymRegressor":
        """Search for the formulas behind y; of several columns of y, one after the other.

        `sample_weight` weighs the rows' squared errors. Ctrl-C ends the search with the best formulas so far.
        """
        settings = settings_of(self)
        earlier = getattr(self, "fronts_", ()) if self.warm_start else ()
        columns, tables = self._tables(X, y, sample_weight)
        starts: list[Start] = []
        if len(earlier) == len(tables) and self.model_.names == tables[0].names:
            starts = [Start(tuple(equation.expression for equation in front), 0, 1) for front in earlier]
        model = run(
            tables,
            settings,
            columns=columns,
            folder=self.run_dir,
            starts=starts,
            callbacks=tuple(self.callbacks),
            progress=bool(self.progress),
        )
        return self._set(model)

    def fit_form(
        self, form: str | Expression, X: Any, y: Any, sample_weight: Any = None, *, names: Sequence[str] | None = None
    ) -> "PruneSymRegressor":
        """Fit the constants of a form that you give: all names in it that are no columns, and all numbers with a point.

        `names` are the columns' names where X has none (else x1, x2, ...; a single column may be called x).

        >>> x = np.linspace(0, 4, 50)
        >>> model = PruneSymRegressor().fit_form("a*exp(-b*x) + c", x[:, None], 2 * np.exp(-1.5 * x) + 0.5)
        >>> print(model.best_)
        y = 2*exp(-1.5*x) + 0.5
        >>> model.constants_["name"].tolist()
        ['a', 'b', 'c']
        """
        settings = settings_of(self)
        own = [operator for operator in settings.operators if isinstance(operator, Operator)]
        tree = form if isinstance(form, Expression) else parse(form, operators=own)
        if names is None and not _has_names(X) and np.ndim(X) == 2 and np.shape(X)[1] == 1 and "x" in tree.variables:
            names = ["x"]
        columns, tables = self._tables(X, y, sample_weight, names=names)
        parameters = [name for name in tree.variables if name not in tables[0].names]
        starts = FitSettings(starts=STARTS, seed=settings.seed)
        fronts = []
        for table in tables:
            found = fit(tree, table, parameters=parameters, settings=starts)
            equation = Equation.of(found, table, form=tree)
            fronts.append(Front((equation,), 0, found.status.value, found.seconds, 1))
        return self._set(Model(tuple(fronts), tables[0].names, columns, settings))

    def _tables(
        self, X: Any, y: Any, sample_weight: Any, names: Sequence[str] | None = None
    ) -> tuple[tuple[str, ...], list[Dataset]]:
        """The columns as the user calls them, and a checked table for each target."""
        labels = _target_labels(y)
        try:
            checked_X, checked_y = validate_data(
                self, X, y, dtype=np.float64, ensure_all_finite=False, multi_output=True, y_numeric=True,
                ensure_min_samples=2,
            )  # fmt: skip
        except ValueError as problem:
            raise _better(X, problem) from None
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, checked_X, dtype=np.float64, ensure_non_negative=True)
        columns = tuple(getattr(self, "feature_names_in_", ()))
        if names is not None:
            columns = tuple(names)
        columns = columns or tuple(f"x{i + 1}" for i in range(checked_X.shape[1]))
        ours = repair_names(columns)
        if len(ours) != checked_X.shape[1]:
            raise DataError(f"X has {checked_X.shape[1]} columns and names has {len(ours)}; give one name per column")
        targets = checked_y[:, None] if checked_y.ndim == 1 else checked_y
        if not labels:
            labels = ["y"] if targets.shape[1] == 1 else [f"y{k + 1}" for k in range(targets.shape[1])]
        called = repair_names(labels, taken=ours)
        self._flat = checked_y.ndim == 1
        rows, weights = merged(np.column_stack([checked_X, targets]), weights)
        features, targets = rows[:, : len(ours)], rows[:, len(ours) :]
        return columns, [
            make_dataset(features, target, names=ours, target=name, weights=weights)
            for target, name in zip(targets.T, called, strict=True)
        ]

    def _set(self, model: Model) -> "PruneSymRegressor":
        self.model_ = model
        self.fronts_ = model.fronts
        self.n_outputs_ = len(model.fronts)
        self.equations_ = self._each([front.table() for front in model.fronts])
        self.best_ = self._each([front.best for front in model.fronts])
        self.constants_ = self._each([_constants(front.best) for front in model.fronts])
        if any(map(ended_by_hand, model.fronts)):
            warnings.warn(
                "the fit was stopped by hand: the formulas are the best so far", InterruptedWarning, stacklevel=3
            )
        return self

    def _each(self, values: list[Any]) -> Any:
        """One value for one target, a list for several."""
        return values[0] if self.n_outputs_ == 1 else values

    # Using it

    def equation(self, index: int | Sequence[int] | None = None) -> Any:
        """The equation in a row of the front (None: the chosen one); a list for several targets, for which `index` may
        be a list too."""
        return self._each(self._chosen(index))

    def _chosen(self, index: int | Sequence[int] | None) -> list[Equation]:
        check_is_fitted(self)
        if index is None:
            return [front.best for front in self.fronts_]
        rows: list[Any] = [index] * self.n_outputs_ if isinstance(index, Integral) else list(index)  # type: ignore[arg-type]
        if len(rows) != self.n_outputs_:
            raise ValueError(f"index must be a row, or one row for each of {self.n_outputs_} targets, got {index!r}")
        return [front[int(row)] for front, row in zip(self.fronts_, rows, strict=True)]

    def _columns(self, X: Any) -> dict[str, Array]:
        check_is_fitted(self)
        try:
            table = validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=False)
        except ValueError as problem:
            raise _better(X, problem) from None
        check_finite(table, self.model_.columns)
        return dict(zip(self.model_.names, np.asfortranarray(table).T, strict=True))

    def predict(self, X: Any, index: int | Sequence[int] | None = None) -> Array:
        """The values of the chosen formula, or of another row of the front. Where a formula has none (log of a negative
        number), nan, with one warning."""
        columns = self._columns(X)
        return self._shaped([equation.predict(columns) for equation in self._chosen(index)])

    def predict_interval(
        self, X: Any, confidence: float = 0.95, index: int | Sequence[int] | None = None
    ) -> tuple[Array, Array]:
        """Between which values a new measurement will lie in that share of cases, if the formula is right."""
        columns = self._columns(X)
        bounds = [equation.interval(columns, confidence) for equation in self._chosen(index)]
        return self._shaped([low for low, _ in bounds]), self._shaped([high for _, high in bounds], warn=False)

    def _shaped(self, values: list[Array], *, warn: bool = True) -> Array:
        table = np.column_stack(values)
        missing = int(np.isnan(table).any(axis=1).sum())
        if missing and warn:
            warnings.warn(
                f"the formula has no value on {missing} of {len(table)} rows (outside its domain, or too large): nan",
                DomainWarning,
                stacklevel=3,
            )
        return table[:, 0] if self._flat else table

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the prediction; minus infinity where there is none for some row."""
        predicted = self.predict(X)
        if np.isnan(predicted).any():
            return -np.inf
        return float(r2_score(y, predicted, sample_weight=sample_weight))

    # What a formula can become

    def sympy(self, index: int | Sequence[int] | None = None) -> Any:
        """As a sympy expression."""
        return self._each([equation.sympy() for equation in self._chosen(index)])

    def latex(self, index: int | Sequence[int] | None = None, digits: int | None = 6) -> Any:
        """As LaTeX."""
        return self._each([equation.latex(digits) for equation in self._chosen(index)])

    def python(self, index: int | Sequence[int] | None = None) -> Any:
        """As the text of a Python function that needs no package."""
        return self._each([equation.python() for equation in self._chosen(index)])

    def numpy(self, index: int | Sequence[int] | None = None) -> Any:
        """As a function of arrays."""
        return self._each([equation.numpy() for equation in self._chosen(index)])

    def torch(self, index: int | Sequence[int] | None = None, *, trainable: bool = False) -> Any:
        """As a torch module."""
        return self._each([equation.torch(trainable=trainable) for equation in self._chosen(index)])

    def c(self, index: int | Sequence[int] | None = None) -> Any:
        """As the text of a C function."""
        return self._each([equation.c() for equation in self._chosen(index)])

    def onnx(self, index: int | Sequence[int] | None = None) -> Any:
        """As an ONNX model."""
        return self._each([equation.onnx() for equation in self._chosen(index)])

    def excel(self, index: int | Sequence[int] | None = None, cells: Mapping[str, str] | None = None) -> Any:
        """As a formula for a spreadsheet."""
        return self._each([equation.excel(cells) for equation in self._chosen(index)])

    # Keeping it

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fronts and settings to a JSON file."""
        check_is_fitted(self)
        self.model_.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, operators: Sequence[Operator] = (), **functions: Any) -> Any:
        """An estimator from its JSON file; your own `operators`, and functions among its settings, must be passed
        again: a file holds no code."""
        return cls._of(load_model(path, operators=operators, functions=functions))

    @classmethod
    def resume(
        cls,
        run_dir: str | os.PathLike[str],
        *,
        time_limit: float | None = None,
        progress: bool = True,
        callbacks: Sequence[Any] = (),
        operators: Sequence[Operator] = (),
        **functions: Any,
    ) -> Any:
        """Go on with the run of a folder, however it ended."""
        return cls._of(
            resume(
                run_dir,
                time_limit=time_limit,
                operators=operators,
                functions=functions,
                callbacks=callbacks,
                progress=progress,
            )
        )

    @classmethod
    def _of(cls, model: Model) -> "PruneSymRegressor":
        estimator = cls(preset=model.settings, selection=model.settings.selection)
        estimator.n_features_in_ = len(model.names)
        if model.columns != tuple(f"x{i + 1}" for i in range(len(model.names))):
            estimator.feature_names_in_ = np.array(model.columns, dtype=object)
        estimator._flat = len(model.fronts) == 1
        return estimator._set(model)

    # Looking at it

    def __str__(self) -> str:
        if not hasattr(self, "fronts_"):
            return str(BaseEstimator.__repr__(self))
        ended = "; ".join(dict.fromkeys(front.status for front in self.fronts_))
        return f"{self.model_}\n{ended}"

    def _repr_html_(self) -> str:
        if not hasattr(self, "fronts_"):
            return f"<pre>{BaseEstimator.__repr__(self)}</pre>"
        return "".join(front._repr_html_() for front in self.fronts_)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self._repr_html_()}


def settings_of(estimator: PruneSymRegressor) -> SearchSettings:
    """The settings that its parameters say, checked."""
    preset = estimator.preset
    if isinstance(preset, str):
        if preset not in PRESETS:
            raise ValueError(f"preset must be SearchSettings or one of {', '.join(PRESETS)}, got {preset!r}")
        preset = PRESETS[preset]
    if not isinstance(preset, SearchSettings):
        raise TypeError(f"preset must be a name or SearchSettings, got {type(preset).__name__}")
    said: dict[str, Any] = {"selection": estimator.selection}
    if estimator.operators is not None:
        if isinstance(estimator.operators, str):
            raise TypeError(f"operators must be a list of names or operators, got the text {estimator.operators!r}")
        said["operators"] = tuple(estimator.operators)
    for name in ("max_complexity", "time_limit"):
        if getattr(estimator, name) is not None:
            said[name] = getattr(estimator, name)
    if estimator.constraints is not None:
        rules = estimator.constraints
        try:
            said["constraints"] = rules if isinstance(rules, Constraints) else Constraints(**rules)
        except TypeError as problem:
            raise TypeError(f"constraints must be Constraints or a dict of their fields: {problem}") from None
    if estimator.device is not None:
        said["exhaustive"] = replace(preset.exhaustive, device=estimator.device)
        said["training"] = replace(preset.training, device=estimator.device)
    said["workers"] = _workers(estimator.n_jobs)
    if isinstance(estimator.preset, str) or estimator.random_state != 0:
        said["seed"] = _seed(estimator.random_state)
    return replace(preset, **said)


def _workers(n_jobs: Any) -> int:
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs must be a number of threads, or -1 for one per core, got {n_jobs!r}")
    return max(int(n_jobs), 0) if int(n_jobs) >= -1 else max((os.cpu_count() or 1) + 1 + int(n_jobs), 1)


def _seed(random_state: Any) -> int:
    if isinstance(random_state, Integral) and not isinstance(random_state, bool) and int(random_state) >= 0:
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def merged(rows: Array, weights: Array | None) -> tuple[Array, Array | None]:
    """Without rows of no weight, and with one row where several are the same, of their weight together: a row of
    weight 2 is two rows."""
    if weights is not None:
        if not weights.any():
            raise DataError("sample_weight is 0 for every row; give at least one row a positive weight")
        rows, weights = rows[weights > 0], weights[weights > 0]
    frame = pd.DataFrame(rows)
    if not frame.duplicated().any():
        return rows, None if weights is None or (weights == weights[0]).all() else weights
    groups = frame.groupby(list(frame.columns), sort=False, dropna=False).ngroup().to_numpy()
    first = np.unique(groups, return_index=True)[1]
    total = np.bincount(groups, weights=weights).astype(np.float64)
    return rows[first], None if (total == total[0]).all() else total


def _constants(equation: Equation) -> pd.DataFrame:
    fields = ("name", "value", "standard_error", "low", "high")
    rows = [[getattr(constant, field) for field in fields] for constant in equation.constants]
    return pd.DataFrame(rows, columns=list(fields))


def _has_names(X: Any) -> bool:
    return hasattr(X, "columns")


def _target_labels(y: Any) -> list[str]:
    """What a frame or a series calls its columns."""
    labels: list[Any] = list(y.columns) if hasattr(y, "columns") else [getattr(y, "name", None)]
    return labels if all(isinstance(label, str) and label for label in labels) else []


def _better(X: Any, problem: ValueError) -> ValueError:
    """Our own error, which names the column and the row, where there is one."""
    if _has_names(X):
        frame = X if isinstance(X, pd.DataFrame) else X.to_pandas()
        try:
            make_dataset(frame, np.arange(len(frame)), names=repair_names(frame.columns), target="the target")
        except DataError as ours:
            return ours
    return problem
