"""What is told of a search that is made up of several: how far it is, and the formulas that it has so far.

The searches inside have other rows or another target than the whole, so that their formulas say nothing to who watches.
Now and then the best of one of them is made into a formula of the whole, only to be looked at: what is found in the end
does not depend on whether somebody watches.
"""

import math
from collections.abc import Callable, Iterable, Sequence

from prunesymnet.coefficients import Fit
from prunesymnet.expression import Expression
from prunesymnet.search.archive import Candidate
from prunesymnet.search.result import Update, Watcher
from prunesymnet.search.stopping import Limits

SHARE = 0.05  # of the time so far: for formulas that are only there to be looked at
Entry = tuple[float, tuple[Fit, ...]]  # a description length, and the formula of each target


class Live:
    """Tells the watcher of each target. `fits` are those that were made outside of the searches."""

    def __init__(self, watchers: Sequence[Watcher], limits: Limits) -> None:
        self.watchers, self.limits = tuple(watchers), limits
        self.fits, self.ended, self.now = 0, (0, 0), (0, 0)  # fits and scored formulas of searches: ended, and running
        self.spent = 0.0  # seconds, for formulas that are only looked at
        self.best: tuple[float, tuple[Candidate, ...]] | None = None
        self.fronts: list[list[Candidate]] = [[] for _ in self.watchers]

    def inside(self, whole: Callable[[Expression], Iterable[Entry]]) -> Watcher | None:
        """A watcher for the next search; `whole` makes formulas of the whole from one that this search has found."""
        if not self.watchers:
            return None
        self.ended, self.now = (self.ended[0] + self.now[0], self.ended[1] + self.now[1]), (0, 0)
        seen: list[Candidate] = []

        def told(update: Update) -> None:
            self.now = update.fits, update.scored
            if update.best not in seen[-1:] and (self.best is None or self.spent <= SHARE * self.limits.seconds):
                seen.append(update.best)
                before = self.limits.seconds
                self.add(whole(update.best.expression), update.stage)
                self.spent += self.limits.seconds - before
            self.tell(update.stage)

        return told

    def add(self, entries: Iterable[Entry], stage: str) -> None:
        """Take in formulas of the whole."""
        for length, fits in entries if self.watchers else ():
            made = tuple(Candidate(fit, fit.mse, stage) for fit in fits)
            if not all(math.isfinite(fit.mse) for fit in fits):
                continue
            if self.best is None or length < self.best[0]:
                self.best = length, made
            for k, one in enumerate(made):
                self.fronts[k] = _front([*self.fronts[k], one], self.best[1][k])

    def tell(self, stage: str) -> None:
        """Tell all watchers, once there is a formula."""
        if self.best is None:
            return
        fits = self.fits + self.ended[0] + self.now[0]
        scored = self.fits + self.ended[1] + self.now[1]
        for watch, best, front in zip(self.watchers, self.best[1], self.fronts, strict=True):
            watch(Update(stage, self.limits.seconds, fits, best, front=tuple(front), scored=scored))


def _front(candidates: Iterable[Candidate], best: Candidate) -> list[Candidate]:
    """Those that no simpler one equals in error, and the best; from the simplest on."""
    kept: list[Candidate] = []
    for one in sorted(candidates, key=lambda c: (c.expression.complexity, c.fit.mse)):
        if one is best or not kept or one.fit.mse < min(other.fit.mse for other in kept):
            kept.append(one)
    return kept
