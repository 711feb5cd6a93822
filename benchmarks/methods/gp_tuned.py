"""gplearn with settings that were chosen on random formulas of seed 7, none of which is in a table."""

from benchmarks.methods.gp import Settings, evolve
from prunesymnet.data import Dataset
from prunesymnet.expression import Expression

TUNED = Settings(correlation=True)


def fit(data: Dataset, seconds: float, seed: int) -> Expression:
    return evolve(data, seconds, seed, TUNED)
