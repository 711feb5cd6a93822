"""The preset "paper", and what each difference of "paper+" wins."""

import pandas as pd

from benchmarks.conditions import LONG
from benchmarks.published import counts
from benchmarks.statistics import of, plain, sizes
from benchmarks.tables.layout import Table, by_data_set, count, with_heads
from prunesymnet.search import DIFFERENCES

RUNS = (3, 5)  # of which the best counts: the paper's tables, and its supplement's


def paper_plus(runs: pd.DataFrame) -> Table:
    """How many expressions come out with the preset "paper", with each difference of "paper+" alone, and with all."""
    chosen = plain(runs[(runs["limit"] == LONG) & (runs["noise"] == 0)], "paper")
    said = counts("recovered", "paper")
    theirs = {name: str(number) for name, number in said.items()} | {"best of 3": str(sum(said.values()))}
    lines = [{"preset": "the paper", "what is different": "", **theirs}]
    lines.append({"preset": "`paper`", "what is different": "nothing", **_cells(of(chosen, "paper"))})
    for name, difference in DIFFERENCES.items():
        cells = _cells(of(chosen, f"paper+{name}"))
        lines.append({"preset": f"`paper`, {name}", "what is different": difference.about, **cells})
    lines.append({"preset": "`paper+`", "what is different": "all of these", **_cells(of(chosen, "paper+"))})
    used = chosen[chosen["method"].isin(["paper", "paper+", *(f"paper+{name}" for name in DIFFERENCES)])]
    caption = (
        "How many of the 87 expressions come out in at least one of three runs, by data set and in all, in at least "
        "one of five, and in how many of all runs: by the paper, by the preset `paper`, with each difference of "
        "`paper+` added alone, and with all of them. Every run has 128 points and at most 3,000 epochs. An empty cell "
        "has not been measured."
    )
    return Table("The paper's method, and what we would do better", caption, with_heads(lines), used)


def _cells(runs: pd.DataFrame) -> dict[str, str]:
    """The counts of one preset: by data set and in all for the best of some runs, and how many runs there were."""
    total, found = sum(sizes().values()), {}
    for number in RUNS:
        first = runs[runs["seed"] < number]
        if first.groupby("problem").size().min() != number:
            continue  # not as many runs yet
        best = first.groupby(["group", "problem"])["recovered"].any().reset_index()
        if number == RUNS[0]:
            found |= by_data_set(best, "recovered", sizes())
        found[f"best of {number}"] = count(best["recovered"], total)
    if len(runs):
        found["runs"] = f"{int(runs['recovered'].sum())} of {len(runs)}"
    return found
