"""Gradient boosting (scikit-learn): no formula, but what can be predicted where nobody has to read how.

All settings are the defaults but one. How many trees are best depends on the table: it is asked of the rows that are
fitted, by cross-validation, since a tenth of a small table held out once would be a handful of rows.
"""

from collections.abc import Mapping

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.model_selection import KFold

from benchmarks.methods import Array, Prediction
from prunesymnet.data import Dataset

MOST_TREES = 300  # three times the default
FOLDS = 5


def fit(data: Dataset, seconds: float, seed: int) -> Prediction:
    """What predicts the target; it takes a few seconds on a few thousand rows, whatever the limit."""
    model = GradientBoostingRegressor(n_estimators=best_number(data, seed), random_state=seed).fit(data.X, data.y)

    def predict(columns: Mapping[str, Array]) -> Array:
        return np.asarray(model.predict(np.column_stack([columns[name] for name in data.names])))

    return predict


def best_number(data: Dataset, seed: int) -> int:
    """Of trees: the number whose squared errors, on rows that were left out, are least."""
    squares = np.zeros(MOST_TREES)
    for kept, left_out in KFold(FOLDS, shuffle=True, random_state=seed).split(data.X):
        model = GradientBoostingRegressor(n_estimators=MOST_TREES, random_state=seed).fit(data.X[kept], data.y[kept])
        stages = model.staged_predict(data.X[left_out])
        squares += [float(np.sum((values - data.y[left_out]) ** 2)) for values in stages]
    return int(squares.argmin()) + 1
