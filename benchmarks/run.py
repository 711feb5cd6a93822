"""Runs methods on problems, many at a time, each on one core, and writes one JSON line per run.

    python -m benchmarks.run                                    every plan, what the file does not have yet
    python -m benchmarks.run comparison noise --jobs 16         these plans
    python -m benchmarks.run --methods ours,operon --noise 0.1 --seconds 60 --seeds 3
    python -m benchmarks.run --sets feynman --methods ours --points 1000 --range 1,5
    python -m benchmarks.run paper --every 10 --seeds 1 --file .cache/some.jsonl
    python -m benchmarks.run comparison --campaign 0.7          all of it anew: one commit, one machine
    python -m benchmarks.run --backend dask --scheduler tcp://host:8786

Options take the place of what the plans say, but `--methods` only chooses among theirs; without a plan, options say it
all. Rows go to benchmarks/results/runs.jsonl as they come, failures included; a run that was stopped goes on where it
was. Each fit has a process of its own (unless `--keep`): one that crashes or does not end is a row, too, and is run
again only with `--again crashed` or the like. On a cluster, each machine needs this checkout.
"""

import argparse
import contextlib
import os
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from joblib import Parallel, delayed, parallel_config
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from benchmarks import record
from benchmarks.conditions import LAWS, RANDOM
from benchmarks.methods import NAMES, missing
from benchmarks.plans import PLANS, Runs
from benchmarks.problems import NOISE_OF, SETS, is_random, load
from benchmarks.problems.real import absent_tables
from benchmarks.problems.real import names as real_names
from benchmarks.server import Server
from benchmarks.trial import EMPTY, Trial

FILE = record.RESULTS / "runs.jsonl"
_kept: dict[str, Server] = {}  # by commit: the process that a worker of the pool asks again and again
GRACE = 120.0  # seconds beyond twice the limit until a process is ended: imports, the first fit, the judging


def isolated(trial: Trial, commit: str, keep: bool = False) -> dict[str, Any]:
    """A trial in a process of its own, on one core, with an end; or in one that is kept for the trials that follow."""
    server = _kept.get(commit) or Server(["-m", "benchmarks.trial"], {"BENCH_COMMIT": commit})
    answer = server.ask(asdict(trial), 2 * trial.limit + GRACE)
    if keep:
        _kept[commit] = server
    else:
        server.stop()
    if "method" in answer:
        return answer
    known = None if trial.set == "real" else False
    group = next((p.group for p in load() if p.name == trial.problem), "") if trial.set == "paper" else trial.set
    row = asdict(trial) | EMPTY | {"group": group, "recovered": known, "strict": known, "form": known}
    return row | answer | record.provenance() | {"commit": commit}


def rows(file: Path = FILE) -> list[dict[str, Any]]:
    """The runs that are there, each once for each machine."""
    return list({(Trial.of(row).key, row.get("machine"), row.get("cores")): row for row in record.read(file)}.values())


def todo(
    wanted: Iterable[Trial], file: Path, again: Collection[str] = (), here: bool = False, campaign: str | None = None
) -> list[Trial]:
    """What is wanted, can be run here and has not been (or not `here`, on this machine; or not in this `campaign`; or
    is of a status or method that is wanted `again`); says what is left out."""
    needed = {"machine": record.machine(), "cores": os.cpu_count()} if here else {}
    needed |= {"campaign": campaign} if campaign else {}
    known = [row for row in rows(file) if needed.items() <= row.items()]
    done = {Trial.of(row).key for row in known if row["status"] not in again and row["method"] not in again}
    trials = {trial.key: trial for trial in wanted}
    reasons = {name: reason for name in {t.method for t in trials.values()} if (reason := missing(name))}
    absent = absent_tables() if any(trial.set == "real" for trial in trials.values()) else {}
    for reason in sorted({*reasons.values(), *absent.values()}):
        print(reason)
    return [
        trial
        for key, trial in trials.items()
        if key not in done and trial.method not in reasons and not (trial.set == "real" and trial.problem in absent)
    ]


def run(trials: list[Trial], jobs: int, file: Path, keep: bool = False, campaign: str | None = None) -> None:
    named = {"campaign": campaign} if campaign else {}
    commit = record.commit()
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    )
    work = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")
    with bar:
        task = bar.add_task("runs", total=len(trials))
        for row in work(delayed(isolated)(trial, commit, keep) for trial in trials):
            record.append(file, row | named)
            bar.update(task, advance=1, description=f"{row['method']} {row['problem']}")


def _list(kind: type) -> Any:
    return lambda text: tuple(kind(part) for part in text.split(","))


def _flag(text: str) -> bool:
    return bool(int(text))


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plans", nargs="*", metavar="plan", help=", ".join(PLANS))
    parser.add_argument("--methods", type=_list(str), help=", ".join(NAMES))
    parser.add_argument("--sets", type=_list(str), help=", ".join((*SETS, "random-1 (or another seed)", "real")))
    parser.add_argument("--problems", type=_list(str), help="only these, such as koza-01,koza-02")
    parser.add_argument("--noise", type=_list(float), help="parts of the target's root mean square, such as 0,0.01")
    parser.add_argument("--outliers", type=_list(float), help="shares of gross outliers, such as 0,0.05")
    parser.add_argument("--noise-of", type=_list(str), help=f"what noise is a part of instead: {', '.join(NOISE_OF)}")
    parser.add_argument(
        "--other-units", type=_list(_flag), help="0,1: the problems as they are, and in units of other powers of ten"
    )
    parser.add_argument("--unrelated", type=_list(int), help="columns that have nothing to do with the target")
    parser.add_argument("--points", type=_list(int))
    parser.add_argument("--range", type=_list(float), dest="span", help="low,high for all variables")
    parser.add_argument("--seconds", type=_list(float), help="limits for each fit")
    parser.add_argument("--seeds", type=int)
    parser.add_argument(
        "--again", type=_list(str), default=(), help="run again: crashed, failed, timed-out, or a method"
    )
    parser.add_argument("--here", action="store_true", help="also what has been run, but on other machines only")
    parser.add_argument(
        "--campaign", help="a name for these rows; also runs what has been run, but not under it", metavar="NAME"
    )
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth problem of a set only")
    parser.add_argument(
        "--keep", action="store_true", help="let a process do many fits: saves its start, a second each"
    )
    parser.add_argument("--jobs", type=int, default=-1, help="fits at a time (left out: one for each core)")
    parser.add_argument("--backend", choices=("loky", "dask"), default="loky")
    parser.add_argument("--scheduler", help="of Dask (left out: a cluster of this machine)")
    parser.add_argument("--file", type=Path, default=FILE, help="where the rows are (left out: runs.jsonl, as above)")
    parser.add_argument("--dry", action="store_true", help="only say how many runs there are to do")
    chosen = parser.parse_args()
    chosen.again = tuple(name.replace("timed-out", "timed out") for name in chosen.again)
    drawn = tuple(name for name in chosen.sets or (RANDOM, LAWS) if is_random(name))
    problems = (problem.name for group in (*SETS, *drawn) for problem in load(group))
    known = {
        "plans": tuple(PLANS),
        "methods": NAMES,
        "sets": (*SETS, RANDOM, LAWS, *drawn, "real"),
        "problems": (*problems, *real_names()),
        "noise_of": tuple(NOISE_OF),
        "again": (*NAMES, "crashed", "failed", "timed out"),
    }
    for name, allowed in known.items():
        unknown = [value for value in getattr(chosen, name) or () if value not in allowed]
        if unknown:
            few = "those of the sets" if name == "problems" else ", ".join(allowed)
            parser.error(f"{name} must be of {few}, got {', '.join(unknown)}")
    if chosen.span and not (len(chosen.span) == 2 and chosen.span[0] < chosen.span[1]):
        parser.error("range must be two numbers, the lower first, such as 1,2")
    for name, least in {"noise": 0, "outliers": 0, "unrelated": 0, "points": 10, "seconds": 0.1}.items():
        if any(not value >= least for value in getattr(chosen, name) or ()):
            parser.error(f"{name} must be at least {least}, got {', '.join(map(str, getattr(chosen, name)))}")
    for name in ("seeds", "every"):
        if (value := getattr(chosen, name)) is not None and value < 1:
            parser.error(f"{name} must be at least 1, got {value}")
    return chosen


def wanted(chosen: argparse.Namespace) -> Iterator[Trial]:
    names = ("sets", "noise", "noise_of", "other_units", "unrelated", "outliers", "points", "span", "seconds", "seeds")
    changes = {name: value for name in names if (value := getattr(chosen, name)) is not None}
    if chosen.plans or not (changes or chosen.methods):
        parts = [part for name in chosen.plans or PLANS for part in PLANS[name]]
        if chosen.methods:
            parts = [replace(part, methods=tuple(m for m in part.methods if m in chosen.methods)) for part in parts]
    else:
        parts = [Runs(chosen.methods or ("ours",))]
    trials = (trial for part in parts for trial in replace(part, **changes).trials())
    if chosen.every > 1:
        trials = (trial for trial in trials if trial.problem in _every(trial.set, chosen.every))
    return (trial for trial in trials if not chosen.problems or trial.problem in chosen.problems)


@cache
def _every(group: str, step: int) -> frozenset[str]:
    """The names of the first problem of a set and of each that is `step` after one of these."""
    names = real_names() if group == "real" else tuple(problem.name for problem in load(group))
    return frozenset(names[::step])


def main() -> None:
    chosen = options()
    trials = todo(wanted(chosen), chosen.file, chosen.again, chosen.here, chosen.campaign)
    print(f"{len(trials):,} runs to do; at most {sum(t.limit for t in trials) / 3600:.1f} core-hours")
    if chosen.dry or not trials:
        return
    try:
        with writing(chosen.file), backend(chosen):
            run(trials, chosen.jobs, chosen.file, chosen.keep, chosen.campaign)
    except Timeout:
        sys.exit(f"another run is writing to {chosen.file}: wait for it, or choose another --file")
    except KeyboardInterrupt:
        sys.exit("stopped; the same command goes on where this was")


def writing(file: Path) -> FileLock:
    """For one process at a time; the lock ends with the process that has it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(file.with_suffix(".lock"), timeout=0)


@contextlib.contextmanager
def backend(chosen: argparse.Namespace) -> Iterator[None]:
    if chosen.backend == "loky":
        yield
        return
    from dask.distributed import Client

    with Client(chosen.scheduler) if chosen.scheduler else Client(threads_per_worker=1), parallel_config("dask"):
        yield


if __name__ == "__main__":
    from benchmarks.run import main as imported  # what workers import they keep: a process of fits, with --keep

    imported()
