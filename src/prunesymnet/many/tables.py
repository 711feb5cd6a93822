"""Which tables there are to fit, each with its key: groups of a frame, targets, folds, bootstraps, or a mapping.

>>> import numpy as np
>>> frame = pd.DataFrame({"site": ["a", "b", "a", "b"], "x": [1, 2, 3, 4], "y": [1, 4, 9, 16], "z": [0, 1, 0, 1]})
>>> tables, names = tables_of(frame, y=["y", "z"], by="site")
>>> list(tables), names
([('a', 'y'), ('a', 'z'), ('b', 'y'), ('b', 'z')], ('site', 'target'))
>>> tables["b", "y"].X["x"].tolist(), tables["b", "y"].y.tolist()
([2, 4], [4, 16])

A table is made when its turn comes, so that not all of them are in memory at once.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from prunesymnet.data.checks import check_unique
from prunesymnet.data.dataset import check_known
from prunesymnet.data.messages import in_rows, shown
from prunesymnet.errors import DataError
from prunesymnet.estimator.parameters import is_whole
from prunesymnet.estimator.tables import as_pandas, has_names

KEY = ("key",)  # what keys are called that are no values of columns


@dataclass(frozen=True, eq=False)
class OneTable:
    """What one fit is given. `test` are further rows (X, y) that the formula is judged by, and not fitted to."""

    X: Any
    y: Any
    sample_weight: Any = None
    test: tuple[Any, Any] | None = None


class Tables(Mapping[Hashable, OneTable]):
    """Tables by key, each made when it is asked for."""

    def __init__(self, keys: Iterable[Hashable], make: Callable[[Any], OneTable]) -> None:
        self.known, self.make = dict.fromkeys(keys), make

    def __getitem__(self, key: Hashable) -> OneTable:
        if key not in self.known:
            raise KeyError(key)
        return self.make(key)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def tables_of(
    tables: Any,
    *,
    y: str | Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    drop_missing: bool = False,
) -> tuple[Mapping[Hashable, OneTable], tuple[str, ...]]:
    """The tables by key, and what the parts of a key are called; see `fit_many`."""
    if has_names(tables):
        return _groups(as_pandas(tables, "tables"), y, by, features, drop_missing)
    given = {"y": y, "by": by, "features": features}
    named = [name for name, value in given.items() if value is not None] + ["drop_missing"] * drop_missing
    if named:
        raise ValueError(f"{named[0]} is for a frame, and tables is a {type(tables).__name__}")
    if isinstance(tables, Tables):
        return tables, KEY
    if isinstance(tables, Mapping):
        return Tables(tables, lambda key: _one(tables[key], key)), KEY
    if isinstance(tables, str | bytes) or not isinstance(tables, Iterable):
        raise TypeError(f"tables must be a frame, a mapping or a list of (X, y), got {type(tables).__name__}")
    every = list(tables)
    return Tables(range(len(every)), lambda key: _one(every[key], key)), KEY


def _one(value: Any, key: Hashable) -> OneTable:
    if isinstance(value, OneTable):
        return value
    if isinstance(value, tuple | list) and len(value) in (2, 3):
        return OneTable(*value)
    raise DataError(f"table {shown(key)} must be (X, y) or (X, y, sample_weight), got {type(value).__name__}")


def _groups(
    frame: pd.DataFrame,
    y: str | Sequence[str] | None,
    by: str | Sequence[str] | None,
    features: Sequence[str] | None,
    drop_missing: bool,
) -> tuple[Tables, tuple[str, ...]]:
    """A table for each group of rows and each target of a frame."""
    if y is None:
        raise ValueError(f"y must name the column to explain, or several, got {y!r}")
    if isinstance(features, str):
        raise DataError(f"features must be a list of column names; write features=[{features!r}]")
    targets, columns = _listed(y), _listed(by)
    check_known([*targets, *columns, *(features or ())], list(frame.columns))
    check_unique([*targets, *columns])
    check_unique(frame.columns)
    others = [name for name in frame.columns if name not in (*targets, *columns)]
    chosen = others if features is None else list(features)
    for name in chosen:
        if name in targets:
            raise DataError(f"target {shown(name)} is also a feature; take it out of the features")
    for name in columns:
        lacking = np.flatnonzero(frame[name].isna().to_numpy()).tolist()
        if lacking:
            raise DataError(f"column {shown(name)}: no value in {in_rows(lacking)}; drop or fill what is missing first")
    rows: dict[Any, Any] = {(): slice(None)}
    if columns:
        found = frame.groupby(columns, sort=True, observed=True).indices
        rows = {tuple(map(_plain, key if isinstance(key, tuple) else (key,))): at for key, at in found.items()}
    several = len(targets) > 1 or not columns
    places = {(*group, *([target] if several else [])): (group, target) for group, target in product(rows, targets)}
    short = {key[0] if len(key) == 1 else key: place for key, place in places.items()}

    def make(key: Any) -> OneTable:
        group, target = short[key]
        part = frame.iloc[rows[group]]
        if drop_missing:
            part = part.dropna(subset=[*chosen, target])
        return OneTable(part[chosen], part[target])

    return Tables(short, make), (*columns, *(["target"] if several else []))


def _listed(names: str | Sequence[str] | None) -> list[str]:
    if names is None:
        return []
    return [names] if isinstance(names, str) else list(names)


def _plain(value: Any) -> Any:
    """A value of numpy as Python has it."""
    return value.item() if isinstance(value, np.generic) else value


def folds(X: Any, y: Any, splits: Any = 5, *, seed: int = 0, groups: Any = None) -> Tables:
    """Cross-validation as tables for `fit_many`: each fold is fitted to all rows but its own, and judged by these.
    `splits` is their number, or one of scikit-learn's splitters.

    >>> import numpy as np
    >>> tables = folds(np.arange(10.0)[:, None], np.arange(10.0), 5)
    >>> len(tables), len(tables[0].y), len(tables[0].test[1])
    (5, 8, 2)
    """
    X, y = _indexable(X), _indexable(y)
    splitter = splits if hasattr(splits, "split") else KFold(splits, shuffle=True, random_state=seed)
    parts = list(splitter.split(X, y, groups))

    def make(key: int) -> OneTable:
        train, test = parts[key]
        return OneTable(_rows(X, train), _rows(y, train), test=(_rows(X, test), _rows(y, test)))

    return Tables(range(len(parts)), make)


def bootstraps(X: Any, y: Any, count: int = 100, *, seed: int = 0) -> Tables:
    """Bootstraps as tables for `fit_many`: as many rows as there are, drawn with replacement; each is judged by the
    rows that were not drawn.

    >>> import numpy as np
    >>> tables = bootstraps(np.arange(10.0)[:, None], np.arange(10.0), 3)
    >>> len(tables), len(tables[2].y)
    (3, 10)
    """
    if not is_whole(count) or count < 1:
        raise ValueError(f"count must be a whole number >= 1, got {count!r}")
    X, y = _indexable(X), _indexable(y)
    if len(X) != len(y):
        raise DataError(f"X has {len(X)} rows and y has {len(y)}; give one value per row")

    def make(key: int) -> OneTable:
        drawn = np.sort(
            np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(key,))).integers(len(y), size=len(y))
        )
        left = np.setdiff1d(np.arange(len(y)), drawn)
        test = (_rows(X, left), _rows(y, left)) if len(left) else None
        return OneTable(_rows(X, drawn), _rows(y, drawn), test=test)

    return Tables(range(count), make)


def _indexable(values: Any) -> Any:
    if isinstance(values, pd.DataFrame | pd.Series):
        return values
    return as_pandas(values, "X") if has_names(values) else np.asarray(values)


def _rows(values: Any, rows: NDArray[np.int64]) -> Any:
    return values.iloc[rows] if isinstance(values, pd.DataFrame | pd.Series) else values[rows]
