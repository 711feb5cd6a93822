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
A term whose coefficient becomes 0 is gone. Who writes pi, a root or e says that there is a reason for it, and some
multiple of these is near to any number. So one must make the description shorter by as much as odds of 20 to 1: 3.14 ±
0.02 is no pi, and 3.142 ± 0.0003 is. The same holds for fractions that are neither decimals nor of thirds: 0.704 ±
0.006 is no 5/7.

Exponents are also read as people read them (`as_read`): `a**1.49984` is `a**(3/2)` where that leaves less than a
millionth of the variation, and the free fit does not leave a hundred times less, however many standard errors lie
between the two.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.closed_forms import closed_forms
from prunesymnet.coefficients.description import described, formula_bits, residual_bits
from prunesymnet.coefficients.fit import Fit, FitSettings, fit
from prunesymnet.coefficients.uncertainty import covariance
from prunesymnet.data import Dataset
from prunesymnet.expression import (
    Apply,
    Constant,
    Expression,
    canonical,
    compile_expression,
    factored,
    fewer_constants,
    postorder,
    tied,
)
from prunesymnet.expression.canonical.terms import number_tree
from prunesymnet.expression.polynomial import polynomial
from prunesymnet.expression.tree import LARGEST_INT, is_free, with_numbers
from prunesymnet.operators.operator import CALL
from prunesymnet.settings import check_number, check_whole

Array = NDArray[np.float64]
# Of the target's size: rounding errors grow on the way (1 - cos(x) near 0), so the tenth digit is none.
INVISIBLE = 1e-9
READ_AS_ONE = 1e-6  # of the variation: an R² of 0.999999, and all digits that people look at are nines
FREE_FIT_GAINS = 100.0  # times less error, and more: then the exponent is no fraction with something small left over
LEAST_SECONDS = 1e-3  # of a fit: the first step is taken even when no time is left
MANY_CONSTANTS = 8  # in a formula: dozens of closed forms of each, and all pairs
UNUSUAL_SAVES = math.log2(20)  # bits: odds of 20 to 1 that it is no chance, as of a result significant at 5%
FRACTIONS = (1, 2, 3, 4)  # denominators of the exponents that laws have


@dataclass(frozen=True, slots=True)
class SnapSettings:
    """How constants are rounded.

    `tolerance`: by how many standard errors a rounding may move a constant; `noise`: errors below this part
    of the target's size are of no interest (0.001 for measurements to a tenth of a percent); `closed_forms`: whether to
    look for rationals, multiples of pi, square roots and e after the whole numbers; `largest`: how large p*q
    may be in a rational p/q. `only_integers`: the paper's rounding instead, of all constants that are within `nearest`
    of a whole number."""

    tolerance: float = 2.0
    noise: float = 0.0
    closed_forms: bool = True
    largest: int = 100
    only_integers: bool = False
    nearest: float = 1e-3
    fit: FitSettings = field(default_factory=FitSettings)

    def __post_init__(self) -> None:
        check_number(self, "tolerance", "a number of standard errors > 0", lambda v: v > 0)
        check_number(self, "noise", "a part of the target's size, from 0 to below 1", lambda v: 0 <= v < 1)
        check_number(self, "nearest", "a number > 0", lambda v: v > 0)
        check_whole(self, largest=1)


def snap(
    expression: Expression,
    data: Dataset,
    *,
    settings: SnapSettings | None = None,
    deadline: float = math.inf,
    allow: Callable[[Expression], bool] = lambda _: True,
) -> Fit:
    """The formula merged, fitted, and with its constants rounded as far as the data allow it, and `allow` does; after
    the `deadline` (of `time.monotonic`) no further."""
    settings = settings or SnapSettings()
    limit = min(settings.fit.time_limit, max(deadline - time.monotonic(), LEAST_SECONDS))
    best = fit(canonical(expression), data, settings=replace(settings.fit, time_limit=limit))
    if not math.isfinite(best.mse) or time.monotonic() > deadline:
        return best
    if settings.only_integers:
        return _with_integers(best, data, settings, deadline)
    one_start = replace(settings, fit=replace(settings.fit, starts=1))
    state = _State.of(best, data, settings.noise)
    rounding = _Rounding(data, one_start, state, deadline, allow)
    state = rounding.rewrite(state)
    starts = [state]
    if not rounding.is_exact(state) and (together := rounding.tie(state)) is not state:
        starts.append(together)  # one constant for two before they are rounded apart: 213 - 214*exp(x)
    state = min(map(rounding.all_roundings, starts), key=lambda state: state.length)
    return replace(state.fit, expression=factored(state.fit.expression), before_rounding=best.expression)


def as_read(found: Fit, data: Dataset) -> Fit:
    """A fit with exponents that are fractions but for what nobody would mind."""
    most = min(READ_AS_ONE * data.variation, FREE_FIT_GAINS * found.mse)
    kept = 0
    while kept < len(exponents := _exponents(found.expression)):  # each reading may merge constants: look again
        index = exponents[-1 - kept]
        value = found.expression.constants[index]
        near = min((Fraction(round(value * q), q) for q in FRACTIONS), key=lambda f: (abs(value - f), f.denominator))
        read = fit(_with(found.expression, {index: number_tree(near)}), data)
        if read.mse <= most:
            found = replace(read, before_rounding=found.before_rounding or found.expression)
        else:
            kept += 1
    return found


def _with_integers(best: Fit, data: Dataset, settings: SnapSettings, deadline: float) -> Fit:
    """The paper's loop: round what is nearly whole, fit the rest again, as long as the error falls (or stays below what
    is of no interest)."""
    enough = settings.noise**2 * data.mean(data.y**2)
    while time.monotonic() <= deadline:
        near: dict[int, Expression] = {
            place: Constant(round(value))
            for place, value in enumerate(best.expression.constants)
            if abs(value - round(value)) <= settings.nearest and abs(value) <= LARGEST_INT
        }
        if not near:
            break
        after = fit(_with(best.expression, near), data, settings=settings.fit)
        if not after.mse < max(best.mse, enough):
            break
        best = after
    return best


@dataclass(frozen=True, slots=True)
class _State:
    """A fitted formula with what decides about it: standard errors, rounding level, description length."""

    fit: Fit
    errors: Array  # standard error per free constant
    noise: float  # rms of the residual that is of no interest: rounding, at least
    length: float  # bits

    @classmethod
    def of(cls, result: Fit, data: Dataset, noise: float) -> "_State":
        length, least = described(result, data, noise)
        errors = np.sqrt(np.diagonal(covariance(result.expression, data, least_rms=least)))
        return cls(result, errors, least, length)

    def length_above(self, noise: float, data: Dataset) -> float:
        """The description length if residuals up to this root mean square are of no interest, too."""
        own = max(self.fit.mse, self.noise**2, data.known_variance)
        return self.length + float(residual_bits(data.rows, max(own, noise**2)) - residual_bits(data.rows, own))

    def is_shorter(self, other: "_State", data: Dataset, saves: float) -> bool:
        """Whether it saves more than so many bits. What rounding leaves of the one is of no interest in the other: of
        two formulas that fit exactly it decides nothing."""
        noise = max(self.noise, other.noise)
        return self.length_above(noise, data) < other.length_above(noise, data) - saves


_Choices = list[tuple[int, float, Expression]]  # (constant, distance, what to put in its place)
_Suggest = Callable[["_State", "SnapSettings"], _Choices]


class _Rounding:
    """The loop: try all roundings that suggest themselves together, else one by one, the nearest first."""

    def __init__(
        self,
        data: Dataset,
        settings: SnapSettings,
        base: _State,
        deadline: float,
        allow: Callable[[Expression], bool],
    ) -> None:
        self.data, self.settings, self.base, self.deadline, self.allow = data, settings, base, deadline, allow

    def all_roundings(self, state: _State) -> _State:
        """Whole numbers, then closed forms, then one constant for two, then what takes fewer, then fewer digits."""
        state = self.repeat(state, _whole_numbers)
        if self.settings.closed_forms and not self.has_too_many(state):
            state = self.repeat(state, _closed)
        return self.shorten(self.rewrite(self.tie(state)))

    def has_too_many(self, state: _State) -> bool:
        """Whether it has so many constants, and none of them to all digits, that some are near to anything by chance,
        and each other's."""
        return len(state.errors) > MANY_CONSTANTS and not self.is_exact(state)

    def is_exact(self, state: _State) -> bool:
        """Whether it leaves rounding errors alone."""
        return state.fit.mse <= (4 * state.noise) ** 2

    def repeat(self, state: _State, suggest: _Suggest) -> _State:
        while self.in_time():
            choices = suggest(state, self.settings)
            after = self.attempt(state, choices) if len(choices) > 1 else None
            if after is None:
                tries = (self.attempt(state, [choice]) for choice in choices if self.in_time())
                after = next((t for t in tries if t is not None), None)
            if after is None:
                return state
            state = after
        return state

    def in_time(self) -> bool:
        """Whether there is time for another try: one takes long for a formula of many terms."""
        return time.monotonic() <= self.deadline

    def attempt(self, state: _State, choices: _Choices) -> _State | None:
        """The state after these roundings, if it is acceptable; the first choice for a constant counts."""
        chosen: dict[int, Expression] = {}
        for index, _, form in choices:
            chosen.setdefault(index, form)
        saves = UNUSUAL_SAVES * sum(map(_is_unusual, chosen.values()))
        return self.accept(state, _with(state.fit.expression, chosen), saves)

    def rewrite(self, state: _State) -> _State:
        """One square, one wave or no quotient, as long as the data allow."""
        return self.as_another(state, fewer_constants)

    def tie(self, state: _State) -> _State:
        """One constant for two, as long as the data allow."""
        return state if self.has_too_many(state) else self.as_another(state, tied)

    def as_another(self, state: _State, forms: Callable[[Expression], Iterator[Expression]]) -> _State:
        """The first of these forms that the data allow, and of the forms of that one, and so on."""
        while self.in_time():
            in_time = takewhile(lambda _: self.in_time(), forms(state.fit.expression))
            tries = (self.accept(state, form) for form in in_time)
            after = next((t for t in tries if t is not None), None)
            if after is None:
                return state
            state = after
        return state

    def accept(self, state: _State, rounded: Expression, saves: float = 0.0) -> _State | None:
        """The state of a formula with fewer free constants, if it is allowed, the data allow it, and it `saves` more
        than so many bits."""
        if not self.allow(rounded):
            return None
        after = _State.of(fit(rounded, self.data, settings=self.settings.fit), self.data, self.settings.noise)
        fixed = len(self.base.errors) - len(after.errors)
        freedom = max(self.data.rows - len(self.base.errors), 1)
        growth = 1 + self.settings.tolerance**2 * max(fixed, 1) / freedom
        invisible = INVISIBLE * math.sqrt(self.data.mean(self.data.y**2))
        allowed = max(
            max(self.base.fit.mse, self.data.known_variance) * growth,
            max(4 * after.noise, 4 * self.base.noise, invisible) ** 2,
        )
        return after if after.fit.mse <= allowed and after.is_shorter(state, self.data, saves) else None

    def shorten(self, state: _State) -> _State:
        """Of data that the formula fits exactly, the constants with as few digits as do so as well."""
        if not self.is_exact(state) or not len(state.errors):
            return state
        exact = (4 * state.noise) ** 2
        values = state.fit.expression.constants
        for digits in range(2, 15):
            short = state.fit.expression.with_constants([float(f"{v:.{digits}g}") for v in values])
            mse = self.data.mse(compile_expression(short).values(self.data.columns))
            if mse <= exact:
                return replace(state, fit=replace(state.fit, expression=short, mse=mse, r2=self.data.r2(mse)))
        return state


def _with(expression: Expression, numbers: dict[int, Expression]) -> Expression:
    """With these in place of some of its free constants."""
    return canonical(with_numbers(expression, numbers))


def _is_unusual(number: Expression) -> bool:
    """Whether a closed form has pi, a root or e in it, or is a fraction that people rarely write: halves, thirds and
    decimals have denominators of twos, threes and fives. 1/7 is the number 7, below a line."""
    if any(isinstance(node, Apply) and node.operator.precedence == CALL for node in postorder(number)):
        return True
    fraction = polynomial(number).coefficients.get(0)  # type: ignore[union-attr]  # of numbers alone
    if fraction is None or abs(fraction.numerator) == 1:
        return False
    rest = fraction.denominator
    for prime in (2, 3, 5):
        while rest % prime == 0:
            rest //= prime
    return rest > 1


def _exponents(expression: Expression) -> list[int]:
    """Which of the free constants are exponents."""
    places: list[bool] = []
    nodes = postorder(expression)
    for node, after in zip(nodes, [*nodes[1:], None], strict=True):
        if is_free(node):
            places.append(isinstance(after, Apply) and after.operator.name == "pow" and after.operands[1] is node)
    return [index for index, place in enumerate(places) if place]


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
        # A closed form that is further off than a tenth is another number, however little the data say.
        reach = min(_reach(value, error, settings), 0.1 * abs(value))
        if value:
            forms = closed_forms(value, reach, largest=settings.largest)[:4]
            choices.extend((i, formula_bits(form), form) for form in forms)
    return sorted(choices, key=lambda choice: choice[1])
