"""Which mechanism comes when: a round of exhaustive pruning, from what costs milliseconds to what costs seconds.

Round after round the bank is four times as large, and so are the questions that are asked of it. Each stage gives
proposals, the most promising first; the caller fits them, and stops when one is exact.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.asked import Asked, Proposal, Scene
from prunesymnet.bank.asking import AT_A_TIME, ask_pairs, ask_singles, in_parts, left_by
from prunesymnet.bank.bank import LEAF, RECIPROCAL, Bank, distinct, grow_bank, probes_of
from prunesymnet.bank.scan import Question, scan, unexplained
from prunesymnet.bank.targets import Factor, Frame, further, plain, unwrap
from prunesymnet.expression import Expression, Variable, apply, compile_expression, evaluate
from prunesymnet.operators import UNNESTED, select_operators
from prunesymnet.search.stages.blocks import with_blocks
from prunesymnet.search.stages.chains import chains
from prunesymnet.search.stages.columns import screen
from prunesymnet.search.stages.frequencies import Grid, Waves, frequency_nodes
from prunesymnet.search.stages.grafts import questions
from prunesymnet.search.stages.phases import pursue_phases
from prunesymnet.search.stages.powers import pursue_powers
from prunesymnet.search.stages.pursuit import pursue
from prunesymnet.search.stages.rates import rates
from prunesymnet.search.stages.shortcuts import monomial, monomials, polynomials, quotients
from prunesymnet.settings import check_number, check_whole

Array = NDArray[np.float64]
Stages = Iterator[tuple[str, list[Proposal]]]

FIRST_BANK, GROWTH = 400, 4  # nodes to be paired
LARGE_BANK, LARGE_GROWTH = 5000, 5  # nodes to be tried one by one
FREQUENCIES, WAVES = 2048, 800  # on the grid of a node that is scanned; in the bank, for all columns together
RATED = 48  # nodes with rates
COMPOSED = 80  # functions of products of columns that join the bank however many columns there are
PHASES, PHASE_GRID = 10, 64  # nodes that are added up inside a sine, and their frequencies
FACTORS, MORE_FACTORS = 24, 3  # simple nodes that the target is divided by, are given, or are in the denominator
BEAM = 6  # frames that are unwrapped once more
GRAFTS = 32  # questions about the branches of formulas that two nodes answer
SINGLES_AT_A_TIME = 64
CLEARLY = 4.0  # bits more than chance


@dataclass(frozen=True, slots=True)
class ExhaustiveSettings:
    """`rounds`: how often the bank grows; `memory` (GiB) bounds it; at most `rows` rows and `columns`
    columns (those that matter most) are scanned; `keep` pairs of each
    complexity come out of a scan. The mechanisms can be switched off one by one: `unwrapping` of the target,
    `monomials` with real exponents, `polynomials`, `quotients` of polynomials and denominators, terms that are `given`,
    `singles` of a larger bank, products of `powers`, `frequencies`, `rates`, `pursuit` of several terms,
    `grafts` on formulas that are nearly right, `blocks` of these for columns, and nodes of trained `networks`."""

    rounds: int = 3
    memory: float = 2.0
    rows: int = 256
    columns: int = 10
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
    rates: bool = True
    pursuit: bool = True
    grafts: bool = True
    blocks: bool = True
    networks: bool = True

    def __post_init__(self) -> None:
        if self.device.partition(":")[0] not in ("cpu", "cuda"):
            raise ValueError(f"device must be cpu or cuda (or cuda:1 ...), got {self.device!r}")
        check_whole(self, rounds=0, rows=10, columns=1, keep=1, fits=1, workers=1)
        check_number(self, "memory", "a number of GiB > 0", lambda v: v > 0)


class Rounds:
    """The stages of exhaustive pruning on one scene, each a name and its proposals. `check` is called now and then in
    those that take long: it may raise to end them."""

    def __init__(self, scene: Scene, settings: ExhaustiveSettings, check: Callable[[], None] = lambda: None) -> None:
        self.scene, self.settings, self.check = scene, settings, check
        self.table = select_operators(scene.operators)
        self.plain = plain(scene.y, scene.weights)
        self.learned: tuple[Array, list[Expression]] = (np.zeros((0, len(scene.y))), [])
        self.scored = 0  # formulas, each with its best coefficients
        self.divides = bool({"/", "inv"} & set(self.table))

    def shortcuts(self) -> Stages:
        """What needs no bank."""
        settings, scene = self.settings, self.scene
        if len(scene.columns) > settings.columns:
            names, found = screen(
                scene,
                self.plain,
                count=settings.columns,
                keep=settings.keep,
                workers=settings.workers,
                check=self.check,
            )
            yield "columns", found
            self.scene = scene = replace(scene, names=tuple(names))
        if settings.monomials:
            yield "monomial", list(monomial(scene))
        if settings.polynomials:
            yield "polynomial", list(polynomials(scene, self.plain))
            if settings.unwrapping:
                frames = unwrap(scene.y, [], scene.operators, scene.weights)[1:]
                yield (
                    "unwrapped polynomial",
                    [p for frame in frames for p in polynomials(scene, frame, only_exact=True)],
                )

    def round(self, number: int) -> Stages:
        """From the simplest questions to the bank to those that need many of its answers."""
        settings, scene = self.settings, self.scene
        bank, large = self.banks(number)
        if not len(bank):  # no column that varies within the range of floats
            return
        if settings.rates and "exp" in self.table:
            nodes = different(bank, bank.plain_nodes())[: RATED * 2**number]
            values, trees = rates((bank.values[k], bank.expression(k)) for k in nodes)
            large = large.with_listed(values, trees) if trees else large
        small = bank.first(2 * FIRST_BANK * 3**number)
        few = bank.first(2 * FIRST_BANK * min(2**number, 2))
        count = FACTORS * MORE_FACTORS**number
        yield "pairs", self.pairs([Asked(self.plain)], bank, "pairs")
        frames = [self.plain]
        if settings.unwrapping:
            frames += further(self.plain, self.factors(bank, count), scene.operators)[1:]
        asked = [*(Asked(frame) for frame in frames), *self.with_given(bank, count)]
        best: list[tuple[float, int]] = [(1.0, 0)] * len(asked)
        if settings.singles:
            best = []
            for part in in_parts(asked, SINGLES_AT_A_TIME):
                proposals, answers = ask_singles(part, large, "singles", keep=settings.keep)
                self.scored += len(part) * len(large)
                best += answers
                yield "singles", proposals
        if settings.unwrapping:
            yield "chains", chains(scene, degree=1 + number, most=count * 2**number, keep=settings.keep)
        if settings.quotients and self.divides and number == 0:
            yield "quotient", list(quotients(scene))
        if settings.powers:
            yield "powers", pursue_powers(scene, large, keep=settings.keep)
        if settings.singles and settings.unwrapping and settings.quotients and self.divides:
            yield from self.factored_quotients(bank, large, 2 * count)
        if settings.frequencies and {"sin", "cos"} & set(self.table):
            yield from self.frequencies(bank, large, number)
        # Later rounds have many questions: those to which a single node has something to say come first.
        order = sorted(range(1, len(asked)), key=lambda k: best[k]) if number else list(range(1, len(asked)))
        at_a_time = max(AT_A_TIME // GROWTH**number, 1)  # so that time can be told between them
        for part in in_parts([asked[k] for k in order[: 5 * FACTORS // (1 + number)]], at_a_time):
            yield "questions", self.pairs(part, small, "questions")
        if settings.unwrapping and number:
            chosen = [k for k in order if k < len(frames)][:BEAM]
            simple = [k for k in range(1, len(frames)) if frames[k].complexity <= 2 and k not in chosen]
            first = {k: (large.values[best[k][1]], large.expression(best[k][1])) for k in [*chosen, *simple]}
            yield from self.deeper([(frames[k], term) for k, term in first.items()], bank, few, large)
        if settings.pursuit:
            yield "pursuit", self.pursuit(few, number)

    def factored_quotients(self, bank: Bank, large: Bank, count: int) -> Stages:
        """A column as a factor, and a simple node in the denominator of the rest: x*(1 - cos(y*z))/(1 - cos(y))."""
        leaves = [factor for factor in self.factors(bank, count) if isinstance(factor.expression, Variable)]
        frames = [frame for factor in leaves if (frame := self.plain.take_off(factor)) is not None]
        below = [(bank.values[node], bank.expression(node)) for node in range(min(count, len(bank)))]
        for part in in_parts([Asked(frame, below=term) for frame in frames for term in below], SINGLES_AT_A_TIME):
            self.scored += len(part) * len(large)
            yield "quotient", ask_singles(part, large, "quotient", keep=self.settings.keep)[0]

    def reduced(self, parts: dict[str, Expression]) -> Stages:
        """Shortcuts and the first round with other columns, made of those that there are."""
        known = all(self.has(part) for part in parts.values())
        scene = with_blocks(self.scene, parts) if known else None
        if scene is None:
            return
        inner = Rounds(scene, self.settings, self.check)
        for stage, proposals in chain(inner.shortcuts(), inner.round(0)):
            yield stage, [replace(p, expression=p.expression.substitute(parts)) for p in proposals]
        self.scored += inner.scored

    def grafts(self, formulas: list[Expression], number: int) -> Stages:
        """What the banks of a round have for the branches of formulas that are nearly right: one node, and for those
        questions that it answers best, two."""
        beside = self.polynomial_terms((2,))
        asked = [one for formula in formulas if self.has(formula) for one in questions(formula, self.scene, beside)]
        if not asked:
            return
        bank, large = self.banks(number)
        if not len(large):
            return
        best: list[float] = []
        for part in in_parts(asked, SINGLES_AT_A_TIME):
            proposals, answers = ask_singles(part, large, "grafts", keep=self.settings.keep)
            self.scored += len(part) * len(large)
            for one, (_, node) in zip(part, answers, strict=True):
                best.append(self.left_of_y(one.formula([(large.values[node], large.expression(node))])))
            yield "grafts", [replace(p, unexplained=self.left_of_y(p.expression)) for p in proposals]
        order = sorted(range(len(asked)), key=lambda k: best[k])
        for part in in_parts([asked[k] for k in order[:GRAFTS]]):
            proposals = self.pairs(part, bank.first(2 * FIRST_BANK), "grafts")
            yield "grafts", [replace(p, unexplained=self.left_of_y(p.expression)) for p in proposals]

    def has(self, formula: Expression) -> bool:
        """Whether the scene has the formula's columns: of many, it has those that matter most."""
        return set(formula.variables) <= set(self.scene.columns)

    def left_of_y(self, formula: Expression) -> float:
        """The part of the target's variation that a formula leaves as it stands."""
        scene = self.scene
        values, finite = evaluate(formula, scene.columns)
        if not finite.all():
            return 1.0
        with np.errstate(over="ignore"):
            left = float(scene.weights @ (scene.y - values) ** 2)
        variation = float(scene.weights @ (scene.y - scene.weights @ scene.y) ** 2)
        return left / variation if variation > 0 else 0.0

    def banks(self, number: int) -> tuple[Bank, Bank]:
        """Of a round: nodes to be paired, with their reciprocals, and nodes to be tried one by one."""
        bank, large = (self.grow(size) for size in (FIRST_BANK * GROWTH**number, LARGE_BANK * LARGE_GROWTH**number))
        return self.with_reciprocals(self.with_functions_of_products(bank, large)), large

    def with_functions_of_products(self, bank: Bank, large: Bank) -> Bank:
        """With cos(w*t) and the like, which many columns would leave no room for."""
        functions = [row for name, row in self.table.items() if name in UNNESTED and row.arity == 1]
        nodes = [node for node in large.monomials() if large.operator[node] != LEAF][:COMPOSED]
        trees = [apply(row, large.expression(node)) for node in nodes for row in functions][:COMPOSED]
        values = [evaluate(tree, self.scene.columns) for tree in trees]
        good = [k for k, (_, finite) in enumerate(values) if finite.all()]
        if not good:
            return bank
        return bank.with_listed(np.array([values[k].values for k in good]), [trees[k] for k in good])

    def grow(self, size: int) -> Bank:
        bank = grow_bank(self.scene.columns, self.scene.operators, size, memory=self.settings.memory / 8)
        return bank.with_listed(*self.learned) if len(self.learned[1]) else bank

    def learn(self, nodes: list[Expression]) -> None:
        """Nodes from elsewhere join the banks from now on, where they are finite on all rows."""
        columns = self.scene.columns
        known = [node for node in nodes if set(node.variables) <= set(columns)]
        values = [evaluate(node, columns) for node in known]
        good = [k for k, (_, finite) in enumerate(values) if finite.all()]
        self.learned = np.array([values[k].values for k in good]), [known[k] for k in good]

    def with_reciprocals(self, bank: Bank) -> Bank:
        return bank.with_reciprocals() if self.divides else bank

    def pairs(self, asked: list[Asked], bank: Bank, source: str) -> list[Proposal]:
        settings = self.settings
        self.scored += len(asked) * len(bank) * (len(bank) + 1)  # half as many pairs, as a product and as a sum
        where: dict[str, Any] = {"workers": settings.workers, "device": settings.device, "memory": settings.memory / 2}
        return ask_pairs(asked, bank, source, keep=settings.keep, **where)

    def deeper(
        self, frames: list[tuple[Frame, tuple[Array, Expression]]], bank: Bank, small: Bank, large: Bank
    ) -> Stages:
        """Frames that look best, or are simplest, with the node that answers best: asked for several terms, and the
        best unwrapped once more."""
        settings = self.settings
        for frame, term in frames:
            starts = [(term,), *self.polynomial_terms((1, 2))]
            found = pursue(
                frame, small, starts=starts, beam=2, steps=1, swaps=0, keep=settings.keep, workers=settings.workers,
                source="deeper", check=self.check,
            )  # fmt: skip
            yield "deeper", found
        factors = self.factors(bank, FACTORS)
        inner = [further(frame, factors, self.scene.operators)[1:] for frame, _ in frames[:BEAM]]
        asked = [Asked(frame) for some in inner for frame in some]
        asked += [Asked(frame, terms) for frame, _ in frames for terms in self.polynomial_terms((1, 2))]
        best: list[tuple[float, int]] = []
        for part in in_parts(asked, SINGLES_AT_A_TIME):
            proposals, answers = ask_singles(part, large, "deeper", keep=settings.keep)
            best += answers
            yield "deeper", proposals
        order = sorted(range(len(asked)), key=lambda k: best[k])
        for part in in_parts([asked[k] for k in order[:FACTORS]]):
            yield "deeper", self.pairs(part, small, "deeper")

    def polynomial_terms(self, degrees: tuple[int, ...]) -> list[tuple[tuple[Array, Expression], ...]]:
        """All terms up to each degree, where there are few enough for the rows."""
        columns = self.scene.columns
        few = [degree for degree in degrees if comb(len(columns) + degree, degree) - 1 <= len(self.scene.y) // 6]
        return [tuple(monomials(tuple(columns), columns, degree)) for degree in few]

    def factors(self, bank: Bank, count: int) -> list[Factor]:
        found = []
        for node in range(min(count, len(bank))):
            if bank.operator[node] == RECIPROCAL:
                below = int(bank.left[node])
                found.append(Factor(bank.values[below], bank.expression(below), divides=False))
            else:
                found.append(Factor(bank.values[node], bank.expression(node), divides=True))
        return found

    def with_given(self, bank: Bank, count: int) -> list[Asked]:
        """Questions with one simple term given, or all of low degree, or one simple node in the denominator."""
        asked: list[Asked] = []
        if self.settings.given:
            asked += [Asked(self.plain, terms) for terms in self.polynomial_terms((1, 2, 3))]
        for node in range(min(count, len(bank))):
            term = bank.values[node], bank.expression(node)
            if self.settings.given:
                asked.append(Asked(self.plain, (term,)))
            if self.settings.quotients and self.divides:
                asked.append(Asked(self.plain, below=term))
        return asked

    def frequencies(self, bank: Bank, large: Bank, number: int) -> Stages:
        """Products with sines and cosines of the columns; waves of simple nodes, alone, beside a term, in sums."""
        names = tuple(name for name in ("sin", "cos") if name in self.table)
        columns = [k for k in range(len(bank)) if bank.operator[k] == LEAF]
        if not columns:
            return
        count = WAVES * 2**number // len(columns)
        with_waves = frequency_nodes(bank.first(FIRST_BANK), columns, count, names)
        yield "frequencies", self.pairs([Asked(self.plain)], with_waves, "frequencies")
        # Of the simplest nodes all frequencies; of the others the lower ones, for the target as it stands.
        waves = Waves(bank, self.settings.keep, names)
        nodes = bank.plain_nodes()
        few = 16 * 4**number
        slower = {node: Grid.of(bank.values[node], FREQUENCIES // 4) for node in nodes[few : 128 * 6**number]}
        alone = [Asked(self.plain)]
        yield "frequencies", waves.proposals(waves.scan(alone, slower), alone, slower)
        phases = Waves(large, self.settings.keep, names)
        grids = {node: Grid.of(large.values[node], FREQUENCIES) for node in large.monomials()[: 4 * few]}
        yield "frequencies", phases.proposals(phases.scan(alone, grids), alone, grids)
        grids = {node: Grid.of(bank.values[node], FREQUENCIES) for node in nodes[:few]}
        simple = [(bank.values[k], bank.expression(k)) for k in nodes[: 4 * 2**number]]
        asked = [*alone, *(Asked(self.plain, (term,)) for term in simple)]
        hits = waves.scan(asked, grids)
        yield "frequencies", waves.proposals(hits, asked, grids)
        more = waves.with_best(hits, asked, grids)
        yield "frequencies", waves.proposals(waves.scan(more, grids), more, grids)
        beside = self.polynomial_terms((1, 2)) if self.settings.given else []
        asked = [*alone, *(Asked(self.plain, terms) for terms in beside)]
        added = [(bank.values[k], bank.expression(k)) for k in different(bank, nodes)[: PHASES + 2 * number]]
        yield "phases", pursue_phases(asked, added, PHASE_GRID * 2**number, self.settings.keep, names)

    def pursuit(self, bank: Bank, number: int) -> list[Proposal]:
        return pursue(
            self.plain, bank, starts=[(), *self.polynomial_terms((1, 3))], beam=3 + number, steps=3, check=self.check,
            keep=self.settings.keep, workers=self.settings.workers,
        )  # fmt: skip

    def hidden(self, expression: Expression) -> float | None:
        """What part of its residual a formula may have missed without anyone seeing it: any pair of nodes that explains
        more than this would stand out from the best of as many pairs by chance. None if one does."""
        scene = self.scene
        values, jacobian = compile_expression(expression).values_and_jacobian(scene.columns)
        residual, rows = scene.y - values, len(scene.y)
        bank = self.with_reciprocals(self.grow(FIRST_BANK))
        question = Question(residual, jacobian if len(jacobian) else None, scene.weights)
        before = float(unexplained(np.zeros((1, 0, rows)), question)[0])
        # Of M columns by chance the best leaves about M**(-2/freedom) of what has so many degrees of freedom.
        chance = 2 * np.log2(len(bank)) + np.log2(rows) + CLEARLY
        freedom = max(rows - len(jacobian) - 3, 1)
        for products in (True, False):
            (pairs,) = scan(bank.values, bank.complexity, [question], products=products, workers=self.settings.workers)
            left = max(float(left_by(pairs, bank, products, question).min(initial=before)), 1e-300)
            if 0.5 * freedom * np.log2(before / left) > chance:
                return None
        return float(1 - 2 ** (-2 * chance / freedom))


def different(bank: Bank, nodes: list[int]) -> list[int]:
    """Of some nodes, those that are no other one times a factor and plus a constant."""
    values = bank.values[nodes]
    good, keys = distinct(values - values.mean(axis=1, keepdims=True), probes_of(values.shape[1]))
    usable = np.flatnonzero(good)
    _, first = np.unique(keys[usable], return_index=True)
    return [nodes[k] for k in sorted(usable[first])]
