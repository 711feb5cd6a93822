"""Training: mean squared error plus a smoothed L0.5 norm, Adam, and what keeps it from going wrong.

>>> from prunesymnet.data import make_dataset
>>> import numpy as np
>>> x = np.linspace(-2, 2, 32)
>>> trainer = Trainer(Network(("x",), layers=2), make_dataset(x, x**2, names=["x"]), TrainingSettings(seed=1))
>>> losses = [float(trainer.step()[0]) for _ in range(50)]
>>> losses[-1] < losses[0]
True

All restarts are trained together, each with its own clipping, learning rate and re-initialisation. No loss, gradient
or weight is ever infinite or nan: operators are protected (`activation`), gradients are clipped, and a jump of the
error cuts the operand of the operator whose protection fired.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from prunesymnet.data import Dataset
from prunesymnet.network import Network, Pass


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """The paper's settings where it gives them. `sparsity` is the weight of the L0.5 norm, `smooth` the size of a
    weight below which that norm is rounded off; `raise_after` prunings in a row with at least `overlap` of the
    candidates the same raise the learning rate by `learning_rate`, up to `most_learning_rate`."""

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
    gradient: bool = True
    device: str = "cpu"
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (
            ("restarts", 1),
            ("reinitialise_every", 1),
            ("reinitialise_after_fired", 1),
            ("seed", 0),
        ):
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}")
        for name in ("learning_rate", "most_learning_rate", "clip", "smooth"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be > 0, got {getattr(self, name)!r}")
        if not 0 < self.overlap <= 1:
            raise ValueError(f"overlap must be in (0, 1], got {self.overlap!r}")
        if not self.sparsity >= 0:
            raise ValueError(f"sparsity must be >= 0, got {self.sparsity!r}")


def smoothed_half_norm(weights: Tensor, smooth: float) -> Tensor:
    """The sum of sqrt|w| over the last axis, with a polynomial in place of |w| below `smooth` so that it has a
    slope at 0."""
    size = weights.abs()
    rounded = size**2 * (3 / (4 * smooth) - size**2 / (8 * smooth**3)) + 3 * smooth / 8
    return torch.where(size < smooth, rounded, size).sqrt().sum(-1)


class Trainer:
    """Weights in training: `step` is one epoch on the whole table for all restarts."""

    def __init__(self, network: Network, data: Dataset, settings: TrainingSettings) -> None:
        self.network, self.settings = network, settings
        self.inputs = network.input_rows(data.columns, device=settings.device)
        self.target = torch.as_tensor(data.y.copy(), dtype=torch.float32).to(settings.device)
        weights = torch.ones(data.rows) if data.weights is None else torch.as_tensor(data.weights.copy())
        self.row_weights = (weights / weights.sum()).to(torch.float32).to(settings.device)
        self.epoch = 0
        self.drawn = 0
        self.weights = torch.nn.Parameter(self.fresh(settings.restarts))
        self.optimiser = torch.optim.Adam([self.weights], lr=settings.learning_rate, fused=True)
        self.rates = torch.full((settings.restarts, 1), settings.learning_rate, device=settings.device)
        self.same = [0] * settings.restarts  # prunings in a row with the same candidates
        self.fired_in_a_row = torch.zeros(settings.restarts, dtype=torch.int64, device=settings.device)
        self.since = torch.zeros(settings.restarts, dtype=torch.int64, device=settings.device)
        self.last: Tensor | None = None
        self.last_pass: Pass | None = None

    def fresh(self, restarts: int) -> Tensor:
        self.drawn += 1
        seed = self.settings.seed * 1_000_003 + self.drawn
        return self.network.initial_weights(restarts, seed).to(self.settings.device)

    def step(self) -> Tensor:
        """One epoch; the mean squared error of each restart before it."""
        settings = self.settings
        self.epoch += 1
        self.since += 1
        passed = self.network.forward(self.weights, self.inputs)
        error = ((passed.output - self.target) ** 2 * self.row_weights).sum(-1)
        fired = passed.fired.flatten(1).any(-1)
        self.last_pass = passed
        if settings.gradient:
            loss = error.sum() + settings.sparsity * smoothed_half_norm(self.weights, settings.smooth).sum()
            self.optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            self._clip()
            before = self.weights.detach().clone() if (self.rates != settings.learning_rate).any() else None
            self.optimiser.step()
            if before is not None:
                with torch.no_grad():
                    self.weights.lerp_(before, 1 - self.rates / settings.learning_rate)
        self._guard(error.detach(), passed, fired)
        return error.detach()

    def _clip(self) -> None:
        gradient = self.weights.grad
        assert gradient is not None  # noqa: S101 - backward has just run
        norm = gradient.norm(dim=-1, keepdim=True)
        gradient.mul_((self.settings.clip / norm.clamp(min=1e-30)).clamp(max=1.0))

    def _guard(self, error: Tensor, passed: Pass, fired: Tensor) -> None:
        """Cut the operand that made the error jump; start again where it is time to."""
        settings = self.settings
        if self.last is not None:
            jumped = (error > settings.jump * self.last) & fired
            for restart in torch.nonzero(jumped).flatten().tolist():
                self._cut(restart, passed)
        self.last = error
        self.fired_in_a_row = torch.where(fired, self.fired_in_a_row + 1, 0)
        again = (self.fired_in_a_row >= settings.reinitialise_after_fired) | (self.since >= settings.reinitialise_every)
        if not settings.gradient:
            again = torch.zeros_like(again)
        if again.any():
            self.reinitialise(again)

    def _cut(self, restart: int, passed: Pass) -> None:
        with torch.no_grad():
            for layer, k in torch.nonzero(passed.fired[restart]).tolist():
                node = self.network.sizes[layer] + k
                group = self.network.groups[self.network.groups_of[node][0]]
                self.weights[restart, group.start : group.start + group.width] = 0.0

    def reinitialise(self, which: Tensor) -> None:
        """New weights for these restarts."""
        with torch.no_grad():
            self.weights[which] = self.fresh(int(which.sum()))
            for name, moment in self.optimiser.state.get(self.weights, {}).items():
                if name != "step":
                    moment[which] = 0.0
            if which.all():
                self.optimiser = torch.optim.Adam([self.weights], lr=self.settings.learning_rate, fused=True)
            self.rates[which] = self.settings.learning_rate
        self.fired_in_a_row = torch.where(which, 0, self.fired_in_a_row)
        self.since = torch.where(which, 0, self.since)
        for restart in torch.nonzero(which).flatten().tolist():
            self.same[restart] = 0
        self.last = None

    def after_pruning(self, restart: int, overlap: float) -> None:
        """The paper's rule: candidates that stay the same raise the learning rate, change brings it back."""
        settings = self.settings
        if overlap >= settings.overlap:
            self.same[restart] += 1
            if self.same[restart] > settings.raise_after:
                raised = float(self.rates[restart, 0]) + settings.learning_rate
                self.rates[restart, 0] = min(raised, settings.most_learning_rate)
        else:
            self.same[restart] = 0
            self.rates[restart, 0] = settings.learning_rate
