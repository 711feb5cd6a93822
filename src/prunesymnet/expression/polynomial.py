"""Formulas that are polynomials in one variable, as lists of coefficients.

>>> from prunesymnet.expression.parsing import parse
>>> print(polynomial(parse("(x + 1)*(x**3 + x)")))
Polynomial(variable='x', coefficients={4: 1, 2: 1, 3: 1, 1: 1})
>>> polynomial(parse("sin(x)")) is None
True
"""

from dataclasses import dataclass
from fractions import Fraction

from prunesymnet.expression.tree import Constant, Expression, Variable, postorder

Number = int | Fraction  # whole numbers as such: most are, and fractions are slow
Coefficients = dict[int, Number | None]  # by degree, those that are not 0; None: a free constant

HIGHEST_DEGREE = 30  # beyond it a list of coefficients is no way to write a formula
POWERS = {"square": 2, "cube": 3}


@dataclass(frozen=True)
class Polynomial:
    """Of a number the variable is empty."""

    variable: str
    coefficients: Coefficients


def polynomial(expression: Expression) -> Polynomial | None:
    """The formula as a polynomial in one variable; None if it is none."""
    found: dict[int, Polynomial | None] = {}
    for node in postorder(expression):
        found[id(node)] = polynomial_of(node, [found[id(part)] for part in node.operands])
    return found[id(expression)]


def polynomial_of(node: Expression, parts: list[Polynomial | None]) -> Polynomial | None:
    """That of a node, from those of its operands."""
    if isinstance(node, Constant):
        return Polynomial("", {0: node.value if isinstance(node.value, int) else None} if node.value else {})
    if isinstance(node, Variable):
        return Polynomial(node.name, {1: 1})
    known = [part for part in parts if part is not None]
    if len(known) < len(node.operands):
        return None
    names = {part.variable for part in known if part.variable}
    if len(names) > 1:
        return None
    values = _combined(node.operator.name, [part.coefficients for part in known])  # type: ignore[attr-defined]
    if values is None or max(values, default=0) > HIGHEST_DEGREE:
        return None
    return Polynomial(next(iter(names), ""), values)


def _combined(operator: str, parts: list[Coefficients]) -> Coefficients | None:
    if operator == "neg":
        return _scaled(parts[0], -1)
    if operator in ("+", "-"):
        return _sum(parts[0], parts[1] if operator == "+" else _scaled(parts[1], -1))
    if operator == "*":
        return _product(*parts)
    if operator == "/":
        below = parts[1].get(0)
        if len(parts[1]) != 1 or 0 not in parts[1]:
            return None
        return _product(parts[0], {0: None if below is None else Fraction(1) / below})
    exponent = POWERS.get(operator)
    if operator == "pow" and len(parts[1]) == 1 and (last := parts[1].get(0)) is not None:
        exponent = int(last) if last.denominator == 1 and 0 < last <= HIGHEST_DEGREE else None
    if exponent is None or exponent * max(parts[0], default=0) > HIGHEST_DEGREE:
        return None
    if len(parts[0]) == 1:
        ((degree, c),) = parts[0].items()
        return None if c is None else {exponent * degree: c**exponent}  # a constant would be written several times
    total: Coefficients | None = {0: 1}
    for _ in range(exponent):
        total = None if total is None else _product(total, parts[0])
    return total


def _scaled(one: Coefficients, factor: int) -> Coefficients:
    return {degree: None if c is None else factor * c for degree, c in one.items()}


def _sum(one: Coefficients, two: Coefficients) -> Coefficients | None:
    total = dict(one)
    for degree, c in two.items():
        if degree in total:
            other = total.pop(degree)
            if c is None or other is None:
                return None  # two constants, of which one would be lost
            c = other + c
            if not c:
                continue
        total[degree] = c
    return total


def _product(one: Coefficients, two: Coefficients) -> Coefficients | None:
    if None in (*one.values(), *two.values()):
        single, other = sorted((one, two), key=len)
        (first,) = single.values() if len(single) == 1 else (None,)
        exact = sum(c is not None for c in other.values())
        if len(single) != 1 or (first is None and exact != 1):
            return None  # one constant would be written several times, or two would become one
        return {a + b: _times(c, d) for a, c in one.items() for b, d in two.items()}
    total: Coefficients | None = {}
    for a, c in one.items():
        term = {a + b: _times(c, d) for b, d in two.items()}
        total = None if total is None else _sum(total, term)
    return total


def _times(one: Number | None, two: Number | None) -> Number | None:
    return None if one is None or two is None else one * two
