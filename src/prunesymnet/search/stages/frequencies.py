"""Frequencies by scanning: the loss of sin(w*u) has a valley for every w, and no gradient leads to the right one.

For a node u, w runs over a grid so fine that the phase at the ends of u's range is right somewhere, and
`a*sin(w*u) + b*cos(w*u)` is solved in closed form for each w. What remains is polished by the fit.

The grid follows the data: its step is 1/range of u. Where u has long tails (x*y/z), it is the range of the central
rows: the others would need a grid too fine to scan, and they come in when the frequency is known.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import LEAF, Bank, Term
from prunesymnet.bank.query import EXACT, Proposal, Query
from prunesymnet.bank.regression import Regression, Residual
from prunesymnet.coefficients.linear import weighted_least_squares
from prunesymnet.expression import Constant, apply
from prunesymnet.search.stages.base import Batch, Context, Part, Stage, When

Array = NDArray[np.float64]
Single = NDArray[np.float32]

FREQUENCIES = 2048  # on the grid of a node: up to some 300 waves over its range
LOWER = 4  # of the nodes that are less simple, only the lower part of them is scanned
CENTRAL = 3.0  # median deviations from the median: rows beyond are tails...
TAILS = 2.0  # ...if they make the range so many times larger
CHUNK = 2048  # frequencies whose phases are computed at a time
SINGULAR = 1e-4  # of the variation of sine and cosine that must be left for both to be told apart, in single precision
SAME_STEP = 0.01  # of a step: distances that are whole numbers of it but for rounding
PURE = 0.3  # of a wave's size that may be off for it to be tried as a sine or cosine without a phase


def parts(context: Context) -> Iterator[Part]:
    """Waves of simple nodes, alone, beside a term, in sums, and of columns inside functions and behind factors."""
    kinds = (lower_frequencies, waves_of_products, waves_beside_terms, waves_inside)
    yield from (Part(context, kind) for kind in kinds)


def lower_frequencies(context: Context) -> Iterator[Batch]:
    """Of more nodes, the lower frequencies."""
    bank, budget = context.pair_bank, context.budget
    nodes = bank.algebraic_nodes()[budget.wave_nodes : budget.slow_wave_nodes]
    yield _alone(context, bank, {node: Grid.of(bank.values[node], FREQUENCIES // LOWER) for node in nodes})


def waves_of_products(context: Context) -> Iterator[Batch]:
    bank = context.single_bank
    nodes = bank.monomials()[: 4 * context.budget.wave_nodes]
    yield _alone(context, bank, {node: Grid.of(bank.values[node], FREQUENCIES) for node in nodes})


def waves_beside_terms(context: Context) -> Iterator[Batch]:
    """Alone and beside a simple term, then beside the best of these."""
    target, bank, budget = context.problem.target, context.pair_bank, context.budget
    waves, nodes = Waves(bank, context.scanner.keep, functions_of(context)), bank.algebraic_nodes()
    simple = [*nodes[: budget.wave_nodes], *bank.logarithms()]  # waves that become longer in proportion
    grids = {node: Grid.of(bank.values[node], FREQUENCIES) for node in simple}
    queries = [Query(target), *(Query(target, (bank.term(node),)) for node in nodes[: budget.wave_terms])]
    hits = waves.scan(queries, grids)
    yield Batch(waves.proposals(hits, queries, grids))
    more = waves.beside_the_best(hits, queries, grids)
    yield Batch(waves.proposals(waves.scan(more, grids), more, grids))


def waves_inside(context: Context) -> Iterator[Batch]:
    """In a function, times a simple factor or over it, and both: what is left of the target when these are undone."""
    bank = context.pair_bank
    waves = Waves(bank, context.scanner.keep, functions_of(context))
    queries = [query for query in context.queries if query.target.steps and not query.fixed_terms]
    columns = [node for node in range(len(bank)) if bank.operator[node] == LEAF][: context.budget.wave_nodes]
    if queries:
        simple = [*columns, *bank.logarithms()[: len(columns)]]
        grids = {node: Grid.of(bank.values[node], FREQUENCIES // LOWER) for node in simple}
        yield Batch(waves.proposals(waves.scan(queries, grids), queries, grids))


def _alone(context: Context, bank: Bank, grids: "dict[int, Grid]") -> Batch:
    waves, alone = Waves(bank, context.scanner.keep, functions_of(context)), [Query(context.problem.target)]
    return Batch(waves.proposals(waves.scan(alone, grids), alone, grids))


def functions_of(context: Context) -> tuple[str, ...]:
    """Which of sine and cosine may be used."""
    return tuple(name for name in ("sin", "cos") if name in context.problem.operators)


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
        frequencies = np.arange(1, count + 1) / np.ptp(u[rows])
        # In rows at equal steps, a wave of more than half a turn each is a slower one, and none shows between rows.
        return cls(frequencies[frequencies * _equal_step(u[rows]) <= np.pi], rows)


def _equal_step(u: Array) -> float:
    """The step that all distances of some values are multiples of; 0, or next to it, where they have none."""
    distances = np.diff(np.unique(u))
    step = float(distances.min())
    turns = distances / step
    return step if bool((np.abs(turns - np.round(turns)) < SAME_STEP).all()) else 0.0


def scan_frequencies(u: Array, grid: Grid, regressions: list[Regression], keep: int) -> list[tuple[Array, Array]]:
    """For each regression the `keep` best frequencies, and what sine and cosine leave unexplained with them."""
    # Single precision has too few digits for a phase far from zero; sine and cosine together do not mind a shift.
    u = u - (u[grid.rows].min() + u[grid.rows].max()) / 2
    # Only where tails are cut off are the weights others than the regression's own.
    residuals = []
    for regression in regressions:
        weights = np.ones_like(u) if regression.weights is None else regression.weights
        cut = Regression(regression.target, regression.fixed_terms, np.where(grid.rows, weights, 0.0))
        residuals.append(Residual.of(cut))
    columns = _Columns.of(residuals)
    gains: list[Array] = []
    with np.errstate(all="ignore"):
        for start in range(0, len(grid.frequencies), CHUNK):
            phase = np.outer(grid.frequencies[start : start + CHUNK], u).astype(np.float32)
            gains.append(columns.explained_by(np.sin(phase), np.cos(phase)))
    out = []
    for total in np.concatenate(gains).T:
        # Neighbours on the grid are one frequency: only the tops of hills count.
        padded = np.concatenate([[-1.0], total, [-1.0]])
        top = np.flatnonzero((total >= padded[:-2]) & (total >= padded[2:]))
        best = top[np.argsort(-total[top], kind="stable")[:keep]]
        out.append((grid.frequencies[best], 1.0 - total[best]))
    return out


@dataclass(frozen=True, slots=True)
class _Columns:
    """What waves are multiplied with, a column [rows, regressions] for each regression: its weights, what is left of
    its target, and its fixed terms, as many of them as any regression has."""

    weights: Single
    targets: Single
    fixed: list[Single]
    explained: Array

    @classmethod
    def of(cls, residuals: list[Residual]) -> "_Columns":
        def columns(parts: Iterable[Array]) -> Single:
            return np.array(list(parts), dtype=np.float32).T

        most = max((len(r.basis) for r in residuals), default=0)
        return cls(
            weights=columns(r.root**2 for r in residuals),
            targets=columns(r.values * r.root for r in residuals),
            fixed=[
                columns(r.basis[p] * r.root if p < len(r.basis) else 0 * r.root for r in residuals) for p in range(most)
            ],
            explained=np.array([r.explained for r in residuals]),
        )

    def explained_by(self, sine: Single, cosine: Single) -> Array:
        """The part explained by both together [frequencies, regressions]."""
        ss, cc, sc = (sine * sine) @ self.weights, (cosine * cosine) @ self.weights, (sine * cosine) @ self.weights
        for fixed in self.fixed:
            along, across = sine @ fixed, cosine @ fixed
            ss, cc, sc = ss - along * along, cc - across * across, sc - along * across
        s, c = sine @ self.targets, cosine @ self.targets
        det = np.maximum(ss * cc - sc * sc, SINGULAR)
        return self.explained + np.asarray((s * s * cc + c * c * ss - 2 * s * c * sc) / det, dtype=np.float64)


def refined(u: Array, grid: Grid, frequency: float, regression: Regression) -> float:
    """The frequency between its neighbours on the grid that explains most, to a thousandth of a step."""
    step = 1 / float(np.ptp(u[grid.rows]))
    # Three times ten steps to each side.
    for _ in range(3):
        near = frequency + step * np.linspace(-1, 1, 21)
        (best, _), *_ = scan_frequencies(u, Grid(near[near > 0], grid.rows), [regression], 1)
        frequency, step = float(best[0]), step / 10
    return frequency


def wave(query: Query, u: Term, frequency: float, names: tuple[str, ...] = ("sin", "cos")) -> list[Term]:
    """The terms for one frequency: a sine or a cosine where the phase is near to one, and one with a phase."""
    turns, inside = frequency * u.values, u.expression if frequency == 1 else Constant(float(frequency)) * u.expression
    columns = np.array([np.ones_like(turns), *query.columns(), np.sin(turns), np.cos(turns)])
    a, b = weighted_least_squares(columns, query.target.values, query.target.weights).coefficients[-2:]
    phase = float(np.arctan2(b, a))
    phase -= np.pi * round(phase / np.pi)  # half a turn is a sign
    found: list[Term] = []
    for name, values, off in (("sin", np.sin, abs(b)), ("cos", np.cos, abs(a))):
        if name in names and off < PURE * np.hypot(a, b):
            found.append(Term(values(turns), apply(name, inside)))
    shifted = np.sin(turns + phase)
    if "sin" not in names:
        phase -= np.pi / 2
    return [*found, Term(shifted, apply(names[0], inside + Constant(phase)))]


class FrequencyOfNode(NamedTuple):
    """A frequency of a node, and what it leaves of a query."""

    unexplained: float
    complexity: int
    query: int
    node: int
    frequency: float


@dataclass(frozen=True)
class Waves:
    """The frequencies of many nodes, for many queries."""

    bank: Bank
    keep: int
    names: tuple[str, ...] = ("sin", "cos")

    def scan(self, queries: list[Query], grids: dict[int, Grid]) -> list[FrequencyOfNode]:
        """The frequencies of each node that explain most, the best first."""
        regressions = [query.regression() for query in queries]
        hits: list[FrequencyOfNode] = []
        for node, grid in grids.items():
            found = scan_frequencies(self.bank.values[node], grid, regressions, self.keep)
            for k, (frequencies, left) in enumerate(found):
                size = int(self.bank.complexity[node]) + queries[k].complexity
                hits.extend(
                    FrequencyOfNode(float(e), size, k, node, float(w)) for w, e in zip(frequencies, left, strict=True)
                )
        return sorted(hits)

    def proposals(self, hits: list[FrequencyOfNode], queries: list[Query], grids: dict[int, Grid]) -> list[Proposal]:
        """The formulas of the best."""
        proposals = []
        for hit in hits[: 4 * self.keep]:
            query, grid, u = queries[hit.query], grids[hit.node], self.bank.term(hit.node)
            w = refined(u.values, grid, hit.frequency, query.regression())
            rows = None if grid.rows.all() else grid.rows
            terms = wave(query, u, w, self.names)
            proposals += [Proposal(query.formula([term]), max(hit.unexplained, EXACT), rows) for term in terms]
        return proposals

    def beside_the_best(self, hits: list[FrequencyOfNode], queries: list[Query], grids: dict[int, Grid]) -> list[Query]:
        """Queries in which the best waves are fixed, with sine and cosine: a sum of waves is found one by one."""
        more = []
        for hit in hits[: 2 * self.keep]:
            query, u = queries[hit.query], self.bank.term(hit.node)
            w = refined(u.values, grids[hit.node], hit.frequency, query.regression())
            inside = Constant(w) * u.expression
            # With one of the two only, the other is the same with a phase.
            sine = apply("sin", inside) if "sin" in self.names else apply("cos", inside - Constant(np.pi / 2))
            cosine = apply("cos", inside) if "cos" in self.names else apply("sin", inside + Constant(np.pi / 2))
            both = Term(np.sin(w * u.values), sine), Term(np.cos(w * u.values), cosine)
            more.append(Query(query.target, (*query.fixed_terms, *both)))
        return more


FREQUENCIES_OF_NODES = Stage("frequencies", When.LEVEL, parts=parts, needs=("sin", "cos"))
