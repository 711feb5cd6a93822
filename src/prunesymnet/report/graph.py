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

Equal parts are there once. A number that multiplies an operand is a weight; one that stands alone is the weight of an
edge from the constant 1, as in the network. Sums and products of many operands are taken in the order that needs the
fewest layers, and a sum of more than two has minus signs in its weights.
"""

import heapq
from dataclasses import dataclass, field
from typing import NamedTuple

from prunesymnet.expression import Apply, Constant, Expression, Variable, fold
from prunesymnet.operators import Operator
from prunesymnet.operators.table import OPERATORS


class Edge(NamedTuple):
    """An operand: the node that it comes from, and what it is multiplied by."""

    source: int
    weight: Expression | None = None


@dataclass(frozen=True)
class Node:
    """`kind` is input, unary, binary or output; `text` an operator's or a variable's name."""

    text: str
    kind: str
    layer: int
    operands: tuple[Edge, ...] = ()

    @property
    def commutes(self) -> bool:
        """Whether its operands can enter in any order."""
        return self.text in ("+", "*")


class _Term(NamedTuple):
    """A part of the formula: a node, or a sum or product that has none yet, times a factor; a number has no node."""

    factor: Expression | None
    node: int | None = None
    chain: str = ""
    parts: tuple["_Term", ...] = ()
    minus: bool = False


@dataclass
class Graph:
    """The nodes, operands before the operators that read them, the output last."""

    nodes: list[Node] = field(default_factory=list)
    _known: dict[object, int] = field(default_factory=dict)

    @property
    def layers(self) -> int:
        return self.nodes[-1].layer

    def add(self, text: str, kind: str, operands: tuple[Edge, ...] = (), layer: int | None = None) -> int:
        key = (text, kind, operands, layer)
        if key not in self._known:
            if layer is None:
                layer = 1 + max(self.nodes[edge.source].layer for edge in operands) if operands else 0
            self._known[key] = len(self.nodes)
            self.nodes.append(Node(text, kind, layer, operands))
        return self._known[key]


def make_graph(expression: Expression) -> Graph:
    graph = Graph()

    def leaf(node: Expression) -> _Term:
        if isinstance(node, Variable):
            return _Term(None, graph.add(node.name, "input"))
        return _Term(node)

    def combine(operator: Operator, terms: tuple[_Term, ...]) -> _Term:
        name = operator.name
        if all(_is_number(term) for term in terms):
            return _Term(Apply(operator, tuple(_factor(term) for term in terms)))
        if name == "id":
            return terms[0]
        if name == "neg":
            return _times(terms[0], Constant(-1))
        if name in ("+", "-"):
            left, right = (_parts(graph, term, "+") for term in terms)
            if name == "-":
                right = tuple(part._replace(minus=not part.minus) for part in right)
            return _Term(None, chain="+", parts=left + right)
        if name == "*":
            for number, other in (terms, terms[::-1]):
                if _is_number(number):
                    return _times(other, _factor(number))
            # All numbers go to the edge that the product leaves by: there they are the coefficient of a term.
            parts = tuple(part for term in terms for part in _parts(graph, term._replace(factor=None), "*"))
            product = _Term(None, chain="*", parts=parts)
            for term in terms:
                product = product if term.factor is None else _times(product, term.factor)
            return product
        if name == "/" and _is_number(terms[1]):
            return _times(terms[0], Apply(OPERATORS["inv"], (_factor(terms[1]),)))
        return _Term(None, _apply(graph, operator, terms))

    root = fold(expression, leaf, combine)
    last = Edge(graph.add("1", "input"), _factor(root)) if _is_number(root) else _edge(graph, root)
    graph.add("out", "output", (last,))
    return graph


def _is_number(term: _Term) -> bool:
    return term.node is None and not term.chain


def _factor(term: _Term) -> Expression:
    return Constant(1) if term.factor is None else term.factor


def _times(term: _Term, number: Expression) -> _Term:
    if term.factor is None:
        return term._replace(factor=number)
    if isinstance(term.factor, Constant) and isinstance(number, Constant) and -1 in (term.factor.value, number.value):
        value = term.factor.value * number.value
        return term._replace(factor=None if value == 1 else Constant(value))
    if isinstance(number, Apply) and number.operator.name == "inv":
        return term._replace(factor=Apply(OPERATORS["/"], (term.factor, number.operands[0])))
    return term._replace(factor=Apply(OPERATORS["*"], (number, term.factor)))


def _parts(graph: Graph, term: _Term, chain: str) -> tuple[_Term, ...]:
    """The operands of a sum or product that is still open; anything else is one operand, and gets its node now."""
    if term.chain == chain and term.factor is None:
        return term.parts
    if _is_number(term):
        return (term,)
    edge = _edge(graph, term)
    return (_Term(edge.weight, edge.source),)


def _edge(graph: Graph, term: _Term) -> Edge:
    """The edge that a part of the formula leaves by, if it is no number."""
    if term.node is not None:
        return Edge(term.node, term.factor)
    if len(term.parts) == 2 and term.parts[1].minus:
        return Edge(_apply(graph, OPERATORS["-"], term.parts), term.factor)
    depths = [None if part.node is None else graph.nodes[part.node].layer for part in term.parts]
    late = max(depth for depth in depths if depth is not None)  # for numbers: their node can stand anywhere
    signed = [_times(part, Constant(-1)) if part.minus else part for part in term.parts]
    queue = [(late if d is None else d, i, part) for i, (d, part) in enumerate(zip(depths, signed, strict=True))]
    heapq.heapify(queue)
    while len(queue) > 1:  # the shallowest are joined first, which gives the fewest layers
        first, second = sorted((heapq.heappop(queue), heapq.heappop(queue)), key=lambda entry: entry[1])
        joined = _apply(graph, OPERATORS[term.chain], (first[2], second[2]))
        heapq.heappush(queue, (graph.nodes[joined].layer, first[1], _Term(None, joined)))
    return Edge(_node(queue[0][2]), term.factor)


def _apply(graph: Graph, operator: Operator, terms: tuple[_Term, ...]) -> int:
    """The node of an operator. The constant 1 that a number needs stands in the column before it."""
    edges = [None if _is_number(term) else _edge(graph, term) for term in terms]
    before = max((graph.nodes[edge.source].layer for edge in edges if edge is not None), default=0)
    operands = tuple(
        Edge(graph.add("1", "input", layer=before), _factor(term)) if edge is None else edge
        for term, edge in zip(terms, edges, strict=True)
    )
    return graph.add(operator.name, "unary" if operator.arity == 1 else "binary", operands)


def _node(term: _Term) -> int:
    assert term.node is not None  # noqa: S101 - of two or more operands
    return term.node
