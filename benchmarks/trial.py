"""One method, one table, one seed: fit and judge, in a process of its own.

    python -m benchmarks.trial '{"method": "ours", "set": "paper", "problem": "koza-01"}'

prints the row that `benchmarks.run` writes down; without an argument, it reads trials from stdin, one each line. The
clock runs during the fit alone: where a first fit imports or
compiles something, one of a small table goes before, so that this is not counted for anyone.
"""

import json
import math
import os
import sys
import time
import traceback
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from benchmarks import record
from benchmarks.conditions import FRESH, LIMIT, POINTS, STOPPING
from benchmarks.identity import without_rounding
from benchmarks.methods import Array, method
from benchmarks.methods.ours import stops_on_fresh, takes_units
from benchmarks.methods.registry import METHODS
from benchmarks.problems import Problem, load, noisy, units_of, with_outliers
from benchmarks.problems.units import draw_units, in_own_units, in_units, read_again, with_unrelated
from benchmarks.recovery import recovered, right_form, strictly_recovered
from prunesymnet.data import Dataset, make_dataset
from prunesymnet.expression import Expression, canonical, evaluate, to_text
from prunesymnet.units import parse_unit

# What a row has, so that every row has it.
EMPTY = dict.fromkeys(
    ("seconds", "formula", "complexity", "true_complexity", "recovered", "strict", "form", "mse", "r2", "error",
     "version")
)  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """`noise`: a part of the target's root mean square; `span`: a range for all variables instead of their own;
    `limit`: seconds; `outliers`: the share of rows that are gross outliers; `noise_of`: another thing than the root
    mean square that noise is a part of (`NOISE_OF`); `other_units`: every column and the target times a random power
    of ten; `unrelated`: columns that have nothing to do with the target. Of a real table, the seed says which quarter
    is held out, and `points` is None."""

    method: str
    set: str
    problem: str
    noise: float = 0.0
    points: int | None = POINTS
    span: tuple[float, float] | None = None
    limit: float = LIMIT
    seed: int = 0
    outliers: float = 0.0
    noise_of: str = "rms"
    other_units: bool = False
    unrelated: int = 0

    @property
    def key(self) -> tuple[Any, ...]:
        return tuple(tuple(value) if isinstance(value, list) else value for value in asdict(self).values())

    @classmethod
    def of(cls, row: dict[str, Any]) -> "Trial":
        return cls(**{name: row[name] for name in cls.__dataclass_fields__ if name in row})


def find(trial: Trial) -> Problem | None:
    """The problem with the range that was asked for; None for a real table."""
    if trial.set == "real":
        return None
    problem = next((p for p in load(trial.set) if p.name == trial.problem), None)
    if problem is None:
        raise ValueError(f"the set {trial.set} has no problem {trial.problem!r}")
    if trial.span:
        low, high = trial.span
        problem = replace(problem, ranges=dict.fromkeys(problem.ranges, (low, high)))
    return problem


def tables(trial: Trial, problem: Problem | None) -> tuple[Dataset, Dataset]:
    """What is fitted, and what judges: fresh points without noise, or the rows held out."""
    if problem is None:
        from benchmarks.problems.real import load_real, split  # pandas takes its time

        return split(load_real(trial.problem), trial.seed)
    assert trial.points is not None
    data = noisy(problem.sample(trial.points, trial.seed), trial.noise, trial.seed, trial.noise_of)
    return as_given(trial, with_outliers(data, trial.outliers, trial.seed)), problem.sample(*FRESH)


def as_given(trial: Trial, data: Dataset) -> Dataset:
    """Points of a problem as a method gets them: in other units and beside unrelated columns, where these are asked
    for."""
    if trial.other_units:
        data = in_units(data, draw_units(data.names, trial.seed))
    return with_unrelated(data, trial.unrelated, trial.seed)


def in_the_problems_units(trial: Trial, problem: Problem | None, found: Expression) -> Expression:
    """What was found, as it reads in the units of the problem."""
    if problem is None or not trial.other_units:
        return found
    return in_own_units(found, draw_units(problem.formula.variables, trial.seed))


def stopping(trial: Trial, problem: Problem | None) -> dict[str, Dataset]:
    """Fresh points that say when to stop, for those methods that want them: as many as are fitted, and not those that
    judge."""
    if problem is None or trial.points is None or not stops_on_fresh(trial.method):
        return {}
    return {"fresh": as_given(trial, problem.sample(trial.points, STOPPING + trial.seed))}


def known_units(trial: Trial, data: Dataset) -> dict[str, dict[str, str]]:
    """The units of the columns and the target, for those methods that want them; what reads units is loaded then."""
    if not takes_units(trial.method):
        return {}
    units = units_of(trial.problem, data.target)
    for unit in units.values():
        parse_unit(unit)
    return {"units": units}


def errors(values: Array, fresh: Dataset) -> dict[str, float]:
    """How well values predict the target; nothing where they are not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        mse = float(np.mean((values - fresh.y) ** 2))
    return {"mse": mse, "r2": 1 - mse / float(np.var(fresh.y))} if math.isfinite(mse) else {}


def judge(
    problem: Problem | None, found: Expression, fresh: Dataset, fitted: Expression | None = None
) -> dict[str, Any]:
    """What a formula is worth; `fitted` has all its numbers free that were fitted, where some were rounded since."""
    short = canonical(found)
    row: dict[str, Any] = {"formula": to_text(short), "complexity": short.complexity}
    if not set(found.variables) <= set(fresh.names):  # it has a column that has nothing to do with the target
        return row
    values, finite = evaluate(found, fresh.columns)
    if finite.all():
        row |= errors(values, fresh)
    if problem is not None:
        row["recovered"] = recovered(problem, found) or recovered(problem, short)
        row["strict"] = row["recovered"] and any(strictly_recovered(problem, form) for form in (short, found))
        row["form"] = row["recovered"] or right_form(problem, short if fitted is None else fitted)
        row["true_complexity"] = min(problem.formula.complexity, canonical(problem.formula).complexity)
    return row


def measure(trial: Trial) -> dict[str, Any]:
    problem = find(trial)
    data, fresh = tables(trial, problem)
    group = problem.group if problem and trial.set == "paper" else trial.set
    row = asdict(trial) | EMPTY | {"group": group, "status": "done"}
    if problem is not None:
        row |= {"recovered": False, "strict": False, "form": False}
    known = METHODS.get(trial.method)
    row |= record.provenance() | {"version": record.version(known.package) if known and known.package else None}
    fit = method(trial.method)
    began = time.perf_counter()
    try:
        if not (known and known.ready):
            warm_up(fit)
        more = {**stopping(trial, problem), **known_units(trial, data)}
        began = time.perf_counter()
        answer = fit(data, trial.limit, trial.seed, **more)
        row["seconds"] = time.perf_counter() - began
        found, fitted = answer if isinstance(answer, tuple) else (answer, None)
        if not isinstance(found, Expression):
            return row | errors(found(fresh.columns), fresh)
        row["formula"] = to_text(found)
        if fitted is not None and fitted != found:
            fitted = in_the_problems_units(trial, problem, fitted)
            row["fitted"] = to_text(fitted)
        found = in_the_problems_units(trial, problem, found)
        found = read_again(without_rounding(canonical(found), fresh.columns)) if trial.other_units else found
        return row | judge(problem, found, fresh, fitted)
    except Exception:
        return row | {
            "status": "failed",
            "error": traceback.format_exc(limit=-3),
            "seconds": row["seconds"] or time.perf_counter() - began,
        }


def warm_up(fit: Any) -> None:
    x = np.linspace(1, 2, 16)
    fit(make_dataset(x, 2 * x + 1, names=["x"]), 1.0, 0)


if __name__ == "__main__":
    # Some methods print: only rows go to what the caller reads.
    with os.fdopen(os.dup(1), "w") as out:
        os.dup2(2, 1)
        for line in sys.argv[1:] or sys.stdin:
            print(json.dumps(measure(Trial.of(json.loads(line)))), file=out, flush=True)
