"""Training: mean squared error plus a smoothed L0.5 norm, Adam, and what keeps it from going wrong.

>>> from prunesymnet.data import make_dataset
>>> x = np.linspace(-2, 2, 32)
>>> trainer = Trainer(Network(("x",), layers=2), make_dataset(x, x**2, names=["x"]), TrainingSettings(seed=1))
>>> losses = [float(trainer.step()[0]) for _ in range(50)]
>>> losses[-1] < losses[0]
True

All restarts are trained together, each with its own clipping, learning rate and re-initialisation. No loss, gradient
or weight is ever infinite or nan: operators are protected (`activation`), gradients are clipped, and a jump of the
error cuts the operand of the operator whose protection fired.

The arrays are numpy's on a CPU and torch's on a GPU (`xp`). The gradient is put together from the network's own way
back (`activation.backward`, which autograd and finite differences confirm) and the derivative of the norm: for one
network of six layers that is several times faster than a graph.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prunesymnet.data import Dataset
from prunesymnet.network import Network
from prunesymnet.network.activation import backward, forward
from prunesymnet.operators import UNNESTED
from prunesymnet.optional import check_device_name, device_of, import_torch
from prunesymnet.settings import check_number, check_whole

LARGEST = 1e12  # of a column or the target


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """The paper's settings where it gives them. `sparsity` is the weight of the L0.5 norm, `smooth` the size of a
    weight below which that norm is rounded off; more than `raise_after` prunings in a row with at least `overlap` of
    the candidates the same raise the learning rate by `learning_rate`, up to `most_learning_rate`. An error that grows
    `jump` times from one step to the next cuts the operands whose protection fired. The weights of edges between
    `unnested` operators are zero from the start and after each step. First weights are `uniform` (or else normal,
    which are larger) within a group. Without `gradient`, weights stay as they were
    drawn until it is time to draw them anew."""

    restarts: int = 1
    learning_rate: float = 0.01
    most_learning_rate: float = 0.08
    overlap: float = 0.8
    raise_after: int = 2
    clip: float = 0.5
    sparsity: float = 0.005
    smooth: float = 0.05
    reinitialise_every: int = 600
    reinitialise_after_fired: int = 20
    jump: float = 10.0
    unnested: tuple[str, ...] = UNNESTED
    uniform: bool = True
    gradient: bool = True
    device: str = "cpu"
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole(self, restarts=1, reinitialise_every=1, reinitialise_after_fired=1, raise_after=0, seed=0)
        for name in ("learning_rate", "most_learning_rate", "clip", "smooth", "jump"):
            check_number(self, name, "a number > 0", lambda v: v > 0)
        check_number(self, "overlap", "a fraction in (0, 1]", lambda v: 0 < v <= 1)
        check_number(self, "sparsity", "a number >= 0", lambda v: v >= 0)
        check_device_name(self.device)


def smoothed_half_norm(xp: Any, weights: Any, smooth: float) -> tuple[Any, Any]:
    """The sum of sqrt|w| over the last axis, and its derivative by each weight. Below `smooth`, a polynomial takes the
    place of |w|, so that there is a slope at 0."""
    square = weights * weights
    rounded = square * (3 / (4 * smooth) - square / (8 * smooth**3)) + 3 * smooth / 8
    small = square < smooth * smooth
    root = xp.sqrt(xp.where(small, rounded, abs(weights)))
    slope = xp.where(small, weights * (3 / (2 * smooth) - square / (2 * smooth**3)), xp.sign(weights))
    return root.sum(-1), slope / (2 * root)


@dataclass(frozen=True, slots=True)
class _Passed:
    """What a pass through the network leaves: residuals times the rows' shares, the mean squared error of each restart,
    and what the way back needs."""

    weighted: Any
    error: Any
    nodes: Any
    partials: list[Any]
    fired: Any


class Adam:
    """Adam for a batch of networks, each with its own learning rate and its own count of steps, so that one that
    starts again does so alone (torch.optim has one of each for all)."""

    def __init__(self, xp: Any, weights: Any, decay: tuple[float, float] = (0.9, 0.999), least: float = 1e-8) -> None:
        self.xp, self.decay, self.least = xp, decay, least
        self.mean, self.square = xp.zeros_like(weights), xp.zeros_like(weights)
        self.steps = xp.zeros_like(weights[:, :1])

    def step(self, weights: Any, gradient: Any, rates: Any) -> None:
        """Move the weights, in place."""
        first, second = self.decay
        self.steps += 1
        self.mean *= first
        self.mean += (1 - first) * gradient
        self.square *= second
        self.square += (1 - second) * gradient * gradient
        size = self.xp.sqrt(self.square / (1 - second**self.steps)) + self.least
        weights -= self.mean / size * (rates / (1 - first**self.steps))

    def forget(self, which: Any) -> None:
        """Start again for these networks."""
        self.mean[which] = self.square[which] = 0.0
        self.steps[which] = 0.0


class Trainer:
    """Weights [restarts, edges] in training: `step` is one epoch on the whole table for all restarts."""

    def __init__(self, network: Network, data: Dataset, settings: TrainingSettings) -> None:
        self.network, self.settings = network, settings
        self.device = device_of(settings.device)
        self.xp: Any = _library(self.device)
        self.drawn = 0
        self.nested = network.edges_between(settings.unnested)
        _check_sizes(data)
        self.inputs = self.place(network.input_table(data.columns))
        self.target = self.place(data.y)
        shares = np.ones(data.rows) if data.search_weights is None else data.search_weights
        self.shares = self.place(shares / shares.sum())
        self.weights = self.fresh(settings.restarts)
        self.adam = Adam(self.xp, self.weights)
        self.rates = self.xp.full_like(self.weights[:, :1], settings.learning_rate)
        self.same = [0] * settings.restarts  # prunings in a row with the same candidates
        self.fired_in_a_row = self.xp.zeros_like(self.weights[:, 0])
        self.since = self.xp.zeros_like(self.weights[:, 0])
        self.last = self.xp.full_like(self.weights[:, 0], self.xp.inf)  # error of the step before
        self.gradient: Any = None

    def place(self, array: NDArray[np.float64]) -> Any:
        """In float32, on the device of the training."""
        single = array.astype(np.float32)
        return single if self.xp is np else self.xp.from_numpy(single).to(self.device)

    def fresh(self, restarts: int) -> Any:
        self.drawn += 1
        seed = self.settings.seed * 1_000_003 + self.drawn
        weights = self.network.draw_weights(restarts, seed, uniform=self.settings.uniform)
        weights[:, self.nested] = 0.0
        return self.place(weights)

    def step(self) -> Any:
        """One epoch; the mean squared error of each restart before it."""
        passed = self._forward()
        error, fired = passed.error, passed.fired.any(-1).any(-1)
        if self.settings.gradient:
            jumped = fired & (error / self.settings.jump > self.last)
            if jumped.any():
                for restart in np.flatnonzero(_host(jumped)).tolist():
                    self._cut(restart, _host(passed.fired[restart]))
                passed = self._forward()
            self._descend(passed)
            self.last = passed.error
            self.fired_in_a_row = (self.fired_in_a_row + 1) * fired
        self.since += 1
        long_enough = self.since >= self.settings.reinitialise_every
        again = long_enough | (self.fired_in_a_row >= self.settings.reinitialise_after_fired)
        if again.any():
            self.reinitialise(again)
        return error

    def _forward(self) -> "_Passed":
        rows, sizes = self.network.rows, self.network.sizes
        output, nodes, partials, fired = forward(self.xp, self.weights, self.inputs, rows, sizes)
        residual = output - self.target
        weighted = residual * self.shares
        return _Passed(weighted, (weighted * residual).sum(-1), nodes, partials, fired)

    def _descend(self, passed: "_Passed") -> None:
        """One step of Adam; then no weight is left by which one unnested operator would stand inside another."""
        settings, xp = self.settings, self.xp
        rows, sizes = self.network.rows, self.network.sizes
        with np.errstate(all="ignore"):
            gradient = backward(xp, 2 * passed.weighted, self.weights, passed.nodes, passed.partials, rows, sizes)
            gradient += settings.sparsity * smoothed_half_norm(xp, self.weights, settings.smooth)[1]
            norm = xp.sqrt((gradient * gradient).sum(-1))[:, None]
            gradient *= xp.clip(settings.clip / (norm + 1e-30), None, 1.0)
        self.adam.step(self.weights, gradient, self.rates)
        self.weights[:, self.nested] = 0.0
        self.gradient = gradient

    def _cut(self, restart: int, fired: Any) -> None:
        for layer, k in np.argwhere(fired).tolist():
            node = self.network.sizes[layer] + k
            group = self.network.groups[self.network.groups_of[node][0]]
            self.weights[restart, group.start : group.start + group.width] = 0.0

    def reinitialise(self, which: Any) -> None:
        """New weights for these restarts."""
        self.weights[which] = self.fresh(int(which.sum()))
        self.adam.forget(which)
        self.rates[which] = self.settings.learning_rate
        self.fired_in_a_row[which] = 0
        self.since[which] = 0
        for restart in np.flatnonzero(_host(which)).tolist():
            self.same[restart] = 0
        self.last = self.xp.where(which, self.xp.inf, self.last)

    def snapshot(self, restart: int) -> tuple[Any, Any]:
        """One network as it is: its weights [edges] and its nodes [nodes, points], in float64 on this machine."""
        weights = self.weights[restart : restart + 1]
        nodes = forward(self.xp, weights, self.inputs, self.network.rows, self.network.sizes)[1]
        return _host(weights[0]).astype(np.float64), _host(nodes[0]).astype(np.float64)

    def after_pruning(self, restart: int, overlap: float) -> None:
        """The paper's rule: candidates that stay the same raise the learning rate, change brings it back. The first
        error after a pruning is no jump, whatever it was before."""
        settings = self.settings
        self.last[restart] = self.xp.inf
        if overlap >= settings.overlap:
            self.same[restart] += 1
            if self.same[restart] > settings.raise_after:
                raised = float(self.rates[restart, 0]) + settings.learning_rate
                self.rates[restart, 0] = min(raised, max(settings.most_learning_rate, settings.learning_rate))
        else:
            self.same[restart] = 0
            self.rates[restart, 0] = settings.learning_rate


def _library(device: str) -> Any:
    """numpy on a CPU, and torch, which is slow to import, only elsewhere."""
    if device == "cpu":
        return np
    return import_torch(f"device={device!r}")


def _check_sizes(data: Dataset) -> None:
    """Training is in float32, whose squares overflow early: larger numbers are better given in other units."""
    for name, column in [*data.columns.items(), (data.target, data.y)]:
        size = float(np.abs(column).max())
        if size > LARGEST:
            raise ValueError(
                f"column {name!r} has values up to {size:.3g}; the network takes them up to {LARGEST:g}: "
                "give it in larger units"
            )


def _host(values: Any) -> Any:
    """An array of this machine's, whatever device it was on."""
    return values if isinstance(values, np.ndarray) else values.cpu().numpy()
