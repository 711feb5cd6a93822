"""Rates: `a*(1 - exp(-x/(0.6*b)))` has a constant inside that the bank does not have, and noise hides what unwrapping
would undo. So exp(w*u) of simple nodes u joins the bank for a few rates w of either sign, so dense that the fit finds
the rest of the way from one of them.

>>> from prunesymnet.expression import Variable
>>> x = np.linspace(0, 4, 9)
>>> values, trees = rates([(x, Variable("x"))])
>>> [str(tree) for tree in trees][:3], values.shape
(['exp(-4.0*x)', 'exp(-2.0*x)', 'exp(-1.0*x)'], (10, 9))
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from prunesymnet.expression import Constant, Expression, apply

Array = NDArray[np.float64]

RATES = np.array([-4.0, -2.0, -1.0, -0.5, -0.25, 0.25, 0.5, 1.0, 2.0, 4.0])  # by the typical deviation of u
FARTHEST = 30.0  # exponents beyond: only a few rows would count


def rates(nodes: Iterable[tuple[Array, Expression]]) -> tuple[Array, list[Expression]]:
    """exp(w*u) for these u: values [nodes, points] and formulas."""
    values: list[Array] = []
    trees: list[Expression] = []
    for u, tree in nodes:
        deviation = float(np.median(np.abs(u - np.median(u))))
        if not deviation > 0:
            continue
        for rate in RATES / deviation:
            if np.abs(rate * u).max() <= FARTHEST:
                values.append(np.exp(rate * u))
                trees.append(apply("exp", Constant(float(rate)) * tree))
    return np.array(values), trees
