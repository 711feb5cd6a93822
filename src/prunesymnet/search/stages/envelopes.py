"""Waves that grow, decay, swell or come in packets: a member of a family times a wave of any frequency and phase.

`a*exp(-t/tau)*cos(w*t + p)` has three constants inside, and as many valleys as a wave without an envelope. But for one
envelope e and one frequency w it is linear: `e*sin(w*t)` and `e*cos(w*t)` are two columns of a regression. Their
products with each other and with what is left of the target are sums over the rows of a function of e times a function
of w. So for all envelopes on a grid (`bank/families.py`) and all frequencies on another, each is one product of two
matrices. The tops of the hills go on: rate, frequency and phase are refined together, and only then are families
compared.

For E envelopes, F frequencies and n rows a query costs E*F*n products for each pair of the columns, and as many for
each of its fixed terms: with 60 rows some hundredths of a second.

A smooth curve is no wave: what a polynomial of the column, or an envelope alone, describes in fewer bits is not
proposed. In several columns a wave with an envelope is a factor or a term of its own, and is found once the column
stands alone (`groups`, `parts`).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.families import ENVELOPES, WAVES, Family, Members, enveloped, members
from prunesymnet.bank.family_fit import refined
from prunesymnet.bank.family_scan import MemberAnswer, alone, explained_by
from prunesymnet.bank.query import A_TERM, EXACT, Proposal, Query
from prunesymnet.bank.regression import Residual, unexplained
from prunesymnet.coefficients.description import BITS_PER_SYMBOL, constant_bits, residual_bits
from prunesymnet.coefficients.linear import weighted_least_squares
from prunesymnet.expression import Variable
from prunesymnet.search.constraints import Vocabulary
from prunesymnet.search.stages.base import Batch, Context, Stage, When
from prunesymnet.search.stages.frequencies import FREQUENCIES, Grid

Array = NDArray[np.float64]

ONE_WAVE = 7  # on the grid, whose steps are a radian over the range: from there on the rows see a whole wave
HILLS = 3  # frequencies of each family that are refined: with the wrong envelope another may explain more
MOVES = 16  # of a refinement: frequency, phase and envelope move at once
SMOOTH = 6  # degree of the polynomial that a wave is compared with: it has as many constants as the longest of these
PROPOSED = 8  # families of each query


@dataclass(frozen=True, eq=False)
class Enveloped:
    """A wave with its envelope as a term, what it leaves unexplained, and the bits of both."""

    term: Term
    unexplained: float
    bits: float


def propose(context: Context) -> Iterator[Batch]:
    problem = context.problem
    known = Vocabulary(problem.operators)
    wave = next((family for family in WAVES if known.has(family.template)), None)
    if wave is None or len(problem.columns) != 1:
        return
    ((name, values),) = problem.columns.items()
    column = Term(values, Variable(name))
    if not np.ptp(values) > 0:
        return
    found = members([column], [family for family in ENVELOPES if known.has(family.template)])
    for terms in ((), (column,)):
        context.check()
        query = Query(problem.target, terms)
        best = waves_with_envelopes(found, query, wave)
        proposals = [Proposal(query.formula([one.term]), max(one.unexplained, EXACT)) for one in best]
        yield Batch(proposals, len(found) * len(frequencies_of(values)))


def frequencies_of(u: Array) -> Array:
    """Those that so many rows can tell apart, from a whole wave on."""
    return Grid.of(u, min(FREQUENCIES, round(np.pi * len(u)))).frequencies[ONE_WAVE - 1 :]


def waves_with_envelopes(found: Members, query: Query, wave: Family) -> list[Enveloped]:
    """The best wave with an envelope of each family, the shortest description first; `found` are envelopes of one
    column."""
    if not len(found):
        return []
    column, rows = found.nodes[0].values, len(query.target.values)
    frequencies = frequencies_of(column)
    left = scanned(found, query, column, frequencies)
    chosen = [(found.groups[k].start + int(np.argmin(left[found.groups[k], w])), w) for k, w in _hills(found, left)]
    products = _products(found, query, wave, [(member, float(frequencies[w])) for member, w in chosen])
    hits = [MemberAnswer(0.0, 0, query, (k,)) for k in range(len(chosen))]
    after = refined(hits, products, steps=MOVES)
    to_beat = smooth_bits(found, query)
    best: dict[int, Enveloped] = {}
    for k, family in enumerate(products.family.tolist()):
        error = float(after.unexplained[k])
        constants = 1 + len(products.families[family].program.constants)
        size = BITS_PER_SYMBOL * (int(products.complexity[k]) + A_TERM) + constants * constant_bits(rows)
        bits = size + float(residual_bits(rows, max(error, EXACT)))
        if bits < to_beat and (family not in best or bits < best[family].bits):
            best[family] = Enveloped(after.terms(k)[0], error, bits)
    return sorted(best.values(), key=lambda one: one.bits)[:PROPOSED]


def scanned(found: Members, query: Query, column: Array, frequencies: Array) -> Array:
    """What each envelope leaves with a wave of each frequency and any phase [envelopes, frequencies]."""
    residual = Residual.of(query.regression())
    turns = np.outer(column - column.mean(), frequencies)  # sine and cosine together do not mind a shift
    sine, cosine = np.sin(turns), np.cos(turns)
    envelope, root = found.columns[:, 0], residual.root
    target = envelope * (residual.values * root)
    fixed = [envelope * (one * root) for one in residual.basis]
    squares = (envelope * root) ** 2
    along = [target @ sine, target @ cosine]
    gram = {(0, 0): squares @ sine**2, (1, 0): squares @ (sine * cosine), (1, 1): squares @ cosine**2}
    parts = [[one @ wave for one in fixed] for wave in (sine, cosine)]
    return np.asarray(1 - residual.explained - explained_by(along, gram, parts)[1])


def _hills(found: Members, left: Array) -> Iterator[tuple[int, int]]:
    """The best frequencies of each family: (group of members, frequency). Neighbours are one: only the tops count."""
    for k, group in enumerate(found.groups):
        lowest = left[group].min(axis=0)
        padded = np.concatenate([[np.inf], lowest, [np.inf]])
        tops = np.flatnonzero((lowest <= padded[:-2]) & (lowest <= padded[2:]))
        yield from ((k, int(w)) for w in tops[np.argsort(lowest[tops], kind="stable")[:HILLS]])


def _products(found: Members, query: Query, wave: Family, chosen: list[tuple[int, float]]) -> Members:
    """Some envelopes times a wave of some frequency, at its best phase there, as members of one family each."""
    column, target = found.nodes[0].values, query.target
    number = found.family[[member for member, _ in chosen]]
    families = tuple(enveloped(family, wave) for family in found.families)
    inside = np.zeros((len(chosen), found.inside.shape[1] + 2))
    for k, (member, frequency) in enumerate(chosen):
        count = len(families[int(number[k])].program.constants) - 2
        envelope, turns = found.columns[member, 0], frequency * column
        columns = np.array([np.ones_like(column), *query.columns(), envelope * np.sin(turns), envelope * np.cos(turns)])
        a, b = weighted_least_squares(columns, target.values, target.weights).coefficients[-2:]
        # a*sin(u) + b*cos(u) is a multiple of sin(u + phase), and of cos(u + phase - pi/2)
        phase = float(np.arctan2(b, a)) - (np.pi / 2 if wave is WAVES[1] else 0.0)
        inside[k, : count + 2] = [*found.inside[member, :count], frequency, phase]
    complexity = np.array([families[f].complexity(found.nodes[0].expression) for f in number.tolist()], dtype=np.int64)
    columns = np.empty((len(chosen), 0, len(column)))  # those on the grid are not asked for
    return Members(families, found.nodes, number, np.zeros_like(number), inside, columns, complexity)


def smooth_bits(found: Members, query: Query) -> float:
    """What a smooth curve takes: the best polynomial of the column, or the best envelope without a wave; what they
    leave, and their constants."""
    column, residual = found.nodes[0].values, query.regression()
    rows = len(column)
    powers = np.polynomial.legendre.legvander(2 * (column - column.min()) / np.ptp(column) - 1, SMOOTH).T[1:]
    left = [(float(unexplained(powers[None, :k], residual)[0]), k) for k in range(SMOOTH + 1)]
    after = refined(alone(found, [query]), found)
    members_of = [hit.members[0] for hit in after.hits]
    inside = [len(found.families[int(found.family[member])].program.constants) for member in members_of]
    left += [(error, 1 + count) for error, count in zip(after.unexplained.tolist(), inside, strict=True)]
    return min(float(residual_bits(rows, max(error, EXACT))) + count * constant_bits(rows) for error, count in left)


ENVELOPES_OF_WAVES = Stage("envelopes", When.LEVEL, propose, needs=("sin", "cos"), once=True)
