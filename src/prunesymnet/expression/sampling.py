"""Points of a formula: a table of its values, from which it can be searched for again.

>>> from prunesymnet.expression.parsing import parse
>>> data = sample(parse("log(x) + y"), rows=50, low=-1.0, high=1.0)
>>> data.rows, data.names, bool((data.columns["x"] > 0).all())
(50, ('x', 'y'), True)
"""

import numpy as np
from numpy.typing import NDArray

from prunesymnet.data import Dataset, make_dataset
from prunesymnet.expression.program import evaluate
from prunesymnet.expression.tree import Expression

LEAST_FINITE = 0.01  # of the points drawn: with fewer, the box is not one of this formula
ENOUGH = 2000  # draws before that is judged
TARGET = "target"  # a formula's own variables are often called y
Bounds = float | NDArray[np.float64]  # one for all variables, or one for each


def sample(formula: Expression, rows: int = 128, seed: int = 0, low: Bounds = -5.0, high: Bounds = 5.0) -> Dataset:
    """A table of a formula's values; points where it is not finite are drawn again.

    `low` and `high` are one number for all variables or one for each, in the order of `formula.variables`.
    """
    rng = np.random.default_rng(seed)
    names = formula.variables
    if not names:
        raise ValueError(f"a formula must have a variable to draw points for, got {formula}")
    kept = np.empty((0, len(names)))
    drawn = 0
    while len(kept) < rows:
        points = rng.uniform(low, high, (4 * rows, len(names)))
        finite = evaluate(formula, dict(zip(names, points.T, strict=True))).finite
        kept = np.concatenate([kept, points[finite]])
        drawn += len(points)
        if drawn >= ENOUGH and len(kept) < LEAST_FINITE * drawn:
            raise ValueError(
                f"{formula} is finite at {len(kept)} of {drawn:,} points drawn from {low} to {high}: "
                "choose another range"
            )
    X = kept[:rows]
    y = evaluate(formula, dict(zip(names, X.T, strict=True))).values
    return make_dataset(X, y, names=names, target=TARGET + "_" * (TARGET in names))
