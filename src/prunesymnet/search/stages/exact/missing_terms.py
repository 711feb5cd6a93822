"""Sums of the terms of a dictionary and of one or two more: a node, a wave, a member of a family.

What the span leaves of a target must be in the direction of what it leaves of the term. So one product of matrices asks
thousands of targets about thousands of terms, for sums that are exact in every row.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Bank, Term
from prunesymnet.bank.dictionary import (
    Dictionary,
    functions_in,
    in_function,
    is_rounding,
    is_usable,
    of_size_one,
    sums_of,
)
from prunesymnet.bank.families import Family, Members, members, orthonormal
from prunesymnet.bank.family_fit import refined
from prunesymnet.bank.family_scan import MemberAnswer
from prunesymnet.bank.query import Query
from prunesymnet.bank.ways_down import A_FUNCTION, ExactSums, Factors, Targets, divided, itself, target_of
from prunesymnet.coefficients.bases import of_length_one
from prunesymnet.expression import Apply, Expression, Variable, apply, postorder
from prunesymnet.operators import Operator
from prunesymnet.search.constraints import Vocabulary
from prunesymnet.search.stages.base import Context
from prunesymnet.search.stages.families import nodes_of

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

NODES = 25_000  # of a bank, at most: matrices of several times that size are made of them
DIVIDED = 1000  # nodes by which y is divided before another term is looked for
IN_THE_SPAN = 1e-8  # of a node's size: what the span leaves of it is rounding
NEARLY_ALL = 1e-12  # of what the span leaves of a target: what one node must leave of that, to be all that is missing
NEARBY = 0.05  # the same for a member and its derivatives, at a point of the grid: its best constant is elsewhere
WAVES = 200  # nodes of which a wave may be
PAIRED = 1600  # nodes of which two may be missing
TOLD_APART = 1e-3  # of the length of a node: what another leaves of it, where single precision tells
SINGLE_PRECISION = 1e-3  # of what is explained: the error that it may have then
CHECKED = 64  # of the best two nodes, in double precision
REFINED = 300  # of such members: some hundredths of a second for all
ITSELF = 10  # of them, and for each function of y, of y that is not divided by anything
STEPS = 14  # to all digits, from a point of the grid
CONVERGED = 1e-14  # of the variation: what is left by a member whose constant is right


def _lacking_a_term(context: Context, factors: int = DIVIDED) -> Iterator[Targets]:
    """y, what is in a function of it, and y divided by nodes: what may be a sum but for one term."""
    problem, nodes = context.problem, Factors.nodes(context.single_bank).first(factors)
    return chain(itself(problem, 1), divided(problem, nodes, 0))


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

    @classmethod
    def inside_functions(cls, terms: Sequence[Term], table: Mapping[str, Operator]) -> "Nodes":
        """Each function of each term."""
        every = [in_function(row, term) for row in functions_in(table) for term in terms]
        found = [term for term in every if is_usable(term)]
        values = np.array([term.values for term in found]).reshape(len(found), len(terms[0].values) if terms else 0)
        return cls(values, np.array([term.expression.complexity for term in found], dtype=np.int64), found.__getitem__)

    def and_also(self, other: "Nodes") -> "Nodes":
        count = len(self.values)
        if not len(other.values):
            return self
        return Nodes(
            np.concatenate([self.values, other.values]),
            np.concatenate([self.complexity, other.complexity]),
            lambda k: self.term(k) if k < count else other.term(k - count),
        )

    def directions(self, words: Dictionary) -> Array:
        """What the span leaves of them, of length 1 (0 where it is in the span)."""
        with np.errstate(all="ignore"):
            scaled, usable = of_size_one(self.values)
        rest, length = of_length_one(words.rest(np.where(usable[:, None], scaled, 0.0)))
        return np.where(length[:, None] > IN_THE_SPAN, rest, 0.0)


def with_a_node(context: Context, words: Dictionary) -> ExactSums:
    """Sums with one node of a bank, or the product of two terms."""
    every = [(targets, *_what_is_left(words, targets.values)) for targets in _lacking_a_term(context)]
    hits, tested = [], 0
    banks = (Nodes.of(bank.first(NODES)) for bank in (context.single_bank, context.nested_bank))
    for nodes in chain(banks, [Nodes.products(words.terms[1:])]):
        apart = nodes.directions(words)
        single = apart.T.astype(np.float32)
        for targets, left, size in every:
            tested += len(left)
            best = np.abs(left.astype(np.float32) @ single).argmax(axis=1)
            rest = left - np.einsum("tn,tn->t", left, apart[best])[:, None] * apart[best]
            near = np.flatnonzero((np.einsum("tn,tn->t", rest, rest) < NEARLY_ALL) & (size > 0))
            scaled = of_size_one(targets.values[near])[0]
            for k in near[is_rounding(rest[near] * size[near, None], scaled)].tolist():
                node = int(best[k])
                hits.append(targets.hit(k, words.and_also(nodes.term(node)), int(nodes.complexity[node])))
    return hits, tested


def _what_is_left(words: Dictionary, targets: Array) -> tuple[Array, Array]:
    """What the span leaves of each target, of length 1, and how long it is beside the target's largest value (0 where a
    target is not finite)."""
    with np.errstate(all="ignore"):
        scaled, usable = of_size_one(targets)
    return of_length_one(words.rest(np.where(usable[:, None], scaled, 0.0)))


def with_a_wave(context: Context, words: Dictionary) -> ExactSums:
    """Sums with a wave of a node, of any phase: with its sine and its cosine."""
    if not {"sin", "cos"} <= set(context.problem.operators):
        return [], 0
    bank = context.single_bank.first(WAVES)
    waves = np.stack([np.sin(bank.values), np.cos(bank.values)], axis=1)
    apart = orthonormal(words.rest(waves.reshape(-1, waves.shape[2])).reshape(waves.shape))
    hits, tested = [], 0
    for targets in _lacking_a_term(context):
        left, size = _what_is_left(words, targets.values)
        tested += len(left)
        explained = (left @ apart[:, 0].T) ** 2 + (left @ apart[:, 1].T) ** 2
        for k in np.flatnonzero((explained.max(axis=1) > 1 - NEARLY_ALL) & (size > 0)).tolist():
            node = int(explained[k].argmax())
            inside, more = bank.expression(node), words
            for name, values in zip(("sin", "cos"), waves[node], strict=True):
                more = more.and_also(Term(values, apply(name, inside)))
            if more.holds(targets.values[[k]]).all():
                hits.append(targets.hit(k, more, inside.complexity + A_FUNCTION))
    return hits, tested


def with_two_nodes(context: Context, words: Dictionary) -> ExactSums:
    """Sums of y, of what is inside a function of it, or of y divided by a column, with two more terms: nodes, or
    products and functions of terms."""
    problem = context.problem
    columns = Factors.of([Term(column, Variable(name)) for name, column in problem.columns.items()], len(problem.y))
    functions = [term for term in words.terms[1:] if len(term.expression.variables) == 1]
    terms = [*words.terms[1 + len(problem.columns) :], *sums_of(problem.columns)]
    inside = Nodes.inside_functions(terms, problem.operators)
    first = Nodes.products(functions).and_also(inside)
    nodes = first.and_also(Nodes.of(context.single_bank.first(max(PAIRED - len(first.values), 0))))
    apart = nodes.directions(words)
    single = apart.astype(np.float32)
    alike = single @ single.T
    across = 1 - alike * alike
    across[np.tril(across < np.inf) | (across < TOLD_APART)] = np.inf
    hits, tested = [], 0
    for targets in chain(itself(problem, 1), divided(problem, columns, 0)):
        left, size = _what_is_left(words, targets.values)
        for k in np.flatnonzero(size > 0).tolist():
            tested += 1
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
    return hits, tested


def without_functions(words: Dictionary) -> Dictionary:
    """Products and quotients alone: beside many functions, another one's constant is known to few digits."""
    return Dictionary.of([term for term in words.terms if all(map(_is_algebraic, postorder(term.expression)))])


def _is_algebraic(node: Expression) -> bool:
    return not isinstance(node, Apply) or node.operator.name in ("*", "/", "inv", "pow", "square", "neg")


def with_a_member(context: Context, words: Dictionary, factors: int, families: Sequence[Family]) -> ExactSums:
    """Sums with a member of a family. At a point of the grid it leaves little, and nothing once its constant is fitted;
    so those that leave least are refined, all in one batch."""
    problem = context.problem
    known = Vocabulary(problem.operators)
    inside = [Term(column, Variable(name)) for name, column in problem.columns.items()]
    found = members([*inside, *nodes_of(context)], [family for family in families if known.has(family.template)])
    asked = list(_lacking_a_term(context, factors)) if len(found) else []
    rest = words.rest(found.columns.reshape(-1, len(problem.y)))
    apart = orthonormal(rest.reshape(found.columns.shape)).astype(np.float32)
    near = [one for targets in asked for one in _near(words, targets, found, apart)]
    near.sort(key=lambda one: (one[1].factors is not None, one[0]))  # y itself before what it is divided by
    queries: dict[tuple[int, int], Query | None] = {}
    chosen = []
    for left, targets, k, member in near[:REFINED]:
        key = id(targets), k
        if key not in queries:
            target = target_of(problem, targets.steps(k))
            queries[key] = None if target is None else Query(target, words.terms[1:])
        query = queries[key]
        if query is not None:
            chosen.append((targets, k, MemberAnswer(left, 0, query, (member,))))
    after = refined([hit for _, _, hit in chosen], found, context.pair_bank, STEPS)
    hits = []
    for number in np.flatnonzero(after.unexplained < CONVERGED).tolist():
        targets, k, _ = chosen[number]
        (term,) = after.terms(number)
        more = words.and_also(term)
        if more.holds(targets.values[[k]]).all():
            hits.append(targets.hit(k, more, term.expression.complexity)._replace(rough=True))
    return hits, sum(len(targets.values) for targets in asked)


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
    count = REFINED if targets.factors is not None else REFINED // ITSELF
    for place in near[np.argsort(-most.reshape(-1)[near], kind="stable")[:count]].tolist():
        k, number = divmod(place, len(found.groups))
        group = found.groups[number]
        yield 1 - float(most[k, number]), targets, k, group.start + int(explained[k, group].argmax())
