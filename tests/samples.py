"""Points, and what of a random formula can be compared on them."""

import numpy as np

from prunesymnet.expression import Expression, compile_expression, evaluate
from prunesymnet.expression.program import _backward, _pulls

_rng = np.random.default_rng(0)
NAMES = ("x", "y", "z")
COLUMNS = {name: np.concatenate([_rng.uniform(-3, 3, 16), _rng.uniform(0.2, 3, 16)]) for name in NAMES}
POINTS = 32


def comparable(expression: Expression, columns=COLUMNS):
    """The values, how far rounding may move them, and where they are well-conditioned enough to compare.

    The inputs are moved by a billionth: what that changes is the size of error that a different but equal way
    of computing may make, with much room. Where it changes the value by more than a thousandth, or where an
    intermediate value is huge, nothing can be said.
    """
    values, finite = evaluate(expression, columns)
    moved = evaluate(expression, {name: column * (1 + 1e-9) for name, column in columns.items()}).values
    program = compile_expression(expression)
    with np.errstate(all="ignore"):
        sizes = [np.broadcast_to(np.abs(s), values.shape) for s in program.bind(columns).forward(program.constants)]
        largest = np.max(sizes, axis=0)
        slack = 2 * np.abs(moved - values) + 1e-8 * np.abs(values)
        usable = finite & np.isfinite(moved) & (largest < 1e6) & (np.abs(values) > 1e-9)
        usable &= slack < 1e-3 * np.abs(values)
    return values, slack, usable


def differ(got, values, slack, usable) -> bool:
    """Whether values computed in another way are off by more than rounding explains."""
    with np.errstate(invalid="ignore"):
        return bool(np.any(usable & ~(np.abs(got - values) <= slack)))


def values_and_gradient(program, columns):
    """Values, and derivatives with respect to the variables [variables, points], by the program's own way back."""
    with np.errstate(all="ignore"):
        bound = program.bind(columns)
        slots = bound.forward(program.constants)
        adjoints = _backward(slots, program.root, _pulls(program.steps, [1] * len(slots)))
        value = bound.spread(slots[program.root], program.constants)
    gradient = np.zeros((len(program.variables), value.shape[-1]))
    for slot, name in program.variable_slots:
        if adjoints[slot] is not None:
            gradient[program.variables.index(name)] += adjoints[slot]
    return value, gradient
