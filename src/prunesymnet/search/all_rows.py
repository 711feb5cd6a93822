"""The end of a search of a table that is larger than memory: the front of a sample, and what all rows say of it.

The search has seen a sample. Of all rows, in a few passes: the constants of the chosen formula are fitted and get their
error bars, roundings that the sample allowed are taken back where all rows speak against them, and every formula of the
front gets its error.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.in_chunks import (
    ChunkedFit,
    Sums,
    fit_in_passes,
    partly_rounded,
    round_numbers,
    sums_of,
)
from prunesymnet.coefficients.rounded import counterparts
from prunesymnet.data import Dataset
from prunesymnet.data.chunks import Chunk, Chunks
from prunesymnet.data.messages import warn
from prunesymnet.equations import Equation, Front
from prunesymnet.errors import DomainWarning
from prunesymnet.expression import Expression
from prunesymnet.search.constraints import Rules
from prunesymnet.search.settings import SearchSettings
from prunesymnet.selection import front as front_of_equations

Array = NDArray[np.float64]
Asked = Sequence[tuple[Expression, Array | None, bool]]

LOSSES = ("auto", "squared", "relative")  # whose fits are least squares, once


@dataclass(frozen=True, eq=False)
class AllRows:
    """A table in chunks as formulas see it: `labels` are those of the columns by their names in formulas, `target`,
    `weights` and `y_err` those of these columns. `every` label is read where rows that lack a value are left out, so
    that it is always the same rows; `tell` is told how many rows were read."""

    chunks: Chunks
    labels: Mapping[str, str]
    target: str
    weights: str | None = None
    y_err: str | None = None
    every: Sequence[str] = ()
    tell: Callable[[int], Any] = lambda rows: None

    def go_through(self, asked: Asked, *, relative: bool = False) -> list[Sums]:
        """One pass over all rows: what these say of some formulas."""
        names = sorted({name for formula, _, _ in asked for name in formula.variables})
        labels = [self.labels[name] for name in names]
        others = [label for label in (self.target, self.weights, self.y_err) if label is not None]
        columns = list(dict.fromkeys([*labels, *others, *self.every]))
        look = replace(self, chunks=None, tell=None)  # type: ignore[arg-type]  # what does not travel
        work = partial(_look, rows=look, asked=tuple(asked), names=tuple(names), relative=relative)
        found: list[Sums] | None = None
        for rows, part in self.chunks.map(work, columns):
            self.tell(rows)
            found = part if found is None else [a.with_more(b) for a, b in zip(found, part, strict=True)]
        assert found is not None  # noqa: S101 - rows were drawn from it
        return found


def _look(
    chunk: Chunk, _: Any, *, rows: AllRows, asked: Asked, names: Sequence[str], relative: bool
) -> tuple[int, list[Sums]]:
    """How many rows a chunk has, and what those say of some formulas that have a weight: as in memory, the others are
    no measurements."""
    chunk = chunk.complete(drop_missing=bool(rows.every))
    columns = {name: chunk.columns[rows.labels[name]] for name in names}
    y = chunk.columns[rows.target]
    weights = None if rows.weights is None else chunk.columns[rows.weights]
    if rows.y_err is not None:
        weights = 1 / chunk.columns[rows.y_err] ** 2
    if relative:
        weights = 1 / y**2 if weights is None else weights / y**2
    if weights is not None:
        count = weights > 0
        columns, y, weights = {name: values[count] for name, values in columns.items()}, y[count], weights[count]
    return chunk.rows, [sums_of(formula, at, columns, y, weights, derivatives=derive) for formula, at, derive in asked]


def with_all_rows(front: Front, rows: AllRows, sample: Dataset, settings: SearchSettings) -> Front:
    """The front of a sample, with constants, error bars and errors of all rows."""
    rules = settings.rules(settings.units_of(sample.names, sample.target), sample.columns)
    chosen, others = front.best, [equation for equation in front if equation is not front.best]
    forms = [chosen.form, *([chosen.free_form] if chosen.free_form is not None else [])]
    go_through = partial(rows.go_through, relative=chosen.relative)
    fits, measured = fit_in_passes(forms, go_through, [equation.expression for equation in others])
    rounded, free = fits[0], fits[-1]
    if not math.isfinite(rounded.sums.squares):
        return _without(chosen, rounded.sums, measured, front, rows, sample, settings)
    numbers = round_numbers(free, counterparts(forms[-1], chosen.form), settings.snapping.largest)
    between = partly_rounded(free, numbers)
    if between is not None and _may_round(chosen, settings):
        fits += fit_in_passes([between], go_through)[0]
    allowed = [one for one in fits if rules.allow(one.expression) and rules.has_shape(one.expression)]
    best = min(allowed or [rounded], key=lambda one: one.length)
    believed = _equation(chosen, best, free, rows, rules)
    shown = [replace(one, loss=sums.mse, r2=sums.r2) for one, sums in zip(others, measured, strict=True)]
    ties = [one for one, before in zip(shown, others, strict=True) if before in [front[i] for i in front.ties]]
    kept = front_of_equations([*shown, believed], keep=believed)
    places = tuple(i for i, equation in enumerate(kept) if equation in ties)
    return replace(front, equations=tuple(kept), chosen=kept.index(believed), ties=places)


def _may_round(chosen: Equation, settings: SearchSettings) -> bool:
    """Whether constants of the answer may be rounded further: one that carries a unit is no pure number."""
    return settings.snapping.closed_forms and not any(chosen.units)


def _without(
    chosen: Equation,
    sums: Sums,
    measured: Sequence[Sums],
    front: Front,
    rows: AllRows,
    sample: Dataset,
    settings: SearchSettings,
) -> Front:
    """Where the chosen formula has no value in some rows: the next best of those that have one in all of them."""
    said = f"{chosen} has no value in {sums.undefined:,} of {sums.rows:,} rows"
    others = [equation for equation in front if equation is not chosen]
    fine = [one for one, found in zip(others, measured, strict=True) if math.isfinite(found.squares)]
    if not fine:
        warn(f"{said}, and neither has another of the front: constants and errors are of the sample", DomainWarning)
        return front
    warn(f"{said}: another formula of the front is chosen", DomainWarning)
    best = min(fine, key=lambda equation: equation.description_length)
    left = tuple(equation for equation in front if equation in fine)
    return with_all_rows(replace(front, equations=left, chosen=left.index(best), ties=()), rows, sample, settings)


def _equation(before: Equation, best: ChunkedFit, free: ChunkedFit, rows: AllRows, rules: Rules) -> Equation:
    """The chosen equation; error bars are those of the fit in which all constants are `free`."""
    sums, known = free.sums, rows.y_err is not None
    freedom = sums.rows - sums.constants
    mean_square = sums.squares / sums.rows if before.relative else sums.mse
    if known:
        mean_square = max(mean_square, sums.rows / sums.target.weight)
    return replace(
        before,
        form=best.expression,
        free_form=None if free.expression is best.expression else free.expression,
        loss=best.sums.mse,
        r2=best.sums.r2,
        rows=sums.rows,
        variance=mean_square * sums.rows / freedom if freedom > 0 else math.inf,
        covariance=sums.covariance(1.0 if known else 0.0),
        shape=tuple(map(str, rules.verdicts(best.expression))),
    )
