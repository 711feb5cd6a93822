"""The runs of the results file as a frame, which of them are compared, and tests that say what a difference means."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks import record
from benchmarks.conditions import FRESH, LIMIT, POINTS
from benchmarks.methods.registry import METHODS, SHOWN
from benchmarks.problems import load

CLOSE = 0.999  # an R² above it is a good fit, whatever the formula
ROUND_OFF = 1e-20  # of the target's variance: mean squared errors below it are equal
KEY = ["method", "set", "problem", "noise", "points", "span", "limit", "seed", "outliers", "noise_of", "other_units",
       "unrelated"]  # fmt: skip
CHANGES = ("outliers", "other_units", "unrelated")  # runs that only tables of their own show
MACHINE = ["machine", "cores"]
CONDITION = ["set", "noise", "points", "span", "limit", "outliers", "noise_of", "other_units", "unrelated"]
COLUMNS = [*KEY, "group", "status", "error", "seconds", "formula", "complexity", "true_complexity", "recovered",
           "strict", "form", "mse", "r2", "version", "commit", "machine", "cores", "note", "campaign",
           "why"]  # fmt: skip
NUMBERS = [
    "noise",
    "points",
    "limit",
    "seed",
    "outliers",
    "unrelated",
    "seconds",
    "complexity",
    "true_complexity",
    "mse",
    "r2",
]


def rows() -> list[dict[str, Any]]:
    """The lines of the results file; none where there is no file."""
    return record.read("runs")


def frame(lines: Sequence[dict[str, Any]], *, per_machine: bool = False, changed: str = "") -> pd.DataFrame:
    """One row per run, the last where a run was made again (or the last on each machine); a span as text, empty for a
    problem's own ranges. Runs with gross outliers, in other units or beside unrelated columns are left out, but for the
    one of these (`CHANGES`) that is asked for.

    A run that did not end by itself has no seconds: it had at least those it was allowed.
    """
    runs = pd.DataFrame(list(lines), columns=COLUMNS)
    runs[NUMBERS] = runs[NUMBERS].astype(float)
    runs["span"] = [f"[{span[0]:g}, {span[1]:g}]" if isinstance(span, list | tuple) else "" for span in runs["span"]]
    # What older runs do not know.
    runs = runs.fillna({"outliers": 0.0, "unrelated": 0.0})
    runs["noise_of"] = [kind if isinstance(kind, str) else "rms" for kind in runs["noise_of"]]
    runs["other_units"] = [flag is True for flag in runs["other_units"]]
    for name in CHANGES:
        if name != changed:
            runs = runs[runs[name].astype(float) == 0].copy()
    runs["seconds"] = runs["seconds"].fillna(runs["limit"])
    for name in ("recovered", "strict", "form"):
        runs[name] = [flag is True for flag in runs[name]]
    runs = runs.drop_duplicates([*KEY, *MACHINE] if per_machine else KEY, keep="last")
    return pd.concat([runs, *better(runs, MACHINE if per_machine else [])], ignore_index=True)


def better(runs: pd.DataFrame, apart: Sequence[str] = ()) -> Iterator[pd.DataFrame]:
    """The runs of the methods that are the better of others, condition by condition: those of the one that recovers
    more, then has more right forms, then the larger R², on the problems and seeds that all of them have."""
    for name, method in METHODS.items():
        if not method.better_of:
            continue
        for _, part in runs[runs["method"].isin(method.better_of)].groupby([*CONDITION, *apart], dropna=False):
            shared = part[part.groupby(["problem", "seed"])["method"].transform("nunique") == len(method.better_of)]
            if shared.empty:
                continue
            sums = shared.assign(r2=shared["r2"].fillna(0.0).clip(lower=0.0)).groupby("method", sort=False)
            best = sums[["recovered", "form", "r2"]].sum().apply(tuple, axis=1).idxmax()
            yield of(shared, str(best)).assign(method=name)


def usual(runs: pd.DataFrame, *sets: str) -> pd.DataFrame:
    """The runs that most tables compare: 128 points of the problems' own ranges, no noise, a method's usual time."""
    limit = runs["method"].map({name: method.limit for name, method in METHODS.items()}).fillna(LIMIT)
    return plain(runs[(runs["limit"] == limit) & (runs["noise"] == 0)], *sets)


def plain(runs: pd.DataFrame, *sets: str) -> pd.DataFrame:
    """The runs on 128 points of the problems' own ranges, with any noise and limit."""
    return runs[runs["set"].isin(sets) & (runs["points"] == POINTS) & (runs["span"] == "")]


def methods_in(runs: pd.DataFrame, names: Sequence[str] = SHOWN) -> list[str]:
    """Those that are shown beside each other, in their order."""
    return [name for name in names if (runs["method"] == name).any()]


def on_one_machine(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of the machine that has most of ours: only these can be compared by their seconds."""
    counts = of(runs, "ours").groupby(MACHINE).size()
    if counts.empty:
        return runs.iloc[:0]
    return runs[(runs[MACHINE] == list(counts.idxmax())).all(axis=1)]


def machine_words(name: str, cores: float) -> str:
    """
    >>> machine_words("Intel(R) Xeon(R) Processor", 16)
    'Intel Xeon Processor, 16 cores'
    """
    return f"{name.replace('(R)', '')}, {cores:g} cores"


def of(runs: pd.DataFrame, method: str) -> pd.DataFrame:
    return runs[runs["method"] == method]


@cache
def sizes() -> dict[str, int]:
    """How many expressions each of the paper's data sets has."""
    return dict(Counter(problem.group for problem in load()))


@cache
def variances(name: str) -> dict[str, float]:
    """Of each problem of a set: the variance of the target at the fresh points by which a formula is judged."""
    return {problem.name: float(np.var(problem.sample(*FRESH).y)) for problem in load(name)}


def relative_mse(runs: pd.DataFrame) -> pd.Series:
    """Mean squared errors in units of the target's variance: infinite where a run has none."""
    known = {
        name: value for group in runs["set"].unique() if group != "real" for name, value in variances(group).items()
    }
    return (runs["mse"] / runs["problem"].map(known)).fillna(np.inf)


def wilson(found: int, tried: int) -> tuple[float, float]:
    """The 95% interval of a share.

    >>> low, high = wilson(87, 87)
    >>> print(f"{low:.3f} to {high:.0f}")
    0.958 to 1
    """
    interval = stats.binomtest(int(found), int(tried)).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


def mcnemar(ours: Sequence[bool], theirs: Sequence[bool]) -> float:
    """The exact p-value that two methods which agree so often are equally good, paired on their problems.

    >>> mcnemar([True] * 6 + [False], [False] * 5 + [True, False])
    0.0625
    """
    first, second = np.asarray(ours, bool), np.asarray(theirs, bool)
    only_ours, only_theirs = int((first & ~second).sum()), int((second & ~first).sum())
    differ = only_ours + only_theirs
    return float(stats.binomtest(only_ours, differ).pvalue) if differ else 1.0


def holm(values: dict[str, float]) -> dict[str, float]:
    """P-values of several questions, corrected so that one false answer among all of them stays as rare as a p says.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    ordered = sorted(values, key=values.__getitem__)
    steps = [values[name] * (len(ordered) - rank) for rank, name in enumerate(ordered)]
    corrected = dict(zip(ordered, np.minimum(np.maximum.accumulate(steps), 1.0).tolist(), strict=True)) if steps else {}
    return {name: corrected[name] for name in values}


def signed_rank(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Wilcoxon's p-value that two methods are equally good, paired on their tables; 1 where they never differ."""
    differences = np.asarray(ours, float) - np.asarray(theirs, float)
    differences = differences[differences != 0]
    return float(stats.wilcoxon(differences).pvalue) if len(differences) else 1.0
