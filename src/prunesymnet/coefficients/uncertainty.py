"""How well the data determine the constants of a formula: standard errors and confidence intervals.

>>> from prunesymnet.data import load_example
>>> from prunesymnet.expression import parse
>>> from prunesymnet.coefficients.fit import fit
>>> hubble = load_example("hubble")
>>> law = fit(parse("1.0*distance"), hubble)
>>> print(*estimate_constants(law.expression, hubble))
c1 = 424 ± 42  (95%: 337 to 511)

From the jacobian J at the fitted constants: covariance s² (JᵀJ)⁻¹ with s² = Σ w r² / (n - p), as
`scipy.optimize.curve_fit` has it, and Student's t for the intervals. A constant that the data do not determine
has an infinite standard error.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from numbers import Real

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from prunesymnet.coefficients.bases import TINY
from prunesymnet.coefficients.fit import compile_fit
from prunesymnet.coefficients.least_squares import RANK_TOLERANCE
from prunesymnet.coefficients.significant import WITHOUT_ERROR, written
from prunesymnet.data import Dataset
from prunesymnet.expression import Expression, Program

Array = NDArray[np.float64]

HALVINGS = 60  # of the interval in which a quantile lies: to the last digit


@dataclass(frozen=True, slots=True)
class Estimate:
    """One constant: its name (c1, c2, ... from left to right where it has none), its value in the formula, and its
    interval. Where a formula has rounded constants, standard errors and intervals are those of the fit in which all are
    free. `fitted` is the value there, `rounded_to` what stands in the formula, 3/2 (empty if it was not rounded).
    `unit` is what it is measured in, where that is known (empty: a pure number)."""

    name: str
    value: float
    standard_error: float
    low: float
    high: float
    confidence: float
    fitted: float
    rounded_to: str = ""
    unit: str = ""

    @property
    def in_formula(self) -> str:
        """What stands in the formula, as its text has it, where that is not what was fitted with all constants free."""
        return self.rounded_to or (f"{self.value:.{WITHOUT_ERROR}g}" if self.value != self.fitted else "")

    def __str__(self) -> str:
        shown = written(self.fitted, self.standard_error, (self.low, self.high))
        unit = f" {self.unit}" if self.unit else ""
        if not math.isfinite(self.standard_error):
            return f"{self.name} = {self.in_formula or shown.value}{unit}, not determined by the data"
        value = f"{self.in_formula}, fitted {shown.together}" if self.in_formula else shown.together
        return f"{self.name} = {value}{unit}  ({100 * self.confidence:g}%: {' to '.join(shown.others)})"


def estimate_constants(
    expression: Expression,
    data: Dataset,
    *,
    parameters: Mapping[str, float] | None = None,
    confidence: float = 0.95,
) -> tuple[Estimate, ...]:
    """Value, standard error and confidence interval of each free constant, at its fitted value.

    `parameters` are the fitted values of constants that the formula has by name.
    """
    program, constants = _at(expression, data, parameters or {})
    errors = np.sqrt(np.diagonal(covariance(expression, data, parameters=parameters)))
    freedom = data.measurements - len(constants)
    return estimates(program.labels, constants, errors, freedom, confidence, taken=(*data.names, data.target))


def estimates(
    labels: Sequence[str | None],
    constants: Array,
    errors: Array,
    freedom: int,
    confidence: float = 0.95,
    *,
    taken: Collection[str] = (),
    in_formula: Sequence[tuple[float, str]] | None = None,
    units: Sequence[str] = (),
) -> tuple[Estimate, ...]:
    """Each constant with its interval, from its standard error and the residuals' degrees of freedom; names that are
    `taken` are given to none. `in_formula` are value and text that stand for it in the formula, the text empty unless
    the constant was rounded; `units` are those of the constants, where they are known."""
    reach = students_t(freedom, confidence)
    rows = zip(
        constant_names(labels, taken),
        constants,
        errors,
        in_formula or [(value, "") for value in constants],
        units or [""] * len(constants),
        strict=True,
    )
    return tuple(
        Estimate(
            name=name,
            value=float(value),
            standard_error=float(error),
            low=float(fitted - reach * error) if error else float(fitted),
            high=float(fitted + reach * error) if error else float(fitted),
            confidence=confidence,
            fitted=float(fitted),
            rounded_to=rounded_to,
            unit=unit,
        )
        for name, fitted, error, (value, rounded_to), unit in rows
    )


def constant_names(labels: Sequence[str | None], taken: Collection[str] = ()) -> list[str]:
    """A name for each constant: its own, or the next of c1, c2, ... that nothing else has.

    >>> constant_names([None, "c1", None], taken=["c2"])
    ['c3', 'c1', 'c4']
    """
    fresh = (name for name in map("c{}".format, count(1)) if name not in labels and name not in taken)
    return [label or next(fresh) for label in labels]


def students_t(freedom: int, confidence: float) -> float:
    """How many standard errors an interval reaches to each side."""
    if not isinstance(confidence, Real) or not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, both excluded (0.95 for 95%), got {confidence!r}")
    return float(stdtrit(freedom, 0.5 + confidence / 2)) if freedom > 0 else math.inf


def mixed_quantile(level: float, weights: Array, middles: Array, spreads: Array, freedom: Array) -> Array:
    """Below which values so large a share of a mixture lies: of Student's t distributions with these `middles` and
    `spreads` [parts, places], each part with its `freedom` and the `weights` that it has at each place. Infinite where
    the spread of a part is.

    >>> one = np.array([[0.0], [0.0]]), np.array([[1.0], [1.0]])
    >>> float(mixed_quantile(0.975, np.ones((2, 1)), *one, np.array([20, 20])).round(3)[0])
    2.086
    >>> apart = np.array([[0.0], [100.0]]), np.array([[1.0], [1.0]])
    >>> float(mixed_quantile(0.95, np.array([[3.0], [1.0]]), *apart, np.array([20, 20])).round(3)[0])
    100.86
    """
    counts = weights > 0
    unknown = (counts & ~(np.isfinite(spreads) & (freedom[:, None] > 0))).any(axis=0)
    middles, spreads = (np.where(counts & ~unknown, values, 0.0) for values in (middles, spreads))
    freedom = np.maximum(freedom, 1)[:, None]
    own = middles + spreads * stdtrit(freedom, level)  # that of the mixture lies between those of its parts
    low = np.where(counts, own, np.inf).min(axis=0)
    high = np.where(counts, own, -np.inf).max(axis=0)
    share = weights / np.maximum(weights.sum(axis=0), TINY)
    for _ in range(HALVINGS):
        between = (low + high) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            below = stdtr(freedom, np.nan_to_num((between - middles) / spreads, posinf=np.inf, neginf=-np.inf))
        too_low = (share * below).sum(axis=0) < level
        low, high = np.where(too_low, between, low), np.where(too_low, high, between)
    return np.asarray(np.where(unknown, math.copysign(math.inf, level - 0.5), (low + high) / 2))


def covariance(
    expression: Expression,
    data: Dataset,
    *,
    parameters: Mapping[str, float] | None = None,
    least_rms: float = 0.0,
) -> Array:
    """The covariance matrix of the free constants, infinite where the data do not determine them.

    `least_rms` is a lower bound of the residual's (weighted) root mean square, for data so exact that only
    rounding is left.
    """
    program, constants = _at(expression, data, parameters or {})
    values, jacobian = program.values_and_jacobian(data.columns, constants)
    root = np.sqrt(data.information(values))
    residual = (data.y - values) * root
    jacobian = np.where(np.isfinite(jacobian), jacobian, 0.0) * root
    freedom = data.measurements - len(constants)
    if not len(constants) or not np.isfinite(residual).all():
        return np.full((len(constants), len(constants)), np.inf)
    least = max(least_rms**2, data.known_variance) * float(root @ root) / data.rows
    with np.errstate(all="ignore"):
        left = float(residual @ residual)
        if not data.loss.quadratic:
            rows = data.rows if data.weights is None else float(data.weights.sum())
            left = data.loss.scatter(data.y, values, data.weights) * rows
        variance = max(left / freedom, least) if freedom > 0 else math.inf
    return covariance_of(jacobian, variance)


def covariance_of(jacobian: Array, variance: float) -> Array:
    """The covariance matrix of constants from a jacobian [constants, rows], its rows by the roots of their weights, and
    the variance of the residuals. A triangle R with R'R = JJ' does as well as the jacobian J itself."""
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(jacobian, axis=1)
    lengths = np.where(np.isfinite(lengths), lengths, 0.0)  # a derivative out of the range of floats tells nothing
    told = np.where(lengths > 0, lengths, 1.0)
    scaled = np.where(lengths[:, None] > 0, jacobian / told[:, None], 0.0)
    _, singular, right = np.linalg.svd(scaled.T, full_matrices=False)
    weak = singular <= RANK_TOLERANCE * max(singular[0], TINY)
    # A direction that the data do not determine makes every constant that takes part in it undetermined.
    lost = (right[weak] ** 2 > 1e-12).any(axis=0) | (lengths == 0)
    if len(singular) < len(jacobian):
        lost[:] = True
    inverse = (right[~weak].T / singular[~weak] ** 2) @ right[~weak]
    with np.errstate(all="ignore"):
        result: Array = inverse / told[:, None] / told[None, :] * variance
    if not math.isfinite(variance):
        lost[:] = True
    result[lost, :] = result[:, lost] = np.inf
    return result


def _at(expression: Expression, data: Dataset, named: Mapping[str, float]) -> tuple[Program, Array]:
    """The program, and its constants where the named ones have their values."""
    program = compile_fit(expression, data, named)
    pairs = zip(program.labels, program.constants, strict=True)
    return program, np.array([value if label is None else named[label] for label, value in pairs])
