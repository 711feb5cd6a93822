"""Sums of the terms of a dictionary, times a member of a family: `(x - 2*y*z)*exp(-0.3*x)`.

If y is a sum times phi(t), then `y/phi(t)` lies in the span of the terms, for the right t alone. For a t nearby,

    y/phi(t + d) = y/phi(t) + d*(y/phi)'(t) + ...

so what the span leaves of the first column is in the direction of what it leaves of the second. That is tested for all
members at once; those that pass are refined by Newton's steps, and what is then exact in every row is a hit.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.dictionary import Dictionary, is_usable, of_size_one, sums_of
from prunesymnet.bank.families import BEFORE_SUMS, Family
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.targets import Factor
from prunesymnet.bank.ways_down import Found, Hit
from prunesymnet.expression import Variable
from prunesymnet.search.constraints import Vocabulary

Array = NDArray[np.float64]

NEARBY = 0.1  # of what the span leaves of a target: what its derivative leaves of that, at a point of the grid
STEPS = 12  # from there on
STEPS_TO_TELL, NEARLY = 6, 1e-5  # after so many, that share of a target must be left, or no constant is right
REFINED = 40  # members of a family, for each dictionary: those whose target is nearest to the span
CONVERGED = 1e-9  # of a target: what is left of it where the constant is right


def behind_a_member(problem: Problem, dictionaries: Sequence[Dictionary]) -> Found:
    """Sums times a member of a family."""
    known = Vocabulary(problem.operators)
    nodes = _nodes(problem.columns, divides=problem.divides)
    hits, tested = [], 0
    for family in BEFORE_SUMS:
        if known.has(family.template):
            members = _Members(problem.y, family, nodes)
            tested += len(members.inside) * len(dictionaries)
            hits += [hit for words in dictionaries for hit in members.hits(words)]
    return hits, tested


def _nodes(columns: Mapping[str, Array], *, divides: bool) -> list[Term]:
    """What may stand inside: the columns, quotients of two and the squares of these, sums and differences."""
    single = [Term(column, Variable(name)) for name, column in columns.items()]
    with np.errstate(all="ignore"):
        quotients = [
            Term(one.values / two.values, one.expression / two.expression)
            for one, two in permutations(single if divides else [], 2)
        ]
        squares = [Term(term.values**2, term.expression**2) for term in (*single, *quotients)]
    every = (*single, *quotients, *squares, *sums_of(columns))
    return [term for term in every if is_usable(term) and np.ptp(term.values) > 0]


class _Members:
    """Those of a family, for all nodes, by which y is divided."""

    def __init__(self, y: Array, family: Family, nodes: Sequence[Term]) -> None:
        self.y, self.family, self.nodes = y, family, nodes
        with np.errstate(all="ignore"):
            grids = [family.grid(node.values) for node in nodes]
        self.node = np.repeat(np.arange(len(nodes)), [len(grid) for grid in grids])
        self.inside = np.concatenate([np.empty((0, 1)), *grids])
        self.on_the_grid = self.targets(self.node, self.inside)

    def targets(self, node: NDArray[np.int64], inside: Array) -> tuple[Array, Array]:
        """y divided by members, of largest value 1, and the derivatives of this by the constant inside; 0 where one is
        not finite."""
        g = np.array([self.nodes[k].values for k in node]).reshape(-1, len(self.y))
        with np.errstate(all="ignore"):
            values, slopes = self.family.program.values_and_jacobian({"g": g}, inside)
            scaled, usable = of_size_one(self.y / values)
            along = -scaled * slopes[:, 0] / values
            usable &= np.isfinite(along).all(axis=1)
        return np.where(usable[:, None], scaled, 0.0), np.where(usable[:, None], along, 0.0)

    def hits(self, words: Dictionary) -> Iterator[Hit]:
        """The members with which y is a sum of the terms."""
        targets, slopes = self.on_the_grid
        left, along = words.rest(targets), words.rest(slopes)
        size = _squares(left)
        parallel = np.square(np.einsum("mn,mn->m", left, along)) / np.maximum(_squares(along), 1e-300)
        near = np.flatnonzero((size > 0) & (size - parallel < NEARBY * size))
        near = near[np.argsort(size[near] / _squares(targets[near]), kind="stable")[:REFINED]]
        if not len(near):
            return
        node, inside = self.node[near], self._refined(words, near)
        targets, _ = self.targets(node, inside)
        left = words.rest(targets)
        there = np.flatnonzero(_squares(left) < CONVERGED**2 * _squares(targets))
        for k in there[words.holds(targets[there])].tolist():
            member = self.family.term(self.nodes[int(node[k])], inside[k])
            yield Hit(member.expression.complexity, (Factor(member),), words, rough=True)

    def _refined(self, words: Dictionary, near: NDArray[np.int64]) -> Array:
        """The constants inside by Newton's method: each step goes where the span would leave nothing, if the target
        were linear in the constant, and half as far as long as it leaves more than before."""
        node, inside = self.node[near], self.inside[near]
        best = np.full(len(near), np.inf)
        step = np.zeros(len(near))
        kept = inside.copy()
        for number in range(STEPS):
            targets, slopes = self.targets(node, inside)
            left, along = words.rest(targets), words.rest(slopes)
            size = _squares(left) / np.maximum(_squares(targets), 1e-300)
            better = (size < best) & (_squares(targets) > 0)
            newton = -np.einsum("mn,mn->m", left, along) / np.maximum(_squares(along), 1e-300)
            kept[better], best[better] = inside[better], size[better]
            step = np.where(better, newton, step / 2)
            inside = kept + step[:, None]
            if number >= STEPS_TO_TELL and not (best < NEARLY).any():
                break
        return kept


def _squares(rows: Array) -> Array:
    return np.asarray(np.einsum("mn,mn->m", rows, rows))
