"""What a search does where a table has columns that may not matter: choose those that do, and search these first.

A mixin, as that of kinds of errors is (`trying_kinds`).
"""

from collections.abc import Iterable
from dataclasses import replace

from prunesymnet.bank.query import Proposal
from prunesymnet.expression import Expression
from prunesymnet.search.screening import ROOM, is_sure, narrowed, relevant_columns, screen
from prunesymnet.search.settings import SearchSettings, SearchStatus
from prunesymnet.search.stages import Batch, Context, Stage, When
from prunesymnet.search.stopping import Progress
from prunesymnet.structure.relevance import Relevant

SCREENING = Stage("columns", When.START)  # what is found while columns are chosen
BEFORE_NOISE = ("groups", "pairs", "singles", "tails")  # stages of a level after which noise is looked for
# Columns of a few that do not matter, at least, for the others to be searched alone: one that seems not to may be lost
# in noise, and beside one there is room.
FEWER = 2


def is_quick(stage: Stage) -> bool:
    """Whether a stage of a level has its turn before noise is looked for."""
    return stage.name in BEFORE_NOISE


def is_slow(stage: Stage) -> bool:
    return not is_quick(stage)


def any_stage(stage: Stage) -> bool:
    return True


class SearchesFewerColumns:
    """The part of a search that is about columns; the loop has set what is declared here. `relevant` are those that
    matter, as far as that was asked."""

    relevant: Relevant
    settings: SearchSettings
    guesses: tuple[Expression, ...]
    levels: int

    def take(self, batches: Iterable[tuple[Stage, Batch]], context: Context, then_fit: int = 0) -> bool:
        """Fit what stages propose; whether an exact formula ends the search."""
        raise NotImplementedError

    def fit_first(self, proposals: list[Proposal], context: Context) -> None:
        """Fit the most promising of what was found while columns are still being chosen."""
        raise NotImplementedError

    def level(
        self, context: Context, level: int, progress: Progress, *, last: bool, alone: bool
    ) -> SearchStatus | None:
        """One level of a context; why it ends the search (None: it does not)."""
        raise NotImplementedError

    def has_few_columns(self, context: Context) -> bool:
        """Whether all short formulas of them have room in a bank: it is asked later then, if at all, which matter."""
        return len(context.problem.columns) <= ROOM

    def ask_which_matter(self, context: Context) -> None:
        self.relevant = relevant_columns(context)

    def first_stages(self, contexts: list[Context]) -> bool:
        """Choose columns where there are many, and run what comes before the levels; whether an exact formula ends the
        search."""
        levels, first = self.settings.exhaustive.levels, self.levels
        for k in range(len(contexts)):
            contexts[k], proposals = self.screened(contexts[k])
            if proposals and self.take([(SCREENING, Batch(proposals))], contexts[k]):
                return True
            # What is nearly right is built on before anything else.
            if self.guesses and not first and self.take(contexts[k].run(When.AFTER_LEVEL), contexts[k]):
                return True
            # What the first stages propose beside their best waits for the first level, which may find an exact
            # formula.
            fits = 0 if first < levels else self.settings.exhaustive.fits
            if self.take(contexts[k].run(When.START), contexts[k], fits):
                return True
        return False

    def screened(self, context: Context) -> tuple[Context, list[Proposal]]:
        """With the columns that matter most, where there are many, and the formulas that say so."""
        most = self.settings.exhaustive.columns
        if len(context.problem.columns) <= most:
            return context, []
        names, proposals = screen(context, most, self.relevant.names, lambda found: self.fit_first(found, context))
        return replace(context, problem=context.problem.only(names)), proposals

    def of_fewer(self, context: Context, progress: Progress) -> SearchStatus | None:
        """A level of the columns alone that matter, where several of a few do not; why that ends the search (None: it
        does not). It is asked when the quick stages are through, which most often find what there is."""
        if len(context.problem.columns) <= FEWER:
            return None
        self.relevant = relevant_columns(context, FEWER)
        if len(context.problem.columns) < len(self.relevant.names) + FEWER:
            return None
        fewer = self.narrowed(context)
        if fewer is None:
            return SearchStatus.EXACT
        levels = (self.level(one, context.budget.level, progress, last=False, alone=False) for one in fewer)
        return next((ended for ended in levels if ended is not None), None)

    def narrowed(self, context: Context) -> list[Context] | None:
        """The context of the columns alone that matter, for whole levels, when its first stages are through; None if an
        exact formula ends the search. Of columns that predict rows badly only the quick stages are run."""
        fewer = narrowed(context, self.relevant)
        if self.first_stages(fewer):
            return None
        if is_sure(self.relevant):
            return fewer
        ended = any(self.take(one.run(When.LEVEL, wanted=is_quick), one) for one in fewer)
        return None if ended else []
