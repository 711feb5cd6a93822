"""The archive: the best candidate of each size, and the one front of them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients import Fit
from prunesymnet.coefficients.description import cost_bits, rough_length
from prunesymnet.expression import Expression
from prunesymnet.expression.tree import complexity_with
from prunesymnet.network import Choice
from prunesymnet.search.rows import Rows

Array = NDArray[np.float64]

ONE_SIDED = 1.28  # standard errors: in a tenth of cases, chance makes a larger difference
CLEARLY = 0.9  # of the error on the held-out rows: an improvement that is not chance
RUNNERS_UP = 3  # of each size: they fit about as well as the best, and may have rounder constants
SAME = 1e-6  # of an error: two fits of one formula end so near to each other


@dataclass(frozen=True, slots=True, eq=False)
class Pruned:
    """Where a formula in a network comes from: the epoch, the edges that were retained (None: several for an operand),
    and the weights of all."""

    epoch: int
    choice: Choice | None
    weights: Array


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fitted candidate: how it did on the training rows and on those held out, which stage proposed it, and where in
    a network it comes from (None: from no network)."""

    fit: Fit
    heldout_mse: float
    stage: str
    pruned: Pruned | None = None

    @property
    def expression(self) -> Expression:
        return self.fit.expression

    @property
    def epoch(self) -> int:
        return 0 if self.pruned is None else self.pruned.epoch


class ArchiveView(Protocol):
    """What stages may read."""

    def front(self) -> list[Candidate]:
        """The candidates that no simpler one equals in error, from the simplest on."""

    def by_length(self) -> list[Candidate]:
        """The shortest description (roughly) first, without those that a shorter one clearly beats on held-out rows."""

    def unexplained(self, candidate: Candidate) -> float:
        """The share of the variation that a candidate leaves unexplained."""


@dataclass(frozen=True)
class PartOfArchive:
    """The candidates of an archive that are `wanted`, for stages that can build on these only."""

    archive: ArchiveView
    wanted: Callable[[Candidate], bool]

    def front(self) -> list[Candidate]:
        return list(filter(self.wanted, self.archive.front()))

    def by_length(self) -> list[Candidate]:
        return list(filter(self.wanted, self.archive.by_length()))

    def unexplained(self, candidate: Candidate) -> float:
        return self.archive.unexplained(candidate)


@dataclass(frozen=True, slots=True)
class Standing:
    """What a candidate has to beat: the shortest description, the best error on held-out rows, and of each size the
    least error. All get better with time, so that what can't change an archive now never will."""

    shortest: float
    best: float
    errors: Mapping[tuple[int, int], float]

    def may_change(self, archive: "Archive", candidate: Candidate) -> bool:
        """Whether a candidate may change the archive that this is of; `archive` has the same rows and costs."""
        left = candidate.heldout_mse
        least = self.errors.get(archive.place(candidate), math.inf)
        return math.isfinite(left) and (left < CLEARLY * self.best or archive.error(candidate) < least)


class Archive:
    """Of each size (complexity and number of constants) the candidate of least error; the best of all; and how often
    each form has been tried. `costs` are those of operators that cost something else than the table says."""

    def __init__(self, rows: Rows, costs: Mapping[str, int] | None = None) -> None:
        self.rows, self.costs = rows, costs or {}
        self.by_size: dict[tuple[int, int], Candidate] = {}
        self.next_to: dict[tuple[int, int], list[Candidate]] = {}  # of each size, the next in error
        self.best: Candidate | None = None
        self.improvements: list[tuple[int, Expression, float]] = []  # (epoch, formula, error on held-out rows)
        self.tries: dict[str, int] = {}
        self.fits = 0
        self.refused = 0  # formulas that are not allowed, and so not fitted
        self._lengths: dict[int, tuple[Candidate, Rows, float]] = {}  # of those that are known, by identity
        self._shortest: tuple[Candidate | None, Rows, float] | None = None  # with the best and the rows at that time

    def add(self, candidate: Candidate) -> None:
        """Keep a candidate if it is the best of its size."""
        self.fits += 1
        place, second = self.place(candidate), candidate
        if self.is_best_of_size(candidate):
            best = self.by_size.get(place)
            self.by_size[place] = candidate
            self._shortest = None
            if best is None:
                return
            second = best
        self._add_next_to(place, second)

    def _add_next_to(self, place: tuple[int, int], candidate: Candidate) -> None:
        """Keep a candidate if only a few of its size are better."""
        error, others = self.error(candidate), self.next_to.setdefault(place, [])
        same = any(math.isclose(error, self.error(one), rel_tol=SAME) for one in (self.by_size[place], *others))
        if not same and math.isfinite(error) and (len(others) < RUNNERS_UP or error < self.error(others[-1])):
            self.next_to[place] = sorted([*others, candidate], key=self.error)[:RUNNERS_UP]

    def is_best_of_size(self, candidate: Candidate) -> bool:
        known = self.by_size.get(self.place(candidate))
        return known is None or self.error(candidate) < self.error(known)

    def would_change(self, candidate: Candidate) -> bool:
        """Whether anything here would be another with this candidate."""
        return math.isfinite(candidate.heldout_mse) and (self.is_best_of_size(candidate) or self.is_better(candidate))

    def is_better(self, candidate: Candidate) -> bool:
        """Clearly better than the best so far; of exact ones, simpler."""
        if self.best is None:
            return True
        if self.exact and self.is_exact(candidate):
            return self.complexity(candidate) < self.complexity(self.best)
        return candidate.heldout_mse < CLEARLY * self.best.heldout_mse

    def set_best(self, candidate: Candidate) -> None:
        self.best = candidate
        self.improvements.append((candidate.epoch, candidate.expression, candidate.heldout_mse))

    @property
    def exact(self) -> bool:
        """Whether there is an exact formula."""
        return self.best is not None and self.is_exact(self.best)

    def is_exact(self, candidate: Candidate) -> bool:
        """Whether it is, on the rows held out and on those that it was fitted to: where values have many decades, the
        former may all be so small that nothing is off there."""
        rows = self.rows
        if candidate.fit.mse > rows.no_error_in_training or not rows.is_exact(candidate.heldout_mse):
            return False
        return rows.is_exact_on_fresh(candidate.expression)

    def error(self, candidate: Candidate) -> float:
        """The mean square on the training rows and those held out."""
        return self.rows.on_both(candidate.fit.mse, candidate.heldout_mse)

    def unexplained(self, candidate: Candidate) -> float:
        """The share of the variation that it leaves, on the training rows and on those held out."""
        return self.error(candidate) / (self.rows.used.variation or 1.0)

    def complexity(self, candidate: Candidate) -> int:
        return complexity_with(candidate.expression, self.costs)

    def place(self, candidate: Candidate) -> tuple[int, int]:
        return self.complexity(candidate), len(candidate.expression.constants)

    def length(self, candidate: Candidate) -> float:
        """Its description length, roughly."""
        known = self._lengths.get(id(candidate))
        if known is None or known[0] is not candidate or known[1] is not self.rows:
            self._lengths[id(candidate)] = known = candidate, self.rows, self._length(candidate)
        return known[2]

    def _length(self, candidate: Candidate) -> float:
        error = max(self.error(candidate), self.rows.no_error)
        added = cost_bits(candidate.expression, self.costs)
        return rough_length(candidate.expression, self.rows.used.rows, error) + added  # each row once, held out or not

    def shortest(self) -> float:
        """The shortest description length of all, roughly."""
        known = self._shortest
        if known is None or known[0] is not self.best or known[1] is not self.rows:
            self._shortest = known = self.best, self.rows, min(map(self.length, self.known()), default=math.inf)
        return known[2]

    def standing(self) -> "Standing":
        best = math.inf if self.best is None else self.best.heldout_mse
        return Standing(self.shortest(), best, {place: self.error(one) for place, one in self.by_size.items()})

    def size(self, candidate: Candidate) -> float:
        """Its description length without that of the residuals."""
        added = cost_bits(candidate.expression, self.costs)
        return rough_length(candidate.expression, self.rows.used.rows, 1.0) + added

    def front(self) -> list[Candidate]:
        """The candidates that no simpler one equals in error, from the simplest on."""
        kept, least = [], math.inf
        for candidate in sorted(self.known(), key=lambda c: (self.complexity(c), self.error(c))):
            if self.error(candidate) < least:
                kept.append(candidate)
                least = self.error(candidate)
        return kept

    def by_length(self) -> list[Candidate]:
        """The shortest description (roughly) first; without those that a shorter one clearly beats on the held-out
        rows alone: what is longer must show on rows that it has not seen."""
        # The logarithm of the ratio of two means of so many squares has about this standard error.
        chance = math.exp(ONE_SIDED * 2 / math.sqrt(max(self.rows.held.rows, 1)))
        kept, least = [], math.inf
        for candidate in sorted(self.known(), key=self.length):
            if candidate.heldout_mse < chance * least:
                kept.append(candidate)
                least = min(least, candidate.heldout_mse)
        return kept

    def runners_up(self, bits: float) -> list[Candidate]:
        """Those next in error to the best of a size, if they take no more than so many bits more than the best of all,
        the shortest description first."""
        most = self.shortest() + bits
        return sorted(
            (one for others in self.next_to.values() for one in others if self.length(one) < most), key=self.length
        )

    def known(self) -> list[Candidate]:
        """The best of each size, and the best of all."""
        return [*self.by_size.values(), *([self.best] if self.best else [])]
