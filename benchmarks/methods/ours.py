"""Our default search, on one thread."""

from prunesymnet.data import Dataset
from prunesymnet.expression import Expression
from prunesymnet.search import SearchSettings, search


def fit(data: Dataset, seconds: float, seed: int) -> Expression:
    return search(data, SearchSettings(time_limit=seconds, seed=seed, workers=1)).best.expression
