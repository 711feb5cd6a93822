"""The bank: every small formula of a table's columns as one row of values, each once, in order of complexity.

>>> x = np.linspace(0.5, 2.0, 8)
>>> bank = grow_bank({"x": x}, size=8)
>>> [str(bank.expression(i)) for i in range(len(bank))]
['x', 'x**2', '1 + x', '1 - x', '1/x', 'sin(x)', 'cos(x)', 'exp(x)']

A bank is the network of the paper with single edges of weight one: layer upon layer, by complexity. What a
coefficient can make up for is not kept twice: nodes are equal when they are so up to a factor, so `x + x` and `-x` are
no nodes beside `x`. Nodes that overflow, leave their domain or do not vary on the data are dropped; an operator with a
domain (log, sqrt) is applied to `-f` where `f` is outside of it.

Where the dimensions of the columns are known, only nodes that are dimensionally sound are made: sums of equal
dimensions, functions of pure numbers. So the bank of a size reaches deeper.

>>> by_units = grow_bank({"x": x, "t": x**2 + 1}, size=8, dimensions={"x": 1.0, "t": 2**0.5})
>>> [str(by_units.expression(i)) for i in range(len(by_units))]
['x', 't', 'x**2', 't**2', 'x*t', 'x/t', 't/x', '1/x']

Growing M nodes on n points costs about M n evaluations of an operator for each of the few operators, and a sort of M
keys: no Python per node.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.limits import NodeLimits
from prunesymnet.expression import Constant, Expression, Variable, apply
from prunesymnet.operators import PAPER, UNNESTED, Operator, select_operators

Array = NDArray[np.float64]
Index = NDArray[np.int64]

LARGEST = 1e50  # beyond it (and below its inverse) squares of squares leave the range of floats
LEAST_SPREAD = 1e-7  # relative: what varies less is a constant
DIGITS = 1e9  # to which two nodes must agree to be one
CHUNK = 1 << 21  # values that are computed at a time
COMMUTATIVE = ("+", "*", "-")  # "-" too: the sign does not matter
MOST_COMPLEX = 30  # symbols of a node: where hardly any is kept, a bank would grow without end
SAME_DIMENSION = 1e-9  # between the numbers that stand for two dimensions: these are rounded in the last digits
LEAF, RECIPROCAL = -1, -2  # what is no operator's number in `Bank.operator`


class Term(NamedTuple):
    """A term of a formula: its values on the rows, and its formula."""

    values: Array
    expression: Expression

    def __mul__(self, other: "Term") -> "Term":  # type: ignore[override]
        return Term(self.values * other.values, self.expression * other.expression)


@dataclass(frozen=True, slots=True)
class Bank:
    """Nodes in order of complexity: `values` [nodes, points], and how each is made. `operator` numbers `table`;
    `left` and `right` are nodes (-1: the constant 1); `flipped` nodes are of -left."""

    values: Array
    complexity: Index
    operator: Index
    left: Index
    right: Index
    flipped: NDArray[np.bool_]
    nested: NDArray[np.bool_]  # has a sin, cos, exp or log in it
    names: tuple[str, ...]
    table: tuple[Operator, ...]
    _trees: dict[int, Expression] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.complexity)

    def expression(self, node: int) -> Expression:
        """The formula of a node."""
        if node < 0:
            return Constant(1)
        if node not in self._trees:
            kind = int(self.operator[node])
            if kind == LEAF:
                tree: Expression = Variable(self.names[int(self.left[node])])
            elif kind == RECIPROCAL:
                tree = 1 / self.expression(int(self.left[node]))
            else:
                operator = self.table[kind]
                operands = [self.expression(int(self.left[node]))]
                if self.flipped[node]:
                    operands[0] = -operands[0]
                if operator.arity == 2:
                    operands.append(self.expression(int(self.right[node])))
                tree = apply(operator, *operands)
            self._trees[node] = tree
        return self._trees[node]

    def term(self, node: int) -> Term:
        """A node's values and its formula."""
        return Term(self.values[node], self.expression(node))

    def different(self, nodes: list[int]) -> list[int]:
        """Of some nodes, those that are no other one times a factor and plus a constant."""
        values = self.values[nodes]
        good, keys = distinct(values - values.mean(axis=1, keepdims=True), probes_of(values.shape[1]))
        usable = np.flatnonzero(good)
        _, first = np.unique(keys[usable], return_index=True)
        return [nodes[k] for k in sorted(usable[first])]

    def with_reciprocals(self) -> "Bank":
        """The bank with 1/f for every f that stays clear of zero; in a product it is a quotient, and costs no more."""
        probes = probes_of(self.values.shape[1])
        with np.errstate(all="ignore"):
            values = 1.0 / self.values
            good, keys = distinct(values, probes)
            known = distinct(self.values, probes)[1]
        # A node that is there already in a simpler form, or one as simple, is not taken again.
        order = np.argsort(known, kind="stable")
        place = np.minimum(np.searchsorted(known[order], keys), len(known) - 1)
        there = (known[order][place] == keys) & (self.complexity[order][place] <= self.complexity)
        chosen = np.flatnonzero(good & ~there)
        _, firsts = np.unique(keys[chosen], return_index=True)
        chosen = chosen[np.sort(firsts)]
        count, more = len(self), len(chosen)
        both = np.concatenate([self.complexity, self.complexity[chosen]])
        order = np.argsort(both, kind="stable")
        place = np.empty(count + more, dtype=np.int64)
        place[order] = np.arange(count + more)
        refers = (self.operator >= 0) | (self.operator == RECIPROCAL)

        def moved(nodes: Index) -> Index:
            # Where there is none, it may be a column's number, of those that are no nodes.
            some = refers & (nodes >= 0)
            return np.where(some, place[np.where(some, nodes, 0)], nodes) if some.any() else nodes

        def put(old: Any, new: Any) -> Any:
            return np.concatenate([old, np.broadcast_to(new, more)])[order]

        return Bank(
            np.concatenate([self.values, values[chosen]])[order],
            both[order],
            put(self.operator, RECIPROCAL),
            put(moved(self.left), place[chosen]),
            put(moved(self.right), -1),
            put(self.flipped, False),
            put(self.nested, False),
            self.names,
            self.table,
        )

    def algebraic_nodes(self) -> list[int]:
        """The nodes without a function that may not be nested; reciprocals left out."""
        return np.flatnonzero(~self.nested & (self.operator != RECIPROCAL)).tolist()

    def logarithms(self) -> list[int]:
        """The nodes that are logarithms of columns."""
        logs = np.isin(self.operator, [k for k, operator in enumerate(self.table) if operator.name == "log"])
        return [node for node in np.flatnonzero(logs).tolist() if self.operator[self.left[node]] == LEAF]

    def monomials(self) -> list[int]:
        """The nodes that are products and quotients of columns."""
        made = np.isin(self.operator, [k for k, operator in enumerate(self.table) if operator.name in ("*", "/")])
        products = self.operator == LEAF
        for node in np.flatnonzero(made):  # operands come before what is made of them
            products[node] = self.left[node] >= 0 and products[self.left[node]] and products[self.right[node]]
        return np.flatnonzero(products).tolist()

    def first(self, count: int) -> "Bank":
        """The simplest nodes (reciprocals count as simple as what they are of, and come after it)."""
        count = min(max(count, 1), len(self))
        made = (self.operator >= 0) | (self.operator == RECIPROCAL)
        furthest = np.where(made, np.maximum(self.left, self.right), -1)
        while count < len(self) and furthest[:count].max() >= count:
            count += 1
        return replace(
            self,
            **{name: getattr(self, name)[:count] for name in
               ("values", "complexity", "operator", "left", "right", "flipped", "nested")},
            _trees={},
        )  # fmt: skip


def grow_bank(
    columns: Mapping[str, Array],
    operators: Iterable[str | Operator] = PAPER,
    size: int = 1000,
    *,
    memory: float = 2.0,
    unnested: tuple[str, ...] = UNNESTED,
    dimensions: Mapping[str, float] | None = None,
    limits: NodeLimits | None = None,
) -> Bank:
    """The `size` simplest nodes that keep the limits, or as many as `memory` (GiB) holds; with the `dimensions` of the
    columns (as numbers, see `units.table`), those that are dimensionally sound."""
    names = tuple(columns)
    table = tuple(row for row in select_operators(operators).values() if row.arity and row.name not in ("id", "neg"))
    size = max(min(size, int(memory * 2**30 / 8 / max(len(next(iter(columns.values()))), 1))), len(names))
    known = None if dimensions is None else np.array([dimensions[name] for name in names], dtype=np.float64)
    leaves = np.array([columns[name] for name in names], dtype=np.float64)
    growing = _Growing(leaves, table, size, unnested, known, limits)
    for complexity in range(2, MOST_COMPLEX + 1):
        if growing.count >= size or not growing.grow(complexity):
            break
    return growing.bank(names, table)


class _Growing:
    """A bank that grows level by level; numbers are those of `Bank`."""

    def __init__(
        self,
        leaves: Array,
        table: tuple[Operator, ...],
        size: int,
        unnested: tuple[str, ...],
        dimensions: Array | None = None,
        limits: NodeLimits | None = None,
    ) -> None:
        self.table, self.size, self.unnested, self.limits = table, size, unnested, limits or NodeLimits()
        # Of each node, for each function that a limit counts: how many it has, how many stand one inside the other.
        self.uses = np.zeros((0, len(self.limits.counted)), dtype=np.int64)
        self.depths = self.uses
        points = leaves.shape[1]
        self.probes = probes_of(points)
        self.values = np.empty((size, points))
        self.parts: list[tuple[Index, ...]] = []  # complexity, operator, left, right, flipped, nested: by level
        self.levels: dict[int, tuple[int, int]] = {}
        self.keys = np.empty(0, dtype=np.uint64)
        self.count = 0
        self.nested = np.zeros(0, dtype=bool)
        self.has_dimensions = dimensions is not None
        self.dimension = np.zeros(0)  # of each node; 0 for all where they are not known
        known = np.zeros(len(leaves)) if dimensions is None else dimensions
        with np.errstate(all="ignore"):
            none = np.full(len(leaves), -1)
            nothing = np.zeros(len(leaves))
            self.add(1, leaves, known, None, none, np.arange(len(leaves)), none, nothing, nothing)
        self.levels[1] = (0, self.count)

    def grow(self, complexity: int) -> bool:
        """Add a level; whether there may be more."""
        first = self.count
        with np.errstate(all="ignore"):
            for number, operator in enumerate(self.table):
                if operator.arity == 1:
                    self.unary(complexity, number, operator)
                elif operator.arity == 2:
                    self.binary(complexity, number, operator)
        self.levels[complexity] = (first, self.count)
        # No level further down can be an operand of the next.
        reach = 2 + max(map(self.limits.cost, self.table), default=0)
        return any(start < stop for level, (start, stop) in self.levels.items() if level > complexity - reach)

    def unary(self, complexity: int, number: int, operator: Operator) -> None:
        nodes = self.level(complexity - self.limits.cost(operator))
        nodes = nodes[self.allowed(operator, nodes, np.full(len(nodes), -1))]
        outer = operator.name in self.unnested
        if outer:
            nodes = nodes[~self.nested[nodes]]
        if self.has_dimensions and operator.units is None:
            nodes = nodes[np.abs(self.dimension[nodes]) < SAME_DIMENSION]
        power = operator.units[0] if isinstance(operator.units, tuple) else 0.0
        for part in self.chunks(nodes):
            values = self.values[part]
            flipped: Any = np.zeros(len(part), dtype=bool)
            if operator.domain is not None:
                flipped = ~np.asarray(operator.domain(values)).all(axis=1)
                values = np.where(flipped[:, None], -values, values)
                values = np.where(operator.domain(values), values, np.nan)
            nested = np.ones(len(part), dtype=bool) if outer else self.nested[part]
            dimension = power * self.dimension[part]
            self.add(complexity, operator.numpy(values), dimension, operator, number, part, -1, flipped, nested)

    def binary(self, complexity: int, number: int, operator: Operator) -> None:
        rest = complexity - self.limits.cost(operator)
        for one in range(1, rest):
            other = rest - one
            if operator.name in COMMUTATIVE and one > other:
                break
            left, right = self.level(one), self.level(other)
            if not len(left) or not len(right):
                continue
            a, b = np.repeat(left, len(right)), np.tile(right, len(left))
            if operator.name in COMMUTATIVE and one == other:
                once = a <= b if operator.name == "*" else a < b
                a, b = a[once], b[once]
            if self.has_dimensions and not isinstance(operator.units, tuple):
                of_a, of_b = self.dimension[a], self.dimension[b]
                sound = np.abs(of_a - of_b) < SAME_DIMENSION
                if operator.units is None:
                    sound &= np.abs(of_a) < SAME_DIMENSION
                a, b = a[sound], b[sound]
            self.pairs(complexity, number, operator, a, b)
        if operator.name in ("+", "-", "/"):  # with the constant 1, which is an input of the network too
            nodes = self.level(rest - 1)
            if self.has_dimensions and operator.name != "/":
                nodes = nodes[np.abs(self.dimension[nodes]) < SAME_DIMENSION]
            self.pairs(complexity, number, operator, np.full(len(nodes), -1), nodes)

    def pairs(self, complexity: int, number: int, operator: Operator, a: Index, b: Index) -> None:
        fine = self.allowed(operator, a, b)
        a, b = a[fine], b[fine]
        for part in self.chunks(np.arange(len(a))):
            left, right = a[part], b[part]
            one = np.where(left[:, None] < 0, 1.0, self.values[left])
            nested = self.nested[right] | (self.nested[left] & (left >= 0))
            values = operator.numpy(one, self.values[right])
            dimension = self.dimension_of(operator, left, right)
            self.add(complexity, values, dimension, operator, number, left, right, False, nested)

    def allowed(self, operator: Operator, a: Index, b: Index) -> NDArray[np.bool_]:
        """Which operands an operator may have (-1: none, or the constant 1)."""
        if not (self.limits.counted or self.limits.max_argument):
            return np.ones(len(a), dtype=bool)
        (uses, depths), size = self.counts(a, b), np.concatenate([part[0] for part in self.parts])
        larger = np.maximum(np.where(a < 0, 1, size[a]), np.where(b < 0, 1, size[b]))
        return self.limits.allow(operator, uses, depths, larger)

    def counts(self, a: Index, b: Index) -> tuple[Index, Index]:
        """How many functions operands have together, and one inside the other in either."""
        one, two = (a >= 0)[:, None], (b >= 0)[:, None]
        uses = np.where(one, self.uses[a], 0) + np.where(two, self.uses[b], 0)
        return uses, np.maximum(np.where(one, self.depths[a], 0), np.where(two, self.depths[b], 0))

    def dimension_of(self, operator: Operator, left: Index, right: Index) -> Array:
        """Of pairs that are sound; the constant 1 (-1) has none."""
        one, two = np.where(left < 0, 0.0, self.dimension[left]), self.dimension[right]
        if isinstance(operator.units, tuple):
            return np.asarray(operator.units[0] * one + operator.units[1] * two)
        return two if operator.units == "alike" else np.zeros(len(right))

    def level(self, complexity: int) -> Index:
        return np.arange(*self.levels.get(complexity, (0, 0)))

    def chunks(self, nodes: Index) -> Iterable[Index]:
        step = max(CHUNK // self.values.shape[1], 1)
        for start in range(0, len(nodes), step):
            if self.count >= self.size:
                return
            yield nodes[start : start + step]

    def add(self, complexity: int, values: Array, dimension: Array, operator: Operator | None, *how: object) -> None:
        """Keep the nodes that are finite, vary, and are not there yet; those of no operator are columns."""
        good, keys = distinct(values, self.probes)
        place = np.searchsorted(self.keys, keys)
        if len(self.keys):
            good &= self.keys[np.minimum(place, len(self.keys) - 1)] != keys
        chosen = np.flatnonzero(good)
        _, firsts = np.unique(keys[chosen], return_index=True)
        chosen = chosen[np.sort(firsts)][: self.size - self.count]
        kept = len(chosen)
        self.values[self.count : self.count + kept] = values[chosen]
        order = np.argsort(keys[chosen])
        self.keys = np.insert(self.keys, place[chosen][order], keys[chosen][order])  # they stay sorted
        rows = [np.broadcast_to(np.asarray(entry), len(values))[chosen] for entry in how]
        self.parts.append((np.full(kept, complexity), *rows))
        self.nested = np.concatenate([self.nested, rows[-1].astype(bool)])
        self.dimension = np.concatenate([self.dimension, dimension[chosen]])
        uses = depths = np.zeros((kept, len(self.limits.counted)), dtype=np.int64)
        if operator is not None:
            made = self.limits.counts(operator)
            uses, depths = (counts + made for counts in self.counts(rows[1].astype(int), rows[2].astype(int)))
        self.uses, self.depths = np.concatenate([self.uses, uses]), np.concatenate([self.depths, depths])
        self.count += kept

    def bank(self, names: tuple[str, ...], table: tuple[Operator, ...]) -> Bank:
        complexity, operator, left, right, flipped, nested = (np.concatenate(c) for c in zip(*self.parts, strict=True))
        return Bank(
            self.values[: self.count],
            complexity, operator.astype(np.int64), left.astype(np.int64), right.astype(np.int64),
            flipped.astype(bool), nested.astype(bool), names, table,
        )  # fmt: skip


def probes_of(points: int) -> Array:
    probes: Array = np.random.default_rng(0).normal(size=(points, 2)) / np.sqrt(points)
    return probes


def distinct(values: Array, probes: Array) -> tuple[NDArray[np.bool_], NDArray[np.uint64]]:
    """Which rows are usable, and a key that rows share when they are equal up to a factor."""
    largest = np.abs(values).max(axis=1)
    good = np.isfinite(largest) & (largest > 1 / LARGEST) & (largest < LARGEST)
    scaled = values / np.where(good, largest, 1.0)[:, None]
    good &= np.ptp(scaled, axis=1) > LEAST_SPREAD
    projected = np.where(good[:, None], scaled @ probes, 0.0)
    projected *= np.where(projected[:, :1] < 0, -1.0, 1.0)
    codes = np.round(projected * DIGITS).astype(np.int64).astype(np.uint64)
    return good, codes[:, 0] * np.uint64(0x9E3779B97F4A7C15) ^ codes[:, 1]
