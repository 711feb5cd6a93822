"""From tree to text, which `parse` reads back to the same tree. (`export` has every other way to write a formula.)

>>> from prunesymnet.expression.parsing import parse
>>> to_text(parse("x**2*sin(y)/(2*pi) - 0.123456789"), digits=3)
'x**2*sin(y)/(2*pi) - 0.123'

A printer is a fold whose values are (text, precedence); an operand that binds too loosely for its place
gets parentheses.
"""

import re

from prunesymnet.expression.tree import Constant, Expression, Variable, fold
from prunesymnet.operators import Operator
from prunesymnet.operators.operator import CALL, NEGATION

Piece = tuple[str, int]
_INFIX = {"+": " + ", "-": " - ", "*": "*", "/": "/"}
_EXPONENT = {"square": "2", "cube": "3"}
_NUMBER = re.compile(r"[\d.]+(?:e[+-]?\d+)?")


def to_text(expression: Expression, *, digits: int | None = None) -> str:
    """The formula as text; `digits` rounds its floats for reading (left out: every digit, so that
    ``parse(to_text(e)) == e``)."""

    def leaf(node: Expression) -> Piece:
        if isinstance(node, Constant):
            text = number_text(node, digits)
            return text, NEGATION if text.startswith("-") else CALL
        assert isinstance(node, Variable)  # noqa: S101 - the only other leaf
        return node.name, CALL

    def combine(operator: Operator, parts: tuple[Piece, ...]) -> Piece:
        name, binds = operator.name, operator.precedence
        if name in _INFIX:
            left = _enclose(parts[0], binds, first=True)
            return left + _INFIX[name] + _enclose(parts[1], binds, first=False), binds
        if name == "neg":
            # -(2) and not -2: the latter is the constant minus two.
            bare = _NUMBER.fullmatch(parts[0][0])
            inner = f"({parts[0][0]})" if bare else _enclose(parts[0], binds, first=False, equal=True)
            return f"-{inner}", binds
        if name in _EXPONENT:
            return f"{_enclose(parts[0], binds, first=True, equal=False)}**{_EXPONENT[name]}", binds
        if name == "pow" and (digits is not None or parts[1][0] not in _EXPONENT.values()):
            # A square and a cube have rows of their own; pow(x, 2) is another tree, and says so in full.
            base = _enclose(parts[0], binds, first=True, equal=False)
            return f"{base}**{_enclose(parts[1], binds, first=False, equal=True)}", binds
        if not parts:
            return name, CALL
        return f"{name}({', '.join(text for text, _ in parts)})", CALL

    return fold(expression, leaf, combine)[0]


def number_text(node: Constant, digits: int | None = None) -> str:
    """A number in full, or a float rounded for reading.

    >>> number_text(Constant(0.1 + 0.2)), number_text(Constant(0.1 + 0.2), 3), number_text(Constant(3), 1)
    ('0.30000000000000004', '0.3', '3')
    """
    if not isinstance(node.value, float):
        return str(node.value)
    if digits is None:
        return repr(node.value)
    if not isinstance(digits, int) or digits < 1:
        raise ValueError(f"digits must be a whole number >= 1, or None for all of them, got {digits!r}")
    return f"{node.value:.{digits}g}"


def _enclose(part: Piece, binds: int, *, first: bool, equal: bool | None = None) -> str:
    """An operand, in parentheses where it binds too loosely; `equal`: the same precedence needs none
    (by default the first operand's: a - b - c is (a - b) - c)."""
    text, own = part
    enough = own >= binds if (first if equal is None else equal) else own > binds
    if enough and (first or not text.startswith("-")):
        return text
    return f"({text})"
