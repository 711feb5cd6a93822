"""Tables that are larger than memory.

Three steps: rows are drawn in one pass, the search runs on a sample of these, and in a few more passes all rows say
what the constants, their error bars and the errors of the front are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from prunesymnet.data import Dataset, checks
from prunesymnet.data.chunks import Chunks
from prunesymnet.data.dataset import check_known
from prunesymnet.data.drawing import Drawn, draw, stratified
from prunesymnet.data.messages import shown, warn
from prunesymnet.equations import Front
from prunesymnet.errors import DataError, InterruptedWarning
from prunesymnet.progress import Count
from prunesymnet.search import SearchSettings
from prunesymnet.search.all_rows import LOSSES, AllRows, with_all_rows


@dataclass(frozen=True)
class LargeColumns:
    """The labels of the columns that are used, and for what."""

    target: str
    features: tuple[str, ...]
    weights: str | None = None
    y_err: str | None = None
    drop_missing: bool = False

    @classmethod
    def of(
        cls,
        chunks: Chunks,
        target: str,
        features: Iterable[str] | None = None,
        exclude: Iterable[str] = (),
        weights: str | None = None,
        y_err: str | None = None,
        drop_missing: bool = False,
    ) -> "LargeColumns":
        """With all other columns as features unless some are named."""
        if not isinstance(target, str):
            raise DataError(f"y must be the name of one column of a table in chunks, got {shown(target)}")
        for name, value in {"features": features, "exclude": exclude}.items():
            if isinstance(value, str):
                raise DataError(f"{name} must be a list of column names; write {name}=[{value!r}]")
        if y_err is not None:
            checks.check_not_both(weights, "weights")
        known = list(chunks.labels)
        others = [name for name in (weights, y_err) if name is not None]
        target, *others = checks.labelled([target, *others], known)
        left_out = checks.labelled(exclude, known)
        named = known if features is None else checks.labelled(features, known)
        check_known([target, *others, *left_out, *named], known)
        if features is None:
            left_out = [*left_out, target, *others]
        chosen = tuple(name for name in named if name not in left_out)
        if target in chosen:
            raise DataError(f"target {shown(target)} is also a feature; take it out of the features")
        if not chosen:
            raise DataError("no feature columns: name at least one that is not the target")
        found = iter(others)
        weights, y_err = (None if name is None else next(found) for name in (weights, y_err))
        return cls(target, chosen, weights, y_err, drop_missing)

    @property
    def every(self) -> list[str]:
        others = [name for name in (self.weights, self.y_err) if name is not None]
        return list(dict.fromkeys([*self.features, self.target, *others]))


def check_settings(estimator: Any, settings: SearchSettings) -> None:
    """An error for what is not there for tables in chunks."""
    for name in ("categories", "constants_per", "template"):
        if getattr(estimator, name) is not None or (name != "categories" and getattr(settings, name) is not None):
            raise ValueError(f"{name} is for tables in memory: draw some rows, and use fit")
    if settings.loss not in LOSSES:
        raise ValueError(f"loss must be one of {', '.join(LOSSES)} for a table in chunks, got {settings.loss!r}")


def draw_rows(chunks: Chunks, columns: LargeColumns, settings: SearchSettings, progress: bool) -> Drawn:
    """Many rows of the table, in one pass."""
    with Count("rows read", chunks.rows, show=progress) as count:
        drawn = draw(chunks, columns.every, seed=settings.seed, drop_missing=columns.drop_missing, tell=count)
    checks.check_rows_of_a_search(drawn.rows)
    if columns.weights is not None and drawn.least[columns.weights] < 0:
        raise DataError(f"weights must be at least 0; the least in column {shown(columns.weights)} is negative")
    if columns.y_err is not None and not drawn.least[columns.y_err] > 0:
        raise DataError(f"y_err must be standard errors > 0; column {shown(columns.y_err)} has others")
    return drawn


def with_loss_for(settings: SearchSettings, drawn: Drawn, target: str) -> SearchSettings:
    """Errors are no shares of a target that is 0 somewhere, even if the sample does not show it. Chunks are added up by
    squares, which outliers decide."""
    settings = replace(settings, auto_losses=tuple(name for name in settings.auto_losses if name in LOSSES))
    if target not in drawn.zeros or settings.loss == "squared":
        return settings
    if settings.loss == "relative":
        raise DataError(f"target {shown(target)} is 0 in some rows, and errors can't be shares of it; use another loss")
    return replace(settings, loss="squared")


def sample_of(drawn: Drawn, columns: LargeColumns, settings: SearchSettings) -> pd.DataFrame:
    """The rows that a search uses, stratified by the target."""
    rows = stratified(drawn.columns[columns.target], settings.rows, settings.seed)
    return pd.DataFrame(drawn.take(rows))


def front_of_all_rows(
    front: Front,
    sample: Dataset,
    chunks: Chunks,
    columns: LargeColumns,
    drawn: Drawn,
    settings: SearchSettings,
    progress: bool,
) -> Front:
    """The front of a sample with what all rows say; as it is, with a warning, after Ctrl-C."""
    labels: Sequence[str] = columns.every if drawn.left_out else ()
    with Count("rows read for the last fit", show=progress) as count:
        rows = AllRows(
            chunks, dict(zip(sample.names, columns.features, strict=True)), columns.target, columns.weights,
            columns.y_err, labels, count,
        )  # fmt: skip
        try:
            with np.errstate(all="ignore"):
                return with_all_rows(front, rows, sample, settings)
        except KeyboardInterrupt:
            warn("stopped by hand: constants and errors are those of the sample, not of all rows", InterruptedWarning)
            return front
