"""How often structure is claimed where there is none, and how often it is seen where there is.

python -m benchmarks.structure             both parts: writes results/structure.jsonl (two minutes)
python -m benchmarks.structure --tables 1000 --seed 1

Half of the tables without structure are noise of several kinds, and half are sums of functions of single columns,
without noise or with some: these have no groups, but parts, and any that are claimed are right. Of the tables with
structure, each is a random law (`benchmarks/problems/random_laws.py`) of another seed than the one whose recovery is
measured by

python -m benchmarks.run laws --file benchmarks/results/laws.jsonl

with the stage that finds groups and without it.
"""

import argparse
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import record
from benchmarks.problems import load, noisy
from prunesymnet.structure.beside import find_beside
from prunesymnet.structure.find import find_structure
from prunesymnet.structure.parts import can_be_told, find_sum_or_product

Array = NDArray[np.float64]

TABLES, SEED = 200, 0
LAWS = "laws-2"  # of a seed that no release has
LAW_ROWS = 102  # that a search fits on, of 128
NOISE = (0.0, 0.01, 0.1)  # of the spread of a sum
LAW_NOISE = (0.0, 0.01)  # of a law's root mean square
BOXES = ((1.0, 3.0), (1.0, 5.0), (-5.0, 5.0), (0.1, 1.0))
ROWS = (50, 100, 200)
COLUMNS = (2, 8)  # from so many to fewer than so many
FUNCTIONS: tuple[Callable[[Array], Array], ...] = (
    np.sin, np.cos, np.exp, np.tanh, lambda v: np.log(np.abs(v) + 1), lambda v: 1 / (1 + v * v),
    lambda v: np.sqrt(np.abs(v) + 1), lambda v: v + v * v, lambda v: v - v**3 / 5,
)  # fmt: skip
NOISES: tuple[Callable[[np.random.Generator, int], Array], ...] = (
    lambda rng, n: rng.normal(size=n), lambda rng, n: rng.uniform(1, 2, n),
    lambda rng, n: np.exp(rng.normal(size=n)), lambda rng, n: rng.standard_t(3, n),
)  # fmt: skip


class Case(NamedTuple):
    """A table: what it is, its noise (of the spread), its columns and its target."""

    kind: str
    noise: float
    columns: dict[str, Array]
    y: Array


def without_structure(number: int, seed: int) -> Case:
    """Noise, or a sum of functions of three columns or more."""
    rng = np.random.default_rng((seed, number))
    rows, (low, high), count = int(rng.choice(ROWS)), BOXES[rng.integers(len(BOXES))], int(rng.integers(*COLUMNS))
    if number % 2 == 0:
        columns = rng.uniform(low, high, (count, rows))
        return Case("noise", 1.0, _named(columns), NOISES[rng.integers(len(NOISES))](rng, rows))
    columns = rng.uniform(low, high, (max(count, 3), rows))
    y = np.full(rows, float(rng.choice([0.0, 3.0, 10.0])))
    for column in columns:
        part = FUNCTIONS[rng.integers(len(FUNCTIONS))](rng.uniform(0.5, 1.5) * column + rng.uniform(0, 1))
        y += rng.uniform(0.5, 1.5) * part / part.std()
    noise = float(rng.choice(NOISE))
    return Case("sum", noise, _named(columns), y + noise * y.std() * rng.normal(size=rows))


def laws(seed: int) -> Iterable[Case]:
    for problem in load(LAWS):
        for noise in LAW_NOISE:
            data = noisy(problem.sample(LAW_ROWS, seed), noise, seed)
            yield Case("law", noise, dict(data.columns), data.y)


def _named(columns: Array) -> dict[str, Array]:
    return {f"x{k + 1}": column for k, column in enumerate(columns)}


def looked_at(case: Case) -> dict[str, Any]:
    """Whether structure is claimed, and which."""
    began = time.process_time()
    found = find_structure(case.columns, case.y, np.full(len(case.y), 1 / len(case.y)))
    groups = None if found is None else [str(group.formula) for group in found.groups]
    if found is None and (beside := find_beside(case.columns, case.y, np.full(len(case.y), 1 / len(case.y)))):
        groups = [str(beside.group.formula)]
    seconds = time.process_time() - began
    parts = find_sum_or_product(case.columns, case.y) if groups is None else None
    told = parts is not None and can_be_told(parts, case.columns, case.y)
    size = {"kind": case.kind, "noise": case.noise, "columns": len(case.columns), "rows": len(case.y)}
    return size | {
        "claimed": groups,
        "seconds": seconds,
        "parts": [list(part) for part in parts.every] if parts is not None and told else None,
        "product": parts is not None and parts.product,
        "seconds_for_parts": time.process_time() - began - seconds,
    }


def summary(rows: Iterable[dict[str, Any]], runs: Iterable[dict[str, Any]] = ()) -> str:
    """How often structure is claimed in each kind of table; and how many random laws are recovered, with the stage that
    finds groups and without it, from the rows of `benchmarks.run laws`."""
    tables = [claims(list(rows)), recovered(list(runs))]
    return "\n\n".join(table for table in tables if table)


def recovered(runs: list[dict[str, Any]]) -> str:
    if not runs:
        return ""
    methods, columns = (sorted({key(run) for run in runs}) for key in (lambda run: run["method"], _columns))
    head = f"random laws ({runs[0]['set']}), {runs[0]['limit']:g} s each, commit {runs[0]['commit']}"
    parts = " | ".join(f"{count} columns" for count in columns)
    lines = [f"| {head} | {parts} | all | mean seconds |", "|---" * (len(columns) + 3) + "|"]
    for method in methods:
        ours = [run for run in runs if run["method"] == method]
        cells = [_of([run for run in ours if _columns(run) == count]) for count in columns]
        seconds = np.mean([run["seconds"] for run in ours if run["seconds"] is not None])
        lines.append(f"| {method} | {' | '.join(cells)} | {_of(ours)} | {seconds:.1f} |")
    return "\n".join(lines)


def _columns(run: dict[str, Any]) -> str:
    return str(run["problem"].split("-")[2].removesuffix("v"))


def _of(runs: list[dict[str, Any]]) -> str:
    return f"{sum(bool(run['recovered']) for run in runs)} of {len(runs)}"


def claims(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return ""
    head = ("number", "groups claimed", "seconds each", "parts claimed", "seconds each")
    lines = [f"| tables, commit {rows[0]['commit']} | {' | '.join(head)} |", "|---" * (len(head) + 1) + "|"]
    names = {"noise": "noise", "sum": "sums of functions of single columns", "law": "random laws"}
    for kind, noise in dict.fromkeys((row["kind"], row["noise"]) for row in rows):
        ours = [row for row in rows if (row["kind"], row["noise"]) == (kind, noise)]
        claimed = sum(row["claimed"] is not None for row in ours)
        more = "" if kind == "noise" else f", noise {noise:g}" if noise else ", no noise"
        seconds = np.mean([row["seconds"] for row in ours])
        parts, long = sum(row["parts"] is not None for row in ours), np.mean([row["seconds_for_parts"] for row in ours])
        lines.append(f"| {names[kind]}{more} | {len(ours)} | {claimed} | {seconds:.2f} | {parts} | {long:.2f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=TABLES, help="without structure")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    cases = [*(without_structure(k, options.seed) for k in range(options.tables)), *laws(options.seed)]
    made_by = record.provenance()
    cases.sort(key=lambda case: (("noise", "sum", "law").index(case.kind), case.noise))
    record.write("structure", (looked_at(case) | made_by for case in cases))
    print(summary(record.read("structure"), record.read("laws")))
