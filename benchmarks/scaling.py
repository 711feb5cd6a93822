"""How much faster searches are with more workers: seconds for 1, 2, 4, 8 and 16, and what tasks take.

    python -m benchmarks.scaling                      # as many workers as there are cores, and fewer
    python -m benchmarks.scaling --workers 1,16 --problems keijzer-04

Searches of some known formulas with 1% noise end by themselves, so that all do the same work. Each runs in a process of
its own, which has imported the package: what is measured is the search, the start of its workers included. Then, where
there are several workers, it runs once more in the same process, whose workers are there already. One search at a time:
side by side, they slow each other down.
"""

import argparse
import json
import subprocess
import sys
import time
from dataclasses import replace
from itertools import product
from typing import Any

from benchmarks import record
from benchmarks.problems import load, noisy

# Of one to six columns, from about a second to half a minute on one core.
PROBLEMS = {
    "vladislavleva-08": "vladislavleva",
    "vladislavleva-04": "vladislavleva",
    "keijzer-04": "keijzer",
    "feynman-III-9-52": "feynman",
    "feynman-I-41-16": "feynman",
    "keijzer-08": "keijzer",
}
NOISE, ROWS, LEVELS = 0.01, 128, 2
WORKERS = (1, 2, 16, 4, 8)  # what is asked for first, should there be no time for all
MANY = 100  # workers, for which the least time is told by what tasks take


def measure(problem: str, workers: int) -> dict[str, Any]:
    """Seconds of a search, those of its own thread on the processor, what was found, and the seconds of tasks."""
    from prunesymnet.search import PRESETS, search
    from prunesymnet.search.workers import Workers

    made: list[Workers] = []
    start = Workers.may_start

    def seen(self: Workers, travels: Any) -> bool:
        made.append(self)
        return start(self, travels)

    Workers.may_start = seen  # type: ignore[method-assign]
    chosen = next(one for one in load(PROBLEMS[problem]) if one.name == problem)
    preset = PRESETS["default"]
    exhaustive = replace(preset.exhaustive, levels=LEVELS)
    settings = replace(preset, time_limit=float("inf"), workers=workers, exhaustive=exhaustive)
    table = noisy(chosen.sample(ROWS, 0), NOISE, 0)
    began, own = time.perf_counter(), time.thread_time()
    found = search(table, settings)
    seconds, own = time.perf_counter() - began, time.thread_time() - own
    tasks = made[-1].seconds if made else {}
    began = time.perf_counter()
    again = search(table, settings) if workers > 1 else found
    return {
        "problem": problem,
        "workers": workers,
        "seconds": seconds,
        "warm_seconds": time.perf_counter() - began if workers > 1 else seconds,
        "own_seconds": own,
        "formula": str(found.best.expression),
        "same_again": str(again.best.expression) == str(found.best.expression),
        "fits": found.fits,
        "status": found.status.value,
        "tasks": {
            kind: {"count": len(took), "mean": sum(took) / len(took), "longest": max(took)}
            for kind, took in sorted(tasks.items())
        },
    }


def summary(rows: list[dict[str, Any]]) -> str:
    """Seconds and how many times as fast as with one worker, at first and with workers that are there already; then
    what tasks take, and what many workers would do."""
    counts = sorted({row["workers"] for row in rows})
    head = " | ".join(f"{count} worker{'s' if count > 1 else ''}" for count in counts)
    lines = [f"| seconds (times as fast), commit {rows[0]['commit']} | {head} |", "|---|" + "---|" * len(counts)]
    for problem in dict.fromkeys(row["problem"] for row in rows):
        here = {row["workers"]: row for row in rows if row["problem"] == problem}
        one = here[1]["seconds"] if 1 in here else None
        lines.append(f"| {problem} | {' | '.join(_cell(here.get(k), one) for k in counts)} |")
    # With few workers, the loop's own time is mostly work that others could have done.
    with_most = [row["problem"] for row in rows if row["workers"] == counts[-1]]
    lines += ["", *(_with_many(rows, problem) for problem in with_most)]
    return "\n".join(lines)


def _cell(row: dict[str, Any] | None, one: float | None) -> str:
    if row is None:
        return ""

    def told(seconds: float) -> str:
        return f"{seconds:.1f}" + (f" ({one / seconds:.1f})" if one else "")

    return told(row["seconds"]) + (f", then {told(row['warm_seconds'])}" if row["workers"] > 1 else "")


def _with_many(rows: list[dict[str, Any]], problem: str) -> str:
    """What the measured times of tasks say of many workers."""
    here = {row["workers"]: row for row in rows if row["problem"] == problem}
    most = here[max(here)]
    tasks = most["tasks"].values()
    if not tasks:
        return f"{problem}: no tasks were handed out."
    work = sum(task["count"] * task["mean"] for task in tasks)
    count = sum(task["count"] for task in tasks)
    longest = max(task["longest"] for task in tasks)
    least = most["own_seconds"] + max(work / MANY, longest)
    alone = f", {here[1]['seconds']:.1f} s with one worker" if 1 in here else ""
    return (
        f"{problem}{alone}: with {max(here)} workers {count} tasks of {work / count:.2f} s on average, the longest "
        f"{longest:.1f} s, and {most['own_seconds']:.1f} s that the loop takes itself. So {MANY} workers would take at "
        f"least {least:.1f} s."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", default="")
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--file", default="scaling")
    parser.add_argument("--one", action="store_true", help="measure here, and print it")
    options = parser.parse_args()
    from joblib import cpu_count

    counts = [int(text) for text in options.workers.split(",") if text] or [k for k in WORKERS if k <= cpu_count()]
    problems = options.problems.split(",")
    if options.one:
        print(json.dumps(measure(problems[0], counts[0])))
        return
    rows: list[dict[str, Any]] = []

    for workers, problem in product(counts, problems):
        command = [sys.executable, "-m", "benchmarks.scaling", "--one", "--problems", problem]
        out = subprocess.run([*command, "--workers", str(workers)], capture_output=True, text=True, check=True)
        rows.append(json.loads(out.stdout.splitlines()[-1]) | record.provenance())
        print(problem, workers, f"{rows[-1]['seconds']:.1f} s", flush=True)
        record.write(options.file, sorted(rows, key=_in_order))  # what there is, should it be stopped
    if rows:
        print(summary(sorted(rows, key=_in_order)))


def _in_order(row: dict[str, Any]) -> tuple[int, int]:
    return list(PROBLEMS).index(row["problem"]), row["workers"]


if __name__ == "__main__":
    main()
