"""Squares of sums that change their sign: `v**2*x**2*(u/y - log(z))**2`, `x + (u - x/z + u/y**2)**2`.

The root of such a square is the size of a sum, and no row says with which sign. But a sum of three terms and a constant
is known by four rows, for each of the eight ways to choose their signs (all of them may be turned). So for all sets of
three terms of a dictionary the sum that fits four rows is made in all these ways, for many targets at once, and a fifth
row says which of them to look at. What then is exact in every row is proposed, and nothing else.

For S sets and T targets this costs 36*S*T products.
"""

from collections.abc import Callable, Iterator
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.dictionary import Dictionary
from prunesymnet.bank.query import Proposal
from prunesymnet.bank.targets import Step
from prunesymnet.bank.ways_down import Factors, divided, itself, less, target_of
from prunesymnet.expression import Constant
from prunesymnet.search.stages.base import Batch, Context, Stage, When
from prunesymnet.search.stages.exact.sums import STILL_EXACT, dictionaries_of
from prunesymnet.search.stages.polynomials import weighted_sum

Array = NDArray[np.float64]

TERMS = 3  # of a sum, beside a constant
WORDS = 72  # of which sums are made: there are 59,640 sets of three
SQUARED, NODES = 60, 30  # products of powers by whose squares y is divided, and nodes by which it is, or less which
BASE = TERMS + 1  # rows that say what a sum of so many terms and a constant is
CLOSE = 1e-6  # of the size in a further row: rounding errors of four rows grow
SINGULAR = 1e-9  # of the terms' sizes: what is left of a set of terms that depend on one another in these rows
AT_A_TIME = 64  # sets of terms: what they predict for all targets fits into a cache
LOOKED_AT = 4  # formulas, after which no other is looked for


def propose(context: Context) -> Iterator[Batch]:
    given, problem = dictionaries_of(context), context.problem
    if given is None or len(problem.y) <= 2 * BASE or len(problem.columns) == 1:
        return
    nodes = Factors.nodes(context.single_bank.first(NODES))
    squared = [given.products.term(k) for k in range(min(SQUARED, len(given.products.values)))]
    ways = [
        *itself(problem, 1),
        *divided(problem, Factors.of([term * term for term in squared], len(problem.y)), 0),
        *divided(problem, nodes, 0),
        *less(problem, nodes, 0, least=0),
    ]
    with np.errstate(all="ignore"):
        places = [(way, k) for way in ways for k in np.flatnonzero((way.values >= 0).all(axis=1)).tolist()]
        roots = np.sqrt(np.array([way.values[k] for way, k in places]).reshape(-1, len(problem.y)))
    usable = np.flatnonzero(np.isfinite(roots).all(axis=1) & (roots.max(axis=1, initial=0.0) > 0))
    context.check()
    words = context.words
    one = Term(np.ones_like(problem.y), Constant(1))
    sums = Sums([one, *(words.term(k) for k in range(min(WORDS, len(words))))])
    found: list[Proposal] = []
    for k, chosen, signed in sums.of_size(roots[usable], context.check):
        way, place = places[int(usable[k])]
        found += _formulas(context, way.steps(place), chosen, signed)
        if len(found) >= LOOKED_AT:
            break
    yield Batch(found, len(sums.sets))


def _formulas(context: Context, steps: tuple[Step, ...], chosen: tuple[Term, ...], signed: Array) -> Iterator[Proposal]:
    """The formula in which a target is the square of a sum of these terms."""
    target = target_of(context.problem, steps)
    if target is not None:
        kept = Dictionary.of(chosen).shortest(signed, np.ones_like(signed))
        total = weighted_sum([(coefficient, term.expression) for term, coefficient in kept])
        formula = target.wrap(total ** Constant(2))
        if len(kept) > 1 and context.problem.unexplained(formula) < STILL_EXACT:
            yield Proposal(formula, 0.0)


class Sums:
    """All sums of three of some terms with the first of them, which is the constant, and without."""

    def __init__(self, terms: list[Term]) -> None:
        self.terms = terms
        self.values = np.array([term.values / np.abs(term.values).max() for term in terms])
        self.sets = np.array(list(combinations(range(1, len(terms)), TERMS)), dtype=np.int64).reshape(-1, TERMS)
        rows = np.linspace(0, self.values.shape[1] - 1, 2 * BASE).astype(int)
        self.base, self.further = rows[::2], rows[1::2]

    def of_size(
        self, sizes: Array, check: Callable[[], None] = lambda: None
    ) -> Iterator[tuple[int, tuple[Term, ...], Array]]:
        """Which sums have these sizes [targets, rows] in every row: the number of the target, the terms, the values."""
        if len(sizes) and len(self.sets):
            for with_constant in (False, True):
                yield from self._known_by(sizes, check, with_constant=with_constant)

    def _known_by(
        self, sizes: Array, check: Callable[[], None], *, with_constant: bool
    ) -> Iterator[tuple[int, tuple[Term, ...], Array]]:
        """Where there is a constant, differences from the first of the rows are sums without one."""
        first, *others = self.base if with_constant else self.base[:TERMS]
        solved_by = others if with_constant else [first, *others]
        origin = self.values[:, first] if with_constant else np.zeros(len(self.values))
        signs = np.array(list(product((1, -1), repeat=len(others)))).T  # [rows, ways]; the first row's is 1
        start = sizes[:, first] if with_constant else np.zeros(len(sizes))
        given = sizes[:, others, None] * signs  # [targets, rows, ways]
        if not with_constant:
            given = np.concatenate([np.repeat(sizes[:, [first], None], signs.shape[1], axis=2), given], axis=1)
        right = (given - start[:, None, None]).transpose(1, 0, 2).reshape(TERMS, -1)
        told = right.any(axis=0)  # where the rows differ in nothing, all sums are alike
        begin = np.repeat(start, signs.shape[1])
        seen = np.repeat(sizes[:, self.further], signs.shape[1], axis=0).T  # [rows, targets * ways]
        terms = self.values - origin[:, None]
        inverse = _inverse(terms[:, solved_by][self.sets].transpose(0, 2, 1))
        known = inverse.any(axis=(1, 2))  # what these rows can't tell apart has no inverse, and is no sum of them
        sets, inverse = self.sets[known], inverse[known]
        further = terms[:, self.further][sets].transpose(0, 2, 1)  # [sets, rows, terms]
        ahead = further @ inverse  # what each solving row adds to a further one
        for low in range(0, len(sets), AT_A_TIME):
            check()
            rows = ahead[low : low + AT_A_TIME]
            predicted = rows[:, 0] @ right
            predicted += begin
            np.abs(predicted, out=predicted)
            predicted -= seen[0]
            np.abs(predicted, out=predicted)
            places = np.flatnonzero((predicted <= CLOSE * seen[0]) & told)
            close, at = np.divmod(places, predicted.shape[1])
            every = np.einsum("kfr,rk->fk", rows[close], right[:, at]) + begin[at]
            exact = (np.abs(np.abs(every) - seen[:, at]) <= CLOSE * seen[:, at]).all(axis=0)
            for s, place in zip((low + close[exact]).tolist(), at[exact].tolist(), strict=True):
                values = (inverse[s] @ right[:, place]) @ terms[sets[s]]
                values = values + begin[place]
                target = place // signs.shape[1]
                if not (np.abs(np.abs(values) - sizes[target]) <= CLOSE * sizes[target].max()).all():
                    continue
                signed = np.where(values < 0, -sizes[target], sizes[target])
                chosen = self.terms[0], *(self.terms[k] for k in sets[s])
                if Dictionary.of(chosen).holds(signed[None])[0]:
                    yield target, chosen, signed


def _inverse(matrices: Array) -> Array:
    """Inverses of matrices of three rows and columns; 0 for those that have none."""
    a, b, c = matrices.transpose(1, 0, 2)
    adjugate = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=2)
    determinant = np.einsum("si,si->s", a, adjugate[:, :, 0])
    size = np.abs(matrices).max(axis=(1, 2)) ** 3
    usable = np.abs(determinant) > SINGULAR * size
    return adjugate * np.where(usable, 1 / np.where(usable, determinant, 1.0), 0.0)[:, None, None]


SQUARES = Stage("squares", When.LEVEL, propose, needs=("square", "*", "pow"))
