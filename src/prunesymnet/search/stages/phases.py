"""Two frequencies at once: sin(v*p + w*q + c) for pairs of nodes p and q, such as sin((x - 1)*(y - 1)).

With E_p = exp(i*v*p) for a grid of v [frequencies, points] and r what is left of the target, all pairs of frequencies
are one matrix product, (E_p r) E_q', and those of opposite sign are one with the conjugate of E_q. The squared size is
about what sine and cosine explain together; the best are looked at again in full.

For P nodes, G frequencies of each and n points a query costs P^2 G^2 n complex products.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.query import EXACT, Proposal, Query
from prunesymnet.bank.regression import Residual, unexplained
from prunesymnet.expression import Constant
from prunesymnet.search.stages.base import Batch, Context, Stage, When
from prunesymnet.search.stages.frequencies import Grid, functions_of, wave

Array = NDArray[np.float64]


def propose(context: Context) -> Iterator[Batch]:
    """For the target alone, and beside all terms of a low degree."""
    target, bank, budget = context.problem.target, context.pair_bank, context.budget
    queries = [Query(target), *(Query(target, terms) for terms in context.polynomial_terms(1, 2))]
    nodes = [bank.term(node) for node in bank.different(bank.algebraic_nodes())[: budget.phase_nodes]]
    yield Batch(phases(queries, nodes, budget.phase_grid, context.scanner.keep, functions_of(context)))


class _TwoFrequencies(NamedTuple):
    """The frequencies `v` and `w` of two nodes, and what their wave leaves of a query."""

    unexplained: float
    query: int
    one: int
    two: int
    v: float
    w: float


def phases(queries: list[Query], nodes: list[Term], count: int, keep: int, names: tuple[str, ...]) -> list[Proposal]:
    """The best formulas with one sine or cosine of two nodes, each with `count` frequencies."""
    grids = [Grid.of(node.values, count).frequencies for node in nodes]
    # A shift of u is a phase, and single precision has too few digits for one far from zero.
    turning = [_turning(u - np.median(u), grid) for (u, _), grid in zip(nodes, grids, strict=True)]
    hits: list[_TwoFrequencies] = []
    for p in range(len(nodes) - 1):
        others = np.concatenate([turns for other in turning[p + 1 :] for turns in (other, other.conj())]).T
        q = np.repeat(np.arange(p + 1, len(nodes)), 2 * count)
        w = np.concatenate([signed for grid in grids[p + 1 :] for signed in (grid, -grid)])
        for k, regression in enumerate(query.regression() for query in queries):
            residual = Residual.of(regression)
            both = (turning[p] * (residual.values * residual.root).astype(np.float32)) @ others
            size = (both.real**2 + both.imag**2).reshape(-1)
            most = min(2 * keep, len(size))
            mine, theirs = np.divmod(np.argpartition(-size, most - 1)[:most], len(w))
            v = grids[p][mine]
            inside = v[:, None] * nodes[p].values + np.array([w[t] * nodes[q[t]].values for t in theirs])
            left = unexplained(np.stack([np.sin(inside), np.cos(inside)], axis=1), regression)
            found = zip(left.tolist(), q[theirs].tolist(), v.tolist(), w[theirs].tolist(), strict=True)
            hits.extend(_TwoFrequencies(e, k, p, other, one, two) for e, other, one, two in found)
    return [_proposal(hit, queries[hit.query], nodes, names) for hit in sorted(hits)[: 2 * keep]]


def _turning(u: Array, frequencies: Array) -> NDArray[np.complex64]:
    out: NDArray[np.complex64] = np.exp(1j * np.outer(frequencies, u)).astype(np.complex64)
    return out


def _proposal(hit: _TwoFrequencies, query: Query, nodes: list[Term], names: tuple[str, ...]) -> Proposal:
    one, two = nodes[hit.one], nodes[hit.two]
    inside = Constant(hit.v) * one.expression + Constant(hit.w) * two.expression
    *_, with_phase = wave(query, Term(hit.v * one.values + hit.w * two.values, inside), 1.0, names)
    return Proposal(query.formula([with_phase]), max(hit.unexplained, EXACT))


PHASES = Stage("phases", When.LEVEL, propose, needs=("sin", "cos"))
