"""Are two formulas the same but for rounding, however they are written?

Agreement at double precision can't tell: x + exp(2*x - 30) is x wherever anyone looks. So the numbers that a fit may
move (the floats) are fitted once more, in a hundred digits: of the same formula, an error of 1e-30 is left and every
number stays what it was but for rounding. A term that the truth has not either stays, and with it its error, or its
number must go to 0.

>>> from prunesymnet.expression import parse
>>> import numpy as np
>>> points = {"x": np.linspace(1.0, 4.0, 30)}
>>> same_formula(parse("1.5*(x + 1)**2"), parse("1.50000001*x**2 + 3.0*x + 1.5"), points)
True
>>> same_formula(parse("1.5*(x + 1)**2"), parse("1.5*(x + 1)**2 + exp(2*x - 30)"), points)
False
"""

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from prunesymnet.expression import Apply, Constant, Expression, Variable, evaluate, fold, postorder

Array = NDArray[np.float64]

DIGITS = 100  # normal equations lose half of them, and the differences that stand for derivatives a third
STEP = mpmath.mpf(10) ** -35  # of such a difference
NO_ERROR = mpmath.mpf(10) ** -30  # relative: far below what two formulas that only resemble each other leave
STEPS = 8  # of the fit; each squares an error that begins at 1e-6
DAMPING = mpmath.mpf(10) ** -30  # of the mean square of the slopes: holds still what several numbers do as one
ROUNDED = 1e-3  # how far a number may move, relative to itself: a method that writes six decimals writes 0.001235
MORE_POINTS = 20  # than numbers to fit, so that a wrong formula can't pass through all
NEGLIGIBLE = 1e-6  # of what a number is added to: less of it is rounding

# What the sympy forms of the operator table ask of their library.
_LIBRARY = SimpleNamespace(
    **{
        name: getattr(mpmath, name)
        for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "sinh", "cosh", "asin", "acos", "atan", "erf")
    },
    pi=mpmath.pi, Abs=abs, Max=max, Min=min,
)  # fmt: skip


def same_formula(truth: Expression, found: Expression, columns: Mapping[str, Array]) -> bool:
    """Whether they are equal at these points but for the rounding of their floats (1/3 is also written 0.333333)."""
    enough = len(found.constants) + len(truth.constants) + MORE_POINTS
    finite = np.flatnonzero(evaluate(truth, columns).finite & evaluate(found, columns).finite)[:enough]
    points = [{name: mpmath.mpf(float(values[row])) for name, values in columns.items()} for row in finite]
    if len(points) < enough:
        return False
    with mpmath.workdps(DIGITS):
        try:
            return _fits_exactly(truth, found, points)
        except (ZeroDivisionError, OverflowError, TypeError, ValueError):  # a pole, or a root of less than 0 (complex)
            return False


def _fits_exactly(truth: Expression, found: Expression, points: list[dict[str, mpmath.mpf]]) -> bool:
    difference = found - truth
    target = [abs(_value(truth, point, truth.constants)) for point in points]
    middle = sorted(target)[len(target) // 2]
    sizes = [max(value, middle) or mpmath.mpf(1) for value in target]
    start = [mpmath.mpf(number) for number in difference.constants]
    moved = [mpmath.mpf(0)] * len(start)  # of each number, relative to itself

    def errors(moved: list[mpmath.mpf]) -> list[mpmath.mpf]:
        numbers = [number * (1 + move) for number, move in zip(start, moved, strict=True)]
        return [_value(difference, point, numbers) / size for point, size in zip(points, sizes, strict=True)]

    for step in range(STEPS + 1):
        here = errors(moved)
        if max(map(abs, here)) < NO_ERROR:
            return True
        if not start or step == STEPS:
            break
        slopes = mpmath.matrix(len(points), len(start))
        for i in range(len(start)):
            aside = errors([move + STEP * (i == j) for j, move in enumerate(moved)])
            for row, (new, old) in enumerate(zip(aside, here, strict=True)):
                slopes[row, i] = (new - old) / STEP
        normal = slopes.T * slopes
        ridge = DAMPING * (sum(normal[i, i] for i in range(len(start))) / len(start) + DAMPING)
        change = mpmath.lu_solve(normal + ridge * mpmath.eye(len(start)), slopes.T * mpmath.matrix(here))
        moved = [move - change[i] for i, move in enumerate(moved)]
        if max(map(abs, moved)) > ROUNDED:
            break
    return False


def _value(expression: Expression, point: Mapping[str, mpmath.mpf], numbers: Iterable[Any]) -> mpmath.mpf:
    """At one point, with these numbers in place of the floats, in their order."""
    stack: list[mpmath.mpf] = []
    left = iter(numbers)
    for node in postorder(expression):
        if isinstance(node, Constant):
            stack.append(mpmath.mpf(next(left) if node.is_free else node.value))
        elif isinstance(node, Variable):
            stack.append(point[node.name])
        else:
            assert isinstance(node, Apply)
            arity = node.operator.arity
            operands = stack[len(stack) - arity :]
            del stack[len(stack) - arity :]
            stack.append(node.operator.sympy(_LIBRARY, *operands))
    return mpmath.mpf(stack[0])


def without_rounding(expression: Expression, columns: Mapping[str, Array]) -> Expression:
    """Without the floats that are added to something a million times as large, in the median of these points."""

    def combine(operator, operands):  # type: ignore[no-untyped-def]
        if operator.name in ("+", "-"):
            first, second = operands
            if _negligible(second, first, columns):
                return first
            if _negligible(first, second, columns):
                return second if operator.name == "+" else -second
        return Apply(operator, operands)

    return fold(expression, lambda leaf: leaf, combine)


def _negligible(number: Expression, beside: Expression, columns: Mapping[str, Array]) -> bool:
    if not (isinstance(number, Constant) and number.is_free):
        return False
    values, finite = evaluate(beside, columns)
    size = np.median(np.abs(values[finite])) if finite.any() else 0.0
    return abs(number.value) <= NEGLIGIBLE * size
