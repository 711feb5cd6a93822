"""Values and derivatives of a formula, for one vector of constants or for many at once.

`compile_expression` lays the tree out as a list of steps. A run of the steps forwards gives the values;
a run backwards gives the derivatives with respect to *all* constants (or inputs) for about the price
of two evaluations, however many there are:

>>> from prunesymnet.expression.parsing import parse
>>> program = compile_expression(parse("1.5*exp(-0.5*x)"))
>>> x = np.array([0.0, 2.0])
>>> program.values({"x": x}).round(3)
array([1.5  , 0.552])
>>> values, jacobian = program.values_and_jacobian({"x": x})
>>> jacobian.round(3)  # one row per constant
array([[1.   , 0.368],
       [0.   , 1.104]])

Constants of shape [starts, constants] give values [starts, points] and jacobians [starts, constants,
points]. Overflow, poles and logarithms of negative numbers are values (inf, nan), never warnings.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.expression.tree import Apply, Constant, Expression, Variable, fold, is_free, postorder
from prunesymnet.operators import Operator

if TYPE_CHECKING:
    from torch import Tensor

Array = NDArray[np.float64]
Columns = Mapping[str, Array]


class Values(NamedTuple):
    """What a formula gives on a table: its values, and where they are finite."""

    values: Array
    finite: NDArray[np.bool_]


class Step(NamedTuple):
    """``slots[out] = operator(slots[a], ...)``; `partials` as the operator table has them."""

    function: Any
    partials: tuple[Any, ...]
    operands: tuple[int, ...]
    out: int


@dataclass(frozen=True, eq=False, slots=True)
class Program:
    """A formula laid out as steps over slots. `constants` are its free constants as they stand, `labels`
    their names (None for a number), `linear` those in which the formula is jointly affine."""

    expression: Expression
    constants: Array
    labels: tuple[str | None, ...]
    variables: tuple[str, ...]
    linear: tuple[int, ...]
    _steps: tuple[Step, ...]
    _template: tuple[Any, ...]  # slot -> fixed number, or None
    _constant_slots: tuple[tuple[int, int], ...]  # (slot, index into constants)
    _variable_slots: tuple[tuple[int, str], ...]
    _depends: int  # bit i: slot i depends on a free constant
    _root: int

    def values(self, columns: Columns, constants: Array | None = None) -> Array:
        """[points], or [starts, points] for constants of shape [starts, constants]."""
        with np.errstate(all="ignore"):
            slots = self.forward(columns, self.constants if constants is None else constants)
        return self._spread(slots[self._root], columns, constants)

    def values_and_jacobian(self, columns: Columns, constants: Array | None = None) -> tuple[Array, Array]:
        """Values, and derivatives with respect to the constants: [..., constants, points]."""
        at = self.constants if constants is None else constants
        with np.errstate(all="ignore"):
            slots = self.forward(columns, at)
            return self._spread(slots[self._root], columns, constants), self.backward(slots, columns, at)

    def values_and_gradient(self, columns: Columns, constants: Array | None = None) -> tuple[Array, Array]:
        """Values, and derivatives with respect to the variables: [..., variables, points]."""
        at = self.constants if constants is None else constants
        with np.errstate(all="ignore"):
            slots = self.forward(columns, at)
            adjoints = self._adjoints(slots, ~0)
            value = self._spread(slots[self._root], columns, constants)
            gradient = np.zeros((*value.shape[:-1], len(self.variables), value.shape[-1]))
            for slot, name in self._variable_slots:
                if adjoints[slot] is not None:
                    gradient[..., self.variables.index(name), :] += adjoints[slot]
        return value, gradient

    def forward(self, columns: Columns, constants: Array) -> list[Any]:
        """Every slot's value. Warnings are the caller's to silence, once around a whole fit."""
        slots = list(self._template)
        for slot, name in self._variable_slots:
            slots[slot] = columns[name]
        if constants.ndim == 1:
            numbers = constants.tolist()
            for slot, index in self._constant_slots:
                slots[slot] = numbers[index]
        else:
            for slot, index in self._constant_slots:
                slots[slot] = constants[:, index, None]
        for function, _, operands, out in self._steps:
            if len(operands) == 2:
                slots[out] = function(slots[operands[0]], slots[operands[1]])
            elif operands:
                slots[out] = function(slots[operands[0]])
            else:
                slots[out] = function()
        return slots

    def backward(self, slots: list[Any], columns: Columns, constants: Array) -> Array:
        """The jacobian [..., constants, points] from the slots of a forward run."""
        points = _points(columns)
        adjoints = self._adjoints(slots, self._depends)
        jacobian = np.zeros((*constants.shape, points))
        for slot, index in self._constant_slots:
            if adjoints[slot] is not None:
                jacobian[..., index, :] += adjoints[slot]
        return jacobian

    def _adjoints(self, slots: list[Any], wanted: int) -> list[Any]:
        """The derivative of the result with respect to each slot that is wanted (bit i: slot i)."""
        adjoints: list[Any] = [None] * len(slots)
        adjoints[self._root] = 1.0
        for _, partials, operands, out in reversed(self._steps):
            upstream = adjoints[out]
            if upstream is None:
                continue
            for partial, operand in zip(partials, operands, strict=True):
                if not wanted >> operand & 1:
                    continue
                if isinstance(partial, float):
                    share = upstream if partial == 1.0 else upstream * partial
                else:
                    share = upstream * partial(slots[out], *(slots[i] for i in operands))
                before = adjoints[operand]
                adjoints[operand] = share if before is None else before + share
        return adjoints

    def _spread(self, value: Any, columns: Columns, constants: Array | None) -> Array:
        """A formula without variables has one value for all points: repeat it."""
        lead = () if constants is None else constants.shape[:-1]
        shape = (*lead, _points(columns))
        if isinstance(value, np.ndarray) and value.shape == shape:
            return value
        return np.broadcast_to(value, shape).astype(np.float64)


def _points(columns: Columns) -> int:
    return len(next(iter(columns.values()))) if columns else 1


def compile_expression(expression: Expression, parameters: Collection[str] = ()) -> Program:
    """The program of a formula; the variables named in `parameters` are free constants too.

    >>> from prunesymnet.expression.parsing import parse
    >>> compile_expression(parse("a*exp(-b*x) + a"), parameters=["a", "b"]).labels
    ('a', 'b')
    """
    builder = _Builder(set(parameters))
    stack: list[int] = []
    for node in postorder(expression):
        if isinstance(node, Apply):
            split = len(stack) - len(node.operands)
            slot = builder.step(node.operator, tuple(stack[split:]))
            stack[split:] = [slot]
        else:
            stack.append(builder.leaf(node))
    return builder.program(expression, stack[0])


class _Builder:
    def __init__(self, parameters: set[str]) -> None:
        self.parameters = parameters
        self.template: list[Any] = []
        self.steps: list[Step] = []
        self.constants: list[float] = []
        self.labels: list[str | None] = []
        self.constant_slots: list[tuple[int, int]] = []
        self.variable_slots: list[tuple[int, str]] = []
        self.shared: dict[Any, int] = {}  # a subexpression without free constants is computed once
        self.contains: list[int] = []  # slot -> bits of the constants below it
        self.affine: list[int] = []  # slot -> bits of the constants in which it is jointly affine

    def slot(self, value: Any, contains: int = 0, affine: int = 0) -> int:
        self.template.append(value)
        self.contains.append(contains)
        self.affine.append(affine)
        return len(self.template) - 1

    def leaf(self, node: Expression) -> int:
        if is_free(node):
            assert isinstance(node, Constant)  # noqa: S101
            return self.constant(float(node.value), None)
        key = node.label
        if key not in self.shared:
            if isinstance(node, Constant):
                self.shared[key] = self.slot(float(node.value))
            else:
                assert isinstance(node, Variable)  # noqa: S101
                if node.name in self.parameters:
                    self.shared[key] = self.constant(1.0, node.name)
                else:
                    self.shared[key] = self.slot(None)
                    self.variable_slots.append((self.shared[key], node.name))
        return self.shared[key]

    def constant(self, value: float, label: str | None) -> int:
        bit = 1 << len(self.constants)
        self.constants.append(value)
        self.labels.append(label)
        slot = self.slot(None, bit, bit)
        self.constant_slots.append((slot, len(self.constants) - 1))
        return slot

    def step(self, operator: Operator, operands: tuple[int, ...]) -> int:
        contains = 0
        for operand in operands:
            contains |= self.contains[operand]
        key = (operator, operands)
        if not contains and key in self.shared:
            return self.shared[key]
        slot = self.slot(None, contains, self.affine_in(operator.name, operands) if contains else 0)
        self.steps.append(Step(operator.numpy, operator.partials, operands, slot))
        if not contains:
            self.shared[key] = slot
        return slot

    def affine_in(self, name: str, operands: tuple[int, ...]) -> int:
        contains, affine = self.contains, self.affine
        if name in ("neg", "id"):
            return affine[operands[0]]
        if len(operands) != 2:
            return 0
        a, b = operands
        if name in ("+", "-"):
            # A constant that appears on both sides must be affine on both.
            return (affine[a] | affine[b]) & ~(contains[a] & ~affine[a]) & ~(contains[b] & ~affine[b])
        if name == "/":
            return affine[a] & ~contains[b]
        if name == "*":
            left, right = affine[a] & ~contains[b], affine[b] & ~contains[a]
            return left if left.bit_count() >= right.bit_count() else right
        return 0

    def program(self, expression: Expression, root: int) -> Program:
        linear = self.affine[root]
        return Program(
            expression=expression,
            constants=np.array(self.constants, dtype=np.float64),
            labels=tuple(self.labels),
            variables=tuple(sorted(name for _, name in self.variable_slots)),
            linear=tuple(i for i in range(len(self.constants)) if linear >> i & 1),
            _steps=tuple(self.steps),
            _template=tuple(self.template),
            _constant_slots=tuple(self.constant_slots),
            _variable_slots=tuple(self.variable_slots),
            _depends=sum(1 << slot for slot, bits in enumerate(self.contains) if bits),
            _root=root,
        )


def evaluate(expression: Expression, columns: Columns, constants: Array | None = None) -> Values:
    """The values of a formula on a table, and where they are finite.

    >>> from prunesymnet.expression.parsing import parse
    >>> evaluate(parse("log(x)"), {"x": np.array([1.0, -1.0])})
    Values(values=array([ 0., nan]), finite=array([ True, False]))
    """
    missing = [name for name in expression.variables if name not in columns]
    if missing:
        raise KeyError(f"the formula needs the column {missing[0]!r}; the table has {', '.join(columns)}")
    values = compile_expression(expression).values(columns, constants)
    return Values(values, np.isfinite(values))


def evaluate_torch(
    expression: Expression, columns: Mapping[str, "Tensor"], constants: "Tensor | None" = None
) -> "Tensor":
    """The same on tensors, differentiable; `constants` of shape [..., constants] replace the free ones."""
    import torch

    anchor = next(iter(columns.values())) if columns else torch.zeros(1, dtype=torch.float64)
    order = iter(range(len(expression.constants)))

    def leaf(node: Expression) -> Any:
        if isinstance(node, Variable):
            return columns[node.name]
        if is_free(node) and constants is not None:
            return constants[..., next(order), None]
        assert isinstance(node, Constant)  # noqa: S101
        return torch.as_tensor(float(node.value), dtype=anchor.dtype, device=anchor.device)

    def combine(operator: Operator, operands: tuple[Any, ...]) -> Any:
        out = operator.torch(torch, *operands)
        return (
            out
            if isinstance(out, torch.Tensor)
            else torch.as_tensor(out, dtype=anchor.dtype, device=anchor.device)
        )

    out = fold(expression, leaf, combine)
    lead = () if constants is None else tuple(constants.shape[:-1])
    return torch.broadcast_to(out, (*lead, anchor.shape[-1]))


def as_columns(names: Sequence[str], X: Array) -> dict[str, Array]:
    """A table's columns by name."""
    return {name: X[:, i] for i, name in enumerate(names)}
