"""All methods in one table: the first that a reader wants to see."""

import pandas as pd

from benchmarks.conditions import FURTHER
from benchmarks.statistics import methods_in, of
from benchmarks.tables.layout import Table, called, count, seconds, with_heads
from benchmarks.tables.methods import EVEN, first_at_limit
from benchmarks.tables.real import held_out

NOISE = 0.01


def summary(runs: pd.DataFrame) -> Table | None:
    """Known formulas, with and without noise, real tables, and the time it takes."""
    known = first_at_limit(runs, "paper", *FURTHER)
    exact, noisy = known[known["noise"] == 0], known[known["noise"] == NOISE]
    papers, further = exact[exact["set"] == "paper"], exact[exact["set"] != "paper"]
    blurred, tables = noisy[noisy["set"] == "paper"], held_out(runs)
    tables = tables[tables["seed"] == 0]
    lines = [
        {
            "method": called(papers, method),
            "recovered": count(of(papers, method)["recovered"]),
            "right form": count(of(papers, method)["form"], len(of(papers, method))),
            f"{NOISE:.0%} noise: recovered": count(of(blurred, method)["recovered"]),
            f"{NOISE:.0%} noise: right form": count(of(blurred, method)["form"], len(of(blurred, method))),
            "further sets": count(of(further, method)["recovered"]),
            "real tables: R² (complexity)": _real(of(tables, method)),
            "median time": seconds(of(papers, method)["seconds"].median()),
        }
        for method in methods_in(papers)
    ]
    caption = (
        f"The paper's formulas that each method recovers: {EVEN}. *Right form*: recovered once its constants are "
        "fitted to points without noise. *Real tables*: the median R² on the quarter of their rows that was held out, "
        "and the median complexity. *Median time*: of the first column."
    )
    used = pd.concat([papers, blurred, further, tables])
    return Table("Summary", caption, with_heads(lines), used) if lines else None


def _real(own: pd.DataFrame) -> str:
    return f"{own['r2'].median():.3f} ({own['complexity'].median():g})" if len(own) else ""
