"""The same formula with other constants in each category: search the forms, then fit their constants by category.

A form that holds in all categories holds in each of them. So the largest categories are searched one by one, and all
rows together without a word of categories. Every form that comes up is fitted to all rows with each of its constants by
category (`coefficients.by_category`). Then constants that differ by no more than chance become one for all, those first
whose values scatter least beside their standard errors, as long as that makes the description shorter.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients import Fit, FitSettings, FitStatus, snap
from prunesymnet.coefficients.by_category import fit_by_category
from prunesymnet.coefficients.description import constant_bits, cost_bits, rough_length
from prunesymnet.coefficients.fit import measure
from prunesymnet.coefficients.uncertainty import covariance
from prunesymnet.data import Dataset, distinct_rows, make_dataset
from prunesymnet.equations import Equation, Front
from prunesymnet.errors import DataError, NothingFoundError
from prunesymnet.expression import (
    Constant,
    Expression,
    Variable,
    canonical,
    canonical_and_skeleton,
    compile_expression,
    postorder,
)
from prunesymnet.expression.categories import Groups, constant_of, indexed
from prunesymnet.expression.tree import is_free, transform
from prunesymnet.search.forms import freed
from prunesymnet.search.live import Entry, Live
from prunesymnet.search.loop import search
from prunesymnet.search.result import Watcher
from prunesymnet.search.rows import Rows
from prunesymnet.search.settings import SearchSettings, SearchStatus
from prunesymnet.search.shapes import SAMPLED, Verdict
from prunesymnet.search.stopping import TO_SPARE, Limits, no_more_time
from prunesymnet.selection import choose, chosen_by, criterion_of, front

Array = NDArray[np.float64]

SEARCHED = 3  # categories that are searched, those of most rows: a form that none of them shows is one of few rows
FEWEST_ROWS = 8  # of a category that is searched alone
SHARE_OF_SEARCHES = 0.7  # of the time: the rest is for fits of what they find
LEAST = 0.01  # seconds for a part whose turn comes after all time is used
MOST_FORMS = 40  # forms that are fitted by category, those first that came up in most searches and are simplest
STARTS = 48  # points from which a form is fitted to all rows and to each category
SMALLEST = 1e-150  # a standard error: the square of 0, or of less, has no inverse
STAGE = "categories"  # what it is called while forms are fitted by category
MOST_CONSTANTS = 8  # of a form, by category: of more, hardly any is the same law everywhere


@dataclass(frozen=True)
class Categories:
    """A table with the columns of 0 and 1 of one column of categories, by category."""

    data: Dataset
    column: str
    places: dict[str, str]

    @property
    def groups(self) -> Groups:
        return {self.column: self.places}

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns that formulas may have."""
        return tuple(name for name in self.data.names if name not in self.places.values())

    def parts(self) -> Iterator[Dataset]:
        """What is searched: the rows of the largest categories, and all rows together; without categories."""
        plain = self.data.only(self.numbers)
        rows = [np.flatnonzero(self.data.columns[place]) for place in self.places.values()]
        for one in sorted(rows, key=len, reverse=True)[:SEARCHED]:
            if len(one) >= FEWEST_ROWS and np.ptp(self.data.y[one]) > 0:
                yield plain.take(one)
        yield plain


def search_by_category(
    data: Dataset,
    column: str,
    places: dict[str, str],
    settings: SearchSettings,
    *,
    watch: Watcher | None = None,
    clock: Callable[[], float] = time.monotonic,
    more_time: Callable[[], float] = no_more_time,
) -> Front:
    """The front of formulas whose constants may have another value in each category of a column, and the one to
    believe; `places` are the columns of 0 and 1 that the categories have. For the others see `search`."""
    limits = Limits.start(settings, clock, more_time)
    settings.constraints.check(data.names, ())
    data = distinct_rows(data).with_loss("squared" if settings.loss == "auto" else settings.loss)
    table = Categories(data, column, places)
    if not table.numbers:
        raise DataError(f"constants_per must leave a column to explain the target by, and {column!r} is the only one")
    live, judge, every = Live([watch] if watch else [], limits), _Judge(table, settings, limits), list[Equation]()
    with np.errstate(all="ignore"):
        forms, fits, status = _forms(table, settings, limits, live)
        end = limits.seconds + TO_SPARE if status.is_by_hand else math.inf

        def out_of_time() -> bool:
            return bool(every) and limits.seconds > min(limits.time_limit, end)

        try:
            for form in forms:
                for equation in judge.equations(form, out_of_time):
                    every.append(equation)
                    live.fits = judge.fits
                    live.add([_entry(equation, data)], STAGE)
                live.tell(STAGE)
        except (KeyboardInterrupt, StopIteration) as ended:  # what there is, is returned
            status = SearchStatus.STOPPED if isinstance(ended, StopIteration) else SearchStatus.INTERRUPTED
        found = [one for equation in every if (one := judge.with_shape(equation)) is not None]
    if not found:
        raise NothingFoundError("no formula was found that keeps the constraints in all categories; relax them")
    chosen = choose(found, criterion_of(settings.selection))
    kept = front(found, keep=chosen)
    if chosen.loss <= judge.no_error:
        status = status if status.is_by_hand else SearchStatus.EXACT_ON_FITTED
        kept = [equation for equation in kept if equation.complexity <= chosen.complexity]
    shown = Front(tuple(kept), kept.index(chosen), status.value, limits.seconds, fits + judge.fits)
    return chosen_by(settings.selection, shown)


def _entry(equation: Equation, data: Dataset) -> Entry:
    return equation.description_length, (measure(equation.expression, data),)


def _forms(
    table: Categories, settings: SearchSettings, limits: Limits, live: Live
) -> tuple[list[Expression], int, SearchStatus]:
    """The forms that searches of parts of the rows come up with, numbers with a point for all their constants: the most
    frequent and simplest first; how many formulas were fitted, and how the last search ended."""
    parts, to_look_at = list(table.parts()), _Judge(table, settings, limits)

    def whole(formula: Expression) -> Iterator[Entry]:
        form = canonical(formula)
        if 0 < len(form.constants) <= MOST_CONSTANTS:
            yield from (_entry(equation, table.data) for equation in to_look_at.equations(form, lambda: False))

    known: dict[str, tuple[int, Expression]] = {}
    fits, status = 0, SearchStatus.FINISHED
    for k, part in enumerate(parts):
        left = SHARE_OF_SEARCHES * limits.time_limit - limits.seconds
        few = {
            name: max(limit // len(parts), 1)
            for name in ("max_fits", "max_evaluations")
            if (limit := getattr(settings, name)) is not None
        }
        limit = max(left / (len(parts) - k), LEAST)
        ours = replace(settings, time_limit=limit, selection="mdl", constants_per=None, **few)
        try:
            found = search(part, ours, watch=live.inside(whole), clock=limits.clock)
        except NothingFoundError:
            continue
        fits, status = fits + found.fits, found.status
        for equation in found.front:
            formula = equation.free_form or equation.expression
            for form in (formula, freed(formula)):
                merged, key = canonical_and_skeleton(form)
                known[key] = (known.get(key, (0,))[0] + 1, merged)
        if status.is_by_hand:
            break
    fine = [entry for entry in known.values() if 0 < len(entry[1].constants) <= MOST_CONSTANTS]
    ranked = sorted(fine, key=lambda entry: (-entry[0], entry[1].complexity))
    forms = [form for _, form in ranked[:MOST_FORMS]]
    return forms or [Constant(1.0)], fits, status  # of a target that is 3 everywhere, no form has a constant


class _Judge:
    """Fits forms by category, and says how long their descriptions are."""

    def __init__(self, table: Categories, settings: SearchSettings, limits: Limits) -> None:
        self.table, self.data, self.settings, self.limits = table, table.data, settings, limits
        self.rules, self.fits = settings.rules(columns=self.data.columns), 0
        self.no_error = Rows.of(self.data, settings).no_error

    def equations(self, form: Expression, out_of_time: Callable[[], bool]) -> Iterator[Equation]:
        """The form with all its constants by category, and with as many of them shared as the data allow."""
        if out_of_time() or not self.rules.allow(form):
            return
        named = self.named(form)
        found = self.fit(named, None)
        if found.status is FitStatus.NOT_FINITE:
            return
        length = self.length(named, found)
        best = named, found, length
        yield self.equation(found, length)
        for name in self.by_scatter(named, found):
            shared = best[0].substitute({name: Variable(name.partition("[")[0])})
            after = self.fit(shared, self.averaged(best[1], name))
            length = self.length(shared, after)
            if length < best[2]:
                best = shared, after, length
                yield self.equation(after, length)
            if out_of_time():
                return
        yield from self.rounded(*best)

    def named(self, form: Expression) -> Expression:
        """With names that have an index in place of the constants: c1[site]*x + c2[site]."""
        names, column = self.fresh_names(), self.table.column
        return transform(form, lambda node: Variable(f"{next(names)}[{column}]") if is_free(node) else node)

    def fit(self, form: Expression, first: dict[str, float] | None) -> Fit:
        self.fits += 1
        left = max(self.limits.time_limit - self.limits.seconds, TO_SPARE)
        look = FitSettings(starts=STARTS if first is None else 1, seed=self.settings.seed, time_limit=left)
        return fit_by_category(form, self.data, self.table.groups, settings=look, first=first)

    def by_scatter(self, form: Expression, found: Fit) -> list[str]:
        """The constants, those first whose values differ least between categories, in standard errors."""
        if found.form is None:
            return []
        spread = covariance(found.form, self.data, parameters=found.parameters, least_rms=math.sqrt(self.no_error))
        errors = dict(zip(_labels(found), np.sqrt(np.diagonal(spread)), strict=True))
        scatter = {}
        for name in indexed(form):
            each = [constant_of(name, category) for category in self.table.places]
            values = np.array([found.parameters[one] for one in each])
            weights = np.array([1 / max(errors[one], SMALLEST) ** 2 for one in each])
            mean = np.average(values, weights=weights) if weights.sum() > 0 else values.mean()
            scatter[name] = float(weights @ (values - mean) ** 2)
        return sorted(scatter, key=lambda name: scatter[name])

    def averaged(self, found: Fit, name: str) -> dict[str, float]:
        """The constants, with the mean over the categories for one of them."""
        each = {constant_of(name, category) for category in self.table.places}
        mean = float(np.mean([found.parameters[one] for one in each]))
        others = {one: value for one, value in found.parameters.items() if one not in each}
        return {**others, name.partition("[")[0]: mean}

    def rounded(self, form: Expression, found: Fit, length: float) -> Iterator[Equation]:
        """With the shared constants rounded, where that makes the description shorter: those of the categories stand
        as a column of values meanwhile."""
        shared = {name: v for name, v in found.parameters.items() if name in form.variables}
        if not shared:
            return
        columns, inside = dict(self.data.columns), {}
        for k, name in enumerate(indexed(form)):
            made = sum(
                found.parameters[constant_of(name, one)] * self.data.columns[place]
                for one, place in self.table.places.items()
            )
            columns[f"by_category_{k}"] = np.asarray(made)
            inside[name] = Variable(f"by_category_{k}")
        X = np.array(list(columns.values())).T
        table = make_dataset(X, self.data.y, names=list(columns), target=self.data.target, weights=self.data.weights)
        after = snap(form.substitute({**shared, **inside}), table, settings=self.settings.snapping).expression
        back = after.substitute({place.name: Variable(name) for name, place in inside.items()})
        fresh = iter(sorted(shared))
        back = transform(back, lambda node: Variable(next(fresh)) if is_free(node) else node)
        numbers = {**found.parameters, **dict(zip(sorted(shared), after.constants, strict=False))}
        if not set(indexed(form)) <= set(back.variables):
            return
        again = self.fit(back, numbers)
        shorter = self.length(back, again)
        if shorter < length:
            yield self.equation(again, shorter)

    def length(self, form: Expression, found: Fit) -> float:
        """The description length: of the formula once, of each constant, and of the residuals."""
        names = [name for name in form.variables if name not in self.data.names]
        once = form.substitute(dict.fromkeys(names, 1.0))
        more = len(found.parameters) - len(names)
        rows = self.data.rows
        bits = rough_length(once, rows, max(found.mse, self.no_error)) + cost_bits(
            once, self.settings.constraints.costs
        )
        return bits + more * constant_bits(rows)

    def equation(self, found: Fit, length: float) -> Equation:
        return Equation.of(self.numbered(found), self.data, length=length, costs=self.settings.constraints.costs)

    def numbered(self, found: Fit) -> Fit:
        """With its constants called c1, c2, ... from left to right."""
        if found.form is None:  # all are round numbers
            return found
        order = [node.name for node in postorder(found.form) if isinstance(node, Variable)]
        bases = dict.fromkeys(name.partition("[")[0] for name in order if name in found.parameters)
        renamed = dict(zip(bases, self.fresh_names(), strict=False))
        names = {
            name: "".join([renamed[name.partition("[")[0]], *name.partition("[")[1:]]) for name in found.parameters
        }
        form = found.form.substitute({name: Variable(after) for name, after in names.items()})
        return replace(found, form=form, parameters={names[name]: v for name, v in found.parameters.items()})

    def with_shape(self, equation: Equation) -> Equation | None:
        """With what is known of its shape in every category; None if it has another in one, or no finite error."""
        if not math.isfinite(equation.loss):
            return None
        if self.rules.shapes is None:
            return equation
        said: dict[str, Verdict] = {}
        for place in self.table.places.values():
            here = {other: Constant(int(other == place)) for other in self.table.places.values()}
            for verdict in self.rules.verdicts(canonical(equation.expression.substitute(here))):
                weaker = verdict.shape not in said or verdict.how == SAMPLED or not verdict.holds
                said[verdict.shape] = verdict if weaker else said[verdict.shape]
                if not verdict.holds:
                    return None
        return replace(equation, shape=tuple(map(str, said.values())))

    def fresh_names(self) -> Iterator[str]:
        return (name for name in map("c{}".format, count(1)) if name not in self.data.names)


def _labels(found: Fit) -> list[str]:
    assert found.form is not None  # noqa: S101 - a fit of named constants has one
    return [label or "" for label in compile_expression(found.form, found.parameters).labels]
