"""The search: propose, fit, record, stop.

Stages propose formulas (`stages`), the fitter fits them and puts them into the archive (`fitting`, `archive`), until a
formula is exact, what is left looks like noise, or a limit is reached (`stopping`); then the best are rounded, and one
is chosen (`finish`).

>>> from prunesymnet.data import make_dataset
>>> import numpy as np
>>> x = np.linspace(-3, 3, 60)
>>> found = search(make_dataset(x, x**2 / 2 - x, names=["x"]))
>>> print(found.best.expression, "|", found.status.value)
x**2/2 - x | found a formula that is exact on held-out rows
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Self

import numpy as np

from prunesymnet.bank.query import Proposal, in_parts
from prunesymnet.coefficients import Fit
from prunesymnet.data import Dataset, distinct_rows
from prunesymnet.data.losses import AUTO, ROBUST
from prunesymnet.equations import Equation, Front
from prunesymnet.errors import NothingFoundError
from prunesymnet.expression import Constant, Expression
from prunesymnet.operators import select_operators
from prunesymnet.search.ahead import Ahead, allowed, no_check, unexplained_of
from prunesymnet.search.archive import Archive, Candidate
from prunesymnet.search.columns import SeenColumns, names_in
from prunesymnet.search.constraints import Rules
from prunesymnet.search.contexts import Contexts
from prunesymnet.search.error_kinds import ALIKE, KINDS, ErrorKind
from prunesymnet.search.fewer_columns import (
    BEFORE_NOISE,
    SCREENING,
    SearchesFewerColumns,
    any_stage,
    is_quick,
    is_slow,
)
from prunesymnet.search.finish import Finish
from prunesymnet.search.fitting import Fitter, Known
from prunesymnet.search.guesses import fitted_guess, read_guesses
from prunesymnet.search.linear_model import linear, simplest_forms, telling_columns, varying
from prunesymnet.search.result import SearchResult, Start, Update, Watcher
from prunesymnet.search.rows import Rows
from prunesymnet.search.settings import PRESETS, SearchSettings, SearchStatus
from prunesymnet.search.stages import Batch, Context, Stage, Training, When
from prunesymnet.search.stages.base import SAYS_SOMETHING, Part, one_by_one
from prunesymnet.search.stages.networks import NETWORKS, network_of
from prunesymnet.search.stopping import (
    MAY_BE_LEFT,
    TO_SPARE,
    LimitReached,
    Limits,
    Patience,
    Progress,
    is_short,
    looks_like_noise,
    no_more_time,
    stands_alone,
)
from prunesymnet.search.threads import one_matrix_thread
from prunesymnet.search.trying_kinds import TriesKinds
from prunesymnet.search.waiting import AT_ONCE, Waiting
from prunesymnet.search.workers import Workers
from prunesymnet.structure import Reduction
from prunesymnet.structure.relevance import Relevant
from prunesymnet.units import find_groups, units_of_constants

KINDS_ASKED = 4  # times in a level: whether errors are of another kind takes a tenth of a second
FITS_AT_A_TIME = 16  # of those that waited, between two looks at whether to stop


def search(
    data: Dataset,
    settings: SearchSettings | str = "default",
    *,
    watch: Watcher | None = None,
    start: Start | None = None,
    fresh: Dataset | None = None,
    clock: Callable[[], float] = time.monotonic,
    more_time: Callable[[], float] = no_more_time,
) -> SearchResult:
    """The best formula for the data; `settings` may be the name of a preset, `watch` is told how it goes, and `start`
    is where an earlier search had come. Rows that are `fresh` are only there to say when to stop: a formula ends the
    search if it is exact on them, too. Time is what `clock` says it is, in seconds, and the time limit is longer by
    what `more_time` says, which is asked again and again.

    A limit, Ctrl-C, and a watcher that raises StopIteration end the search with the best formula so far.
    """
    if not isinstance(data, Dataset):
        raise TypeError(f"data must be a Dataset (see make_dataset and read_table), got {type(data).__name__}")
    if not isinstance(settings, SearchSettings | str):
        raise TypeError(f"settings must be SearchSettings or a preset's name, got {type(settings).__name__}")
    if isinstance(settings, str):
        if settings not in PRESETS:
            raise ValueError(f"a preset must be one of {', '.join(PRESETS)}, got {settings!r}")
        settings = PRESETS[settings]
    if fresh is not None and (not isinstance(fresh, Dataset) or not set(data.names) <= set(fresh.names)):
        raise TypeError("fresh must be a Dataset with all columns of the data, or None")
    if settings.template is not None:
        raise ValueError("a template is searched by search_templates, not by search")
    if settings.constants_per is not None:
        raise ValueError("constants_per needs the columns of a table's categories: use the estimator or `runs.run`")
    limits = Limits.start(settings, clock, more_time)
    start = start or Start()
    settings.constraints.check(data.names, tuple(select_operators(settings.operators)))
    guesses = read_guesses(settings, data.names)
    data = distinct_rows(data)
    data.check_sizes()  # of the rows that count
    loss = settings.loss if data.weights is None or settings.loss != "auto" else "squared"  # weights say how errors are
    needed = {*settings.constraints.requires, *names_in((*start.formulas, *guesses))}
    seen = SeenColumns.of(data, settings, needed)
    rules = settings.rules(columns=data.columns, put_back=seen.put_back)
    data = seen.data.with_loss(loss)
    # A candidate that overflows or leaves its domain is poor, and no reason for a warning.
    with one_matrix_thread(), np.errstate(all="ignore"):
        rows = Rows.of(data, settings, None if fresh is None else seen.shifted(fresh))
        return _Search(rows, settings, rules, watch, start, limits, seen, tuple(map(seen.taken_in, guesses))).run()


class _Search(SearchesFewerColumns, TriesKinds):
    """The state of a search: the archive, the proposals that wait, and how far it has come."""

    def __init__(
        self,
        rows: Rows,
        settings: SearchSettings,
        rules: Rules,
        watch: Watcher | None,
        start: Start,
        limits: Limits,
        seen: SeenColumns,
        guesses: tuple[Expression, ...] = (),
        workers: Workers | None = None,
    ) -> None:
        self.limits, self.seen, self.told, self.guesses = limits, seen, watch, guesses
        self.workers = workers or Workers(settings.workers)
        start, watch = seen.start(start), seen.watcher(watch)
        seed = settings.training.seed + start.again
        self.settings = settings = replace(settings, training=replace(settings.training, seed=seed))
        self.network = network_of(rows.every.names, settings)
        self.units = settings.units_of(rows.every.names, rows.every.target)
        self.groups = None
        if self.units is not None and self.units.coherent and not seen.origins:
            self.groups = find_groups(self.units, rows.every.columns)
        self.contexts = Contexts(settings, self.units, self.groups, self.check, self.ask)
        self.rows, self.rules = rows, replace(rules, units=self.units)
        self.as_given = rows.every  # whatever kind of errors the rows are counted with later
        self.archive = Archive(self.rows, settings.constraints.costs)
        self.fitter = Fitter(self.rows, self.rules, self.archive, settings.fits_per_form, settings)
        first = tuple(filter(self.rules.allow, start.formulas))
        self.ahead = Ahead(self.workers, self.fitter)
        self.finish = Finish(
            self.rows, self.rules, settings, first, self.seconds_to_finish, seen.first, self.ahead.each
        )  # fmt: skip
        self.waiting, self.patience = Waiting(self.rows.train.rows, known=self.fitter.known.lengths), Patience()
        self.watch, self.levels, self.scored = watch, start.levels, 0
        self.training: Training | None = None
        self.structure: dict[str, Reduction] = {}
        self.relevant = Relevant()
        self.columns: tuple[str, ...] = ()  # all that are searched
        self.errors: ErrorKind = ALIKE
        self.other_kinds = [
            kind for name, kind in KINDS.items()
            if rows.every.loss == AUTO and name in settings.auto_losses and kind.is_possible(rows.used)
        ]  # fmt: skip
        # Where it is in doubt whether errors are of this kind: the bits to beat, or slow stages are not run.
        self.to_beat: float | None = None

    def run(self) -> SearchResult:
        self.workers.check = self.check
        try:
            status = self.until_it_ends()
            if self.workers.busy:  # with what nobody wants any more: what is left to do would have to wait for it
                self.workers.close()
            self.workers.check = no_check  # it has a time of its own
            return self.ended(status)
        finally:
            self.workers.close()

    def ended(self, status: SearchStatus) -> SearchResult:
        """What was found until then."""
        if self.archive.best is None:
            self.linear_model()  # nothing else was found
        if status is SearchStatus.INTERRUPTED:  # someone waits
            self.finish = replace(self.finish, seconds_left=lambda: 0.0)
        best = self.best
        try:
            if not status.is_by_hand and self.seconds_to_finish() > TO_SPARE:
                self.alike_after_all()
                self.without_needless_operators()
                best = self.best
            if self.settings.remove_operators and (self.archive.exact or self.settings.pruner != "exhaustive"):
                self.archive.best = self.fitter.shrink(best)
            if self.errors is not ALIKE and not self.archive.exact and (chosen := self.chosen) is not None:
                self.finish = replace(self.finish, rows=self.errors.to_finish(self.rows, chosen), known_lengths={})
            found, front = self.finish.choose(self.archive)
        except KeyboardInterrupt:  # even now, what has been found is returned
            status = SearchStatus.INTERRUPTED
            if not self.finish.may_be(best.expression):
                raise NothingFoundError("interrupted before a formula was found that is allowed") from None
            found, front = best.fit, Front((Equation.of(best.fit, self.rows.train),), 0)
        return self.result(found, front, self.rows.exact_status if self.archive.exact else status)

    def without_needless_operators(self) -> None:
        """Fit what is simpler by an operator than the shortest description, as long as that is shorter still: a wave of
        next to no frequency is a line, and may have been the best of its size all the same."""
        if self.archive.exact or self.settings.pruner != "exhaustive":
            return
        before, ranked = None, self.archive.by_length()
        while ranked and ranked[0] is not before and self.seconds_to_finish() > TO_SPARE:
            before = ranked[0]
            self.fitter.with_an_operator_less(before)
            ranked = self.archive.by_length()

    def until_it_ends(self) -> SearchStatus:
        """Run all stages; why they ended."""
        try:
            self.begin()
            return SearchStatus.EXACT if self.archive.exact else self.stages()
        except LimitReached as limit:
            return limit.status
        except KeyboardInterrupt:
            return SearchStatus.INTERRUPTED
        except StopIteration:
            return SearchStatus.STOPPED

    def begin(self) -> None:
        """With the linear model, unless it is not wanted, the formulas of an earlier search, and the user's guesses."""
        if self.settings.linear_model:
            self.linear_model()
        for expression in self.finish.first_formulas:
            self.fitter.improve(self.fitter.candidate(expression, "start"))
        for guess in self.guesses:
            for form in fitted_guess(guess, self.rows.train):
                self.fitter.propose(Proposal(form, 1.0), None, "start")

    def linear_model(self) -> None:
        """The linear model and a constant, or the simplest that is allowed."""
        names = self.seen.first or varying(self.rows.every)
        forms = simplest_forms(names, self.settings.constraints.requires)
        if self.groups is not None:  # the product of columns that has the target's unit
            forms.insert(-1, self.groups.put_back(Constant(1.0)))
        allowed = [form for form in forms if self.finish.may_be(form)]
        self.archive.set_best(self.fitter.candidate((allowed or forms)[0], "linear"))
        self.fitter.candidate(forms[-1], "constant")
        if 1 < len(telling := telling_columns(self.rows.train.only(names))) < len(names):
            self.fitter.propose(Proposal(linear(telling), 1.0), None, "linear")

    def stages(self) -> SearchStatus:
        """The paper's stage, or ours with banks, level by level; why they ended."""
        exhaustive, first = self.settings.exhaustive, self.levels
        contexts = self.contexts.all(self.rows, self.archive)
        if self.settings.pruner != "exhaustive":
            context = replace(contexts[-1], stages=(NETWORKS,), ask=one_by_one)
            return SearchStatus.EXACT if self.take(context.run(When.START), context) else SearchStatus.MAX_EPOCHS
        if self.groups is not None and not self.groups.columns and (ended := self.one_product(contexts[-1])):
            return ended
        many = self.units is None and not self.has_few_columns(contexts[0])
        if many:
            self.ask_which_matter(contexts[0])
        if self.first_stages(contexts):
            return SearchStatus.EXACT
        self.columns = tuple(contexts[-1].problem.columns)
        fewer = self.narrowed(contexts[0]) if many else []
        if fewer is None:
            return SearchStatus.EXACT
        contexts = [*fewer, *contexts]
        progress = Progress(self.archive.shortest())
        for level in range(first, exhaustive.levels):
            archive = self.archive
            for k, context in enumerate(contexts):
                last, alone = k == len(contexts) - 1, len(contexts) == 1
                ended = self.level(context, level, progress, last=last, alone=alone)
                if ended is not None:
                    return ended
                if self.archive is not archive:  # errors are counted in another way now, and that level is done
                    contexts = self.contexts.again(contexts, self.rows, self.archive)
                    progress.length = self.archive.shortest()
                    break
        return SearchStatus.EXACT if self.archive.exact else SearchStatus.FINISHED

    def one_product(self, context: Context) -> SearchStatus | None:
        """Where the units leave one formula with a pure number, a product of powers of the columns: why that ends the
        search (None: it does not)."""
        assert self.groups is not None  # noqa: S101 - asked for where there are some
        self.fitter.improve(self.fitter.candidate(self.groups.put_back(Constant(1.0)), "units"))
        if self.is_over("units"):
            return SearchStatus.EXACT
        if self.is_noise_left(context, Progress(self.archive.shortest()), last=True):
            return SearchStatus.NOISE_FLOOR
        return None if self.units is not None and self.units.constants else SearchStatus.FINISHED

    def level(
        self, context: Context, level: int, progress: Progress, *, last: bool, alone: bool
    ) -> SearchStatus | None:
        """One level of a context; why it ends the search (None: it does not). Unless it is the `last` context, that
        nothing better was found in it says something only of a formula that could have been found in it. If it is
        `alone`, its next level comes next."""
        context = self.refocused(context, level)
        here = self.ahead.at(context, level)
        seen: list[Expression] = []
        otherwise: list[SearchStatus] = []
        wanted: Callable[[Stage], bool] = any_stage
        # Where it is in doubt whether errors are of this kind, there is no time for that.
        asks = level == 0 and alone and self.units is None and self.to_beat is None
        if asks and self.has_few_columns(here):
            if self.take(here.run(When.LEVEL, wanted=is_quick), here):
                return SearchStatus.EXACT
            archive, wanted = self.archive, is_slow
            ended = self.of_fewer(here, progress)
            if ended is not None or self.archive is not archive:  # errors are counted in another way now
                return ended
        batches = self.unless_noise(here.run(When.LEVEL, wanted=wanted), here, seen, otherwise)
        if self.take(batches, here, self.settings.exhaustive.fits):
            return SearchStatus.EXACT
        self.levels = level + 1
        if otherwise:
            return None if SearchStatus.FINISHED in otherwise else otherwise[0]
        if not self.archive.exact and (seen or self.is_noise_left(here, progress, last=last)):
            # Errors that are shares may hide the law in the rows of small values.
            status = self.with_other_errors(search=True) or SearchStatus.NOISE_FLOOR
            return None if status is SearchStatus.FINISHED else status
        if (
            alone
            and self.units is None
            and self.rows.used.loss.quadratic
            and level + 1 < self.settings.exhaustive.levels
        ):
            self.ahead.soon(context, level + 1)
        if self.take(here.run(When.AFTER_LEVEL), here):
            return SearchStatus.EXACT
        if last and not self.archive.exact and self.leaves_noise(here, self.chosen, may_be_left=MAY_BE_LEFT):
            status = self.with_other_errors(search=True) or SearchStatus.NOISE_FLOOR
            return None if status is SearchStatus.FINISHED else status
        ended = self.with_other_errors() if last else None
        return None if ended is SearchStatus.FINISHED else ended

    def unless_noise(
        self,
        batches: Iterable[tuple[Stage, Batch]],
        context: Context,
        seen: list[Expression],
        otherwise: list[SearchStatus],
    ) -> Iterator[tuple[Stage, Batch]]:
        """The batches of a level, until what is left of a short formula looks like noise: that is then `seen`. Slow
        stages could only find what is longer and as good. Where errors may well be of another kind, the level is
        searched with such errors first, as far as its quick stages if no formula fits with these; if they describe the
        rows better, how that ended is in `otherwise`."""
        before, refuted = None, set[Expression]()
        for stage, batch in batches:
            if self.is_given_up(stage):
                otherwise.append(SearchStatus.FINISHED)
                self.waiting.proposals.clear()
                return
            now = stage is not before or stage.parts is not None  # those take long
            judged = now and stage.name not in BEFORE_NOISE and not self.archive.exact
            if judged and (ranked := self.archive.by_length()):
                best, level = ranked[0], context.budget.level
                if best.expression not in refuted:
                    asked = stage is not before and len(refuted) < KINDS_ASKED
                    kinds = self.suspected_kinds(best, level, first=not refuted) if asked else []
                    # What outliers leave of a formula that they have led may look like noise, too.
                    misled = any(kind.loss == ROBUST for kind in kinds)
                    if not misled and (law := self.law_in_noise(best, context)) is not None:
                        seen.append(law.expression)
                        kinds = []
                    ended = (self.with_errors(kind, search=True, levels=level + 1, in_doubt=True) for kind in kinds)
                    otherwise.extend(islice((status for status in ended if status is not None), 1))
                    if seen or otherwise:
                        self.waiting.proposals.clear()
                        return
                    refuted.add(best.expression)
            before = stage
            yield stage, batch

    def law_in_noise(self, best: Candidate, context: Context) -> Candidate | None:
        """The formula of the shortest description, if it is short, or far ahead of all others, and what it leaves looks
        like noise; one that is simpler by an operator, if that is shorter still."""
        alone = stands_alone(best, self.archive)
        if not (alone or is_short(best.expression)):
            return None
        while self.leaves_noise(context, best.fit, may_be_left=MAY_BE_LEFT if alone else None):
            self.fitter.with_an_operator_less(best)
            self.check()
            shorter = self.archive.by_length()[0]
            if shorter is best:
                return best
            best = shorter
        return None

    def other_with(self, kind: ErrorKind, levels: int) -> Self:
        """A search of the same rows with errors of that kind, which begins with the formulas so far, and has so many
        levels."""
        rows = Rows.of(self.as_given.with_loss(kind.loss), self.settings, self.rows.fresh)
        exhaustive = replace(self.settings.exhaustive, levels=levels)
        formulas = tuple(self.seen.put_back(candidate.expression) for candidate in self.archive.front())
        settings = replace(self.settings, exhaustive=exhaustive)
        other = type(self)(
            rows, settings, self.rules, self.told, Start(formulas), self.limits, self.seen, workers=self.workers
        )
        other.errors = kind
        other.archive.fits, other.archive.refused, other.scored = self.archive.fits, self.archive.refused, self.scored
        other.structure |= self.structure
        return other

    def is_noise_left(self, context: Context, progress: Progress, *, last: bool) -> bool:
        """Whether what the formula of the shortest description leaves looks like noise."""
        chosen = self.chosen
        judged = last or (chosen is not None and self.contexts.is_pure(chosen.expression))
        settled = judged and progress.is_settled(self.archive.shortest())
        # All that is as short has been looked at then.
        short = judged and chosen is not None and is_short(chosen.expression)
        return self.leaves_noise(context, chosen, settled=settled, may_be_left=MAY_BE_LEFT if short else None)

    def leaves_noise(
        self, context: Context, chosen: Fit | None, *, settled: bool = False, may_be_left: float | None = None
    ) -> bool:
        """Whether what a formula leaves looks like noise, in all columns: the columns that seem to matter may have left
        out one that does."""
        columns = self.columns if self.units is None else ()
        return looks_like_noise(context, chosen, columns, settled=settled, may_be_left=may_be_left)

    @property
    def chosen(self) -> Fit | None:
        """The formula of the shortest description."""
        return next(iter(self.finish.fitted(self.archive)), None)

    def refocused(self, context: Context, level: int) -> Context:
        """With the rows weighted by how far they are from the best formula, where the loss is not the squared one: the
        scan is by squares. Where none says much after a level, the law may be in the rows that were left out."""
        loss = self.rows.used.loss
        if loss.quadratic:
            return context
        says_something = self.archive.best is not None and self.best.fit.r2 >= 1 - SAYS_SOMETHING
        if not (says_something or (level and loss.rejects)):
            return context
        self.rows = self.archive.rows = self.rows.around(self.best.expression if says_something else None)
        self.fitter = replace(self.fitter, rows=self.rows, known=Known(lengths=self.waiting.known))
        self.finish = replace(self.finish, rows=self.rows, known_lengths={})
        return self.contexts.with_rows(context, self.rows)

    def ask(self, parts: Iterator[Part]) -> Iterator[tuple[Part, Batch]]:
        return self.ahead.ask(parts)

    def take(self, batches: Iterable[tuple[Stage, Batch]], context: Context, then_fit: int = 0) -> bool:
        """Fit what the stages propose: at once what seems exact as it stands and what looks best, and so many of the
        rest when all are through. Whether an exact formula ends the search."""
        self.ahead.now(self.fitter, context.problem)
        for stage, batch in batches:
            self.scored += batch.scored
            self.structure |= {str(reduction): reduction for reduction in batch.structure}
            self.training = batch.training or self.training
            if batch.pruned:
                for proposal, pruned in zip(batch.proposals, batch.pruned, strict=True):
                    self.fitter.consider(proposal.expression, stage.name, pruned=pruned)
            else:
                proposals = self.allowed(batch.proposals, context)
                unexplained = unexplained_of(context.problem, self.fitter.known)
                self.fit(stage.name, self.waiting.add(stage.name, proposals, unexplained), context)
            if self.is_over(stage.name):
                return True
            if batch.then_fit and self.fit_waiting(batch.then_fit, context):
                return True
        return then_fit > 0 and self.fit_waiting(then_fit, context)

    def allowed(self, proposals: list[Proposal], context: Context) -> list[Proposal]:
        fine = allowed(proposals, context.problem, self.rules, self.fitter)
        self.archive.refused += len(proposals) - len(fine)
        return fine

    def fit_waiting(self, count: int, context: Context) -> bool:
        """Fit so many of those that wait, and give up the rest; whether an exact formula ends the search."""
        taken = self.waiting.take(count, unexplained_of(context.problem, self.fitter.known))
        ahead = self.ahead.fits([proposal for _, proposal in taken])
        for part in in_parts(taken, FITS_AT_A_TIME):
            for stage, proposal in part:
                next(ahead, None)
                self.fit(stage, [proposal], context)
            if self.is_over("fits"):
                return True
        return False

    def fit_first(self, proposals: list[Proposal], context: Context) -> None:
        """Fit the most promising of what was found while columns are still being chosen."""
        self.fit(SCREENING.name, proposals[:AT_ONCE], context)

    def fit(self, stage: str, proposals: Iterable[Proposal], context: Context) -> None:
        for proposal in proposals:
            first = None if proposal.rows is None else context.problem.data.take(proposal.rows)
            self.fitter.propose(proposal, context.problem, stage, first=first)
            self.check()

    def seconds_to_finish(self) -> float:
        """Until the last fits and the rounding must have ended."""
        return self.limits.time_limit + TO_SPARE - self.limits.seconds

    def is_over(self, stage: str) -> bool:
        """Tell the watcher, look at the limits, and say whether an exact formula ends the search."""
        if self.watch and self.archive.best and self.finish.may_be(self.best.expression):
            losses = self.training.losses if self.training else []
            self.watch(
                Update(
                    stage=stage,
                    seconds=self.limits.seconds,
                    fits=self.archive.fits,
                    best=self.best,
                    epoch=len(losses),
                    loss=losses[-1] if losses else math.nan,
                    front=tuple(self.archive.front()),
                    levels=self.levels,
                    scored=self.scored + self.archive.fits,
                    structure=self.structure_found(),
                )
            )
        self.check()
        return self.patience.is_over(self.archive)

    def structure_found(self) -> tuple[Reduction, ...]:
        """What was found of the table's structure, in its own terms."""
        target, put_back = self.rows.every.target, self.seen.put_back
        return tuple(one.mapped(put_back).of(target) for one in self.structure.values())

    def check(self) -> None:
        fits = self.archive.fits + self.archive.refused
        self.limits.check(fits, self.scored + fits)

    @property
    def best(self) -> Candidate:
        assert self.archive.best is not None  # noqa: S101 - asked for where there is one
        return self.archive.best

    def with_units(self, equation: Equation) -> Equation:
        """An equation with the units of its constants."""
        assert self.units is not None  # noqa: S101 - asked for where there are some
        return replace(equation, units=units_of_constants(equation.free_form_as_written, self.units))

    def result(self, found: Fit, front: Front, status: SearchStatus) -> SearchResult:
        training = self.training or Training(self.network)
        if self.units is not None:
            front = replace(front, equations=tuple(map(self.with_units, front)))
        front, put_back = self.seen.front(front), self.seen.put_back
        improvements = tuple((epoch, str(put_back(e)), error) for epoch, e, error in self.archive.improvements)
        return SearchResult(
            best=self.seen.fit(found),
            status=status,
            epochs=len(training.losses),
            seconds=self.limits.seconds,
            candidate=self.seen.candidate(self.best),
            network=self.network,
            losses=tuple(training.losses),
            prunings=tuple(training.prunings),
            improvements=improvements,
            front=replace(
                front,
                status=status.value,
                seconds=self.limits.seconds,
                fits=self.archive.fits,
                structure=self.structure_found(),
            ),
            fits=self.archive.fits,
            levels=self.levels,
        )
