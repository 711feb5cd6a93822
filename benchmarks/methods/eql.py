"""EQL, the equation learner (Sahoo et al. 2018, Kim et al. 2020): our network, unpruned, trained until few weights are
left, with a division in its last layer.

Every operand is a weighted sum of all nodes before it. A smoothed L0.5 norm drives weights to zero, those below 0.01
are cut, the others are trained on without the norm, and the formula is all that is left: many edges per operand, where
our pruning keeps one. As published: two hidden layers, several nodes of each operator, the norm and its weight, the
phases with their lengths and learning rates.

The output is a quotient of two such sums, as in Sahoo et al.: a/b where b is above a threshold and 0 elsewhere, the
threshold falls as 1/sqrt(1 + t), and what b lacks to it is a penalty. A formula has the quotient as it is. Every other
round has no denominator, so that what needs none loses little by it; their extra epochs on inputs beyond the data are
left out.

What differs: our layers see all layers before, where theirs have nodes that pass a value on. The operators are those
of our default search but for `+` and `-` (an operand is a sum already), `/` within the layers and `sqrt` (undefined
for half of all operands; log and exp make it). Adam takes the place of RMSProp: here it left fewer weights.

Where the publication leaves it open, or runs for longer than the time there is: columns and target come in units of
their own size, which the weights of the formula undo; the output's constant starts at the mean and the norm leaves it
alone; eight networks are trained together, in rounds of which the first is short. The best network of all is the one
of the least Bayesian information criterion. A gift are the fits by least squares, each with one more cut, at the end of
a round: theirs ends with the training.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.least_squares import levenberg_marquardt
from prunesymnet.data import Dataset
from prunesymnet.expression import Constant, Expression, Variable, compile_expression
from prunesymnet.network import Group, Network
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
EPOCHS = 400.0  # t at the end of a round: the least denominator goes from 1 to 0.05, that of a number of ordinary size

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

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """With one more, the last: the denominator of the output, which reads what the numerator does."""
        numerator = super().groups[-1]
        below = replace(numerator, operator="denominator", node=-2, start=numerator.start + numerator.width)
        return (*super().groups, below)

    @property
    def numerator(self) -> Group:
        return self.groups[-2]

    @property
    def denominator(self) -> Group:
        return self.groups[-1]

    @property
    def constant(self) -> int:
        """The numerator's edge to the constant 1."""
        return self.numerator.start + len(self.inputs)

    @property
    def one(self) -> int:
        """The denominator's edge to the constant 1."""
        return self.denominator.start + len(self.inputs)

    def start(self, seed: int, mean: float, divides: bool) -> Array:
        """[restarts, edges]: drawn weights, but the numerator's constant is the target's mean, and the denominator's 1
        (nothing else, where the output is not to divide)."""
        weights = self.draw_weights(RESTARTS, seed)
        weights[:, self.denominator.start :] *= divides
        weights[:, self.constant], weights[:, self.one] = mean, 1.0
        return weights


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
    mean[network.constant], mean[network.one] = np.mean(data.y), 1.0
    best, share, rounds = Found(mean, 1, math.inf, math.inf), FIRST, 0  # for the case that no formula is finite
    while rounds == 0 or (best.mse > ROUNDING * spread**2 and end - time.monotonic() > LAST * seconds):
        began = time.monotonic()
        weights = network.start(seed * 1_000_003 + rounds, float(np.mean(target)), divides=rounds % 2 == 1)
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
    units[network.numerator.start : network.denominator.start] *= spread
    inputs = network.input_table(data.columns) * per_node[: network.sizes[0], None]
    return inputs.astype(np.float32), (data.y / spread).astype(np.float32), units


def trained(network: Learner, weights: Array, inputs: Any, target: Any, share: float, deadline: float) -> Array:
    """The weights [restarts, edges] after all phases; each ends after its share of the steps, or of the time."""
    moving = weights.astype(np.float32)
    alive = np.ones_like(moving)
    if not divides(network, moving):
        alive[:, network.denominator.start :] = 0.0
    began, total, passed = time.monotonic(), sum(steps for steps, *_ in PHASES), 0
    for steps, rate, with_norm in PHASES:
        passed += steps
        until = began + (deadline - began) * passed / total
        if not with_norm:
            large = (abs(moving) >= LEAST).astype(np.float32)
            moving *= large
            alive *= large
        adam, many = Adam(np, moving), math.ceil(share * steps)
        for step in range(many):
            done = (passed - steps + steps * step / many) / total
            theta = 1 / math.sqrt(1 + EPOCHS * done)
            adam.step(moving, alive * slope(network, moving, inputs, target, SPARSITY * with_norm, theta), rate)
            if time.monotonic() > until:
                break
    return moving.astype(np.float64)


def divides(network: Learner, weights: Any) -> bool:
    """Whether a denominator is more than the number 1."""
    parts = np.array(weights[..., network.denominator.start :])
    parts[..., len(network.inputs)] -= 1
    return bool(parts.any())


def slope(network: Learner, weights: Any, inputs: Any, target: Any, sparsity: float, theta: float = 0.0) -> Any:
    """The gradient of the mean squared error, the norm and, where an output divides, what denominators lack to theta;
    clipped for each network."""
    rows, sizes, end = network.rows, network.sizes, network.denominator.start
    output, nodes, partials, _ = forward(np, weights[:, :end], inputs, rows, sizes)
    gradient = np.zeros_like(weights)
    per_point = weights.dtype.type(1 / len(target))
    with np.errstate(all="ignore"):
        if divides(network, weights):
            below = (weights[:, None, end:] @ nodes)[:, 0]
            valid = below > theta
            inverse = np.where(valid, 1 / np.where(valid, below, 1), 0)
            upstream = 2 * per_point * (output * inverse - target) * inverse  # by the numerator
            gradient[:, :end] = backward(np, upstream, weights[:, :end], nodes, partials, rows, sizes)
            # By the denominator: the same way back from another row of weights.
            upstream = np.where(valid, -upstream * output * inverse, -per_point)
            heads = np.concatenate([weights[:, : network.numerator.start], weights[:, end:]], axis=1)
            back = backward(np, upstream, heads, nodes, partials, rows, sizes)
            gradient[:, : network.numerator.start] += back[:, : network.numerator.start]
            gradient[:, end:] = back[:, network.numerator.start :]
        else:
            upstream = 2 * per_point * (output - target)
            gradient[:, :end] = backward(np, upstream, weights[:, :end], nodes, partials, rows, sizes)
        if sparsity:
            norm = smoothed_half_norm(np, weights, SMOOTH)[1]
            norm[:, [network.constant, network.one]] = 0.0
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

    Where a protection fires, the formula would say something else: that counts as infinite. A factor that numerator
    and denominator have in common is no number of the formula.
    """
    values, fired = output(network, weights, network.input_table(data.columns))
    with np.errstate(all="ignore"):
        mse = float(np.mean((values - data.y) ** 2))
    if fired or not math.isfinite(mse):
        mse = math.inf
    count, rows = int(np.count_nonzero(weights)) - 1, data.rows
    variance = max(mse, EXACT * float(np.var(data.y))) * rows / max(rows - count, 1)
    return Found(weights, count, mse, rows * math.log(variance) + count * math.log(rows))


def output(network: Learner, weights: Array, table: Array) -> tuple[Array, bool]:
    """The values of one network, [edges], and whether a protection has fired; an infinity where it divides by 0."""
    end = network.denominator.start
    above, nodes, _, fired = forward(np, weights[None, :end], table, network.rows, network.sizes)
    with np.errstate(all="ignore"):
        return above[0] / (weights[end:] @ nodes[0]), bool(fired.any())


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
    if not np.delete(parts[-1], one).any() and parts[-1][one]:  # a number is no denominator
        parts[-2][:] /= parts[-1][one]
        parts[-1][one] = 1.0
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
    above = operand(len(network.groups) - 2)
    return above / operand(len(network.groups) - 1) if divides(network, weights) else above


def fitted(network: Learner, weights: Array, data: Dataset, seconds: float) -> Array:
    """The weights of least squared error; one that the formula has in several places stays one number."""
    prefix = "w_"
    while any(name.startswith(prefix) for name in data.names):
        prefix += "_"
    held = largest_below(network, weights, data)
    columns = dict(data.columns) | {f"{prefix}{held}": np.full(data.rows, weights[held])}  # a column is not fitted
    edges = {f"{prefix}{edge}": edge for edge in np.flatnonzero(weights).tolist() if edge != held}
    program = compile_expression(formula(network, weights, lambda edge: Variable(f"{prefix}{edge}")), edges)
    order = [edges[str(label)] for label in program.labels]
    starts = weights[None, order]
    solution = levenberg_marquardt(program, columns, data.y, starts, time_limit=seconds, second_chance=False)
    best = weights.copy()
    best[order] = solution.constants
    return best


def largest_below(network: Learner, weights: Array, data: Dataset) -> int:
    """The edge that adds most to the denominator. It is held in a fit: without that, numerator and denominator could
    grow together for nothing."""
    end = network.denominator.start
    nodes = forward(np, weights[None, :end], network.input_table(data.columns), network.rows, network.sizes)[1][0]
    return end + int(np.argmax(np.abs(weights[end:]) * np.sqrt(np.mean(nodes**2, axis=1))))
