"""Formulas that are sums of plain columns, each with a coefficient, as lists of these.

>>> from prunesymnet.expression.parsing import parse
>>> linear_coefficients_of(parse("x/3"), [{"x": 1}, {"": 3}])
{'x': Fraction(1, 3)}
>>> linear_coefficients_of(parse("x*y"), [{"x": 1}, {"y": 1}]) is None
True
"""

from fractions import Fraction

from prunesymnet.expression.tree import Constant, Expression, Variable

Number = int | Fraction
LinearCoefficients = dict[str, Number | None]  # by column, "" for the constant term; None: a free constant

NUMBER = {""}  # the keys of a number


def linear_coefficients_of(node: Expression, parts: list[LinearCoefficients | None]) -> LinearCoefficients | None:
    """A node as coefficients of columns, from those of its operands; None if it is no such sum."""
    if isinstance(node, Constant):
        return {"": node.value if isinstance(node.value, int) else None}
    if isinstance(node, Variable):
        return {node.name: 1}
    known = [part for part in parts if part is not None]
    operator: str = node.operator.name  # type: ignore[attr-defined]
    if len(known) < len(parts):
        return None
    if operator == "neg":
        return _scaled(known[0], -1)
    if operator in ("+", "-"):
        one, two = known[0], known[1] if operator == "+" else _scaled(known[1], -1)
        return None if two is None or one.keys() & two.keys() else one | two
    if operator == "*" and known[0].keys() == NUMBER:
        return _scaled(known[1], known[0][""])
    if operator in ("*", "/") and known[1].keys() == NUMBER:
        number = known[1][""]
        if operator == "/" and number is not None:
            number = Fraction(1) / number if number else None
        return _scaled(known[0], number)
    return None


def _scaled(coefficients: LinearCoefficients, factor: Number | None) -> LinearCoefficients | None:
    if factor is None:  # one constant would be written several times, or two would become one
        return dict.fromkeys(coefficients) if len(coefficients) == 1 and None not in coefficients.values() else None
    return {name: None if c is None else factor * c for name, c in coefficients.items()}
