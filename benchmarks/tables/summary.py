"""All methods in one table: the first that a reader wants to see. Only runs of one machine stand side by side."""

import pandas as pd

from benchmarks.conditions import FURTHER, LIMIT, NOISE, POINTS, RANDOM
from benchmarks.methods.registry import METHODS, title
from benchmarks.statistics import MACHINE, machine_words, methods_in, of
from benchmarks.tables.layout import Table, called, seconds, with_heads
from benchmarks.tables.methods import at_limit
from benchmarks.tables.real import held_out

SEEDS = 3  # the first, which most methods were run with


def summary(runs: pd.DataFrame) -> Table | None:
    """Known formulas, with and without noise, real tables, and the time it takes, for each machine on which ours was
    run. A cell is there if the method was run on all the problems that ours was run on, on the same machine."""
    known, tables = at_limit(runs, "paper", *FURTHER, RANDOM), held_out(runs)
    known, tables = known[known["seed"] < SEEDS], tables[tables["seed"] < SEEDS]
    conditions = {
        "the paper's": known[(known["noise"] == 0) & (known["set"] == "paper")],
        f"{NOISE:.0%} noise": known[(known["noise"] == NOISE) & (known["set"] == "paper")],
        "further sets": known[(known["noise"] == 0) & known["set"].isin(FURTHER)],
        "random": known[(known["noise"] == 0) & (known["set"] == RANDOM)],
        "real": tables,
    }
    everything = pd.concat(conditions.values())
    lines, used = [], []
    for machine in of(everything, "ours")[MACHINE].dropna().drop_duplicates().itertuples(index=False):
        on_it = {head: _on(runs, machine) for head, runs in conditions.items()}
        own = {name: {head: _alike(runs, name) for head, runs in on_it.items()} for name in methods_in(everything)}
        for method, parts in own.items():
            if any(map(len, parts.values())) and not _said(method, own) and not (method == "ours" and _alone(own)):
                lines.append(_line(called(everything, method), parts) | {"machine": machine_words(*machine)})
                used += parts.values()
    left_out = [
        title(method)
        for method in methods_in(everything)
        if called(everything, method) not in {line["method"] for line in lines}
        and not any(method in METHODS[best].better_of for best in methods_in(everything))
    ]
    caption = (
        f"Formulas recovered by each method (with the right form, in brackets: recovered once its floats are fitted to "
        f"points without noise): {POINTS} points, {LIMIT:g} s on one core, the mean of {SEEDS} seeds or of as many as "
        "a cell says. *Strictly*: of the first column, the same formula but for rounding. *Real tables*: the median R² "
        "on the quarter of their rows that was held out, and the median complexity. *Median time*: of the first "
        "column. A cell is empty where a method was not run on the same machine as PruneSymNet, on the same problems."
    )
    if left_out:
        caption += f" Left out for that reason: {', '.join(left_out)}."
    if not lines:
        return None
    cells = with_heads(lines)
    return Table("Summary", caption, cells.loc[:, (cells != "").any()], pd.concat(used))


def _on(runs: pd.DataFrame, machine: tuple[str, int]) -> pd.DataFrame:
    return runs[(runs["machine"] == machine[0]) & (runs["cores"] == machine[1])]


def _alike(runs: pd.DataFrame, method: str) -> pd.DataFrame:
    """A method's runs with those seeds with which it was run on all the problems of ours."""
    own, problems = of(runs, method), set(of(runs, "ours")["problem"])
    whole = [seed for seed, part in own.groupby("seed") if problems and problems <= set(part["problem"])]
    return own[own["seed"].isin(whole)]


def _said(method: str, own: dict[str, dict[str, pd.DataFrame]]) -> bool:
    """Whether the line of a method that is the better of this and others has a cell wherever this has one."""
    parts = own[method]
    return any(
        method in METHODS[best].better_of and all(len(theirs[head]) for head in parts if len(parts[head]))
        for best, theirs in own.items()
    )


def _alone(own: dict[str, dict[str, pd.DataFrame]]) -> bool:
    return not any(len(runs) for method, parts in own.items() if method != "ours" for runs in parts.values())


def _line(name: str, own: dict[str, pd.DataFrame]) -> dict[str, str]:
    papers, blurred, further, random, real = own.values()
    return {
        "method": name,
        "the paper's": _mean(papers, "recovered", "form"),
        "strictly": _mean(papers, "strict").partition(" of ")[0],
        f"{NOISE:.0%} noise": _mean(blurred, "recovered", "form"),
        "further sets": _mean(further, "recovered"),
        "random formulas": _mean(random, "recovered"),
        "real tables: R² (complexity)": f"{real['r2'].median():.3f} ({real['complexity'].median():g})"
        if len(real)
        else "",
        "median time": seconds(papers["seconds"].median()),
    }


def _mean(own: pd.DataFrame, flag: str, other: str = "") -> str:
    """How many problems have a flag (and another), on the average of the seeds; of how many, and of which seeds."""
    if own.empty:
        return ""
    seeds = own["seed"].nunique()
    found, further = (f"{own[name].sum() / seeds:.1f}".removesuffix(".0") if name else "" for name in (flag, other))
    few = "" if seeds == SEEDS else ", 1 seed" if seeds == 1 else f", {seeds} seeds"
    return found + (f" ({further})" if other else "") + f" of {len(own) // seeds}{few}"
