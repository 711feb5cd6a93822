"""Ask the bank: the answers to many questions at once, as proposals, the best of each complexity first."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.asked import EXACT, Asked, Proposal
from prunesymnet.bank.bank import Bank
from prunesymnet.bank.scan import Pairs, Question, scan, scan_singles, unexplained
from prunesymnet.expression import Expression

Array = NDArray[np.float64]
T = TypeVar("T")

AT_A_TIME = 16  # questions in one scan: so many can be given up when an answer is exact
PER_KEEP = 6  # proposals for each pair that a scan keeps


class _Hit(NamedTuple):
    left: float
    complexity: int
    asked: int
    products: bool
    i: int
    j: int  # -1: one node alone


def ask_pairs(
    asked: Sequence[Asked],
    bank: Bank,
    source: str,
    *,
    keep: int,
    workers: int = 1,
    device: str = "cpu",
    memory: float = 2.0,
) -> list[Proposal]:
    """The answers of a product or a sum of two nodes."""
    questions = [one.question() for one in asked]
    where: dict[str, Any] = {"keep": keep, "workers": workers, "device": device, "memory": memory}
    hits: list[_Hit] = []
    for products in (True, False):
        found = scan(bank.values, bank.complexity, questions, products=products, **where)
        for k, (question, pairs) in enumerate(zip(questions, found, strict=True)):
            if len(pairs):
                left = left_by(pairs, bank, products, question)
                size = bank.complexity[pairs.left] + bank.complexity[pairs.right] + asked[k].complexity
                rows = zip(left.tolist(), size.tolist(), pairs.left.tolist(), pairs.right.tolist(), strict=True)
                hits.extend(_Hit(e, c, k, products, i, j) for e, c, i, j in rows)
    return _proposals(hits, asked, bank, source, PER_KEEP * keep)


def ask_singles(
    asked: Sequence[Asked], bank: Bank, source: str, *, keep: int
) -> tuple[list[Proposal], list[tuple[float, int]]]:
    """The answers of one node alone; and for each question what the best leaves, and which node that is."""
    found = scan_singles(bank.values, bank.complexity, [one.question() for one in asked], keep=keep)
    hits = [
        _Hit(left, int(bank.complexity[node]) + asked[k].complexity, k, False, node, -1)
        for k, nodes in enumerate(found)
        for node, left in nodes
    ]
    best = [min(((left, node) for node, left in nodes), default=(1.0, 0)) for nodes in found]
    return _proposals(hits, asked, bank, source, PER_KEEP * keep), best


def left_by(pairs: Pairs, bank: Bank, products: bool, question: Question) -> Array:
    """What the pairs leave unexplained, in double precision."""
    one, two = bank.values[pairs.left], bank.values[pairs.right]
    return unexplained((one * two)[:, None] if products else np.stack([one, two], axis=1), question)


def _proposals(hits: list[_Hit], asked: Sequence[Asked], bank: Bank, source: str, count: int) -> list[Proposal]:
    def node(k: int) -> tuple[Array, Expression]:
        return bank.values[k], bank.expression(k)

    out = []
    for hit in _promising(hits, count):
        terms = [node(k) for k in (hit.i, hit.j) if k >= 0]
        if hit.products:
            (one, two) = terms
            terms = [(one[0] * two[0], one[1] * two[1])]
        out.append(Proposal(asked[hit.asked].formula(terms), hit.left, source))
    return out


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


def in_parts(items: list[T], size: int = AT_A_TIME) -> Iterator[list[T]]:
    """So many at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
