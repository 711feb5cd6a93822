"""What a search is told at its start, tells on the way, and gives at its end."""

from collections.abc import Callable
from dataclasses import dataclass

from prunesymnet.coefficients import Fit
from prunesymnet.equations import Front
from prunesymnet.expression import Expression
from prunesymnet.network import Network
from prunesymnet.search.archive import Candidate
from prunesymnet.search.settings import SearchStatus
from prunesymnet.structure import Reduction


@dataclass(frozen=True, slots=True)
class Start:
    """Where an earlier search of the same table, with the same settings, had come: the formulas of its front, how many
    levels it had completed, and how many searches there were before (networks are drawn anew in each)."""

    formulas: tuple[Expression, ...] = ()
    levels: int = 0
    again: int = 0


@dataclass(frozen=True, slots=True)
class Update:
    """Where a search is: told to the watcher after each batch of proposals."""

    stage: str
    seconds: float
    fits: int
    best: Candidate
    epoch: int = 0
    loss: float = float("nan")
    front: tuple[Candidate, ...] = ()  # the candidates so far that no simpler one equals
    levels: int = 0  # that are complete
    scored: int = 0  # formulas, with their best coefficients, most of them by the million
    structure: tuple[Reduction, ...] = ()  # that was found so far, in terms of the table


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
    improvements: tuple[tuple[int, str, float], ...]  # (epoch, formula, error on held-out rows)
    front: Front
    fits: int = 0
    levels: int = 0


Watcher = Callable[[Update], None]
