"""A formula as an ONNX model in double precision, for runtimes in other languages and on other devices.

>>> from prunesymnet.expression import parse
>>> model = to_onnx(parse("2*sin(x)/y"), target="speed")  # doctest: +SKIP
>>> [node.op_type for node in model.graph.node]  # doctest: +SKIP
['Gather', 'Sin', 'Mul', 'Gather', 'Div', 'Identity']

The package onnx is an optional install: ``pip install 'prunesymnet[onnx]'``.
"""

import functools
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prunesymnet.export.common import column_names, without_form
from prunesymnet.expression import Constant, Expression, Variable, fold
from prunesymnet.operators import Operator

if TYPE_CHECKING:
    from onnx import ModelProto

OPSET, IR_VERSION = 13, 7  # of the year 2020: every runtime in use knows them


class _Graph:
    """Nodes as they are asked for, ``graph.Sin(a)``; what was asked for before is not computed again."""

    def __init__(self, onnx: Any) -> None:
        self.onnx, self.nodes, self.tensors = onnx, [], {}  # type: ignore[var-annotated]
        self.known: dict[Any, str] = {}

    def __getattr__(self, kind: str) -> "Callable[..., _Value]":
        if not kind[:1].isupper():
            raise AttributeError(f"ONNX has no operator {kind!r}")
        return functools.partial(self.node, kind)

    def node(self, kind: str, *operands: "_Value | float", **attributes: Any) -> "_Value":
        inputs = tuple(self.value(operand).name for operand in operands)
        key = (kind, inputs, *attributes.items())
        if key not in self.known:
            self.known[key] = f"{kind.lower()}_{len(self.nodes)}"
            self.add(kind, inputs, self.known[key], **attributes)
        return _Value(self, self.known[key])

    def add(self, kind: str, inputs: Iterable[str], output: str, **attributes: Any) -> None:
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [output], **attributes))

    def value(self, operand: "_Value | float") -> "_Value":
        return operand if isinstance(operand, _Value) else self.number(operand)

    def number(self, value: float, name: str | None = None) -> "_Value":
        return self.tensor(name or f"number_{value!r}", self.onnx.TensorProto.DOUBLE, [], [float(value)])

    def numbers(self, values: Iterable[float]) -> "_Value":
        listed = [float(value) for value in values]
        return self.tensor(f"numbers_{listed!r}", self.onnx.TensorProto.DOUBLE, [len(listed)], listed)

    def whole_numbers(self, values: list[int]) -> "_Value":
        return self.tensor(f"whole_{values!r}", self.onnx.TensorProto.INT64, [len(values)], values)

    def tensor(self, name: str, kind: int, shape: list[int], values: list[Any]) -> "_Value":
        if name not in self.tensors:
            self.tensors[name] = self.onnx.helper.make_tensor(name, kind, shape, values)
        return _Value(self, name)


def _arithmetic(kind: str, *, reflected: bool = False) -> "Callable[..., _Value]":
    if reflected:
        return lambda value, other: value.graph.node(kind, other, value)
    return lambda *operands: operands[0].graph.node(kind, *operands)


@dataclass(frozen=True, slots=True)
class _Value:
    """What a node or a tensor gives, which arithmetic can be done with."""

    graph: _Graph
    name: str

    __neg__ = _arithmetic("Neg")
    __add__ = _arithmetic("Add")
    __sub__ = _arithmetic("Sub")
    __mul__ = _arithmetic("Mul")
    __truediv__ = _arithmetic("Div")
    __radd__ = _arithmetic("Add", reflected=True)
    __rsub__ = _arithmetic("Sub", reflected=True)
    __rmul__ = _arithmetic("Mul", reflected=True)
    __rtruediv__ = _arithmetic("Div", reflected=True)


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

    def leaf(node: Expression) -> _Value:
        if isinstance(node, Constant):
            return graph.number(node.value, f"c{next(free)}" if node.is_free else None)
        assert isinstance(node, Variable)  # noqa: S101 - the only other leaf
        position = columns.index(node.name)
        index = graph.tensor(f"column_{position}", int64, [], [position])
        return graph.Gather(_Value(graph, "X"), index, axis=1)

    def combine(operator: Operator, parts: tuple[_Value, ...]) -> _Value:
        if operator.onnx is None:
            raise without_form(operator, "onnx", "ONNX")
        return graph.value(operator.onnx(graph, *parts))

    value = fold(expression, leaf, combine).name
    inner = {"X", *graph.tensors, *graph.known.values(), "rows", "shape"}
    output = target
    while output in inner:
        output += "_"
    if expression.variables:
        graph.add("Identity", [value], output)
    else:  # one number, for every row
        rows = graph.Gather(graph.Shape(_Value(graph, "X")), graph.tensor("first", int64, [1], [0]), axis=0)
        graph.add("Expand", [value, rows.name], output)
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
