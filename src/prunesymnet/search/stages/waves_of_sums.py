"""Waves of sums of up to three simple terms, such as `cos(x*y + z/u + 1.8)` and `sin(x + sin(y) + 0.25*x*y*z)`.

The wave of a sum is a product: with E_p = exp(i*p) for each term p, what `sin(p + q + r)` and its cosine explain of a
target t is about the squared size of the sum of E_p*E_q*E_r*t over the rows. So one product of matrices, of all pairs
with all terms and their conjugates, scores all sums in which each term is added or subtracted; the best are looked at
again in full. The third may have any frequency, too: then it stands for a grid of these.

For W terms and n points a target costs 2*W**3*n complex products.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.query import EXACT, Proposal, Query
from prunesymnet.bank.regression import Residual, unexplained
from prunesymnet.bank.targets import unwrap
from prunesymnet.bank.words import words_of
from prunesymnet.expression import Expression
from prunesymnet.expression.tree import exact_if_whole
from prunesymnet.search.stages.base import Batch, Context, Stage, When
from prunesymnet.search.stages.frequencies import Grid, functions_of, wave
from prunesymnet.search.stages.polynomials import weighted_sum

Array = NDArray[np.float64]
Complex = NDArray[np.complex64]

FEW = 0.5  # of the terms, for what is left of y by a term, a factor or a function, and beside one of any frequency
FREQUENCIES = 64  # of the third term, where it may have any: up to ten waves over its range
BESIDE = 24  # terms beside which such a wave may stand
AT_A_TIME = 64  # first terms and pairs of these: what their products with all others take fits into a cache
LOOKED_AT = 32  # of a target, in full: the squared size is rough
PROPOSED = 4  # of each kind of sums
LARGEST = 1e4  # radians: in single precision more is not told apart
NESTED = 0.1  # of the variation: a wave of a function must leave less, as in noise anything is one


def propose(context: Context) -> Iterator[Batch]:
    problem, names, target = context.problem, functions_of(context), context.problem.target
    words = words_of(problem.columns, problem.operators, context.budget.wave_words)
    sizes, spans = np.abs(words.values).max(axis=1, initial=0.0), np.ptp(words.values, axis=1)
    usable = np.flatnonzero((sizes < LARGEST) & (spans > 0))
    if not len(usable) or len(problem.columns) == 1:  # of one column, all terms are nearly alike
        return
    terms, nested = [words.term(int(k)) for k in usable], words.function[usable] >= 0
    queries = [Query(target, (term,)) for term in terms[:BESIDE]]
    queries += map(Query, unwrap(target, context.simple_factors(context.budget.sum_factors), problem.operators)[1:])
    few = math.ceil(FEW * len(terms))
    for sums, asked in (
        (Sums.of(terms, nested, pairs_of=len(terms)), [Query(target)]),
        (Sums.of(terms, nested, pairs_of=few, frequencies=FREQUENCIES), [Query(target)]),
        (Sums.of(terms[:few], nested, pairs_of=few), queries),
    ):
        hits = []
        for query in asked:
            context.check()
            hits += sums.best(query)
        yield Batch(_proposals(hits, names), len(asked) * sums.count)


class WaveOfSum(NamedTuple):
    """A sum of terms, with their coefficients, inside a wave, and what that leaves of a query."""

    unexplained: float
    query: Query
    inside: Term


@dataclass(frozen=True)
class Sums:
    """Sums of terms: each of `first` (terms, and all pairs of these) with each of `second` (none, terms added and taken
    off; or terms of any frequency). Which terms these are, by their coefficients [sums, terms], and exp(i*sum) of both
    [sums, rows]."""

    terms: list[Term]
    nested: NDArray[np.bool_]  # which of the terms have a function
    first: Array
    second: Array
    first_turns: Complex
    second_turns: Complex

    @classmethod
    def of(cls, terms: list[Term], nested: NDArray[np.bool_], pairs_of: int, frequencies: int = 0) -> "Sums":
        one = np.eye(len(terms))
        i, j = np.triu_indices(pairs_of, k=1)
        first = np.concatenate([one[:pairs_of], one[i] + one[j], one[i] - one[j]])
        second = np.concatenate([0 * one[:1], one, -one])
        if frequencies:
            grids = [Grid.of(term.values, frequencies).frequencies for term in terms]
            second = np.concatenate([np.outer(grid, one[k]) for k, grid in enumerate(grids)])
        values = np.array([term.values for term in terms])
        values = values - np.median(values, axis=1, keepdims=True)  # a phase
        with np.errstate(all="ignore"):
            turns = [np.exp(1j * (coefficients @ values)).astype(np.complex64) for coefficients in (first, second)]
        return cls(terms, nested[: len(terms)], first, second, turns[0], turns[1])

    @property
    def count(self) -> int:
        return len(self.first) * len(self.second)

    def best(self, query: Query) -> list[WaveOfSum]:
        """The sums whose waves explain most of a query."""
        regression = query.regression()
        residual = Residual.of(regression)
        target = (residual.values * residual.root).astype(np.float32)
        sizes, places = [], []
        for start in range(0, len(self.first), AT_A_TIME):
            both = (self.first_turns[start : start + AT_A_TIME] * target) @ self.second_turns.T
            size = both.real**2 + both.imag**2
            best = size.argmax(axis=1)
            sizes.append(size[np.arange(len(best)), best])
            places.append(best)
        one = np.argsort(-np.concatenate(sizes), kind="stable")[:LOOKED_AT]
        two = np.concatenate(places)[one]
        coefficients = self.first[one] + self.second[two]
        coefficients *= np.where(coefficients.sum(axis=1, keepdims=True) < 0, -1, 1)  # that is a phase, too
        inside = coefficients @ np.array([term.values for term in self.terms])
        left = unexplained(np.stack([np.sin(inside), np.cos(inside)], axis=1), regression).tolist()
        is_nested = (coefficients[:, self.nested] != 0).any(axis=1)
        good = [k for k in range(len(one)) if coefficients[k].any() and (left[k] < NESTED or not is_nested[k])]
        different = {coefficients[k].tobytes(): k for k in good}
        return [WaveOfSum(left[k], query, Term(inside[k], self.formula(coefficients[k]))) for k in different.values()]

    def formula(self, coefficients: Array) -> Expression:
        parts = [(float(coefficients[k]), self.terms[k].expression) for k in np.flatnonzero(coefficients)]
        return weighted_sum([(exact_if_whole(c), part) for c, part in parts])


def _proposals(hits: list[WaveOfSum], names: tuple[str, ...]) -> list[Proposal]:
    """The best, with a phase where they have one."""
    return [
        Proposal(hit.query.formula([term]), max(hit.unexplained, EXACT))
        for hit in sorted(hits, key=lambda hit: hit.unexplained)[:PROPOSED]
        for term in wave(hit.query, hit.inside, 1.0, names)
    ]


WAVES_OF_SUMS = Stage("waves_of_sums", When.LEVEL, propose, needs=("sin", "cos"))
