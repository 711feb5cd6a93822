"""How fast networks are trained and a whole run is, and where the floor is.

python -m benchmarks.speed                  on this machine's CPU: writes results/speed.jsonl
python -m benchmarks.speed --device cuda    on a GPU: writes results/speed-cuda.jsonl
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from benchmarks import record
from benchmarks.problems import load
from prunesymnet.network import Network
from prunesymnet.network.training import Trainer, TrainingSettings
from prunesymnet.search import PRESETS, search


def timed(call: Callable[[], Any], repeat: int, rounds: int = 5) -> float:
    """The least seconds of one call, of several rounds."""
    call()
    found = []
    for _ in range(rounds):
        began = time.perf_counter()
        for _ in range(repeat):
            call()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        found.append((time.perf_counter() - began) / repeat)
    return min(found)


def training(restarts: int, device: str) -> dict[str, Any]:
    """One step of a batch of six-layer networks of three variables on 128 points."""
    data = next(p for p in load() if p.name == "aifeynman3-16").sample(128, 0)
    trainer = Trainer(Network(data.names), data, TrainingSettings(restarts=restarts, device=device))
    repeat = 20 if restarts > 1 or device != "cpu" else 200
    step = timed(trainer.step, repeat)
    return {
        "what": "training step",
        "device": device,
        "restarts": restarts,
        "seconds": step,
        "per_net": step / restarts,
    }


def floor(restarts: int) -> dict[str, Any]:
    """What no way of writing the step avoids: its matrix products and its elementary functions, alone."""
    network = Network(("x", "y", "z"))
    rng = np.random.default_rng(0)
    groups = sum(row.arity for row in network.rows)
    layers = [
        (rng.normal(size=(restarts, groups, n)).astype("f4"), rng.normal(size=(restarts, n, 128)).astype("f4"))
        for n in network.sizes[:-1]
    ]
    flow = rng.normal(size=(restarts, groups, 128)).astype("f4")
    values = rng.normal(size=(restarts, 128)).astype("f4")

    def products() -> None:
        for matrix, nodes in layers:
            _ = matrix @ nodes
            _ = flow @ nodes.swapaxes(1, 2)
            _ = matrix.swapaxes(1, 2) @ flow

    def functions() -> None:
        for _ in layers:
            for function in (np.sin, np.cos, np.sin, np.cos, np.exp, np.log):
                function(np.abs(values) if function is np.log else values)

    return {
        "what": "floor",
        "restarts": restarts,
        "products_per_net": timed(products, 10) / restarts,
        "functions_per_net": timed(functions, 10) / restarts,
    }


def whole_run() -> dict[str, Any]:
    """3,000 epochs with 150 beam prunings of x*y*z/2, with nothing that ends it early."""
    data = next(p for p in load() if p.name == "aifeynman3-16").sample(128, 0)
    found = search(data, replace(PRESETS["paper"], exact=0.0))
    return {
        "what": "whole run",
        "epochs": found.epochs,
        "prunings": len(found.prunings),
        "seconds": found.seconds,
        "formula": str(found.best.expression),
    }


def summary(rows: list[dict[str, Any]]) -> str:
    step = {row["restarts"]: row for row in rows if row["what"] == "training step"}
    least = next(row for row in rows if row["what"] == "floor")
    run = next(row for row in rows if row["what"] == "whole run")
    return "\n".join(
        [
            f"| measured at commit {rows[0]['commit']}, one core | |",
            "|---|---|",
            f"| a training step of one six-layer network | {1e3 * step[1]['per_net']:.2f} ms |",
            f"| ... of 64 together, per network | {1e6 * step[64]['per_net']:.0f} µs |",
            f"| ... of which matrix products alone | {1e6 * least['products_per_net']:.0f} µs |",
            f"| ... and sin, cos, exp, log alone | {1e6 * least['functions_per_net']:.0f} µs |",
            f"| {run['epochs']:,} epochs with {run['prunings']} beam prunings of x*y*z/2 | {run['seconds']:.1f} s |",
        ]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(1)
    made_by = record.provenance()
    if options.device == "cpu":
        measured = [training(1, "cpu"), training(64, "cpu"), floor(64), whole_run()]
        record.write("speed", [row | made_by for row in measured])
        print(summary(record.read("speed")))
    else:
        made_by["gpu"] = torch.cuda.get_device_name()
        measured = [training(restarts, options.device) for restarts in (64, 1024, 16384, 65536)]
        record.write(f"speed-{options.device}", [row | made_by for row in measured])
        for row in measured:
            print(f"{row['restarts']:6} networks: {1e6 * row['per_net']:.2f} µs per network and step")
