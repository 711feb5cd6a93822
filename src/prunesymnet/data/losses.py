"""What an error costs: the loss that formulas are fitted by and compared by.

>>> x = np.arange(10.0)
>>> y = np.where(x == 9, 40.0, x)
>>> for name in ("squared", "absolute", "huber", "quantile:0.9"):
...     print(name, round(loss_of(name).mean(y, x + 0.1), 4))
squared 95.49
absolute 0.0303
huber 0.0241
quantile:0.9 0.0003

A fit by any of them is a sequence of least-squares fits (`surrogate`): each has the weights, and the target, by which
squares have the slope of the loss at the prediction so far.

So that formulas can be compared in one way, `mean` is in the units of a mean squared error: where a loss grows with the
power p of the residual, it is the mean loss to the power 2/p. Half the number of rows times its logarithm is then the
negative log-likelihood of residuals of that distribution, up to a constant.

Residuals of "huber", "absolute" and "quantile" are *compared* with a bound: one that is larger than a few times their
robust size counts as much as that. A formula that is exact but for some gross outliers is found to be exact.
"""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from prunesymnet.data.messages import cell_error, in_rows
from prunesymnet.errors import DataError

Array = NDArray[np.float64]
Weights = Array | None

NAMES = ("auto", "squared", "absolute", "huber", "relative", "poisson", "quantile:0.9")
WRONG = 0.25  # of the rows may be anything: no size of the residuals grows beyond all bounds by so many
THIRD_QUARTILE = 0.75  # of the residuals' sizes, on which these rows have little influence either
HUBER = 1.345  # robust standard deviations: 95% as efficient as least squares where errors are normal
# Bounds of a loss in units of its robust mean, by which that mean is found: with these it is the mean itself for
# squares of normal errors, and for the absolute values of Laplace's.
BOUND_OF_SQUARES, BOUND_OF_ABSOLUTES = 3.568, 3.921
# Robust means that one row may count: of such errors, 3 or 4 in 1000 are more.
LARGEST_SQUARE, LARGEST_ABSOLUTE = 9.0, 5.5
SMOOTH = 1e-3  # of the third quartile: the corner of an absolute loss is rounded within so much of 0
SMALL = 1e-4  # relative: below this the deviance is its series, which keeps all digits
LEAST_MEAN = 1e-3  # of the target's mean: what a prediction of a count is raised to for its weight
STEP = 1e-6  # of the target's spread: for differences of a loss of one's own
POWERS = (0.5, 4.0)  # between which a loss of one's own may grow with the residual
BANDWIDTH = 1.0  # third quartiles by the third root of the rows: over so much a slope with corners is smoothed


def quantile_of(values: Array, share: float, weights: Weights = None) -> float:
    """A quantile of some values, the lower of two, each by its weight."""
    if weights is None:
        place = int(share * (len(values) - 1))
        return float(np.partition(values, place)[place])
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return float(values[order[min(int(np.searchsorted(total, share * total[-1])), len(values) - 1)]])


def robust_mean(losses: Array, bound: float, weights: Weights = None) -> float:
    """The mean of losses of which none counts more than `bound` times that mean; up to a quarter may be anything (an
    M-estimate of scale). It changes smoothly with every loss below the bound, so that formulas can be compared by it.

    >>> round(robust_mean(np.array([1.0, 2.0, 3.0, 2.0, 1.0, 3.0, 1e9, 2.0]), BOUND_OF_SQUARES), 2)
    3.92
    """
    order = np.argsort(losses)
    sizes, shares = losses[order], np.ones(len(losses)) if weights is None else weights[order]
    total, below = float(shares.sum()), np.cumsum(shares)
    # With the k smallest losses below the bound, their sum by the mean and the bound for each other make WRONG * bound.
    with np.errstate(all="ignore"):
        means = np.cumsum(shares * sizes) / (bound * (below - (1 - WRONG) * total))
        fits = (below > (1 - WRONG) * total) & (np.append(sizes[1:], np.inf) > bound * means)
    place = int(fits.argmax()) if fits.any() else len(sizes) - 1
    return float(means[place])


@dataclass(frozen=True)
class Loss:
    """The squared loss, and what all losses can be asked. `rejects`: whether rows that are far from all their
    neighbours are left out of the search until a formula explains them. `quadratic`: whether one least-squares fit is
    all that it takes."""

    name: str = "squared"
    quadratic: ClassVar[bool] = True
    rejects: ClassVar[bool] = False

    def prepared(self, y: Array, weights: Weights) -> "Loss":
        """The loss for a target, or an error that says why it can't be used."""
        return self

    def scale(self, residual: Array, weights: Weights) -> float:
        """The size of the residuals, for losses that depend on it."""
        return 1.0

    def each(self, y: Array, values: Array, scale: float) -> Array:
        """The loss of each row; what a fit makes least."""
        return np.asarray((y - values) ** 2)

    def surrogate(self, y: Array, values: Array, scale: float) -> tuple[Array, Array]:
        """Weights and target of the squares that have the slope of the loss at a prediction."""
        return np.ones_like(y), y

    def mean(self, y: Array, values: Array, weights: Weights = None) -> float:
        """The mean loss in units of a mean squared error."""
        return float(np.average(self.each(y, values, 1.0), weights=weights))

    def centre(self, y: Array, weights: Weights) -> float:
        """The best constant."""
        return float(np.average(y, weights=weights))

    def variance(self, y: Array, values: Array, weights: Weights) -> float:
        """Of the residuals."""
        return float(np.average((y - values) ** 2, weights=weights))

    def information(self, values: Array) -> Array:
        """What a row says about the prediction, beside its weight."""
        return np.ones_like(values)

    def tilt(self, y: Array, values: Array) -> Array:
        """Weights by which the best in the sense of squares comes near to the best by this loss, in a search that
        scores by squares; up to a factor."""
        return self.information(values)

    def slope(self, y: Array, values: Array, scale: float) -> Array:
        """How the loss falls with the prediction, by half: for squares it is the residual."""
        weights, target = self.surrogate(y, values, scale)
        return weights * (target - values)

    def scatter(self, y: Array, values: Array, weights: Weights) -> float:
        """The variance that the constants' standard errors are computed with: the mean square of the slope by the
        square of how fast it changes, which for squares is the mean squared residual."""
        residual = y - values
        scale = self.scale(residual, weights)
        size = quantile_of(np.abs(residual), THIRD_QUARTILE, weights)
        reach = BANDWIDTH * size / len(y) ** (1 / 3)
        if not reach > 0:
            return 0.0
        slope = np.average(self.slope(y, values, scale) ** 2, weights=weights)
        above, below = self.slope(y, values - reach, scale), self.slope(y, values + reach, scale)
        change = np.average(above - below, weights=weights) / (2 * reach)
        return float(slope / change**2) if change > 0 else math.inf


@dataclass(frozen=True)
class Huber(Loss):
    """Squares up to `reach` robust standard deviations of the residuals, absolute values beyond."""

    quadratic: ClassVar[bool] = False
    reach: float = HUBER
    rejects: ClassVar[bool] = True

    def prepared(self, y: Array, weights: Weights) -> Loss:
        _check_varies(self, y, weights)
        return self

    def scale(self, residual: Array, weights: Weights) -> float:
        return math.sqrt(robust_mean(residual**2, BOUND_OF_SQUARES, weights))

    def each(self, y: Array, values: Array, scale: float) -> Array:
        size, reach = np.abs(y - values), self.reach * scale
        return np.where(size <= reach, size**2, 2 * reach * size - reach**2)

    def surrogate(self, y: Array, values: Array, scale: float) -> tuple[Array, Array]:
        size, reach = np.abs(y - values), self.reach * scale
        return np.where(size <= reach, 1.0, reach / np.where(size > reach, size, 1.0)), y

    def mean(self, y: Array, values: Array, weights: Weights = None) -> float:
        squares = (y - values) ** 2
        bound = max(LARGEST_SQUARE, self.reach**2) * robust_mean(squares, BOUND_OF_SQUARES, weights)
        return float(np.average(np.minimum(squares, bound), weights=weights))

    def centre(self, y: Array, weights: Weights) -> float:
        return quantile_of(y, 0.5, weights)

    def variance(self, y: Array, values: Array, weights: Weights) -> float:
        return self.mean(y, values, weights)


@dataclass(frozen=True)
class Quantile(Loss):
    """`factor` times the residual by `share` above the prediction, and by 1 - `share` below: the least has that share
    of the rows below it. Half of them, and twice the loss, is the absolute loss."""

    quadratic: ClassVar[bool] = False
    share: float = 0.5
    factor: float = 1.0
    rejects: ClassVar[bool] = True

    def prepared(self, y: Array, weights: Weights) -> Loss:
        _check_varies(self, y, weights)
        return self

    def scale(self, residual: Array, weights: Weights) -> float:
        return quantile_of(np.abs(residual), THIRD_QUARTILE, weights)

    def each(self, y: Array, values: Array, scale: float) -> Array:
        residual = y - values
        return np.asarray(self.factor * residual * np.where(residual > 0, self.share, self.share - 1))

    def surrogate(self, y: Array, values: Array, scale: float) -> tuple[Array, Array]:
        # Squares that lie above the loss everywhere and touch it at the prediction (Hunter and Lange 2000).
        size = np.abs(y - values) + SMOOTH * scale
        size = np.where(size > 0, size, 1.0)
        return self.factor / 4 / size, y + (2 * self.share - 1) * size

    def mean(self, y: Array, values: Array, weights: Weights = None) -> float:
        each = self.each(y, values, 1.0)
        bound = LARGEST_ABSOLUTE * robust_mean(each, BOUND_OF_ABSOLUTES, weights)
        return float(np.square(np.average(np.minimum(each, bound), weights=weights)))  # of a float, it may be an error

    def centre(self, y: Array, weights: Weights) -> float:
        return quantile_of(y, self.share, weights)

    def tilt(self, y: Array, values: Array) -> Array:
        return np.where(y > values, self.share, 1 - self.share)

    def variance(self, y: Array, values: Array, weights: Weights) -> float:
        return Huber().mean(y, values, weights)


@dataclass(frozen=True)
class Poisson(Loss):
    """The deviance of counts, whose variance is their mean (or in proportion to it)."""

    quadratic: ClassVar[bool] = False
    least: float = 0.0

    def prepared(self, y: Array, weights: Weights) -> Loss:
        if (y < 0).any():
            rows = np.flatnonzero(y < 0).tolist()
            raise cell_error(f"loss='poisson' needs a target of at least 0; it is negative in {in_rows(rows)}", rows)
        mean = self.centre(y, weights)
        if not mean > 0:
            raise DataError("loss='poisson' needs a target that is positive in some row; it is 0 in all")
        return replace(self, least=LEAST_MEAN * mean)

    def each(self, y: Array, values: Array, scale: float) -> Array:
        with np.errstate(all="ignore"):
            part = (y - values) / values
            series = values * part**2 * (1 - part / 3 + part**2 / 6)
            whole = 2 * (np.where(y > 0, y * np.log(np.where(y > 0, y, 1.0) / values), 0.0) - (y - values))
            loss = np.where(np.abs(part) < SMALL, series, whole)
            return np.where(values > 0, loss, np.where((values == 0) & (y == 0), 0.0, np.inf))

    def surrogate(self, y: Array, values: Array, scale: float) -> tuple[Array, Array]:
        return self.information(values), y

    def information(self, values: Array) -> Array:
        return 1 / np.maximum(values, self.least)

    def scatter(self, y: Array, values: Array, weights: Weights) -> float:
        return float(np.average((y - values) ** 2 * self.information(values), weights=weights))


@dataclass(frozen=True)
class Relative(Loss):
    """The squared relative error: the squared loss with weights 1/y**2, which is what a table is given for it."""

    def prepared(self, y: Array, weights: Weights) -> Loss:
        with np.errstate(all="ignore"):
            rows = np.flatnonzero(~np.isfinite(1 / y**2)).tolist()
        if rows:
            raise cell_error(
                f"loss='relative' divides by the square of the target, which is 0 in {in_rows(rows)}; drop these rows, "
                "or give sample weights of your own",
                rows,
            )
        return self


@dataclass(frozen=True)
class Own(Loss):
    """A user's function of target and prediction. `power`: how it grows with the residual; `unit`: the target's
    spread."""

    quadratic: ClassVar[bool] = False
    function: Callable[[Array, Array], Array] = lambda y, values: (y - values) ** 2
    power: float = 2.0
    unit: float = 1.0

    def prepared(self, y: Array, weights: Weights) -> Loss:
        unit = Huber().scale(y - quantile_of(y, 0.5, weights), weights) or float(np.std(y)) or 1.0
        ours = replace(self, unit=unit)
        rows = np.linspace(0, len(y) - 1, min(len(y), 1000)).astype(int)
        some = y[rows]
        at, near = self.function(some, some), [self.function(some, some + part * unit) for part in (-1e-3, 1e-3)]
        if not np.isfinite(at).all():
            wrong = some[~np.isfinite(at)][0]
            raise ValueError(f"{self.name} is not finite for a target of {wrong:g} and a prediction equal to it")
        if any((side < at).any() for side in near):
            wrong = some[np.any([side < at for side in near], axis=0)][0]
            raise ValueError(f"{self.name} must be least where the prediction is the target, and is not at {wrong:g}")
        sides = [(ours.each(some, some + s * unit, 1.0), ours.each(some, some + 2 * s * unit, 1.0)) for s in (-1, 1)]
        with np.errstate(all="ignore"):
            powers = np.log2(np.concatenate([two / one for one, two in sides]))
        powers = powers[np.isfinite(powers)]
        if not len(powers) or not np.median(powers) > 0:
            raise ValueError(f"{self.name} must grow with the residual, and does not for residuals of {unit:g}")
        return replace(ours, power=float(np.clip(np.median(powers), *POWERS)))

    def each(self, y: Array, values: Array, scale: float) -> Array:
        with np.errstate(all="ignore"):
            loss = self.function(y, values) - self.function(y, y)
        return np.where(np.isfinite(loss), np.maximum(loss, 0.0), np.inf)

    def surrogate(self, y: Array, values: Array, scale: float) -> tuple[Array, Array]:
        residual, step = y - values, STEP * self.unit
        away = np.where(np.abs(residual) < 2 * step, np.where(residual < 0, -2 * step, 2 * step), residual)
        with np.errstate(all="ignore"):
            fall = (self.function(y, y - away - step) - self.function(y, y - away + step)) / (4 * step)
            weights = fall / away
        return np.where(np.isfinite(weights), np.maximum(weights, 0.0), 0.0), y

    def tilt(self, y: Array, values: Array) -> Array:
        return self.surrogate(y, values, 1.0)[0]

    def mean(self, y: Array, values: Array, weights: Weights = None) -> float:
        return float(super().mean(y, values, weights) ** (2 / self.power))

    def centre(self, y: Array, weights: Weights) -> float:
        choices = {float(np.average(y, weights=weights)), *(quantile_of(y, k / 20, weights) for k in range(21))}
        return min(sorted(choices), key=lambda value: self.mean(y, np.full_like(y, value), weights))


SQUARED = Loss()
AUTO = Loss("auto")
ROBUST = "huber"  # the name of the loss for outliers
AUTO_LOSSES = ("relative", ROBUST)  # what "auto" may choose besides the squared loss
"""The squared loss, until a search finds that errors are shares of the values: then it goes on with the relative."""


def loss_of(loss: Any) -> Loss:
    """The loss that a name or a function stands for.

    A function takes the residual, or the target and the prediction, as arrays, and gives the loss of each row.
    """
    if isinstance(loss, Loss):
        return loss
    if callable(loss):
        return _own(loss)
    known: dict[str, Callable[[], Loss]] = {
        "auto": lambda: AUTO,
        "squared": lambda: SQUARED,
        "absolute": lambda: Quantile("absolute", factor=2.0),
        "huber": lambda: Huber("huber"),
        "relative": lambda: Relative("relative"),
        "poisson": lambda: Poisson("poisson"),
    }
    if isinstance(loss, str) and loss in known:
        return known[loss]()
    kind, _, text = loss.partition(":") if isinstance(loss, str) else ("", "", "")
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if kind == "quantile" and 0 < number < 1:
        return Quantile(loss, share=number)
    if kind == "huber" and 0 < number < math.inf:
        return Huber(loss, reach=number)
    hint = "quantile:q for q between 0 and 1, huber:k for k > 0 robust standard deviations"
    raise ValueError(f"loss must be a function or one of {', '.join(NAMES)} ({hint}), got {loss!r}")


# A user's function

_PROBE = np.concatenate([-np.logspace(1, -1, 10), np.logspace(-1, 1, 10)])


def _own(function: Callable[..., Any]) -> Own:
    name = f"loss {getattr(function, '__name__', 'function')!r}"
    arity = _arity(function, name)

    def call(y: Array, values: Array) -> Array:
        return np.asarray(function(y - values) if arity == 1 else function(y, values), dtype=np.float64)

    y = np.abs(_PROBE)  # of a target that is positive: a loss may be of such alone
    for values in (y, y * np.roll(np.linspace(0.5, 2, len(y)), 3)):
        try:
            with np.errstate(all="ignore"):
                once, again = call(y, values), call(y, values)
        except Exception as error:
            raise ValueError(f"{name} raised {type(error).__name__} on arrays: {error}") from error
        if once.shape != y.shape:
            raise ValueError(f"{name} must return a value for each of {len(y)} rows, returned shape {once.shape}")
        if not np.isfinite(once).all():
            raise ValueError(f"{name} must be finite, and is not for targets and predictions from 0.1 to 20")
        some = np.random.default_rng(0).permutation(len(y))[:7]
        with np.errstate(all="ignore"):
            alone = call(y[some], values[some])
        if not np.array_equal(once, again) or not np.allclose(alone, once[some], rtol=1e-12):
            raise ValueError(f"{name} must work row by row, the same each time; its value for a row depends on others")
    return Own(name, function=call)


def _arity(function: Callable[..., Any], name: str) -> int:
    if isinstance(function, np.ufunc):
        return function.nin
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise ValueError(f"{name}: its parameters can't be read; wrap it: lambda residual: f(residual)") from None
    required = [
        p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    if len(required) not in (1, 2):
        takes = f"it takes {len(required)} arguments"
        raise ValueError(f"{name} must take the residual, or the target and the prediction; {takes}")
    return len(required)


def _check_varies(loss: Loss, y: Array, weights: Weights) -> None:
    if robust_mean(np.abs(y - quantile_of(y, 0.5, weights)), BOUND_OF_ABSOLUTES, weights) == 0 and np.ptp(y) > 0:
        raise DataError(
            f"loss={loss.name!r} takes up to a quarter of the rows for outliers, and the target has one value in three "
            "quarters of them; use 'squared', or 'poisson' for counts"
        )
