"""Constants that were rounded, free again: a rounded constant is not known any better than before.

>>> import numpy as np
>>> from prunesymnet.coefficients.snapping import snap
>>> from prunesymnet.data import make_dataset
>>> from prunesymnet.expression import parse
>>> x = np.linspace(0, 5, 40)
>>> table = make_dataset(x, 3 * np.exp(-x / 2) + 0.01 * np.sin(17 * x**2), names=["x"])
>>> law = snap(parse("1.0*exp(-1.0*x)"), table)
>>> print(law.expression, "|", free_fit(law, table).expression.with_constants([3.0, 2.0]))
3*exp(-x/2) | 3.0*exp(-x/2.0)

Which of a formula's numbers were fitted is seen from the formula before it was rounded: a number that moves the values
in a direction in which the constants of that formula could move them as well. The 2 of `x**2` is none of them where
the search had `x**2`, and is one where it had `x**1.98`.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.fit import Fit, fit
from prunesymnet.coefficients.least_squares import RANK_TOLERANCE, levenberg_marquardt
from prunesymnet.coefficients.snapping import INVISIBLE
from prunesymnet.data import Dataset
from prunesymnet.expression import Apply, Constant, Expression, apply, compile_expression, postorder
from prunesymnet.expression.canonical.terms import constant_value
from prunesymnet.expression.tree import is_free

Array = NDArray[np.float64]
EXPONENTS = {"square": 2, "cube": 3, "sqrt": 0.5}  # operators that are a power, written in another way
ROWS = 1_000  # are enough to tell directions apart, of which there are as many as constants
SAME_DIRECTION = 1e-5  # sine of an angle: what is left of the digits after a fit and a division by small numbers
SAME_VALUES = 1e-6  # relative: the rounded formula is one of those that it was rounded from


def free_fit(found: Fit, data: Dataset) -> Fit | None:
    """The formula with those of its numbers fitted again that had been rounded; None where there are none, and where
    the formula has no error: of exact data, roundings are no guesses."""
    before = found.before_rounding
    if before is None or not found.mse > INVISIBLE**2 * data.mean(data.y**2):
        return None
    places = _fitted_places(found.expression, before, data)
    if not places:
        return None
    start = freed_at(found.expression, places)
    fitted = fit(start, data)
    return fitted if fitted.mse <= found.mse else replace(found, expression=start)


def _fitted_places(rounded: Expression, before: Expression, data: Dataset) -> list[int]:
    """The places (in postfix order) of the exact numbers that had been fitted. Of several that would make up for each
    other, as in 3*x/2, the first."""
    every = exact_numbers(rounded, exponents=any(map(_has_free_exponent, postorder(before))))
    if not every or not before.constants:
        return []
    rows = np.unique(np.linspace(0, data.rows - 1, min(data.rows, ROWS)).astype(int))
    columns = {name: column[rows] for name, column in data.columns.items()}
    root = np.ones(len(rows)) if data.weights is None else np.sqrt(data.weights[rows])
    whole = compile_expression(freed_at(rounded, every))
    values, jacobian = whole.values_and_jacobian(columns)
    directions = _reachable(before, columns, values, root)
    if directions is None:
        return []
    free = [place in every for place in _free_places(rounded, every)]
    taken = _basis(jacobian[[not new for new in free]] * root)
    found = []
    for place, direction in zip(every, jacobian[free] * root, strict=True):
        length = np.linalg.norm(direction)
        if not np.isfinite(length) or length == 0:
            continue
        direction = direction / length
        if _apart(direction, directions) < SAME_DIRECTION < _apart(direction, taken):
            found.append(place)
            taken = np.vstack([taken, _rest(direction, taken) / _apart(direction, taken)])
    return found


def _reachable(before: Expression, columns: dict[str, Array], values: Array, root: Array) -> Array | None:
    """The directions in which a formula's constants move it where it has these values; None if it can't have them."""
    program = compile_expression(before)
    target = np.where(np.isfinite(values), values, 0.0)
    start = program.constants[None]
    there = levenberg_marquardt(program, columns, target, start, root_weights=root).constants
    reached, jacobian = program.values_and_jacobian(columns, there)
    off = np.linalg.norm((reached - target) * root)
    if not off <= SAME_VALUES * np.linalg.norm(target * root):
        return None
    return _basis(jacobian * root)


def _basis(rows: Array) -> Array:
    """Orthonormal rows that span these, those that are not finite aside."""
    rows = rows[np.isfinite(rows).all(axis=1)]
    lengths = np.linalg.norm(rows, axis=1)
    rows = rows[lengths > 0] / lengths[lengths > 0, None]
    _, singular, right = np.linalg.svd(rows, full_matrices=False)
    basis: Array = right[singular > RANK_TOLERANCE * singular.max(initial=0.0)]
    return basis


def _rest(direction: Array, basis: Array) -> Array:
    """What is left of a direction without its part in a space; twice, for the digits' sake."""
    for _ in range(2):
        direction = direction - (basis @ direction) @ basis
    return direction


def _apart(direction: Array, basis: Array) -> float:
    return float(np.linalg.norm(_rest(direction, basis)))


def _has_free_exponent(node: Expression) -> bool:
    return isinstance(node, Apply) and node.operator.name == "pow" and is_free(node.operands[1])


# ---- places -------------------------------------------------------------------------------------


def exact_numbers(expression: Expression, *, exponents: bool) -> list[int]:
    """The places (in postfix order) of the exact numbers: each as a whole, 2*pi and not 2. With `exponents` those of
    squares, cubes and roots, too.

    >>> from prunesymnet.expression import parse
    >>> exact_numbers(parse("3*x + 0.5*sqrt(2)"), exponents=False)
    [0, 5]
    """
    found: dict[int, None] = {}
    stack: list[tuple[bool, int]] = []  # whether a subtree is an exact number, and its place
    for place, node in enumerate(postorder(expression)):
        split = len(stack) - len(node.operands)
        operands = stack[split:]
        del stack[split:]
        if isinstance(node, Apply):
            exact = all(part[0] for part in operands)
            if not exact:
                found |= dict.fromkeys(part[1] for part in operands if part[0])
                if exponents and node.operator.name in EXPONENTS:
                    found[place] = None
        else:
            exact = isinstance(node, Constant) and not node.is_free
        stack.append((exact, place))
    if stack[0][0]:
        found[stack[0][1]] = None
    return sorted(found)


def freed_at(expression: Expression, places: list[int]) -> Expression:
    """With free constants in place of the exact numbers at these places.

    >>> from prunesymnet.expression import parse
    >>> formula = parse("3*x**2 + y/2")
    >>> freed_at(formula, exact_numbers(formula, exponents=True))
    Expression('3.0*x**2.0 + y/2.0')
    """
    stack: list[Expression] = []
    for place, node in enumerate(postorder(expression)):
        split = len(stack) - len(node.operands)
        operands = tuple(stack[split:])
        del stack[split:]
        if place not in places:
            stack.append(Apply(node.operator, operands) if isinstance(node, Apply) else node)
        elif node.variables:
            stack.append(apply("pow", operands[0], Constant(float(EXPONENTS[_name(node)]))))
        else:
            stack.append(Constant(constant_value(node)))
    return stack[0]


def _free_places(expression: Expression, places: list[int]) -> list[int]:
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
        if is_free(one) and not other.variables:
            found.append(other)
        elif _has_free_exponent(one) and _name(other) in EXPONENTS:
            found.append(_exponent(_name(other)))
            stack.append((one.operands[0], other.operands[0]))
        elif one.label == other.label:
            stack.extend(zip(one.operands, other.operands, strict=True))
        else:
            raise ValueError(f"{free} is not {formula} with some of its numbers free")
    return tuple(reversed(found))


def _name(node: Expression) -> str:
    return node.operator.name if isinstance(node, Apply) else ""


def _exponent(name: str) -> Expression:
    value = EXPONENTS[name]
    return Constant(value) if isinstance(value, int) else Constant(1) / Constant(2)
