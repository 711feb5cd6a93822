"""What is known of an operator: one row of the table, and how a language writes it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

# How tightly an operator binds when it is printed. A call or a leaf never needs parentheses.
SUM, PRODUCT, NEGATION, POWER, CALL = 1, 2, 3, 4, 5


class Form(NamedTuple):
    """How a language writes an operator: ``{0}`` and ``{1}`` stand for its operands, each in parentheses unless it
    binds as tightly as `needs` says (left out: never, as for the operands of a call)."""

    template: str
    binds: int = CALL
    needs: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Operator:
    """One row of the table. Rows are equal when name and arity are.

    Values: `numpy`, `torch` and `sympy` compute it; the last two take their library as first argument.
    ``partials[i]`` is the derivative with respect to operand i: a number where it is constant, else a
    callable of ``(value, *operands)``, given the value because it often saves work (``exp``).
    ``inverses[i]`` recovers operand i from ``(value, *other operands)``, on the principal branch; None
    where there is no such thing. `domain` tells where the operator is defined (None: everywhere). `protected` is its
    form as a node of the network, see `protection` (None: the usual limits).

    Algebra: `parity` ("odd": f(-a) is -f(a)); `commutative` (f(a, b) is f(b, a)); `exact`, whole numbers whose value
    is one; `follows_from`, sets of operators each of which can express this one (the empty set: it is always there);
    `nests`, whether a search may put it inside others of its kind; `cost`, what it adds to a formula's complexity.
    `units`: the powers of its operands' units that make up its own, (1, -1) for a quotient; "alike": operands have one
    unit, and so has the value, as in a sum; None: operands and value are pure numbers.

    Text: a `latex` template, `precedence` in our own notation, and a `Form` or a template, ``"sin({0})"``, in
    `python`, `c` and `excel` (None: it can't be exported there). `python_arrays` is for numpy where that is not
    `python` with np for math, `python_function` for a function that must not raise. `onnx` makes the nodes of a
    graph: ``lambda op, a: 1 - op.Sin(a)``. `recipe` is the call that makes a user's row, which pickle needs.
    """

    name: str
    arity: int
    numpy: Callable[..., Any]
    torch: Callable[..., Any]
    sympy: Callable[..., Any]
    partials: tuple[float | Callable[..., Any], ...]
    inverses: tuple[Callable[..., Any] | None, ...] = ()
    domain: Callable[..., Any] | None = None
    protected: Callable[..., tuple[Any, list[Any], Any]] | None = None
    parity: Literal["odd", "even"] | None = None
    commutative: bool = False
    exact: Mapping[int, int] = field(default_factory=dict)
    follows_from: tuple[frozenset[str], ...] = ()
    nests: bool = True
    cost: int = 1
    units: tuple[float, ...] | Literal["alike"] | None = None
    latex: str | None = None
    precedence: int = CALL
    python: str | Form | None = None
    python_arrays: str | None = None
    python_function: str | None = None
    c: str | Form | None = None
    excel: str | Form | None = None
    onnx: Callable[..., Any] | None = None
    recipe: Callable[[], "Operator"] | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Operator):
            return NotImplemented
        return self is other or (self.name == other.name and self.arity == other.arity)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"<operator {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        from prunesymnet.operators.table import OPERATORS, shipped

        # Rows of our own table travel by name: lambdas do not pickle, and identity makes `==` cheap.
        if OPERATORS.get(self.name) is self:
            return shipped, (self.name,)
        if self.recipe is not None:
            return self.recipe, ()
        return Operator, tuple(getattr(self, column) for column in self.__slots__)

    def __deepcopy__(self, memo: object) -> "Operator":
        return self  # a copied list of operators holds the same rows
