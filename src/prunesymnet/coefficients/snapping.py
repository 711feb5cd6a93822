"""The paper's post-processing: merge, fit, round what is nearly round, refit the rest, and again.

>>> from prunesymnet.data import make_dataset
>>> from prunesymnet.expression import parse
>>> import numpy as np
>>> x = np.linspace(-2, 2, 50)
>>> table = make_dataset(x, 3 * x**2 / 2 + np.pi * x - 1.2345, names=["x"])
>>> print(snap(parse("1.0*x**3 + 1.0*x**2*1.0 + 0.5*x + 1.0"), table).expression)
3*x**2/2 + pi*x - 1.2345

First whole numbers, as in the paper, then closed forms (`closed_forms`). A rounding stays when, with the other
constants fitted again, two things hold: the squared error has not grown by more than roundings of true values
would make it grow (`tolerance` standard errors each), and the description has become shorter. A float costs the
bits to which the data determine it, so an integer that is no shorter than that (454 for 454.2 ± 75) stays a float.
A term whose coefficient becomes 0 is gone.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.closed_forms import bits, closed_forms
from prunesymnet.coefficients.fit import Fit, FitSettings, fit
from prunesymnet.coefficients.uncertainty import covariance
from prunesymnet.data import Dataset
from prunesymnet.expression import Constant, Expression, canonical, compile_expression, factored, tied
from prunesymnet.expression.tree import is_free, transform
from prunesymnet.settings import check_number, check_whole

Array = NDArray[np.float64]
EPSILON = float(np.finfo(np.float64).eps)
INVISIBLE = 1e-9


@dataclass(frozen=True, slots=True)
class SnapSettings:
    """`tolerance`: by how many standard errors a rounding may move a constant; `noise`: errors below this part
    of the target's size are of no interest (0.001 for measurements to a tenth of a percent); `closed_forms`: whether to
    look for rationals, multiples of pi, square roots and e after the whole numbers; `largest`: how large p*q
    may be in a rational p/q."""

    tolerance: float = 2.0
    noise: float = 0.0
    closed_forms: bool = True
    largest: int = 100
    fit: FitSettings = field(default_factory=FitSettings)

    def __post_init__(self) -> None:
        check_number(self, "tolerance", "a number of standard errors > 0", lambda v: v > 0)
        check_number(self, "noise", "a part of the target's size, from 0 to below 1", lambda v: 0 <= v < 1)
        check_whole(self, largest=1)


def snap(
    expression: Expression, data: Dataset, *, settings: SnapSettings | None = None, deadline: float = math.inf
) -> Fit:
    """The formula merged, fitted, and with its constants rounded as far as the data allow; after the `deadline` (of
    `time.monotonic`) no further."""
    settings = settings or SnapSettings()
    best = fit(canonical(expression), data, settings=settings.fit)
    if not math.isfinite(best.mse):
        return best
    one_start = replace(settings, fit=replace(settings.fit, starts=1))
    state = _State.of(best, data, settings.noise)
    rounding = _Rounding(data, one_start, state, deadline)
    state = rounding.repeat(state, _whole_numbers)
    if settings.closed_forms:
        state = rounding.repeat(state, _closed)
    state = rounding.shorten(rounding.tie(state))
    return replace(state.fit, expression=factored(state.fit.expression))


@dataclass(frozen=True, slots=True)
class _State:
    """A fitted formula with what decides about it: standard errors, rounding level, description length."""

    fit: Fit
    errors: Array  # standard error per free constant
    noise: float  # rms of the residual that is of no interest: rounding, at least
    length: float  # bits

    @classmethod
    def of(cls, result: Fit, data: Dataset, noise: float) -> "_State":
        expression = result.expression
        noise = max(rounding_level(expression, data), noise * math.sqrt(_mean(data.y**2, data)))
        errors = np.sqrt(np.diagonal(covariance(expression, data, least_rms=noise)))
        precision = _precision(result, data, noise)
        return cls(result, errors, noise, description_length(result, precision, noise, data.rows))


def rounding_level(expression: Expression, data: Dataset) -> float:
    """The root mean square that rounding errors alone may leave: of the target and of each term."""
    _, jacobian = compile_expression(expression).values_and_jacobian(data.columns)
    constants = np.array(expression.constants)
    terms = np.where(np.isfinite(jacobian), jacobian, 0.0) * constants[:, None]
    largest = max(_mean(data.y**2, data), *(_mean(term**2, data) for term in terms), 0.0)
    return 16 * EPSILON * math.sqrt(largest)


def _precision(result: Fit, data: Dataset, noise: float) -> Array:
    """To what precision each constant must be written down when those before it are known: constants that make up for
    one another (a large error each, alone) do not come for free together."""
    _, jacobian = compile_expression(result.expression).values_and_jacobian(data.columns)
    if not len(jacobian):
        return np.zeros(0)
    root = 1.0 if data.weights is None else np.sqrt(data.weights / data.weights.mean())
    columns = np.where(np.isfinite(jacobian), jacobian, 0.0) * root
    sizes = np.abs(np.diagonal(np.linalg.qr(columns.T, mode="r")))
    sizes = np.concatenate([sizes, np.zeros(len(columns) - len(sizes))])  # more constants than rows
    with np.errstate(divide="ignore"):
        precision: Array = math.sqrt(max(result.mse, noise**2)) / sizes
    return precision


def _mean(values: Array, data: Dataset) -> float:
    return float(np.average(values, weights=data.weights))


def description_length(result: Fit, errors: Array, noise: float, rows: int) -> float:
    """Bits for the formula, for its free constants to the precision that the data give them, and for the
    residuals (up to a constant that all formulas share)."""
    constants = np.abs(np.array(result.expression.constants))
    with np.errstate(divide="ignore", invalid="ignore"):
        precise = np.log2(1 + constants / errors)
    free = float(np.clip(np.nan_to_num(precise, nan=0.0), 0.0, 52.0).sum()) + len(constants)
    residuals = 0.5 * rows * math.log2(max(result.mse, noise**2, 1e-300))
    return bits(result.expression) + free + residuals


def describe(result: Fit, data: Dataset, *, noise: float = 0.0) -> float:
    """The description length of a fit, in bits; infinite where the formula is not finite on the data."""
    return _State.of(result, data, noise).length if math.isfinite(result.mse) else math.inf


_Choices = list[tuple[int, float, Expression]]  # (constant, distance, what to put in its place)
_Suggest = Callable[["_State", "SnapSettings"], _Choices]


class _Rounding:
    """The loop: try all roundings that suggest themselves together, else one by one, the nearest first."""

    def __init__(self, data: Dataset, settings: SnapSettings, base: _State, deadline: float) -> None:
        self.data, self.settings, self.base, self.deadline = data, settings, base, deadline

    def repeat(self, state: _State, suggest: _Suggest) -> _State:
        while True:
            choices = suggest(state, self.settings)
            after = self.attempt(state, choices) if len(choices) > 1 else None
            if after is None:
                tries = (self.attempt(state, [choice]) for choice in choices)
                after = next((t for t in tries if t is not None), None)
            if after is None:
                return state
            state = after

    def attempt(self, state: _State, choices: _Choices) -> _State | None:
        """The state after these roundings, if it is acceptable; the first choice for a constant counts."""
        chosen: dict[int, Expression] = {}
        for index, _, form in choices:
            chosen.setdefault(index, form)
        counter = iter(range(len(state.errors)))

        def leaf(node: Expression) -> Expression:
            return chosen.get(next(counter), node) if is_free(node) else node

        return self.accept(state, canonical(transform(state.fit.expression, leaf)))

    def tie(self, state: _State) -> _State:
        """One constant for two, as long as the data allow."""
        while True:
            tries = (self.accept(state, form) for form in tied(state.fit.expression))
            after = next((t for t in tries if t is not None), None)
            if after is None:
                return state
            state = after

    def accept(self, state: _State, rounded: Expression) -> _State | None:
        """The state of a formula with fewer free constants, if the data allow it, and there is time to see."""
        if time.monotonic() > self.deadline:
            return None
        after = _State.of(fit(rounded, self.data, settings=self.settings.fit), self.data, self.settings.noise)
        fixed = len(self.base.errors) - len(after.errors)
        freedom = max(self.data.rows - len(self.base.errors), 1)
        growth = 1 + self.settings.tolerance**2 * max(fixed, 1) / freedom
        # Rounding errors may grow on the way (1 - cos(x) near 0): an error in the tenth digit is none.
        tenth = INVISIBLE * math.sqrt(_mean(self.data.y**2, self.data))
        allowed = max(self.base.fit.mse * growth, max(4 * after.noise, 4 * self.base.noise, tenth) ** 2)
        return after if after.fit.mse <= allowed and after.length < state.length else None

    def shorten(self, state: _State) -> _State:
        """Of data that the formula fits exactly, the constants with as few digits as do so as well."""
        exact = (4 * state.noise) ** 2
        if state.fit.mse > exact or not len(state.errors):
            return state
        values = state.fit.expression.constants
        for digits in range(2, 15):
            short = state.fit.expression.with_constants([float(f"{v:.{digits}g}") for v in values])
            residual = self.data.y - compile_expression(short).values(self.data.columns)
            mse = _mean(residual**2, self.data)
            if mse <= exact:
                spread = _mean((self.data.y - _mean(self.data.y, self.data)) ** 2, self.data)
                r2 = 1 - mse / spread if spread > 0 else state.fit.r2
                return replace(state, fit=replace(state.fit, expression=short, mse=mse, r2=r2))
        return state


def _reach(value: float, error: float, settings: SnapSettings) -> float:
    """How far from a constant to look for a round number. The error is an estimate: look twice as far."""
    return max(2 * settings.tolerance * error, 1e-9 * max(1.0, abs(value)))


def _whole_numbers(state: _State, settings: SnapSettings) -> _Choices:
    choices: _Choices = []
    for i, (value, error) in enumerate(zip(state.fit.expression.constants, state.errors, strict=True)):
        reach = _reach(value, error, settings)
        for whole in {round(value), 0} if abs(value) < 2**53 else ():
            if abs(value - whole) <= reach:
                choices.append((i, abs(value - whole), Constant(whole)))
    return sorted(choices, key=lambda choice: choice[1])


def _closed(state: _State, settings: SnapSettings) -> _Choices:
    choices: _Choices = []
    for i, (value, error) in enumerate(zip(state.fit.expression.constants, state.errors, strict=True)):
        reach = min(_reach(value, error, settings), 0.1 * abs(value))
        if value:
            forms = closed_forms(value, reach, largest=settings.largest)[:4]
            choices.extend((i, bits(form), form) for form in forms)
    return sorted(choices, key=lambda choice: choice[1])
