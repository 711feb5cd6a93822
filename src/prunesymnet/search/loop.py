"""The whole loop: shortcuts, then growing banks, then trained networks, until nothing more can help.

>>> from prunesymnet.data import make_dataset
>>> import numpy as np
>>> x = np.linspace(-3, 3, 60)
>>> found = search(make_dataset(x, x**2 / 2 - x, names=["x"]))
>>> print(found.best.expression, "|", found.status.value)
x**2/2 - x | found a formula that is exact on held-out rows
"""

import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from threadpoolctl import threadpool_limits

from prunesymnet.coefficients import Fit
from prunesymnet.coefficients.closed_forms import bits
from prunesymnet.data import Dataset, distinct_rows
from prunesymnet.equations import Equation, Front
from prunesymnet.errors import NothingFoundError
from prunesymnet.expression import Expression
from prunesymnet.network import Network
from prunesymnet.network.training import LARGEST
from prunesymnet.operators import select_operators
from prunesymnet.search.judge import Candidate, Judge
from prunesymnet.search.networks import Networks, learned_nodes
from prunesymnet.search.settings import PRESETS, SearchSettings, SearchStatus
from prunesymnet.search.stages import Proposal, Rounds, Scene, blocks, promising

MAY_BE_MISSED = (1e-4, 1e-3, 1e-2)  # of the variation: if no more can be hidden after a round, the search may end
ROWS_TO_CHECK = 2000
LEARN_BEFORE = 2  # the round before which networks are trained, so that their nodes join the bank
AT_ONCE = 2  # proposals of a stage that are fitted before the next: of least error, and of shortest description
SAYS_SOMETHING, NEARLY_RIGHT = 0.5, 0.02  # of the variation is left: such a formula's branches, its columns are used
MOST_TO_GRAFT = 30  # complexity
SHARE = 5  # of the fits that a round has: one part for each of these
SIMPLE = 10  # complexity: an exact formula that is longer is given some more stages to find a shorter one
MORE_STAGES = 6
TO_FINISH = 0.05  # of the time limit: for the last fits and the rounding
# Seconds for rounding when the time is up, and when someone waits.
PATIENCE = {SearchStatus.TIME_LIMIT: 1.0, SearchStatus.INTERRUPTED: 0.0}


@dataclass(frozen=True, slots=True)
class Update:
    """Where a search is: told to the watcher after each stage, and at each pruning of a network."""

    stage: str
    seconds: float
    fits: int
    best: Candidate
    epoch: int = 0
    loss: float = float("nan")
    front: tuple[Candidate, ...] = ()  # the candidates so far that no simpler one equals in error
    rounds: int = 0  # that are complete
    scored: int = 0  # formulas, with their best coefficients, most of them by the million


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found: the best formula, fitted and rounded on all rows, and the way there."""

    best: Fit
    status: SearchStatus
    epochs: int
    seconds: float
    candidate: Candidate
    network: Network
    losses: tuple[float, ...]
    prunings: tuple[int, ...]
    improvements: tuple[tuple[int, str, float], ...]  # (epoch, formula, held-out mse)
    front: Front
    fits: int = 0
    rounds: int = 0


@dataclass(frozen=True, slots=True)
class Start:
    """How far earlier searches of the same table, with the same settings, got: the formulas of their front, the rounds
    of the bank that are complete, and how many searches there were (each draws its networks anew)."""

    formulas: tuple[Expression, ...] = ()
    rounds: int = 0
    again: int = 0


Watcher = Callable[[Update], None]
Stages = Iterator[tuple[str, list[Proposal]]]


def search(
    data: Dataset,
    settings: SearchSettings | str = "default",
    *,
    watch: Watcher | None = None,
    start: Start | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> SearchResult:
    """The best formula for the data; `settings` may be the name of a preset, `watch` is told how it goes, and `start`
    is where an earlier search had come. Time is what `clock` says it is, in seconds.

    A time limit, Ctrl-C, and a watcher that raises StopIteration end the search with the best formula so far.
    """
    if not isinstance(data, Dataset):
        raise TypeError(f"data must be a Dataset (see make_dataset and read_table), got {type(data).__name__}")
    if not isinstance(settings, SearchSettings | str):
        raise TypeError(f"settings must be SearchSettings or a preset's name, got {type(settings).__name__}")
    if isinstance(settings, str):
        if settings not in PRESETS:
            raise ValueError(f"a preset must be one of {', '.join(PRESETS)}, got {settings!r}")
        settings = PRESETS[settings]
    data = distinct_rows(data)
    data.check_sizes()
    settings.constraints.check(data.names, tuple(select_operators(settings.operators)))
    # Our threads work on whole tasks. The matrix products inside are held to one thread each: so they do not get in
    # each other's way, and give the same numbers with any number of workers.
    # A candidate that overflows or leaves its domain is poor, and no reason for a warning.
    with threadpool_limits(1, user_api="blas"), np.errstate(all="ignore"):
        return _Search(data, settings, watch, start or Start(), clock).run()


def _error(proposal: Proposal) -> float:
    return proposal.unexplained


class _Limit(Exception):
    """A limit was reached: of time, or of fits."""

    def __init__(self, status: SearchStatus) -> None:
        self.status = status


class _Search:
    def __init__(
        self,
        data: Dataset,
        settings: SearchSettings,
        watch: Watcher | None,
        start: Start,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.clock, self.began = clock, clock()
        self.deadline = self.began + (1 - TO_FINISH) * settings.time_limit
        if start.again:
            training = replace(settings.training, seed=settings.training.seed + start.again)
            settings = replace(settings, training=training)
        self.data, self.settings, self.watch, self.start = data, settings, watch, start
        self.judge = Judge(data, settings)
        self.networks = Networks(self.judge, settings)
        self.rounds = start.rounds
        self.bank_rounds: Rounds | None = None
        self.grafted: set[tuple[int, Expression]] = set()  # in which round
        self.reduced: set[frozenset[str]] = set()
        self.epoch = 0
        self.stages_since = 0  # a formula is exact

    def run(self) -> SearchResult:
        judge = self.judge
        try:
            judge.begin_with(self.start.formulas)
            status = SearchStatus.EXACT if judge.exact() else self.stages()
        except _Limit as limit:
            status = limit.status
        except KeyboardInterrupt:
            status = SearchStatus.INTERRUPTED
        except StopIteration:
            status = SearchStatus.STOPPED
        best = judge.best.fit
        try:
            if judge.exact() or self.settings.pruner != "exhaustive":
                judge.best = judge.shrink(judge.best)
            best, front = judge.verdict(patience=PATIENCE.get(status, math.inf))
        except KeyboardInterrupt:  # even now, what has been found is returned
            status = SearchStatus.INTERRUPTED
            if not judge.allowed(best.expression):
                raise NothingFoundError("interrupted before a formula was found that is allowed") from None
            front = Front((Equation.of(best, judge.train),), 0)
        if judge.exact():
            status = SearchStatus.EXACT
        seconds = self.clock() - self.began
        return SearchResult(
            best=best,
            status=status,
            epochs=self.epoch,
            seconds=seconds,
            candidate=judge.best,
            network=self.networks.network,
            losses=tuple(self.networks.losses),
            prunings=tuple(self.networks.prunings),
            improvements=tuple(judge.improvements),
            front=replace(front, status=status.value, seconds=seconds, fits=judge.fits),
            fits=judge.fits,
            rounds=self.rounds,
        )

    def stages(self) -> SearchStatus:
        """What there is to try, the cheapest first; why it ended."""
        if self.settings.pruner == "exhaustive":
            ended = self.prune_exhaustively()
            if ended is not None:
                return ended
            if not self.in_range_of_networks():
                return SearchStatus.TOO_LARGE
        for epoch in self.networks.run(self.settings.max_epochs, self.deadline):
            self.epoch = epoch
            if epoch % self.settings.prune_every == 0:
                self.tell("networks")
            self.check_time()
        return SearchStatus.MAX_EPOCHS

    def prune_exhaustively(self) -> SearchStatus | None:
        """Shortcuts and rounds; why it ended, or None if more may help."""
        settings = self.settings
        exhaustive = replace(settings.exhaustive, workers=settings.workers or os.cpu_count() or 1)
        scene = Scene.of(self.judge.train, settings.operators, exhaustive.rows, settings.seed)
        self.bank_rounds = rounds = Rounds(scene, exhaustive, self.check_time)
        if self.take(rounds.shortcuts(), rounds):
            return SearchStatus.EXACT
        for number in range(min(self.start.rounds, exhaustive.rounds), exhaustive.rounds):
            if number == LEARN_BEFORE and exhaustive.networks and self.in_range_of_networks():
                nodes = learned_nodes(
                    self.networks.network, scene.data, settings, restarts=8, epochs=200, check=self.check_time
                )
                rounds.learn(nodes)
                self.tell("networks")
            if self.take(rounds.round(number), rounds):
                return SearchStatus.EXACT
            self.rounds = number + 1
            if self.at_noise_floor(rounds, MAY_BE_MISSED[min(number, len(MAY_BE_MISSED) - 1)]):
                return SearchStatus.NOISE_FLOOR
            if self.build_on(rounds, number):
                return SearchStatus.EXACT
        return SearchStatus.EXACT if self.judge.exact() else None

    def build_on(self, rounds: Rounds, number: int) -> bool:
        """Build on the formulas that are nearly right, as long as that makes them much better; whether one is exact."""
        for stages in (self.grafts, self.fewer_columns):
            while (before := self.unexplained()) < SAYS_SOMETHING:
                self.check_time()
                if self.take(stages(rounds, number), rounds, self.settings.exhaustive.fits // SHARE):
                    return True
                if not self.unexplained() < before / 2:
                    break
        return False

    def unexplained(self) -> float:
        """What the best formula that may be built on leaves of the variation."""
        errors = [self.judge.left(c) for c in self.judge.so_far() if c.fit.expression.complexity <= MOST_TO_GRAFT]
        return min(errors, default=1.0)

    def grafts(self, rounds: Rounds, number: int) -> Stages:
        """Other branches for the formulas of the front."""
        if self.settings.exhaustive.grafts:
            found = [candidate.fit.expression for candidate in self.judge.so_far()]
            fresh = [formula for formula in found if formula.complexity <= MOST_TO_GRAFT]
            fresh = [formula for formula in fresh if (number, formula) not in self.grafted]
            self.grafted.update((number, formula) for formula in fresh)
            yield from rounds.grafts(fresh, number)

    def fewer_columns(self, rounds: Rounds, number: int) -> Stages:
        """The first round again with fewer columns, as the best formula has them that does and is nearly right."""
        if self.settings.exhaustive.blocks:
            near = [c for c in self.judge.by_length() if self.judge.left(c) < NEARLY_RIGHT]
            for candidate, products in product(near, (True, False)):
                parts = blocks(candidate.fit.expression, only_products=products)
                made = frozenset(map(str, parts.values()))
                if parts and made not in self.reduced:
                    self.reduced.add(made)
                    yield from rounds.reduced(parts)
                    return

    def in_range_of_networks(self) -> bool:
        """Whether networks, which compute in single precision, can be trained on the table as it is."""
        train = self.judge.train
        return max(float(np.abs(train.X).max()), float(np.abs(train.y).max())) <= LARGEST

    def at_noise_floor(self, rounds: Rounds, most: float) -> bool:
        """Whether what the shortest description leaves looks like noise: nothing in the bank explains more of it than
        chance would, and what could hide behind that chance is less than `most` of the variation."""
        chosen = next(iter(self.judge.front()), None)
        if chosen is None or self.judge.exact() or 1 - chosen.r2 > 0.5:
            return False
        scene = Scene.of(self.judge.train, self.settings.operators, ROWS_TO_CHECK, self.settings.seed)
        names = set(rounds.scene.columns) | set(chosen.expression.variables)
        scene = replace(scene, names=tuple(name for name in self.data.names if name in names))
        hidden = Rounds(scene, rounds.settings).hidden(chosen.expression)
        return hidden is not None and (1 - chosen.r2) * hidden < most

    def take(self, stages: Stages, rounds: Rounds, fits: int = 0) -> bool:
        """Fit what the stages propose, until one is exact: what seems exact as it stands at once, and the best of the
        others; of the rest, which need their inner constants fitted, so many when all stages are through."""
        later: list[Proposal] = []
        for stage, proposals in stages:
            rest = [proposal for proposal in proposals if not proposal.exact]
            first = {id(p): p for by in (_error, self.length) for p in sorted(rest, key=by)[:AT_ONCE]}
            self.try_all([*(p for p in proposals if p.exact), *first.values()], rounds)
            later += [proposal for proposal in rest if id(proposal) not in first]
            self.tell(stage)
            self.check_time()
            if self.done():
                return True
        later = promising(later, fits or self.settings.exhaustive.fits)
        for start in range(0, len(later), 16):
            self.try_all(later[start : start + 16], rounds)
            self.tell("fits")
            if self.done():
                return True
        return False

    def length(self, proposal: Proposal) -> float:
        """About the bits that its description takes, so that on noisy data what is simple has its turn, too."""
        return 0.5 * self.judge.train.rows * math.log2(proposal.unexplained + 1e-30) + bits(proposal.expression)

    def done(self) -> bool:
        """Whether there is an exact formula, and it is simple (a polynomial is), or has been there for some stages."""
        if not self.judge.exact():
            return False
        self.stages_since += 1
        best = self.judge.best
        simple = best.fit.expression.complexity <= SIMPLE or best.stage == "polynomial"
        return simple or self.stages_since > MORE_STAGES

    def try_all(self, proposals: list[Proposal], rounds: Rounds) -> None:
        for proposal in proposals:
            first = None if proposal.rows is None else rounds.scene.data.take(proposal.rows)
            self.judge.propose(proposal.expression, proposal.source, exact=proposal.exact, first=first)
            self.check_time()

    def tell(self, stage: str) -> None:
        if self.watch and self.judge.allowed(self.judge.best.fit.expression):
            loss = self.networks.losses[-1] if self.networks.losses else float("nan")
            seconds = self.clock() - self.began
            front = tuple(self.judge.so_far())
            self.watch(
                Update(
                    stage,
                    seconds,
                    self.judge.fits,
                    self.judge.best,
                    self.epoch,
                    loss,
                    front,
                    self.rounds,
                    self.scored(),
                )
            )

    def scored(self) -> int:
        return self.judge.fits + (self.bank_rounds.scored if self.bank_rounds else 0)

    def check_time(self) -> None:
        if self.clock() > self.deadline:
            raise _Limit(SearchStatus.TIME_LIMIT)
        if self.settings.max_fits is not None and self.judge.fits >= self.settings.max_fits:
            raise _Limit(SearchStatus.FIT_LIMIT)
