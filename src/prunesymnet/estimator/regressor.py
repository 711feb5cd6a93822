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

It checks what comes in and hands out what was found. The search is in `search`, and what is kept of it in `runs`.
"""

import os
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin

from prunesymnet.data import checks
from prunesymnet.errors import InterruptedWarning
from prunesymnet.estimator.fitted import FittedFormulas
from prunesymnet.estimator.forms import category_columns, fronts_of, read_form
from prunesymnet.estimator.parameters import categories_of, own_operators, settings_of, with_units
from prunesymnet.estimator.tables import has_names, inputs_of
from prunesymnet.expression import Expression
from prunesymnet.operators import Operator
from prunesymnet.runs import Model, ended_by_hand, keep, load_model, resume, run
from prunesymnet.search import Constraints, SearchSettings, Start, Update


class PruneSymRegressor(FittedFormulas, MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn regressor that finds the short formula behind a table.

    A fit ends with a *front*: for each complexity the best formula of that size, as long as it beats all shorter ones.
    One of them is chosen, `best_`, and `predict` and the exports are of that one unless another row is named.

    Parameters
    ----------
    operators : list of str or Operator, default=None
        What formulas are made of: names such as "+", "exp" or "tanh" (`prunesymnet.operators.OPERATORS` has all), or
        your own (`make_operator`). None: what the preset has, `+ - * / sin cos exp log square sqrt`.
    max_complexity : int, default=None
        The largest complexity of a formula: one for each variable, constant and operator, two for functions.
    constraints : Constraints or dict, default=None
        Rules that every formula keeps, `{"max_uses": {"exp": 1}, "requires": ["x1"]}`: `max_uses`, `max_argument`,
        `forbid_nested`, `max_nested`, `max_constants`, `requires`, `excludes`, `costs`, `shape`, `box`, `allow`; see
        `Constraints` for each.
    start_from : list of str or Expression, default=None
        Formulas that you expect: the search begins with them, and builds on them. Names in them that are no columns
        are constants to be fitted.
    template : str or dict of str, default=None
        A formula of which some parts are functions to be found, `f(x, z)*exp(-g(y))`. For several targets a dict of
        them by target, and parts of the same name are one.
    parts : dict, default=None
        What is known of parts of the template, `{"f": {"operators": ["+", "*"], "max_complexity": 9}}`: each may have
        `operators`, `max_complexity`, `constraints` and `start_from` of its own.
    categories : list of str, default=None
        Columns of a frame that hold categories: text, or numbers that stand for something. Each category becomes a
        column of 0 and 1, `material=steel`, which is `material_steel` in formulas.
    constants_per : str, default=None
        A column of categories, each of which may have other constants in one and the same formula. Constants that
        differ by no more than chance are shared.
    units : dict, default=None
        What columns and target are measured in, by name: `{"v": "m/s", "m": "kg", "E": "J"}`, as the package pint reads
        them (`pip install 'prunesymnet[units]'`). Columns that are not named are pure numbers. Only formulas that are
        dimensionally sound are searched then. None: what names in brackets say, `v [m/s]`; `{}`: no units.
    constant_units : bool, default=True
        With units: whether a fitted constant may carry one, such as a spring constant. If not, all constants are pure
        numbers.
    selection : str or callable, default=None
        Which formula of the front is chosen: that of least description length ("mdl"), "bic", "aic", "accuracy" (least
        error), "heldout" (least error on held-out rows), or a function from the table `equations_` to a row. None: what
        the preset has, "mdl".
    loss : str or callable, default=None
        What an error costs: "auto" ("squared"; "relative" where the rows show that errors are shares of the values;
        "huber" where some rows are gross outliers), "squared", "absolute", "huber", "relative", "poisson" (for counts),
        "quantile:0.9", or a function of the residual, or of target and prediction, that works row by row. None: what
        the preset has, "auto".
    time_limit : float, default=None
        Seconds for the whole fit. None: what the preset has, 60. A search ends earlier when a formula is exact, or when
        what is left looks like noise.
    max_evaluations : int, default=None
        Formulas to be scored or fitted, for each target: a limit that is the same on every run and with any number of
        threads, in place of the clock (a `time_limit` counts only if it is given, too). None: no such limit.
    preset : str or SearchSettings, default="default"
        What all other settings are: "default"; "paper" (the paper's method, a network that is trained and pruned),
        "paper+" (the same, improved), "no-gradient" and "random-pruning" (its ablations); or settings of your own.
    max_epochs : int, default=None
        How long a network is trained, with "paper" and its variants. None: what the preset has, 3,000. The default
        preset trains no network, and with it this is an error.
    n_jobs : int, default=None
        Workers; None is one, or as many as a `joblib.parallel_config` around `fit` says (Dask, Ray); -1 is one for
        each core that this process may use. Other processes are started for searches that take longer than a
        fifth of a second. The number of workers does not change the result.
    device : str, default=None
        "cpu" (as None), "cuda" (or "cuda:1" ...), "mps" or "auto": where banks are scanned and networks trained.
        "auto" is an NVIDIA GPU where there is one, from the bank's size on that makes up for starting it.
    random_state : int, RandomState or None, default=0
        The same number gives the same formula; None draws another each time.
    progress : bool, default=True
        Whether to show the search on a terminal or in a notebook. Elsewhere it is silent.
    callbacks : list of callables, default=()
        Each is called with an `Update` at every new best formula, and may raise StopIteration to end the fit.
    run_dir : path, default=None
        A folder in which everything is kept from the moment it is found; see `resume`.
    warm_start : bool, default=False
        Whether a second fit begins with the formulas of the first.

    Attributes
    ----------
    equations_ : DataFrame, or a list of them for several targets
        The front: complexity, loss, R², held-out R², description length, whether the data hardly tell it from the
        chosen one (tie), equation.
    best_ : Equation, or a list of them
        The chosen one, which `predict` uses.
    constants_ : DataFrame, or a list of them
        Its constants: value, standard error, 95% interval. Where constants were rounded, these are of the fit in which
        all are free: the value there (`fitted`), and what stands in the formula for it (`rounded_to`). With units,
        those of the constants (`unit`).
    structure_ : tuple of Reduction, or a list of them
        What the search found of the table's structure before any formula: quantities that depend on fewer others than
        there are columns, or are sums or products of functions of columns apart.
    fronts_ : tuple of Front
        The front of each target, with why the search ended (`status`).
    model_ : Model
        All that `save` writes.
    n_features_in_, feature_names_in_, n_outputs_ : int, array, int
        The number of columns, their names where X has some, and the number of targets. With `categories`, each of these
        counts as a column.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(1, 3, (60, 2))
    >>> model = PruneSymRegressor(operators=["+", "-", "*", "/"], time_limit=10).fit(X, X[:, 0] / (X[:, 1] + 2))
    >>> print(model.best_)
    y = x1/(x2 + 2)
    >>> model.predict([[3.0, 1.0]])
    array([1.])
    """

    def __init__(
        self,
        *,
        operators: Sequence[str | Operator] | None = None,
        max_complexity: int | None = None,
        constraints: Constraints | Mapping[str, Any] | None = None,
        start_from: Sequence[str | Expression] | None = None,
        template: str | Mapping[str, str] | None = None,
        parts: Mapping[str, Mapping[str, Any]] | None = None,
        categories: Sequence[str] | None = None,
        constants_per: str | None = None,
        units: Mapping[str, str] | None = None,
        constant_units: bool = True,
        selection: str | Callable[[pd.DataFrame], int] | None = None,
        loss: str | Callable[..., Any] | None = None,
        time_limit: float | None = None,
        max_evaluations: int | None = None,
        preset: str | SearchSettings = "default",
        max_epochs: int | None = None,
        n_jobs: int | None = None,
        device: str | None = None,
        random_state: int | np.random.RandomState | None = 0,
        progress: bool = True,
        callbacks: Sequence[Callable[[Update], Any]] = (),
        run_dir: str | os.PathLike[str] | None = None,
        warm_start: bool = False,
    ) -> None:
        self.operators = operators
        self.max_complexity = max_complexity
        self.constraints = constraints
        self.start_from = start_from
        self.template = template
        self.parts = parts
        self.categories = categories
        self.constants_per = constants_per
        self.units = units
        self.constant_units = constant_units
        self.selection = selection
        self.loss = loss
        self.time_limit = time_limit
        self.max_evaluations = max_evaluations
        self.preset = preset
        self.max_epochs = max_epochs
        self.n_jobs = n_jobs
        self.device = device
        self.random_state = random_state
        self.progress = progress
        self.callbacks = callbacks
        self.run_dir = run_dir
        self.warm_start = warm_start

    # Fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, y_err: Any = None) -> Self:
        """Search for the formula behind y. Ctrl-C ends the search with the best formulas so far.

        Parameters
        ----------
        X : frame, array or list of rows
            The columns that explain the target. Formulas have the names of a frame's columns; without names they are
            x1, x2, ...
        y : array, Series, frame or list
            The target; several columns are searched one after the other, and share the time limit.
        sample_weight : array, default=None
            How much the error of each row counts.
        y_err : array, default=None
            The standard errors of y, in place of weights: a row counts by `1/y_err**2`, and what a formula leaves below
            them is noise.
        """
        began = time.monotonic()
        settings = settings_of(self)
        earlier = getattr(self, "fronts_", ()) if self.warm_start else ()
        inputs = inputs_of(self, X, y, sample_weight, settings, y_err=y_err, categories=categories_of(self))
        settings = with_units(settings, self, inputs.labels)
        checks.check_rows_of_a_search(inputs.tables[0].rows)
        starts: list[Start] = []
        if len(earlier) == len(inputs.tables) and self.model_.names == inputs.tables[0].names:
            starts = [Start(tuple(equation.expression for equation in front), 0, 1) for front in earlier]
        model = run(
            inputs.tables,
            settings,
            columns=inputs.columns,
            folder=self.run_dir,
            starts=starts,
            callbacks=tuple(self.callbacks),
            progress=bool(self.progress),
            began=began,
        )
        _warn_if_stopped(model)
        return self._set(model, flat=inputs.flat)

    def fit_large(
        self,
        source: Any,
        y: str,
        *,
        features: Iterable[str] | None = None,
        exclude: Iterable[str] = (),
        weights: str | None = None,
        y_err: str | None = None,
        drop_missing: bool = False,
    ) -> Self:
        """Fit a table that is larger than memory: a folder of Parquet or CSV files, one such file, or a Dask frame.

        A sample that is stratified by the target is drawn in one pass, and the search, with its time limit, runs on it.
        Constants, error bars and errors are then those of all rows, which are read again a few times.

        Parameters
        ----------
        source : path or Dask frame
            The table.
        y : str
            The name of the target.
        features, exclude : list of str, default=None
            The columns that explain it (None: all others), and those to leave out.
        weights, y_err : str, default=None
            The column of weights, or that of the standard errors of the target.
        drop_missing : bool, default=False
            Whether to leave out rows that lack a value; otherwise such a row is an error.
        """
        from prunesymnet.data.chunks import chunks_of
        from prunesymnet.estimator import large

        settings = settings_of(self)
        large.check_settings(self, settings)
        chunks = chunks_of(source, threads=settings.workers)
        columns = large.LargeColumns.of(chunks, y, features, exclude, weights, y_err, drop_missing)
        drawn = large.draw_rows(chunks, columns, settings, bool(self.progress))
        settings = large.with_loss_for(settings, drawn, columns.target)
        frame = large.sample_of(drawn, columns, settings)
        counts, errors = (None if name is None else frame[name] for name in (columns.weights, columns.y_err))
        inputs = inputs_of(self, frame[list(columns.features)], frame[columns.target], counts, settings, y_err=errors)
        settings = with_units(settings, self, inputs.labels)
        model = run(
            inputs.tables,
            settings,
            columns=inputs.columns,
            folder=self.run_dir,
            callbacks=tuple(self.callbacks),
            progress=bool(self.progress),
            source=chunks.name,
        )
        _warn_if_stopped(model)
        front = large.front_of_all_rows(
            model.fronts[0], inputs.tables[0], chunks, columns, drawn, settings, bool(self.progress)
        )
        model = replace(model, fronts=(front,))
        if self.run_dir is not None:
            keep(self.run_dir, model)
        return self._set(model, flat=inputs.flat)

    def fit_form(
        self,
        form: str | Expression,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        names: Sequence[str] | None = None,
        y_err: Any = None,
    ) -> Self:
        """Fit the constants of a form that you know, without a search.

        Parameters
        ----------
        form : str or Expression
            The formula, `a*x + b` or `y = a*x + b`. Every name in it that is not a column is a constant to be fitted,
            and so is every number with a point, which is a first guess. `a[site]` is a constant that has a value of its
            own in each category of the column `site` of a frame.
        X, y, sample_weight, y_err
            As for `fit`.
        names : list of str, default=None
            The columns' names where X has none (else x1, x2, ...; a single column may be called x).

        Examples
        --------
        >>> x = np.linspace(0, 4, 50)
        >>> model = PruneSymRegressor().fit_form("a*exp(-b*x) + c", x[:, None], 2 * np.exp(-1.5 * x) + 0.5)
        >>> print(model.best_)
        y = 2*exp(-1.5*x) + 0.5
        >>> model.constants_["name"].tolist()
        ['a', 'b', 'c']
        """
        settings = settings_of(self)
        tree = read_form(form, own_operators(settings))
        if names is not None and (isinstance(names, str) or has_names(X)):
            raise ValueError(f"names must be a list of names for an X that has none, got {names!r}")
        if names is None and not has_names(X) and np.shape(X)[1:] == (1,) and "x" in tree.variables:
            names = ["x"]
        by = category_columns(tree, X)
        categories = [*dict.fromkeys([*categories_of(self), *by.values()])]
        inputs = inputs_of(self, X, y, sample_weight, settings, names=names, y_err=y_err, categories=categories)
        settings = with_units(settings, self, inputs.labels)
        fronts = fronts_of(tree, inputs, by, settings)
        return self._set(Model(fronts, inputs.tables[0].names, inputs.columns, settings), flat=inputs.flat)

    # Keeping it

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        operators: Sequence[Operator] = (),
        selection: Any = None,
        allow: Any = None,
        loss: Any = None,
    ) -> Self:
        """A fitted estimator from the JSON file that `save` wrote. Your own `operators`, and `selection`, `allow` (of
        the constraints) and `loss` where they were functions, must be passed again: a file holds no code."""
        functions = {"selection": selection, "allow": allow, "loss": loss}
        return cls._of(load_model(path, operators=operators, functions=functions))

    @classmethod
    def resume(
        cls,
        run_dir: str | os.PathLike[str],
        *,
        time_limit: float | None = None,
        device: str | None = None,
        progress: bool = True,
        callbacks: Sequence[Any] = (),
        operators: Sequence[Operator] = (),
        selection: Any = None,
        allow: Any = None,
        loss: Any = None,
    ) -> Self:
        """Continue the run of a folder (`run_dir`), however it ended, for `time_limit` seconds (None: as long as at
        first), on its `device` or on another; for `operators` and what follows see `load`."""
        model = resume(
            run_dir,
            time_limit=time_limit,
            device=device,
            operators=operators,
            functions={"selection": selection, "allow": allow, "loss": loss},
            callbacks=callbacks,
            progress=progress,
        )
        _warn_if_stopped(model)
        return cls._of(model)

    @classmethod
    def _of(cls, model: Model) -> Self:
        estimator = cls(preset=model.settings)
        estimator.n_features_in_ = len(model.names)
        if model.columns is not None:
            estimator.feature_names_in_ = np.array(model.columns, dtype=object)
        return estimator._set(model, flat=len(model.fronts) == 1)


def _warn_if_stopped(model: Model) -> None:
    if any(map(ended_by_hand, model.fronts)):
        message = "the fit was stopped by hand: the formulas are the best so far"
        warnings.warn(message, InterruptedWarning, stacklevel=3)
