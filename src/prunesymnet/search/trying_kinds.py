"""What a search does where errors may be of another kind than it counts them as: try that kind, and go on with it if it
describes the rows in fewer bits.

A mixin, so that the loop itself is about stages and formulas.
"""

import math
from typing import Self

from prunesymnet.data.losses import ROBUST
from prunesymnet.search.ahead import Ahead
from prunesymnet.search.archive import Archive, Candidate
from prunesymnet.search.error_kinds import ALIKE, ErrorKind
from prunesymnet.search.finish import Finish
from prunesymnet.search.fitting import Fitter
from prunesymnet.search.rows import Rows
from prunesymnet.search.settings import SearchStatus
from prunesymnet.search.stages import Stage
from prunesymnet.search.stopping import Patience
from prunesymnet.search.waiting import Waiting
from prunesymnet.search.workers import Workers
from prunesymnet.selection import NEAR_TIE
from prunesymnet.structure import Reduction

BEFORE_DOUBT = "families"  # before this stage formulas must fit, so that another kind of errors is searched further


class TriesKinds:
    """The part of a search that is about kinds of errors; the loop has set what is declared here. `errors` are what
    they are counted as, `other_kinds` what they may be as well. Where it is in doubt whether they are of this kind, so
    many bits are `to_beat`, or slow stages are not run."""

    errors: ErrorKind
    other_kinds: list[ErrorKind]
    to_beat: float | None
    rows: Rows
    archive: Archive
    fitter: Fitter
    finish: Finish
    waiting: Waiting
    patience: Patience
    ahead: Ahead
    workers: Workers
    structure: dict[str, Reduction]
    levels: int
    scored: int

    def begin(self) -> None:
        """Fit the formulas that the search begins with."""
        raise NotImplementedError

    def stages(self) -> SearchStatus:
        """Run all stages; why they ended."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise if a limit is reached."""
        raise NotImplementedError

    def other_with(self, kind: ErrorKind, levels: int) -> Self:
        """A search with errors of that kind, which begins with the formulas so far, and has so many levels."""
        raise NotImplementedError

    def is_given_up(self, stage: Stage) -> bool:
        """Whether it was in doubt that errors are of this kind, and no formula fits so before the slow stages."""
        if self.to_beat is None or stage.name != BEFORE_DOUBT:
            return False
        return not self.errors.may_be_believed(self.archive, self.to_beat)

    def suspected_kinds(self, best: Candidate, level: int, *, first: bool) -> list[ErrorKind]:
        """The kinds of errors with which the formulas so far, fitted anew, describe the rows in fewer bits; the fewest
        first. When they are asked for the `first` time in a level, better formulas may come; and where outliers have
        led them, no formula may be near, so that these are suspected in any case."""
        found: list[tuple[float, ErrorKind]] = []
        for kind in self.other_kinds:
            if kind.is_suggested(self.rows.train, best.expression):
                other = self.other_with(kind, level + 1)
                other.begin()
                if self.is_longer_than(other, doubtful=first):
                    found.append((kind.bits(other.archive), kind))
                elif first and kind.loss == ROBUST:
                    found.append((math.inf, kind))
        return [kind for _, kind in sorted(found, key=lambda entry: entry[0])]

    def with_other_errors(self, *, search: bool = False) -> SearchStatus | None:
        """Go on with errors of another kind if these describe the rows better; how that search ended, or None."""
        for kind in self.other_kinds:
            status = self.with_errors(kind, search=search and kind.loss != ROBUST)
            if status is not None:
                return status
        return None

    def with_errors(
        self, kind: ErrorKind, *, search: bool = False, levels: int | None = None, in_doubt: bool = False
    ) -> SearchStatus | None:
        """Where errors seem to be of another kind (the formulas so far, fitted anew, describe the rows in fewer bits
        with these), come as far with such errors (so many `levels`), and go on so. With `search`, other formulas are
        looked for before that is judged. How that search ended; None if errors are not of that kind."""
        ranked = self.archive.by_length()
        if self.archive.exact or not ranked or not kind.is_suggested(self.rows.train, ranked[0].expression):
            return None
        other = self.other_with(kind, self.levels if levels is None else levels)
        other.to_beat = self.errors.bits(self.archive) if in_doubt else None
        other.begin()
        status = None
        try:
            if search or self.is_longer_than(other):
                self.workers.check = other.check
                status = SearchStatus.EXACT if other.archive.exact else other.stages()
        finally:  # also where a limit ends it
            self.workers.check = self.check
            if self.is_longer_than(other):
                self.go_on_as(other)
            else:
                status = None
                self.archive.fits, self.archive.refused = other.archive.fits, other.archive.refused
                self.scored = other.scored
        return status

    def alike_after_all(self) -> None:
        """Count errors as alike again where what was found since describes the rows in fewer bits so: which kind they
        are was decided when no formula was near."""
        if self.errors is not ALIKE and not self.archive.exact:
            other = self.other_with(ALIKE, self.levels)
            other.begin()
            if self.is_longer_than(other):
                self.go_on_as(other)
            else:
                self.archive.fits, self.archive.refused = other.archive.fits, other.archive.refused

    def go_on_as(self, other: Self) -> None:
        self.errors, self.other_kinds = other.errors, []
        self.rows, self.archive, self.fitter = other.rows, other.archive, other.fitter
        self.finish, self.waiting, self.patience = other.finish, other.waiting, other.patience
        self.scored, self.structure, self.ahead = other.scored, other.structure, other.ahead

    def is_longer_than(self, other: Self, *, doubtful: bool = False) -> bool:
        """Whether the rows are described in clearly fewer bits with the errors of another search, which must be
        believable (or become so, where they are `doubtful`)."""
        if not other.errors.is_believed(other.archive, doubtful=doubtful):
            return False
        return other.errors.bits(other.archive) < self.errors.bits(self.archive) - NEAR_TIE
