"""The estimator: scikit-learn's contract around a run."""

from prunesymnet.estimator.regressor import PruneSymRegressor

__all__ = ["PruneSymRegressor"]
