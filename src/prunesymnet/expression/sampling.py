"""Points of a formula: a table of its values, from which it can be searched for again.

>>> from prunesymnet.expression.parsing import parse
>>> data = sample(parse("log(x) + y"), rows=50, low=-1.0, high=1.0)
>>> data.rows, data.names, bool((data.columns["x"] > 0).all())
(50, ('x', 'y'), True)

A variable that has many sizes is drawn evenly on a logarithmic scale.

>>> masses = sample(parse("6.7e-11*m1*m2/r**2"), low=1.0, high=1e9, logarithmic=("m1", "m2")).columns["m1"]
>>> bool(np.median(masses) < 1e6)
True
"""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from prunesymnet.data import Dataset, make_dataset
from prunesymnet.expression.program import evaluate
from prunesymnet.expression.tree import Expression

LEAST_FINITE = 0.01  # of the points drawn: with fewer, the box is not one of this formula
ENOUGH = 2000  # draws before that is judged
TARGET = "target"  # a formula's own variables are often called y
Bounds = float | NDArray[np.float64]  # one for all variables, or one for each


def sample(
    formula: Expression,
    rows: int = 128,
    seed: int = 0,
    low: Bounds = -5.0,
    high: Bounds = 5.0,
    logarithmic: Collection[str] = (),
) -> Dataset:
    """A table of a formula's values; points where it is not finite are drawn again.

    `low` and `high` are one number for all variables or one for each, in the order of `formula.variables`. Those that
    are `logarithmic` are drawn evenly on a logarithmic scale, and must be positive.
    """
    rng = np.random.default_rng(seed)
    names = formula.variables
    of_sizes = np.array([name in logarithmic for name in names])
    if not names:
        raise ValueError(f"a formula must have a variable to draw points for, got {formula}")
    ends = np.broadcast_to(np.array([low, high], dtype=float).reshape(2, -1), (2, len(names)))
    if (ends[:, of_sizes] <= 0).any():
        raise ValueError(f"a range on a logarithmic scale must be positive, got from {low} to {high}")
    start, end = np.where(of_sizes, np.log(np.where(of_sizes, ends, 1.0)), ends)
    kept = np.empty((0, len(names)))
    drawn = 0
    while len(kept) < rows:
        points = rng.uniform(start, end, (4 * rows, len(names)))
        points[:, of_sizes] = np.exp(points[:, of_sizes])
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
