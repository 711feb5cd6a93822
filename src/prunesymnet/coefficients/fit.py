"""Fit the free constants of a formula to a table.

>>> from prunesymnet.data import load_example
>>> from prunesymnet.expression import parse
>>> result = fit(parse("a*semi_major_axis**b"), load_example("planets"), parameters=["a", "b"])
>>> {name: round(value, 3) for name, value in result.parameters.items()}
{'a': 1.0, 'b': 1.5}
>>> result.status.value
'converged'

`method="lm"` is Levenberg-Marquardt with the linear constants eliminated (`least_squares`), "bfgs" is what the
paper uses. Constants should be merged first (`canonical`): redundant ones can't be told apart by any data.
"""

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.least_squares import FitStatus, Solution, levenberg_marquardt
from prunesymnet.coefficients.reweighting import first_root, reweighted
from prunesymnet.data import Dataset
from prunesymnet.expression import Expression, Program, compile_expression, evaluate
from prunesymnet.settings import check_number, check_whole

Array = NDArray[np.float64]

# Of BFGS, on a loss in which the target's sum of squares is 1.
RIDGE = 1e-10  # beside columns of length one: so that constants which the data can't tell apart have an inverse, too
CURVATURE = 1.0  # at least, by constants that are not linear: that of the identity, with which BFGS starts in textbooks
SUFFICIENT = 1e-4  # of the descent that the slope promises: Nocedal and Wright's
SHORTEST_STEP = 1e-8  # of the direction: below, nothing but rounding is left to be found
NO_DESCENT = 1e-12  # of the loss: what a further step would win is not seen
NO_LOSS = 1e-30  # below the rounding of the residuals


@dataclass(frozen=True, slots=True)
class FitSettings:
    """How to fit. `starts`: from how many points, of which the first is the constants as they stand;
    `batch`: how many values a step of a multi-start fit may hold at a time (more rows than that are
    sampled, and the best start is then fitted on all of them); `second_chance`: whether a poor fit is tried again
    without elimination of the linear constants; `reweightings`: how many least-squares fits another loss may take
    beside the first."""

    method: str = "lm"
    starts: int = 1
    max_iterations: int = 100
    time_limit: float = math.inf
    seed: int = 0
    batch: int = 2_000_000
    second_chance: bool = True
    reweightings: int = 60

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, got {self.method!r}")
        check_whole(self, starts=1, max_iterations=1, batch=1, seed=0, reweightings=0)
        check_number(self, "time_limit", "a number of seconds > 0", lambda v: v > 0)


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted formula. `mse` is weighted by the data's weights, and in its place there is the mean loss, in the same
    units, if the data have another; `parameters` are the named constants."""

    expression: Expression
    mse: float
    r2: float
    status: FitStatus
    iterations: int
    seconds: float
    parameters: dict[str, float] = field(default_factory=dict)
    form: Expression | None = None  # with the names of its parameters, and numbers for its other constants
    before_rounding: Expression | None = None  # what a search had before it rounded; None: this is no search's find

    def __str__(self) -> str:
        return f"{self.expression}  (R² = {self.r2:.6g}, {self.status.value})"


def fit(
    expression: Expression,
    data: Dataset,
    *,
    parameters: Collection[str] = (),
    settings: FitSettings | None = None,
    first: Sequence[Mapping[str, float]] = (),
) -> Fit:
    """The formula with its free constants (floats, and the variables named in `parameters`) fitted. Where something
    is known of them, `first` are values of parameters to start from, in place of points that are drawn.

    A formula that overflows, or whose constants can't be told apart, is a result: see `Fit.status`.
    """
    if not isinstance(data, Dataset):
        raise TypeError(f"data must be a Dataset, as make_dataset(X, y) makes one, got {type(data).__name__}")
    began = time.perf_counter()
    settings = settings or FitSettings()
    deadline = time.monotonic() + settings.time_limit
    program = compile_fit(expression, data, parameters)
    columns, y = data.columns, data.y
    root = first_root(program, data)
    if len(program.constants):
        starts = draw_starts(program.constants, settings.starts, settings.seed, columns.values())
        if first:
            known = zip(program.labels, program.constants, strict=True)
            pairs = [(label, value) for label, value in known]
            starts = np.array([[at.get(label or "", value) for label, value in pairs] for at in first])
        solution = METHODS[settings.method](program, columns, y, root, starts, settings)
        if solution.status is FitStatus.NOT_FINITE:
            # A constant that is 1 but for its last digit may put the edge of a domain, sqrt(x - 1), on the wrong side.
            short = np.array([[float(f"{value:.12g}") for value in starts[0]]])
            solution = METHODS[settings.method](program, columns, y, root, short, settings)
    else:
        solution = Solution(program.constants, _cost(program, columns, y, root), FitStatus.CONVERGED, 0)
        if not math.isfinite(solution.cost):
            solution = Solution(program.constants, math.inf, FitStatus.NOT_FINITE, 0)
    if data.loss.quadratic:
        mse = solution.cost / (len(y) if data.weights is None else float(data.weights.sum()))
    else:
        solution, mse = reweighted(program, data, solution, settings.reweightings, deadline)
    form, named = _put_in(expression, program, solution.constants)
    return Fit(
        expression=form.substitute(named) if named else form,
        mse=mse,
        r2=data.r2(mse),
        status=solution.status,
        iterations=solution.iterations,
        seconds=time.perf_counter() - began,
        parameters=named,
        form=form if named else None,
    )


def measure(expression: Expression, data: Dataset) -> Fit:
    """A formula as it stands, with its error on the data."""
    values, finite = evaluate(expression, data.columns)
    mse = data.mse(values) if finite.all() else math.inf
    status = FitStatus.CONVERGED if math.isfinite(mse) else FitStatus.NOT_FINITE
    return Fit(expression, mse, data.r2(mse), status, 0, 0.0)


def compile_fit(expression: Expression, data: Dataset, parameters: Collection[str] = ()) -> Program:
    """The program of a formula, checked against the columns that there are."""
    program = compile_expression(expression, parameters)
    for name in program.variables:
        if name not in data.names:
            raise ValueError(
                f"the formula needs {name!r}, which is no column of the data ({', '.join(data.names)}); "
                "name it in parameters if it is a constant to be fitted"
            )
    for name in parameters:
        if name in data.names:
            raise ValueError(f"{name!r} is a column of the data; a parameter needs another name")
        if name not in program.labels:
            raise ValueError(f"parameter {name!r} does not appear in the formula {expression}")
    return program


def draw_starts(constants: Array, starts: int, seed: int, columns: Iterable[Array] = ()) -> Array:
    """[starts, constants]: the constants as they stand, then a third variations of them, a third fresh draws of any
    sign and a size from 0.01 to 30, and a third draws that suit a column: a value of it, or a rate over its range."""
    if starts == 1:
        return constants[None]
    rng = np.random.default_rng(seed)
    shape = (starts - 1, len(constants))
    sign = rng.choice([1.0, -1.0], shape, p=[0.7, 0.3])
    near = np.where(constants == 0, 1.0, constants) * np.exp(rng.normal(0, 1, shape)) * sign
    size = 10.0 ** rng.uniform(-2, 1.5, shape)
    ranges = np.array([(column.min(), np.ptp(column)) for column in columns if np.ptp(column) > 0])
    suited = size * sign
    if len(ranges):
        low, width = np.moveaxis(ranges[rng.integers(len(ranges), size=shape)], -1, 0)
        inside = low + width * rng.uniform(size=shape)
        suited = np.where(rng.uniform(size=shape) < 0.5, inside, size * sign / width)
    kind = np.arange(starts - 1)[:, None] % 3
    return np.concatenate([constants[None], np.select([kind == 0, kind == 1], [near, suited], size * sign)])


def _put_in(expression: Expression, program: Program, constants: Array) -> tuple[Expression, dict[str, float]]:
    """The formula with numbers in place of its free constants, but for those that have a name; these by name."""
    named = {label: float(v) for label, v in zip(program.labels, constants, strict=True) if label is not None}
    numbers = [float(v) for label, v in zip(program.labels, constants, strict=True) if label is None]
    return expression.with_constants(numbers) if numbers else expression, named


def _cost(program: Program, columns: Any, y: Array, root: Array | None) -> float:
    residual = y - program.values(columns)
    residual = residual if root is None else residual * root
    with np.errstate(all="ignore"):
        return float(residual @ residual)


def _lm(program: Program, columns: Any, y: Array, root: Array | None, starts: Array, settings: FitSettings) -> Solution:
    limits: dict[str, Any] = {
        "max_iterations": settings.max_iterations,
        "time_limit": settings.time_limit,
        "second_chance": settings.second_chance,
    }
    rows = max(settings.batch // len(starts), 10 * starts.shape[1], 100)
    if len(starts) > 1 and len(y) > rows:
        sample = np.random.default_rng(settings.seed).choice(len(y), rows, replace=False)
        part = {name: column[sample] for name, column in columns.items()}
        some = None if root is None else root[sample]
        best = levenberg_marquardt(program, part, y[sample], starts, root_weights=some, **limits)
        starts = best.constants[None]
    return levenberg_marquardt(program, columns, y, starts, root_weights=root, **limits)


def _bfgs(
    program: Program, columns: Any, y: Array, root: Array | None, starts: Array, settings: FitSettings
) -> Solution:
    """Broyden-Fletcher-Goldfarb-Shanno on the mean squared error, from each start in turn."""
    with np.errstate(all="ignore"):
        bound = program.bind(columns)
    target = y if root is None else y * root
    unit = float(target @ target) or 1.0  # the loss without scale, so that one tolerance serves all data
    deadline = time.monotonic() + settings.time_limit

    curved = np.full(len(starts[0]), CURVATURE)
    curved[list(program.linear)] = 0.0

    def residual_and_jacobian(theta: Array) -> tuple[Array, Array]:
        values, jacobian = bound.values_and_jacobian(theta)
        if root is not None:
            values, jacobian = values * root, jacobian * root
        return values - target, jacobian

    best = Solution(starts[0], math.inf, FitStatus.NOT_FINITE, 0)
    for start in starts:
        with np.errstate(all="ignore"):
            found = _descend(residual_and_jacobian, start, curved, unit, settings.max_iterations, deadline)
        if found.cost < best.cost:
            best = found
        if found.status is FitStatus.TIME_LIMIT:
            break
    return best


def _descend(
    residual_and_jacobian: Callable[[Array], tuple[Array, Array]],
    start: Array,
    curved: Array,
    unit: float,
    max_iterations: int,
    deadline: float,
) -> Solution:
    """BFGS with a backtracking line search (Nocedal and Wright, algorithms 3.1 and 6.1; scipy's costs three times as
    much for sums of squares as small as ours). The first inverse Hessian is that of the linear problem at the start,
    with the curvatures `curved` added: with the identity, terms such as x and x**8, whose sizes lie far apart, take
    hundreds of iterations."""

    def loss(theta: Array) -> tuple[float, Array, Array]:
        residual, jacobian = residual_and_jacobian(theta)
        value = float(residual @ residual) / unit
        slope = 2 * (jacobian @ residual) / unit
        return (value if np.isfinite(slope).all() else math.nan), slope, jacobian

    theta, status, steps = start, FitStatus.MAX_ITERATIONS, 0
    value, slope, jacobian = loss(theta)
    if not math.isfinite(value):
        return Solution(start, math.inf, FitStatus.NOT_FINITE, 0)
    inverse, plain = _first_guess(jacobian, curved, unit), False
    while steps < max_iterations:
        direction = -(inverse @ slope)
        descent = float(slope @ direction)
        if not -descent > NO_DESCENT * value or value <= NO_LOSS:
            status = FitStatus.CONVERGED
            break
        if time.monotonic() > deadline:
            status = FitStatus.TIME_LIMIT
            break
        steps, length = steps + 1, 1.0
        while length > SHORTEST_STEP:
            after, slope_after, jacobian_after = loss(theta + length * direction)
            if after <= value + SUFFICIENT * length * descent:
                break
            # The minimum of the parabola through what is known, if that is neither too near nor too far.
            bend = 2 * (after - value - length * descent)
            shorter = -descent * length**2 / bend if math.isfinite(bend) and bend > 0 else 0.0
            length = min(max(shorter, 0.1 * length), 0.5 * length)
        else:
            if plain:
                status = FitStatus.CONVERGED  # to the last digits
                break
            # Constants that hardly differ in what they do make a poor guess: go on without it.
            inverse, plain = _first_guess(jacobian, curved, unit, ridge=1.0), True
            continue
        move, change = length * direction, slope_after - slope
        theta, value, slope, jacobian = theta + move, after, slope_after, jacobian_after
        inverse = _updated(inverse, move, change)
    return Solution(theta, value * unit, status, steps)


def _first_guess(jacobian: Array, curved: Array, unit: float, ridge: float = RIDGE) -> Array:
    """The inverse Hessian of the linear problem, [constants, constants]; a larger ridge makes for shorter steps. What
    the frequency in 1e-6*cos(w*x) does is hardly seen: without a curvature of its own, it would be sent far away before
    the factor has grown."""
    added = curved * (unit / 2)
    size = np.sqrt(np.einsum("kn,kn->k", jacobian, jacobian) + added)
    size = np.where((size > 0) & np.isfinite(size), size, 1.0)
    columns = jacobian / size[:, None]
    gram = columns @ columns.T + np.diag(added / size**2 + ridge)
    guess: Array = np.linalg.inv(gram) / np.outer(size, size) * (unit / 2)
    return guess


def _updated(inverse: Array, move: Array, change: Array) -> Array:
    """The inverse Hessian after a step; as it was where the curvature along the step is not positive."""
    curvature = float(move @ change)
    if not curvature > 0 or not math.isfinite(1 / curvature):
        return inverse
    turned = inverse @ change
    stretch = (1 + float(change @ turned) / curvature) / curvature
    cross = np.outer(turned, move) / curvature
    result: Array = inverse + stretch * np.outer(move, move) - cross - cross.T
    return result


METHODS: dict[str, Callable[..., Solution]] = {"lm": _lm, "bfgs": _bfgs}
"""The ways to fit, by name."""
