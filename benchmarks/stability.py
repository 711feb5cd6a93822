"""Training stays finite: 1,000 random problems, 300 steps each, every loss, gradient and weight looked at.

python -m benchmarks.stability --jobs 2
"""

import argparse
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from benchmarks import record
from prunesymnet.data import Dataset
from prunesymnet.network import Network
from prunesymnet.network.training import Trainer, TrainingSettings

PROBLEMS, STEPS = 1000, 300


def problem(seed: int) -> Dataset:
    """One to five variables, a target of any shape and of scale 1e-6 to 1e6: poles, constants, jumps, noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-5, 5, (128, rng.integers(1, 6))) * 10.0 ** rng.uniform(-1, 1)
    a, b = X[:, 0], X[:, -1]
    shapes = [
        lambda: 1 / (a - rng.uniform(-1, 1)), lambda: np.exp(np.clip(a, None, 20)), lambda: a * b, lambda: np.sign(a),
        lambda: np.full(128, rng.normal()), lambda: np.tan(a), lambda: rng.standard_normal(128), lambda: a**4 - b,
        lambda: np.sin(5 * a) / (b + 1e-9), lambda: np.log(np.abs(a) + 1e-12),
    ]  # fmt: skip
    y = shapes[seed % len(shapes)]()
    y = y / (np.abs(y).max() or 1.0) * 10.0 ** rng.uniform(-6, 6)
    whole = object.__new__(Dataset)  # constants are meant here: no warning is due
    names = tuple(f"x{i + 1}" for i in range(X.shape[1]))
    whole.__setstate__({"X": np.asfortranarray(X), "y": y, "names": names, "target": "y", "weights": None})
    return whole


def finite(seed: int) -> dict[str, Any]:
    data = problem(seed)
    trainer = Trainer(Network(data.names), data, TrainingSettings(seed=seed))
    bad = 0
    for _ in range(STEPS):
        error = trainer.step()
        good = np.isfinite(error).all() and np.isfinite(trainer.weights).all() and np.isfinite(trainer.gradient).all()
        bad += not good
    return {"what": "stability", "seed": seed, "variables": data.features, "steps": STEPS, "not_finite": int(bad)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--problems", type=int, default=PROBLEMS)
    options = parser.parse_args()
    made_by = record.provenance()
    results = Parallel(n_jobs=options.jobs, verbose=1)(delayed(finite)(seed) for seed in range(options.problems))
    record.write("stability", [row | made_by for row in results])
    worst = sum(row["not_finite"] > 0 for row in results)
    print(f"{len(results)} problems, {STEPS} steps each: {worst} with a value that was not finite")
