"""What workers do ahead of its turn: parts of stages, with the fits that their proposals will get, and fits alone.

Each is a function of what travels: a context without the formulas so far, and a fitter with an empty archive. The loop
then meets numbers that are known already (`fitting.Known`), and decides as it would without.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import Proposal, in_parts
from prunesymnet.expression import Expression
from prunesymnet.search.archive import Archive, Standing
from prunesymnet.search.constraints import Rules
from prunesymnet.search.finish import Finish
from prunesymnet.search.fitting import Fitter, Known
from prunesymnet.search.forms import freed, merged_form
from prunesymnet.search.stages.base import Batch, Context, Part, When, one_by_one, put_back
from prunesymnet.search.waiting import Waiting
from prunesymnet.search.workers import Luggage, Work, Workers

FITS_OF_A_WORK = 4  # that are sent together: some ten milliseconds each
LOOK_AHEAD = 4  # parts for each process: they take from a hundredth of a second to some


def allowed(proposals: list[Proposal], problem: Problem, rules: Rules, fitter: Fitter) -> list[Proposal]:
    """Without what breaks a rule: where there are rules, it would take the place of something that is fitted."""
    if not rules.has_any:
        return proposals
    train = fitter.rows.train

    def is_allowed(formula: Expression) -> bool:
        """As it stands, or with weights, which may carry the units that it lacks."""
        forms = (formula,) if rules.units is None else (formula, freed(formula))
        return any(rules.allow(merged_form(form, train)[0]) for form in forms)

    return [one for one in proposals if is_allowed(problem.to_table(one.expression))]


def unexplained_of(problem: Problem, known: Known) -> Callable[[Proposal], float]:
    """What a proposal leaves of a problem's target, from what is known or to be known; of a column that has been given
    up since, as it says itself."""

    def unexplained(proposal: Proposal) -> float:
        formula = proposal.expression
        if not problem.has(formula):
            return proposal.unexplained
        if formula not in known.unexplained:
            known.unexplained[formula] = problem.unexplained(formula)
        return known.unexplained[formula]

    return unexplained


def make_part(
    context: Context,
    fitter: Fitter,
    problem: Problem,
    make: Callable[..., Iterable[Batch]],
    arguments: tuple[Any, ...],
    ways_back: tuple[Callable[[Batch], Batch], ...],
    standing: Standing,
) -> tuple[list[Batch], Known]:
    """The batches of a part, and what is known of their proposals then: how good and how long each is, and the fits of
    those that are fitted at once."""
    batches = [put_back(batch, ways_back) for batch in make(context, *arguments)]
    known = Known()
    waiting, unexplained = Waiting(fitter.rows.train.rows), unexplained_of(problem, known)
    for batch in batches:
        at_once = waiting.add("", allowed(batch.proposals, problem, fitter.rules, fitter), unexplained)
        known.add(fit_ahead(fitter, problem, at_once, standing))
        for proposal in batch.proposals:
            left = unexplained(proposal)
            known.lengths[proposal.expression, left] = waiting.length(replace(proposal, unexplained=left))
    return batches, known


def fit_ahead(fitter: Fitter, problem: Problem, proposals: Sequence[Proposal], standing: Standing) -> Known:
    """What fits of these proposals will need."""
    known, tries = Known(), dict[str, int]()
    for proposal in proposals:
        if proposal.rows is not None:
            continue  # is fitted on these rows first
        formulas = known.formulas[proposal.expression, proposal.exact] = fitter.formulas(proposal, problem)
        for formula in formulas:
            known.add(fitter.look_ahead(formula, tries, standing))
    return known


def _travelling(fitter: Fitter) -> Fitter:
    """With the rows that fits need, and without what was found."""
    rows = replace(fitter.rows, every=fitter.rows.used, fresh=None)
    rules = Rules(fitter.rules.constraints, fitter.rules.vocabulary, fitter.rules.max_complexity, fitter.rules.units)
    settings = replace(fitter.settings, selection="mdl")
    return Fitter(rows, rules, Archive(rows, fitter.archive.costs), fitter.fits_per_form, settings)


class _Nothing:
    """The formulas so far, for stages that do not look at them."""

    def front(self) -> list[Any]:
        return []

    def by_length(self) -> list[Any]:
        return []

    def unexplained(self, candidate: Any) -> float:
        return math.inf


def no_check() -> None:
    """Where someone else looks at the limits."""


@dataclass
class Ahead:
    """Hands out what stages and fits will need, and puts what comes back where it is looked for. `fitter` and `problem`
    are those of the loop at the time."""

    workers: Workers
    fitter: Fitter
    problem: Problem | None = None
    _luggage: dict[int, tuple[Any, Luggage]] = field(default_factory=dict)
    _next: tuple[Context, Context] | None = None

    def soon(self, context: Context, level: int) -> None:
        """Have workers begin with a level when they have nothing else to do: most likely, it comes next."""
        if not self.workers.running or context.scanner.device != "cpu":
            return
        self._next = context, context.at(level)
        for part in self._next[1].prepare(When.LEVEL):
            self._begin(part, later=True)

    def at(self, context: Context, level: int) -> Context:
        """A level of a context: the one that was begun ahead, if it was."""
        begun, self._next = self._next, None
        same = begun is not None and begun[0] is context and begun[1].budget.level == level
        return begun[1] if begun is not None and same else context.at(level)

    def now(self, fitter: Fitter, problem: Problem) -> None:
        """From now on, fits are made by this fitter, and proposals are of this problem."""
        if fitter is not self.fitter or problem is not self.problem:
            self.fitter, self.problem, self._luggage = fitter, problem, {}
            self.workers.level += 1
            fitter.known.unexplained.clear()  # of another problem, as are the formulas of its proposals
            fitter.known.formulas.clear()

    def _packed(self, here: Any, content: Callable[[], Any]) -> Luggage:
        """Once for each, as long as it is in use."""
        if id(here) not in self._luggage:
            self._luggage[id(here)] = here, self.workers.packed(content(), here if isinstance(here, Context) else None)
        return self._luggage[id(here)][1]

    def _context(self, context: Context) -> Luggage:
        def content() -> Context:
            return replace(context, archive=_Nothing(), check=no_check, ask=one_by_one)

        return self._packed(context, content)

    def _fitter(self) -> tuple[Luggage, Luggage]:
        fitter, problem = self.fitter, self.problem
        return self._packed(fitter, lambda: _travelling(fitter)), self._packed(problem, lambda: problem)

    def ask(self, parts: Iterator[Part]) -> Iterator[tuple[Part, Batch]]:
        """The batches of parts, in their order; as many of the next as the workers can use are made meanwhile."""
        waiting: list[tuple[Part, Work | None]] = []
        parts, ended = iter(parts), False
        while True:
            while not ended and len(waiting) < max(LOOK_AHEAD * self.workers.processes, 1):
                part = next(parts, None)
                ended = part is None
                if part is not None:
                    waiting.append((part, self._begin(part)))
            if not waiting:
                return
            part, work = waiting.pop(0)
            if work is not None and self.workers.done(work):
                part.made, known = work.result
                self.fitter.known.add(known)
            made = []
            for batch in part.batches():
                made.append(batch)
                yield part, batch
            part.made = made  # for those who ask again

    def _begin(self, part: Part, *, later: bool = False) -> Work | None:
        """Hand out a part, where there are workers and it can be scanned by any of them; once, if it is asked for
        again."""
        context = part.context
        if context.scanner.device != "cpu" or not self.workers.may_start((self.fitter.settings, self.fitter.rows.used)):
            return None
        if part.work is None:
            arguments = part.make, part.arguments, part.ways_back, self.fitter.archive.standing()
            part.work = Work(make_part, (self._context(context), *self._fitter()), arguments, later=later)
            if part.origin is not None:
                part.origin.work = part.work
            self.workers.hand_out(part.work)
        work: Work = part.work
        work.later = later
        return work

    def fits(self, proposals: Sequence[Proposal]) -> Iterator[None]:
        """Have proposals fitted; each step waits until the next `FITS_OF_A_WORK` are known, if anyone does it."""
        if not self.workers.may_start((self.fitter.settings, self.fitter.rows.used)):
            return
        needed, standing = self._fitter(), self.fitter.archive.standing()
        works = [Work(fit_ahead, needed, (some, standing)) for some in in_parts(proposals, FITS_OF_A_WORK)]
        for work in works:
            self.workers.hand_out(work)
        for work in works:
            if self.workers.done(work):
                self.fitter.known.add(work.result)
            for _ in range(FITS_OF_A_WORK):
                yield

    def each(self, function: Callable[..., Any], finish: Finish, formulas: Sequence[Any]) -> list[Any]:
        """A function of `Finish` for each formula."""
        starts = finish.rules.shapes is None and self.workers.may_start((self.fitter.settings, self.fitter.rows.used))
        if len(formulas) < 2 or not starts:
            return [function(finish, formula) for formula in formulas]
        rules = replace(finish.rules, put_back=_as_it_is)
        rows = replace(finish.rows, every=finish.rows.used, fresh=None)
        settings = replace(finish.settings, selection="mdl")
        travels = Finish(rows, rules, settings, seconds_left=_no_limit, linear_columns=finish.linear_columns)
        times = finish.seconds_left(), finish.deadline - time.monotonic()
        luggage = self.workers.packed(travels)
        works = [Work(finish_one, (luggage,), (function, formula, *times)) for formula in formulas]
        for work in works:
            self.workers.hand_out(work)
        results = []
        for work, formula in zip(works, formulas, strict=True):
            if self.workers.done(work):
                result, lengths = work.result
                finish.known_lengths.update(lengths)
                results.append(result)
            else:
                results.append(function(finish, formula))
        return results


def finish_one(
    finish: Finish, function: Callable[..., Any], formula: Any, seconds_left: float, until_deadline: float
) -> tuple[Any, dict[Any, float]]:
    """A function of `Finish` for one formula, and the lengths that it has met. Clocks of other machines differ, so that
    times are told in seconds from now."""
    ends = time.monotonic() + seconds_left
    here = replace(
        finish,
        seconds_left=lambda: ends - time.monotonic(),
        deadline=time.monotonic() + until_deadline,
        known_lengths={},
    )
    return function(here, formula), here.known_lengths


def _as_it_is(formula: Expression) -> Expression:
    return formula


def _no_limit() -> float:
    return math.inf
