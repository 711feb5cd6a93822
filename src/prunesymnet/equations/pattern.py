"""Whether what a formula leaves follows a column: errors of measurements don't know of their neighbours.

The rows are sorted by a column. If residuals of neighbouring rows go together, the formula lacks something that changes
with it, however good its fit is. Only the order of the residuals' sizes counts, so that no distribution is assumed and
no outlier decides.

>>> t = np.linspace(0, 10, 60)
>>> noise = np.random.default_rng(0).normal(size=60)
>>> followed(noise, {"t": t}), followed(noise + 2 * np.sin(t), {"t": t})
('', 't')
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

Array = NDArray[np.float64]

FEWEST_ROWS = 12  # in fewer, a pattern is told from chance by nobody
BY_CHANCE = 1e-3  # how often one is seen where there is none
TO_BE_SEEN = 0.15  # correlation of neighbours: of thousands of rows, less is certain, and matters to nobody


def followed(residual: Array, columns: Mapping[str, Array]) -> str:
    """The column that residuals follow most clearly; "" if they follow none more than chance explains."""
    rows = len(residual)
    if rows < FEWEST_ROWS or not columns or not np.isfinite(residual).all():
        return ""
    together = {name: _of_neighbours(residual, column) for name, column in columns.items()}
    best = max(together, key=lambda name: together[name])
    by_chance = norm.isf(BY_CHANCE / len(columns)) / np.sqrt(rows)
    return best if together[best] > max(by_chance, TO_BE_SEEN) else ""


def _of_neighbours(residual: Array, column: Array) -> float:
    """The rank correlation of each row's residual with that of the next row in the order of a column. Rows of one value
    are in no order: it would be that of another column."""
    shuffled = np.random.default_rng(0).permutation(len(column))
    order = shuffled[np.argsort(column[shuffled], kind="stable")]
    ranks = rankdata(residual)[order] - (len(order) + 1) / 2
    size = float(ranks @ ranks)
    return float(ranks[1:] @ ranks[:-1]) / size if size else 0.0
