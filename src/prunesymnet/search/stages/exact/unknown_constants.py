"""Sums of the terms of a dictionary, around which something stands that has one constant inside.

`(x - 2*y*z)*exp(-0.3*x)` is a sum behind a member of a family, `2.5 + x**1.7*exp(-0.3*y)` a sum in a function beside an
offset, `3.1*log(x + 2*y)` one in a function that has an amplitude. If the constant t is known, so is what must be a sum
for y to come out, and it lies in the span of the terms, for the right t alone. For a t nearby,

    g(t + d) = g(t) + d*g'(t) + ...

so what the span leaves of the first column is in the direction of what it leaves of the second. That is tested for all
points of a grid at once; those that pass are refined by Newton's steps, and what is then exact in every row is a hit.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, permutations
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.dictionary import Dictionary, is_usable, of_size_one, sums_of
from prunesymnet.bank.families import BEFORE_SUMS, RATES, SHIFTS, Family
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.targets import Factor, Function, Offset, Step, invertible
from prunesymnet.bank.ways_down import A_FUNCTION, ExactSum, ExactSums, Factors
from prunesymnet.coefficients.bases import TINY
from prunesymnet.expression import Constant, Variable
from prunesymnet.search.constraints import Vocabulary
from prunesymnet.search.stages.exact.newton import refined

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

NEARBY = 0.1  # of what the span leaves of a target: what its derivative leaves of that, at a point of the grid
NEARLY = 1e-10  # of the squares of a target: if no constant leaves less, none is right
REFINED = 24  # points of a grid, for each dictionary: those whose target is nearest to the span
CONVERGED = 1e-9  # of a target: what is left of it where the constant is right
DIVIDED = 12  # nodes by which y is divided, and which it is multiplied with, before what has a constant is undone


def behind_a_member(problem: Problem, dictionaries: Sequence[Dictionary]) -> ExactSums:
    """Sums times a member of a family."""
    known = Vocabulary(problem.operators)
    nodes = _nodes(problem.columns, divides=problem.divides)
    families = [family for family in BEFORE_SUMS if known.has(family.template)]
    return _found([_Members(problem.y, family, nodes) for family in families], dictionaries)


def in_a_function(problem: Problem, factors: Factors, dictionaries: Sequence[Dictionary]) -> ExactSums:
    """Sums in a function that stands beside an offset, or has an amplitude."""
    few, ways = factors.first(DIVIDED), list[_Ways]()
    with np.errstate(all="ignore"):
        starts = [
            (problem.y[None], None, True),
            (problem.y / few.values, few, True),
            (problem.y * few.values, few, False),
        ]
    for row in invertible(problem.operators):
        offsets = Function(row).takes_up_a_factor()
        for sign in (1, -1) if offsets else (1,):
            ways += [_Ways(*start, Function(row, sign), offsets) for start in starts]
    return _found(ways, dictionaries)


class _OneConstant(Protocol):
    """Targets that have a constant inside, at points of a grid."""

    which: Numbers  # of the targets, for each point
    inside: Array  # the constant there

    def targets(self, which: Numbers, inside: Array) -> tuple[Array, Array]:
        """What must be a sum [points, rows], and its derivatives by the constant."""

    def hit(self, which: int, inside: float, words: Dictionary) -> ExactSum:
        """That it is one."""


class _Members:
    """y divided by the members of a family, for all nodes."""

    def __init__(self, y: Array, family: Family, nodes: Sequence[Term]) -> None:
        self.y, self.family, self.nodes = y, family, nodes
        with np.errstate(all="ignore"):
            grids = [family.grid(node.values)[:, 0] for node in nodes]
        self.which = np.repeat(np.arange(len(nodes)), [len(grid) for grid in grids])
        self.inside = np.concatenate([np.empty(0), *grids])

    def targets(self, which: Numbers, inside: Array) -> tuple[Array, Array]:
        g = np.array([self.nodes[k].values for k in which]).reshape(-1, len(self.y))
        values, slopes = self.family.program.values_and_jacobian({"g": g}, inside[:, None])
        targets = self.y / values
        return targets, -targets * slopes[:, 0] / values

    def hit(self, which: int, inside: float, words: Dictionary) -> ExactSum:
        member = self.family.term(self.nodes[which], np.array([inside]))
        return ExactSum(member.expression.complexity, (Factor(member),), words, rough=True)


class _Ways:
    """What is in a function of y, or of y by or times some factors, without an offset, or without an amplitude."""

    def __init__(
        self, values: Array, factors: Factors | None, divides: bool, function: Function, offsets: bool
    ) -> None:
        there = np.flatnonzero(np.isfinite(values).all(axis=1) & (np.ptp(values, axis=1) > 0))
        self.values, self.factors, self.divides, self.function, self.offsets = (
            values,
            factors,
            divides,
            function,
            offsets,
        )
        range_of, most = np.ptp(values[there], axis=1)[:, None], np.abs(values[there]).max(axis=1)[:, None]
        if offsets:  # beyond one end of the range
            ends = values[there].min(axis=1) if function.sign > 0 else values[there].max(axis=1)
            grid = ends[:, None] - function.sign * SHIFTS * range_of
        else:
            rates = np.concatenate([range_of / RATES, most * (1 + SHIFTS)], axis=1)
            grid = np.concatenate([rates, -rates], axis=1)
        self.which, self.inside = np.repeat(there, grid.shape[1]), grid.reshape(-1)

    def targets(self, which: Numbers, inside: Array) -> tuple[Array, Array]:
        values, constant = self.values[which], inside[:, None]
        outside = values - constant if self.offsets else values / constant
        by_constant = -1.0 if self.offsets else -outside / constant
        targets = self.function.down(outside)
        return targets, by_constant * self.function.sign / self.function.slope(targets)

    def hit(self, which: int, inside: float, words: Dictionary) -> ExactSum:
        steps: tuple[Step, ...] = (Offset(inside),)
        if not self.offsets:
            steps = (Factor(Term(np.full(self.values.shape[1], inside), Constant(inside))),)
        size = A_FUNCTION + 2
        if self.factors is not None:
            factor = self.factors.term(which)
            steps, size = (Factor(factor, self.divides), *steps), size + factor.expression.complexity
        return ExactSum(size, (*steps, self.function), words, rough=True)


def _nodes(columns: Mapping[str, Array], *, divides: bool) -> list[Term]:
    """What may stand in a member: the columns, quotients of two and the squares of these, sums and differences."""
    single = [Term(column, Variable(name)) for name, column in columns.items()]
    with np.errstate(all="ignore"):
        quotients = [
            Term(one.values / two.values, one.expression / two.expression)
            for one, two in permutations(single if divides else [], 2)
        ]
        squares = [Term(term.values**2, term.expression**2) for term in (*single, *quotients)]
    every = (*single, *quotients, *squares, *sums_of(columns))
    return [term for term in every if is_usable(term) and np.ptp(term.values) > 0]


def _found(ways: Sequence[_OneConstant], dictionaries: Sequence[Dictionary]) -> ExactSums:
    hits = chain.from_iterable(_hits(way, dictionaries) for way in ways if len(way.which))
    return list(hits), len(dictionaries) * sum(len(way.which) for way in ways)


def _hits(way: _OneConstant, dictionaries: Sequence[Dictionary]) -> Iterator[ExactSum]:
    """The constants with which y comes out as a sum of the terms."""
    targets, slopes = _scaled(way, way.which, way.inside)
    for words in dictionaries:
        left, along = words.rest(targets), words.rest(slopes)
        size = _squares(left)
        parallel = np.square(np.einsum("mn,mn->m", left, along)) / np.maximum(_squares(along), TINY)
        near = np.flatnonzero((size > 0) & (size - parallel < NEARBY * size))
        near = near[np.argsort(size[near] / _squares(targets[near]), kind="stable")[:REFINED]]
        if not len(near):
            continue
        which, inside = way.which[near], _refined(way, words, near)
        refined, _ = _scaled(way, which, inside)
        there = np.flatnonzero(_squares(words.rest(refined)) < CONVERGED**2 * _squares(refined))
        for k in there[words.holds(refined[there])].tolist():
            yield way.hit(int(which[k]), float(inside[k]), words)


def _scaled(way: _OneConstant, which: Numbers, inside: Array) -> tuple[Array, Array]:
    """Targets of largest value 1, and their derivatives by the constant; 0 where one is not finite."""
    with np.errstate(all="ignore"):
        targets, slopes = way.targets(which, inside)
        largest = np.abs(targets).max(axis=1, keepdims=True)
        scaled, usable = of_size_one(targets)
        along = slopes / largest
        usable &= np.isfinite(along).all(axis=1)
    return np.where(usable[:, None], scaled, 0.0), np.where(usable[:, None], along, 0.0)


def _refined(way: _OneConstant, words: Dictionary, near: Numbers) -> Array:
    """The best constants near these points: each step goes where the span would leave nothing, if the target were
    linear in the constant."""

    def look(inside: Array) -> tuple[Array, Array]:
        targets, slopes = _scaled(way, way.which[near], inside)
        left, along, squares = words.rest(targets), words.rest(slopes), _squares(targets)
        share = np.where(squares > 0, _squares(left) / np.maximum(squares, TINY), np.inf)
        return share, -np.einsum("mn,mn->m", left, along) / np.maximum(_squares(along), TINY)

    return refined(way.inside[near], look, near=NEARLY)[0]


def _squares(rows: Array) -> Array:
    return np.asarray(np.einsum("mn,mn->m", rows, rows))
