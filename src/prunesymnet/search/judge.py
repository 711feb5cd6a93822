"""The judge: fits every candidate on the training rows, measures it on those held out, and keeps the best of each size.

At the end it fits what it kept on all rows, rounds the constants, and says which formula to believe.
"""

import math
import time
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients import Fit, FitSettings, FitStatus, fit, snap
from prunesymnet.coefficients.closed_forms import bits
from prunesymnet.coefficients.snapping import describe
from prunesymnet.data import Dataset
from prunesymnet.equations import Equation, Front
from prunesymnet.errors import DataError, NothingFoundError
from prunesymnet.expression import Expression, canonical, canonical_and_skeleton, evaluate
from prunesymnet.network import Choice
from prunesymnet.operators import select_operators
from prunesymnet.search.between import Middle
from prunesymnet.search.constraints import Vocabulary
from prunesymnet.search.forms import freed, linear, needed_columns, reductions, simplest_forms, without_needless_abs
from prunesymnet.search.settings import SearchSettings
from prunesymnet.selection import choose, front

Array = NDArray[np.float64]

# Most candidates are poor, and a few iterations show it; those that are not get as many as they need.
PROMISING = 0.9
CHOSEN_FROM = 20  # candidates that are fitted on all rows
ROUNDED = 5  # of these, the ones of least description length, how many are rounded before one is chosen
FIRST_LOOK = FitSettings(max_iterations=15, second_chance=False)
SECOND_LOOK = FitSettings(max_iterations=60)
LONG = 60  # complexity beyond which taking out one operator at a time would take too long
ROWS_TO_ROUND = 20_000
LEAST_PATIENCE = 0.2  # seconds: even in a hurry, some constants are rounded
SIMPLER = 8  # formulas below the exact one that are shown beside it
NEARLY_EXACT = 1e-12  # of the variation: what is not exact for some terms too many, whose constants are hard to find
NO_WORSE = 1e-3  # of R²: rounding may cost so much against the linear model, and chance never more


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fitted candidate: how it did on the training rows and on those held out, and where it came from."""

    fit: Fit
    heldout_mse: float
    stage: str
    epoch: int = 0
    choice: Choice | None = None
    weights: Array | None = None


class Judge:
    """What has been tried on a table, and the best of it."""

    def __init__(self, data: Dataset, settings: SearchSettings) -> None:
        self.data, self.settings = data, settings
        self.vocabulary = Vocabulary(select_operators(settings.operators))
        self.some = _some(data, settings.rows, settings.seed)
        self.train, self.held = split(self.some, settings)
        # Where no rows are held out, a formula must leave half of them to be seen by.
        self.most_constants = self.train.rows - 2 if self.held is not self.train else self.train.rows // 2
        self.tries: dict[str, int] = {}
        self.fits = 0
        # The error that counts as none: small beside the spread of the target, or lost in its rounding.
        rounding = (16 * float(np.finfo(np.float64).eps)) ** 2 * float(np.mean(self.held.y**2))
        self.no_error = max(settings.exact**2 * self.held.variation, rounding)
        self.simplest: dict[tuple[int, int], Candidate] = {}  # (complexity, free constants) -> the best such candidate
        self.given: tuple[Expression, ...] = ()  # formulas that the search was started with
        forms = [form for form in simplest_forms(data, settings.constraints.requires) if self.may_be(form)]
        self.best = self.candidate_of(forms[0] if forms else linear(data.names), "linear")
        self.improvements = [(0, str(self.best.fit.expression), self.best.heldout_mse)]

    def allowed(self, expression: Expression) -> bool:
        """Whether the user would have it."""
        most = self.settings.max_complexity
        if (most is not None and expression.complexity > most) or not self.vocabulary.has(expression):
            return False
        return self.settings.constraints.violated_by(expression) is None

    def may_be(self, expression: Expression) -> bool:
        """Whether it is allowed, and the rows are enough for its constants."""
        return self.allowed(expression) and len(expression.constants) <= max(self.most_constants, 1)

    def begin_with(self, expressions: tuple[Expression, ...]) -> None:
        """Formulas from an earlier search of the same table: they are candidates, and as they stand on the front."""
        self.given = tuple(expression for expression in expressions if self.allowed(expression))
        for expression in self.given:
            self.note(self.candidate_of(expression, "given"))

    def exact(self) -> bool:
        return self.is_exact(self.best)

    def is_exact(self, candidate: Candidate) -> bool:
        return self.settings.exact > 0 and candidate.heldout_mse <= self.no_error

    def consider(
        self,
        expression: Expression,
        stage: str,
        *,
        epoch: int = 0,
        choice: Choice | None = None,
        weights: Array | None = None,
        first: Dataset | None = None,
    ) -> str:
        """Fit a candidate unless its form has been fitted often enough; its form. `first` are rows to fit on before
        all others (those on which a frequency can be seen)."""
        merged, form = canonical_and_skeleton(expression)
        plain = without_needless_abs(merged, self.train)
        if plain is not merged:
            merged, form = canonical_and_skeleton(plain)
        self.tries[form] = self.tries.get(form, 0) + 1
        if self.tries[form] <= self.settings.fits_per_form:
            if first is not None:
                merged = fit(merged, first, settings=SECOND_LOOK).expression
            self.note(self.candidate_of(merged, stage, epoch, choice, weights))
        return form

    def note(self, candidate: Candidate) -> None:
        """Take a candidate that is clearly better; of exact ones the simpler."""
        if self.exact() and self.is_exact(candidate):
            better = candidate.fit.expression.complexity < self.best.fit.expression.complexity
        else:
            better = candidate.heldout_mse < 0.9 * self.best.heldout_mse
        if better:
            nearly = candidate.heldout_mse <= NEARLY_EXACT * self.held.variation
            self.best = self.shrink(candidate) if nearly or self.is_exact(candidate) else candidate
            self.improvements.append((candidate.epoch, str(self.best.fit.expression), self.best.heldout_mse))

    def propose(self, expression: Expression, stage: str, *, exact: bool = False, first: Dataset | None = None) -> None:
        """A bank's candidate: as it stands, and with a weight on every edge."""
        self.consider(expression, stage, first=first)
        if not exact:
            self.consider(freed(expression), stage, first=first)

    def shrink(self, candidate: Candidate) -> Candidate:
        """The simplest that is left when operators are taken out as long as the formula stays as good: 1000*sin(x/1000)
        is no better than x."""
        while candidate.fit.expression.complexity <= LONG:
            good_enough = max(1.01 * candidate.heldout_mse, self.no_error)
            look = SECOND_LOOK if self.is_exact(candidate) else FIRST_LOOK
            forms = reductions(candidate.fit.expression)
            smaller = [self.candidate_of(form, candidate.stage, look=look) for form in forms]
            smaller = [c for c in smaller if c.heldout_mse <= good_enough]
            if not smaller:
                return candidate
            simplest = min(smaller, key=lambda c: (c.fit.expression.complexity, c.heldout_mse))
            candidate = replace(simplest, epoch=candidate.epoch, choice=candidate.choice, weights=candidate.weights)
        return candidate

    def candidate_of(
        self,
        expression: Expression,
        stage: str,
        epoch: int = 0,
        choice: Choice | None = None,
        weights: Array | None = None,
        look: FitSettings = FIRST_LOOK,
    ) -> Candidate:
        if not self.allowed(expression):
            unfit = Fit(expression, math.inf, -math.inf, FitStatus.NOT_FINITE, 0, 0.0)
            return Candidate(unfit, math.inf, stage, epoch, choice, weights)
        self.fits += 1
        fitted = fit(expression, self.train, settings=look)
        if fitted.status is FitStatus.MAX_ITERATIONS and fitted.r2 > PROMISING:
            fitted = fit(fitted.expression, self.train, settings=SECOND_LOOK)
        values, finite = evaluate(fitted.expression, self.held.columns)
        with np.errstate(over="ignore"):
            squares = (values - self.held.y) ** 2
        error = float(np.average(squares, weights=self.held.weights)) if finite.all() else math.inf
        if not math.isfinite(fitted.mse) or len(fitted.expression.constants) > self.most_constants:
            error = math.inf  # that many constants go through any points
        candidate = Candidate(fitted, error, stage, epoch, choice, weights)
        size = fitted.expression.complexity, len(fitted.expression.constants)
        if size not in self.simplest or self.error(candidate) < self.error(self.simplest[size]):
            self.simplest[size] = candidate
        return candidate

    def about(self, candidate: Candidate) -> float:
        """Its description length, roughly: each constant to the precision that so many rows give."""
        expression, rows = candidate.fit.expression, self.train.rows + self.held.rows
        error = max(self.error(candidate) / rows, self.no_error)
        return (
            0.5 * rows * math.log2(error + 1e-300)
            + bits(expression)
            + 0.5 * math.log2(rows) * len(expression.constants)
        )

    def error(self, candidate: Candidate) -> float:
        """On all rows, as fitted on the training rows."""
        return candidate.fit.mse * self.train.rows + candidate.heldout_mse * self.held.rows

    def left(self, candidate: Candidate) -> float:
        """The part of the variation that it leaves unexplained, on the training rows and on those held out."""
        rows = self.train.rows + self.held.rows
        return self.error(candidate) / rows / (self.some.variation or 1.0)

    def front(self) -> list[Fit]:
        """The best of each complexity fitted on all rows that are used, as far as they may be chosen; the shortest
        description first."""
        if self.exact():
            kept = [c for c in (*self.simplest.values(), self.best) if self.is_exact(c)]
            kept.sort(key=lambda candidate: candidate.fit.expression.complexity)
            kept = kept[:ROUNDED]
        else:
            kept = self.by_length()[:CHOSEN_FROM]
        fits = [
            fit(candidate.fit.expression, self.some) for candidate in kept if self.allowed(candidate.fit.expression)
        ]
        return sorted(map(_canonical, fits), key=lambda found: self.length(found, self.some))

    def length(self, found: Fit, data: Dataset, noise: float = 0.0) -> float:
        """The description length; to what is not exact, what it says between the rows is added."""
        length = describe(found, data, noise=noise)
        if found.mse <= self.no_error or not math.isfinite(length):
            return length
        return length + self.middle.surprise(found.expression)

    @cached_property
    def middle(self) -> Middle:
        return Middle.of(self.some)

    def by_length(self) -> list[Candidate]:
        """Those that are worth their length, the shortest description (roughly) first."""
        return sorted(self.worth_it([*self.simplest.values(), self.best]), key=self.about)

    def so_far(self) -> list[Candidate]:
        """The candidates that no simpler one equals in error, from the simplest on: the front while it grows."""
        kept: list[Candidate] = []
        for candidate in sorted(self.simplest.values(), key=lambda c: (c.fit.expression.complexity, self.error(c))):
            error = self.error(candidate)
            if math.isfinite(error) and (not kept or error < self.error(kept[-1])):
                kept.append(candidate)
        return kept

    def worth_it(self, candidates: list[Candidate]) -> list[Candidate]:
        """Those that no simpler one equals on the rows held out: what is longer must be better there, too."""
        kept: list[Candidate] = []
        for candidate in sorted(candidates, key=lambda c: (c.fit.expression.complexity, c.heldout_mse)):
            if not kept or candidate.heldout_mse < kept[-1].heldout_mse:
                kept.append(candidate)
        return kept

    def verdict(self, *, patience: float = math.inf) -> tuple[Fit, Front]:
        """The formula to believe, fitted on all rows and rounded, and the front that it was chosen from.

        Description length decides, or what the settings say, unless its choice is worse than the linear model by
        more than chance explains (two standard errors for each of its constants), or by more than R² can be seen to
        change. Rounding takes at most as many seconds as there is `patience`; if there is none, the last fit on a large
        table is left out.
        """
        fits = self.front()
        base, shorter = _linear_models(self.some)
        deadline, snapping = time.monotonic() + max(patience, LEAST_PATIENCE), self.settings.snapping
        rounded = [snap(f.expression, self.some, settings=snapping, deadline=deadline) for f in fits[:ROUNDED]]
        others = [measured(expression, self.some) for expression in self.given]
        if self.exact():  # what is simpler is not exact, but there to be seen
            least = min((found.expression.complexity for found in fits), default=0)
            forms = [candidate.fit.expression for candidate in self.so_far()]
            simpler = [form for form in forms if form.complexity < least][-SIMPLER:]
            fitted = [fit(form, self.some, settings=FIRST_LOOK) for form in simpler]
            others += map(_canonical, fitted)
        equations = self.equations([*rounded, *fits, *others, base, shorter], self.some)
        if not equations:
            raise NothingFoundError(
                "no formula was found that keeps max_complexity and the constraints; relax them, or allow more time"
            )
        by = self.settings.selection
        if by == "heldout" and self.held is self.train:
            by = "mdl"  # no rows are held out
        if by == "heldout":
            equations = {self.with_heldout(equation): found for equation, found in equations.items()}
        chosen = self.believed(equations, (base, shorter), self.some, by if isinstance(by, str) else "mdl")
        kept = front(list(equations), keep=chosen)
        if chosen.loss <= self.no_error:  # what is longer than an exact formula only fits the rounding
            kept = [equation for equation in kept if equation.complexity <= chosen.complexity]
        shown = Front(tuple(map(self.with_heldout, kept)), kept.index(chosen))
        if not isinstance(by, str):
            shown = replace(shown, chosen=_row(by(shown.table()), len(shown)))
        best = equations[kept[shown.chosen]]
        if self.some is not self.data:
            best, shown = self.on_all_rows(best, shown, patience)
        return best, shown

    def equations(self, fits: list[Fit], data: Dataset) -> dict[Equation, Fit]:
        """Those that may be chosen, with what is known about them."""
        fine = [found for found in fits if math.isfinite(found.mse) and self.may_be(found.expression)]
        noise = self.settings.snapping.noise
        return {Equation.of(found, data, length=self.length(found, data, noise)): found for found in fine}

    def believed(
        self, equations: dict[Equation, Fit], linear_ones: tuple[Fit, Fit], data: Dataset, by: str
    ) -> Equation:
        """The best by a criterion. If the shortest description is worse than the linear model, the data speak for
        nothing longer either, and it is the linear model, or the one without columns that it can do without."""
        chosen = choose(equations, by)
        if by != "mdl" or chosen.loss <= _no_worse(linear_ones[0], data):
            return chosen
        return choose([e for e, found in equations.items() if found in linear_ones] or [chosen])

    def with_heldout(self, equation: Equation) -> Equation:
        """With the R² on held-out rows of the same form, fitted without them; nan where no rows are held out."""
        if self.held is self.train:
            return equation
        fitted = fit(equation.expression, self.train, settings=SECOND_LOOK)
        return replace(equation, heldout_r2=measured(fitted.expression, self.held).r2)

    def on_all_rows(self, best: Fit, shown: Front, patience: float) -> tuple[Fit, Front]:
        """The last fit, of the best on all rows; the others as they are, with their errors on all rows."""
        linear_ones = _linear_models(self.data)
        if not patience:
            fits = [measured(best.expression, self.data)]
        else:
            # Rounding takes many fits: it is tried on a part of the rows, and judged on all.
            fitted, part = fit(best.expression, self.data), _some(self.data, ROWS_TO_ROUND, self.settings.seed)
            deadline, snapping = time.monotonic() + patience, self.settings.snapping
            rounded = snap(fitted.expression, part, settings=snapping, deadline=deadline)
            fits = [rounded if part is self.data else fit(rounded.expression, self.data), fitted]
        ours = self.equations(fits if self.settings.selection != "mdl" else [*fits, *linear_ones], self.data)
        ours = ours or self.equations([measured(best.expression, self.data)], self.data)
        chosen = self.believed(ours, linear_ones, self.data, "mdl")
        length = self.length(measured(chosen.expression, self.some), self.some)  # on the rows of the others
        chosen = replace(chosen, heldout_r2=shown.best.heldout_r2, description_length=length)
        others = [equation for i, equation in enumerate(shown) if i != shown.chosen]
        errors = [measured(equation.expression, self.data) for equation in others]
        others = [replace(e, loss=on_all.mse, r2=on_all.r2) for e, on_all in zip(others, errors, strict=True)]
        kept = front([*others, chosen], keep=chosen)
        found = {equation.expression: found for equation, found in ours.items()}
        return found[chosen.expression], Front(tuple(kept), kept.index(chosen))


def as_it_stands(data: Dataset, formulas: tuple[Expression, ...], settings: SearchSettings) -> Front:
    """The front of some formulas, fitted but not rounded, and chosen from as a search would."""
    judge = Judge(data, settings)
    linear_ones = _linear_models(judge.some)
    fits = [fit(formula, judge.some) for formula in formulas]
    equations = judge.equations([*fits, *linear_ones], judge.some)
    if not equations:
        raise NothingFoundError("no formula was found that keeps max_complexity and the constraints")
    by = settings.selection
    equations = {judge.with_heldout(equation): found for equation, found in equations.items()}
    chosen = judge.believed(equations, linear_ones, judge.some, by if isinstance(by, str) else "mdl")
    kept = front(list(equations), keep=chosen)
    shown = Front(tuple(kept), kept.index(chosen))
    return shown if isinstance(by, str) else replace(shown, chosen=_row(by(shown.table()), len(shown)))


def _linear_models(data: Dataset) -> tuple[Fit, Fit]:
    """The linear model, and the one without the columns that it can do without."""
    whole = fit(linear(data.names), data)
    few = needed_columns(data, _no_worse(whole, data))
    shorter = whole if few == data.names else fit(linear(few), data)
    return _canonical(whole), _canonical(shorter)


def _canonical(found: Fit) -> Fit:
    """With its formula written as it should be: a fit may have changed signs."""
    return replace(found, expression=canonical(found.expression))


def _no_worse(base: Fit, data: Dataset) -> float:
    """The error that is no worse than that of the linear model."""
    constants = len(base.expression.constants)
    chance = base.mse * 4 * constants / max(data.rows - constants, 1)
    return base.mse + min(chance, NO_WORSE * data.variation)


def measured(expression: Expression, data: Dataset) -> Fit:
    """A formula as it stands, with its error on the data."""
    values, finite = evaluate(expression, data.columns)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.where(finite, values - data.y, np.inf) ** 2
        mse = float(np.average(squares, weights=data.weights))
        spread = data.variation
    r2 = 1 - mse / spread if spread > 0 else (1.0 if mse == 0 else -math.inf)
    return Fit(expression, mse, r2, FitStatus.CONVERGED, 0, 0.0)


def _row(index: Any, rows: int) -> int:
    if isinstance(index, bool) or not isinstance(index, Integral) or not 0 <= int(index) < rows:
        raise ValueError(f"the function `selection` must return a row of the front, 0 to {rows - 1}, got {index!r}")
    return int(index)


def _some(data: Dataset, most: int, seed: int) -> Dataset:
    """As many rows as it takes to judge a formula."""
    if data.rows <= most:
        return data
    rows = np.arange(data.rows) if data.weights is None else np.flatnonzero(data.weights)
    count = min(most, len(rows))
    return data.take(np.sort(np.random.default_rng(seed).choice(rows, count, replace=False)))


def split(data: Dataset, settings: SearchSettings) -> tuple[Dataset, Dataset]:
    """Training rows and held-out rows; all rows are both where there are too few, or too few that count."""
    if data.rows < 10:
        return data, data
    try:
        return data.split(settings.holdout, settings.seed)
    except DataError:
        if data.weights is None or data.weights.all():
            raise
        return data, data
