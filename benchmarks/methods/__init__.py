"""Methods of symbolic regression behind one small interface: a table, seconds on one core and a seed to a formula.

Each file has `fit(data, seconds, seed) -> Expression`; `ours.py` has all that are ours. All get the operators of our
default search, as far as they have them. Rivals made by others are optional (`pip install '.[bench]'`), and imported
where their file is: `method(name)` does that.
"""

import importlib.util
import shutil
from importlib import import_module
from typing import Protocol

from benchmarks.conditions import RIVALS
from benchmarks.methods.ours import VARIANTS, variant
from prunesymnet.data import Dataset
from prunesymnet.expression import Expression

NAMES = (*VARIANTS, *RIVALS)
PACKAGES = {
    "gp": "gplearn",
    "operon": "pyoperon",
    "operon-mdl": "pyoperon",
    "rils-rols": "rils-rols",
    "pysr": "pysr",
}  # made by others


class Method(Protocol):
    def __call__(self, data: Dataset, seconds: float, seed: int) -> Expression: ...


def method(name: str) -> Method:
    """The method of that name, ready to run: what it needs has been imported."""
    if name not in NAMES:
        raise ValueError(f"a method must be one of {', '.join(NAMES)}, got {name!r}")
    if name in VARIANTS:
        return variant(name)
    fit: Method = import_module(f"benchmarks.methods.{name.replace('-', '_')}").fit
    return fit


def missing(name: str) -> str | None:
    """Why a method can't be run here and what would help; None if it can."""
    package = PACKAGES.get(name)
    if package and importlib.util.find_spec(package.replace("-", "_")) is None:
        how = "make bench-setup" if name == "rils-rols" else "pip install 'prunesymnet[bench]'"
        return f"{name} is left out: the package {package} is not installed; {how} brings it"
    if name == "pysr" and shutil.which("julia") is None:
        return "pysr is left out: it needs Julia, and there is no command julia here"
    return None
