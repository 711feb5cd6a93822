"""The operator table: the one place that knows what an operator is.

Everything else (evaluation, derivatives, printing, canonical forms, the network, the exports) reads a row of this
table, so an operator that a user adds is one more row and works everywhere at once:

>>> sine, over = OPERATORS["sin"], OPERATORS["/"]
>>> float(sine.numpy(0.0)), sine.arity, bool(over.domain(1.0, 0.0))
(0.0, 1, False)
>>> sine.parity, sine.c, OPERATORS["log"].excel
('odd', 'sin({0})', 'LN({0})')
>>> len(select_operators([*PAPER, "sqrt"]))
11

`Operator` says what each column means. The forms for torch, sympy and ONNX take their library as first argument:
importing this table imports none of them.
"""

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from prunesymnet.errors import OperatorError
from prunesymnet.operators import onnx, protection
from prunesymnet.operators.operator import CALL, NEGATION, POWER, PRODUCT, SUM, Form, Operator


def _infix(template: str, binds: int) -> dict[str, Any]:
    """Columns of what Python, C and spreadsheets write in the same way. A right operand must bind more tightly than
    the operator: x - (y - z) is not x - y - z, and x + (y + z) is not rounded like x + y + z."""
    form = Form(template, binds, (binds, binds + 1))
    return {"precedence": binds, "python": form, "c": form, "excel": form._replace(template=template.replace(" ", ""))}


def _function(
    name: str, numpy: Callable[..., Any], slope: Callable[..., Any], inverse: Callable[..., Any], **columns: Any
) -> Operator:
    """The row of a function of one operand that libraries and languages call by the same name; `columns` are those
    that differ."""
    return Operator(
        name, 1, numpy, partials=(slope,), inverses=(inverse,),
        **{
            "torch": lambda torch, a: getattr(torch, name)(a), "sympy": lambda sp, a: getattr(sp, name)(a),
            "python": f"math.{name}({{0}})", "c": f"{name}({{0}})", "excel": f"{name.upper()}({{0}})",
            "latex": rf"\{name}\left({{0}}\right)", "cost": 2, **columns,
        },
    )  # fmt: skip


def _given(*sets: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(names.split()) for names in sets)


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


def _erf(a: Any) -> Any:
    from scipy.special import erf  # a third of a second, for those who use it

    return erf(a)


def _erfinv(v: Any) -> Any:
    from scipy.special import erfinv

    return erfinv(v)


_ALWAYS = _given("")  # a weight on an edge, a sum of terms: what every formula may have

_ROWS = (
    Operator(
        "+", 2, np.add, lambda torch, a, b: a + b, lambda sp, a, b: a + b,
        (1.0, 1.0), (lambda v, b: v - b, lambda v, a: v - a), protected=protection.add, commutative=True,
        follows_from=_ALWAYS, units="alike", latex="{0} + {1}", onnx=lambda op, a, b: a + b, **_infix("{0} + {1}", SUM),
    ),
    Operator(
        "-", 2, np.subtract, lambda torch, a, b: a - b, lambda sp, a, b: a - b,
        (1.0, -1.0), (lambda v, b: v + b, lambda v, a: a - v), protected=protection.subtract,
        follows_from=_ALWAYS, units="alike", latex="{0} - {1}", onnx=lambda op, a, b: a - b, **_infix("{0} - {1}", SUM),
    ),
    Operator(
        "*", 2, np.multiply, lambda torch, a, b: a * b, lambda sp, a, b: a * b,
        (lambda v, a, b: b, lambda v, a, b: a), (lambda v, b: v / b, lambda v, a: v / a),
        protected=protection.product, commutative=True, follows_from=_ALWAYS,
        units=(1, 1), latex="{0} {1}", onnx=lambda op, a, b: a * b, **_infix("{0}*{1}", PRODUCT),
    ),
    Operator(
        "/", 2, np.divide, lambda torch, a, b: a / b, lambda sp, a, b: a / b,
        (lambda v, a, b: np.divide(1.0, b), lambda v, a, b: np.divide(-v, b)),
        (lambda v, b: v * b, lambda v, a: a / v), domain=lambda a, b: np.not_equal(b, 0),
        protected=protection.quotient, follows_from=_given("inv"),
        units=(1, -1), latex=r"\frac{{{0}}}{{{1}}}", onnx=lambda op, a, b: a / b, **_infix("{0}/{1}", PRODUCT),
    ),
    # The paper's functions do not nest: sin(exp(cos(x))) fits anything and is no law.
    _function(
        "sin", np.sin, lambda v, a: np.cos(a), np.arcsin, protected=protection.sin,
        parity="odd", exact={0: 0}, nests=False, onnx=lambda op, a: op.Sin(a),
    ),
    _function(
        "cos", np.cos, lambda v, a: -np.sin(a), np.arccos, protected=protection.cos,
        parity="even", exact={0: 1}, nests=False, onnx=onnx.cos,
    ),
    _function(
        "exp", np.exp, lambda v, a: v, np.log, protected=protection.exp, exact={0: 1}, nests=False,
        latex="e^{{{0}}}", python_function="_or_inf(math.exp, {0})", onnx=lambda op, a: op.Exp(a),
    ),
    _function(
        "log", np.log, lambda v, a: np.divide(1.0, a), np.exp, domain=lambda a: np.greater(a, 0),
        protected=protection.log, exact={1: 0}, nests=False, excel="LN({0})", onnx=lambda op, a: op.Log(a),
    ),
    Operator(
        "square", 1, np.square, lambda torch, a: a * a, lambda sp, a: a**2,
        (lambda v, a: 2 * a,), (np.sqrt,), protected=protection.square, follows_from=_given("*", "pow"),
        units=(2,), latex="{0}^{{2}}", precedence=POWER, python=Form("{0}**2", POWER, (CALL,)),
        c="pow({0}, 2.0)", excel=Form("{0}^2", POWER, (CALL,)), onnx=lambda op, a: a * a,
    ),
    Operator(
        "id", 1, np.positive, lambda torch, a: a, lambda sp, a: a, (1.0,), (np.positive,), follows_from=_ALWAYS,
        cost=0, units=(1,), latex="{0}", python="{0}", c="{0}", excel="{0}", onnx=lambda op, a: a,
    ),
    _function(
        "sqrt", np.sqrt, lambda v, a: 0.5 / v, np.square, domain=lambda a: np.greater_equal(a, 0),
        protected=protection.sqrt, follows_from=_given("pow", "exp log"), cost=1,
        units=(0.5,), latex=r"\sqrt{{{0}}}", onnx=lambda op, a: op.Sqrt(a),
    ),
    Operator(
        "inv", 1, lambda a: np.divide(1.0, a), lambda torch, a: 1 / a, lambda sp, a: 1 / a,
        (lambda v, a: -v * v,), (lambda v: np.divide(1.0, v),), domain=lambda a: np.not_equal(a, 0),
        protected=protection.reciprocal, follows_from=_given("/"), units=(-1,), latex=r"\frac{{1}}{{{0}}}",
        python=Form("1/{0}", PRODUCT, (NEGATION,)), c=Form("1.0/{0}", PRODUCT, (NEGATION,)),
        excel=Form("1/{0}", PRODUCT, (NEGATION,)), onnx=lambda op, a: 1.0 / a,
    ),
    Operator(
        "neg", 1, np.negative, lambda torch, a: -a, lambda sp, a: -a, (-1.0,), (np.negative,),
        protected=protection.negative, follows_from=_ALWAYS,
        units=(1,), latex="-{0}", precedence=NEGATION, python=Form("-{0}", NEGATION, (NEGATION,)),
        c=Form("-{0}", NEGATION, (NEGATION,)), excel=Form("-{0}", NEGATION, (CALL,)), onnx=lambda op, a: -a,
    ),
    _function(
        "abs", np.abs, lambda v, a: np.sign(a), np.positive, sympy=lambda sp, a: sp.Abs(a),
        protected=protection.absolute, parity="even", cost=1,
        follows_from=_given("log"),  # the network's logarithm is that of |u|
        units=(1,), latex=r"\left|{0}\right|", python="abs({0})", c="fabs({0})", onnx=lambda op, a: op.Abs(a),
    ),
    _function(
        "tanh", np.tanh, lambda v, a: 1 - v * v, np.arctanh, protected=protection.tanh, parity="odd", exact={0: 0},
        follows_from=_given("exp /"), cost=3, onnx=lambda op, a: op.Tanh(a),
    ),
    Operator(
        "cube", 1, lambda a: a * a * a, lambda torch, a: a * a * a, lambda sp, a: a**3,
        (lambda v, a: 3 * a * a,), (np.cbrt,), protected=protection.cube, follows_from=_given("*", "square", "pow"),
        units=(3,), latex="{0}^{{3}}", precedence=POWER, python=Form("{0}**3", POWER, (CALL,)),
        c="pow({0}, 3.0)", excel=Form("{0}^3", POWER, (CALL,)), onnx=lambda op, a: a * a * a,
    ),
    # The functions from here on may be switched on. Those that are made of the paper's do not nest either. The others
    # do: an arcsine of a sine is Snell's law, erf of a logarithm a distribution, max(sin(x), 0) a rectified wave.
    _function(
        "tan", np.tan, lambda v, a: 1 + v * v, np.arctan, parity="odd", exact={0: 0}, nests=False,
        follows_from=_given("sin cos /"), onnx=lambda op, a: op.Sin(a) / onnx.cos(op, a),
    ),
    _function(
        "asin", np.arcsin, lambda v, a: 1 / np.sqrt((1 - a) * (1 + a)), np.sin, domain=lambda a: np.abs(a) <= 1,
        protected=protection.asin, parity="odd", exact={0: 0}, follows_from=_given("acos"),
        latex=r"\arcsin\left({0}\right)", python_arrays="np.arcsin({0})", onnx=onnx.asin,
    ),
    _function(
        "acos", np.arccos, lambda v, a: -1 / np.sqrt((1 - a) * (1 + a)), np.cos, domain=lambda a: np.abs(a) <= 1,
        protected=protection.acos, exact={1: 0}, follows_from=_given("asin"),
        latex=r"\arccos\left({0}\right)", python_arrays="np.arccos({0})", onnx=onnx.acos,
    ),
    _function(
        "atan", np.arctan, lambda v, a: 1 / (1 + a * a), np.tan, parity="odd", exact={0: 0},
        latex=r"\arctan\left({0}\right)", python_arrays="np.arctan({0})", onnx=onnx.atan,
    ),
    _function(
        "sinh", np.sinh, lambda v, a: np.cosh(a), np.arcsinh, parity="odd", exact={0: 0}, nests=False,
        follows_from=_given("exp"), cost=3, python_function="_or_inf(math.sinh, {0})",
        onnx=lambda op, a: op.Tanh(a) * onnx.cosh(op, a),  # exact near 0, where a difference of exponentials is not
    ),
    _function(
        "cosh", np.cosh, lambda v, a: np.sinh(a), np.arccosh, parity="even", exact={0: 1}, nests=False,
        follows_from=_given("exp"), cost=3, python_function="_or_inf(math.cosh, {0})", onnx=onnx.cosh,
    ),
    _function(
        "erf", _erf, lambda v, a: 2 / math.sqrt(math.pi) * np.exp(-a * a), _erfinv, parity="odd", exact={0: 0},
        latex=r"\operatorname{{erf}}\left({0}\right)", python_arrays="scipy.special.erf({0})", onnx=onnx.erf,
    ),
    # In Python and C, max of a number and nan may be the number: where an operand has no value, max must have none.
    Operator(
        "max", 2, np.maximum, lambda torch, a, b: torch.maximum(a, b), lambda sp, a, b: sp.Max(a, b),
        (lambda v, a, b: np.heaviside(a - b, 0.5), lambda v, a, b: np.heaviside(b - a, 0.5)),
        (lambda v, b: v, lambda v, a: v), commutative=True, follows_from=_given("abs"), cost=2,
        units="alike", latex=r"\max\left({0}, {1}\right)", python="max({0}, {1})", python_arrays="np.maximum({0}, {1})",
        python_function="({0} if {0} > {1} or {0} != {0} else {1})", c="({0} > {1} || {0} != {0} ? {0} : {1})",
        excel="MAX({0},{1})", onnx=lambda op, a, b: op.Max(a, b),
    ),
    Operator(
        "min", 2, np.minimum, lambda torch, a, b: torch.minimum(a, b), lambda sp, a, b: sp.Min(a, b),
        (lambda v, a, b: np.heaviside(b - a, 0.5), lambda v, a, b: np.heaviside(a - b, 0.5)),
        (lambda v, b: v, lambda v, a: v), commutative=True, follows_from=_given("abs"), cost=2,
        units="alike", latex=r"\min\left({0}, {1}\right)", python="min({0}, {1})", python_arrays="np.minimum({0}, {1})",
        python_function="({0} if {0} < {1} or {0} != {0} else {1})", c="({0} < {1} || {0} != {0} ? {0} : {1})",
        excel="MIN({0},{1})", onnx=lambda op, a, b: op.Min(a, b),
    ),
    Operator(
        "pow", 2, _power, lambda torch, a, b: torch.pow(a, b), lambda sp, a, b: a**b,
        (lambda v, a, b: b * _power(a, b - 1.0), lambda v, a, b: v * np.log(a)),
        (lambda v, b: np.power(v, 1.0 / b), lambda v, a: np.log(v) / np.log(a)),
        domain=_pow_domain, follows_from=_given("exp log"), cost=2,
        latex="{0}^{{{1}}}", precedence=POWER, python=Form("{0}**{1}", POWER, (CALL, POWER)),
        python_function="_power({0}, {1})", c="pow({0}, {1})", excel=Form("{0}^{1}", POWER, (CALL, CALL)),
        onnx=lambda op, a, b: op.Pow(a, b),
    ),
    Operator(
        "pi", 0, lambda: np.pi, lambda torch: torch.pi, lambda sp: sp.pi, (), follows_from=_ALWAYS,
        latex=r"\pi", python="math.pi", c=repr(math.pi),  # M_PI is not in C's standard
        excel="PI()", onnx=lambda op: op.number(math.pi),
    ),
)  # fmt: skip

OPERATORS: Mapping[str, Operator] = MappingProxyType({row.name: row for row in _ROWS})
"""Every operator that ships with the package, by name."""

PAPER = ("+", "-", "*", "/", "sin", "cos", "exp", "log", "square", "id")
"""The operators of the paper's network."""

DEFAULT = (*PAPER, "sqrt")
"""The operators of a search, unless others are asked for. The rest of the table is there to be switched on."""

ELSEWHERE = {
    "add": "+", "plus": "+", "sub": "-", "minus": "-", "mul": "*", "mult": "*", "div": "/", "^": "pow", "**": "pow",
    "ln": "log", "sq": "square", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
}  # fmt: skip
"""What other programs call operators of the table: for the hint in an error, they are not understood."""

UNNESTED = tuple(row.name for row in _ROWS if not row.nests)
"""The operators that a search does not put inside one another."""


def shipped(name: str) -> Operator:
    return OPERATORS[name]


def select_operators(operators: Iterable[str | Operator] = PAPER) -> Mapping[str, Operator]:
    """A table of the operators asked for: names of those that ship, or your own from `make_operator`.

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
            meant = ELSEWHERE.get(str(entry)) or (close[0] if close else None)
            hint = f"; did you mean {meant!r}?" if meant else "."
            raise OperatorError(
                f"unknown operator {entry!r}{hint} Known: {', '.join(OPERATORS)}. "
                "Add your own with make_operator(name, function)."
            )
        if table.setdefault(row.name, row) is not row:
            raise OperatorError(f"two different operators are called {row.name!r}; rename one of them")
    return MappingProxyType(table)
