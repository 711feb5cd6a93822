"""Methods of symbolic regression behind one small interface: a table, seconds on one core and a seed to a formula.

`registry.py` has a record of each. Each file has `fit(data, seconds, seed) -> Expression`, or what predicts without a
formula; `ours.py` has all that are ours, which also say which numbers were fitted. All get the operators of our default
search, as far as they have them. Rivals made by others are optional (`pip install '.[bench]'`), and imported where
their file is: `method(name)` does that.
"""

import importlib.util
import shutil
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.methods.ours import VARIANTS, Answer, variant
from benchmarks.methods.registry import METHODS, REFERENCES, RIVALS
from prunesymnet.data import Dataset
from prunesymnet.expression import Expression

Array = NDArray[np.float64]
NAMES = (*VARIANTS, *RIVALS, *REFERENCES)
Prediction = Callable[[Mapping[str, Array]], Array]  # of the target, from the columns


class Fit(Protocol):
    def __call__(self, data: Dataset, seconds: float, seed: int) -> Expression | Answer | Prediction: ...


def method(name: str) -> Fit:
    """The method of that name, ready to run: what it needs has been imported."""
    if name not in NAMES:
        raise ValueError(f"a method must be one of {', '.join(NAMES)}, got {name!r}")
    if name in VARIANTS:
        return variant(name)
    fit: Fit = import_module(f"benchmarks.methods.{METHODS[name].module}").fit
    return fit


def missing(name: str) -> str | None:
    """Why a method can't be run here and what would help; None if it can."""
    known = METHODS.get(name)
    if known and known.package and importlib.util.find_spec(known.package.replace("-", "_")) is None:
        return f"{name} is left out: the package {known.package} is not installed; {known.install} brings it"
    if known and known.program and shutil.which(known.program) is None:
        return f"{name} is left out: it needs the command {known.program}, which is not here"
    return None
