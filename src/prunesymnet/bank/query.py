"""A query to a bank, and the formulas that its answers stand for.

A query has a target, terms that are in its formula already, and perhaps a denominator. An answer is one node of the
bank, or a product or sum of two; with the coefficients of least squares it is a formula of y: a `Proposal`.

Denominators: `t = c0 + c1*f + c2*t*g` is linear in its constants, and is `t = (c0 + c1*f)/(1 - c2*g)`. So `t*g` is a
fixed term like others. One is enough, and two would be a trap: if their functions add up to a constant, `t*g1 + t*g2`
fits every target exactly and says nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Bank, Term
from prunesymnet.bank.best import Pairs
from prunesymnet.bank.gpu import Placed, scan_placed, scan_singles_placed
from prunesymnet.bank.regression import Regression, unexplained
from prunesymnet.bank.scan import scan, scan_singles
from prunesymnet.bank.targets import Target
from prunesymnet.coefficients.linear import weighted_least_squares
from prunesymnet.expression import Constant, Expression
from prunesymnet.optional import device_of

Array = NDArray[np.float64]
T = TypeVar("T")

EXACT = 1e-16  # of the variation: what a formula leaves below this is rounding, the square of eight digits
NEGLIGIBLE, ROUNDING = 1e-10, 1e-15  # of the target's variation, of its size: a term that adds no more is left out
# Nodes of a bank from which on a GPU scans it faster than one core: all pairs, and one by one (measured on an H200).
# Banks of a search's first level are smaller, so that a search which ends there does not wait for the GPU to start.
PAIRED_ON_GPU, TRIED_ON_GPU = 1000, 20_000
AUTO = 3  # times as many where nobody asked for it: a level whose banks are that large takes a minute without a GPU
BANKS_ON_GPU = 3  # for pairs, for single nodes, for several terms
# What a further term c*f and a denominator 1 - c*f add to a formula's complexity, beside f.
A_TERM, A_DENOMINATOR = 3, 5
PROPOSALS = 6  # for each pair that a scan keeps of each complexity: about as many complexities matter


@dataclass(frozen=True, slots=True)
class Proposal:
    """A formula to be fitted; `unexplained` is the share of the variation that it leaves as it stands. `rows` of the
    problem (None: all) are those to fit on first: where a wave is to be seen."""

    expression: Expression
    unexplained: float
    rows: NDArray[np.bool_] | None = field(default=None, compare=False)

    @property
    def exact(self) -> bool:
        return self.unexplained < EXACT


@dataclass(frozen=True, slots=True)
class Query:
    """What explains the target beside the `fixed_terms`, or with a `denominator` g, which stands as 1 - c*g?"""

    target: Target
    fixed_terms: tuple[Term, ...] = ()
    denominator: Term | None = None

    def columns(self) -> list[Array]:
        """The fixed terms and the denominator, as columns of the regression."""
        values = [term.values for term in self.fixed_terms]
        return values if self.denominator is None else [*values, self.target.values * self.denominator.values]

    def regression(self) -> Regression:
        columns = self.columns()
        return Regression(self.target.values, np.array(columns) if columns else None, self.target.weights)

    def formula(self, answer: Sequence[Term]) -> Expression:
        """The formula of y when these terms are the answer, with the coefficients of least squares."""
        terms, target = [*answer, *self.fixed_terms], self.target
        columns = [np.ones_like(target.values), *(term.values for term in answer), *self.columns()]
        solved = weighted_least_squares(np.array(columns), target.values, target.weights)
        root = np.sqrt(target.weights)
        off = target.values - target.weights @ target.values / target.weights.sum()
        least = max(NEGLIGIBLE * np.abs(off * root).max(), ROUNDING * np.abs(target.values * root).max())
        constant, *others = (float(value) for value in solved.coefficients)
        total: Expression = Constant(constant)
        for value, size, term in zip(others, solved.sizes[1:], terms, strict=False):
            if size > least:
                total = total + Constant(value) * term.expression
        if self.denominator is not None:
            total = total / (Constant(1) - Constant(others[-1]) * self.denominator.expression)
        return target.wrap(total)

    @property
    def complexity(self) -> int:
        fixed = sum(term.expression.complexity + A_TERM for term in self.fixed_terms)
        below = 0 if self.denominator is None else self.denominator.expression.complexity + A_DENOMINATOR
        return self.target.complexity + fixed + below


class Answers(NamedTuple):
    """Proposals, the most promising first; for each query what the best node leaves and which one that is; and how
    many formulas were scored."""

    proposals: list[Proposal]
    best: list[tuple[float, int]]
    scored: int


class _NodeAnswer(NamedTuple):
    """A node that answers a query, or two of them: their product or their sum."""

    unexplained: float
    complexity: int
    query: int
    product: bool
    i: int
    # -1: one node alone
    j: int


@dataclass(frozen=True, slots=True)
class Scanner:
    """How banks are scanned: `keep` answers of each complexity, on how many threads, on which device, in how much
    memory (GiB). Banks too small for a GPU are scanned on the CPU whatever the device."""

    keep: int = 5
    workers: int = 1
    device: str = "cpu"
    memory: float = 2.0
    _placed: dict[int, tuple[Array, Placed]] = field(default_factory=dict, repr=False, compare=False)

    def scan(self, bank: Bank, regressions: list[Regression], *, products: bool) -> list[Pairs]:
        if self.on_gpu(len(bank), PAIRED_ON_GPU):
            return scan_placed(self.placed(bank), regressions, products=products, keep=self.keep)
        return scan(
            bank.values, bank.complexity, regressions, products=products, keep=self.keep, workers=self.workers,
            memory=self.memory,
        )  # fmt: skip

    def on_gpu(self, nodes: int, least: int = PAIRED_ON_GPU) -> bool:
        """Whether a bank of so many nodes is scanned on a GPU. Smaller ones do not even ask whether there is one, which
        takes seconds."""
        return nodes >= least * (AUTO if self.device == "auto" else 1) and device_of(self.device) != "cpu"

    def placed(self, bank: Bank) -> Placed:
        """A bank on the GPU, where it stays as long as no more than a few others are asked for."""
        found = self._placed.pop(id(bank.values), None)
        if found is None:
            found = bank.values, Placed.of(bank.values, bank.complexity, device_of(self.device), self.memory)
        self._placed[id(bank.values)] = found  # with the values, so that the number stays theirs
        while len(self._placed) > BANKS_ON_GPU:
            del self._placed[next(iter(self._placed))]
        return found[1]

    def pairs(self, queries: Sequence[Query], bank: Bank) -> Answers:
        """The answers of a product or a sum of two nodes."""
        regressions = [query.regression() for query in queries]
        hits: list[_NodeAnswer] = []
        for products in (True, False):
            found = self.scan(bank, regressions, products=products)
            for k, (regression, pairs) in enumerate(zip(regressions, found, strict=True)):
                if len(pairs):
                    left = left_by_pairs(pairs, bank, products, regression)
                    size = bank.complexity[pairs.left] + bank.complexity[pairs.right] + queries[k].complexity
                    rows = zip(left.tolist(), size.tolist(), pairs.left.tolist(), pairs.right.tolist(), strict=True)
                    hits.extend(_NodeAnswer(e, c, k, products, i, j) for e, c, i, j in rows)
        scored = len(queries) * len(bank) * (len(bank) + 1)  # half as many pairs, each as a product and as a sum
        return Answers(self._proposals(hits, queries, bank), [], scored)

    def singles(self, queries: Sequence[Query], bank: Bank) -> Answers:
        """The answers of one node alone."""
        if not queries:
            return Answers([], [], 0)
        regressions = [query.regression() for query in queries]
        if self.on_gpu(len(bank), TRIED_ON_GPU):
            found = scan_singles_placed(self.placed(bank), regressions, keep=self.keep)
        else:
            found = scan_singles(bank.values, bank.complexity, regressions, keep=self.keep)
        hits = [
            _NodeAnswer(left, int(bank.complexity[node]) + size, k, False, node, -1)
            for k, (size, nodes) in enumerate(zip((query.complexity for query in queries), found, strict=True))
            for node, left in nodes
        ]
        best = [min(((left, node) for node, left in nodes), default=(1.0, 0)) for nodes in found]
        return Answers(self._proposals(hits, queries, bank), best, len(queries) * len(bank))

    def _proposals(self, hits: list[_NodeAnswer], queries: Sequence[Query], bank: Bank) -> list[Proposal]:
        out = []
        for hit in _promising(hits, PROPOSALS * self.keep):
            terms = [bank.term(k) for k in (hit.i, hit.j) if k >= 0]
            if hit.product:
                terms = [terms[0] * terms[1]]
            out.append(Proposal(queries[hit.query].formula(terms), hit.unexplained))
        return out


def left_by_pairs(pairs: Pairs, bank: Bank, products: bool, regression: Regression) -> Array:
    """What the pairs leave unexplained, in double precision."""
    one, two = bank.values[pairs.left], bank.values[pairs.right]
    return unexplained((one * two)[:, None] if products else np.stack([one, two], axis=1), regression)


def _promising(hits: list[_NodeAnswer], count: int) -> list[_NodeAnswer]:
    """The best of each complexity, then the second best, and so on; those that are exact before all, simplest first."""
    exact = sorted((hit for hit in hits if hit.unexplained < EXACT), key=lambda hit: (hit.complexity, hit.unexplained))
    ranked = by_rank(hits, lambda hit: hit.unexplained, lambda hit: hit.complexity)
    return [*exact[: count // 2], *(hit for hit in ranked if hit.unexplained >= EXACT)][:count]


def by_rank(items: Iterable[T], error: Callable[[T], float], kind: Callable[[T], object]) -> list[T]:
    """The best of each kind, then the second best of each, and so on."""
    ranks: dict[object, int] = {}
    ordered = []
    for item in sorted(items, key=error):
        ranks[kind(item)] = rank = ranks.get(kind(item), -1) + 1
        ordered.append((rank, error(item), item))
    ordered.sort(key=lambda entry: entry[:2])
    return [item for _, _, item in ordered]


def in_parts(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """So many at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
