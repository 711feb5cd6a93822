"""Sums of many waves of one column: the constituents of a tide, the overtones of a season or of a variable star.

Each step takes the frequencies that explain most of what the waves so far leave (`frequencies`), and refines all of
them together, with their phases. So eight waves are eight scans of one grid, while sums of other curves
(`member_sums`) grow from all pairs of a grid for each family. Beside the waves may stand a line or a parabola of the
column, and all columns as they are.

For F frequencies, n rows and W waves a sum costs F*n*W products, and W refinements of 2*W constants.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.families import WAVES, Members, members
from prunesymnet.bank.family_fit import refined
from prunesymnet.bank.family_scan import MemberAnswer
from prunesymnet.bank.query import A_TERM, EXACT, Proposal, Query
from prunesymnet.coefficients.description import BITS_PER_SYMBOL, constant_bits, residual_bits
from prunesymnet.expression import Constant, Variable
from prunesymnet.search.constraints import Vocabulary
from prunesymnet.search.stages.base import Batch, Context, Stage, When
from prunesymnet.search.stages.frequencies import FREQUENCIES, Grid, scan_frequencies

Array = NDArray[np.float64]

MOST_WAVES = 8  # of a sum
ROWS_PER_WAVE = 6  # at least: a wave has three constants
TRIED = 3  # frequencies for each further wave: the one that explains most alone may stand for two others
FREE = 3  # constants of a wave
# Of what a wave explains, its neighbour on the grid does at least: they are a radian apart at the ends.
ON_THE_GRID = 0.8
MOVES = 16  # of a refinement, in which all waves move at once
# Waves that may follow without making the description shorter: a third overtone may come before the second.
PATIENCE = 2


@dataclass(frozen=True, eq=False)
class Sum:
    """Frequencies and phases [waves, 2], the waves as terms, what they leave unexplained, and the bits of all."""

    inside: Array
    terms: tuple[Term, ...]
    unexplained: float
    bits: float


def propose(context: Context) -> Iterator[Batch]:
    problem = context.problem
    # Waves of groups are not sums.
    if context.reduced:
        return
    known = Vocabulary(problem.operators)
    wave = next((family for family in WAVES if known.has(family.template)), None)
    if wave is None:
        return
    columns = [Term(values, Variable(name)) for name, values in problem.columns.items()]
    for column in columns:
        if not np.ptp(column.values) > 0:
            continue
        context.check()
        found = members([column], [wave])
        queries = [Query(problem.target, terms) for terms in _beside(column, columns)]
        proposals = [
            Proposal(query.formula(one.terms), max(one.unexplained, EXACT))
            for query in queries
            for one in sums_of_waves(found, query)
        ]
        yield Batch(proposals, len(queries) * FREQUENCIES)


def _beside(column: Term, columns: list[Term]) -> Iterator[tuple[Term, ...]]:
    """Nothing, a line, a parabola, and all columns."""
    yield from ((), (column,), (column, column * column))
    if len(columns) > 1:
        yield tuple(columns)


def sums_of_waves(found: Members, query: Query) -> Iterator[Sum]:
    """Sums of more and more waves of one column, as long as that makes the description shorter."""
    column, rows = found.nodes[0].values, len(query.target.values)
    grid = Grid.of(column, min(FREQUENCIES, round(np.pi * rows)))  # those that so many rows can tell apart
    best = last = Sum(np.empty((0, 2)), (), 1.0, float(residual_bits(rows, 1.0)))
    waited = PATIENCE - 1  # the first must pay
    while len(last.terms) < min(MOST_WAVES, rows // ROWS_PER_WAVE) and waited < PATIENCE and best.unexplained > EXACT:
        frequencies, left = _next_frequencies(column, query, last, grid)
        if not last.terms and not _bits(found, 1, 1 - (1 - left) / ON_THE_GRID) < best.bits:
            return
        last = _with_one_more(found, query, last, frequencies)
        best, waited = (last, 0) if last.bits < best.bits else (best, waited + 1)
        if best is last:
            yield best


def _next_frequencies(column: Array, query: Query, so_far: Sum, grid: Grid) -> tuple[Array, float]:
    """The frequencies on the grid that explain most of what is left, and what the best of them leaves."""
    turns = so_far.inside[:, :1] * column
    pairs = tuple(Term(values, Constant(1)) for values in (*np.sin(turns), *np.cos(turns)))
    regression = Query(query.target, (*query.fixed_terms, *pairs)).regression()
    ((frequencies, left),) = scan_frequencies(column, grid, [regression], TRIED)
    return frequencies, float(left[0])


def _with_one_more(found: Members, query: Query, so_far: Sum, frequencies: Array) -> Sum:
    """The best sum with a wave of one of these frequencies more, all at their best frequencies and phases."""
    count = len(so_far.terms) + 1
    hits = [MemberAnswer(0.0, 0, query, (0,) * count) for _ in frequencies]
    begin = [np.concatenate([so_far.inside, [[frequency, 0.0]]]) for frequency in frequencies]
    after = refined(hits, found, steps=MOVES, begin=begin)
    k = int(np.argmin(after.unexplained))
    left = float(after.unexplained[k])
    # Half a turn is a sign.
    inside = after.inside[k, :count] - np.pi * np.round(after.inside[k, :count] * [0, 1 / np.pi])
    terms = (found.families[0].term(found.nodes[0], constants) for constants in inside)
    return Sum(inside, tuple(terms), left, _bits(found, count, left))


def _bits(found: Members, waves: int, left: float) -> float:
    """What so many waves take, and what they leave."""
    rows = len(found.nodes[0].values)
    wave = BITS_PER_SYMBOL * (int(found.complexity[0]) + A_TERM) + FREE * constant_bits(rows)
    return waves * wave + float(residual_bits(rows, max(left, EXACT)))


SUMS_OF_WAVES = Stage("sums_of_waves", When.LEVEL, propose, needs=("sin", "cos"), once=True)
