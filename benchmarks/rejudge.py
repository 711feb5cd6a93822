"""Judges the formulas of the results file again, without finding them again: for when what counts as recovered changes.

python -m benchmarks.rejudge
"""

import argparse
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from rich.progress import track

from benchmarks import record
from benchmarks.run import FILE, rows, writing
from benchmarks.trial import Trial, find, judge, tables
from prunesymnet.expression import parse


def judged(row: dict[str, Any]) -> dict[str, Any]:
    """The row with a new judgement; as it is where there is no formula, or none that is known."""
    trial = Trial.of(row)
    problem = find(trial)
    if problem is None or row["formula"] is None:
        return row
    data, fresh = tables(trial, problem)
    names = data.names
    fitted = parse(row["fitted"], variables=names) if row.get("fitted") else None
    return row | {"mse": None, "r2": None} | judge(problem, parse(row["formula"], variables=names), fresh, fitted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--jobs", type=int, default=-1)
    options = parser.parse_args()
    with writing(options.file):
        before = rows(options.file)
        work = Parallel(n_jobs=options.jobs, return_as="generator")(delayed(judged)(row) for row in before)
        after = list(track(work, "judging", len(before)))
        record.write(options.file, after)
    for name in ("recovered", "strict", "form"):
        changed = sum(old.get(name) != new.get(name) for old, new in zip(before, after, strict=True))
        print(f"{name}: {changed} of {len(before)} rows have changed")


if __name__ == "__main__":
    main()
