"""Fit many tables in one call: each is a task of joblib, and is fitted by one thread of one worker.

    found = fit_many(frame, y="yield", by="site")

Where the workers are is joblib's affair: processes of this machine, or with `joblib.parallel_config("dask")` or Ray's
backend those of a cluster. A table travels to its worker once, and its model comes back. What happens to one table is
the same with any number of workers: its random numbers come from its key.
"""

import hashlib
import os
import threading
import time
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from joblib.parallel import BACKENDS, get_active_backend
from sklearn.base import clone
from sklearn.utils import check_random_state

from prunesymnet.data.messages import MOST_OF_A_MESSAGE, printable, warn
from prunesymnet.errors import InterruptedWarning, NotWrittenWarning
from prunesymnet.estimator import PruneSymRegressor
from prunesymnet.estimator.parameters import check_jobs, own_operators, settings_of
from prunesymnet.many.result import INDEX, KeptFits, ManyModels, TableFit, as_kept, read_models
from prunesymnet.many.tables import OneTable, tables_of
from prunesymnet.progress import Count
from prunesymnet.runs import ended_by_hand

MOST_BREAKS = 8  # in a row, without a table finished: more halvings than a large machine has workers, so it is not one
# table that ends its worker, but the cluster that is gone
FITS_OF_A_WAVE = 4  # for each worker, where results can't be had one by one: idle ones wait for a fifth at most
LOCAL = ("sequential", "threading", "loky")  # the backends of joblib whose workers are on this machine
LARGEST_SEED = 2**31 - 1  # as far as numbers go that scikit-learn takes for a seed


def fit_many(
    tables: Any,
    estimator: PruneSymRegressor | None = None,
    *,
    y: str | Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    drop_missing: bool = False,
    n_jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    progress: bool = True,
    watch: Callable[[TableFit], Any] | None = None,
) -> ManyModels:
    """Fit every table with the same settings, on all workers.

    `tables` is a frame, of which `y` names the target or several, and `by` the column or columns whose values make the
    groups; `features` are all other columns unless named, and `drop_missing` leaves out rows that lack a value. Or it
    is a mapping or a list of `(X, y)` or `(X, y, sample_weight)`; see also `folds` and `bootstraps`.

    `estimator` has the settings, its time limit for each table; each fit is by a copy of it with one thread, and a seed
    made of `random_state` and the table's key. `n_jobs` is the number of workers (None: what `joblib.parallel_config`
    says, else one for each core). `folder` is where each model is kept from the moment it is there: tables that it has
    already, with the same rows and settings, are not fitted again. `watch` is called with each `TableFit` as it comes,
    and may raise StopIteration.

    A table that can't be fitted keeps its error beside its key, and the others are fitted all the same. If a worker
    dies, its tables are done again. Ctrl-C, and a `watch` that raises StopIteration, end it with what is finished.

    >>> import pandas as pd
    >>> x = np.tile(np.linspace(1, 2, 10), 2)
    >>> frame = pd.DataFrame({"site": ["a"] * 10 + ["b"] * 10, "x": x, "y": np.r_[2 * x[:10], 5 / x[10:]]})
    >>> found = fit_many(frame, y="y", by="site", n_jobs=1)
    >>> found.table()[["site", "formula"]]
      site formula
    0    a     2*x
    1    b     5/x
    >>> print(found.summary())
    2 of 2 tables have a formula; no form is shared by all: c1*x by 1
    """
    if n_jobs is not None:
        check_jobs(n_jobs)
    known, names = tables_of(tables, y=y, by=by, features=features, drop_missing=drop_missing)
    if not known:
        raise ValueError("tables must have at least one table, got none")
    prototype = _prototype(estimator)
    first = _base_seed(prototype.random_state)
    kept = None if folder is None else KeptFits(folder, names)
    with Count("tables", len(known), show=progress) as count:
        state = _State(known, lambda key: _task(prototype, known, key, first), count, watch, kept)
        try:
            if folder is not None:
                _take_earlier(Path(folder), state, prototype)
            _run([key for key in known if key not in state.done], state, n_jobs)
        except (KeyboardInterrupt, StopIteration):
            state.ended = True
        finally:
            state.keep()
    left = [key for key in known if key not in state.done]
    if state.ended:
        warn(f"stopped by hand: {len(left)} of {len(known)} tables were not fitted", InterruptedWarning)
    return ManyModels(tuple(state.done.get(key, TableFit(key)) for key in known), names)


def _take_earlier(folder: Path, state: "_State", prototype: PruneSymRegressor) -> None:
    """The models that a folder has of the same tables and settings."""
    if not (folder / INDEX).exists():
        return
    settings = settings_of(prototype)
    own = {"selection": settings.selection, "allow": settings.constraints.allow, "loss": settings.loss}
    functions = {name: value for name, value in own.items() if callable(value)}
    earlier = read_models(folder, own_operators(settings), functions)
    keys = {as_kept(key): key for key in state.tables}
    for one in earlier.fits:
        whole = one.model is not None and not one.is_interrupted
        if whole and one.key in keys and _digest(state.task(keys[one.key])) == one.digest:
            state.take(replace(one, key=keys[one.key]))


def _digest(task: tuple[Hashable, PruneSymRegressor, OneTable]) -> str:
    """Of the rows of a table, and of all settings."""
    _, estimator, table = task
    rows = joblib.hash((table.X, table.y, table.sample_weight, table.test))
    return hashlib.blake2b(f"{rows}:{estimator.get_params()!r}".encode(), digest_size=16).hexdigest()


def _prototype(estimator: PruneSymRegressor | None) -> PruneSymRegressor:
    """The estimator that is copied for each table, its settings checked."""
    if estimator is None:
        estimator = PruneSymRegressor()
    if not isinstance(estimator, PruneSymRegressor):
        raise TypeError(f"estimator must be a PruneSymRegressor, got {type(estimator).__name__}")
    if estimator.run_dir is not None:
        raise ValueError(
            f"run_dir is the folder of one fit, and there are many; save them after, got {estimator.run_dir!r}"
        )
    settings_of(estimator)  # or an error, here and not in every table
    copy: PruneSymRegressor = clone(estimator).set_params(n_jobs=1, progress=False)
    return copy


def _base_seed(random_state: Any) -> int:
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(LARGEST_SEED))


def seed_of(key: Hashable, first: int) -> int:
    """The seed of a table, by its key: the same in any order, with any number of workers, and among any others.

    >>> seed_of("a", 0) == seed_of("a", 0) != seed_of("b", 0)
    True
    """
    digest = hashlib.blake2b(f"{first}:{key!r}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % LARGEST_SEED


def _task(
    prototype: PruneSymRegressor, tables: Mapping[Hashable, OneTable], key: Hashable, first: int
) -> tuple[Hashable, PruneSymRegressor, OneTable]:
    """What travels to a worker."""
    return key, clone(prototype).set_params(random_state=seed_of(key, first)), tables[key]


def _fit_one(key: Hashable, estimator: PruneSymRegressor, table: OneTable) -> TableFit:
    """On a worker: the fit of one table; what goes wrong with it is a result."""
    began = time.perf_counter()
    # Which warnings are shown is set for a whole process, so that other threads would be in the way.
    keep = threading.current_thread() is threading.main_thread()
    try:
        with (
            joblib.parallel_config("sequential"),
            warnings.catch_warnings(record=True) if keep else nullcontext([]) as said,
        ):
            if keep:
                warnings.simplefilter("always")
            estimator.fit(table.X, table.y, sample_weight=table.sample_weight)
            score = None if table.test is None else estimator.score(*table.test)
    except Exception as problem:
        error = printable(f"{type(problem).__name__}: {problem}", MOST_OF_A_MESSAGE)
        return TableFit(key, None, time.perf_counter() - began, error)
    notes = tuple(dict.fromkeys(printable(str(one.message)) for one in said or ()))
    return TableFit(key, estimator, time.perf_counter() - began, "", notes, score)


@dataclass
class _State:
    """What is finished, and what is known of tables whose worker died."""

    tables: Mapping[Hashable, OneTable]
    task: Callable[[Hashable], tuple[Hashable, PruneSymRegressor, OneTable]]
    count: Count
    watch: Callable[[TableFit], Any] | None
    kept: KeptFits | None = None
    digests: dict[Hashable, str] = field(default_factory=dict)
    done: dict[Hashable, TableFit] = field(default_factory=dict)
    deaths: dict[Hashable, int] = field(default_factory=dict)  # how often the worker died under which a table was
    breaks: int = 0  # in a row, without a table finished
    ended: bool = False  # by hand

    def begin(self, key: Hashable) -> tuple[Hashable, PruneSymRegressor, OneTable]:
        """What travels to a worker for a table."""
        task = self.task(key)
        if self.kept is not None:
            self.digests[key] = _digest(task)
        return task

    def keep(self, one: TableFit | None = None) -> None:
        """Put a fit into the folder, or (None) bring the folder up to date; what can't be written is told of once."""
        if self.kept is None:
            return
        try:
            if one is None:
                self.kept.write_index()
            else:
                self.kept.add(one)
        except OSError as problem:
            warn(f"{self.kept.path}: could not be written ({problem.strerror or problem})", NotWrittenWarning)
            self.kept = None

    def take(self, one: TableFit) -> None:
        one = replace(one, digest=one.digest or self.digests.pop(one.key, ""))
        self.done[one.key] = one
        self.breaks = 0
        self.keep(one)
        formula = "" if one.model is None else str(one.model.fronts_[0].best)
        self.count(1, f"{one.key}: {formula or one.status}")
        self.ended = self.ended or (one.model is not None and any(map(ended_by_hand, one.model.fronts_)))
        if self.watch is not None:
            try:
                self.watch(one)
            except StopIteration:
                self.ended = True


def _run(keys: Sequence[Hashable], state: _State, n_jobs: int | None) -> None:
    """Fit some tables. Where a worker died, nobody says under which table: those that were under way are done again in
    halves, and one that is alone when its worker dies again has failed."""
    problem, started = _attempt(keys, state, n_jobs)
    if problem is None or state.ended:
        return
    state.breaks += 1
    left = [key for key in keys if key not in state.done]
    again = [key for key in left if key in started]
    for key in again:
        state.deaths[key] = state.deaths.get(key, 0) + 1
    alone = len(keys) == 1 and bool(again) and state.deaths[again[0]] > 1
    if alone or not left or state.breaks > MOST_BREAKS:
        reason = printable(f"its worker died or could not be reached: {type(problem).__name__}: {problem}")
        for key in left:
            state.take(TableFit(key, error=reason))
        return
    half = (len(again) + 1) // 2
    for part in ([key for key in left if key not in started], again[:half], again[half:]):
        if part and not state.ended:
            _run(part, state, n_jobs)


def _attempt(keys: Sequence[Hashable], state: _State, n_jobs: int | None) -> tuple[Exception | None, set[Hashable]]:
    """Fit some tables as far as workers live: what ended it (None: nothing did), and which were begun."""
    started: set[Hashable] = set()
    unmade: list[TableFit] = []

    def tasks() -> Iterator[Any]:
        for key in keys:
            try:
                task = state.begin(key)
            except Exception as problem:  # a table that can't be made
                unmade.append(TableFit(key, error=printable(f"{type(problem).__name__}: {problem}")))
                continue
            started.add(key)
            yield joblib.delayed(_fit_one)(*task)

    results = _results(tasks(), n_jobs)
    found: Exception | None = None
    while not state.ended:
        try:
            one = next(results, None)
        except Exception as problem:  # of the workers, since one of a table is a result
            found = problem
            break
        if one is None:
            break
        state.take(one)
        if one.is_interrupted:  # a search has taken Ctrl-C for itself
            raise KeyboardInterrupt
    for one in unmade:
        state.take(one)
    return found, started


def _results(tasks: Iterator[Any], n_jobs: int | None) -> Iterator[TableFit]:
    """What the workers give, as it comes."""
    backend, configured = get_active_backend()
    wanted = next((number for number in (n_jobs, configured) if number is not None), -1)
    workers = joblib.effective_n_jobs(wanted)
    local = isinstance(backend, tuple(BACKENDS[name] for name in LOCAL))
    if workers == 1 and local:
        for function, arguments, options in tasks:
            yield function(*arguments, **options)
    elif backend.supports_return_generator:
        # Of this machine's workers, each has one table: so it is known which were under way when one died. A cluster
        # may get more workers, and is given all tables at once.
        options = {"batch_size": 1, "pre_dispatch": "n_jobs" if local else "all"}
        yield from joblib.Parallel(n_jobs=wanted, return_as="generator_unordered", **options)(tasks)
    else:
        with joblib.Parallel(n_jobs=wanted, batch_size=1) as parallel:  # the same workers for all waves
            while wave := list(islice(tasks, FITS_OF_A_WAVE * workers)):
                yield from parallel(wave)
