"""The end of a search: fit the best of each size on all rows, round the constants, and say which formula to believe."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients import Fit, FitSettings, fit, snap
from prunesymnet.coefficients.description import cost_bits, description_length, residual_bits
from prunesymnet.coefficients.fit import measure
from prunesymnet.coefficients.pure_numbers import pure_numbers
from prunesymnet.coefficients.rounded import free_fit, is_excluded
from prunesymnet.coefficients.snapping import as_read
from prunesymnet.data import Dataset
from prunesymnet.equations import Equation, Front
from prunesymnet.errors import NothingFoundError
from prunesymnet.expression import Expression, canonical_and_skeleton
from prunesymnet.search.archive import Archive
from prunesymnet.search.constraints import Rules
from prunesymnet.search.fitting import FIRST_LOOK, SECOND_LOOK
from prunesymnet.search.forms import limits_of_powers, with_canonical_formula, with_plain_formula
from prunesymnet.search.linear_model import linear, linear_models
from prunesymnet.search.prediction import left_out, left_out_by_quadratic, predicts_better
from prunesymnet.search.rows import Rows, some_rows
from prunesymnet.search.settings import SearchSettings
from prunesymnet.selection import choose, chosen_by, criterion_of, front, is_near_tie
from prunesymnet.units import is_sound

Array = NDArray[np.float64]

CHOSEN_FROM = 20  # candidates that are fitted on all rows that are used: those of shortest description, roughly
EXACT_ONES = 3  # formulas that are exact, the simplest: these are fitted on all rows instead
FEWEST_ROUNDED = 5  # of these: rounding takes many fits
VALUES_TO_ROUND = 50_000  # rows times candidates: of small tables, all candidates are rounded
ROWS_TO_ROUND = 20_000  # of a larger table: the roundings are tried on these, and judged on all rows
LEAST_PATIENCE = 0.1  # seconds: even in a hurry, some constants are rounded
EVALUATIONS = 10  # of a formula on all rows, and of its derivatives, that the last fit and the error bars take
SIMPLER = 8  # formulas that are simpler than those, to be looked at and shown
AS_LONG = 8  # formulas as long as one of those that fits a little better: noise has decided between them so far
MAY_BE_SAVED = 20.0  # bits: two constants that turn out to be round ones
RULED_OUT = 0.99  # confidence of the interval that a number lies outside of: so few that are true would be lost
PURE_NUMBERS = math.log2(20)  # bits: odds of 20 to 1 that the unit of a measured column is not that of nature


def one_after_the_other(function: Callable[..., Any], finish: "Finish", formulas: list[Any]) -> list[Any]:
    return [function(finish, formula) for formula in formulas]


@dataclass(frozen=True)
class Finish:
    """What is needed to choose: the rows, what is allowed, the settings, and the formulas that the search began with,
    which may come out again as they are. When no `seconds_left` are left, what can be left out is: fits on more rows,
    roundings, errors on held-out rows. The linear model is of the `linear_columns` (None: of all): where these were
    chosen among many by their correlation with the target, it must show on held-out rows. `each` calls one of the
    functions below for each of several formulas, in this process or in others."""

    rows: Rows
    rules: Rules
    settings: SearchSettings
    first_formulas: tuple[Expression, ...] = ()
    seconds_left: Callable[[], float] = lambda: math.inf
    linear_columns: tuple[str, ...] | None = None
    each: Callable[..., list[Any]] = one_after_the_other
    deadline: float = math.inf  # of `time.monotonic`, for roundings
    known_lengths: dict[tuple[Expression, float], float] = field(default_factory=dict, repr=False)

    @property
    def costs(self) -> Mapping[str, int]:
        return self.settings.constraints.costs

    @property
    def no_error(self) -> float:
        """The part of the target's root mean square that counts as no error."""
        return math.sqrt(self.rows.no_error / (self.rows.used.mean(self.rows.used.y**2) or 1.0))

    def choose(self, archive: Archive) -> tuple[Fit, Front]:
        """The formula to believe, fitted on all rows and rounded, and the front that it was chosen from."""
        used = self.rows.used
        fits = self.fitted(archive)
        linear_ones = self.linear_models() if self.settings.linear_model or not fits else ()
        others = [*(measure(expression, used) for expression in self.first_formulas), *self.simpler(archive, fits)]
        deadline = time.monotonic() + max(self.seconds_left(), LEAST_PATIENCE)
        equations = self.equations([*self.rounded(fits, deadline), *self.plain([*others, *linear_ones])])
        best, shown = self.front(equations, linear_ones)
        if self.rows.used is not self.rows.every:
            best, shown = self.on_all_rows(best, shown)
        return best, shown

    def linear_models(self) -> tuple[Fit, ...]:
        """The linear model, with and without the columns that it can do without."""
        names = self.linear_columns
        if names is None:
            return linear_models(self.rows.used)
        if self.rows.holds_out:
            whole = fit(linear(names), self.rows.train)
            if not measure(whole.expression, self.rows.held).r2 > 0:
                return ()
        return linear_models(self.rows.used.only(names))

    def fit(self, expression: Expression, look: FitSettings | None = None) -> Fit:
        """A formula fitted on all rows that are used; as it stands where there is no time left."""
        left = self.seconds_left()
        if not left > 0:
            return measure(expression, self.rows.used)
        look = replace(look or FitSettings(), time_limit=left)
        found = fit(expression, self.rows.used, settings=look)
        pinned = None if self.rules.has_shape(found.expression) else self.rules.with_pinned(self.rows.used)
        if pinned is None:
            return found
        return measure(fit(found.expression, pinned, settings=look).expression, self.rows.used)

    def rounded(self, fits: list[Fit], deadline: float) -> Iterator[tuple[Fit, float, str]]:
        """Fits with their constants rounded; how long the shorter of the two readings is; and the form of both."""
        count = max(VALUES_TO_ROUND // self.rows.used.rows, FEWEST_ROUNDED)
        yield from self.each(Finish.rounded_one, replace(self, deadline=deadline), fits[:count])
        yield from self.plain(fits[count:])

    def rounded_one(self, found: Fit) -> tuple[Fit, float, str]:
        """A fit with its constants rounded before the deadline, the length and the form."""
        used, snapping, deadline = self.rows.used, self.settings.snapping, self.deadline
        after = snap(found.expression, used, settings=snapping, deadline=deadline, allow=self.may_be_written)
        after = self.as_rows_allow(after)
        length = min(self.length_with_units(reading) for reading in (after, found))
        readings = [after]
        may_read = snapping.closed_forms and not snapping.only_integers and time.monotonic() < deadline
        if may_read and (read := as_read(after, used)) is not after:
            readings = [read, after]
            again = snap(read.expression, used, settings=snapping, deadline=deadline, allow=self.may_be_written)
            again = replace(again, before_rounding=read.before_rounding)
            shorter = self.length_with_units(again)
            if shorter < length:  # with that exponent, other constants are round
                readings, length = [again, read, after], shorter
        shown = [reading for reading in readings if self.may_be(reading.expression) and self.is_shown(reading)]
        return with_plain_formula((*shown, found)[0], used), length, skeleton(found.expression)

    def as_rows_allow(self, rounded: Fit) -> Fit:
        """A rounded formula; rounded anew, or with free numbers, where the rows rule a number out once all are free:
        one that came with a proposal was never compared with what fits best."""
        used, snapping = self.rows.used, self.settings.snapping

        def freed(found: Fit) -> Fit | None:
            """With free numbers, where the rows rule one out and there is time to see that."""
            left = self.deadline - time.monotonic()
            free = free_fit(found, used, FitSettings(time_limit=left)) if left > 0 else None
            return free if free is not None and is_excluded(found, free, used, RULED_OUT) else None

        if (free := freed(rounded)) is None:
            return rounded
        again = snap(free.expression, used, settings=snapping, deadline=self.deadline, allow=self.may_be_written)
        return freed(again) or again

    def plain(self, fits: Iterable[Fit]) -> Iterator[tuple[Fit, float, str]]:
        """Fits as they are, with their lengths and forms."""
        for found in fits:
            yield found, self.length_with_units(found), skeleton(found.expression)

    def fitted(self, archive: Archive) -> list[Fit]:
        """The candidates that may be chosen, fitted on all rows that are used; the shortest description first. Simpler
        ones are among them, though a longer one may do better on the rows held out: rounded, they may be shorter."""
        if archive.exact:
            exact = [candidate for candidate in archive.known() if archive.is_exact(candidate)]
            kept = sorted(exact, key=archive.complexity)[:EXACT_ONES]
        else:
            ranked = archive.by_length()
            most = archive.size(ranked[0]) if ranked else 0.0
            simpler = [c for c in archive.known() if archive.size(c) < most and c not in ranked]
            kept = [*ranked[: CHOSEN_FROM - SIMPLER], *sorted(simpler, key=archive.length)[:SIMPLER]]
            kept += archive.runners_up(MAY_BE_SAVED)[:AS_LONG]
        forms = [candidate.expression for candidate in kept]
        if not archive.exact:
            forms += [form for expression in forms for form in limits_of_powers(expression)]
        allowed = [form for form in forms if self.rules.allow(form)]
        fits = self.each(Finish.fitted_one, self, allowed)
        return sorted(fits, key=lambda found: self.length(found) + self.pure_number_bits(found))

    def fitted_one(self, expression: Expression) -> Fit:
        """Fitted to the end, and written as it should be."""
        look = FitSettings(method=self.settings.fit_method)
        found = with_canonical_formula(self.fit(expression, look), self.rows.used)
        self.length(found)  # is known then, also where this was done ahead
        return found

    def simpler(self, archive: Archive, fits: list[Fit]) -> list[Fit]:
        """Simpler formulas that are not among those to choose from, there to be seen beside them."""
        known = {skeleton(found.expression) for found in fits}
        most = max((found.expression.complexity for found in fits), default=0)
        forms = [candidate.expression for candidate in archive.front() if candidate.expression.complexity < most]
        forms = [form for form in forms if skeleton(form) not in known]
        if archive.exact:
            forms = forms[-SIMPLER:]
        return self.each(Finish.first_look, self, forms)

    def first_look(self, expression: Expression) -> Fit:
        return with_canonical_formula(self.fit(expression, FIRST_LOOK), self.rows.used)

    def length(self, found: Fit, noise: float = 0.0) -> float:
        """The description length; to what is not exact, poles and waves that the rows do not show are added. All that
        is exact is so alike: rounding errors do not choose between a law and the same law with a pole far away."""
        key = found.expression, noise
        if key not in self.known_lengths:
            exact = found.mse <= self.rows.no_error
            visible = max(noise, self.no_error) if exact else noise
            length = description_length(found, self.rows.used, noise=visible) + cost_bits(found.expression, self.costs)
            if not exact and math.isfinite(length) and self.settings.between_rows:
                length += self.rows.between.penalty(found.expression)
            self.known_lengths[key] = length
        return self.known_lengths[key]

    def length_with_units(self, found: Fit) -> float:
        return self.length(found, self.settings.snapping.noise) + self.pure_number_bits(found)

    def pure_number_bits(self, found: Fit) -> float:
        """What it takes to say that columns are pure numbers, where a formula needs that and is not exact; nothing
        where units were told."""
        if self.rules.units is not None or found.mse <= self.rows.no_error or not math.isfinite(found.mse):
            return 0.0
        return PURE_NUMBERS if pure_numbers(found.expression, self.rows.used.columns) else 0.0

    def is_shown(self, found: Fit) -> bool:
        """Whether the rows show what it does between them: a phase that was rounded to 0 may leave a wave that they do
        not show."""
        return math.isfinite(self.length(found))

    def equations(self, known: Iterable[tuple[Fit, float, str]]) -> dict[Equation, Fit]:
        """Those that may be chosen, each form and each formula once: what differs in rounding alone is one law."""
        fine = [entry for entry in known if math.isfinite(entry[0].mse) and self.may_be(entry[0].expression)]
        fine = [entry for entry in fine if math.isfinite(entry[1])] or fine
        found: dict[str, tuple[Equation, Fit]] = {}  # by formula
        seen: set[str] = set()
        for one, length, form in sorted(fine, key=lambda entry: entry[1]):
            text = str(one.expression)
            earlier = found[text][0] if text in found else None
            if earlier is not None and (earlier.free_form is not None or one.before_rounding is None):
                continue
            length = length if earlier is None else earlier.description_length
            equation = Equation.of(one, self.rows.used, length=length, costs=self.costs)
            same = {form, text, skeleton(equation.free_form or one.expression)}
            verdicts = () if seen & same else self.rules.verdicts(one.expression)
            if earlier is not None and equation.free_form is not None:  # says more of the same formula
                found[text] = replace(equation, shape=earlier.shape), one
            elif not seen & same and all(verdict.holds for verdict in verdicts):
                found[text] = replace(equation, shape=tuple(map(str, verdicts))), one
            seen |= same
        return dict(found.values())

    def may_be(self, expression: Expression) -> bool:
        """Whether it is allowed, has the shapes that are wanted, and the rows are enough for its constants."""
        enough = len(expression.constants) <= self.rows.most_constants
        return enough and self.rules.allow(expression) and self.rules.has_shape(expression)

    def may_be_written(self, expression: Expression) -> bool:
        """Whether it has only the operators that there are, and the units allow it: a constant that carries one is not
        rounded to a pure number."""
        sound = self.rules.units is None or is_sound(expression, self.rules.units)
        return sound and self.rules.vocabulary.has(expression)

    def front(self, equations: dict[Equation, Fit], linear_ones: tuple[Fit, ...]) -> tuple[Fit, Front]:
        """The chosen equation's fit, and the front with the error on held-out rows."""
        if not equations:
            sound = " and is dimensionally sound" if self.rules.units is not None else ""
            raise NothingFoundError(
                f"no formula was found that keeps max_complexity and the constraints{sound}; relax them, or allow more "
                "time"
            )
        by = criterion_of(self.settings.selection, holds_out=self.rows.holds_out)
        if by == "heldout":
            equations = {self.with_heldout(equation): found for equation, found in equations.items()}
        chosen = self.believed(equations, linear_ones, by)
        kept = front(list(equations), keep=chosen)
        if chosen.loss <= self.rows.no_error:  # what is longer than an exact formula only fits the rounding
            kept = [equation for equation in kept if equation.complexity <= chosen.complexity]
        shown = Front(tuple(self.each(Finish.with_heldout, self, kept)), kept.index(chosen))
        shown = chosen_by(self.settings.selection, shown)
        return equations[kept[shown.chosen]], replace(shown, ties=self.ties(shown))

    def ties(self, shown: Front) -> tuple[int, ...]:
        """The rows that the data hardly tell from the chosen one: their descriptions are about as long, and leaving
        rows out does not show that they predict these worse. An exact formula has none."""
        best = shown.best
        near = [i for i, e in enumerate(shown) if i != shown.chosen and is_near_tie(e, best)]
        if best.loss <= self.rows.no_error or not near:
            return ()
        error = self.left_out(best)
        return tuple(i for i in near if not predicts_better(error, self.left_out(shown[i])))

    def left_out(self, equation: Equation) -> Array:
        """Its squared error in each row that is used, when fitted without it."""
        return left_out(equation.free_form or equation.expression, self.rows.used)

    def believed(self, equations: dict[Equation, Fit], linear_ones: tuple[Fit, ...], by: str) -> Equation:
        """The best by a criterion; by accuracy, of exact ones the simplest. The shortest description is not believed
        where leaving rows out shows that the linear or the quadratic model, or a formula whose description is hardly
        longer, predicts them better, or where nothing but its own rows speaks for it: then it is the next that holds
        out against these."""
        if by == "accuracy":  # an error that counts as none is no reason for a longer formula
            exact = [equation for equation in equations if self.rows.is_exact(equation.loss)]
            return min(exact, key=lambda equation: equation.complexity) if exact else choose(equations, by)
        chosen = choose(equations, by)
        if by != "mdl" or chosen.loss <= self.rows.no_error:
            return chosen
        ranked = sorted(equations, key=lambda equation: (equation.description_length, equation.complexity))
        errors = {equation: self.left_out(equation) for equation in ranked}
        rivals = [left_out(found.expression, self.rows.used) for found in linear_ones]
        rivals += [errors[equation] for equation in ranked if is_near_tie(equation, chosen)]
        if linear_ones and (quadratic := left_out_by_quadratic(self.rows.used)) is not None:
            rivals.append(quadratic)
        unbeaten = [e for e in ranked if not any(predicts_better(rival, errors[e]) for rival in rivals)]
        supported = (e for e in unbeaten if not self.rests_on_own_rows(e, np.isnan(errors[e]), unbeaten))
        return next(supported, chosen)

    def rests_on_own_rows(self, equation: Equation, own: NDArray[np.bool_], others: Iterable[Equation]) -> bool:
        """Whether all that speaks for an equation are rows that have a constant of it nearly to themselves: without
        these, a formula of fewer constants takes fewer bits. A pole can be put through any row."""
        used = self.rows.used
        if not own.any() or own.all() or not used.loss.quadratic:
            return False
        count = len(equation.covariance)

        def length(one: Equation) -> float:
            error = (used.y - one.predict(used.columns))[~own] ** 2
            rest = used.take(np.flatnonzero(~own))
            without_residuals = one.description_length - float(residual_bits(used.rows, one.loss))
            return without_residuals + float(residual_bits(rest.rows, rest.mean(error)))

        here = length(equation)
        return any(length(other) < here for other in others if len(other.covariance) < count)

    def with_heldout(self, equation: Equation) -> Equation:
        """With the R² on held-out rows of the same form, fitted without them; nan where no rows are held out, or no
        time is left."""
        if not self.rows.holds_out or not self.seconds_left() > 0:
            return equation
        fitted = fit(equation.expression, self.rows.train, settings=SECOND_LOOK)
        return replace(equation, heldout_r2=measure(fitted.expression, self.rows.held).r2)

    def on_all_rows(self, best: Fit, shown: Front) -> tuple[Fit, Front]:
        """The last fit, of the best on all rows; the others as they are, with their errors on all rows. Where there is
        no time for this, all stay as they are."""
        every, before = self.rows.every, self.seconds_left()
        if not before > 0:
            return best, shown
        found = measure(best.expression, every)
        # Seconds that it takes to look at a formula in all rows.
        one = before - self.seconds_left() if math.isfinite(before) else 0.0
        if self.seconds_left() < one * len(shown):
            return best, shown
        others, ties = [], []
        for i, equation in enumerate(shown):
            if i != shown.chosen:
                error = measure(equation.expression, every)
                others.append(replace(equation, loss=error.mse, r2=error.r2))
                ties += others[-1:] if i in shown.ties else []
        derivatives = 1 + len((best.before_rounding or best.expression).constants)
        if self.seconds_left() > EVALUATIONS * one * derivatives:
            found = self.last_fit(best, found)
            look = FitSettings(time_limit=max(self.seconds_left(), one))
            length = shown.best.description_length
            chosen = Equation.of(found, every, length=length, look=look, costs=self.costs)
            chosen = replace(chosen, shape=tuple(map(str, self.rules.verdicts(found.expression))))
        else:
            chosen = replace(shown.best, loss=found.mse, r2=found.r2)
            found = best
        chosen = replace(chosen, heldout_r2=shown.best.heldout_r2)
        kept = front([*others, chosen], keep=chosen)
        return found, Front(tuple(kept), kept.index(chosen), ties=tuple(i for i, e in enumerate(kept) if e in ties))

    def last_fit(self, best: Fit, as_it_is: Fit) -> Fit:
        """The best formula fitted on all rows, with its constants rounded once more if that is shorter. A third of the
        time that is left each for the rounding, the fit of what was rounded, and that of the formula before."""
        every, snapping = self.rows.every, self.settings.snapping
        before = best.before_rounding or best.expression
        part = some_rows(every, ROWS_TO_ROUND, self.settings.seed)
        third = self.seconds_left() / 3
        deadline = time.monotonic() + third
        again = snap(before, part, settings=snapping, deadline=deadline, allow=self.may_be_written)
        fits = [fit(form, every, settings=FitSettings(time_limit=third)) for form in (again.expression, before)]
        fits = [replace(one, before_rounding=before) for one in (*fits, as_it_is) if self.may_be(one.expression)]
        return min(fits, key=lambda one: description_length(one, every, noise=snapping.noise), default=as_it_is)


def front_of(data: Dataset, formulas: tuple[Expression, ...], settings: SearchSettings) -> Front:
    """The front of some formulas, fitted but not rounded, and chosen from as a search would."""
    finish = Finish(Rows.of(data.with_loss(settings.loss), settings), settings.rules(columns=data.columns), settings)
    used = finish.rows.used
    linear_ones = linear_models(used)
    fits = [with_canonical_formula(fit(formula, used), used) for formula in formulas]
    return finish.front(finish.equations(finish.plain([*fits, *linear_ones])), linear_ones)[1]


@lru_cache(maxsize=1024)  # more than there are to choose from: each is asked for several times
def skeleton(expression: Expression) -> str:
    """What formulas that differ in their free constants alone share."""
    return canonical_and_skeleton(expression)[1]
