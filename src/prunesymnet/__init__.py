"""Symbolic regression: from a table of numbers to the short formula that made it.

>>> import numpy as np
>>> import prunesymnet as psn
>>> x = np.linspace(-3, 3, 60)
>>> model = psn.PruneSymRegressor(time_limit=10).fit(x[:, None], x**2 / 2 - x)
>>> print(model.best_)
y = x1**2/2 - x1

Or, where the form is known:

>>> planets = psn.load_example("planets")
>>> law = psn.fit(psn.parse("a*semi_major_axis**b"), planets, parameters=["a", "b"])
>>> round(law.parameters["b"], 3)
1.5
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from prunesymnet.version import __version__ as __version__

if TYPE_CHECKING:
    from prunesymnet.coefficients import Fit, FitSettings, FitStatus, SnapSettings, estimate_constants, fit, snap
    from prunesymnet.data import Dataset, from_frame, load_example, make_dataset, read_table
    from prunesymnet.equations import Equation, Front
    from prunesymnet.estimator import PruneSymRegressor
    from prunesymnet.export.latex import to_latex
    from prunesymnet.export.python import to_python
    from prunesymnet.expression import Expression, canonical, evaluate, fingerprint, parse, skeleton, to_text
    from prunesymnet.many import ManyModels, bootstraps, fit_many, folds
    from prunesymnet.operators import make_operator, select_operators
    from prunesymnet.progress import TensorBoard
    from prunesymnet.runs import Model, load_model
    from prunesymnet.search import Constraints, ExhaustiveSettings, SearchSettings

# A name is imported when it is asked for: the command line answers at once, and nobody waits for what they don't use.
_NAMES = {  # of each module
    "coefficients": ("Fit", "FitSettings", "FitStatus", "SnapSettings", "estimate_constants", "fit", "snap"),
    "data": ("Dataset", "from_frame", "load_example", "make_dataset", "read_table"),
    "equations": ("Equation", "Front"),
    "estimator": ("PruneSymRegressor",),
    "export.latex": ("to_latex",),
    "export.python": ("to_python",),
    "expression": ("Expression", "canonical", "evaluate", "fingerprint", "parse", "skeleton", "to_text"),
    "many": ("ManyModels", "bootstraps", "fit_many", "folds"),
    "operators": ("make_operator", "select_operators"),
    "progress": ("TensorBoard",),
    "runs": ("Model", "load_model"),
    "search": ("Constraints", "ExhaustiveSettings", "SearchSettings"),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "Constraints",
    "Dataset",
    "Equation",
    "ExhaustiveSettings",
    "Expression",
    "Fit",
    "FitSettings",
    "FitStatus",
    "Front",
    "ManyModels",
    "Model",
    "PruneSymRegressor",
    "SearchSettings",
    "SnapSettings",
    "TensorBoard",
    "bootstraps",
    "canonical",
    "estimate_constants",
    "evaluate",
    "fingerprint",
    "fit",
    "fit_many",
    "folds",
    "from_frame",
    "load_example",
    "load_model",
    "make_dataset",
    "make_operator",
    "parse",
    "read_table",
    "select_operators",
    "skeleton",
    "snap",
    "to_latex",
    "to_python",
    "to_text",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'prunesymnet' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"prunesymnet.{_MODULE_OF[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
