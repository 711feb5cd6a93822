"""The units of a formula's fitted constants, as texts in the units of the table.

>>> from prunesymnet.expression import parse
>>> units = TableUnits.of({"x": "m", "t": "s", "F": "N"}, ("x", "t"), "F")
>>> units_of_constants(parse("5.0*x*exp(-0.3*t) + 1.5"), units)
('N/m', '1/s', 'N')

Each node of the formula has an unknown dimension, and each operator says something linear of those of its operands: in
a sum they are equal, in a product they add up. One linear solve finds all. The logarithm of the factor to SI units is
one more dimension: a constant between km and m has the unit km/m.

Where nothing tells the unit of the target, it counts as a number: what its unit is, the constants have besides. A
constant whose unit is still open, as both are in a product of two, is told none.

>>> units_of_constants(parse("5.0*x + 1.5"), TableUnits.of({"x": "mg/L"}, ("x",), "signal"))
('L/mg', '')
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from prunesymnet.expression import Apply, Constant, Expression, Variable, postorder
from prunesymnet.units.table import TableUnits

Array = NDArray[np.float64]

CONSISTENT = 1e-6  # of what is left of the equations of a formula that is sound; exponents are fitted to some digits
LARGEST_DENOMINATOR = 12  # of an exponent that is a fraction
MOST_FACTORS = 4  # of a unit: as many as the gas constant has, Pa*m^3/(mol*K)
DIGITS = 3  # of a power that is no fraction: that of a constant before a fitted power
# Of a text, which is read from the left: m/s*K has the K above.
QUOTIENT = re.compile(r"([^/()]+)/\s*(?:([^/()*·\s]+)|\(([^/()]+)\))")
SI = {
    "length": "m",
    "mass": "kg",
    "time": "s",
    "current": "A",
    "temperature": "K",
    "substance": "mol",
    "luminosity": "cd",
}


def units_of_constants(expression: Expression, units: TableUnits, *, parameters: Sequence[str] = ()) -> tuple[str, ...]:
    """The unit of each free constant, from left to right ("": a pure number); "" for all where the formula is not
    sound. Of a formula whose constants have names, the `parameters`, in the order of these."""
    count = len(parameters) or len(expression.constants)
    if not count:
        return ()
    solved = _solved(expression, units, parameters)
    if solved is None:  # log(x) + c is log(x/x0)
        solved = _solved(expression, units, parameters, of_logarithms=False)
    return ("",) * count if solved is None else tuple(_written(vector, units) for vector in solved)


def _vectors(units: TableUnits) -> dict[str, Array]:
    """Dimension and logarithm of the factor of each column, and of the target."""
    return {
        name: np.array([*(float(p) for p in units.powers(name)), math.log(units.units[name].factor)])
        for name in units.units
    }


def _solved(
    expression: Expression, units: TableUnits, parameters: Sequence[str] = (), *, of_logarithms: bool = True
) -> Array | None:
    """The vectors of the free constants; without `of_logarithms`, what stands in a logarithm may have any."""
    known, nodes = _vectors(units), postorder(expression)
    width = len(units.bases) + 1
    rows: list[tuple[dict[int, float], Array]] = []
    free: list[int] = []
    named: dict[str, int] = {}
    stack: list[int] = []
    zero = np.zeros(width)
    for place, node in enumerate(nodes):
        if isinstance(node, Variable) and node.name in parameters:
            if (first := named.setdefault(node.name, place)) != place:
                rows.append(({place: 1.0, first: -1.0}, zero))
        elif isinstance(node, Variable):
            rows.append(({place: 1.0}, known[node.name]))
        elif isinstance(node, Constant):
            if node.is_free:
                free.append(place)
            else:
                rows.append(({place: 1.0}, zero))
        else:
            assert isinstance(node, Apply)  # noqa: S101 - a node is a leaf or this
            inside = [stack.pop() for _ in node.operands][::-1]
            if node.operator.name == "log" and not of_logarithms:
                inside = []
            rows += [(equation, zero) for equation in _equations(node, place, inside)]
        stack.append(place)
    last = len(nodes) - 1
    if units.target_known:
        rows.append(({last: 1.0}, known[units.target]))
    elif not _determined(_matrix(rows, len(nodes)))[last]:
        rows.append(({last: 1.0}, zero))
    matrix, goal = _matrix(rows, len(nodes)), np.array([right for _, right in rows])
    solved, *_ = np.linalg.lstsq(matrix, goal, rcond=None)
    if not (np.abs(matrix @ solved - goal) < CONSISTENT).all():
        return None
    solved[~_determined(matrix)] = 0.0
    return np.asarray(solved[[named[name] for name in parameters] if parameters else free])


def _matrix(rows: Sequence[tuple[dict[int, float], Array]], nodes: int) -> Array:
    """The left-hand sides of the equations [equations, nodes]."""
    matrix = np.zeros((len(rows), nodes))
    for row, (left, _) in enumerate(rows):
        for place, value in left.items():
            matrix[row, place] += value
    return matrix


def _determined(matrix: Array) -> NDArray[np.bool_]:
    """For each unknown of a linear system, whether all solutions have the same value there."""
    return np.asarray(np.diagonal(np.linalg.pinv(matrix) @ matrix) > 1 - CONSISTENT)


def _equations(node: Apply, place: int, inside: Sequence[int]) -> Iterator[dict[int, float]]:
    """What an operator says of the dimensions of its value and its operands: sums that are 0."""
    if node.operator.name == "pow":
        exponent = node.operands[1]
        yield {inside[1]: 1.0}
        if exponent.variables:
            yield {place: 1.0}
            yield {inside[0]: 1.0}
        else:
            yield {place: 1.0, inside[0]: -_value(exponent)}
    elif node.operator.units == "alike":
        for operand in inside:
            yield {place: 1.0, operand: -1.0}
    elif node.operator.units is None:
        for one in (place, *inside):
            yield {one: 1.0}
    else:
        found = {place: 1.0}
        for operand, power in zip(inside, node.operator.units, strict=True):
            found[operand] = found.get(operand, 0.0) - power
        yield found


def _value(expression: Expression) -> float:
    values: list[float] = []
    for node in postorder(expression):
        if isinstance(node, Constant):
            values.append(float(node.value))
        else:
            operands = [values.pop() for _ in node.operands][::-1]
            values.append(float(node.operator.numpy(*operands)))  # type: ignore[attr-defined]  # no variables are here
    return values[0]


# Texts


def _written(vector: Array, units: TableUnits) -> str:
    """The shortest text of a unit: one of the table's, a product or quotient of two; else of powers of these, or by the
    bases: V/(mg/L)^2, Pa*m^3/(mol*K)."""
    if (np.abs(vector) < CONSISTENT).all():
        return ""
    vectors = _vectors(units)
    names = [name for name in (units.target, *units.names) if name in vectors and units.text(name)]
    known = {units.text(name): vectors[name] for name in names}
    choices = [*known.items(), *((_inverse(text), -one) for text, one in known.items())]
    for (text, one), (other, two) in product(known.items(), repeat=2):
        if text != other:
            choices.append((f"{text}/{_grouped(other)}", one - two))
            choices.append((f"{_grouped(text)}*{_grouped(other)}", one + two))
    fitting = [text for text, one in choices if (np.abs(one - vector) < CONSISTENT).all()]
    if not fitting:
        by_bases, factor = _by_bases(vector, units)
        alone = [by_bases] if abs(factor) < CONSISTENT else []
        fitting = [*_with_powers(vector, known), *alone] or [f"{math.exp(factor):.6g} {by_bases}"]
    return min(fitting, key=len)


def _with_powers(vector: Array, known: Mapping[str, Array]) -> list[str]:
    """The ways to write a unit as a product of powers of as few known ones as possible; with powers that are fractions,
    if there are some. Radians and degrees, which are of no dimension, have no other powers."""
    for count in range(1, MOST_FACTORS + 1):
        fractions: list[str] = []
        others: list[str] = []
        for texts in combinations(known, count):
            matrix = np.array([known[text] for text in texts]).T
            powers, _, rank, _ = np.linalg.lstsq(matrix, vector, rcond=None)
            used = (np.abs(powers) > CONSISTENT).all()
            if rank < count or not used or (np.abs(matrix @ powers - vector) > CONSISTENT).any():
                continue
            text = _product(dict(zip(texts, map(float, powers), strict=True)))
            if all(abs(power - _fraction(power)) < CONSISTENT for power in powers):
                fractions.append(text)
            elif all(known[one][:-1].any() for one in texts):
                others.append(text)
        if found := fractions or others:
            return found
    return []


def _product(powers: Mapping[str, float]) -> str:
    """What is raised to positive powers by what is raised to negative ones, the smallest powers first."""
    powers = dict(sorted(powers.items(), key=lambda entry: round(abs(entry[1]), DIGITS)))
    above = [_raised(text, power) for text, power in powers.items() if power > 0]
    below = [_raised(text, -power) for text, power in powers.items() if power < 0]
    text = "*".join(above) or "1"
    if len(above) == 1 and text.startswith("("):  # km/s/Mpc
        alone = next(one for one, power in powers.items() if power > 0)
        text = alone if _grouped(alone) == text else text
    return text if not below else f"{text}/{below[0] if len(below) == 1 else '(' + '*'.join(below) + ')'}"


def _grouped(text: str) -> str:
    return f"({text})" if any(sign in text for sign in "*·/ ") else text


def _inverse(text: str) -> str:
    """One by a unit: L/mg for mg/L."""
    quotient = QUOTIENT.fullmatch(text)
    if quotient is None:
        return f"1/{_grouped(text)}"
    above, below = quotient[1].strip(), (quotient[2] or quotient[3]).strip()
    return below if above == "1" else f"{below}/{_grouped(above)}"


def _by_bases(vector: Array, units: TableUnits) -> tuple[str, float]:
    """By a column's unit where it is that of a base alone, km for lengths, else by that of SI; and the logarithm of
    the factor that is left."""
    powers: dict[str, float] = {}
    factor = float(vector[-1])
    for base, power in zip(units.bases, vector[:-1], strict=True):
        symbol, size = SI.get(base, base), 0.0
        for unit in units.units.values():
            if dict(unit.powers) == {base: 1}:
                symbol, size = unit.text, math.log(unit.factor)
                break
        factor -= power * size
        if abs(power) > CONSISTENT:
            powers[symbol] = float(power)
    return _product(powers), factor


def _raised(symbol: str, power: float) -> str:
    near = _fraction(power)
    base = symbol if symbol.isalpha() else f"({symbol})"  # (m^2)^2
    if abs(power - near) > CONSISTENT:
        return f"{base}^{power:.{DIGITS}g}"
    if near == 1:
        return _grouped(symbol)
    return f"{base}^{near}" if near.denominator == 1 else f"{base}^({near})"


def _fraction(power: float) -> Fraction:
    return Fraction(power).limit_denominator(LARGEST_DENOMINATOR)
