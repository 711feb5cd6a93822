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
points], and so do columns of shape [starts, points], of which each start has its own. Overflow, poles and logarithms of
negative numbers are values (inf, nan), never warnings.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.expression.tree import Apply, Constant, Expression, Variable, fold, is_free, postorder
from prunesymnet.operators import Operator
from prunesymnet.optional import import_torch

if TYPE_CHECKING:
    from torch import Tensor

Array = NDArray[np.float64]
Columns = Mapping[str, Array]


class Values(NamedTuple):
    """What a formula gives on a table: its values, and where they are finite."""

    values: Array
    finite: NDArray[np.bool_]


# One step, ``slots[out] = function(slots[a], ...)``: (function, partials, operands, out), a plain tuple because
# programs are made by the million.
Step = tuple[Any, tuple[Any, ...], tuple[int, ...], int]


@dataclass(eq=False, slots=True)
class Program:
    """A formula laid out as steps over slots. `constants` are its free constants as they stand, `labels`
    their names (None for a number), `linear` those in which the formula is jointly affine."""

    expression: Expression
    constants: Array
    labels: tuple[str | None, ...]
    variables: tuple[str, ...]
    linear: tuple[int, ...]
    root: int  # the slot of the result
    slots: list[Any]  # a fixed number, or None
    steps: list[Step]
    constant_slots: list[tuple[int, int]]  # (slot, index into constants)
    variable_slots: list[tuple[int, str]]
    depends: list[int]  # slot -> bits of the free constants below it

    def bind(self, columns: Columns, order: Sequence[int] | None = None) -> "Bound":
        """The program on one table, ready for many vectors of constants (which may come in another order)."""
        return Bound(self, columns, order)

    def values(self, columns: Columns, constants: Array | None = None) -> Array:
        """[points], or [starts, points] for constants of shape [starts, constants]."""
        with np.errstate(all="ignore"):
            return self.bind(columns).values(self.constants if constants is None else constants)

    def values_and_jacobian(self, columns: Columns, constants: Array | None = None) -> tuple[Array, Array]:
        """Values, and derivatives with respect to the constants: [..., constants, points]."""
        with np.errstate(all="ignore"):
            return self.bind(columns).values_and_jacobian(self.constants if constants is None else constants)


class Bound:
    """A program on one table: what does not depend on the free constants is computed once, here.

    Floating-point warnings are the caller's to silence, once around a whole fit.
    """

    __slots__ = ("_back", "_constant_slots", "_forward", "_ready", "_root", "points")

    def __init__(self, program: Program, columns: Columns, order: Sequence[int] | None) -> None:
        self.points = np.shape(next(iter(columns.values())))[-1] if columns else 1
        slots = list(program.slots)
        for slot, name in program.variable_slots:
            slots[slot] = columns[name]
        depends = program.depends
        self._forward = [step for step in program.steps if depends[step[3]]]
        if len(self._forward) < len(program.steps):
            _run(slots, [step for step in program.steps if not depends[step[3]]])
        self._back = _pulls(self._forward, depends)
        self._ready, self._root, self._constant_slots = slots, program.root, program.constant_slots
        if order is not None:
            place = {index: k for k, index in enumerate(order)}
            self._constant_slots = [(slot, place[index]) for slot, index in program.constant_slots]

    def forward(self, constants: Array) -> list[Any]:
        """Every slot's value."""
        slots = self._ready.copy()
        if constants.ndim == 1:
            numbers = constants.tolist()
            for slot, index in self._constant_slots:
                slots[slot] = numbers[index]
        else:
            for slot, index in self._constant_slots:
                slots[slot] = constants[:, index, None]
        _run(slots, self._forward)
        return slots

    def values(self, constants: Array) -> Array:
        return self.spread(self.forward(constants)[self._root], constants)

    def values_and_jacobian(self, constants: Array) -> tuple[Array, Array]:
        slots = self.forward(constants)
        adjoints = _backward(slots, self._root, self._back)
        jacobian = np.empty((*constants.shape, self.points))
        rows = jacobian if constants.ndim == 1 else jacobian.swapaxes(0, 1)
        for slot, index in self._constant_slots:
            share = adjoints[slot]
            rows[index] = 0.0 if share is None else share
        return self.spread(slots[self._root], constants), jacobian

    def spread(self, value: Any, constants: Array) -> Array:
        """A formula without variables has one value for all points: repeat it."""
        shape = (*constants.shape[:-1], self.points)
        if isinstance(value, np.ndarray) and value.shape == shape:
            return value
        return np.broadcast_to(value, shape).astype(np.float64)


def _run(slots: list[Any], steps: Sequence[Step]) -> None:
    for function, _, operands, out in steps:
        if len(operands) == 2:
            a, b = operands
            slots[out] = function(slots[a], slots[b])
        elif operands:
            slots[out] = function(slots[operands[0]])
        else:
            slots[out] = function()


# One step backwards: (out, operands, ((operand, partial), ...)) for the operands that are wanted.
Pull = tuple[int, tuple[int, ...], list[tuple[int, Any]]]


def _pulls(steps: Sequence[Step], wanted: Sequence[int]) -> list[Pull]:
    return [
        (out, operands, [(i, partial) for i, partial in zip(operands, partials, strict=True) if wanted[i]])
        for _, partials, operands, out in reversed(steps)
    ]


def _backward(slots: list[Any], root: int, pulls: Sequence[Pull]) -> list[Any]:
    """The derivative of the result with respect to each slot (None where it was not wanted)."""
    adjoints: list[Any] = [None] * len(slots)
    adjoints[root] = 1.0
    for out, operands, wanted in pulls:
        upstream = adjoints[out]
        for operand, partial in wanted:
            if partial.__class__ is float:
                share = upstream if partial == 1.0 else upstream * partial
            else:
                if len(operands) == 2:
                    share = partial(slots[out], slots[operands[0]], slots[operands[1]])
                else:
                    share = partial(slots[out], slots[operands[0]])
                if upstream.__class__ is not float or upstream != 1.0:  # a product saved is a microsecond
                    share = upstream * share
            before = adjoints[operand]
            adjoints[operand] = share if before is None else before + share
    return adjoints


def compile_expression(expression: Expression, parameters: Collection[str] = ()) -> Program:
    """The program of a formula; the variables named in `parameters` are free constants too.

    >>> from prunesymnet.expression.parsing import parse
    >>> compile_expression(parse("a*exp(-b*x) + a"), parameters=["a", "b"]).labels
    ('a', 'b')
    """
    slots: list[Any] = []
    depends: list[int] = []  # slot -> bits of the constants below it
    affine: list[int] = []  # slot -> bits of the constants in which it is jointly affine
    steps: list[Step] = []
    constants: list[float] = []
    labels: list[str | None] = []
    constant_slots: list[tuple[int, int]] = []
    variable_slots: list[tuple[int, str]] = []
    shared: dict[Any, int] = {}  # what has no free number in it is computed once
    stack: list[int] = []
    # Formulas are compiled by the hundred thousand: this loop is written for speed.
    for node in postorder(expression):
        slot = len(slots)
        if isinstance(node, Apply):
            operator = node.operator
            arity, name = operator.arity, operator.name
            operands: tuple[int, ...] = ()
            below = linear = 0
            if arity == 2:
                b, a = stack.pop(), stack.pop()
                operands = (a, b)
                below = depends[a] | depends[b]
                if below:
                    linear = _affine(name, depends[a], depends[b], affine[a], affine[b])
            elif arity == 1:
                a = stack.pop()
                operands = (a,)
                below = depends[a]
                if below and name in ("neg", "id"):
                    linear = affine[a]
            if not below:
                key: Any = (name, operands)
                if key in shared:
                    stack.append(shared[key])
                    continue
                shared[key] = slot
            slots.append(None)
            steps.append((operator.numpy, operator.partials, operands, slot))
        else:
            value: Any = node.value if isinstance(node, Constant) else node.name  # type: ignore[attr-defined]
            below = 0
            free = value.__class__ is float
            if not free:
                if value in shared:
                    stack.append(shared[value])
                    continue
                shared[value] = slot
                free = value in parameters
            if free:
                below = 1 << len(constants)
                constant_slots.append((slot, len(constants)))
                named = value.__class__ is str
                constants.append(1.0 if named else value)
                labels.append(value if named else None)
                slots.append(None)
            elif value.__class__ is str:
                variable_slots.append((slot, value))
                slots.append(None)
            else:
                slots.append(float(value))
            linear = below
        depends.append(below)
        affine.append(linear)
        stack.append(slot)
    root = stack[0]
    return Program(
        expression,
        np.array(constants, dtype=np.float64),
        tuple(labels),
        tuple(sorted([name for _, name in variable_slots])),
        tuple([i for i in range(len(constants)) if affine[root] >> i & 1]),
        root,
        slots,
        steps,
        constant_slots,
        variable_slots,
        depends,
    )


def _affine(name: str, below_a: int, below_b: int, affine_a: int, affine_b: int) -> int:
    """The constants (bits) in which an operator of two operands is jointly affine."""
    if name in ("+", "-"):
        # A constant that appears on both sides must be affine on both.
        return (affine_a | affine_b) & ~(below_a & ~affine_a) & ~(below_b & ~affine_b)
    if name == "*":
        left, right = affine_a & ~below_b, affine_b & ~below_a
        return left if left.bit_count() >= right.bit_count() else right
    return affine_a & ~below_b if name == "/" else 0


def evaluate(expression: Expression, columns: Columns, constants: Array | None = None) -> Values:
    """The values of a formula on a table, and where they are finite.

    >>> from prunesymnet.expression.parsing import parse
    >>> evaluate(parse("log(x)"), {"x": np.array([1.0, -1.0])})
    Values(values=array([ 0., nan]), finite=array([ True, False]))
    """
    missing = [name for name in expression.variables if name not in columns]
    if missing:
        raise KeyError(f"the formula needs the column {missing[0]!r}; the table has {', '.join(columns)}")
    table = {name: np.asarray(column, dtype=np.float64) for name, column in columns.items()}
    values = compile_expression(expression).values(table, constants)
    return Values(values, np.isfinite(values))


def evaluate_torch(
    expression: Expression, columns: Mapping[str, "Tensor"], constants: "Tensor | None" = None
) -> "Tensor":
    """The same on tensors, differentiable; `constants` of shape [..., constants] replace the free ones."""
    import_torch("evaluate_torch")
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
        return out if isinstance(out, torch.Tensor) else torch.as_tensor(out, dtype=anchor.dtype, device=anchor.device)

    out = fold(expression, leaf, combine)
    lead = () if constants is None else tuple(constants.shape[:-1])
    return torch.broadcast_to(out, (*lead, anchor.shape[-1]))
