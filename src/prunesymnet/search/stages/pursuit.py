"""Several terms: matching pursuit over all pairs of nodes, with a beam and swaps.

A state is a set of terms. At each step every state asks the bank for one product or two nodes more; of all answers the
`beam` of least description length go on. Then each term of the best is dropped in turn and the bank asked again, so
that one wrong early term does not stay. Before that, polynomials of several degrees have their turn, with more and with
fewer terms: noise may hide a term, or show one too many.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from prunesymnet.bank.bank import Bank, Term
from prunesymnet.bank.query import EXACT, Proposal, Query, Scanner, in_parts, left_by_pairs
from prunesymnet.bank.targets import Target
from prunesymnet.coefficients.description import BITS_PER_SYMBOL, residual_bits
from prunesymnet.search.stages.base import Batch, Context, Stage, When
from prunesymnet.search.stages.polynomials import polynomials

STEPS, SWAPS = 3, 2  # how often terms are added, and exchanged
SWAPPED = 2  # the best states, of which each term is taken out in turn
PER_STATE = 4  # times as many answers go on as are kept of each complexity
STATES_AT_A_TIME = 4  # about as many scans as take a second of the largest banks: time is told between
DEGREES, LENGTHS = 3, 6  # of polynomials: those that pay best, and of each so many numbers of terms
PROPOSED = 4  # times as many states are proposed as go on side by side


def propose(context: Context) -> Iterator[Batch]:
    target, bank, beam = context.problem.target, context.pursuit_bank, context.budget.pursuit_beam
    if not context.budget.level:
        yield Batch(list(polynomials(context.problem, target, degrees=DEGREES, lengths=LENGTHS)))
    starts = [(), *context.polynomial_terms(1, 3)]
    yield Batch(pursue(target, bank, context.scanner, starts=starts, beam=beam, check=context.check))


@dataclass(frozen=True, slots=True)
class State:
    """Terms chosen so far, and what they leave unexplained."""

    terms: tuple[Term, ...]
    unexplained: float = 1.0

    def length(self, rows: int) -> float:
        """The description length, up to a constant that all states share; a term needs two symbols more, c* and +."""
        size = sum(term.expression.complexity + 2 for term in self.terms)
        return float(residual_bits(rows, max(self.unexplained, EXACT))) + BITS_PER_SYMBOL * size

    @property
    def key(self) -> frozenset[str]:
        return frozenset(str(term.expression) for term in self.terms)

    @property
    def exact(self) -> bool:
        return self.unexplained < EXACT


def pursue(
    target: Target,
    bank: Bank,
    scanner: Scanner,
    *,
    starts: list[tuple[Term, ...]],
    beam: int,
    steps: int = STEPS,
    check: Callable[[], None] = lambda: None,
    told: Callable[[list[Proposal]], None] = lambda _: None,
) -> list[Proposal]:
    """The best states met, as formulas of y; `starts` are terms to begin with. `told` gets the best so far before terms
    are exchanged, which takes longest."""
    rows = int((target.weights > 0).sum())
    states = [State(terms) for terms in starts]
    seen: dict[frozenset[str], State] = {}

    def best(count: int) -> list[State]:
        return sorted(seen.values(), key=lambda state: state.length(rows))[:count]

    def proposals() -> list[Proposal]:
        states = best(PROPOSED * beam)
        return [Proposal(Query(target).formula(state.terms), state.unexplained) for state in states]

    for _ in range(steps):
        fresh = _extended(target, bank, scanner, states, check)
        for state in fresh:
            seen.setdefault(state.key, state)
        fresh.sort(key=lambda state: state.length(rows))
        different: dict[frozenset[str], State] = {}
        for state in fresh:
            different.setdefault(state.key, state)
        states = list(different.values())[:beam]
        if not states or states[0].exact:
            break
    told(proposals())
    # Swaps: without each term in turn, what would the bank put in its place?
    for _ in range(SWAPS):
        chosen = best(SWAPPED)
        if not chosen or chosen[0].exact:
            break
        shorter = [State(state.terms[:k] + state.terms[k + 1 :]) for state in chosen for k in range(len(state.terms))]
        for state in _extended(target, bank, scanner, [state for state in shorter if state.terms], check):
            seen.setdefault(state.key, state)
    return proposals()


def _extended(
    target: Target, bank: Bank, scanner: Scanner, states: list[State], check: Callable[[], None]
) -> list[State]:
    """Each state with one product or two nodes more."""
    out = []
    for products, part in product((True, False), list(in_parts(states, STATES_AT_A_TIME))):
        check()
        regressions = [Query(target, state.terms).regression() for state in part]
        found = scanner.scan(bank, regressions, products=products)
        for state, regression, pairs in zip(part, regressions, found, strict=True):
            if not len(pairs):
                continue
            left = left_by_pairs(pairs, bank, products, regression)
            for k in np.argsort(left, kind="stable")[: PER_STATE * scanner.keep]:
                one, two = bank.term(int(pairs.left[k])), bank.term(int(pairs.right[k]))
                more = (one * two,) if products else (one, two)
                out.append(State(state.terms + more, float(left[k])))
    return out


PURSUIT = Stage("pursuit", When.LEVEL, propose)
