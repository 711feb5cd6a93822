"""Methods of symbolic regression behind one small interface: a table, seconds on one core and a seed to a formula.

Each file has `fit(data, seconds, seed) -> Expression`. All get the operators of our default search, as far as they have
them. Rivals are optional: `pip install '.[bench]'`.
"""

from importlib import import_module
from typing import Protocol

from prunesymnet.data import Dataset
from prunesymnet.expression import Expression

NAMES = ("ours", "operon", "gplearn")


class Method(Protocol):
    def __call__(self, data: Dataset, seconds: float, seed: int) -> Expression: ...


def method(name: str) -> Method:
    if name not in NAMES:
        raise ValueError(f"a method must be one of {', '.join(NAMES)}, got {name!r}")
    fit: Method = import_module(f"benchmarks.methods.{name}").fit
    return fit
