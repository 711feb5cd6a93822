"""What a fitted regressor can be asked: its formulas, their values and intervals, and what they can become.

A mixin, so that the estimator itself is about parameters and fitting.
"""

import html
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from prunesymnet.equations import Equation, Front
from prunesymnet.errors import DomainWarning
from prunesymnet.estimator.parameters import is_whole
from prunesymnet.estimator.tables import features_of
from prunesymnet.runs import Model

Array = NDArray[np.float64]


class FittedFormulas:
    """The methods of a fitted regressor; `fit` has set what is declared here."""

    model_: Model
    fronts_: tuple[Front, ...]
    n_outputs_: int
    _flat: bool  # whether y had one dimension: predictions have as many

    def _set(self, model: Model, *, flat: bool) -> Self:
        """Take what was found as the attributes that users read."""
        self._flat = flat
        self.model_ = model
        self.fronts_ = model.fronts
        self.n_outputs_ = len(model.fronts)
        self.equations_ = self._each([front.table() for front in model.fronts])
        self.best_ = self._each([front.best for front in model.fronts])
        self.structure_ = self._each([front.structure for front in model.fronts])
        self.constants_ = self._each([_constants(front.best) for front in model.fronts])
        return self

    def _each(self, values: list[Any]) -> Any:
        """One value for one target, a list for several."""
        return values[0] if self.n_outputs_ == 1 else values

    def equation(self, index: int | Sequence[int] | None = None) -> Any:
        """The equation in a row of the front, numbered as in `equations_` (None: the chosen one). For several targets
        it is a list, and `index` may be one, too, with a row for each."""
        return self._each(self._chosen(index))

    def _chosen(self, index: int | Sequence[int] | None) -> list[Equation]:
        check_is_fitted(self)
        if index is None:
            return [front.best for front in self.fronts_]
        rows: list[Any] = list(index) if isinstance(index, list | tuple | np.ndarray) else [index] * self.n_outputs_
        if len(rows) != self.n_outputs_ or not all(is_whole(row) for row in rows):
            several = f", or a list of {self.n_outputs_}, one for each target" * (self.n_outputs_ > 1)
            raise ValueError(f"index must be the number of a row of the front{several}, got {index!r}")
        return [front[int(row)] for front, row in zip(self.fronts_, rows, strict=True)]

    def _columns(self, X: Any) -> dict[str, Array]:
        check_is_fitted(self)
        table = features_of(self, X)
        return dict(zip(self.model_.names, np.asfortranarray(table).T, strict=True))

    def predict(self, X: Any, index: int | Sequence[int] | None = None) -> Array:
        """The values of the chosen formula, or of that in the row `index` of the front. Where a formula has none (log
        of a negative number), nan, with one warning."""
        columns = self._columns(X)
        return self._shaped([equation.predict(columns) for equation in self._chosen(index)])

    def predict_interval(
        self,
        X: Any,
        confidence: float = 0.95,
        index: int | Sequence[int] | None = None,
        *,
        mean: bool = False,
        forms: bool = False,
    ) -> tuple[Array, Array]:
        """The bounds between which a new measurement lies with that probability, if the formula is right; with `mean`
        those for the mean of many measurements, the curve itself. With `forms`, other formulas of the front may be the
        right one, too, each with the odds that its description gives it: the bounds know that the form is not certain,
        and are wider where formulas part ways.

        >>> from prunesymnet import PruneSymRegressor
        >>> x = np.linspace(0, 6, 40)
        >>> y = 5 * np.exp(-0.7 * x) + 1 + 0.2 * np.random.default_rng(0).normal(size=40)
        >>> model = PruneSymRegressor(max_evaluations=5_000_000).fit(x[:, None], y)
        >>> far = np.array([[12.0]])
        >>> widths = [np.ptp(model.predict_interval(far, mean=True, forms=forms)) for forms in (False, True)]
        >>> bool(widths[0] < widths[1])
        True
        """
        columns = self._columns(X)
        if forms and index is not None:
            raise ValueError(f"index must be None where forms=True, which counts all rows of the front; got {index!r}")
        sources = self.fronts_ if forms else self._chosen(index)
        bounds = [source.interval(columns, confidence, mean=mean) for source in sources]
        return self._shaped([low for low, _ in bounds]), self._shaped([high for _, high in bounds], warn=False)

    def outliers(self, X: Any, y: Any, index: int | Sequence[int] | None = None) -> NDArray[np.bool_]:
        """For each row whether its target is an outlier, more than six standard deviations of the residuals from the
        formula. Where the loss is one that outliers do not decide (which `loss="auto"` finds out), they hardly count in
        the fit.

        >>> from prunesymnet import PruneSymRegressor
        >>> x = np.linspace(0, 4, 50)
        >>> y = 2 * np.exp(-1.5 * x) + 0.5
        >>> y[7] = 90
        >>> model = PruneSymRegressor(loss="huber").fit_form("a*exp(-b*x) + c", x[:, None], y)
        >>> np.flatnonzero(model.outliers(x[:, None], y))
        array([7])
        """
        columns = self._columns(X)
        targets = np.asarray(y, dtype=np.float64).reshape(-1, self.n_outputs_)
        check_consistent_length(X, targets)
        found = [
            equation.is_far_off(columns, target)
            for equation, target in zip(self._chosen(index), targets.T, strict=True)
        ]
        return found[0] if self._flat else np.column_stack(found)

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
        """The chosen formula as a sympy expression; with `index`, that of another row of the front, here and below."""
        return self._each([equation.sympy() for equation in self._chosen(index)])

    def latex(self, index: int | Sequence[int] | None = None, digits: int | None = 6) -> Any:
        """The formula as LaTeX, with so many `digits` of its constants (None: all)."""
        return self._each([equation.latex(digits) for equation in self._chosen(index)])

    def python(self, index: int | Sequence[int] | None = None) -> Any:
        """The formula as the text of a Python function that needs no package."""
        return self._each([equation.python() for equation in self._chosen(index)])

    def numpy(self, index: int | Sequence[int] | None = None) -> Any:
        """The formula as a function of a table [rows, columns], or of one array per column."""
        return self._each([equation.numpy() for equation in self._chosen(index)])

    def torch(self, index: int | Sequence[int] | None = None, *, trainable: bool = False) -> Any:
        """The formula as a torch module; if `trainable`, its constants are parameters."""
        return self._each([equation.torch(trainable=trainable) for equation in self._chosen(index)])

    def c(self, index: int | Sequence[int] | None = None) -> Any:
        """The formula as the text of a C function."""
        return self._each([equation.c() for equation in self._chosen(index)])

    def onnx(self, index: int | Sequence[int] | None = None) -> Any:
        """The formula as an ONNX model."""
        return self._each([equation.onnx() for equation in self._chosen(index)])

    def excel(self, index: int | Sequence[int] | None = None, cells: Mapping[str, str] | None = None) -> Any:
        """The formula for a spreadsheet; `cells` says where each column's value is (None: A2, B2, ...)."""
        return self._each([equation.excel(cells) for equation in self._chosen(index)])

    # Keeping it, and looking at it

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fronts and settings to a JSON file, which `load` reads."""
        check_is_fitted(self)
        self.model_.save(path)

    def __str__(self) -> str:
        if not hasattr(self, "fronts_"):
            return str(BaseEstimator.__repr__(self))
        ended = "; ".join(dict.fromkeys(front.status for front in self.fronts_))
        return f"{self.model_}\n{ended}"

    def _repr_html_(self) -> str:
        if not hasattr(self, "fronts_"):
            return f"<pre>{html.escape(BaseEstimator.__repr__(self))}</pre>"
        return "".join(front._repr_html_() for front in self.fronts_)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self._repr_html_()}


def _constants(equation: Equation) -> pd.DataFrame:
    fields = (
        "name",
        "value",
        "standard_error",
        "low",
        "high",
        "fitted",
        "rounded_to",
        *["unit"] * bool(equation.units),
    )
    rows = [[getattr(constant, field) for field in fields] for constant in equation.constants]
    return pd.DataFrame(rows, columns=list(fields))
