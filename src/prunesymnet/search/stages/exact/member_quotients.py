"""Quotients of sums in which one function has a constant inside: `1/(exp(t*x) + exp(-t*x))` is `u/(u**2 + 1)` with
u = exp(t*x), and a hyperbolic tangent is `(u - 1)/(u + 1)`.

If t is known, y times the sum below is the sum above. One of the coefficients below may be 1, and the others are those
of a regression of its term on all the others, which leaves nothing. For a t nearby,

    A(t + d)*c = A(t)*c + d*A'(t)*c + ...

so what is left is in the direction of what the regression leaves of A'(t)*c. That is tested for all points of a grid at
once; those that pass are refined by Newton's steps, and what is then exact in every row is a hit.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, permutations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.dictionary import Dictionary, is_usable
from prunesymnet.bank.families import QUOTIENTS, Family
from prunesymnet.bank.monomials import few_enough, monomial_terms, raised
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import in_parts
from prunesymnet.bank.ways_down import ExactSum, ExactSums
from prunesymnet.coefficients.bases import TINY, of_length_one
from prunesymnet.expression import Constant, Variable
from prunesymnet.search.constraints import Vocabulary
from prunesymnet.search.stages.exact.newton import refined
from prunesymnet.search.stages.polynomials import weighted_sum

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

MOST_COLUMNS = 3  # with more, a polynomial beside the function has too many terms, and the function too many columns
NEARBY = 0.2  # of what is left at a point of the grid: what a step leaves of it there, or no constant is near
REFINED = 48  # points of the grid, of each family and shape: those that leave least
FURTHEST = 3.0  # times or part of the constant at a point of the grid: others are nearer to what is beyond
CONVERGED = 1e-9  # of a term's length: what is left of it where the constant is right
SMALLEST = 1e-13  # of the largest singular value: what is less is rounding
NEGLIGIBLE = 1e-6  # of the sum below: no law has such a term
CANCELLED = 1e-3  # of its terms, in half of the rows: a sum below that is less says only that the member is nearly 1
AT_A_TIME = 64  # matrices that are decomposed together: they fit into a processor's cache


class Shape(NamedTuple):
    """The degrees in the columns of what stands before 1, u, u**2, ..., above and below."""

    above: tuple[int, ...]
    below: tuple[int, ...]


LINES, POLYNOMIALS = Shape((1, 1), (0, 0)), Shape((2, 2), (0,))  # before the function, and before it and below
OF_ONE_COLUMN = (
    Shape((0, 0), (0, 0)),  # logistic curves, saturation, hyperbolic tangents
    Shape((0, 0, 0), (0, 0, 0)),  # one over a hyperbolic cosine, the square of what saturates
    LINES,
    POLYNOMIALS,
    Shape((1, 1), (1, 1)),  # Langevin's function
)
"""The simplest first: where one is exact, those that hold it are so in more than one way."""


def quotients_with_a_member(problem: Problem) -> ExactSums:
    """y as a sum divided by a sum, in terms of a member of a family, its square, and its products with the columns."""
    if len(problem.columns) > MOST_COLUMNS:
        return [], 0
    known = Vocabulary(problem.operators)
    nodes = _nodes(problem.columns, divides=problem.divides)
    points = [_Points.of(family, nodes) for family in QUOTIENTS if known.has(family.template)]
    tested = 0
    for shape in OF_ONE_COLUMN if len(problem.columns) == 1 else (LINES, POLYNOMIALS):
        if len(shape.below) > 1 and not problem.divides:
            continue
        hits = []
        for letters in _Letters.all_of(problem, shape):
            for some in points:
                tested += len(some.inside)
                hits += list(_hits(some, letters))
        if hits:
            return hits, tested
    return [], tested


class _Points(NamedTuple):
    """Members of a family: which node each is of, and the constant inside."""

    family: Family
    nodes: list[Term]
    which: Numbers
    inside: Array

    @classmethod
    def of(cls, family: Family, nodes: list[Term]) -> "_Points":
        """All points of the family's grid."""
        grids = [family.grid(node.values)[:, 0] for node in nodes]
        return cls(
            family, nodes, np.repeat(np.arange(len(nodes)), [len(grid) for grid in grids]), np.concatenate(grids)
        )

    def only(self, chosen: Numbers) -> "_Points":
        return self._replace(which=self.which[chosen], inside=self.inside[chosen])

    def values_and_slopes(self) -> tuple[Array, Array]:
        """Members of largest value 1 [points, rows], and their derivatives; 0 where one is not finite."""
        g = np.array([self.nodes[k].values for k in self.which])
        values, slopes = self.family.program.values_and_jacobian({"g": g}, self.inside[:, None])
        largest = np.abs(values).max(axis=1, keepdims=True)
        values, slopes = values / largest, slopes[:, 0] / largest
        usable = np.isfinite(values).all(axis=1) & np.isfinite(slopes).all(axis=1)
        return np.where(usable[:, None], values, 0.0), np.where(usable[:, None], slopes, 0.0)

    def member(self, k: int, inside: float) -> Term:
        return self.family.term(self.nodes[int(self.which[k])], np.array([inside]))


@dataclass(frozen=True)
class _Letters:
    """What the terms are made of: for each its power of the member, its product of columns, and whether it stands
    below, where it is multiplied by -y. The `goal` is one of those below without the member; its coefficient is 1."""

    y: Array
    powers: Numbers
    before: tuple[Term, ...]
    below: NDArray[np.bool_]
    columns: Array  # the products of all but the goal [terms, rows], times -y where they stand below, weighted
    goal: Array  # of length 1
    first: Term

    @classmethod
    def all_of(cls, problem: Problem, shape: Shape) -> "Iterator[_Letters]":
        """With each term below that may have the coefficient 1: none where there are too few rows for so many terms."""
        y, count = problem.y, len(problem.columns)
        products = [Term(np.ones_like(y), Constant(1)), *monomial_terms(problem.columns, max(shape.above))]
        terms = [
            (power, term, under)
            for part, under in ((shape.above, False), (shape.below, True))
            for power, degree in enumerate(part)
            for term in products[: comb(count + degree, degree)]  # those of a lower degree come first
        ]
        if not few_enough(len(terms), len(y)) or not all(map(is_usable, products)):
            return
        root = 1 / (1 + np.abs(y))  # what is exact is so in every row, however much it counts
        for goal, (power, first, lower) in enumerate(terms):
            if lower and power == 0:
                powers, before, below = zip(*(term for k, term in enumerate(terms) if k != goal), strict=True)
                columns = [term.values * (-y if under else 1.0) for term, under in zip(before, below, strict=True)]
                weighted = first.values * y * root
                yield cls(
                    y, np.array(powers), before, np.array(below), np.array(columns) * root,
                    of_length_one(weighted)[0], first,
                )  # fmt: skip

    def matrices(self, points: _Points) -> tuple[Array, Array]:
        """A(t) and its derivative [points, rows, terms], with columns of length 1."""
        values, slopes = (part[:, None] for part in points.values_and_slopes())
        powers = self.powers[:, None]
        columns = self.columns * values**powers
        along = self.columns * powers * values ** np.maximum(powers - 1, 0) * slopes
        scaled, lengths = of_length_one(columns)
        along = along / np.where(lengths > 0, lengths, 1.0)[:, :, None]
        return scaled.swapaxes(1, 2), along.swapaxes(1, 2)

    def hit(self, member: Term) -> ExactSum | None:
        """That y is a quotient with this member, if it is one in every row."""
        powers = [Term(member.values**k, raised(member.expression, k)) for k in range(1, int(self.powers.max()) + 1)]
        terms = [term if k == 0 else term * powers[k - 1] for k, term in zip(self.powers, self.before, strict=True)]
        if not all(map(is_usable, terms)):
            return None
        above = Dictionary.of([term for term, lower in zip(terms, self.below, strict=True) if not lower])
        below = [term for term, lower in zip(terms, self.below, strict=True) if lower]
        values = np.array([term.values for term in below]).reshape(len(below), len(self.y))
        scaled = above.rest(values * self.y / np.abs(values).max(axis=1, keepdims=True))
        solved = np.linalg.lstsq(scaled.T, -above.rest((self.first.values * self.y)[None])[0], rcond=SMALLEST)[0]
        kept = np.flatnonzero(
            np.abs(solved) > NEGLIGIBLE * max(np.abs(solved).max(initial=0.0), np.abs(self.first.values).max())
        )
        coefficients = solved / np.abs(values).max(axis=1)
        total = self.first.values + coefficients[kept] @ values[kept]
        sizes = np.abs(self.first.values) + np.abs(coefficients[kept]) @ np.abs(values[kept])
        if np.median(np.abs(total) / sizes) < CANCELLED or not above.holds((self.y * total)[None]).all():
            return None
        parts = [(1.0, self.first.expression), *((float(coefficients[k]), below[k].expression) for k in kept.tolist())]
        denominator = (
            None if len(parts) == 1 and self.first.expression == Constant(1) else Term(total, weighted_sum(parts))
        )
        return ExactSum(member.expression.complexity * len(parts), (), above, denominator=denominator, rough=True)


def _hits(points: _Points, letters: _Letters) -> Iterator[ExactSum]:
    """The constants with which y comes out as such a quotient."""
    with np.errstate(all="ignore"):
        looked = [
            _looked_at(points.only(np.array(part)), letters) for part in in_parts(range(len(points.inside)), AT_A_TIME)
        ]
        if not looked:
            return
        left, _, parallel = (np.concatenate(part) for part in zip(*looked, strict=True))
        near = np.flatnonzero(parallel > 1 - NEARBY)
        near = near[np.argsort(left[near], kind="stable")[:REFINED]]
        inside, left = _refined(points.only(near), letters) if len(near) else (np.empty(0), np.empty(0))
        for k in np.flatnonzero(left < CONVERGED).tolist():
            hit = letters.hit(points.member(int(near[k]), float(inside[k])))
            if hit is not None:
                yield hit


def _looked_at(points: _Points, letters: _Letters) -> tuple[Array, Array, Array]:
    """Of each point: what is left of the goal, the step to the constant that is best, and the share of what is left
    that lies in the direction of that step."""
    matrices, slopes = letters.matrices(points)
    basis, singular, right = np.linalg.svd(matrices, full_matrices=False)
    there = singular > SMALLEST * singular[:, :1]
    basis = basis * there[:, None]
    reached = np.einsum("pnk,n->pk", basis, letters.goal)
    solved = np.einsum("pkj,pk->pj", right, reached / np.where(there, singular, 1.0))
    rest = letters.goal - np.einsum("pnk,pk->pn", basis, reached)
    along = -np.einsum("pnk,pk->pn", slopes, solved)
    along = along - np.einsum("pnk,pk->pn", basis, np.einsum("pnk,pn->pk", basis, along))
    square, length, across = (
        np.einsum("pn,pn->p", one, two) for one, two in ((rest, rest), (along, along), (rest, along))
    )
    return np.sqrt(square), -across / np.maximum(length, TINY), across**2 / np.maximum(length * square, TINY)


def _refined(points: _Points, letters: _Letters) -> tuple[Array, Array]:
    """The best constants near these points, and what is left there."""

    def look(inside: Array) -> tuple[Array, Array]:
        return _looked_at(points._replace(inside=inside), letters)[:2]

    def within(inside: Array) -> Array:
        return points.inside * np.clip(inside / points.inside, 1 / FURTHEST, FURTHEST)

    return refined(points.inside, look, within)


def _nodes(columns: Mapping[str, Array], *, divides: bool) -> list[Term]:
    """What may stand in a member: the columns, one over them, products and quotients of two."""
    single = [Term(column, Variable(name)) for name, column in columns.items()]
    with np.errstate(all="ignore"):
        over = [Term(1 / term.values, 1 / term.expression) for term in single]
        quotients = [
            Term(one.values / two.values, one.expression / two.expression) for one, two in permutations(single, 2)
        ]
    products = [one * two for one, two in combinations(single, 2)]
    every = (*single, *products, *(over + quotients if divides else []))
    return [term for term in every if is_usable(term) and np.ptp(term.values) > 0]
