"""The paper's own tables, its numbers beside those measured here."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from benchmarks.conditions import LIMIT, LONG
from benchmarks.methods.registry import METHODS, PRINTED, RIVALS, title
from benchmarks.problems import load
from benchmarks.published import DATA_SETS, cells, counts, of_five
from benchmarks.statistics import ROUND_OFF, of, relative_mse, sizes, usual
from benchmarks.tables.layout import HEADS, Table, by_data_set, called, count, with_heads

BEST_OF, OF_FIVE = 3, 5  # runs
ORDER = ("eql", "gp", "gp-tuned", "dsr", "dsr-full", "paper", "paper+", "ours")  # of the best of three


def _first_runs(runs: pd.DataFrame) -> pd.DataFrame:
    chosen = usual(runs, "paper")
    return chosen[chosen["seed"] < BEST_OF]


def datasets(runs: pd.DataFrame) -> Table:
    """The number of expressions: those that are here, and those that the paper says."""
    lines = [
        {"": "here", **(here := sizes()), "all": sum(here.values())},
        {"": "the paper", **(said := counts("expressions")), "all": sum(said.values())},
    ]
    return Table("Data sets", "The number of expressions in each data set.", with_heads(lines), runs.iloc[:0])


def votes_between(ours: pd.DataFrame, theirs: pd.DataFrame) -> tuple[dict[str, tuple[int, int]], set[int]]:
    """Votes in each data set, by the paper's rule: the lesser of the least test MSEs wins, ours where they are equal.

    The runs are paired, so that both have the same seeds for a problem; the second result says how many those are.
    What is below round-off is 0, and what has no finite MSE infinite; where neither has one, nobody gets a vote.
    """
    columns = ["group", "problem", "seed"]
    first, second = (
        runs[columns].assign(mse=relative_mse(runs).map(lambda mse: 0.0 if mse < ROUND_OFF else mse))
        for runs in (ours, theirs)
    )
    both = first.merge(second, on=columns, suffixes=("_ours", "_theirs")).groupby(["group", "problem"])
    best = both[["mse_ours", "mse_theirs"]].min()
    best = best[np.isfinite(best).any(axis=1)]
    won = (best["mse_ours"] <= best["mse_theirs"]).groupby("group").agg(["sum", "count"])
    found = {str(group): (int(line["sum"]), int(line["count"] - line["sum"])) for group, line in won.iterrows()}
    return found, set(both.size())


def _vote_cells(found: dict[str, tuple[int, int]]) -> dict[str, str]:
    total = np.sum(list(found.values()), axis=0)
    return {name: f"{found[name][0]}:{found[name][1]}" if name in found else "" for name in DATA_SETS} | {
        "all": f"{total[0]}:{total[1]}"
    }


def _published_votes(table: str, method: str) -> dict[str, str]:
    said = cells(table, method)
    pairs = np.array([cell.split(":") for cell in said.values()], int).sum(axis=0)
    return said | {"all": f"{pairs[0]}:{pairs[1]}"}


def _runs(numbers: set[int]) -> str:
    low, high = min(numbers), max(numbers)
    if low == high == 1:
        return "one run"
    return f"best of {high}" if low == high else f"best of {low} to {high}"


def votes(runs: pd.DataFrame) -> Table | None:
    """Which of two methods has the lesser test MSE, expression by expression."""
    chosen = _first_runs(runs)
    lines, used = [], []
    for rival in RIVALS:
        theirs = of(chosen, rival)
        against = [name for name in ("paper", "ours") if len(of(chosen, name).merge(theirs, on=["problem", "seed"]))]
        if against and rival in PRINTED:
            said = _published_votes("votes", rival)
            lines.append({"against": METHODS[rival].printed, "": "the paper", **said, "runs": f"best of {BEST_OF}"})
        for name in against:
            found, numbers = votes_between(of(chosen, name), theirs)
            lines.append({"against": title(rival), "": title(name), **_vote_cells(found), "runs": _runs(numbers)})
            used += [of(chosen, name), theirs]
    if not lines:
        return None
    voters = set(pd.concat(used)["method"])
    there = [name for name in METHODS if name in voters]
    caption = (
        "Votes a:b against each rival: a is the number of expressions where the test MSE is less than or equal to the "
        "rival's, b the number of the others. Of the runs that both have, at most three, the best counts. "
        "MSEs below 1e-20 of the target's variance are round-off, and equal; a run without a finite MSE is infinite. "
        "(Operon computes in single precision, RILS-ROLS writes six decimals: their exact formulas lose to ours.) "
        f"On one core: {_limits(there)}. The paper's cells do not always add up to the number of expressions."
    )
    return Table("Votes", caption, with_heads(lines), pd.concat(used).drop_duplicates())


def _found(runs: pd.DataFrame, method: str) -> tuple[pd.DataFrame, str]:
    """Whether each problem was recovered, and strictly, in one of the first three runs, and how many those were."""
    tried = of(runs, method).groupby(["group", "problem"])[["recovered", "strict"]]
    return tried.any().reset_index(), _runs(set(tried.size()))


def _count_lines(runs: pd.DataFrame, table: str, method: str, name: str) -> list[dict[str, str]]:
    """The paper's line for a method, where it has one, and the line of its runs here."""
    lines = []
    if method in PRINTED or table != "recovered":
        said = counts(table, method)
        theirs = {key: str(value) for key, value in said.items()} | {"all": str(sum(said.values()))}
        lines.append(
            {"method": METHODS[method].printed or name, "": "the paper", **theirs}
            | {"strictly": "", "runs": f"best of {BEST_OF}"}
        )
    best, number = _found(runs, method)
    all_of_them = sum(sizes().values())
    totals = {"all": count(best["recovered"], all_of_them), "strictly": count(best["strict"], all_of_them)}
    return [*lines, {"method": name, "": "here", **by_data_set(best, "recovered", sizes())} | totals | {"runs": number}]


def _limits(there: Sequence[str]) -> str:
    """The seconds of each method on one core, and what else ends it, as the registry says."""
    words: dict[str, list[str]] = {}
    for name in there:
        method = METHODS[name]
        ends = f" or {method.ends}" if method.limit != LIMIT and method.ends else ""
        words.setdefault(f"{method.limit:g} s{ends}", []).append(title(name))
    return "; ".join(f"{', '.join(names)}: {limit}" for limit, names in words.items())


def recovered(runs: pd.DataFrame) -> Table | None:
    """How many expressions each method finds in the best of three runs."""
    chosen = _first_runs(runs)
    there = [method for method in ORDER if len(of(chosen, method))]
    if not there:
        return None
    lines = [{"method": "expressions", "": "", **sizes(), "all": sum(sizes().values())}]
    for method in there:
        lines += _count_lines(
            chosen, "recovered", method, "PruneSymNet, default search" if method == "ours" else called(chosen, method)
        )
    caption = (
        "How many expressions come out in at least one of the runs that the last column counts: in the paper, and in "
        f"runs of the same methods here ({_limits(there)}). *Strictly*: the same formula but for rounding."
    )
    return Table("Recovered, best of three", caption, with_heads(lines), chosen[chosen["method"].isin(there)])


def five_runs(runs: pd.DataFrame) -> Table | None:
    """In how many of five runs each expression was found: the tables of the paper's supplement."""
    chosen = usual(runs, "paper")
    chosen = chosen[(chosen["seed"] < OF_FIVE) & chosen["method"].isin([*PRINTED, "ours"])]
    if chosen.empty:
        return None
    here = [method for method in (*PRINTED, "ours") if len(of(chosen, method))]
    said = {method: of_five(method) for method in PRINTED}
    flags = {method: dict(iter(of(chosen, method).groupby("problem")["recovered"])) for method in here}
    lines = []
    for group in DATA_SETS:
        problems = [problem for problem in load() if problem.group == group]
        named = [(f"`{problem.formula}`", [problem.name]) for problem in problems]
        for text, names in [*named, ("**total**", [problem.name for problem in problems])]:
            lines.append({"data set": HEADS[group], "expression": text} | _five(names, said, flags))
    everything = [problem.name for problem in load()]
    lines.append({"data set": "all", "expression": "**total**"} | _five(everything, said, flags))
    caption = (
        "In how many of five runs (or of so many as a cell says) each expression comes out: in the paper's supplement, "
        f"and here ({_limits(here)})."
    )
    return Table("Recovered in five runs", caption, with_heads(lines), chosen)


def _five(names: list[str], said: dict[str, dict[str, int]], flags: dict[str, dict[str, pd.Series]]) -> dict[str, str]:
    """The cells of one line: for each method what the paper says, and what was found."""
    cells = {}
    for method in (*PRINTED, "ours"):
        short = METHODS[method].printed
        if method in said:
            cells[f"{short}, the paper"] = str(sum(said[method][name] for name in names))
        if method in flags:
            own = [flag for name in names for flag in flags[method].get(name, ())]
            head = title(method) if method in ("paper", "ours") else f"{short}, here"
            cells[head] = count(own, OF_FIVE * len(names))
    return cells


def ablation_votes(runs: pd.DataFrame) -> Table | None:
    """The complete network against itself without gradient steps, and with random pruning."""
    chosen = _first_runs(runs)
    complete = of(chosen, "paper-1000")
    lines, used = [], []
    for rival in ("no-gradient-1000", "random-pruning-1000"):
        theirs = of(chosen, rival)
        if complete.merge(theirs, on=["problem", "seed"]).empty:
            continue
        found, numbers = votes_between(complete, theirs)
        said = _published_votes("ablation votes", rival)
        lines.append({"against": title(rival), "": "the paper", **said, "runs": f"best of {BEST_OF}"})
        lines.append({"against": title(rival), "": "here", **_vote_cells(found), "runs": _runs(numbers)})
        used += [complete, theirs]
    if not lines:
        return None
    caption = (
        f"Votes of the complete network against its parts, each with at most 1,000 epochs (or {LONG:g} s on one core)."
    )
    return Table("Ablation: votes", caption, with_heads(lines), pd.concat(used).drop_duplicates())


def ablation_recovered(runs: pd.DataFrame) -> Table | None:
    """How many expressions the network finds without gradient steps, and with random pruning."""
    chosen = _first_runs(runs)
    order = ("no-gradient-1000", "random-pruning-1000", "paper-1000")
    there = [method for method in order if len(of(chosen, method))]
    if not there:
        return None
    lines = [line for name in there for line in _count_lines(chosen, "ablation recovered", name, title(name))]
    caption = (
        "How many expressions come out in at least one of the runs that the last column counts, with at most 1,000 "
        f"epochs (or {LONG:g} s on one core). *Strictly*: the same formula but for rounding."
    )
    return Table("Ablation: recovered", caption, with_heads(lines), chosen[chosen["method"].isin(there)])
