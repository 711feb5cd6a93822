"""A picture of any formula: the smallest network that computes it.

>>> from prunesymnet.expression import parse
>>> figure = draw_formula(parse("2.5*x**2 - 1.3*x*y + 0.7"), target="z")
>>> [text.get_text() for text in figure.axes[0].texts if text.get_gid().startswith("weight")]
['2.5', '−1.3', '0.7']

It looks like the pictures of a network: inputs on the left, the output on the right, operators in layers between them,
and one edge per operand, with its weight if that is not 1. A black line with dots carries a node past a layer.
"""

import numpy as np
from matplotlib.figure import Figure

import prunesymnet.report.drawing as drawing
from prunesymnet.expression import Constant, Expression, evaluate, to_text
from prunesymnet.report.graph import make_graph
from prunesymnet.report.layout import place_nodes, ports


def draw_formula(expression: Expression, *, target: str = "out") -> Figure:
    """The formula as a network; the output has the name of the `target`."""
    graph = make_graph(expression)
    places = place_nodes(graph)
    ys = [y for _, y in places]
    longest = max((node.text for node in graph.nodes if node.kind == "input"), key=len)
    width, low, high = graph.layers * drawing.COLUMN, min(ys) - 0.6, max(ys) + 0.6
    figure, (axes,) = drawing.network_axes(width, low, high, 0.5, left=longest, right=target)
    for i, node in enumerate(graph.nodes):
        x, y = places[i]
        if node.kind == "id":
            drawing.draw_chain(axes, places[node.operands[0].source], [(x, y)], gid=i)
            continue
        heights = ports(node, [ys[edge.source] for edge in node.operands])
        for k, (edge, port) in enumerate(zip(node.operands, heights, strict=True)):
            value, text = (1.0, "") if edge.weight is None else (_value(edge.weight), weight_text(edge.weight))
            drawing.draw_edge(axes, places[edge.source], (x, y + port), value, gid=f"{i}.{k}", text=text)
        text = {"input": node.text, "output": target}.get(node.kind, drawing.SYMBOLS.get(node.text, node.text))
        beside = {"input": "left", "output": "right"}.get(node.kind, "")
        drawing.draw_node(axes, (x, y), text, node.kind, gid=i, size=11, beside=beside)
    return figure


def weight_text(weight: Expression) -> str:
    """A weight in as little room as there is: three digits of a float, 2π and 1/3 as they are.

    >>> from prunesymnet.expression import parse
    >>> [weight_text(parse(text)) for text in ("-0.123456", "2*pi", "1/3", "-1")]
    ['−0.123', '2π', '1/3', '−1']
    """
    if not isinstance(weight, Constant):
        text = to_text(weight, digits=3)
        text = text.replace("*pi", "π").replace("pi", "π").replace("inv(", "1/(").replace("*", "·").replace("-", "−")
        if text.startswith("1/(") and text[3:-1].isalnum():
            text = f"1/{text[3:-1]}"
        if len(text) <= 7:  # more does not fit on an edge
            return text
    elif isinstance(weight.value, int) and abs(weight.value) < 10**6:
        return str(weight.value).replace("-", "−")
    return drawing.short_number(_value(weight))


def _value(weight: Expression) -> float:
    with np.errstate(all="ignore"):
        return float(np.ravel(evaluate(weight, {}).values)[0])
