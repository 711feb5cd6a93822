"""A formula as a sympy expression, for algebra and display.

>>> from prunesymnet.expression import parse
>>> to_sympy(parse("x**2/2 - sin(y)"))
x**2/2 - sin(y)
"""

from typing import Any

import sympy

from prunesymnet.expression import Constant, Expression, Variable, fold


def to_sympy(expression: Expression, *, real: bool = True) -> Any:
    """The sympy expression of the same structure, as far as sympy keeps it; variables are `real`, which lets sympy
    simplify more, or plain symbols, which are those that `sympy.Symbol("x")` makes."""

    def leaf(node: Expression) -> Any:
        if isinstance(node, Variable):
            return sympy.Symbol(node.name, real=True if real else None)
        assert isinstance(node, Constant)  # noqa: S101 - the only other leaf
        return sympy.Float(node.value) if node.is_free else sympy.Integer(node.value)

    return fold(expression, leaf, lambda operator, operands: operator.sympy(sympy, *operands))
