"""A formula as an ONNX model in double precision, for runtimes in other languages and on other devices.

>>> from prunesymnet.expression import parse
>>> model = to_onnx(parse("2*sin(x)/y"), target="speed")  # doctest: +SKIP
>>> [node.op_type for node in model.graph.node]  # doctest: +SKIP
['Gather', 'Sin', 'Mul', 'Gather', 'Div', 'Identity']

The package onnx is an optional install: ``pip install 'prunesymnet[onnx]'``.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from prunesymnet.export.common import column_names, form_of
from prunesymnet.expression import Constant, Expression, Variable, fold

if TYPE_CHECKING:
    from onnx import ModelProto

OPSET, IR_VERSION = 13, 7  # of the year 2020: every runtime in use knows them


class _Graph:
    """Nodes as they are asked for; what was asked for before is not computed again."""

    def __init__(self, onnx: Any) -> None:
        self.onnx, self.nodes, self.tensors = onnx, [], {}  # type: ignore[var-annotated]
        self.known: dict[Any, str] = {}

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        key = (kind, inputs, *attributes.items())
        if key not in self.known:
            self.known[key] = f"{kind.lower()}_{len(self.nodes)}"
            self.add(kind, inputs, self.known[key], **attributes)
        return self.known[key]

    def add(self, kind: str, inputs: Iterable[str], output: str, **attributes: Any) -> None:
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [output], **attributes))

    def number(self, value: float, name: str | None = None) -> str:
        return self.tensor(name or f"number_{value!r}", self.onnx.TensorProto.DOUBLE, [], [float(value)])

    def tensor(self, name: str, kind: int, shape: list[int], values: list[Any]) -> str:
        if name not in self.tensors:
            self.tensors[name] = self.onnx.helper.make_tensor(name, kind, shape, values)
        return name


def _cosine(graph: _Graph, a: str) -> str:
    # 1 - 2 sin(a/2)**2: onnxruntime on CPUs had no Cos in double precision for years. Other than sin(a + pi/2), it
    # is off by no more than a rounding of 1 however large a is.
    sine = graph.node("Sin", graph.node("Mul", graph.number(0.5), a))
    return graph.node("Sub", graph.number(1.0), graph.node("Mul", graph.number(2.0), graph.node("Mul", sine, sine)))


def _plain(kind: str) -> Callable[..., str]:
    return lambda graph, *operands: graph.node(kind, *operands)


FORMS: Mapping[str, Callable[..., str]] = {
    "+": _plain("Add"),
    "-": _plain("Sub"),
    "*": _plain("Mul"),
    "/": _plain("Div"),
    "sin": _plain("Sin"),
    "cos": _cosine,
    "exp": _plain("Exp"),
    "log": _plain("Log"),
    "square": lambda graph, a: graph.node("Mul", a, a),
    "id": lambda graph, a: a,
    "sqrt": _plain("Sqrt"),
    "inv": lambda graph, a: graph.node("Div", graph.number(1.0), a),
    "neg": _plain("Neg"),
    "abs": _plain("Abs"),
    "tanh": _plain("Tanh"),
    "cube": lambda graph, a: graph.node("Mul", graph.node("Mul", a, a), a),
    "pow": _plain("Pow"),
    "pi": lambda graph: graph.number(math.pi),
}
"""How each operator is computed by nodes of a graph: (graph, names of the operands) -> name of the value."""


def to_onnx(expression: Expression, names: Iterable[str] | None = None, *, target: str = "y") -> "ModelProto":
    """A model of one input ``X``, double [rows, columns] in the order of `names`, and one output, double [rows],
    called `target`.

    The formula, the columns (as JSON) and the target are in its metadata; its free constants are the initialisers
    ``c0``, ``c1``, ... from left to right.

    >>> from prunesymnet.expression import parse
    >>> to_onnx(parse("x + y"), names=["x"])
    Traceback (most recent call last):
    ValueError: names must have each variable of the formula, got x without 'y'
    """
    columns = column_names(expression, names)
    if not (isinstance(target, str) and target):
        raise ValueError(f"target must be a name, got {target!r}")
    try:
        import onnx
    except ImportError as error:
        raise ImportError("to_onnx needs the package onnx: pip install 'prunesymnet[onnx]'") from error
    graph = _Graph(onnx)
    int64, double = onnx.TensorProto.INT64, onnx.TensorProto.DOUBLE
    free = iter(range(len(expression.constants)))

    def leaf(node: Expression) -> str:
        if isinstance(node, Constant):
            return graph.number(node.value, f"c{next(free)}" if node.is_free else None)
        assert isinstance(node, Variable)  # noqa: S101 - the only other leaf
        position = columns.index(node.name)
        index = graph.tensor(f"column_{position}", int64, [], [position])
        return graph.node("Gather", "X", index, axis=1)

    value = fold(expression, leaf, lambda operator, parts: form_of(operator, FORMS, "ONNX")(graph, *parts))
    inner = {"X", *graph.tensors, *graph.known.values(), "rows", "shape"}
    output = target
    while output in inner:
        output += "_"
    if expression.variables:
        graph.add("Identity", [value], output)
    else:  # one number, for every row
        rows = graph.node("Gather", graph.node("Shape", "X"), graph.tensor("first", int64, [1], [0]), axis=0)
        graph.add("Expand", [value, rows], output)
    made = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes,
            "formula",
            [onnx.helper.make_tensor_value_info("X", double, ["rows", len(columns)])],
            [onnx.helper.make_tensor_value_info(output, double, ["rows"])],
            list(graph.tensors.values()),
        ),
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="prunesymnet",
        doc_string=f"{target} = {expression}",
    )
    said = {"formula": str(expression), "columns": json.dumps(columns, ensure_ascii=False), "target": target}
    onnx.helper.set_model_props(made, said)
    onnx.checker.check_model(made, full_check=True)
    return made
