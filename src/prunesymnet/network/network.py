"""The layered network of operators, batched over restarts; forward only.

The input layer has the variables and the constant 1. Each hidden layer has one node of every ordinary operator,
fully connected to the layer before (two groups of edges for a binary operator), and one `id` per node of that
layer, with a fixed edge. So layer i sees every node of all layers before it, and nodes can be numbered once for
the whole network: inputs first, then the operators of layer 1, 2, ... An `id` is then nothing to compute: a node
keeps its number in every layer, and a group of layer i has an edge to each of the first n_{i-1} nodes.

>>> network = Network(inputs=("x", "y"), operators=("+", "*", "sin"), layers=2)
>>> network.sizes  # the inputs and the 1, then three more nodes per layer
(3, 6, 9)
>>> [str(group) for group in network.groups[:5]]
['+[0] of layer 1', '+[1] of layer 1', '*[0] of layer 1', '*[1] of layer 1', 'sin[0] of layer 1']

A *choice* retains one edge per group, for the groups that the output needs: a minimalist subnetwork, which is an
expression. Node 6 is the ``+`` of layer 2, nodes 0 and 5 are ``x`` and the ``sin`` of layer 1:

>>> import torch
>>> choice = {4: 1, 5: 0, 6: 5, 10: 6}
>>> print(network.expression(torch.full((network.edges,), 2.0), choice))
2.0*(2.0*x + 2.0*sin(2.0*y))
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prunesymnet.expression import Constant, Expression, Variable, apply
from prunesymnet.operators import PAPER, Operator, select_operators

Array = NDArray[np.float64]
Choice = Mapping[int, int]  # group -> the node whose edge is retained


@dataclass(frozen=True, slots=True)
class Group:
    """One full connection: the edges from which an operator takes one operand."""

    layer: int  # from 1; the output counts as one more
    operator: str
    operand: int
    node: int  # what it feeds; -1 for the output
    start: int  # of its edges among all
    width: int  # how many: the nodes of the layer before

    def __str__(self) -> str:
        return f"{self.operator}[{self.operand}] of layer {self.layer}" if self.node >= 0 else "output"


@dataclass(frozen=True)
class Network:
    """The structure: which nodes there are and how they are connected. Weights are tensors [..., edges]."""

    inputs: tuple[str, ...]
    operators: tuple[str | Operator, ...] = PAPER
    layers: int = 6

    def __post_init__(self) -> None:
        if self.layers < 1:
            raise ValueError(f"layers must be at least 1, got {self.layers!r}")
        if not self.inputs:
            raise ValueError("inputs must name at least one variable")
        if not self.rows:
            raise ValueError("operators must have at least one besides id")
        unfit = [row.name for row in self.rows if row.arity == 0 or row.name == "pow"]
        if unfit:
            raise ValueError(f"{', '.join(unfit)} can't be a node of the network; leave it out of operators")

    @cached_property
    def rows(self) -> tuple[Operator, ...]:
        """The ordinary operators of a layer, in order (`id` is in the numbering of the nodes)."""
        return tuple(row for row in select_operators(self.operators).values() if row.name != "id")

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of nodes of each layer, the input layer first."""
        return tuple(len(self.inputs) + 1 + i * len(self.rows) for i in range(self.layers + 1))

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """All groups of edges, layer by layer; the output's is the last."""
        found, start = [], 0
        for layer in range(1, self.layers + 1):
            width = self.sizes[layer - 1]
            for k, row in enumerate(self.rows):
                for operand in range(row.arity):
                    found.append(Group(layer, row.name, operand, self.sizes[layer - 1] + k, start, width))
                    start += width
        found.append(Group(self.layers + 1, "output", 0, -1, start, self.sizes[-1]))
        return tuple(found)

    @cached_property
    def edges(self) -> int:
        """The number of weights."""
        return self.groups[-1].start + self.groups[-1].width

    @cached_property
    def groups_of(self) -> dict[int, tuple[int, ...]]:
        """The groups that feed each operator node, in the order of its operands; -1 is the output."""
        found: dict[int, tuple[int, ...]] = {}
        for i, group in enumerate(self.groups):
            found[group.node] = (*found.get(group.node, ()), i)
        return found

    def operator_of(self, node: int) -> Operator | None:
        """The operator of a node; None for the inputs."""
        return None if node < self.sizes[0] else self.rows[(node - self.sizes[0]) % len(self.rows)]

    def draw_weights(self, restarts: int, seed: int, *, uniform: bool = False) -> Array:
        """[restarts, edges]: normal, or `uniform` from -1 to 1, divided by the root of the group's width; edges that
        read a quotient start at 0."""
        rng, shape = np.random.default_rng(seed), (restarts, self.edges)
        weights = rng.uniform(-1.0, 1.0, shape) if uniform else rng.normal(size=shape)
        silent = self.nodes_of("/", "inv")
        for group in self.groups:
            part = weights[:, group.start : group.start + group.width]
            part /= group.width**0.5
            part[:, [n for n in silent if n < group.width]] = 0.0
        return weights

    def nodes_of(self, *operators: str) -> list[int]:
        """The nodes of these operators, in all layers."""
        rows = [self.operator_of(node) for node in range(self.sizes[-1])]
        return [node for node, row in enumerate(rows) if row is not None and row.name in operators]

    def edges_between(self, operators: Collection[str]) -> NDArray[np.intp]:
        """The edges by which a node of these operators reads another of them."""
        sources = self.nodes_of(*operators)
        readers = [group for group in self.groups if group.node >= 0 and group.operator in operators]
        found = [group.start + node for group in readers for node in sources if node < group.width]
        return np.array(found, dtype=np.intp)

    def input_table(self, columns: Mapping[str, Any]) -> Array:
        """[variables + 1, points]: the columns and the constant 1."""
        rows = [np.array(columns[name], dtype=np.float64) for name in self.inputs]
        return np.stack([*rows, np.ones_like(rows[0])])

    def needed(self, choice: Choice) -> Iterator[int]:
        """The groups that the output needs under a choice, from the output back."""
        open_nodes, seen = [-1], set()
        while open_nodes:
            for group in self.groups_of[open_nodes.pop()]:
                yield group
                source = choice[group]
                if source >= self.sizes[0] and source not in seen:
                    seen.add(source)
                    open_nodes.append(source)

    def expression(self, weights: Any, choice: Choice) -> Expression:
        """The formula of a choice, for weights [edges]: one per edge, operators as the network protects them.

        It has the value of the network with all other edges at zero wherever that is finite and no protection fires.
        """
        numbers = weights.tolist()
        made: dict[int, Expression] = {}

        def operand(group: int) -> Expression:
            source = choice[group]
            weight = Constant(float(numbers[self.groups[group].start + source]))
            if source == self.sizes[0] - 1:
                return weight
            if source not in made:  # a node that several read is one object in the tree
                made[source] = self.node_expression(source, operand)
            return weight * made[source]

        return operand(len(self.groups) - 1)

    def node_expression(self, node: int, operand: Any) -> Expression:
        """The formula of a node whose operands are given, by group, by `operand`."""
        row = self.operator_of(node)
        if row is None:
            return Variable(self.inputs[node]) if node < len(self.inputs) else Constant(1)
        parts = tuple(operand(group) for group in self.groups_of[node])
        return apply("log", apply("abs", *parts)) if row.name == "log" else apply(row, *parts)
