"""Two frequencies at once: sin(v*p + w*q + c) for pairs of nodes p and q, such as sin((x - 1)*(y - 1)).

With E_p = exp(i*v*p) for a grid of v [frequencies, points] and r what is left of the target, all pairs of frequencies
are one matrix product, (E_p r) E_q', and those of opposite sign are one with the conjugate of E_q. The squared size is
about what sine and cosine explain together; the best are looked at again in full.

For P nodes, G frequencies of each and n points a question costs P^2 G^2 n complex products.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.asked import EXACT, Asked, Proposal
from prunesymnet.bank.scan import Base, unexplained
from prunesymnet.expression import Constant, Expression
from prunesymnet.search.stages.frequencies import Grid, wave

Array = NDArray[np.float64]


class _Phase(NamedTuple):
    left: float
    asked: int
    one: int
    two: int
    v: float
    w: float


def pursue_phases(
    asked: list[Asked], nodes: list[tuple[Array, Expression]], count: int, keep: int, names: tuple[str, ...]
) -> list[Proposal]:
    """The best formulas with one sine or cosine of two nodes, each with `count` frequencies."""
    grids = [Grid.of(u, count).frequencies for u, _ in nodes]
    # A shift of u is a phase, and single precision has too few digits for one far from zero.
    waves = [_turning(u - np.median(u), grid) for (u, _), grid in zip(nodes, grids, strict=True)]
    hits: list[_Phase] = []
    for p in range(len(nodes) - 1):
        others = np.concatenate([wave for other in waves[p + 1 :] for wave in (other, other.conj())]).T
        q = np.repeat(np.arange(p + 1, len(nodes)), 2 * count)
        w = np.concatenate([signed for grid in grids[p + 1 :] for signed in (grid, -grid)])
        for k, question in enumerate(one.question() for one in asked):
            base = Base.of(question)
            both = (waves[p] * (base.rest * base.root).astype(np.float32)) @ others
            size = (both.real**2 + both.imag**2).reshape(-1)
            most = min(2 * keep, len(size))
            mine, theirs = np.divmod(np.argpartition(-size, most - 1)[:most], len(w))
            v = grids[p][mine]
            inside = v[:, None] * nodes[p][0] + np.array([w[t] * nodes[q[t]][0] for t in theirs])
            left = unexplained(np.stack([np.sin(inside), np.cos(inside)], axis=1), question)
            found = zip(left.tolist(), q[theirs].tolist(), v.tolist(), w[theirs].tolist(), strict=True)
            hits.extend(_Phase(e, k, p, other, one, two) for e, other, one, two in found)
    return [_proposal(hit, asked[hit.asked], nodes, names) for hit in sorted(hits)[: 2 * keep]]


def _turning(u: Array, frequencies: Array) -> NDArray[np.complex64]:
    out: NDArray[np.complex64] = np.exp(1j * np.outer(frequencies, u)).astype(np.complex64)
    return out


def _proposal(hit: _Phase, asked: Asked, nodes: list[tuple[Array, Expression]], names: tuple[str, ...]) -> Proposal:
    (one, first), (two, second) = nodes[hit.one], nodes[hit.two]
    inside = Constant(hit.v) * first + Constant(hit.w) * second
    *_, with_phase = wave(asked, hit.v * one + hit.w * two, inside, 1.0, names)
    return Proposal(asked.formula([with_phase]), max(hit.left, EXACT), "phases")
