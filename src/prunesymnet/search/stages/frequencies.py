"""Frequencies by scanning: the loss of sin(w*u) has a valley for every w, and no gradient leads to the right one.

For a node u, w runs over a grid so fine that the phase at the ends of u's range is right somewhere, and
`a*sin(w*u) + b*cos(w*u)` is solved in closed form for each w. What remains is polished by the fit.

The grid follows the data: its step is 1/range of u. Where u has long tails (x*y/z), it is the range of the central
rows: the others would need a grid too fine to scan, and they come in when the frequency is known.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.asked import EXACT, Asked, Proposal
from prunesymnet.bank.bank import Bank
from prunesymnet.bank.scan import Base, Question
from prunesymnet.expression import Constant, Expression, apply

Array = NDArray[np.float64]

CENTRAL = 3.0  # median deviations from the median: rows beyond are tails...
TAILS = 2.0  # ...if they make the range so many times larger
CHUNK = 2048


@dataclass(frozen=True, slots=True)
class Grid:
    """Frequencies for a node, and the rows by which they are judged."""

    frequencies: Array
    rows: NDArray[np.bool_]

    @classmethod
    def of(cls, u: Array, count: int) -> "Grid":
        off = np.abs(u - np.median(u))
        rows = np.ones(len(u), dtype=bool)
        central = off <= CENTRAL * np.median(off)
        if np.ptp(u) > TAILS * np.ptp(u[central]) > 0:
            rows = central
        return cls(np.arange(1, count + 1) / np.ptp(u[rows]), rows)


def scan_frequencies(u: Array, grid: Grid, questions: list[Question], keep: int) -> list[tuple[Array, Array]]:
    """For each question the `keep` best frequencies, and what sine and cosine leave unexplained with them."""
    # Single precision has too few digits for a phase far from zero; sine and cosine together do not mind a shift.
    u = u - (u[grid.rows].min() + u[grid.rows].max()) / 2
    # Only where tails are cut off are the weights others than the question's own.
    bases = []
    for question in questions:
        weights = np.ones_like(u) if question.weights is None else question.weights
        bases.append(Base.of(Question(question.target, question.given, np.where(grid.rows, weights, 0.0))))
    gains: list[list[Array]] = [[] for _ in questions]
    single = np.float32
    with np.errstate(all="ignore"):
        for start in range(0, len(grid.frequencies), CHUNK):
            phase = np.outer(grid.frequencies[start : start + CHUNK], u).astype(single)
            sine, cosine = np.sin(phase), np.cos(phase)
            for base, found in zip(bases, gains, strict=True):
                found.append(_both(sine, cosine, base))
    out = []
    for gain in gains:
        total = np.concatenate(gain)
        # Neighbours on the grid are one frequency: only the tops of hills count.
        padded = np.concatenate([[-1.0], total, [-1.0]])
        top = np.flatnonzero((total >= padded[:-2]) & (total >= padded[2:]))
        best = top[np.argsort(-total[top], kind="stable")[:keep]]
        out.append((grid.frequencies[best], 1.0 - total[best]))
    return out


def _both(sine: NDArray[np.float32], cosine: NDArray[np.float32], base: Base) -> Array:
    """The part explained by both columns together, for each frequency."""
    weights = (base.root**2).astype(np.float32)
    rest = (base.rest * base.root).astype(np.float32)
    basis = (base.basis * base.root).astype(np.float32).T
    along, across = sine @ basis, cosine @ basis
    ss = (sine * sine) @ weights - np.einsum("kq,kq->k", along, along)
    cc = (cosine * cosine) @ weights - np.einsum("kq,kq->k", across, across)
    sc = (sine * cosine) @ weights - np.einsum("kq,kq->k", along, across)
    s, c = sine @ rest, cosine @ rest
    det = np.maximum(ss * cc - sc * sc, 1e-4)
    return base.explained + np.asarray((s * s * cc + c * c * ss - 2 * s * c * sc) / det, dtype=np.float64)


def refined(u: Array, grid: Grid, frequency: float, question: Question) -> float:
    """The frequency between its neighbours on the grid that explains most, to a thousandth of a step."""
    step = 1 / float(np.ptp(u[grid.rows]))
    for _ in range(3):
        near = frequency + step * np.linspace(-1, 1, 21)
        (best, _), *_ = scan_frequencies(u, Grid(near[near > 0], grid.rows), [question], 1)
        frequency, step = float(best[0]), step / 10
    return frequency


def wave(
    asked: Asked, u: Array, tree: Expression, frequency: float, names: tuple[str, ...] = ("sin", "cos")
) -> list[tuple[Array, Expression]]:
    """The terms for one frequency: a sine or a cosine where the phase is near to one, and one with a phase."""
    inside = Constant(float(frequency)) * tree
    root = np.sqrt(asked.frame.weights)
    terms = [np.ones_like(u), *asked.terms(), np.sin(frequency * u), np.cos(frequency * u)]
    solved = np.linalg.lstsq(np.array(terms).T * root[:, None], asked.frame.target * root, rcond=1e-12)[0]
    a, b = solved[-2:]
    phase = float(np.arctan2(b, a))
    phase -= np.pi * round(phase / np.pi)  # half a turn is a sign
    found: list[tuple[Array, Expression]] = []
    for name, values, off in (("sin", np.sin, abs(b)), ("cos", np.cos, abs(a))):
        if name in names and off < 0.3 * np.hypot(a, b):
            found.append((values(frequency * u), apply(name, inside)))
    shifted = np.sin(frequency * u + phase)
    if "sin" not in names:
        phase -= np.pi / 2
    return [*found, (shifted, apply(names[0], inside + Constant(phase)))]


def frequency_nodes(bank: Bank, nodes: list[int], count: int, names: tuple[str, ...]) -> Bank:
    """The bank with sin(w*u) and cos(w*u) for a grid of w for each of these nodes, so that their products with other
    nodes are scored too."""
    values: list[Array] = []
    trees: list[Expression] = []
    for node in nodes:
        u, tree = bank.values[node], bank.expression(node)
        grid = Grid.of(u, count)
        phase = np.outer(grid.frequencies, u)
        for name, function in (("sin", np.sin), ("cos", np.cos)):
            if name in names:
                values.append(function(phase))
                trees.extend(apply(name, Constant(float(w)) * tree) for w in grid.frequencies)
    return bank.with_listed(np.concatenate(values), trees) if values else bank


class _Wave(NamedTuple):
    left: float
    complexity: int
    asked: int
    node: int
    frequency: float


class Waves:
    """The frequencies of many nodes, for many questions."""

    def __init__(self, bank: Bank, keep: int, names: tuple[str, ...] = ("sin", "cos")) -> None:
        self.bank, self.keep, self.names = bank, keep, names

    def scan(self, asked: list[Asked], grids: dict[int, Grid]) -> list[_Wave]:
        """The frequencies of each node that explain most, the best first."""
        questions = [one.question() for one in asked]
        hits: list[_Wave] = []
        for node, grid in grids.items():
            found = scan_frequencies(self.bank.values[node], grid, questions, self.keep)
            for k, (frequencies, left) in enumerate(found):
                size = int(self.bank.complexity[node]) + asked[k].complexity
                hits.extend(_Wave(float(e), size, k, node, float(w)) for w, e in zip(frequencies, left, strict=True))
        return sorted(hits)

    def proposals(self, hits: list[_Wave], asked: list[Asked], grids: dict[int, Grid]) -> list[Proposal]:
        """The formulas of the best."""
        proposals = []
        for hit in hits[: 4 * self.keep]:
            one, grid = asked[hit.asked], grids[hit.node]
            u, tree = self.bank.values[hit.node], self.bank.expression(hit.node)
            w = refined(u, grid, hit.frequency, one.question())
            rows = None if grid.rows.all() else grid.rows
            terms = wave(one, u, tree, w, self.names)
            proposals += [Proposal(one.formula([term]), max(hit.left, EXACT), "frequencies", rows) for term in terms]
        return proposals

    def with_best(self, hits: list[_Wave], asked: list[Asked], grids: dict[int, Grid]) -> list[Asked]:
        """Questions in which the best waves are given, with sine and cosine: a sum of waves is found one by one."""
        more = []
        for hit in hits[: 2 * self.keep]:
            u, tree = self.bank.values[hit.node], self.bank.expression(hit.node)
            one = asked[hit.asked]
            w = refined(u, grids[hit.node], hit.frequency, one.question())
            inside = Constant(w) * tree
            # With one of the two only, the other is the same with a phase.
            sine = apply("sin", inside) if "sin" in self.names else apply("cos", inside - Constant(np.pi / 2))
            cosine = apply("cos", inside) if "cos" in self.names else apply("sin", inside + Constant(np.pi / 2))
            more.append(Asked(one.frame, (*one.given, (np.sin(w * u), sine), (np.cos(w * u), cosine))))
        return more
