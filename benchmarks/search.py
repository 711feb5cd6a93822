"""Does the default search find the formulas? The 87 of the paper under several conditions, and the further sets.

    python -m benchmarks.search --jobs 2 --workers 1      what the results file does not have yet
    python -m benchmarks.search --table                   the tables of the file that is there

One JSON line per condition, problem and seed, failures included, appended as they come: a run that is stopped goes on
where it was. `--conditions` chooses: default (five seeds), narrow ([1, 2] instead of [-5, 5]), few (20 points), noise
(1% of the target's root mean square), further (the other problem sets), and `without-X` for each mechanism X.
"""

import argparse
import json
import time
import traceback
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from benchmarks import record
from benchmarks.problems import SETS, Problem, load, noisy
from benchmarks.recovery import recovered
from prunesymnet.data import Dataset
from prunesymnet.expression import canonical, to_text
from prunesymnet.search import SearchSettings, search

FILE = record.RESULTS / "search.jsonl"
TIME_LIMIT = 60.0
MECHANISMS = (
    "unwrapping", "monomials", "polynomials", "quotients", "given", "singles", "powers", "frequencies", "pursuit",
    "networks",
)  # fmt: skip
ABLATIONS = tuple(f"without-{name}" for name in MECHANISMS)
CONDITIONS = ("default", "narrow", "few", "noise", "further", *ABLATIONS)
SEEDS = {"default": 5}


def problems(condition: str) -> list[tuple[str, Problem]]:
    if condition == "further":
        return [(name, problem) for name in SETS if name != "paper" for problem in load(name)]
    found = load()
    if condition == "narrow":
        found = [replace(problem, ranges=dict.fromkeys(problem.ranges, (1.0, 2.0))) for problem in found]
    return [("paper", problem) for problem in found]


def sample(condition: str, problem: Problem, seed: int) -> Dataset:
    data = problem.sample(20 if condition == "few" else 128, seed)
    return noisy(data, 0.01, seed) if condition == "noise" else data


def settings(condition: str, seed: int, workers: int) -> SearchSettings:
    chosen = SearchSettings(time_limit=TIME_LIMIT, seed=seed, workers=workers)
    if condition in ABLATIONS:
        off = condition.removeprefix("without-")
        # What is not found without a mechanism would take the whole time: a third of it shows as much.
        chosen = replace(chosen, time_limit=TIME_LIMIT / 3, exhaustive=replace(chosen.exhaustive, **{off: False}))
    return chosen


def run(condition: str, group: str, problem: Problem, seed: int, workers: int, made_by: dict[str, Any]) -> None:
    """One search, appended to the file."""
    row: dict[str, Any] = {"condition": condition, "set": group, "problem": problem.name, "seed": seed}
    data = sample(condition, problem, seed)
    began = time.perf_counter()
    try:
        found = search(data, settings(condition, seed, workers))
        seconds = time.perf_counter() - began
        true = min(problem.formula.complexity, canonical(problem.formula).complexity)
        row |= {
            "recovered": recovered(problem, found.best.expression),
            "formula": to_text(found.best.expression),
            "true": to_text(problem.formula),
            "complexity_ratio": found.best.expression.complexity / true,
            "r2": found.best.r2,
            "status": found.status.name,
            "stage": found.candidate.stage,
            "fits": found.fits,
            "seconds": seconds,
        }
    except Exception:
        row |= {"recovered": False, "error": traceback.format_exc(limit=3), "seconds": time.perf_counter() - began}
    with FILE.open("a") as file:
        file.write(json.dumps(row | {"workers": workers} | made_by) + "\n")


def rows(condition: str) -> list[dict[str, Any]]:
    if not FILE.exists():
        return []
    found = [json.loads(line) for line in FILE.read_text().splitlines()]
    return [row for row in found if row["condition"] == condition]


def _line(title: str, found: list[dict[str, Any]]) -> str:
    hits = [row for row in found if row["recovered"]]
    seconds = [row["seconds"] for row in hits] or [float("nan")]
    ratio = max((row["complexity_ratio"] for row in hits), default=float("nan"))
    return (
        f"| {title} | {len(hits)} of {len(found)} | {np.median(seconds):.2f} s | {max(seconds):.1f} s | {ratio:.2f} |"
    )


def table() -> str:
    """Recovered formulas under each condition."""
    lines = [
        "| problems | recovered | median | longest | complexity, at most, times the true |",
        "|---|---|---|---|---|",
    ]
    titles = {
        "default": "the paper's 87, 128 points, five seeds",
        "few": "... 20 points, one seed",
        "narrow": "... sampled on [1, 2], one seed",
        "noise": "... 1% noise, one seed (to 1e-4, which free constants can't reach)",
    }
    lines += [_line(title, found) for condition, title in titles.items() if (found := rows(condition))]
    further = rows("further")
    lines += [
        _line(f"{name.capitalize()}, one seed", [row for row in further if row["set"] == name])
        for name in SETS
        if any(row["set"] == name for row in further)
    ]
    commits = sorted({row["commit"] for c in (*titles, "further") for row in rows(c)})
    return "\n".join(lines) + f"\n\nMeasured at commit {', '.join(commits)}; `python -m benchmarks.search`."


def ablation() -> str:
    """What each mechanism is worth: formulas of the 87 that are still found without it."""
    lines = ["| of the 87, seed 0, 20 s | recovered | lost |", "|---|---|---|"]
    whole = [row for row in rows("default") if row["seed"] == 0]
    lines.append(f"| with all mechanisms | {sum(row['recovered'] for row in whole)} | |")
    for condition in ABLATIONS:
        found = rows(condition)
        if found:
            lost = [row["problem"] for row in found if not row["recovered"]]
            name = condition.replace("-", " ")
            lines.append(f"| {name} | {sum(row['recovered'] for row in found)} | {', '.join(lost)} |")
    return "\n".join(lines)


def jobs(conditions: list[str], limit: int | None) -> Iterator[tuple[str, str, Problem, int]]:
    for condition in conditions:
        done = {(row["problem"], row["seed"]) for row in rows(condition)}
        for seed in range(SEEDS.get(condition, 1)):
            for group, problem in problems(condition)[:limit]:
                if (problem.name, seed) not in done:
                    yield condition, group, problem, seed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conditions", default=",".join(CONDITIONS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2, help="threads of each search")
    parser.add_argument("--limit", type=int, help="only the first so many problems")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if not options.table:
        record.RESULTS.mkdir(exist_ok=True)
        made_by = record.provenance()
        todo = list(jobs(options.conditions.split(","), options.limit))
        Parallel(n_jobs=options.jobs, verbose=1)(delayed(run)(*job, options.workers, made_by) for job in todo)
    print(table(), ablation(), sep="\n\n")
