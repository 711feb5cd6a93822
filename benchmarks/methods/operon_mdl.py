"""Operon with its own default for the choice: the description length, for errors of size 1 whatever the target's unit.

On noisy points of large targets it chooses shorter formulas than BIC, and more often the right form; of Nguyen's
formulas, whose values are small, it keeps none.
"""

from benchmarks.methods.operon import evolve
from prunesymnet.data import Dataset
from prunesymnet.expression import Expression


def fit(data: Dataset, seconds: float, seed: int) -> Expression:
    return evolve(data, seconds, seed, "minimum_description_length")
