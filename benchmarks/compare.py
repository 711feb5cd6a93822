"""Ours beside its rivals: the paper's 87 formulas, the same points, operators and seconds, each on one core.

    python -m benchmarks.compare --jobs 2                 what the results file does not have yet
    python -m benchmarks.compare --methods ours,operon --noise 0,0.001,0.01,0.1 --seconds 60
    python -m benchmarks.compare --table                  the table of the file that is there

One JSON line per method, noise, problem and seed, failures included, appended as they come: a run that is stopped goes
on where it was. Noise is a part of the target's root mean square.
"""

import argparse
import json
import math
import os
import time
import traceback
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from benchmarks import record
from benchmarks.methods import NAMES, method
from benchmarks.problems import Problem, load, noisy
from benchmarks.recovery import recovered
from prunesymnet.expression import canonical, evaluate, to_text

FILE = record.RESULTS / "compare.jsonl"
VERSIONS = {"operon": "pyoperon", "gplearn": "gplearn"}
SECONDS, POINTS = 10.0, 128


def run(name: str, noise: float, problem: Problem, seed: int, seconds: float, made_by: dict[str, Any]) -> None:
    """One fit, appended to the file."""
    row: dict[str, Any] = {"method": name, "noise": noise, "limit": seconds, "problem": problem.name, "seed": seed}
    data, fresh = noisy(problem.sample(POINTS, seed), noise, seed), problem.sample(2000, 10_007)
    began = time.perf_counter()
    try:
        found = method(name)(data, seconds, seed)
        row["seconds"] = time.perf_counter() - began
        short = canonical(found)
        values, finite = evaluate(found, fresh.columns)
        mse = float(np.mean((values - fresh.y) ** 2)) if finite.all() else math.inf
        row |= {
            "recovered": recovered(problem, found) or recovered(problem, short),
            "formula": to_text(short),
            "complexity": short.complexity,
            "r2": 1 - mse / float(np.var(fresh.y)) if math.isfinite(mse) else None,
        }
    except Exception:
        row |= {"recovered": False, "error": traceback.format_exc(limit=3), "seconds": time.perf_counter() - began}
    version = record.version(VERSIONS[name]) if name in VERSIONS else None
    with FILE.open("a") as file:
        file.write(json.dumps(row | {"version": version} | made_by) + "\n")


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in FILE.read_text().splitlines()] if FILE.exists() else []


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["method"], row["noise"], row["limit"], row["problem"], row["seed"]


def table() -> str:
    """Recovered formulas by set, method and noise."""
    found = [row for row in rows() if row["seed"] == 0]
    sets = list(dict.fromkeys(problem.name.rpartition("-")[0] for problem in load()))
    lines = [
        f"| noise | method | {' | '.join(sets)} | all | R² > 0.999 | median time |",
        "|---" * (len(sets) + 5) + "|",
    ]
    for noise in sorted({row["noise"] for row in found}):
        for name in NAMES:
            own = [row for row in found if row["method"] == name and row["noise"] == noise]
            if not own:
                continue
            hits = [row["problem"].rpartition("-")[0] for row in own if row["recovered"]]
            close = sum((row.get("r2") or -1) > 0.999 for row in own)
            seconds = np.median([row["seconds"] for row in own])
            called = f"{name} {own[0]['version']}" if own[0]["version"] else name
            cells = [f"{noise:g}", called, *(str(hits.count(group)) for group in sets)]
            cells += [f"{len(hits)} of {len(own)}", str(close), f"{seconds:.1f} s"]
            lines.append(f"| {' | '.join(cells)} |")
    commits = sorted({row["commit"] for row in found})
    return "\n".join(lines) + f"\n\nMeasured at commit {', '.join(commits)}; `python -m benchmarks.compare`."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--methods", default=",".join(NAMES))
    parser.add_argument("--noise", default="0,0.01")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if not options.table:
        os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
        made_by, done = record.provenance(), {key(row) for row in rows()}
        wanted = [
            (name, noise, problem, seed)
            for name in options.methods.split(",")
            for noise in map(float, options.noise.split(","))
            for seed in range(options.seeds)
            for problem in load()
        ]
        todo = [job for job in wanted if (job[0], job[1], options.seconds, job[2].name, job[3]) not in done]
        Parallel(n_jobs=options.jobs)(
            delayed(run)(name, noise, problem, seed, options.seconds, made_by) for name, noise, problem, seed in todo
        )
    print(table())


if __name__ == "__main__":
    main()
