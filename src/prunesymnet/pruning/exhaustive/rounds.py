"""Which mechanism comes when: a round of exhaustive pruning, from what costs milliseconds to what costs seconds.

Round after round the bank is four times as large, and so are the questions that are asked of it. Each stage gives
proposals, the most promising first; the caller fits them, and stops when one is exact.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from prunesymnet.expression import Constant, Expression, apply
from prunesymnet.operators import select_operators
from prunesymnet.pruning.exhaustive.asked import EXACT, Asked, Proposal, Scene
from prunesymnet.pruning.exhaustive.bank import LEAF, RECIPROCAL, Bank, grow_bank
from prunesymnet.pruning.exhaustive.frequencies import Grid, frequency_nodes, refined, scan_frequencies, wave
from prunesymnet.pruning.exhaustive.powers import pursue_powers
from prunesymnet.pruning.exhaustive.pursuit import pursue
from prunesymnet.pruning.exhaustive.scan import Question, scan, scan_singles, unexplained
from prunesymnet.pruning.exhaustive.shortcuts import monomial, monomials, polynomials, quotients
from prunesymnet.pruning.exhaustive.targets import Factor, unwrap
from prunesymnet.settings import check_number, check_whole

Array = NDArray[np.float64]
T = TypeVar("T")

FIRST_BANK, GROWTH = 400, 5
FREQUENCIES, WAVES = 2048, 800  # on the grid of a node that is scanned; in the bank, for all columns together
LARGE_BANK = 5000  # where nodes are tried one by one
CLEARLY = 4.0  # bits more than chance
AT_A_TIME = 16  # questions in one scan: they share two matrix products


@dataclass(frozen=True, slots=True)
class ExhaustiveSettings:
    """`rounds`: how often the bank grows; `memory` (GiB) bounds it; `rows` are scanned at most; `keep` pairs of each
    complexity come out of a scan. The mechanisms can be switched off one by one: `unwrapping` of the target,
    `monomials` with real exponents, `polynomials`, `quotients` of polynomials and denominators, terms that are `given`,
    `singles` of a larger bank, products of `powers`, `frequencies`, and `pursuit` of several terms."""

    rounds: int = 3
    memory: float = 2.0
    rows: int = 256
    keep: int = 5
    fits: int = 200
    workers: int = 1
    device: str = "cpu"
    unwrapping: bool = True
    monomials: bool = True
    polynomials: bool = True
    quotients: bool = True
    given: bool = True
    singles: bool = True
    powers: bool = True
    frequencies: bool = True
    pursuit: bool = True

    def __post_init__(self) -> None:
        check_whole(self, rounds=0, rows=10, keep=1, fits=1, workers=1)
        check_number(self, "memory", "a number of GiB > 0", lambda v: v > 0)


class _Hit(NamedTuple):
    left: float
    complexity: int
    asked: int
    products: bool
    i: int
    j: int


class _Wave(NamedTuple):
    left: float
    complexity: int
    asked: int
    node: int
    frequency: float


class Rounds:
    """The stages of exhaustive pruning on one scene; `nodes` from elsewhere join the bank."""

    def __init__(self, scene: Scene, settings: ExhaustiveSettings) -> None:
        self.scene, self.settings = scene, settings
        self.table = select_operators(scene.operators)
        self.plain = unwrap(scene.y, [], (), scene.weights)[0]
        self.extra: list[Expression] = []

    def shortcuts(self) -> Iterator[tuple[str, list[Proposal]]]:
        """What needs no bank."""
        settings, scene = self.settings, self.scene
        if settings.monomials:
            yield "monomial", list(monomial(scene))
        if settings.polynomials:
            yield "polynomial", list(polynomials(scene, self.plain))
            if settings.unwrapping:
                frames = unwrap(scene.y, [], scene.operators, scene.weights)[1:]
                yield "polynomial", [p for frame in frames for p in polynomials(scene, frame, only_exact=True)]

    def round(self, number: int) -> Iterator[tuple[str, list[Proposal]]]:
        """The stages of one round, as (name, proposals)."""
        settings, scene = self.settings, self.scene
        size = FIRST_BANK * GROWTH**number
        bank = grow_bank(scene.columns, scene.operators, size, memory=settings.memory / 4).with_reciprocals()
        yield "pairs", self.ask([Asked(self.plain)], bank, "pairs")
        small = bank.first(2 * FIRST_BANK)
        frames = [self.plain]
        if settings.unwrapping:
            frames = unwrap(scene.y, self.factors(bank, 24 * 3**number), scene.operators, scene.weights)
        given = self.with_given(bank, 24 * 3**number)
        if settings.singles:
            large = grow_bank(scene.columns, scene.operators, LARGE_BANK * 5**number, memory=settings.memory / 8)
            for part in _parts([*(Asked(frame) for frame in frames), *given], 64):
                yield "singles", self.ask_singles(part, large)
        for some in _parts(frames[1:]):
            yield "unwrapping", self.ask([Asked(frame) for frame in some], small, "unwrapping")
        for part in _parts(given):
            yield "given", self.ask(part, small, "given")
        if settings.quotients and number == 0:
            yield "quotient", list(quotients(scene))
        if settings.powers:
            large = grow_bank(scene.columns, scene.operators, LARGE_BANK * 5**number, memory=settings.memory / 8)
            yield "powers", pursue_powers(scene, large, keep=settings.keep)
        if settings.frequencies:
            yield from self.frequencies(bank, number)
        if settings.pursuit:
            yield "pursuit", self.pursuit(small, number)

    def says_more(self, residual: Array, given: Array) -> bool:
        """Whether any pair of nodes explains more of a residual than the best of as many pairs would by chance; `given`
        are the derivatives of the formula that left it."""
        rows = len(residual)
        bank = grow_bank(self.scene.columns, self.scene.operators, FIRST_BANK).with_reciprocals()
        question = Question(residual, given if len(given) else None, self.scene.weights)
        chance = 2 * np.log2(len(bank)) + 0.5 * np.log2(rows) + CLEARLY
        for products in (True, False):
            (pairs,) = scan(bank.values, bank.complexity, [question], products=products, workers=self.settings.workers)
            before = unexplained(np.zeros((1, 0, rows)), question)[0]
            one, two = bank.values[pairs.left], bank.values[pairs.right]
            left = unexplained((one * two)[:, None] if products else np.stack([one, two], axis=1), question)
            gained = 0.5 * rows * np.log2(before / max(float(left.min(initial=before)), 1e-300))
            if gained > chance + (0 if products else 0.5 * np.log2(rows)):
                return True
        return False

    def ask_singles(self, asked: Sequence[Asked], bank: Bank) -> list[Proposal]:
        """The answers of one node each."""
        found = scan_singles(bank.values, bank.complexity, [one.question() for one in asked], keep=self.settings.keep)
        hits = [
            _Hit(left, int(bank.complexity[node]) + asked[k].complexity, k, False, node, -1)
            for k, nodes in enumerate(found)
            for node, left in nodes
        ]
        chosen = _promising(hits, 6 * self.settings.keep)
        terms = [(bank.values[hit.i], bank.expression(hit.i)) for hit in chosen]
        return [
            Proposal(asked[hit.asked].formula([term]), hit.left, "singles")
            for hit, term in zip(chosen, terms, strict=True)
        ]

    def factors(self, bank: Bank, count: int) -> list[Factor]:
        found = []
        for node in range(min(count, len(bank))):
            values, tree = bank.values[node], bank.expression(node)
            if bank.operator[node] == RECIPROCAL:
                below = int(bank.left[node])
                found.append(Factor(bank.values[below], bank.expression(below), divides=False))
            else:
                found.append(Factor(values, tree, divides=True))
        return found

    def with_given(self, bank: Bank, count: int) -> list[Asked]:
        """Questions with one simple term given, or one simple node in the denominator."""
        asked: list[Asked] = []
        names = tuple(self.scene.columns)
        for degree in (1, 2, 3):
            terms = monomials(names, self.scene.columns, degree)
            if self.settings.given and len(terms) <= len(self.scene.y) // 6:
                asked.append(Asked(self.plain, tuple(terms)))
        for node in range(min(count, len(bank))):
            term = bank.values[node], bank.expression(node)
            if self.settings.given:
                asked.append(Asked(self.plain, (term,)))
            if self.settings.quotients:
                asked.append(Asked(self.plain, below=term))
        return asked

    def ask(self, asked: Sequence[Asked], bank: Bank, source: str) -> list[Proposal]:
        """The answers of the bank, the best of each complexity first."""
        settings = self.settings
        questions = [one.question() for one in asked]
        hits: list[_Hit] = []
        for products in (True, False):
            found = scan(
                bank.values, bank.complexity, questions, products=products, keep=settings.keep,
                workers=settings.workers, device=settings.device, memory=settings.memory / 2,
            )  # fmt: skip
            for k, (question, pairs) in enumerate(zip(questions, found, strict=True)):
                if not len(pairs):
                    continue
                one, two = bank.values[pairs.left], bank.values[pairs.right]
                left = unexplained((one * two)[:, None] if products else np.stack([one, two], axis=1), question)
                size = bank.complexity[pairs.left] + bank.complexity[pairs.right] + asked[k].complexity
                rows = zip(left.tolist(), size.tolist(), pairs.left.tolist(), pairs.right.tolist(), strict=True)
                hits.extend(_Hit(e, c, k, products, i, j) for e, c, i, j in rows)
        return [self.proposal(hit, asked, bank, source) for hit in _promising(hits, 6 * settings.keep)]

    def proposal(self, hit: _Hit, asked: Sequence[Asked], bank: Bank, source: str) -> Proposal:
        one, two = (bank.values[hit.i], bank.expression(hit.i)), (bank.values[hit.j], bank.expression(hit.j))
        terms = [(one[0] * two[0], one[1] * two[1])] if hit.products else [one, two]
        return Proposal(asked[hit.asked].formula(terms), hit.left, source)

    def frequencies(self, bank: Bank, number: int) -> Iterator[tuple[str, list[Proposal]]]:
        names = tuple(name for name in ("sin", "cos") if name in self.table)
        if not names:
            return
        leaves = [k for k in range(len(bank)) if bank.operator[k] == LEAF]
        waves = frequency_nodes(bank.first(FIRST_BANK), leaves, WAVES * 2**number // len(leaves), names)
        yield "frequencies", self.ask([Asked(self.plain)], waves, "frequencies")
        # Of the simplest nodes all frequencies; of the others the lower ones, for the target as it stands.
        nodes = [k for k in range(len(bank)) if not bank.nested[k] and bank.operator[k] != RECIPROCAL]
        some, many = nodes[: 16 * 4**number], nodes[16 * 4**number : 128 * 6**number]
        slower = {node: Grid.of(bank.values[node], FREQUENCIES // 4) for node in many}
        plain = [Asked(self.plain)]
        yield "frequencies", self.wave_proposals(self.waves(plain, bank, slower), plain, bank, slower)
        grids = {node: Grid.of(bank.values[node], FREQUENCIES) for node in some}
        simple = [(bank.values[k], bank.expression(k)) for k in some[: 4 * 2**number]]
        asked = [Asked(self.plain), *(Asked(self.plain, (term,)) for term in simple)]
        hits = self.waves(asked, bank, grids)
        # A sum of waves: the best is given, with sine and cosine, and the others are asked for again.
        more = []
        for hit in hits[: 2 * self.settings.keep]:
            u, tree = bank.values[hit.node], bank.expression(hit.node)
            given = asked[hit.asked]
            w = refined(u, grids[hit.node], hit.frequency, given.question())
            inside = Constant(w) * tree
            both = ((np.sin(w * u), apply("sin", inside)), (np.cos(w * u), apply("cos", inside)))
            more.append(Asked(self.plain, (*given.given, *both)))
        yield "frequencies", self.wave_proposals(hits, asked, bank, grids)
        yield "frequencies", self.wave_proposals(self.waves(more, bank, grids), more, bank, grids)

    def waves(self, asked: list[Asked], bank: Bank, grids: dict[int, Grid]) -> list[_Wave]:
        """The frequencies of each node that explain most, the best first."""
        questions = [one.question() for one in asked]
        hits: list[_Wave] = []
        for node, grid in grids.items():
            found = scan_frequencies(bank.values[node], grid, questions, self.settings.keep)
            for k, (frequencies, left) in enumerate(found):
                size = int(bank.complexity[node]) + asked[k].complexity
                hits.extend(_Wave(float(e), size, k, node, float(w)) for w, e in zip(frequencies, left, strict=True))
        return sorted(hits)

    def wave_proposals(
        self, hits: list[_Wave], asked: list[Asked], bank: Bank, grids: dict[int, Grid]
    ) -> list[Proposal]:
        proposals = []
        for hit in hits[: 4 * self.settings.keep]:
            one, grid = asked[hit.asked], grids[hit.node]
            u, tree = bank.values[hit.node], bank.expression(hit.node)
            w = refined(u, grid, hit.frequency, one.question())
            rows = None if grid.rows.all() else grid.rows
            terms = wave(one, u, tree, w)
            proposals += [Proposal(one.formula([term]), max(hit.left, EXACT), "frequencies", rows) for term in terms]
        return proposals

    def pursuit(self, bank: Bank, number: int) -> list[Proposal]:
        names = tuple(self.scene.columns)
        starts: list[tuple[tuple[Array, Expression], ...]] = [()]
        for degree in (1, 3):
            terms = monomials(names, self.scene.columns, degree)
            if len(terms) <= min(10, len(self.scene.y) // 6):
                starts.append(tuple(terms))
        return pursue(
            self.plain, bank, starts=starts, beam=3 * 2**number, steps=3, keep=self.settings.keep,
            workers=self.settings.workers,
        )  # fmt: skip


def _parts(asked: list[T], size: int = AT_A_TIME) -> Iterator[list[T]]:
    for start in range(0, len(asked), size):
        yield asked[start : start + size]


def _promising(hits: list[_Hit], count: int) -> list[_Hit]:
    """The best of each complexity, then the second best, and so on; those that are exact before all, simplest first."""
    exact = sorted((hit for hit in hits if hit.left < EXACT), key=lambda hit: (hit.complexity, hit.left))
    ranks: dict[int, int] = {}
    ordered = []
    for hit in sorted(hits, key=lambda hit: hit.left):
        ranks[hit.complexity] = rank = ranks.get(hit.complexity, -1) + 1
        ordered.append((rank, hit.left, hit))
    ordered.sort(key=lambda entry: entry[:2])
    chosen = [*exact[: count // 2], *(hit for _, _, hit in ordered if hit.left >= EXACT)]
    return chosen[:count]
