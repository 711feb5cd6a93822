"""The end of a search: fit the best of each size on all rows, round the constants, and say which formula to believe."""

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any

from prunesymnet.coefficients import Fit, fit, snap
from prunesymnet.coefficients.description import description_length
from prunesymnet.coefficients.fit import measure
from prunesymnet.data import Dataset
from prunesymnet.equations import Equation, Front
from prunesymnet.errors import NothingFoundError
from prunesymnet.expression import Expression
from prunesymnet.search.archive import Archive
from prunesymnet.search.constraints import Rules
from prunesymnet.search.fitting import FIRST_LOOK, SECOND_LOOK
from prunesymnet.search.forms import with_canonical_formula
from prunesymnet.search.linear_model import linear_models, no_worse_than
from prunesymnet.search.poles import BetweenRows
from prunesymnet.search.rows import Rows, some_rows
from prunesymnet.search.settings import SearchSettings
from prunesymnet.selection import choose, front

CHOSEN_FROM = 20  # candidates that are fitted on all rows that are used: those of shortest description, roughly
ROUNDED = 5  # of these, how many are rounded before one is chosen: rounding takes many fits
ROWS_TO_ROUND = 20_000  # of a larger table: the roundings are tried on these, and judged on all rows
LEAST_PATIENCE = 0.2  # seconds: even in a hurry, some constants are rounded
SIMPLER = 8  # formulas below the exact one that are shown beside it


@dataclass(frozen=True)
class Finish:
    """What is needed to choose: the rows, what is allowed, the settings, and the formulas that the search began with,
    which may come out again as they are."""

    rows: Rows
    rules: Rules
    settings: SearchSettings
    first_formulas: tuple[Expression, ...] = ()

    def choose(self, archive: Archive, *, patience: float = math.inf) -> tuple[Fit, Front]:
        """The formula to believe, fitted on all rows and rounded, and the front that it was chosen from.

        Rounding takes at most as many seconds as there is `patience`; if there is none, the last fit on a large table
        is left out.
        """
        used, snapping = self.rows.used, self.settings.snapping
        fits = self.fitted(archive)
        linear_ones = linear_models(used)
        deadline = time.monotonic() + max(patience, LEAST_PATIENCE)
        rounded = [snap(f.expression, used, settings=snapping, deadline=deadline) for f in fits[:ROUNDED]]
        others = [measure(expression, used) for expression in self.first_formulas]
        if archive.exact:
            others += self.simpler(archive, fits)
        equations = self.equations([*rounded, *fits, *others, *linear_ones], used)
        best, shown = self.front(equations, linear_ones)
        if self.rows.used is not self.rows.every:
            best, shown = self.on_all_rows(best, shown, patience)
        return best, shown

    def fitted(self, archive: Archive) -> list[Fit]:
        """The candidates that may be chosen, fitted on all rows that are used; the shortest description first."""
        if archive.exact:
            known = [*archive.by_size.values(), *([archive.best] if archive.best else [])]
            exact = [candidate for candidate in known if archive.is_exact(candidate)]
            kept = sorted(exact, key=lambda candidate: candidate.expression.complexity)[:ROUNDED]
        else:
            kept = archive.by_length()[:CHOSEN_FROM]
        allowed = [candidate.expression for candidate in kept if self.rules.allow(candidate.expression)]
        fits = [with_canonical_formula(fit(expression, self.rows.used)) for expression in allowed]
        return sorted(fits, key=lambda found: self.length(found, self.rows.used))

    def simpler(self, archive: Archive, fits: list[Fit]) -> list[Fit]:
        """What is simpler than the exact formulas: not exact, but there to be seen."""
        least = min((found.expression.complexity for found in fits), default=0)
        forms = [candidate.expression for candidate in archive.front() if candidate.expression.complexity < least]
        fitted = (fit(form, self.rows.used, settings=FIRST_LOOK) for form in forms[-SIMPLER:])
        return [with_canonical_formula(found) for found in fitted]

    def length(self, found: Fit, data: Dataset, noise: float = 0.0) -> float:
        """The description length; to what is not exact, poles between the rows are added."""
        length = description_length(found, data, noise=noise)
        if found.mse <= self.rows.no_error or not math.isfinite(length):
            return length
        return length + self.between_rows.pole_penalty(found.expression)

    @cached_property
    def between_rows(self) -> BetweenRows:
        return BetweenRows.of(self.rows.used)

    def equations(self, fits: Iterable[Fit], data: Dataset) -> dict[Equation, Fit]:
        """Those that may be chosen, with what is known about them."""
        fine = [found for found in fits if math.isfinite(found.mse) and self.may_be(found.expression)]
        noise = self.settings.snapping.noise
        return {Equation.of(found, data, length=self.length(found, data, noise)): found for found in fine}

    def may_be(self, expression: Expression) -> bool:
        """Whether it is allowed, and the rows are enough for its constants."""
        return self.rules.allow(expression) and len(expression.constants) <= self.rows.most_constants

    def front(self, equations: dict[Equation, Fit], linear_ones: tuple[Fit, Fit]) -> tuple[Fit, Front]:
        """The chosen equation's fit, and the front with the error on held-out rows."""
        if not equations:
            raise NothingFoundError(
                "no formula was found that keeps max_complexity and the constraints; relax them, or allow more time"
            )
        by = self.settings.selection
        if by == "heldout":
            if self.rows.holds_out:
                equations = {self.with_heldout(equation): found for equation, found in equations.items()}
            else:
                by = "mdl"
        chosen = self.believed(equations, linear_ones, self.rows.used, by if isinstance(by, str) else "mdl")
        kept = front(list(equations), keep=chosen)
        if chosen.loss <= self.rows.no_error:  # what is longer than an exact formula only fits the rounding
            kept = [equation for equation in kept if equation.complexity <= chosen.complexity]
        shown = Front(tuple(map(self.with_heldout, kept)), kept.index(chosen))
        if not isinstance(by, str):
            shown = replace(shown, chosen=_row(by(shown.table()), len(shown)))
        return equations[kept[shown.chosen]], shown

    def believed(
        self, equations: dict[Equation, Fit], linear_ones: tuple[Fit, Fit], data: Dataset, by: str
    ) -> Equation:
        """The best by a criterion. If the shortest description is worse than the linear model, the data speak for
        nothing longer either, and it is the linear model, or the one without columns that it can do without."""
        chosen = choose(equations, by)
        if by != "mdl" or chosen.loss <= no_worse_than(linear_ones[0], data):
            return chosen
        return choose([equation for equation, found in equations.items() if found in linear_ones] or [chosen])

    def with_heldout(self, equation: Equation) -> Equation:
        """With the R² on held-out rows of the same form, fitted without them; nan where no rows are held out."""
        if not self.rows.holds_out:
            return equation
        fitted = fit(equation.expression, self.rows.train, settings=SECOND_LOOK)
        return replace(equation, heldout_r2=measure(fitted.expression, self.rows.held).r2)

    def on_all_rows(self, best: Fit, shown: Front, patience: float) -> tuple[Fit, Front]:
        """The last fit, of the best on all rows; the others as they are, with their errors on all rows."""
        every, used, snapping = self.rows.every, self.rows.used, self.settings.snapping
        linear_ones = linear_models(every)
        if not patience:
            fits = [measure(best.expression, every)]
        else:
            fitted, part = fit(best.expression, every), some_rows(every, ROWS_TO_ROUND, self.settings.seed)
            deadline = time.monotonic() + patience
            rounded = snap(fitted.expression, part, settings=snapping, deadline=deadline)
            fits = [rounded if part is every else fit(rounded.expression, every), fitted]
        ours = self.equations(fits if self.settings.selection != "mdl" else [*fits, *linear_ones], every)
        ours = ours or self.equations([measure(best.expression, every)], every)
        chosen = self.believed(ours, linear_ones, every, "mdl")
        length = self.length(measure(chosen.expression, used), used)  # on the rows of the others
        chosen = replace(chosen, heldout_r2=shown.best.heldout_r2, description_length=length)
        others = [equation for i, equation in enumerate(shown) if i != shown.chosen]
        errors = [measure(equation.expression, every) for equation in others]
        others = [replace(e, loss=error.mse, r2=error.r2) for e, error in zip(others, errors, strict=True)]
        kept = front([*others, chosen], keep=chosen)
        found = {equation.expression: fitted for equation, fitted in ours.items()}
        return found[chosen.expression], Front(tuple(kept), kept.index(chosen))


def front_of(data: Dataset, formulas: tuple[Expression, ...], settings: SearchSettings) -> Front:
    """The front of some formulas, fitted but not rounded, and chosen from as a search would."""
    finish = Finish(Rows.of(data.with_loss(settings.loss), settings), settings.rules(), settings)
    used = finish.rows.used
    linear_ones = linear_models(used)
    equations = finish.equations([*(fit(formula, used) for formula in formulas), *linear_ones], used)
    return finish.front(equations, linear_ones)[1]


def _row(index: Any, rows: int) -> int:
    if isinstance(index, bool) or not isinstance(index, Integral) or not 0 <= int(index) < rows:
        raise ValueError(f"the function `selection` must return a row of the front, 0 to {rows - 1}, got {index!r}")
    return int(index)
