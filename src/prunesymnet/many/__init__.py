"""Many tables in one call, on all workers that joblib has: groups, targets, folds, bootstraps."""

from prunesymnet.many.fitting import fit_many
from prunesymnet.many.result import ManyModels, TableFit
from prunesymnet.many.tables import OneTable, bootstraps, folds

__all__ = ["ManyModels", "OneTable", "TableFit", "bootstraps", "fit_many", "folds"]
