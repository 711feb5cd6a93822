"""Compares the default search of two commits, on the same machine in the same run.

    git worktree add ../before COMMIT
    python -m benchmarks.compare_commits ../before/src src --jobs 16

Each job fits a problem with the one and then with the other (in turn, the other first), on one thread, so that both
meet the same load. The problems are the paper's with five seeds, the same with noise, the further sets and the random
formulas (`--parts` chooses). Both are judged alike, by the benchmarks and the package of this checkout.

Rows go to the `--out` file as they come; the same command goes on where it was, and `--minutes` ends it. What it comes
to, over the problems that both have, is in the .json file beside it: how many are recovered and have the right form,
the median and the 90th percentile of the seconds, and which problems have changed.

It needs numpy, scipy, pandas and threadpoolctl, and for networks torch: the machine need not have the rest.
"""

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import record
from benchmarks.conditions import FURTHER, LIMIT, NOISE, POINTS, RANDOM
from benchmarks.problems import Problem, load, noisy
from benchmarks.server import ROOT, Server
from prunesymnet.expression import to_text

SIDES = ("old", "new")
GRACE = (
    60.0  # seconds beyond twice the limit until a process is ended: imports, a table that does not look at the clock
)
SMALL = {"names": ["x"], "X": [[1 + i / 16] for i in range(16)], "y": [3 + i / 8 for i in range(16)], "seed": 0}


@dataclass(frozen=True)
class Task:
    part: str
    problem: Problem
    noise: float
    seed: int

    @property
    def key(self) -> tuple[Any, ...]:
        """With the formula: under the name of a random one, another version may draw another."""
        return self.part, self.problem.name, to_text(self.problem.formula), self.noise, self.seed


def tasks(parts: tuple[str, ...], seeds: tuple[int, ...], random: str, only: int | None = None) -> list[Task]:
    """What there is to do; of each set `only` so many problems, spread over it."""
    kinds = {
        "paper": (("paper",), 0.0, seeds),
        "noise": (("paper",), NOISE, seeds[:1]),
        "further": (FURTHER, 0.0, seeds[:1]),
        "random": ((random,), 0.0, seeds[:1]),
    }
    found = []
    for part in parts:
        sets, noise, some = kinds[part]
        problems = [problem for name in sets for problem in load(name)]
        problems = problems[:: max(1, len(problems) // only)][:only] if only else problems
        found += [Task(part, problem, noise, seed) for seed, problem in product(some, problems)]
    return found


def started(*folders: Path) -> Server:
    """A `fit_server` with the package of the first folder, warm: what a first fit loads is not counted."""
    paths = os.pathsep.join([*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH")])])
    # -P: the folder of the script has a statistics.py of its own, which is not Python's.
    server = Server(["-P", str(ROOT / "benchmarks" / "fit_server.py")], {"PYTHONPATH": paths})
    greeting = server.ask(None, GRACE)
    if greeting.get("sources") != str(folders[0]):
        server.stop()
        raise RuntimeError(f"the package must be that of {folders[0]}, got {greeting}")
    server.ask(SMALL | {"seconds": 1.0}, GRACE)
    return server


class Fitter:
    """A server that is started when it is needed, and again after it has ended."""

    def __init__(self, *folders: Path) -> None:
        self.folders = folders
        self.server: Server | None = None

    def ask(self, request: dict[str, Any], patience: float) -> dict[str, Any]:
        if self.server is None or self.server.process is None:
            self.server = started(*self.folders)
        return self.server.ask(request, patience)

    def stop(self) -> None:
        if self.server is not None:
            self.server.stop()


class Work:
    """The tasks, taken by jobs one by one, and the file of what they give."""

    def __init__(self, todo: list[Task], out: Path, limit: float, deadline: float) -> None:
        self.limit, self.deadline, self.out = limit, deadline, out
        self.lock = threading.Lock()
        self.done = {_key(row) for row in record.read(out) if row["limit"] == limit}
        self.todo = [task for task in todo if any((*task.key, side) not in self.done for side in SIDES)]
        self.total = len(self.todo)
        self.error: BaseException | None = None

    def take(self) -> Task | None:
        with self.lock:
            late = time.monotonic() > self.deadline
            return None if late or self.error or not self.todo else self.todo.pop(0)

    def job(self, number: int, old: Path, new: Path) -> None:
        servers = {"old": Fitter(old), "new": Fitter(new)}
        judge = Fitter(new, ROOT)
        try:
            while (task := self.take()) is not None:
                for side in SIDES if number % 2 else SIDES[::-1]:
                    if (*task.key, side) not in self.done:
                        self.measure(task, side, servers[side], judge)
                number += 1
        except Exception as error:
            self.error = error
        finally:
            for server in (*servers.values(), judge):
                server.stop()

    def measure(self, task: Task, side: str, server: Fitter, judge: Fitter) -> None:
        data = noisy(task.problem.sample(POINTS, task.seed), task.noise, task.seed)
        request = {"names": data.names, "X": data.X.tolist(), "y": data.y.tolist()}
        found = server.ask(request | {"seconds": self.limit, "seed": task.seed}, 2 * self.limit + GRACE)
        verdict: dict[str, Any] = {"recovered": False, "form": False, "complexity": None}
        if "formula" in found:
            truth = {"truth": to_text(task.problem.formula), "ranges": task.problem.ranges}
            verdict |= judge.ask(truth | {"formula": found["formula"]}, 2 * GRACE)
        names = ("part", "problem", "truth", "noise", "seed", "side")
        row = dict(zip(names, (*task.key, side), strict=True)) | {"limit": self.limit}
        row |= {"seconds": self.limit, "formula": None, "error": None, "status": "done"} | found | verdict
        with self.lock:
            record.append(self.out, row)


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("part", "problem", "truth", "noise", "seed", "side"))


def pairs(rows: list[dict[str, Any]], limit: float) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The rows of old and new for each task that both have."""
    known = {_key(row): row for row in rows if row["limit"] == limit}
    for key, row in known.items():
        if key[-1] == "old" and (*key[:-1], "new") in known:
            yield row, known[(*key[:-1], "new")]


def summary(rows: list[dict[str, Any]], limit: float) -> dict[str, Any]:
    """For each part, what the two commits come to over the tasks that both have."""
    both = list(pairs(rows, limit))
    found: dict[str, Any] = {}
    for part in dict.fromkeys(old["part"] for old, _ in both):
        chosen = [pair for pair in both if pair[0]["part"] == part]
        found[part] = {"tasks": len(chosen)}
        for side, some in zip(SIDES, zip(*chosen, strict=True), strict=True):
            seconds = [row["seconds"] for row in some]
            found[part][side] = {
                "recovered": sum(row["recovered"] for row in some),
                "right form": sum(row["form"] for row in some),
                "median seconds": round(float(np.median(seconds)), 4),
                "90th percentile of seconds": round(float(np.quantile(seconds, 0.9)), 4),
                "failed": sum(row["status"] != "done" for row in some),
            }
        for name, word in (("recovered", "recovered"), ("form", "right form")):
            found[part] |= {
                f"{word} by new only": [_name(new) for old, new in chosen if new[name] and not old[name]],
                f"{word} by old only": [_name(old) for old, new in chosen if old[name] and not new[name]],
            }
    return found


def _name(row: dict[str, Any]) -> str:
    return f"{row['problem']} (seed {row['seed']})"


def report(parts: dict[str, Any]) -> str:
    lines = [f"{'':10}{'':5}{'recovered':>12}{'right form':>12}{'median':>10}{'90%':>10}"]
    for part, found in parts.items():
        for side in SIDES:
            some = found[side]
            counts = (f"{some[word]} of {found['tasks']}" for word in ("recovered", "right form"))
            seconds = (f"{some[word]:.2f} s" for word in ("median seconds", "90th percentile of seconds"))
            lines.append(
                f"{part:10}{side:5}" + "".join(f"{c:>12}" for c in counts) + "".join(f"{s:>10}" for s in seconds)
            )
        changed = {word: names for word, names in found.items() if "only" in word and names}
        lines += [f"  {word}: {', '.join(names)}" for word, names in changed.items()]
    return "\n".join(lines)


def _commit(folder: Path) -> str:
    asked = subprocess.run(["git", "-C", folder, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return asked.stdout.strip() or "unknown"


PARTS = {"paper": "the paper's", "noise": "1% noise", "further": "further sets", "random": "random formulas"}


def table(compared: dict[str, Any]) -> str:
    """What a comparison came to, as Markdown."""
    lines = [
        f"Commit {compared['old']} before and {compared['new']} after, in one run on {compared['machine']}, "
        f"{compared['cores']} cores, {compared['jobs']} fits at a time; {compared['seconds']:g} s on one core.\n",
        "| | problems | recovered before | after | right form before | after | median s before | after | 90% within s "
        "before | after |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for part, found in compared["parts"].items():
        keys = ("recovered", "right form", "median seconds", "90th percentile of seconds")
        cells = [f"{found[side][key]:.3g}" for key in keys for side in SIDES]
        lines.append(f"| {PARTS[part]} | {found['tasks']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, help="the folder that has the package prunesymnet of the one commit")
    parser.add_argument("new", type=Path, help="the same of the other")
    parser.add_argument("--commits", help="what to call them, such as 58526e7,50a7283 (left out: what git says)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="fits at a time (left out: one per core)")
    parser.add_argument("--seconds", type=float, default=LIMIT, help="the limit of a fit")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="when to stop")
    parser.add_argument("--parts", default="paper,noise,further,random", help="of paper, noise, further, random")
    parser.add_argument("--seeds", type=int, default=5, help="of the part paper; the others have the first")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--random", default=RANDOM, help="the set of random formulas")
    parser.add_argument("--only", type=int, help="so many problems of each part, to try it out")
    parser.add_argument("--out", type=Path, default=Path("compare.jsonl"))
    chosen = parser.parse_args()
    for side in SIDES:
        folder = getattr(chosen, side).resolve()
        setattr(chosen, side, folder)
        if not (folder / "prunesymnet" / "__init__.py").is_file():
            parser.error(f"{side} must be a folder with the package prunesymnet, got {folder}")
    named = chosen.commits.split(",") if chosen.commits else [_commit(getattr(chosen, side)) for side in SIDES]
    if len(named) != len(SIDES):
        parser.error(f"commits must be two names, the old one's and the new one's, got {chosen.commits}")
    chosen.commits = dict(zip(SIDES, named, strict=True))
    chosen.parts = tuple(chosen.parts.split(","))
    unknown = {*chosen.parts} - {"paper", "noise", "further", "random"}
    if unknown:
        parser.error(f"parts must be of paper, noise, further, random, got {', '.join(sorted(unknown))}")
    return chosen


def main() -> None:
    chosen = options()
    seeds = tuple(range(chosen.first_seed, chosen.first_seed + chosen.seeds))
    deadline = time.monotonic() + 60 * chosen.minutes
    work = Work(tasks(chosen.parts, seeds, chosen.random, chosen.only), chosen.out, chosen.seconds, deadline)
    jobs = [
        threading.Thread(target=work.job, args=(number, chosen.old, chosen.new))
        for number in range(max(1, chosen.jobs))
    ]
    for job in jobs:
        job.start()
    while any(job.is_alive() for job in jobs):
        time.sleep(1.0)
        if sys.stderr.isatty():
            print(f"\r{work.total - len(work.todo)} of {work.total} tasks begun ", end="", file=sys.stderr, flush=True)
    if work.error:
        sys.exit(f"stopped: {work.error}")
    parts = summary(record.read(chosen.out), chosen.seconds)
    machine = {"machine": record.machine(), "cores": os.cpu_count(), "jobs": chosen.jobs, "seconds": chosen.seconds}
    left = {"tasks left": len(work.todo)}
    chosen.out.with_suffix(".json").write_text(
        json.dumps(chosen.commits | machine | left | {"parts": parts}, indent=1) + "\n"
    )
    print(report(parts))
    if work.todo:
        print(f"{len(work.todo)} tasks are left: the same command goes on")


if __name__ == "__main__":
    main()
