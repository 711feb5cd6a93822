"""What errors are like, where the user has not said it (`loss="auto"`): alike in all rows, shares of the values, or
alike but for some outliers.

Each kind is a distribution of the residuals, and so a number of bits to write them down. The search begins with errors
that are alike. Where the rows suggest another kind, it is tried, and the shorter description decides.
"""

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients import Fit, fit
from prunesymnet.data import Dataset
from prunesymnet.data.losses import ROBUST
from prunesymnet.expression import Expression, evaluate
from prunesymnet.search.archive import Archive
from prunesymnet.search.error_shares import (
    LARGEST_SHARE,
    bias_bits,
    bias_is_seen,
    grow_with_target,
    left_by_curve,
    likely_share,
    makes_a_difference,
    share,
    share_of,
    weight_bits,
)
from prunesymnet.search.outliers import EXPLAINED, PERHAPS_EXPLAINED, Told, are_suspected, told_apart
from prunesymnet.search.rows import Rows

Array = NDArray[np.float64]


class ErrorKind:
    """A kind of errors, counted by a loss: of one size in all rows, where a kind does not say otherwise. `archive` has
    formulas that were fitted by the loss."""

    loss = "squared"

    def is_possible(self, data: Dataset) -> bool:
        """Whether a table may have such errors, by a look at its rows."""
        return True

    def is_suggested(self, data: Dataset, formula: Expression) -> bool:
        """Whether what a formula leaves looks as if errors were such."""
        return True

    def bits(self, archive: Archive) -> float:
        """The shortest description of the rows with such errors."""
        return archive.shortest()

    def is_believed(self, archive: Archive, *, doubtful: bool = False) -> bool:
        """Whether the best formula leaves what such errors may be; where it is still `doubtful`, better ones may
        come."""
        return True

    def may_be_believed(self, archive: Archive, to_beat: float) -> bool:
        """Whether slow stages are worth their time to find formulas with such errors, where a description of so many
        bits is `to_beat`."""
        return self.is_believed(archive)

    def to_finish(self, rows: Rows, best: Fit) -> Rows:
        """The rows as they count in the last fits, where a formula is the best so far."""
        return rows


class Shares(ErrorKind):
    """Errors that grow with the value: an instrument that is good to one per cent."""

    loss = "relative"

    def is_possible(self, data: Dataset) -> bool:
        return makes_a_difference(data)

    def is_suggested(self, data: Dataset, formula: Expression) -> bool:
        curve = left_by_curve(data)
        return grow_with_target(data, _residual(data, formula)) or (curve is not None and grow_with_target(data, curve))

    def bits(self, archive: Archive) -> float:
        used, ranked = archive.rows.used, archive.by_length()
        off = bias_bits(share(used, archive.error(ranked[0])), used.rows) if ranked else 0.0
        return archive.shortest() + weight_bits(used.weights) + off

    def is_believed(self, archive: Archive, *, doubtful: bool = False) -> bool:
        ranked = archive.by_length()
        if not ranked or doubtful:
            return bool(ranked)
        used = archive.rows.used
        predicted = evaluate(ranked[0].expression, used.columns).values
        return max(share(used, archive.error(ranked[0])), share_of(used, predicted)) <= LARGEST_SHARE

    def may_be_believed(self, archive: Archive, to_beat: float) -> bool:
        """Larger shares may as well be what a formula of the wrong form leaves: that is seen when the level is over."""
        ranked, used = archive.by_length(), archive.rows.used
        return bool(ranked) and share(used, archive.error(ranked[0])) <= likely_share(used.rows)

    def to_finish(self, rows: Rows, best: Fit) -> Rows:
        if not bias_is_seen(share(rows.used, best.mse), rows.used.rows):
            return rows
        again = fit(best.expression, rows.with_shares_of(best.expression).used)  # the best is too low itself
        return rows.with_shares_of(again.expression)


class WithOutliers(ErrorKind):
    """Errors of one size, but for some rows that are far off. A formula that these have led is off everywhere:
    nothing that it leaves rules them out."""

    loss = ROBUST

    def is_possible(self, data: Dataset) -> bool:
        return are_suspected(data)

    def bits(self, archive: Archive) -> float:
        return archive.size(archive.by_length()[0]) + self.told(archive).bits

    def is_believed(self, archive: Archive, *, doubtful: bool = False) -> bool:
        ranked = archive.by_length()
        if not ranked:
            return False
        told, data = self.told(archive), archive.rows.used
        residual = np.abs(_residual(data, ranked[0].expression))
        others = data.y[np.argsort(residual, kind="stable")[: data.rows - told.outliers]]
        explained = PERHAPS_EXPLAINED if doubtful else EXPLAINED
        return (doubtful or told.gross) and told.mean_square <= (1 - explained) * float(np.var(others))

    def may_be_believed(self, archive: Archive, to_beat: float) -> bool:
        return self.is_believed(archive, doubtful=True) and self.bits(archive) < to_beat

    def told(self, archive: Archive) -> Told:
        data = archive.rows.used
        residual = _residual(data, archive.by_length()[0].expression)
        return told_apart(residual, float(np.ptp(data.y)), archive.rows.no_error)


def _residual(data: Dataset, formula: Expression) -> Array:
    values = evaluate(formula, data.columns).values
    return np.where(np.isfinite(values), data.y - values, np.ptp(data.y))


ALIKE = ErrorKind()
KINDS: dict[str, ErrorKind] = {kind.loss: kind for kind in (Shares(), WithOutliers())}  # others, as they are tried
