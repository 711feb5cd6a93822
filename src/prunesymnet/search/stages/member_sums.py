"""Sums of several curves that have constants inside: two lines of a spectrum, three exponentials, a peak on a slope.

Each term is a member of a family (`bank/families.py`). All pairs are asked about at once. Then the sums of the shortest
descriptions go on, step by step: with one member more, with two in place of one, and with one less, as what came first
may have stood for two that came later. Beside the terms of a sum stand their derivatives by the constants inside, so
that these are free to move when another term comes. All constants of a sum are refined together before it is compared.

Before that, each member is asked about with its square: `k*(exp(t*x) - b)**2` is a potential well.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.families import LINE, LOCATED, SIMPLE, WAVES, Family, Members, members
from prunesymnet.bank.family_fit import refined
from prunesymnet.bank.family_scan import MemberAnswer, alone, beside, beside_members
from prunesymnet.bank.query import A_TERM, EXACT, Proposal, Query
from prunesymnet.bank.regression import Residual
from prunesymnet.bank.targets import Target
from prunesymnet.coefficients.description import BITS_PER_SYMBOL, constant_bits, residual_bits
from prunesymnet.coefficients.linear import weighted_least_squares
from prunesymnet.expression import Constant, Variable
from prunesymnet.search.constraints import Vocabulary
from prunesymnet.search.stages.base import Batch, Context, Stage, When

Array = NDArray[np.float64]

MOST_TERMS = 5  # members of a sum: each has up to four constants, and tables have some dozen rows for each
STEPS = 6  # in which a sum gets longer, or shorter again
STARTS = 4  # of each two families, from other points of the grid: sums of peaks have many valleys
BEAM, OF_ONE_FAMILY = 3, 2  # sums that go on: the shortest descriptions, and of members of one family
ALIKE = 2  # sums of the same families that go on...
SAME = 1.0  # ...and bits: those that differ in fewer have come to the same place
APART = (0.05, 0.1, 0.2)  # of the range: how far from each other two peaks begin that were taken for one
REFINED = 100  # sums of a step, at most
MOVES = 16  # of a refinement: several members move at once
PROPOSED = 8  # of each step


@dataclass(frozen=True, eq=False)
class Sum:
    """Members with their constants inside [members, constants] and as terms, what they leave unexplained, and the bits
    that it takes to describe all."""

    members: tuple[int, ...]
    inside: Array
    terms: tuple[Term, ...]
    unexplained: float
    bits: float


Start = tuple[MemberAnswer, Array]  # members, and their constants inside to begin with


def propose(context: Context) -> Iterator[Batch]:
    problem, most = context.problem, 2 * context.budget.member_pairs
    columns = [Term(values, Variable(name)) for name, values in problem.columns.items()]
    known = Vocabulary(problem.operators)
    simple, located, waves = (
        [family for family in kind if known.has(family.template)] for kind in (SIMPLE, LOCATED, WAVES[:1])
    )
    found = members(columns, simple)
    if len(found):
        yield Batch(squares(found, problem.target), len(found))
    kinds: tuple[list[Family], ...] = ([*simple, *located, *waves], [*simple, *located], simple)
    kinds = kinds[-1:] if context.reduced else kinds  # a curve of a group is one, not a spectrum
    every = (members(columns, [LINE, *families]) for families in kinds)
    several = next((found for found in every if len(found) ** 2 <= most), None)
    if several is not None and len(several):
        yield from _sums(context, several, problem.target)


def squares(found: Members, target: Target) -> list[Proposal]:
    """`c + k*(m + b)**2` of the best member m of each family and node: any quadratic function of it."""
    value, *slopes = np.moveaxis(found.columns, 1, 0)
    columns = np.stack([value, value**2, *slopes, *(value * slope for slope in slopes)], axis=1)
    residual = Residual.of(Query(target).regression())
    left = 1 - ((beside(columns, residual) @ residual.values) ** 2).sum(axis=1)
    proposals = []
    for group in found.groups:
        member = group.start + int(np.argmin(left[group]))
        node, family = found.nodes[int(found.node[member])], found.families[int(found.family[member])]
        term = family.term(node, found.inside[member, : len(family.program.constants)])
        powers = np.array([np.ones_like(term.values), term.values, term.values**2])
        c, b, k = weighted_least_squares(powers, target.values, target.weights).coefficients.tolist()
        if k:
            square = (term.expression + Constant(b / (2 * k))) ** Constant(2)
            formula = Constant(k) * square + Constant(c - b * b / (4 * k))
            proposals.append(Proposal(target.wrap(formula), max(float(left[member]), EXACT)))
    return sorted(proposals, key=lambda proposal: proposal.unexplained)[:PROPOSED]


def _sums(context: Context, found: Members, target: Target) -> Iterator[Batch]:
    pairs = [(hit, found.inside[list(hit.members)]) for hit in beside_members(found, Query(target), keep=STARTS)]
    sums, scored = _best(found, target, pairs), len(found) ** 2 // 2
    for _ in range(STEPS):
        proposals = [Proposal(Query(target).formula(one.terms), max(one.unexplained, EXACT)) for one in sums]
        yield Batch(proposals[:PROPOSED], scored)
        beam = [*sums[:BEAM], *[one for one in sums[BEAM:] if len(_families(found, one.members)) == 1][:OF_ONE_FAMILY]]
        if context.reduced or not beam or beam[0].unexplained < EXACT:
            return
        context.check()
        longer = _best(found, target, [*_with_one_more(found, target, beam), *_two_for_one(found, target, beam[0])])
        shorter = _best(found, target, _with_one_less(found, target, longer[:BEAM]))
        sums, scored = sorted([*longer, *shorter], key=lambda one: one.bits), len(beam) * len(found)
        if not sums or sums[0].bits >= beam[0].bits:
            return


def _families(found: Members, chosen: tuple[int, ...]) -> set[int]:
    return {int(found.family[member]) for member in chosen}


def _hit(found: Members, target: Target, chosen: tuple[int, ...], unexplained: float = 0.0) -> MemberAnswer:
    size = sum(int(found.complexity[member]) + A_TERM for member in chosen)
    return MemberAnswer(unexplained, size, Query(target), chosen)


def _with_one_more(found: Members, target: Target, beam: list[Sum]) -> Iterator[Start]:
    """Each sum with one member more."""
    growing = [one for one in beam if len(one.members) < MOST_TERMS]
    queries = [Query(target, _surroundings(found, one.members, one.inside)) for one in growing]
    of = dict(zip(map(id, queries), growing, strict=True))
    for hit in alone(found, queries):
        one, new = of[id(hit.query)], hit.members[0]
        begin = np.concatenate([one.inside, found.inside[new][None]])
        yield _hit(found, target, (*one.members, new), hit.unexplained), begin


def _two_for_one(found: Members, target: Target, one: Sum) -> Iterator[Start]:
    """A sum with two members of its families in place of one: what was taken for one peak may be two."""
    if len(one.members) >= MOST_TERMS:
        return
    alike = np.flatnonzero(np.isin(found.family, list(_families(found, one.members))))
    some = found.take(alike)
    for k in range(len(one.members)):
        rest, inside = one.members[:k] + one.members[k + 1 :], np.delete(one.inside, k, axis=0)
        query = Query(target, _surroundings(found, rest, inside))
        for hit in beside_members(some, query, keep=STARTS):
            new = alike[list(hit.members)]
            begin = np.concatenate([inside, found.inside[new]])
            yield _hit(found, target, (*rest, *map(int, new)), hit.unexplained), begin
        # The best two may be wide and cancel, on the way to a derivative: two that stand side by side are tried, too.
        member = one.members[k]
        centre = found.families[int(found.family[member])].centre
        for apart in APART if centre is not None else ():
            both = np.repeat(one.inside[[k]], 2, axis=0)
            both[:, centre] += np.array([-0.5, 0.5]) * apart * np.ptp(found.nodes[int(found.node[member])].values)
            yield _hit(found, target, (*rest, member, member)), np.concatenate([inside, both])


def _with_one_less(found: Members, target: Target, sums: list[Sum]) -> Iterator[Start]:
    """Sums without each of their members: what came first may have stood for what came later."""
    for one in sums:
        for k in range(len(one.members)) if len(one.members) > 2 else ():
            yield _hit(found, target, one.members[:k] + one.members[k + 1 :]), np.delete(one.inside, k, axis=0)


def _surroundings(found: Members, chosen: tuple[int, ...], inside: Array) -> tuple[Term, ...]:
    """Members, and their derivatives by the constants inside, as far as these are finite: what they may become."""
    columns: list[Array] = []
    for member, constants in zip(chosen, inside, strict=True):
        family, node = found.families[int(found.family[member])], found.nodes[int(found.node[member])]
        given = constants[: len(family.program.constants)]
        values, slopes = family.program.values_and_jacobian({"g": node.values}, given)
        columns += [values, *slopes]
    sizes = [float(np.abs(column).max()) for column in columns]
    return tuple(Term(c / size, Constant(1)) for c, size in zip(columns, sizes, strict=True) if 0 < size < math.inf)


def _best(found: Members, target: Target, starts: Iterator[Start] | list[Start]) -> list[Sum]:
    """Sums with their best constants inside, the shortest descriptions first; few of the same families."""
    chosen = sorted(starts, key=lambda start: start[0].unexplained)[:REFINED]
    hits = [hit for hit, _ in chosen]
    after = refined(hits, found, steps=MOVES, begin=[begin for _, begin in chosen])
    left = after.unexplained
    bits = [_bits(found, target, hit, after.values(k), float(left[k])) for k, hit in enumerate(hits)]
    different: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for k in sorted((k for k in range(len(hits)) if math.isfinite(bits[k])), key=lambda k: bits[k]):
        kind = tuple(sorted((int(found.family[member]), int(found.node[member])) for member in hits[k].members))
        alike = different.setdefault(kind, [])
        if len(alike) < ALIKE and not any(math.isclose(bits[k], bits[other], abs_tol=SAME) for other in alike):
            alike.append(k)
    kept = sorted((k for alike in different.values() for k in alike), key=lambda k: bits[k])
    pure = [k for k in kept[PROPOSED:] if len(_families(found, hits[k].members)) == 1]
    return [
        Sum(hits[k].members, after.inside[k, : len(hits[k].members)], tuple(after.terms(k)), float(left[k]), bits[k])
        for k in (*kept[:PROPOSED], *pure[:OF_ONE_FAMILY])
    ]


def _bits(found: Members, target: Target, hit: MemberAnswer, values: Array, left: float) -> float:
    """To describe a sum that leaves so much. Terms larger than what they add up to cancel, which takes more digits."""
    rows = int((target.weights > 0).sum())
    columns = np.vstack([np.ones_like(target.values), values])
    mean = np.average(target.values, weights=target.weights)
    spread = math.sqrt(target.weights @ (target.values - mean) ** 2)
    if not np.isfinite(columns).all() or not spread:
        return math.inf
    solved = weighted_least_squares(columns, target.values, target.weights)
    digits = float(np.log2(np.maximum(solved.sizes[1:] / spread, 1.0)).sum())
    constants = sum(1 + len(found.families[int(found.family[member])].program.constants) for member in hit.members)
    size = BITS_PER_SYMBOL * hit.complexity + constant_bits(rows) * constants
    return size + digits + float(residual_bits(rows, max(left, EXACT)))


MEMBER_SUMS = Stage("member_sums", When.LEVEL, propose)
