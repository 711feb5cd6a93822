"""Is our deep symbolic regression the published one? Its settings, its problems (Nguyen), its rates of recovery.

    python -m benchmarks.dsr_nguyen --jobs 2                what the results file does not have yet
    python -m benchmarks.dsr_nguyen --samples 100000 --seconds 60 --seeds 3
    python -m benchmarks.dsr_nguyen --table                 the table of the file that is there

One JSON line per problem and seed, appended as they come: a run that is stopped goes on where it was. As in the paper:
20 points, the operators + - * / sin cos exp log and no constants, at most 2,000,000 formulas; no time limit unless
`--seconds` sets one. The points are drawn anew for every seed. Recovered is what `benchmarks.recovery` says of the
formula in its canonical form (of these operators a root is exp(log(x)/2), and 1 is x/x).
"""

import argparse
import math
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from benchmarks import record, tables
from benchmarks.methods.dsr import NGUYEN, run
from benchmarks.problems import Problem, load
from benchmarks.recovery import recovered, strictly_recovered
from benchmarks.tables import layout
from prunesymnet.expression import canonical, to_text

FILE = record.RESULTS / "dsr-nguyen.jsonl"
POINTS, SEEDS = 20, 10
RATES = (100, 100, 100, 100, 72, 100, 35, 96, 100, 100, 100, 0)
"""Percent of the paper's 100 runs, Nguyen-1 to 12 (Petersen et al. 2021, table 1)."""
UNIT = ("nguyen-09", "nguyen-10")  # here from -1 to 1, in the paper from 0 to 1


def problems() -> list[Problem]:
    """Nguyen's, on the paper's ranges."""
    return [
        replace(problem, ranges=dict.fromkeys(problem.ranges, (0.0, 1.0))) if problem.name in UNIT else problem
        for problem in load("nguyen")
    ]


def one(problem: Problem, seed: int, samples: int, seconds: float | None) -> dict[str, Any]:
    settings = replace(NGUYEN, samples=samples)
    found = run(problem.sample(POINTS, seed), settings, math.inf if seconds is None else seconds, seed)
    short = canonical(found.expression)
    hit = recovered(problem, found.expression) or recovered(problem, short)
    return {
        "problem": problem.name,
        "seed": seed,
        "most_samples": samples,
        "limit": seconds,
        "recovered": hit,
        "strict": hit and any(strictly_recovered(problem, form) for form in (short, found.expression)),
        "samples": found.samples,
        "seconds": found.seconds,
        "error": found.error,
        "formula": to_text(short),
        "settings": asdict(settings),
    }


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["problem"], row["seed"], row["most_samples"], row["limit"]


def table(made: list[dict[str, Any]]) -> pd.DataFrame:
    """By problem, and the mean of their rates; of a problem and seed that was run more than once, the last."""
    last = list({(row["problem"], row["seed"]): row for row in made}.values())
    lines = []
    for problem, rate in zip(problems(), RATES, strict=True):
        own = [row for row in last if row["problem"] == problem.name]
        hits = [row for row in own if row["recovered"]]
        lines.append(
            {
                "problem": problem.name,
                "formula": f"`{to_text(problem.formula)}`",
                "recovered": f"{len(hits)} of {len(own)}",
                "strictly": str(sum(row["strict"] for row in own)),
                "published": f"{rate}%",
                "formulas written": f"{np.median([row['samples'] for row in hits]):,.0f}" if hits else "",
                "time": f"{np.median([row['seconds'] for row in hits]):.0f} s" if hits else "",
            }
        )
    shares, by_problem = {"recovered": "recovered", "strictly": "strict"}, pd.DataFrame(last).groupby("problem")
    lines.append(
        {"problem": "all", "published": f"{np.mean(RATES):.0f}%"}
        | {head: f"{by_problem[name].mean().mean():.0%}" for head, name in shares.items()}
    )
    return pd.DataFrame(lines).fillna("")


def conditions(made: list[dict[str, Any]]) -> str:
    """How many runs there are and what ended them, as their rows say."""
    limits = sorted({row["limit"] for row in made}, key=lambda limit: limit or math.inf)
    words = " or ".join("no time limit" if limit is None else f"at most {limit:g} s" for limit in limits)
    most = " or ".join(f"{samples:,}" for samples in sorted({row["most_samples"] for row in made}))
    machines = ", ".join(sorted({row["machine"].replace("(R)", "") for row in made}))
    return f"{len(made)} runs of at most {most} formulas, {words}, each on one core of {machines}."


def write() -> list[Path]:
    """The table as Markdown and as CSV."""
    made = record.read(FILE)
    cells = table(made)
    if not made:
        return []
    commits = ", ".join(sorted({row["commit"] for row in made}))
    caption = (
        f"{conditions(made)} *Strictly*: the same formula but for rounding. *Formulas written* and *time*: medians of "
        "the runs that recovered the formula. The published rates are of 100 runs each."
    )
    note = f"Measured at commit {commits}; `python -m benchmarks.dsr_nguyen`."
    text = f"# DSR on Nguyen's problems\n\n{caption}\n\n{layout.lines(cells)}\n\n{note}\n"
    paths = [tables.FOLDER / f"{FILE.stem}.md", tables.FOLDER / f"{FILE.stem}.csv"]
    paths[0].parent.mkdir(parents=True, exist_ok=True)
    paths[0].write_text(text, encoding="utf-8")
    cells.to_csv(paths[1], index=False, lineterminator="\n")
    return paths


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"runs of each problem (left out: {SEEDS})")
    parser.add_argument("--samples", type=int, default=NGUYEN.samples)
    parser.add_argument("--seconds", type=float, help="for each run (left out: no limit)")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--file", type=Path, default=FILE, help="where the rows are (left out: dsr-nguyen.jsonl)")
    options = parser.parse_args()
    if not options.table:
        os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
        limits = (options.samples, options.seconds)
        made_by, done = record.provenance(), {key(row) for row in record.read(options.file)}
        wanted = [(problem, seed, *limits) for seed in range(options.seeds) for problem in problems()]
        todo = [job for job in wanted if (job[0].name, *job[1:]) not in done]
        for row in Parallel(n_jobs=options.jobs, return_as="generator_unordered")(delayed(one)(*job) for job in todo):
            record.append(options.file, row | made_by)
    print(table(record.read(options.file)).to_string(index=False))
    if options.file == FILE:
        print(*write(), sep="\n")


if __name__ == "__main__":
    main()
