"""A formula as the smallest network that computes it: which nodes there are, what they read, and where they stand.

>>> from prunesymnet.expression import parse
>>> graph = make_graph(parse("2.5*x**2 - 1.3*x*y + 0.7"))
>>> for node in graph.nodes:
...     print(node.text, [(graph.nodes[edge.source].text, edge.weight) for edge in node.operands])
x []
square [('x', None)]
y []
* [('x', None), ('y', None)]
+ [('square', Expression('2.5')), ('*', Expression('-1.3'))]
1 []
+ [('+', None), ('1', Expression('0.7'))]
out [('+', None)]

Equal parts are there once. A node is read by the next layer only; the operator `id` carries it on to later ones. A
number that multiplies an operand is a weight; one that stands alone is the weight of an edge from the constant 1, as in
the network. Sums and products of many operands are taken in the order that needs the fewest layers.
"""

import heapq
from dataclasses import dataclass, field
from typing import NamedTuple

from prunesymnet.expression import Apply, Constant, Expression, Variable, fold
from prunesymnet.operators import Operator
from prunesymnet.operators.table import OPERATORS

MINUS_ONE = Constant(-1)


class Edge(NamedTuple):
    """An operand: the node that it comes from, and what it is multiplied by."""

    source: int
    weight: Expression | None = None


@dataclass(frozen=True)
class Node:
    """`kind` is input, unary, binary, id or output; `text` an operator's or a variable's name."""

    text: str
    kind: str
    layer: int
    operands: tuple[Edge, ...] = ()

    @property
    def commutes(self) -> bool:
        """Whether its operands can enter in any order."""
        return self.text in ("+", "*")


class _Term(NamedTuple):
    """A part of the formula: a factor times a node, or times a sum or product that has no node yet, or a number."""

    factor: Expression | None = None
    node: int | None = None
    chain: str = ""  # the operator of a sum or product
    parts: tuple["_Term", ...] = ()

    @property
    def is_number(self) -> bool:
        return self.node is None and not self.chain

    @property
    def number(self) -> Expression:
        return Constant(1) if self.factor is None else self.factor

    def times(self, number: Expression) -> "_Term":
        if self.factor is None:
            return self._replace(factor=number)
        if isinstance(self.factor, Constant) and isinstance(number, Constant):
            if -1 in (self.factor.value, number.value):
                value = self.factor.value * number.value
                return self._replace(factor=None if value == 1 else Constant(value))
        elif number == MINUS_ONE:
            return self._replace(factor=Apply(OPERATORS["neg"], (self.factor,)))
        if isinstance(number, Apply) and number.operator.name == "inv":
            return self._replace(factor=Apply(OPERATORS["/"], (self.factor, number.operands[0])))
        return self._replace(factor=Apply(OPERATORS["*"], (number, self.factor)))


@dataclass
class Graph:
    """The nodes, operands before the operators that read them, the output last."""

    nodes: list[Node] = field(default_factory=list)
    _known: dict[object, int] = field(default_factory=dict)

    @property
    def layers(self) -> int:
        return self.nodes[-1].layer

    def add(self, text: str, kind: str, operands: tuple[Edge, ...] = (), layer: int = 0) -> int:
        key = (text, kind, operands, layer)
        if key not in self._known:
            if operands:
                before = max(self.nodes[edge.source].layer for edge in operands)
                layer, operands = before + 1, tuple(Edge(self._carried(e.source, before), e.weight) for e in operands)
            self._known[key] = len(self.nodes)
            self.nodes.append(Node(text, kind, layer, operands))
        return self._known[key]

    def _carried(self, node: int, layer: int) -> int:
        while self.nodes[node].layer < layer:
            node = self.add("id", "id", (Edge(node),))
        return node

    def add_operator(self, operator: Operator, terms: tuple[_Term, ...]) -> int:
        """The constant 1 that a number needs stands in the column before the operator."""
        edges = [None if term.is_number else self.edge(term) for term in terms]
        before = max((self.nodes[edge.source].layer for edge in edges if edge is not None), default=0)
        operands = tuple(
            Edge(self.add("1", "input", layer=before), term.number) if edge is None else edge
            for term, edge in zip(terms, edges, strict=True)
        )
        return self.add(operator.name, "unary" if operator.arity == 1 else "binary", operands)

    def edge(self, term: _Term) -> Edge:
        """The edge that a part of the formula leaves by; the operands of a sum or product are joined now."""
        if term.is_number:
            return Edge(self.add("1", "input"), term.number)
        if term.node is not None:
            return Edge(term.node, term.factor)
        if len(term.parts) == 2 and term.parts[1].factor == MINUS_ONE:
            difference = term.parts[0], term.parts[1]._replace(factor=None)
            return Edge(self.add_operator(OPERATORS["-"], difference), term.factor)
        depths = [None if part.node is None else self.nodes[part.node].layer for part in term.parts]
        late = max(depth for depth in depths if depth is not None)  # for numbers: their node can stand anywhere
        queue = [
            (late if d is None else d, i, part) for i, (d, part) in enumerate(zip(depths, term.parts, strict=True))
        ]
        heapq.heapify(queue)
        while len(queue) > 1:  # the shallowest are joined first, which gives the fewest layers
            (_, i, first), (_, _, second) = sorted(
                (heapq.heappop(queue), heapq.heappop(queue)), key=lambda entry: entry[1]
            )
            node = self.add_operator(OPERATORS[term.chain], (first, second))
            heapq.heappush(queue, (self.nodes[node].layer, i, _Term(node=node)))
        return Edge(node, term.factor)

    def parts(self, term: _Term, chain: str) -> tuple[_Term, ...]:
        """The operands of a sum or product that is still open; anything else is one operand, and gets its node now."""
        if term.chain == chain and term.factor is None:
            return term.parts
        if term.is_number:
            return (term,)
        edge = self.edge(term)
        return (_Term(edge.weight, edge.source),)


def make_graph(expression: Expression) -> Graph:
    graph = Graph()

    def leaf(node: Expression) -> _Term:
        return _Term(node=graph.add(node.name, "input")) if isinstance(node, Variable) else _Term(node)

    def combine(operator: Operator, terms: tuple[_Term, ...]) -> _Term:
        name = operator.name
        if all(term.is_number for term in terms):
            return _Term(Apply(operator, tuple(term.number for term in terms)))
        if name in ("id", "neg"):
            return terms[0] if name == "id" else terms[0].times(MINUS_ONE)
        if name in ("+", "-"):
            left, right = (graph.parts(term, "+") for term in terms)
            return _Term(chain="+", parts=left + tuple(p.times(MINUS_ONE) if name == "-" else p for p in right))
        if name == "*":
            # All numbers go to the edge that the product leaves by: there they are the coefficient of a term.
            bare = [term._replace(factor=None) for term in terms if not term.is_number]
            product = bare[0]
            if len(bare) > 1:
                product = _Term(chain="*", parts=tuple(part for term in bare for part in graph.parts(term, "*")))
            for term in terms:
                product = product if term.factor is None else product.times(term.factor)
            return product
        if name == "/" and terms[1].is_number:
            return terms[0].times(Apply(OPERATORS["inv"], (terms[1].number,)))
        return _Term(node=graph.add_operator(operator, terms))

    graph.add("out", "output", (graph.edge(fold(expression, leaf, combine)),))
    return graph
