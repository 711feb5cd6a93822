"""The numbers of a formula that a search has found, free again: a constant that was rounded is known no better than
before.

>>> import numpy as np
>>> from prunesymnet.coefficients.snapping import snap
>>> from prunesymnet.data import make_dataset
>>> from prunesymnet.expression import parse
>>> x = np.linspace(0, 5, 40)
>>> table = make_dataset(x, 3 * np.exp(-x / 2) + 0.01 * np.sin(17 * x**2), names=["x"])
>>> law = snap(parse("1.0*exp(-1.0*x)"), table)
>>> print(law.expression, "|", free_fit(law, table).expression.with_constants([3.0, 2.0]))
3*exp(-x/2) | 3.0*exp(-x/2.0)

All numbers that stand in the formula become free, as far as the data can tell them from the others: of the two in 3*x/2
the first does, of those in 5.1/(1 - 4/x) the 4. A search tries a number of its own, the 1 in `1 - exp(-x)`, beside free
ones, and keeps it if it fits as well: that is a rounding, too. Exponents are another matter. The 2 of `x**2` is free
where the search had `x**1.98`, and not where it had `x**2`.
"""

import math
from collections.abc import Collection
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.bases import basis_of
from prunesymnet.coefficients.fit import Fit, FitSettings, fit
from prunesymnet.coefficients.least_squares import RANK_TOLERANCE, levenberg_marquardt
from prunesymnet.coefficients.snapping import INVISIBLE
from prunesymnet.coefficients.uncertainty import covariance, students_t
from prunesymnet.data import Dataset
from prunesymnet.expression import Apply, Constant, Expression, apply, compile_expression, postorder
from prunesymnet.expression.canonical.terms import constant_value
from prunesymnet.expression.tree import is_free

Array = NDArray[np.float64]
EXPONENTS = {"square": 2, "cube": 3, "sqrt": 0.5}  # operators that are a power, written in another way
ROWS = 1_000  # are enough to tell directions apart, of which there are as many as constants
SAME_DIRECTION = 1e-5  # sine of an angle: half of the digits, as many as a fit and small numbers leave


def free_fit(found: Fit, data: Dataset, settings: FitSettings | None = None) -> Fit | None:
    """The formula with its numbers free, fitted; None where it has none or is not the find of a search, and where it
    has no error: of exact data, roundings are no guesses."""
    if found.before_rounding is None or not INVISIBLE**2 * data.mean(data.y**2) < found.mse < math.inf:
        return None
    places = _determined(found.expression, found.before_rounding, data)
    if not places:
        return None
    start = freed_at(found.expression, places)
    fitted = fit(start, data, settings=settings)
    return fitted if fitted.mse <= found.mse else replace(found, expression=start)


def is_excluded(rounded: Fit, free: Fit, data: Dataset, confidence: float) -> bool:
    """Whether a number of a rounded formula lies outside of the interval that the fit with free numbers has for it; a
    row counts once here, so that a formula does not hang on whether weights are counts."""
    numbers = counterparts(free.expression, rounded.expression)
    values = np.array(free.expression.constants)
    freedom = data.rows - len(values)
    if freedom <= 0:
        return False
    variances = np.diagonal(covariance(free.expression, data)) * (data.measurements - len(values)) / freedom
    reach = students_t(freedom, confidence) * np.sqrt(variances)
    written = np.array([constant_value(number) for number in numbers])
    return bool((np.abs(written - values) > reach)[[not is_free(number) for number in numbers]].any())


def _determined(rounded: Expression, before: Expression, data: Dataset) -> list[int]:
    """The places (in postfix order) of the exact numbers that can be free together with the free constants."""
    powers = any(map(_has_free_exponent, postorder(before)))
    every = {place: exponent for place, exponent in exact_numbers(rounded).items() if powers or not exponent}
    if not every:
        return []
    rows = np.unique(np.linspace(0, data.rows - 1, min(data.rows, ROWS)).astype(int))
    columns = {name: column[rows] for name, column in data.columns.items()}
    root = np.ones(len(rows)) if data.weights is None else np.sqrt(data.weights[rows])
    values, jacobian = compile_expression(freed_at(rounded, every)).values_and_jacobian(columns)
    new = [place in every for place in _free_places(rounded, every)]
    taken = _basis(jacobian[[not fresh for fresh in new]] * root)
    fitted_before = _directions(before, columns, values, root) if any(every.values()) else taken
    most = data.measurements - len(rounded.constants) - 1  # one row must be left to see an error by
    nodes = postorder(rounded)
    moved = zip(every.items(), jacobian[new] * root, strict=True)
    found: list[int] = []
    # A 1 comes last: of numbers that make up for each other, in 5/(1 - 4/x), it is the one that scales the others.
    for (place, exponent), direction in sorted(moved, key=lambda item: nodes[item[0][0]] == Constant(1)):
        length = np.linalg.norm(direction)
        if len(found) == most or not np.isfinite(length) or length == 0:
            continue
        direction = direction / length
        apart = np.linalg.norm(rest := _rest(direction, taken))
        if apart < SAME_DIRECTION or (exponent and np.linalg.norm(_rest(direction, fitted_before)) > SAME_DIRECTION):
            continue
        found.append(place)
        taken = np.vstack([taken, rest / apart])
    return sorted(found)


def _directions(before: Expression, columns: dict[str, Array], values: Array, root: Array) -> Array:
    """The directions in which a formula's constants move it where it comes closest to these values: its own, once they
    were rounded."""
    program = compile_expression(before)
    target = np.where(np.isfinite(values), values, 0.0)
    there = levenberg_marquardt(program, columns, target, program.constants[None], root_weights=root).constants
    return _basis(program.values_and_jacobian(columns, there)[1] * root)


def _basis(rows: Array) -> Array:
    """Orthonormal rows that span these, those that are not finite aside."""
    return basis_of(rows[np.isfinite(rows).all(axis=1)], RANK_TOLERANCE)


def _rest(direction: Array, basis: Array) -> Array:
    """What is left of a direction without its part in a space; twice, for the digits' sake."""
    for _ in range(2):
        direction = direction - (basis @ direction) @ basis
    return direction


def _has_free_exponent(node: Expression) -> bool:
    return isinstance(node, Apply) and node.operator.name == "pow" and is_free(node.operands[1])


# ---- places -------------------------------------------------------------------------------------


def exact_numbers(expression: Expression) -> dict[int, bool]:
    """The places (in postfix order) of the exact numbers, and whether each is an exponent: each number as a whole, 2*pi
    and not 2. The exponent of a square, a cube or a root has the place of that operator.

    >>> from prunesymnet.expression import parse
    >>> exact_numbers(parse("3*x**2 + 0.5*sqrt(2)"))
    {0: False, 2: True, 6: False}
    """
    nodes = postorder(expression)
    found: dict[int, bool] = {}
    stack: list[tuple[bool, int]] = []  # whether a subtree is an exact number, and its place
    for place, node in enumerate(nodes):
        split = len(stack) - len(node.operands)
        operands = stack[split:]
        del stack[split:]
        exact = all(part[0] for part in operands) if isinstance(node, Apply) else _is_number(node)
        if not exact:
            found |= {part[1]: _name(node) == "pow" and part is operands[1] for part in operands if part[0]}
            if _name(node) in EXPONENTS:
                found[place] = True
        stack.append((exact, place))
    if stack[0][0]:
        found[stack[0][1]] = False
    finite = [p for p in sorted(found) if not _is_number(nodes[p]) or math.isfinite(constant_value(nodes[p]))]
    return {place: found[place] for place in finite}


def freed_at(expression: Expression, places: Collection[int]) -> Expression:
    """With free constants in place of the exact numbers at these places.

    >>> from prunesymnet.expression import parse
    >>> formula = parse("3*x**2 + y/2")
    >>> freed_at(formula, exact_numbers(formula))
    Expression('3.0*x**2.0 + y/2.0')
    """
    stack: list[Expression] = []
    for place, node in enumerate(postorder(expression)):
        split = len(stack) - len(node.operands)
        operands = tuple(stack[split:])
        del stack[split:]
        if place not in places:
            stack.append(Apply(node.operator, operands) if isinstance(node, Apply) else node)
        elif _is_number(node):
            stack.append(Constant(constant_value(node)))
        else:
            stack.append(apply("pow", operands[0], Constant(float(EXPONENTS[_name(node)]))))
    return stack[0]


def _free_places(expression: Expression, places: Collection[int]) -> list[int]:
    """The place of each free constant of `freed_at(expression, places)`, in their order."""
    return [place for place, node in enumerate(postorder(expression)) if place in places or is_free(node)]


def counterparts(free: Expression, formula: Expression) -> tuple[Expression, ...]:
    """What stands in a formula where `free`, the same with some of its numbers free, has its free constants.

    >>> from prunesymnet.expression import parse
    >>> [str(number) for number in counterparts(parse("2.9*x**1.9 + 0.4*y"), parse("3*x**2 + 0.5*y"))]
    ['3', '2', '0.5']
    """
    found: list[Expression] = []
    stack = [(free, formula)]
    while stack:  # from the right to the left, so that the last of the constants comes first
        one, other = stack.pop()
        if is_free(one) and (is_free(other) or _is_number(other)):
            found.append(other)
        elif _has_free_exponent(one) and _name(other) in EXPONENTS:
            found.append(_exponent(_name(other)))
            stack.append((one.operands[0], other.operands[0]))
        elif one.label == other.label:
            stack.extend(zip(one.operands, other.operands, strict=True))
        else:
            raise ValueError(f"{free} is not {formula} with some of its numbers free")
    return tuple(reversed(found))


def _is_number(node: Expression) -> bool:
    """Whether it is an exact number, or made of such."""
    return not node.variables and not node.constants


def _name(node: Expression) -> str:
    return node.operator.name if isinstance(node, Apply) else ""


def _exponent(name: str) -> Expression:
    value = EXPONENTS[name]
    return Constant(value) if isinstance(value, int) else Constant(1) / Constant(2)
