"""Several terms: matching pursuit over all pairs of nodes, with a beam and swaps.

A state is a set of terms. At each step every state asks the bank for one product or two nodes more; of all answers the
`beam` of least description length go on. Then each term of the best is dropped in turn and the bank asked again, so
that one wrong early term does not stay.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.asked import EXACT, Asked, Proposal
from prunesymnet.bank.bank import Bank
from prunesymnet.bank.scan import scan, unexplained
from prunesymnet.bank.targets import Frame
from prunesymnet.expression import Expression

Array = NDArray[np.float64]

BITS = 2.0  # for a unit of complexity, about what it takes to write one down


@dataclass(frozen=True, slots=True)
class State:
    """Terms chosen so far, and what they leave unexplained."""

    terms: tuple[tuple[Array, Expression], ...]
    left: float

    def length(self, rows: int) -> float:
        """The description length, up to a constant that all states share."""
        size = sum(tree.complexity + 2 for _, tree in self.terms)
        return 0.5 * rows * float(np.log2(max(self.left, EXACT))) + BITS * size

    @property
    def key(self) -> frozenset[str]:
        return frozenset(str(tree) for _, tree in self.terms)


def pursue(
    frame: Frame,
    bank: Bank,
    *,
    starts: list[tuple[tuple[Array, Expression], ...]],
    beam: int,
    steps: int,
    keep: int,
    workers: int,
    swaps: int = 2,
    source: str = "pursuit",
    check: Callable[[], None] = lambda: None,
) -> list[Proposal]:
    """The best states met, as formulas of y; `starts` are terms to begin with, `swaps` how often to exchange some."""
    rows = int((frame.weights > 0).sum())
    states = [State(terms, 1.0) for terms in starts] or [State((), 1.0)]
    seen: dict[frozenset[str], State] = {}
    for _ in range(steps):
        check()
        fresh = _extended(frame, bank, states, keep, workers)
        for state in fresh:
            seen.setdefault(state.key, state)
        fresh.sort(key=lambda state: state.length(rows))
        states = _different(fresh, beam)
        if not states or states[0].left < EXACT:
            break
    # Swaps: without each term in turn, what would the bank put in its place?
    for _ in range(swaps):
        best = sorted(seen.values(), key=lambda state: state.length(rows))[:2]
        if not best or best[0].left < EXACT:
            break
        check()
        shorter = [State(s.terms[:k] + s.terms[k + 1 :], 1.0) for s in best for k in range(len(s.terms))]
        for state in _extended(frame, bank, [s for s in shorter if s.terms], keep, workers):
            seen.setdefault(state.key, state)
    best = sorted(seen.values(), key=lambda state: state.length(rows))
    return [Proposal(Asked(frame).formula(state.terms), state.left, source) for state in best[: 4 * beam]]


def _different(states: list[State], count: int) -> list[State]:
    kept: dict[frozenset[str], State] = {}
    for state in states:
        kept.setdefault(state.key, state)
        if len(kept) == count:
            break
    return list(kept.values())


def _extended(frame: Frame, bank: Bank, states: list[State], keep: int, workers: int) -> list[State]:
    """Each state with one product or two nodes more."""
    asked = [Asked(frame, state.terms) for state in states]
    questions = [one.question() for one in asked]
    out = []
    for products in (True, False):
        found = scan(bank.values, bank.complexity, questions, products=products, keep=keep, workers=workers)
        for state, question, pairs in zip(states, questions, found, strict=True):
            if not len(pairs):
                continue
            one, two = bank.values[pairs.left], bank.values[pairs.right]
            columns = (one * two)[:, None] if products else np.stack([one, two], axis=1)
            left = unexplained(columns, question)
            order = np.argsort(left, kind="stable")[: 4 * keep]
            for k in order:
                i, j = int(pairs.left[k]), int(pairs.right[k])
                trees = bank.expression(i), bank.expression(j)
                if products:
                    more: tuple[tuple[Array, Expression], ...] = ((one[k] * two[k], trees[0] * trees[1]),)
                else:
                    more = ((one[k], trees[0]), (two[k], trees[1]))
                out.append(State(state.terms + more, float(left[k])))
    return out
