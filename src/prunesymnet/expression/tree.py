"""A formula as an immutable tree of operators, variables and constants.

Three kinds of node: `Variable` (a column), `Constant` (a number) and `Apply` (an operator on its
operands). As in sympy, a whole number is exact and stays what it is, while a float is a measured
number that a fit may move: in ``2*x + 0.5`` the 2 is part of the form and the 0.5 is a free constant.

>>> x = Variable("x")
>>> y = 2 * x**2 + 0.5
>>> y
Expression('2*x**2 + 0.5')
>>> y.constants, y.variables, y.complexity
((0.5,), ('x',), 6)
"""

import keyword
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, Union

from prunesymnet.operators import OPERATORS, Operator, select_operators

T = TypeVar("T")
Operand = Union["Expression", int, float]
LARGEST_INT = 2**53  # beyond it a whole number is not exact as a float
# Of a formula that is read from a text or simplified: time and memory grow with the square of both.
MOST_NODES = 50_000  # a linear model of ten thousand columns
DEEPEST = 1_000  # functions and parentheses inside one another


class Expression:
    """A formula as a tree: a variable, a constant, or an operator applied to such trees. Trees compare, hash and pickle
    by structure.

    Python's operators and `apply` build larger trees; nothing is simplified on the way (see `canonical`).
    """

    __slots__ = ("_hash", "complexity")

    operands: tuple["Expression", ...] = ()
    complexity: int
    """One number: 1 for each variable and constant, plus the cost of each operator as the table has it
    (1 for arithmetic, squares, cubes and roots, 2 for transcendental functions and general powers)."""
    _hash: int

    @property
    def label(self) -> object:
        """What this node is, its operands aside."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Expression):
            return NotImplemented
        if self._hash != other._hash:
            return False
        pairs: list[tuple[Expression, Expression]] = [(self, other)]  # a loop has no depth limit
        while pairs:
            one, two = pairs.pop()
            if one is two:
                continue
            if isinstance(one, Apply) and isinstance(two, Apply):
                if one.operator is not two.operator and one.operator != two.operator:
                    return False
                pairs.extend(zip(one.operands, two.operands, strict=True))
            elif one.label != two.label:
                return False
        return True

    def __hash__(self) -> int:
        return self._hash

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"expressions are immutable; build a new one instead of setting {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("expressions are immutable")

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_postfix, ([node.label for node in postorder(self)],)

    def __str__(self) -> str:
        from prunesymnet.expression.printing import to_text

        return to_text(self)

    def __repr__(self) -> str:
        return f"Expression({str(self)!r})"

    # What a tree says of itself.

    @property
    def constants(self) -> tuple[float, ...]:
        """The free constants (the floats), from left to right."""
        return tuple(n.value for n in postorder(self) if isinstance(n, Constant) and n.is_free)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables, each once, sorted."""
        return tuple(sorted({n.name for n in postorder(self) if isinstance(n, Variable)}))

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(postorder(self))

    def with_constants(self, values: Any) -> "Expression":
        """The same tree with other numbers in place of its free constants, in their order.

        >>> (1.5 * Variable("x") + 0.5).with_constants([2.0, 3.0])
        Expression('2.0*x + 3.0')
        """
        queue = [float(value) for value in values]
        if len(queue) != len(self.constants):
            raise ValueError(f"values must be {len(self.constants)} numbers, one per constant, got {len(queue)}")
        fresh = iter(queue)
        return transform(self, lambda node: Constant(next(fresh)) if is_free(node) else node)

    def substitute(self, replacements: "Mapping[str, Operand]") -> "Expression":
        """The tree with variables replaced by numbers or other trees.

        >>> Variable("x").substitute({"x": 2 * Variable("t")})
        Expression('2*t')
        """
        known = {name: as_expression(value) for name, value in replacements.items()}
        return transform(self, lambda n: known.get(n.name, n) if isinstance(n, Variable) else n)

    # Arithmetic builds trees.

    def __add__(self, other: Operand) -> "Expression":
        return apply("+", self, other)

    def __radd__(self, other: Operand) -> "Expression":
        return apply("+", other, self)

    def __sub__(self, other: Operand) -> "Expression":
        return apply("-", self, other)

    def __rsub__(self, other: Operand) -> "Expression":
        return apply("-", other, self)

    def __mul__(self, other: Operand) -> "Expression":
        return apply("*", self, other)

    def __rmul__(self, other: Operand) -> "Expression":
        return apply("*", other, self)

    def __truediv__(self, other: Operand) -> "Expression":
        return apply("/", self, other)

    def __rtruediv__(self, other: Operand) -> "Expression":
        return apply("/", other, self)

    def __neg__(self) -> "Expression":
        return apply("neg", self)

    def __pow__(self, other: Operand) -> "Expression":
        return power(self, as_expression(other))

    def __rpow__(self, other: Operand) -> "Expression":
        return power(as_expression(other), self)


_set = object.__setattr__  # nodes are filled in here and sealed by __setattr__ above


class Constant(Expression):
    """A number: an int is exact, a float is free to be fitted."""

    __slots__ = ("value",)
    value: int | float

    def __init__(self, value: int | float) -> None:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"a constant must be an int or a float, got {value!r}")
        if isinstance(value, float):
            value = float(value)  # numpy's float64 is a float too, but prints otherwise
            if not math.isfinite(value):
                raise ValueError(f"a constant must be finite, got {value}")
        elif not -LARGEST_INT <= value <= LARGEST_INT:
            raise ValueError("a whole constant must be at most 2**53 in size; make a larger one a float")
        _set(self, "value", value)
        _set(self, "complexity", 1)
        _set(self, "_hash", hash(("constant", type(value).__name__, value)))

    @property
    def is_free(self) -> bool:
        return isinstance(self.value, float)

    @property
    def label(self) -> object:
        return ("constant", type(self.value), self.value, math.copysign(1, self.value))


class Variable(Expression):
    """A column of the data, by name; or a constant that has a value in each category, `a[site]` (see `categories`)."""

    __slots__ = ("name",)
    name: str

    def __init__(self, name: str) -> None:
        base = (index_of(name) or (name,))[0] if isinstance(name, str) else ""
        if not base.isidentifier() or keyword.iskeyword(base):
            raise ValueError(f"a variable's name must be an identifier and no keyword of Python, got {name!r}")
        if base in OPERATORS:
            raise ValueError(f"a variable's name must not be an operator's, got {name!r}")
        _set(self, "name", name)
        _set(self, "complexity", 1)
        _set(self, "_hash", hash(("variable", name)))

    @property
    def label(self) -> object:
        return ("variable", self.name)


def index_of(name: str) -> tuple[str, str] | None:
    """The name before an index, and what stands in its brackets: a column, or one of its categories; None for a name
    without.

    >>> index_of("a[site]"), index_of("a[site=north]"), index_of("a")
    (('a', 'site'), ('a', 'site=north'), None)
    """
    match = _INDEXED.fullmatch(name)
    fine = match is not None and match[2].partition("=")[0].isidentifier() and match[2].isprintable()
    return (match[1], match[2]) if match is not None and fine else None


_INDEXED = re.compile(r"([^\[\]]+)\[([^\[\]]+)\]")


class Apply(Expression):
    """An operator on its operands."""

    __slots__ = ("operands", "operator")
    operator: Operator
    operands: tuple[Expression, ...]

    def __init__(self, operator: Operator, operands: tuple[Expression, ...]) -> None:
        if len(operands) != operator.arity:
            raise ValueError(f"operator {operator.name!r} takes {operator.arity} operands, got {len(operands)}")
        _set(self, "operator", operator)
        _set(self, "operands", operands)
        _set(self, "complexity", operator.cost + (sum(o.complexity for o in operands) if operands else 0))
        _set(self, "_hash", hash((operator.name, *(o._hash for o in operands))))

    @property
    def label(self) -> object:
        return self.operator


def as_expression(value: Operand) -> Expression:
    """A number as a `Constant`; an expression as it is."""
    return value if isinstance(value, Expression) else Constant(value)


def apply(operator: str | Operator, *operands: Operand) -> Expression:
    """An operator, by name or as a row of a table, on trees or numbers.

    >>> apply("sin", Variable("x") + 1)
    Expression('sin(x + 1)')
    """
    row = operator if isinstance(operator, Operator) else select_operators([operator])[operator]
    return Apply(row, tuple(as_expression(operand) for operand in operands))


def power(base: Expression, exponent: Expression) -> Expression:
    """``base**exponent``, in the table's own rows for 2 and 3, so that a power is written in one way."""
    if isinstance(exponent, Constant) and not exponent.is_free and exponent.value in (2, 3):
        return apply("square" if exponent.value == 2 else "cube", base)
    return apply("pow", base, exponent)


def exact_if_whole(value: float) -> int | float:
    """A number that stands for itself: an int where it is whole, and not too large to be exact as one.

    >>> exact_if_whole(3.0), exact_if_whole(0.5), exact_if_whole(2.0**60)
    (3, 0.5, 1.152921504606847e+18)
    """
    return int(value) if float(value).is_integer() and abs(value) <= LARGEST_INT else float(value)


def is_free(node: Expression) -> bool:
    """Whether the node is a constant that a fit may move."""
    return isinstance(node, Constant) and isinstance(node.value, float)


def postorder(expression: Expression) -> list[Expression]:
    """The nodes of a tree, operands before the operators that use them, from left to right."""
    if not isinstance(expression, Expression):
        raise TypeError(
            f"an Expression is needed, got {type(expression).__name__}; parse(text) makes one, a fit has .expression"
        )
    # Operator first and the last operand first, reversed, is postfix order; a stack needs no recursion.
    found, stack = [], [expression]
    while stack:
        node = stack.pop()
        found.append(node)
        stack.extend(node.operands)
    found.reverse()
    return found


def fold(expression: Expression, leaf: Callable[[Expression], T], combine: Callable[[Operator, tuple[T, ...]], T]) -> T:
    """What a tree comes to when every leaf has a value and every operator combines its operands' values.

    >>> fold(Variable("x") + 1, lambda leaf: 1, lambda operator, depths: 1 + max(depths))
    2
    """
    stack: list[T] = []
    for node in postorder(expression):
        if isinstance(node, Apply):
            split = len(stack) - len(node.operands)
            operands = tuple(stack[split:])
            del stack[split:]
            stack.append(combine(node.operator, operands))
        else:
            stack.append(leaf(node))
    return stack[0]


def nesting(expression: Expression) -> int:
    """How deep functions and parentheses stand inside one another; terms of a sum and factors of a product do not.

    >>> nesting(Variable("x") + 1 + 2 + 3), nesting(apply("sin", 1 + apply("exp", Variable("x"))))
    (1, 3)
    """

    def combine(operator: Operator, inner: tuple[tuple[int, int], ...]) -> tuple[int, int]:
        kind = _CHAINS.get(operator.name, 0)
        deeper = [depth + (not (kind and k == 0 and below == kind)) for k, (depth, below) in enumerate(inner)]
        return max(deeper, default=0), kind

    return fold(expression, lambda _: (0, 0), combine)[0]


_CHAINS = {"+": 1, "-": 1, "*": 2, "/": 2}  # whose first operand may be the same again without parentheses


def complexity_with(expression: Expression, costs: Mapping[str, int]) -> int:
    """The complexity where some operators cost something else than the table says.

    >>> complexity_with(apply("exp", Variable("x")), {"exp": 5})
    6
    """
    if not costs:
        return expression.complexity
    operators = (node.operator for node in postorder(expression) if isinstance(node, Apply))
    return expression.complexity + sum(costs.get(one.name, one.cost) - one.cost for one in operators)


def transform(expression: Expression, leaf: Callable[[Expression], Expression]) -> Expression:
    """The same tree with each leaf, from left to right, replaced by what `leaf` makes of it."""
    return fold(expression, leaf, Apply)


def with_numbers(expression: Expression, numbers: "Mapping[int, Expression]") -> Expression:
    """The same tree with these in place of some of its free constants, which are counted from 0.

    >>> print(with_numbers(1.5 * Variable("x") + 0.5, {1: Constant(2)}))
    1.5*x + 2
    """
    count = iter(range(len(expression.constants)))
    return transform(expression, lambda node: numbers.get(next(count), node) if is_free(node) else node)


def replaced(expression: Expression, place: int, by: Expression) -> Expression:
    """The tree with the node at a place (in postfix order) replaced."""
    counter: Iterator[int] = iter(range(expression.size))

    def leaf_or_other(this: Expression) -> Expression:
        return by if next(counter) == place else this

    def combine(operator: Operator, operands: tuple[Expression, ...]) -> Expression:
        return by if next(counter) == place else Apply(operator, operands)

    return fold(expression, leaf_or_other, combine)


def leaves(expression: Expression) -> Iterator[Expression]:
    """The variables and constants, from left to right."""
    return (node for node in postorder(expression) if not isinstance(node, Apply))


def _from_postfix(labels: list[Any]) -> Expression:
    """Unpickling: the tree from its labels in postfix order."""
    stack: list[Expression] = []
    for label in labels:
        if isinstance(label, Operator):
            split = len(stack) - label.arity
            stack[split:] = [Apply(label, tuple(stack[split:]))]
        elif label[0] == "variable":
            stack.append(Variable(label[1]))
        else:
            stack.append(Constant(label[2]))
    return stack[0]


def summands(total: Expression) -> Iterator[Expression]:
    """The terms of a sum, without their signs."""
    stack = [total]
    while stack:
        node = stack.pop()
        if isinstance(node, Apply) and node.operator.name in ("+", "-", "neg"):
            stack.extend(reversed(node.operands))
        else:
            yield node
