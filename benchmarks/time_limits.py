"""How long a fit takes beyond its time limit, on tables of many shapes: wide, long, and of 1e7 values.

Each table is fitted in a process of its own, which has imported the package and fitted a small table before: what is
measured is the call of `fit`, from the arrays to the answer. With `--processor`, one thread works, and its time on the
processor is the clock, of the limit too: so other programs that run on the machine do not count.
"""

import itertools
import json
import subprocess
import sys
import time
from typing import Any

import numpy as np

from benchmarks import record

SHAPES = {  # rows and columns
    "wide": (400, 300),
    "wider": (1200, 1000),
    "widest": (500, 20_000),
    "square": (10_000, 1000),
    "long": (1_000_000, 5),
    "longest": (1_000_000, 10),
}
TARGETS = ("law", "noise", "linear")
LIMITS = (0.1, 1.0, 5.0, 20.0)
PROCESSOR = "--processor"
MOST_OVER, SHARE_OVER = 1.0, 0.05  # seconds, and of the limit: what a fit may take beyond it


def table(shape: str, target: str) -> tuple[Any, Any]:
    """Columns between 0 and 1, and a target: a law of two of them with noise, noise alone, or the sum of all columns
    with weights by chance, in steps, so that rows are compared."""
    rows, columns = SHAPES[shape]
    rng = np.random.default_rng(0)
    X = rng.random((rows, columns))
    if target == "law":
        return X, np.sin(4 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=rows)
    if target == "noise":
        return X, rng.normal(size=rows)
    return X, np.round(X @ rng.normal(size=columns), 1)


def measure(shape: str, target: str, clock: str = "wall") -> list[dict[str, Any]]:
    """Seconds of a fit for each limit, and what came out."""
    if clock == "processor":
        time.monotonic = time.perf_counter = time.process_time  # before the package takes them
    from prunesymnet import PruneSymRegressor

    jobs = 1 if clock == "processor" else -1
    PruneSymRegressor(time_limit=0.1, progress=False).fit(np.arange(20.0)[:, None], np.arange(20.0) ** 2)
    X, y = table(shape, target)
    found = []
    for limit in LIMITS:
        model = PruneSymRegressor(time_limit=limit, progress=False, n_jobs=jobs)
        began = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - began
        front = model.fronts_[0]
        found.append(
            {
                "shape": shape,
                "rows": X.shape[0],
                "columns": X.shape[1],
                "target": target,
                "limit": limit,
                "clock": clock,
                "seconds": seconds,
                "r2": float(front.best.r2),
                "complexity": front.best.complexity,
                "status": front.status,
            }
        )
    return found


def over(row: dict[str, Any]) -> float:
    """Seconds beyond the limit; a fit that ends by itself may end before it."""
    return max(float(row["seconds"] - row["limit"]), 0.0)


def summary(rows: list[dict[str, Any]]) -> str:
    """The longest that a fit of each shape took beyond its limit."""
    limits = sorted({row["limit"] for row in rows})
    head = " | ".join(f"limit {limit:g} s" for limit in limits)
    which = ", on the processor" if rows[0]["clock"] == "processor" else ""
    lines = [
        f"| seconds beyond the limit{which}, commit {rows[0]['commit']} | {head} |",
        "|---|" + "---|" * len(limits),
    ]
    for shape in dict.fromkeys(row["shape"] for row in rows):
        here = [row for row in rows if row["shape"] == shape]
        most = [max(over(row) for row in here if row["limit"] == limit) for limit in limits]
        name = f"{here[0]['rows']:,} rows x {here[0]['columns']:,} columns"
        lines.append(f"| {name} | {' | '.join(f'{value:.2f}' for value in most)} |")
    late = [row for row in rows if over(row) > MOST_OVER + SHARE_OVER * row["limit"]]
    lines.append("")
    lines.append(f"{len(late)} of {len(rows)} fits took more than {MOST_OVER:g} s and {SHARE_OVER:.0%} beyond.")
    return "\n".join(lines)


def main() -> None:
    """All shapes and targets, or one that is named."""
    clock = "processor" if PROCESSOR in sys.argv else "wall"
    named = [argument for argument in sys.argv[1:] if argument != PROCESSOR]
    if named:
        shape, target = named
        print(json.dumps(measure(shape, target, clock)))
        return
    rows = []
    for target, shape in itertools.product(TARGETS, SHAPES):
        command = [sys.executable, "-m", "benchmarks.time_limits", *sys.argv[1:], shape, target]
        out = subprocess.run(command, capture_output=True, text=True, check=True)
        rows += [row | record.provenance() for row in json.loads(out.stdout.splitlines()[-1])]
        print(shape, target, *(f"{over(row):.2f}" for row in rows[-len(LIMITS) :]), flush=True)
        record.write("time-limits", rows)  # what there is, should it be stopped
    print(summary(rows))


if __name__ == "__main__":
    main()
