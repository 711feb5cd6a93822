"""All methods in one table: the first that a reader wants to see. Only runs of one machine stand side by side."""

import pandas as pd

from benchmarks.conditions import FURTHER, NOISE, RANDOM
from benchmarks.methods.registry import METHODS, title
from benchmarks.statistics import MACHINE, machine_words, methods_in, of
from benchmarks.tables.layout import Table, called, count, seconds, with_heads
from benchmarks.tables.methods import EVEN, first_at_limit
from benchmarks.tables.real import held_out


def summary(runs: pd.DataFrame) -> Table | None:
    """Known formulas, with and without noise, real tables, and the time it takes, for each machine on which ours was
    run. A cell is there if the method was run on all the problems that ours was run on, on the same machine."""
    known, tables = first_at_limit(runs, "paper", *FURTHER, RANDOM), held_out(runs)
    conditions = {
        "the paper's": known[(known["noise"] == 0) & (known["set"] == "paper")],
        f"{NOISE:.0%} noise": known[(known["noise"] == NOISE) & (known["set"] == "paper")],
        "further sets": known[(known["noise"] == 0) & known["set"].isin(FURTHER)],
        "random": known[(known["noise"] == 0) & (known["set"] == RANDOM)],
        "real": tables[tables["seed"] == 0],
    }
    everything = pd.concat(conditions.values())
    lines, used = [], []
    for machine in of(everything, "ours")[MACHINE].dropna().drop_duplicates().itertuples(index=False):
        on_it = {head: _on(runs, machine) for head, runs in conditions.items()}
        there = methods_in(_on(everything, machine))
        for method in (name for name in there if not any(name in METHODS[best].better_of for best in there)):
            own = {head: _alike(runs, method) for head, runs in on_it.items()}
            if any(map(len, own.values())) and not (method == "ours" and _alone(on_it)):
                lines.append(_line(called(everything, method), own) | {"machine": machine_words(*machine)})
                used += own.values()
    left_out = [
        title(method)
        for method in methods_in(everything)
        if called(everything, method) not in {line["method"] for line in lines}
        and not any(method in METHODS[best].better_of for best in methods_in(everything))
    ]
    caption = (
        f"Formulas recovered by each method (with the right form, in brackets: recovered once its floats are fitted to "
        f"points without noise): {EVEN}. *Strictly*: of the first column, the same formula but for rounding. "
        "*Real tables*: the median R² on the quarter of their rows that was held out, and the median complexity. "
        "*Median time*: of the first column. A cell is empty where a method was not run on the same machine as "
        "PruneSymNet, on the same problems."
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
    """A method's runs if they are on all the problems of ours, else none."""
    own, problems = of(runs, method), set(of(runs, "ours")["problem"])
    return own if problems and problems <= set(own["problem"]) else own.iloc[:0]


def _alone(conditions: dict[str, pd.DataFrame]) -> bool:
    return not any(
        len(_alike(runs, method)) for runs in conditions.values() for method in methods_in(runs) if method != "ours"
    )


def _line(name: str, own: dict[str, pd.DataFrame]) -> dict[str, str]:
    papers, blurred, further, random, real = own.values()
    return {
        "method": name,
        "the paper's": _with_form(papers),
        "strictly": count(papers["strict"], len(papers)),
        f"{NOISE:.0%} noise": _with_form(blurred),
        "further sets": count(further["recovered"]),
        "random formulas": count(random["recovered"]),
        "real tables: R² (complexity)": f"{real['r2'].median():.3f} ({real['complexity'].median():g})"
        if len(real)
        else "",
        "median time": seconds(papers["seconds"].median()),
    }


def _with_form(own: pd.DataFrame) -> str:
    return f"{own['recovered'].sum()} ({own['form'].sum()}) of {len(own)}" if len(own) else ""
