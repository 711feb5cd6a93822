"""The rows of a search: those that candidates are fitted on, and those held out to judge them."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from prunesymnet.coefficients.description import ROUNDING
from prunesymnet.coefficients.fit import measure
from prunesymnet.data import Dataset, weighted_around, weighted_by_neighbours
from prunesymnet.errors import DataError
from prunesymnet.expression import Expression, evaluate
from prunesymnet.search.between_rows import BetweenRows
from prunesymnet.search.settings import SearchSettings, SearchStatus

FEWEST_TO_SPLIT = 10  # rows: of fewer, the two that would be held out tell nothing


@dataclass(frozen=True)
class Rows:
    """`every` row of the table; the rows that are `used` until the last fit; of these `train` and `held` out, both all
    of them where there are too few or none is to be held out; and `fresh` rows that only say when to stop (None: those
    held out say it, or where there are none, those that candidates are fitted on). An error up to `no_error` (a mean
    square, on the rows that are used) counts as none: it is `exact` (a part of the target's spread; 0: nothing is), or
    lost in the rounding of the target."""

    every: Dataset
    used: Dataset
    train: Dataset
    held: Dataset
    exact: float
    holdout: float
    seed: int
    fresh: Dataset | None = None

    @classmethod
    def of(cls, data: Dataset, settings: SearchSettings, fresh: Dataset | None = None) -> "Rows":
        used = some_rows(data, settings.rows, settings.seed)
        started = weighted_by_neighbours(used)
        data, used = started if used is data else data, started
        train, held = _split(used, settings.holdout, settings.seed)
        return cls(data, used, train, held, settings.exact, settings.holdout, settings.seed, fresh)

    @cached_property
    def no_error(self) -> float:
        return _no_error(self.used, self.exact)

    @cached_property
    def no_error_in_training(self) -> float:
        return _no_error(self.train, self.exact)

    @cached_property
    def no_error_held_out(self) -> float:
        return _no_error(self.held, self.exact)

    def on_both(self, train_mse: float, heldout_mse: float) -> float:
        """The mean square on training rows and those held out together, each row by its weight."""
        train, held = self._counts
        return (train * train_mse + held * heldout_mse) / (train + held)

    @cached_property
    def _counts(self) -> tuple[float, float]:
        """How many rows are for training and held out, or their weights."""
        train, held = (part.rows if part.weights is None else part.weights.sum() for part in (self.train, self.held))
        return float(train), float(held)

    @cached_property
    def between(self) -> BetweenRows:
        """What lies between the rows that are used."""
        return BetweenRows.of(self.used)

    def around(self, expression: Expression | None) -> "Rows":
        """The same rows, with the weights that a search goes on with from a formula; from none, all rows count."""
        used = self.used.with_start_weights(None)
        if expression is not None:
            used = weighted_around(used, evaluate(expression, used.columns).values)
        every = used if self.used is self.every else self.every
        train, held = _split(used, self.holdout, self.seed)
        return replace(self, every=every, used=used, train=train, held=held)

    def with_shares_of(self, expression: Expression) -> "Rows":
        """The same rows, with errors as shares of what a formula predicts; as they are where it has no values."""
        made: dict[int, Dataset] = {}  # what was the same stays the same
        for data in (self.every, self.used, self.train, self.held):
            values = evaluate(expression, data.columns).values
            if not (np.isfinite(values) & (values != 0)).all():
                return self
            made.setdefault(id(data), data.with_shares_of(values))
        every, used, train, held = (made[id(data)] for data in (self.every, self.used, self.train, self.held))
        return replace(self, every=every, used=used, train=train, held=held)

    def is_exact(self, heldout_mse: float) -> bool:
        return self.exact > 0 and heldout_mse <= self.no_error_held_out

    def is_exact_on_fresh(self, expression: Expression) -> bool:
        """Whether the fresh rows, if there are any, say that a formula is exact, too."""
        if self.fresh is None:
            return True
        return measure(expression, self.fresh).mse <= _no_error(self.fresh, self.exact)

    @property
    def exact_status(self) -> SearchStatus:
        """How a search ends that found an exact formula: what it is exact on."""
        if self.fresh is not None:
            return SearchStatus.EXACT_ON_FRESH
        return SearchStatus.EXACT if self.holds_out else SearchStatus.EXACT_ON_FITTED

    @property
    def holds_out(self) -> bool:
        return self.held is not self.train

    @property
    def most_constants(self) -> int:
        """Of a formula: more go through any points. Where no rows are held out, half of them must be left to be seen
        by."""
        return max(self.train.rows - 2 if self.holds_out else self.train.rows // 2, 1)


def _no_error(data: Dataset, exact: float) -> float:
    return max(exact**2 * data.variation, ROUNDING**2 * data.mean(data.y**2))


def some_rows(data: Dataset, most: int, seed: int) -> Dataset:
    """At most so many rows that count, drawn by the seed, in the table's order."""
    if data.rows <= most:
        return data
    rows = np.arange(data.rows) if data.weights is None else np.flatnonzero(data.weights)
    count = min(most, len(rows))
    return data.take(np.sort(np.random.default_rng(seed).choice(rows, count, replace=False)))


def training_rows(data: Dataset, settings: SearchSettings) -> Dataset:
    """The rows that candidates will be fitted on."""
    used = some_rows(data, settings.rows, settings.seed)
    if used.rows < FEWEST_TO_SPLIT or not settings.holdout:
        return used
    return used.take(used.split_rows(settings.holdout, settings.seed)[0])


def _split(data: Dataset, holdout: float, seed: int) -> tuple[Dataset, Dataset]:
    if data.rows < FEWEST_TO_SPLIT or not holdout:
        return data, data
    try:
        return data.split(holdout, seed)
    except DataError:
        if data.weights is None or data.weights.all():
            raise
        return data, data  # too few rows count
