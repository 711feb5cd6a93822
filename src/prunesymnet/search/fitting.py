"""From a proposed formula to a candidate in the archive: merge its constants, fit, measure, make it simpler."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import Proposal
from prunesymnet.coefficients import Fit, FitSettings, FitStatus, fit, snap
from prunesymnet.coefficients.fit import measure
from prunesymnet.data import Dataset
from prunesymnet.expression import Expression, canonical
from prunesymnet.search.archive import Archive, Candidate, Pruned, Standing
from prunesymnet.search.constraints import Rules
from prunesymnet.search.forms import (
    error_of_offset,
    freed,
    merged_form,
    reductions,
    without_likely_zero,
    without_offset,
    without_small_terms,
)
from prunesymnet.search.origin import from_nothing
from prunesymnet.search.rows import Rows
from prunesymnet.search.settings import SearchSettings

# Most candidates are poor, and a few iterations show it; those that are not get as many as they need.
PROMISING = 0.9  # R² after the first look that earns a second
FIRST_LOOK = FitSettings(max_iterations=15, second_chance=False, reweightings=3)
SECOND_LOOK = FitSettings(max_iterations=60, reweightings=20)
LAST_LOOK = FitSettings()
LONGEST_TO_SHRINK = 60  # complexity beyond which taking out one operator at a time would take too long
BFGS_STEPS = 4  # for one of Levenberg-Marquardt: it has to learn the curvature on the way
NEARLY_ROUND = 1e-4  # of the variation: what leaves more has the wrong terms, and rounding would not help
NEARLY_EXACT = 1e-12  # of the variation: not exact only for some terms too many, whose constants are hard to find
NEXT_TO_NOTHING = 1e-9  # of the variation: a few digits more, and it is nearly exact
CONTENDERS = 30.0  # bits: a formula whose description is longer by more is not chosen, with or without an offset
OFFSET = 4.0  # standard errors of a mean: a constant term of this size is still often chance beside other constants
LIKELY = 2.0  # standard errors of its own: a constant term that others make up for is known so much worse
AS_GOOD = 1.01  # times the error: rounding in a fit makes more of a difference than that only by chance


@dataclass
class Known:
    """What was computed ahead, by formula: those that are fitted for a proposal (which may be exact), the merged form,
    the fit at a first look with the error on held-out rows, whether the rows show all that it does between them, what
    it leaves of a problem's target as it stands, and its rough length there. Each is what would be computed anyway, so
    that it makes no difference whether it is here."""

    formulas: dict[tuple[Expression, bool], tuple[Expression, ...]] = field(default_factory=dict)
    forms: dict[Expression, tuple[Expression, str]] = field(default_factory=dict)
    fits: dict[Expression, tuple[Fit, float]] = field(default_factory=dict)
    shown: dict[Expression, bool] = field(default_factory=dict)
    unexplained: dict[Expression, float] = field(default_factory=dict)
    lengths: dict[tuple[Expression, float], float] = field(default_factory=dict)

    def add(self, other: "Known") -> None:
        self.formulas |= other.formulas
        self.forms |= other.forms
        self.fits |= other.fits
        self.shown |= other.shown
        self.unexplained |= other.unexplained
        self.lengths |= other.lengths


@dataclass(frozen=True)
class Fitter:
    """Fits candidates on the training rows, measures them on those held out, and puts them into the archive."""

    rows: Rows
    rules: Rules
    archive: Archive
    fits_per_form: int
    settings: SearchSettings = field(default_factory=SearchSettings)
    known: Known = field(default_factory=Known)

    def candidate(self, expression: Expression, stage: str, look: FitSettings = FIRST_LOOK) -> Candidate:
        """A formula fitted and measured, and in the archive if it is allowed."""
        if not self.rules.allow(expression):
            self.archive.refused += 1
            return Candidate(Fit(expression, math.inf, -math.inf, FitStatus.NOT_FINITE, 0, 0.0), math.inf, stage)
        known = self.known.fits.pop(expression, None) if look is FIRST_LOOK else None
        fitted, error = known or self.fitted(expression, look)
        candidate = self.with_known_values(Candidate(fitted, error, stage))
        if self.archive.would_change(candidate) and not self.is_believable(candidate):
            candidate = replace(candidate, heldout_mse=math.inf)
        self.archive.add(candidate)
        return candidate

    def fitted(self, expression: Expression, look: FitSettings = FIRST_LOOK) -> tuple[Fit, float]:
        """A formula fitted on the training rows, and its error on those held out."""
        fitted = fit(expression, self.rows.train, settings=self.by_method(look))
        if fitted.status is FitStatus.MAX_ITERATIONS and fitted.r2 > PROMISING:
            fitted = fit(fitted.expression, self.rows.train, settings=self.by_method(SECOND_LOOK))
        if self.settings.snapping.only_integers and 1 - fitted.r2 <= NEARLY_ROUND:
            fitted = snap(fitted.expression, self.rows.train, settings=self.settings.snapping)
        error = measure(fitted.expression, self.rows.held).mse
        if not math.isfinite(fitted.mse) or len(fitted.expression.constants) > self.rows.most_constants:
            error = math.inf
        return fitted, error

    def with_known_values(self, candidate: Candidate) -> Candidate:
        """A candidate that would do but for its shape, fitted again with the values that a law is known to have, and
        without the terms that this leaves next to nothing of."""
        if not self.archive.would_change(candidate) or self.rules.has_shape(candidate.expression):
            return candidate
        pinned = self.rules.with_pinned(self.rows.train)
        if pinned is None:
            return candidate
        look = self.by_method(SECOND_LOOK)
        again = fit(candidate.expression, pinned, settings=look)
        for form in without_small_terms(again.expression, self.rows.train):
            shorter = fit(form, pinned, settings=look)
            if shorter.mse <= AS_GOOD * again.mse:
                again = shorter
                break
        error = measure(again.expression, self.rows.held).mse
        return replace(candidate, fit=measure(again.expression, self.rows.train), heldout_mse=error)

    def is_believable(self, candidate: Candidate) -> bool:
        """Whether it is exact, or does nothing between the rows that no row shows: such a formula would be in the way
        of those that are to be believed. And it must have the shapes that are wanted."""
        if not self.rules.has_shape(candidate.expression):
            return False
        if self.archive.is_exact(candidate) or not self.settings.between_rows:
            return True
        known = self.known.shown.pop(candidate.expression, None)
        return self.rows.between.shows(candidate.expression) if known is None else known

    def propose(self, proposal: Proposal, problem: Problem | None, stage: str, *, first: Dataset | None = None) -> None:
        """Fit what is to be fitted for a proposal."""
        known = self.known.formulas.pop((proposal.expression, proposal.exact), None)
        for formula in known or self.formulas(proposal, problem):
            self.consider(formula, stage, first=first)

    def formulas(self, proposal: Proposal, problem: Problem | None = None) -> tuple[Expression, ...]:
        """A bank's formula as it stands, and (unless it seems exact) with a weight on every edge, as in the network:
        weights may carry the units that it lacks as it stands. Both in terms of the table (None: it is so already)."""
        formula, weighted = proposal.expression, None
        if problem is not None and problem.groups is not None:
            # In terms of the groups it is shorter, so constants are merged there.
            formula, weighted = canonical(formula), problem.to_table(canonical(freed(formula)))
        formula = formula if problem is None else problem.to_table(formula)
        if proposal.exact and (self.rules.units is None or self.rules.allow(formula)):
            return (formula,)
        return formula, freed(formula) if weighted is None else weighted

    def consider(
        self, expression: Expression, stage: str, *, first: Dataset | None = None, pruned: Pruned | None = None
    ) -> None:
        """Fit a formula unless its form has been fitted often enough; on the rows of `first` before all others."""
        merged, form = self.form(expression)
        tries = self.archive.tries[form] = self.archive.tries.get(form, 0) + 1
        if tries > self.fits_per_form:
            return
        if first is not None:
            merged = fit(merged, first, settings=SECOND_LOOK).expression
        candidate = self.candidate(merged, stage)
        self.improve(candidate if pruned is None else replace(candidate, pruned=pruned))
        if self.settings.pruner == "exhaustive":
            self.with_a_constant_less(candidate)

    def with_a_constant_less(self, candidate: Candidate) -> None:
        """A candidate whose constant term may well be 0, without it, and one that may well begin at nothing, so that it
        does; and what comes of that again. A scan fits a constant beside everything, and a law that has none pays for
        it."""
        todo = [candidate]
        while todo:
            for shorter in self.shorter(todo.pop(), self.archive.shortest):
                merged, form = self.form(shorter, expand=False)
                tries = self.archive.tries[form] = self.archive.tries.get(form, 0) + 1
                if tries <= self.fits_per_form:
                    todo.append(self.candidate(merged, candidate.stage))
                    self.improve(todo[-1])

    def shorter(self, candidate: Candidate, shortest: Callable[[], float]) -> list[Expression]:
        """With a constant less, where the candidate may be chosen beside one of the `shortest` length: without a
        constant term that may well be 0, also of a factor, or such that it is nothing where a column is 0."""
        if self.archive.length(candidate) > shortest() + CONTENDERS:
            return []
        formula, train, rms = candidate.expression, self.rows.train, math.sqrt(candidate.fit.mse)
        offset = max(OFFSET * rms / math.sqrt(train.rows), LIKELY * error_of_offset(formula, train))
        # Beside the rows, a formula is known no better than one of them is.
        found = (
            without_offset(formula, offset),
            from_nothing(formula, train.columns, OFFSET * rms),
            without_likely_zero(formula, train, LIKELY),
        )
        return [form for form in found if form is not None]

    def form(self, expression: Expression, *, expand: bool | None = None) -> tuple[Expression, str]:
        """A formula with its constants merged, and its form."""
        known = self.known.forms.pop(expression, None) if expand is None else None
        return known or merged_form(expression, self.rows.train, expand=self.settings.expand and expand is None)

    def look_ahead(self, expression: Expression, tries: dict[str, int], standing: Standing) -> Known:
        """What `consider` will compute for a formula, as far as that does not hang on the archive; `tries` are those of
        forms so far, and `standing` is what a candidate has to beat."""
        merged, form = self.form(expression)
        known = Known(forms={expression: (merged, form)})
        tries[form] = tries.get(form, 0) + 1
        if tries[form] > self.fits_per_form or not self.rules.allow(merged):
            return known
        candidate = self._looked_at(merged, standing, known)
        if self.settings.pruner == "exhaustive":
            todo = [candidate]
            while todo:
                forms = [self.form(one, expand=False)[0] for one in self.shorter(todo.pop(), lambda: standing.shortest)]
                todo += [self._looked_at(merged, standing, known) for merged in forms if self.rules.allow(merged)]
        return known

    def _looked_at(self, expression: Expression, standing: Standing, known: Known) -> Candidate:
        known.fits[expression] = found = self.fitted(expression)
        candidate = Candidate(*found, stage="")
        if self.settings.between_rows and standing.may_change(self.archive, candidate):
            known.shown[candidate.expression] = self.rows.between.shows(candidate.expression)
        return candidate

    def by_method(self, look: FitSettings) -> FitSettings:
        """As thorough a look, by the method that is asked for."""
        if self.settings.fit_method == "lm":
            return look
        return replace(look, method=self.settings.fit_method, max_iterations=BFGS_STEPS * look.max_iterations)

    def improve(self, candidate: Candidate) -> None:
        """Take a candidate that is clearly better than the best so far, and make it as simple as it can be."""
        if self.archive.is_better(candidate):
            candidate = self.settled(candidate)
            nearly = candidate.heldout_mse <= NEARLY_EXACT * self.rows.held.variation
            shrinks = self.settings.remove_operators and (nearly or self.archive.is_exact(candidate))
            self.archive.set_best(self.shrink(candidate) if shrinks else candidate)

    def settled(self, candidate: Candidate) -> Candidate:
        """A candidate that leaves next to nothing, fitted to the end: what is exact but for some terms too many shows
        only then."""
        left = candidate.heldout_mse / (self.rows.held.variation or 1.0)
        if not NEARLY_EXACT < left <= NEXT_TO_NOTHING:
            return candidate
        after = self.candidate(candidate.expression, candidate.stage, LAST_LOOK)
        return replace(after, pruned=candidate.pruned) if after.heldout_mse < candidate.heldout_mse else candidate

    def with_an_operator_less(self, candidate: Candidate) -> None:
        """Fit the formulas that are simpler by one operator, from where this one is: one of them may describe the rows
        in fewer bits, and may have been fitted in vain from elsewhere."""
        for form in reductions(candidate.expression, self.rows.train.columns):
            self.improve(self.candidate(form, candidate.stage))

    def shrink(self, candidate: Candidate) -> Candidate:
        """The simplest that is left when operators are taken out as long as the formula stays as good: 1000*sin(x/1000)
        is no better than x. Terms that are small go together, before: one alone would leave its rounding errors to the
        others."""
        for form in without_small_terms(candidate.expression, self.rows.train):
            shorter = self.candidate(form, candidate.stage, SECOND_LOOK)
            if shorter.heldout_mse <= max(AS_GOOD * candidate.heldout_mse, self.rows.no_error_held_out):
                candidate = replace(shorter, pruned=candidate.pruned)
                break
        while candidate.expression.complexity <= LONGEST_TO_SHRINK:
            good_enough = max(AS_GOOD * candidate.heldout_mse, self.rows.no_error_held_out)
            look = SECOND_LOOK if self.archive.is_exact(candidate) else FIRST_LOOK
            forms = reductions(candidate.expression, self.rows.train.columns)
            smaller = [self.candidate(form, candidate.stage, look) for form in forms]
            smaller = [one for one in smaller if one.heldout_mse <= good_enough]
            if not smaller:
                return candidate
            simplest = min(smaller, key=lambda one: (one.expression.complexity, one.heldout_mse))
            candidate = replace(simplest, pruned=candidate.pruned)
        return candidate
