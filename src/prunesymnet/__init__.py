"""Symbolic regression: from a table of numbers to the short formula that made it.

>>> import prunesymnet as psn
>>> planets = psn.load_example("planets")
>>> law = psn.fit(psn.parse("a*semi_major_axis**b"), planets, parameters=["a", "b"])
>>> round(law.parameters["b"], 3)
1.5
"""

from prunesymnet.coefficients import Fit, FitSettings, FitStatus, SnapSettings, estimate_constants, fit, snap
from prunesymnet.data import Dataset, from_frame, load_example, make_dataset, read_table
from prunesymnet.expression import (
    Expression,
    canonical,
    evaluate,
    fingerprint,
    parse,
    skeleton,
    to_latex,
    to_python,
    to_text,
)
from prunesymnet.operators import make_operator, select_operators

__version__ = "0.2.0"
__all__ = [
    "Dataset",
    "Expression",
    "Fit",
    "FitSettings",
    "FitStatus",
    "SnapSettings",
    "canonical",
    "estimate_constants",
    "evaluate",
    "fingerprint",
    "fit",
    "from_frame",
    "load_example",
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
