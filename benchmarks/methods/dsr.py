"""Deep symbolic regression (Petersen et al., ICLR 2021), written anew from the paper.

A recurrent network writes formulas (`dsr_policy`), each is rewarded with 1/(1 + error) (`dsr_rewards`), and a gradient
makes the best of a batch more likely. The gradient seeks risk: it looks at the best twentieth of the batch alone, with
the worst of these as the baseline, since one good formula is wanted and not many that are good on average.

The numbers are the paper's. What differs: `fit` gives it the operators of the other methods (square and sqrt too), the
constants are fitted by our Levenberg-Marquardt, which needs fewer evaluations than the paper's BFGS, and it ends where
a formula is exact.
"""

import math
import time
from dataclasses import dataclass

import numpy as np
import torch

from benchmarks.methods.dsr_policy import Policy, Sample, Tokens
from benchmarks.methods.dsr_rewards import Rewards, Score, tree
from prunesymnet.data import Dataset
from prunesymnet.expression import Constant, Expression
from prunesymnet.settings import check_number, check_whole

ARITHMETIC = ("+", "-", "*", "/", "sin", "cos", "exp", "log")
EXACT = 1e-10  # an error, relative to the target's standard deviation, that only rounding makes


@dataclass(frozen=True)
class Settings:
    """`constants`: how many a formula may have, 0 for no such token; `shortest` and `longest`: its tokens;
    `risk`: the part of a batch that is learned from; `samples`: formulas in all, repetitions included."""

    operators: tuple[str, ...] = (*ARITHMETIC, "square", "sqrt")
    constants: int = 3
    shortest: int = 4
    longest: int = 30
    units: int = 32
    batch: int = 1000
    risk: float = 0.05
    entropy: float = 0.005
    learning_rate: float = 0.0005
    samples: int = 2_000_000

    def __post_init__(self) -> None:
        check_whole(self, constants=0, shortest=1, longest=self.shortest, units=1, batch=1, samples=1)
        check_number(self, "risk", "a part of a batch, > 0 and < 1", lambda value: 0 < value < 1)


NGUYEN = Settings(operators=ARITHMETIC, constants=0)
"""The paper's settings for the Nguyen problems."""


@dataclass(frozen=True)
class Found:
    """The best formula, its error relative to the target's standard deviation, and how many were written for it."""

    expression: Expression
    error: float
    samples: int
    seconds: float


def fit(data: Dataset, seconds: float, seed: int) -> Expression:
    return run(data, Settings(), seconds, seed).expression


def run(data: Dataset, settings: Settings, seconds: float = math.inf, seed: int = 0) -> Found:
    """On one core, until a formula is exact, the time is up or all samples are written."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return _run(data, settings, seconds, seed)
    finally:
        torch.set_num_threads(threads)


def _run(data: Dataset, settings: Settings, seconds: float, seed: int) -> Found:
    began = time.monotonic()
    tokens = Tokens(settings.operators, data.names, settings.constants)
    policy = Policy(tokens, settings.units, settings.shortest, settings.longest, seed)
    optimizer = torch.optim.Adam(policy.parameters(), settings.learning_rate)
    rewards = Rewards(data, tokens)
    best, samples = Score((), math.inf), 0
    while best.error > EXACT and samples < settings.samples and time.monotonic() < began + seconds:
        sample = policy.sample(min(settings.batch, settings.samples - samples))
        samples += sample.tokens.shape[1]
        scores = rewards(sample.tokens.numpy(), began + seconds)
        best = min([best, *scores], key=lambda score: (max(score.error, EXACT), len(score.program)))
        learn(policy, optimizer, sample, torch.tensor([score.reward for score in scores]), settings)
    # Where no formula was finite, a number is the answer.
    expression = tree(best, tokens) if best.program else Constant(float(np.mean(data.y)))
    return Found(expression, best.error, samples, time.monotonic() - began)


def learn(
    policy: Policy, optimizer: torch.optim.Adam, sample: Sample, rewards: torch.Tensor, settings: Settings
) -> None:
    """One step up the gradient of the best formulas' log likelihood, each weighted by what its reward is above the
    least of theirs, plus a bonus for their entropy, against settling on one formula too soon."""
    least = torch.quantile(rewards, 1 - settings.risk, interpolation="higher")
    best = rewards >= least
    likelihood, entropy = policy.log_likelihood_and_entropy(sample[best])
    gain = ((rewards[best] - least) * likelihood + settings.entropy * entropy).mean()
    optimizer.zero_grad()
    (-gain).backward()
    optimizer.step()
