"""The archive: the best candidate of each size, and the one front of them."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients import Fit
from prunesymnet.coefficients.description import rough_length
from prunesymnet.expression import Expression
from prunesymnet.network import Choice
from prunesymnet.search.rows import Rows

Array = NDArray[np.float64]

CLEARLY = 0.9  # of the error on the held-out rows: an improvement that is not chance


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
        """Those that are worth their length on the held-out rows, the shortest description (roughly) first."""

    def unexplained(self, candidate: Candidate) -> float:
        """The share of the variation that a candidate leaves unexplained."""


class Archive:
    """Of each size (complexity and number of constants) the candidate of least error; the best of all; and how often
    each form has been tried."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.by_size: dict[tuple[int, int], Candidate] = {}
        self.best: Candidate | None = None
        self.improvements: list[tuple[int, str, float]] = []  # (epoch, formula, error on held-out rows)
        self.tries: dict[str, int] = {}
        self.fits = 0
        self.refused = 0  # formulas that are not allowed, and so not fitted

    def add(self, candidate: Candidate) -> None:
        """Keep a candidate if it is the best of its size."""
        self.fits += 1
        size = candidate.expression.complexity, len(candidate.expression.constants)
        if size not in self.by_size or self.error(candidate) < self.error(self.by_size[size]):
            self.by_size[size] = candidate

    def is_better(self, candidate: Candidate) -> bool:
        """Clearly better than the best so far; of exact ones, simpler."""
        if self.best is None:
            return True
        if self.exact and self.is_exact(candidate):
            return candidate.expression.complexity < self.best.expression.complexity
        return candidate.heldout_mse < CLEARLY * self.best.heldout_mse

    def set_best(self, candidate: Candidate) -> None:
        self.best = candidate
        self.improvements.append((candidate.epoch, str(candidate.expression), candidate.heldout_mse))

    @property
    def exact(self) -> bool:
        """Whether there is an exact formula."""
        return self.best is not None and self.is_exact(self.best)

    def is_exact(self, candidate: Candidate) -> bool:
        return self.rows.is_exact(candidate.heldout_mse) and self.rows.is_exact_on_fresh(candidate.expression)

    def error(self, candidate: Candidate) -> float:
        """The sum of squares on the training rows and those held out."""
        return candidate.fit.mse * self.rows.train.rows + candidate.heldout_mse * self.rows.held.rows

    def unexplained(self, candidate: Candidate) -> float:
        """The share of the variation that it leaves, on the training rows and on those held out."""
        return self.error(candidate) / self.rows.judged / (self.rows.used.variation or 1.0)

    def length(self, candidate: Candidate) -> float:
        """Its description length, roughly."""
        error = max(self.error(candidate) / self.rows.judged, self.rows.no_error)
        return rough_length(candidate.expression, self.rows.judged, error)

    def front(self) -> list[Candidate]:
        """The candidates that no simpler one equals in error, from the simplest on."""
        known = [*self.by_size.values(), *([self.best] if self.best else [])]
        return _improving(sorted(known, key=lambda c: (c.expression.complexity, self.error(c))), self.error)

    def by_length(self) -> list[Candidate]:
        """Of the front those that no simpler one equals on the held-out rows alone, the shortest description (roughly)
        first: what is longer must be better on rows that it has not seen."""
        return sorted(_improving(self.front(), lambda candidate: candidate.heldout_mse), key=self.length)


def _improving(candidates: Iterable[Candidate], error: Callable[[Candidate], float]) -> list[Candidate]:
    kept: list[Candidate] = []
    least = math.inf
    for candidate in candidates:
        if error(candidate) < least:
            kept.append(candidate)
            least = error(candidate)
    return kept
