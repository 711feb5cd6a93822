"""The operator table: the one place that knows what an operator is.

Everything else (evaluation, derivatives, printing, the network, the exports) reads a row of this
table, so an operator that a user adds is one more row and works everywhere at once:

>>> sine, over = OPERATORS["sin"], OPERATORS["/"]
>>> float(sine.numpy(0.0)), sine.arity, bool(over.domain(1.0, 0.0))
(0.0, 1, False)
>>> len(select_operators([*PAPER, "sqrt"]))
11

The forms for torch and sympy take their library as first argument: importing this table imports neither.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from prunesymnet.errors import OperatorError

# How tightly an operator binds when it is printed. A call or a leaf never needs parentheses.
SUM, PRODUCT, NEGATION, POWER, CALL = 1, 2, 3, 4, 5


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Operator:
    """One row of the table. Rows are equal when name and arity are.

    ``partials[i]`` is the derivative with respect to operand i: a number where it is constant, else a
    callable of ``(value, *operands)``, given the value because it often saves work (``exp``).
    ``inverses[i]`` recovers operand i from ``(value, *other operands)``, on the principal branch; None
    where there is no such thing. ``domain`` tells where the operator is defined (None: everywhere).
    """

    name: str
    arity: int
    numpy: Callable[..., Any]
    torch: Callable[..., Any]
    sympy: Callable[..., Any]
    partials: tuple[float | Callable[..., Any], ...]
    inverses: tuple[Callable[..., Any] | None, ...] = ()
    domain: Callable[..., Any] | None = None
    latex: str | None = None
    precedence: int = CALL
    cost: int = 1
    recipe: Callable[[], "Operator"] | None = None  # a user's row is pickled as the call that makes it

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Operator):
            return NotImplemented
        return self is other or (self.name == other.name and self.arity == other.arity)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"<operator {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # Rows of our own table travel by name: lambdas do not pickle, and identity makes `==` cheap.
        if OPERATORS.get(self.name) is self:
            return _builtin, (self.name,)
        if self.recipe is not None:
            return self.recipe, ()
        return Operator, tuple(getattr(self, field) for field in self.__slots__)

    def __deepcopy__(self, memo: object) -> "Operator":
        return self  # a copied list of operators holds the same rows


def _builtin(name: str) -> Operator:
    return OPERATORS[name]


def _pow_domain(base: Any, exponent: Any) -> Any:
    whole = np.equal(np.floor(exponent), exponent)
    return np.where(base == 0, np.greater_equal(exponent, 0), np.greater(base, 0) | whole)


def _power(base: Any, exponent: Any) -> Any:
    """np.power, except that a whole power of an array is a few products: several times faster."""
    if exponent.__class__ is not float or not exponent.is_integer() or not 0 < exponent <= 32:
        return np.power(base, exponent)
    result, left = None, int(exponent)
    while True:
        if left & 1:
            result = base if result is None else result * base
        left >>= 1
        if not left:
            return result
        base = base * base


_ROWS = (
    Operator(
        "+", 2, np.add,
        lambda torch, a, b: a + b, lambda sp, a, b: a + b,
        (1.0, 1.0), (lambda v, b: v - b, lambda v, a: v - a),
        latex="{0} + {1}", precedence=SUM,
    ),
    Operator(
        "-", 2, np.subtract,
        lambda torch, a, b: a - b, lambda sp, a, b: a - b,
        (1.0, -1.0), (lambda v, b: v + b, lambda v, a: a - v),
        latex="{0} - {1}", precedence=SUM,
    ),
    Operator(
        "*", 2, np.multiply,
        lambda torch, a, b: a * b, lambda sp, a, b: a * b,
        (lambda v, a, b: b, lambda v, a, b: a), (lambda v, b: v / b, lambda v, a: v / a),
        latex=r"{0} {1}", precedence=PRODUCT,
    ),
    Operator(
        "/", 2, np.divide,
        lambda torch, a, b: a / b, lambda sp, a, b: a / b,
        (lambda v, a, b: np.divide(1.0, b), lambda v, a, b: np.divide(-v, b)),
        (lambda v, b: v * b, lambda v, a: a / v),
        domain=lambda a, b: np.not_equal(b, 0), latex=r"\frac{{{0}}}{{{1}}}", precedence=PRODUCT,
    ),
    Operator(
        "sin", 1, np.sin, lambda torch, a: torch.sin(a), lambda sp, a: sp.sin(a),
        (lambda v, a: np.cos(a),), (np.arcsin,), latex=r"\sin\left({0}\right)", cost=2,
    ),
    Operator(
        "cos", 1, np.cos, lambda torch, a: torch.cos(a), lambda sp, a: sp.cos(a),
        (lambda v, a: -np.sin(a),), (np.arccos,), latex=r"\cos\left({0}\right)", cost=2,
    ),
    Operator(
        "exp", 1, np.exp, lambda torch, a: torch.exp(a), lambda sp, a: sp.exp(a),
        (lambda v, a: v,), (np.log,), latex=r"e^{{{0}}}", cost=2,
    ),
    Operator(
        "log", 1, np.log, lambda torch, a: torch.log(a), lambda sp, a: sp.log(a),
        (lambda v, a: np.divide(1.0, a),), (np.exp,),
        domain=lambda a: np.greater(a, 0), latex=r"\log\left({0}\right)", cost=2,
    ),
    Operator(
        "square", 1, np.square, lambda torch, a: a * a, lambda sp, a: a**2,
        (lambda v, a: 2 * a,), (np.sqrt,), latex="{0}^{{2}}", precedence=POWER,
    ),
    Operator(
        "id", 1, np.positive, lambda torch, a: a, lambda sp, a: a,
        (1.0,), (np.positive,), latex="{0}", cost=0,
    ),
    Operator(
        "sqrt", 1, np.sqrt, lambda torch, a: torch.sqrt(a), lambda sp, a: sp.sqrt(a),
        (lambda v, a: 0.5 / v,), (np.square,),
        domain=lambda a: np.greater_equal(a, 0), latex=r"\sqrt{{{0}}}",
    ),
    Operator(
        "inv", 1, lambda a: np.divide(1.0, a), lambda torch, a: 1 / a, lambda sp, a: 1 / a,
        (lambda v, a: -v * v,), (lambda v: np.divide(1.0, v),),
        domain=lambda a: np.not_equal(a, 0), latex=r"\frac{{1}}{{{0}}}",
    ),
    Operator(
        "neg", 1, np.negative, lambda torch, a: -a, lambda sp, a: -a,
        (-1.0,), (np.negative,), latex="-{0}", precedence=NEGATION,
    ),
    Operator(
        "abs", 1, np.abs, lambda torch, a: torch.abs(a), lambda sp, a: sp.Abs(a),
        (lambda v, a: np.sign(a),), (np.positive,), latex=r"\left|{0}\right|",
    ),
    Operator(
        "tanh", 1, np.tanh, lambda torch, a: torch.tanh(a), lambda sp, a: sp.tanh(a),
        (lambda v, a: 1 - v * v,), (np.arctanh,), latex=r"\tanh\left({0}\right)", cost=2,
    ),
    Operator(
        "cube", 1, lambda a: a * a * a, lambda torch, a: a * a * a, lambda sp, a: a**3,
        (lambda v, a: 3 * a * a,), (np.cbrt,), latex="{0}^{{3}}", precedence=POWER,
    ),
    Operator(
        "pow", 2, _power, lambda torch, a, b: torch.pow(a, b), lambda sp, a, b: a**b,
        (lambda v, a, b: b * _power(a, b - 1.0), lambda v, a, b: v * np.log(a)),
        (lambda v, b: np.power(v, 1.0 / b), lambda v, a: np.log(v) / np.log(a)),
        domain=_pow_domain, latex="{0}^{{{1}}}", precedence=POWER, cost=2,
    ),
    Operator(
        "pi", 0, lambda: np.pi, lambda torch: torch.pi, lambda sp: sp.pi, (), latex=r"\pi",
    ),
)  # fmt: skip

OPERATORS: Mapping[str, Operator] = MappingProxyType({row.name: row for row in _ROWS})
"""Every operator that ships with the package, by name."""

PAPER = ("+", "-", "*", "/", "sin", "cos", "exp", "log", "square", "id")
"""The operators of the paper's network."""

DEFAULT = (*PAPER, "sqrt")
"""The operators of a search, unless others are asked for. The rest of the table is there to be switched on."""


def select_operators(operators: Iterable[str | Operator] = PAPER) -> Mapping[str, Operator]:
    """A table of the operators asked for: names of rows that ship, or rows from `make_operator`.

    >>> sorted(select_operators(["+", "sin"]))
    ['+', 'sin']
    """
    if isinstance(operators, str):
        raise OperatorError(f"operators must be a list of names or operators, got the text {operators!r}")
    table: dict[str, Operator] = {}
    for entry in operators:
        if isinstance(entry, Operator):
            row = entry
        elif isinstance(entry, str) and entry in OPERATORS:
            row = OPERATORS[entry]
        else:
            close = difflib.get_close_matches(str(entry), OPERATORS, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else "."
            raise OperatorError(
                f"unknown operator {entry!r}{hint} Known: {', '.join(OPERATORS)}. "
                "Add your own with make_operator(name, function)."
            )
        if table.setdefault(row.name, row) is not row:
            raise OperatorError(f"two different operators are called {row.name!r}; rename one of them")
    return MappingProxyType(table)
