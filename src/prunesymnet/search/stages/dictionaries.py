"""Sums of simple functions of the columns, around which other operators may stand, where they are exact.

`exp(x)*(y**2 + z + 5)`, divided by exp(x), is a sum of products of columns, and one product of matrices says so
(`bank/dictionary.py`). So thousands of targets are tested: y times and by every node of the bank, and what is in a
function of these. A dictionary may have one more term, which is

- y itself: if `y*f` is a sum of terms and of `c*y`, then y is a sum of terms, divided by `f - c`;
- any node of the bank, or of one that has functions inside functions;
- a member of a family, with a constant inside.

And it may be the products of the columns with one function of one of them: `(x + y - 9)*(sqrt(z) + 2)`.

Whatever is nearly smooth is nearly such a sum, so only what is exact in every row is proposed.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Bank, Term
from prunesymnet.bank.dictionary import Dictionary, is_rounding, of_size_one, polynomials_with_a_function, terms_of
from prunesymnet.bank.families import SIMPLE as FAMILIES
from prunesymnet.bank.families import Members, members, orthonormal
from prunesymnet.bank.family_fit import refined
from prunesymnet.bank.family_scan import Hit as FamilyHit
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import Proposal, Query
from prunesymnet.bank.targets import Factor, Function, Step, Target, invertible
from prunesymnet.expression import Constant, Variable, apply
from prunesymnet.search.constraints import Vocabulary
from prunesymnet.search.stages.base import Batch, Context, Stage, When
from prunesymnet.search.stages.chains import factors as products_of_powers
from prunesymnet.search.stages.families import nodes_of
from prunesymnet.search.stages.polynomials import weighted_sum

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

DIVIDED_IN_A_FUNCTION = 2500  # nodes by which y is divided before each function is undone
DIVIDED = 1000  # the same where one more term is looked for
SIMPLE = 60  # nodes by which y is divided before two functions are undone, or where dictionaries are many
PRODUCTS = 4  # times as many products of powers as chains begin with
A_FUNCTION = 2  # symbols: its own, and a sign
LOOKED_AT = 8  # of the targets that are sums, the simplest: the same formula is found in several ways
MOST_TERMS = 12  # of a sum: longer ones are what anything smooth can be written as
IN_THE_SPAN = 1e-8  # of a node's size: what the span leaves of it is rounding
NEARLY_ALL = 1e-12  # of what the span leaves of a target: what one node must leave of that, to be all that is missing
NEARBY = 0.05  # the same for a member and its derivatives, at a point of the grid: its best constant is elsewhere
WAVES = 200  # nodes of which a wave may be
PAIRED = 1600  # nodes of which two may be missing
TOLD_APART = 1e-3  # of the length of a node: what another leaves of it, where single precision tells
SINGLE_PRECISION = 1e-3  # of what is explained: the error that it may have then
CHECKED = 64  # of the best two nodes, in double precision
REFINED = 200  # of such members: some milliseconds for all
NEGLIGIBLE = 1e-6  # of a target's size: no law has such a term, but what is smooth and no sum of few terms has
CONVERGED = 1e-14  # of the variation: what is left by a member whose constant is right


class Hit(NamedTuple):
    """A target, by the steps that lead to it, and the dictionary of whose terms it is a sum; with a `denominator`, the
    last of these terms is the target itself, and it is the target times that which is a sum. `rough`: a constant in a
    term is known to some digits, and so are the coefficients."""

    complexity: int
    steps: tuple[Step, ...]
    dictionary: Dictionary
    denominator: Term | None = None
    rough: bool = False


Found = tuple[list[Hit], int]  # and how many formulas were scored


class Factors(NamedTuple):
    """What y is divided by, or multiplied with: their values [factors, rows], and each as a term."""

    values: Array
    term: Callable[[int], Term]

    @classmethod
    def of(cls, terms: list[Term], rows: int) -> "Factors":
        return cls(np.array([term.values for term in terms]).reshape(-1, rows), terms.__getitem__)

    @classmethod
    def nodes(cls, bank: Bank) -> "Factors":
        return cls(bank.values, bank.term)

    def first(self, count: int) -> "Factors":
        return Factors(self.values[:count], self.term)


class Targets(NamedTuple):
    """What is left of y on a way down [targets, rows]: by some factors (None: by none), of which each target has one
    (`which`), divided by it or times it, and then inside of functions; others may come `first`."""

    values: Array
    factors: Factors | None
    which: Numbers
    divides: bool = True
    functions: tuple[Function, ...] = ()
    first: tuple[Function, ...] = ()

    def steps(self, k: int) -> tuple[Step, ...]:
        if self.factors is None:
            return self.functions
        return (*self.first, Factor(self.factors.term(int(self.which[k])), self.divides), *self.functions)

    def hit(self, k: int, dictionary: Dictionary, more: int = 0, denominator: Term | None = None) -> Hit:
        """That a target is a sum, in a formula with so many symbols more."""
        factor = 0 if self.factors is None else self.factors.term(int(self.which[k])).expression.complexity
        functions = len(self.first) + len(self.functions)
        return Hit(factor + A_FUNCTION * functions + more, self.steps(k), dictionary, denominator)


def propose(context: Context) -> Iterator[Batch]:
    problem = context.problem
    if problem.dimensions is not None:  # sums of any functions are not sound
        return
    one = Term(np.ones_like(problem.y), Constant(1))
    words = Dictionary.of([one, *terms_of(problem.columns, problem.operators)])
    powers = products_of_powers(problem, len(problem.columns), PRODUCTS * context.budget.chain_factors)
    products = Factors.of([factor.term for factor in powers], len(problem.y))
    for way in (
        partial(_sums, context, words, products),
        partial(_quotients, context, words),
        partial(_with_a_node, context, words),
        partial(_with_a_wave, context, words),
        partial(_with_two_nodes, context, words),
        partial(_with_a_function, context, products),
        partial(_with_a_member, context, words),
    ):
        hits, scored = way()
        found = _formulas(problem, hits)
        yield Batch(found, scored)
        if found:
            return
        context.check()


def _formulas(problem: Problem, hits: list[Hit]) -> list[Proposal]:
    """The formulas of the simplest hits."""
    found = []
    for hit in sorted(hits, key=lambda hit: hit.complexity)[:LOOKED_AT]:
        target = _target(problem, hit.steps)
        if target is None:
            continue
        values = target.values if hit.denominator is None else target.values * hit.denominator.values
        kept = hit.dictionary.shortest(values, target.weights)
        size = [np.abs(coefficient * term.values).max() / np.abs(values).max() for term, coefficient in kept]
        if hit.rough:
            kept = [term for term, share in zip(kept, size, strict=True) if share > NEGLIGIBLE]
        if len(kept) > MOST_TERMS or (not hit.rough and min(size) < NEGLIGIBLE):
            continue
        if hit.denominator is None:
            formula = weighted_sum([(coefficient, term.expression) for term, coefficient in kept])
        else:
            itself = hit.dictionary.terms[-1]
            above = [(coefficient, term.expression) for term, coefficient in kept if term is not itself]
            if not above:
                continue
            less = sum(coefficient for term, coefficient in kept if term is itself)
            formula = weighted_sum(above) / (hit.denominator.expression - Constant(less))
        found.append(Proposal(target.wrap(formula), 0.0))
    return found


def _target(problem: Problem, steps: tuple[Step, ...]) -> Target | None:
    return problem.target.undo(*steps) if steps else problem.target


# ---- targets ------------------------------------------------------------------------------------


def _itself(problem: Problem, functions: int) -> Iterator[Targets]:
    """y, and what is inside of up to so many functions of it."""
    yield from _inside_functions(problem, [Targets(problem.y[None], None, np.zeros(1, dtype=np.int64))], 0, functions)


def _divided(problem: Problem, factors: Factors, functions: int, least: int = 0, first: int = 0) -> Iterator[Targets]:
    """y divided by the factors, and times them, and what is inside of at least and at most so many functions of these;
    and the same with what is inside of a function of y, if one may come `first`."""
    which = np.arange(len(factors.values))
    for start in _itself(problem, first):
        with np.errstate(all="ignore"):
            divided, multiplied = start.values / factors.values, start.values * factors.values
        before = start.functions
        both = [Targets(v, factors, which, d, (), before) for v, d in ((divided, True), (multiplied, False))]
        yield from _inside_functions(problem, both, least, functions)


def _inside_functions(problem: Problem, states: list[Targets], least: int, most: int) -> Iterator[Targets]:
    signed = [Function(row, sign) for row in invertible(problem.operators) for sign in (1, -1)]
    for depth in range(most + 1):
        if depth >= least:
            yield from states
        if depth < most:
            states = [inner for state in states for inner in _inside(state, signed)]


def _inside(state: Targets, functions: list[Function]) -> Iterator[Targets]:
    """What is inside of each function, of those targets that have it in all rows."""
    for function in functions:
        with np.errstate(all="ignore"):
            values = function.down(state.values)
        there = np.flatnonzero(np.isfinite(values).all(axis=1))
        if len(there):
            further = (*state.functions, function)
            yield state._replace(values=values[there], which=state.which[there], functions=further)


# ---- tests --------------------------------------------------------------------------------------


def _sums(context: Context, words: Dictionary, products: Factors) -> Found:
    """y itself, and divided by nodes, as sums."""
    problem, nodes = context.problem, Factors.nodes(context.single_bank)
    inside = nodes.first(DIVIDED_IN_A_FUNCTION)
    return _all_sums(
        [words],
        chain(
            _itself(problem, 2),
            _divided(problem, nodes, 0),
            _divided(problem, inside, 1, least=1),
            _divided(problem, products, 1, first=1),
            _divided(problem, nodes.first(SIMPLE), 2, least=2),
        ),
    )


def _with_a_function(context: Context, products: Factors) -> Found:
    """Products of the columns with one function of one of them."""
    problem, nodes = context.problem, Factors.nodes(context.pair_bank)
    simple = [_divided(problem, factors.first(SIMPLE), 1) for factors in (nodes, products)]
    targets = list(chain(_itself(problem, 1), *simple))
    return _all_sums(polynomials_with_a_function(problem.columns, problem.operators), targets)


def _all_sums(dictionaries: Iterable[Dictionary], every: Iterable[Targets]) -> Found:
    """Which targets are sums of the terms of a dictionary."""
    ways = list(every)
    stacked = np.concatenate([targets.values for targets in ways])
    starts = np.cumsum([0, *(len(targets.values) for targets in ways)])
    hits, scored = [], 0
    for words in dictionaries:
        scored += len(stacked)
        for place in np.flatnonzero(words.holds(stacked)).tolist():
            way = int(np.searchsorted(starts, place, side="right")) - 1
            hits.append(ways[way].hit(place - int(starts[way]), words))
    return hits, scored


def _quotients(context: Context, words: Dictionary) -> Found:
    """y, or what is in a function of it, as a sum divided by a node and a constant."""
    problem, bank = context.problem, context.single_bank
    hits, scored = [], 0
    for targets in _itself(problem, 1) if problem.divides else ():
        itself = Term(targets.values[0], Constant(1))
        more = words.and_also(itself)
        scored += len(bank)
        with np.errstate(all="ignore"):
            there = np.flatnonzero(more.holds(bank.values * itself.values)).tolist()
        hits += [targets.hit(0, more, int(bank.complexity[k]), bank.term(k)) for k in there]
    return hits, scored


def _lacking_a_term(context: Context) -> Iterator[Targets]:
    """y, what is in a function of it, and y divided by nodes: what may be a sum but for one term."""
    nodes = Factors.nodes(context.single_bank).first(DIVIDED)
    return chain(_itself(context.problem, 1), _divided(context.problem, nodes, 0))


class Nodes(NamedTuple):
    """What a sum may lack: values [nodes, rows] and complexities, and each as a term."""

    values: Array
    complexity: Numbers
    term: Callable[[int], Term]

    @classmethod
    def of(cls, bank: Bank) -> "Nodes":
        return cls(bank.values, bank.complexity, bank.term)

    @classmethod
    def products(cls, terms: Sequence[Term]) -> "Nodes":
        """Of each two terms."""
        size = np.array([term.expression.complexity for term in terms])
        one, two = np.triu_indices(len(terms))
        values = np.array([term.values for term in terms])
        with np.errstate(all="ignore"):
            both = values[one] * values[two]
        return cls(both, size[one] + size[two] + 1, lambda k: terms[one[k]] * terms[two[k]])

    def and_also(self, other: "Nodes") -> "Nodes":
        count = len(self.values)
        return Nodes(
            np.concatenate([self.values, other.values]),
            np.concatenate([self.complexity, other.complexity]),
            lambda k: self.term(k) if k < count else other.term(k - count),
        )

    def directions(self, words: Dictionary) -> Array:
        """What the span leaves of them, of length 1 (0 where it is in the span)."""
        with np.errstate(all="ignore"):
            scaled, usable = of_size_one(self.values)
        rest = words.rest(np.where(usable[:, None], scaled, 0.0))
        length = np.sqrt(np.einsum("mn,mn->m", rest, rest))
        there = length > IN_THE_SPAN
        return np.where(there[:, None], rest / np.where(there, length, 1.0)[:, None], 0.0)


def _with_a_node(context: Context, words: Dictionary) -> Found:
    """Sums with one node of a bank."""
    every = [(targets, *_what_is_left(words, targets.values)) for targets in _lacking_a_term(context)]
    hits, scored = [], 0
    for nodes in (Nodes.of(context.single_bank), Nodes.of(context.nested_bank)):
        apart = nodes.directions(words)
        single = apart.T.astype(np.float32)
        for targets, left, size in every:
            scored += len(left) * len(apart)
            best = np.abs(left.astype(np.float32) @ single).argmax(axis=1)
            rest = left - np.einsum("tn,tn->t", left, apart[best])[:, None] * apart[best]
            near = np.flatnonzero((np.einsum("tn,tn->t", rest, rest) < NEARLY_ALL) & (size > 0))
            scaled = of_size_one(targets.values[near])[0]
            for k in near[is_rounding(rest[near] * size[near, None], scaled)].tolist():
                node = int(best[k])
                hits.append(targets.hit(k, words.and_also(nodes.term(node)), int(nodes.complexity[node])))
    return hits, scored


def _what_is_left(words: Dictionary, targets: Array) -> tuple[Array, Array]:
    """What the span leaves of each target, of length 1, and how long it is beside the target's largest value (0 where a
    target is not finite)."""
    with np.errstate(all="ignore"):
        scaled, usable = of_size_one(targets)
    rest = words.rest(np.where(usable[:, None], scaled, 0.0))
    size = np.sqrt(np.einsum("tn,tn->t", rest, rest))
    return rest / np.where(size > 0, size, 1.0)[:, None], size


def _with_a_wave(context: Context, words: Dictionary) -> Found:
    """Sums with a wave of a node, of any phase: with its sine and its cosine."""
    if not {"sin", "cos"} <= set(context.problem.operators):
        return [], 0
    bank = context.single_bank.first(WAVES)
    waves = np.stack([np.sin(bank.values), np.cos(bank.values)], axis=1)
    apart = orthonormal(words.rest(waves.reshape(-1, waves.shape[2])).reshape(waves.shape))
    hits, scored = [], 0
    for targets in _lacking_a_term(context):
        left, size = _what_is_left(words, targets.values)
        scored += len(left) * len(bank)
        explained = (left @ apart[:, 0].T) ** 2 + (left @ apart[:, 1].T) ** 2
        for k in np.flatnonzero((explained.max(axis=1) > 1 - NEARLY_ALL) & (size > 0)).tolist():
            node = int(explained[k].argmax())
            inside, more = bank.expression(node), words
            for name, values in zip(("sin", "cos"), waves[node], strict=True):
                more = more.and_also(Term(values, apply(name, inside)))
            if more.holds(targets.values[[k]]).all():
                hits.append(targets.hit(k, more, inside.complexity + A_FUNCTION))
    return hits, scored


def _with_two_nodes(context: Context, words: Dictionary) -> Found:
    """Sums of y, or of y divided by a column, with two more terms: nodes, or products of two terms."""
    problem = context.problem
    columns = Factors.of([Term(column, Variable(name)) for name, column in problem.columns.items()], len(problem.y))
    functions = [term for term in words.terms[1:] if len(term.expression.variables) == 1]
    products = Nodes.products(functions)
    nodes = products.and_also(Nodes.of(context.single_bank.first(max(PAIRED - len(products.values), 0))))
    apart = nodes.directions(words)
    single = apart.astype(np.float32)
    alike = single @ single.T
    across = 1 - alike * alike
    across[np.tril(across < np.inf) | (across < TOLD_APART)] = np.inf
    hits, scored = [], 0
    for targets in chain(_itself(problem, 0), _divided(problem, columns, 0)):
        left, size = _what_is_left(words, targets.values)
        for k in np.flatnonzero(size > 0).tolist():
            scored += len(apart) ** 2 // 2
            along = single @ left[k].astype(np.float32)
            explained = (along**2)[:, None] + (along[None, :] - alike * along[:, None]) ** 2 / across
            best = np.flatnonzero(explained.reshape(-1) > 1 - SINGLE_PRECISION)
            best = best[np.argsort(-explained.reshape(-1)[best], kind="stable")[:CHECKED]]
            one, two = np.divmod(best, len(apart))
            pairs = orthonormal(np.stack([apart[one], apart[two]], axis=1))
            rest = 1 - np.square(pairs @ left[k]).sum(axis=1)
            for at in np.flatnonzero(rest < NEARLY_ALL).tolist():
                i, j = int(one[at]), int(two[at])
                more = words.and_also(nodes.term(i)).and_also(nodes.term(j))
                if more.holds(targets.values[[k]]).all():
                    hits.append(targets.hit(k, more, int(nodes.complexity[i] + nodes.complexity[j])))
    return hits, scored


def _with_a_member(context: Context, words: Dictionary) -> Found:
    """Sums with a member of a family. At a point of the grid it leaves little, and nothing once its constant is fitted;
    so those that leave least are refined, all in one batch."""
    problem = context.problem
    known = Vocabulary(problem.operators)
    inside = [Term(column, Variable(name)) for name, column in problem.columns.items()]
    found = members([*inside, *nodes_of(context)], [family for family in FAMILIES if known.has(family.template)])
    asked = list(_lacking_a_term(context)) if len(found) else []
    rest = words.rest(found.columns.reshape(-1, len(problem.y)))
    apart = orthonormal(rest.reshape(found.columns.shape)).astype(np.float32)
    near = sorted(chain.from_iterable(_near(words, one, found, apart) for one in asked), key=lambda one: one[0])
    queries: dict[tuple[int, int], Query | None] = {}
    chosen = []
    for left, targets, k, member in near[:REFINED]:
        key = id(targets), k
        if key not in queries:
            target = _target(problem, targets.steps(k))
            queries[key] = None if target is None else Query(target, words.terms[1:])
        query = queries[key]
        if query is not None:
            chosen.append((targets, k, FamilyHit(left, 0, query, (member,))))
    after = refined([hit for _, _, hit in chosen], found, context.pair_bank)
    hits = []
    for number in np.flatnonzero(after.unexplained < CONVERGED).tolist():
        targets, k, _ = chosen[number]
        (term,) = after.terms(number)
        more = words.and_also(term)
        if more.holds(targets.values[[k]]).all():
            hits.append(targets.hit(k, more, term.expression.complexity)._replace(rough=True))
    return hits, len(found) * sum(len(targets.values) for targets in asked)


def _near(
    words: Dictionary, targets: Targets, found: Members, apart: NDArray[np.float32]
) -> Iterator[tuple[float, Targets, int, int]]:
    """What members and their derivatives leave of targets, where that is little: of each family the best. `apart` is
    what the span leaves of them, made orthonormal."""
    left, size = _what_is_left(words, targets.values)
    single = left.astype(np.float32)
    explained = np.zeros((len(left), len(found)), dtype=np.float32)
    for k in range(apart.shape[1]):
        explained += np.square(single @ apart[:, k].T)
    most = np.maximum.reduceat(explained, [group.start for group in found.groups], axis=1)
    most[size == 0] = 0.0
    near = np.flatnonzero(most.reshape(-1) > 1 - NEARBY)
    for place in near[np.argsort(-most.reshape(-1)[near], kind="stable")[:REFINED]].tolist():
        k, number = divmod(place, len(found.groups))
        group = found.groups[number]
        yield 1 - float(most[k, number]), targets, k, group.start + int(explained[k, group].argmax())


DICTIONARIES = Stage("dictionaries", When.LEVEL, propose)
