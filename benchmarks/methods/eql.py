"""EQL, the equation learner (Kim et al. 2020): our network, unpruned, trained until few weights are left.

Every operand is a weighted sum of all nodes before it. A smoothed L0.5 norm drives weights to zero, those below 0.01
are cut, the others are trained on without the norm, and the formula is all that is left: many edges per operand, where
our pruning keeps one. As published: two hidden layers, several nodes of each operator, the norm and its weight, the
phases with their lengths and learning rates.

What differs: our layers see all layers before, where theirs have nodes that pass a value on. The operators are those
of our default search but for `+` and `-` (an operand is a sum already), `/` (EQL has none) and `sqrt` (undefined for
half of all operands; log and exp make it). Adam takes the place of RMSProp: here it left fewer weights.

Where the publication leaves it open, or runs for longer than the time there is: columns and target come in units of
their own size, which the weights of the formula undo; the output's constant starts at the mean and the norm leaves it
alone; eight networks are trained together, in rounds of which the first is short. The best network of all is the one
of the least Bayesian information criterion. A gift are the fits by least squares, each with one more cut, at the end of
a round: theirs ends with the training.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.least_squares import levenberg_marquardt
from prunesymnet.data import Dataset
from prunesymnet.expression import Constant, Expression, Variable, compile_expression
from prunesymnet.network import Network
from prunesymnet.network.activation import backward, forward
from prunesymnet.network.training import Adam, smoothed_half_norm
from prunesymnet.operators import OPERATORS, Operator
from prunesymnet.operators.protection import protected_form

Array = NDArray[np.float64]

NODES = {"*": 2, "square": 4, "sin": 2, "cos": 2, "exp": 2, "log": 2}  # of each operator in a layer
LAYERS = 2
SPARSITY, SMOOTH = 5e-3, 0.05  # the weight of the norm, and the size of a weight below which it is rounded off
LEAST = 0.01  # of a weight that is not cut
PHASES = (2000, 0.1, True), (10_000, 0.01, True), (10_000, 0.001, False)  # steps, learning rate, with the norm?
CLIP = 1.0  # of the length of a gradient

RESTARTS = 8  # networks that are trained together
FIRST = 0.1  # of the steps are those of the first round; each that follows has twice as many, up to all
LAST = 0.1  # of the time: with less than that left, no round begins
FITTING = 0.2  # of the time of a round is for its fits
FITTED = 4  # networks of a round that are fitted
FITS = 3  # of one network, with what has become too small cut in between
EXACT = 1e-12  # mean squared error, relative to the target's variance: below it, only the number of weights counts
ROUNDING = 1e-20  # the same: nothing is left to find


@dataclass(frozen=True)
class Learner(Network):
    """Our network with several nodes of each operator in a layer."""

    operators: tuple[str, ...] = tuple(NODES)
    layers: int = LAYERS

    @cached_property
    def rows(self) -> tuple[Operator, ...]:
        return tuple(OPERATORS[name] for name in self.operators for _ in range(NODES[name]))

    @property
    def constant(self) -> int:
        """The output's edge to the constant 1."""
        return self.groups[-1].start + len(self.inputs)


@dataclass(frozen=True)
class Found:
    weights: Array
    count: int  # of weights that are not 0
    mse: float
    criterion: float


def fit(data: Dataset, seconds: float, seed: int) -> Expression:
    end = time.monotonic() + seconds
    spread = float(np.std(data.y))
    if spread <= EXACT * float(np.max(np.abs(data.y))):
        return Constant(float(np.mean(data.y)))
    network = Learner(data.names)
    inputs, target, units = scaled(network, data)
    mean = np.zeros(network.edges)
    mean[network.constant] = np.mean(data.y)
    best, share, rounds = Found(mean, 1, math.inf, math.inf), FIRST, 0  # for the case that no formula is finite
    while rounds == 0 or (best.mse > ROUNDING * spread**2 and end - time.monotonic() > LAST * seconds):
        began = time.monotonic()
        weights = network.draw_weights(RESTARTS, seed * 1_000_003 + rounds)
        weights[:, network.constant] = np.mean(target)
        weights = trained(network, weights, inputs, target, share, began + (1 - FITTING) * (end - began))
        taken = (time.monotonic() - began) / (1 - FITTING)
        candidates = judged(network, weights * units, LEAST * units, data, min(began + taken, end))
        best = min(best, *candidates, key=lambda found: (found.criterion, found.mse))
        share, rounds = min(2 * share, 1.0), rounds + 1
    return formula(network, best.weights, lambda edge: Constant(float(best.weights[edge])))


def scaled(network: Learner, data: Dataset) -> tuple[Any, Any, Array]:
    """The input table and the target in units of training, and the weight of each edge, [edges], that is 1 in them.

    A column is divided by its root mean square and the target by its standard deviation; neither is moved, so that a
    product stays a product.
    """
    size = np.sqrt(np.mean(data.X**2, axis=0))
    size[size == 0] = 1.0
    spread = float(np.std(data.y))
    per_node = np.ones(network.sizes[-1])
    per_node[: len(size)] = 1 / size
    units = np.concatenate([per_node[: group.width] for group in network.groups])
    units[network.groups[-1].start :] *= spread
    inputs = network.input_table(data.columns) * per_node[: network.sizes[0], None]
    return inputs.astype(np.float32), (data.y / spread).astype(np.float32), units


def trained(network: Learner, weights: Array, inputs: Any, target: Any, share: float, deadline: float) -> Array:
    """The weights [restarts, edges] after all phases; each ends after its share of the steps, or of the time."""
    moving = weights.astype(np.float32)
    alive = np.ones_like(moving)
    began, total, passed = time.monotonic(), sum(steps for steps, *_ in PHASES), 0
    for steps, rate, with_norm in PHASES:
        passed += steps
        until = began + (deadline - began) * passed / total
        if not with_norm:
            alive = (abs(moving) >= LEAST).astype(np.float32)
            moving *= alive
        adam = Adam(np, moving)
        for _ in range(math.ceil(share * steps)):
            adam.step(moving, alive * slope(network, moving, inputs, target, SPARSITY * with_norm), rate)
            if time.monotonic() > until:
                break
    return moving.astype(np.float64)


def slope(network: Learner, weights: Any, inputs: Any, target: Any, sparsity: float) -> Any:
    """The gradient of the mean squared error and the norm, clipped for each network."""
    rows, sizes = network.rows, network.sizes
    output, nodes, partials, _ = forward(np, weights, inputs, rows, sizes)
    with np.errstate(all="ignore"):
        upstream = (output - target) * weights.dtype.type(2 / len(target))
        gradient = backward(np, upstream, weights, nodes, partials, rows, sizes)
        if sparsity:
            norm = smoothed_half_norm(np, weights, SMOOTH)[1]
            norm[:, network.constant] = 0.0
            gradient += sparsity * norm
        length = np.sqrt((gradient * gradient).sum(-1))[:, None]
        gradient *= np.minimum(CLIP / (length + 1e-30), 1.0)
    return np.nan_to_num(gradient, copy=False, nan=0.0, posinf=0.0, neginf=0.0)


def judged(network: Learner, weights: Array, least: Array, data: Dataset, deadline: float) -> Iterator[Found]:
    """What the networks say, and the best of them once more after each fit.

    With more weights than half the rows, a fit would follow the points.
    """
    found = sorted((judge(network, settled(network, row), data) for row in weights), key=lambda one: one.criterion)
    yield from found
    few = [one for one in found if 0 < one.count <= data.rows / 2 and math.isfinite(one.mse)][:FITTED]
    for place, one in enumerate(few):
        now = time.monotonic()
        yield from fits(network, one, least, data, now + (deadline - now) / (len(few) - place))


def fits(network: Learner, found: Found, least: Array, data: Dataset, deadline: float) -> Iterator[Found]:
    """A network after a fit, and again as long as the fit makes weights too small (below `least`, [edges])."""
    for _ in range(FITS):
        left = deadline - time.monotonic()
        if left <= 0:
            return
        better = judge(network, fitted(network, found.weights, data, left), data)
        yield better
        found = judge(network, settled(network, np.where(abs(better.weights) >= least, better.weights, 0.0)), data)
        if found.count in (0, better.count) or not math.isfinite(found.mse):
            return


def judge(network: Learner, weights: Array, data: Dataset) -> Found:
    """A network with its error and its criterion, for which the error is that of an unbiased estimate.

    Where a protection fires, the formula would say something else: that counts as infinite.
    """
    table = network.input_table(data.columns)
    output, _, _, fired = forward(np, weights[None], table, network.rows, network.sizes)
    mse = math.inf if fired.any() else float(np.mean((output[0] - data.y) ** 2))
    count, rows = int(np.count_nonzero(weights)), data.rows
    variance = max(mse, EXACT * float(np.var(data.y))) * rows / max(rows - count, 1)
    return Found(weights, count, mse, rows * math.log(variance) + count * math.log(rows))


def settled(network: Learner, weights: Array) -> Array:
    """The same network, [edges], without what does not count: what a node of constant value adds goes into the edge to
    the constant 1, and edges that do not lead to the output are cut."""
    weights, one = weights.copy(), len(network.inputs)
    parts = [weights[group.start : group.start + group.width] for group in network.groups]
    nodes = range(network.sizes[0], network.sizes[-1])
    for node in nodes:
        value = constant_value(network.operator_of(node), [parts[i] for i in network.groups_of[node]], one)
        if value is not None:
            for part in parts:
                if len(part) > node:
                    part[one] += value * part[node]
                    part[node] = 0.0
    for node in reversed(nodes):
        if not any(part[node] for part in parts if len(part) > node):
            for i in network.groups_of[node]:
                parts[i][:] = 0.0
    return weights


def constant_value(operator: Operator | None, operands: list[Array], one: int) -> float | None:
    """The value of a node whose operands have an edge to the constant 1 only, or that is a product with 0."""
    if operator is OPERATORS["*"] and not all(weights.any() for weights in operands):
        return 0.0
    if any(np.delete(weights, one).any() for weights in operands):
        return None
    with np.errstate(all="ignore"):
        value, *_ = protected_form(operator)(np, *(weights[one : one + 1] for weights in operands))
    return float(value[0])


def formula(network: Learner, weights: Array, number: Callable[[int], Expression]) -> Expression:
    """All edges whose weight is not 0, each with the number that is given for it."""
    made: dict[int, Expression] = {}

    def operand(index: int) -> Expression:
        group = network.groups[index]
        total: Expression | None = None
        for source in np.flatnonzero(weights[group.start : group.start + group.width]).tolist():
            term = number(group.start + source)
            if source != len(network.inputs):
                term = term * made[source]
            total = term if total is None else total + term
        return Constant(0) if total is None else total

    for node in range(network.sizes[-1]):
        made[node] = network.node_expression(node, operand)
    return operand(len(network.groups) - 1)


def fitted(network: Learner, weights: Array, data: Dataset, seconds: float) -> Array:
    """The weights of least squared error; one that the formula has in several places stays one number."""
    prefix = "w_"
    while any(name.startswith(prefix) for name in data.names):
        prefix += "_"
    edges = {f"{prefix}{edge}": edge for edge in np.flatnonzero(weights).tolist()}
    program = compile_expression(formula(network, weights, lambda edge: Variable(f"{prefix}{edge}")), edges)
    order = [edges[str(label)] for label in program.labels]
    starts = weights[None, order]
    solution = levenberg_marquardt(program, data.columns, data.y, starts, time_limit=seconds, second_chance=False)
    best = weights.copy()
    best[order] = solution.constants
    return best
