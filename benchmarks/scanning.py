"""How fast the bank grows and its pairs are scored on a CPU (on a GPU: `benchmarks.gpu`); and the two large tables.

python -m benchmarks.scanning                   writes results/scanning.jsonl
"""

import json
import subprocess
import sys
import time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import record
from prunesymnet.bank.bank import Bank, grow_bank
from prunesymnet.bank.regression import Regression
from prunesymnet.bank.scan import scan

POINTS = 128
# A table, a formula of some of its columns, and both searched in a process of their own, so that memory is its own.
LARGE = {
    "1,000,000 rows x 5 columns": (1_000_000, 5, (0, 2, 4)),
    "2,000 rows x 50 columns": (2_000, 50, (2, 6, 11)),
}
SCRIPT = """
import json, resource, sys, time
import numpy as np
from prunesymnet.data import make_dataset
from prunesymnet.search import SearchSettings, search
rows, columns, (a, b, c) = json.loads(sys.argv[1])
X = np.random.default_rng(0).uniform(-5, 5, (rows, columns))
data = make_dataset(X, 2.5 * X[:, a] * np.sin(X[:, b]) + X[:, c] ** 2)
began = time.perf_counter()
found = search(data, SearchSettings(time_limit=60))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(json.dumps({"seconds": time.perf_counter() - began, "GiB": peak, "formula": str(found.best.expression)}))
"""


def bank(size: int) -> Bank:
    rng = np.random.default_rng(0)
    return grow_bank({name: rng.uniform(-5, 5, POINTS) for name in ("x", "y", "z")}, size=size)


def best(call: Any, repeat: int = 5) -> float:
    """The least seconds of several calls."""
    found = []
    for _ in range(repeat):
        began = time.perf_counter()
        call()
        found.append(time.perf_counter() - began)
    return min(found)


def growing(size: int = 100_000) -> dict[str, Any]:
    return {"what": "bank", "nodes": size, "points": POINTS, "seconds": best(lambda: bank(size), 3)}


def scoring(nodes: int, questions: int, products: bool, threads: tuple[int, ...]) -> list[dict[str, Any]]:
    """Pairs scored a second: M*(M + 1)/2 for each question, with the best of each complexity kept. The numbers of
    threads are measured in turn, so that a ratio says more about them than about the hour."""
    pool = bank(nodes)
    rng = np.random.default_rng(1)
    asked = [Regression(rng.normal(size=POINTS)) for _ in range(questions)]

    def call(workers: int) -> None:
        scan(pool.values, pool.complexity, asked, products=products, workers=workers)

    call(threads[0])
    seconds = dict.fromkeys(threads, float("inf"))
    for _ in range(8):
        for workers in threads:
            seconds[workers] = min(seconds[workers], best(lambda workers=workers: call(workers), 1))
    pairs = questions * nodes * (nodes + 1) // 2
    common = {"what": "products" if products else "sums", "device": "cpu", "nodes": nodes, "questions": questions}
    return [common | {"workers": k, "pairs_per_second": pairs / seconds[k]} for k in threads]


def large(title: str) -> dict[str, Any]:
    out = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(LARGE[title])], capture_output=True, text=True, check=True
    )
    return {"what": title} | json.loads(out.stdout)


def summary(measured: list[dict[str, Any]]) -> str:
    lines = [f"| commit {measured[0]['commit']}, 128 points | |", "|---|---|"]
    for row in measured:
        if row["what"] == "bank":
            lines.append(f"| a bank of {row['nodes']:,} nodes, one core | {row['seconds']:.2f} s |")
        elif row["what"] in ("products", "sums"):
            cores = {1: "one core", 2: "two cores"}[row["workers"]]
            title = f"{row['what']} of {row['nodes']:,} nodes for {row['questions']} targets at once, {cores}"
            lines.append(f"| {title} | {row['pairs_per_second']:.2g} pairs/s |")
        else:
            lines.append(f"| {row['what']}: `{row['formula']}` | {row['seconds']:.1f} s, {row['GiB']:.1f} GiB |")
    return "\n".join(lines)


if __name__ == "__main__":
    made_by = record.provenance()
    with threadpool_limits(1, user_api="blas"):
        measured = [growing()]
        measured += [row for kind in (True, False) for row in scoring(6000, 8, kind, (1, 2))]
        measured += [large(title) for title in LARGE]
    record.write("scanning", [row | made_by for row in measured])
    print(summary(record.read("scanning")))
