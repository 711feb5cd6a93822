"""Tables of measurements, whose formula nobody knows: how well each method predicts rows it has not seen."""

import pandas as pd

from benchmarks.conditions import LIMIT
from benchmarks.methods.registry import REFERENCES, SHOWN, title
from benchmarks.statistics import holm, methods_in, of, signed_rank
from benchmarks.tables.layout import Table, called, probability, with_heads


def held_out(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs on real tables, with an R² of 0 for those without an answer, or worse than the mean of the target."""
    chosen = runs[(runs["set"] == "real") & (runs["limit"] == LIMIT)]
    chosen = chosen[chosen["method"].isin((*SHOWN, *REFERENCES))]
    return chosen.assign(r2=chosen["r2"].fillna(0.0).clip(lower=0.0))


def with_references(chosen: pd.DataFrame) -> list[str]:
    """The methods that search for formulas, and after them those that do not."""
    return methods_in(chosen, (*SHOWN, *REFERENCES))


def means(chosen: pd.DataFrame) -> pd.DataFrame:
    """The mean R² over the seeds: one line per table, one column per method."""
    return chosen.pivot_table("r2", "problem", "method", aggfunc="mean", observed=True)


def real(runs: pd.DataFrame) -> Table | None:
    """All methods over all tables."""
    chosen = held_out(runs)
    if chosen.empty:
        return None
    order = with_references(chosen)
    per_table = means(chosen)[order]
    searches = [method for method in order if method not in REFERENCES]
    shared = per_table[searches].dropna()
    ranks = shared.rank(axis=1, ascending=False)
    best = shared.round(3).eq(shared.round(3).max(axis=1), axis=0)
    values = {}
    for method in order if "ours" in order else ():
        both = per_table[["ours", method]].dropna().to_numpy()
        if method != "ours" and len(both):
            values[method] = signed_rank(both[:, 0], both[:, 1])
    # Which search is best is one question, and what a formula costs is another.
    corrected = holm({method: p for method, p in values.items() if method in searches})
    corrected |= holm({method: p for method, p in values.items() if method in REFERENCES})
    lines = []
    for method in order:
        own = of(chosen, method)
        lines.append(
            {
                "method": called(own, method),
                "tables": str(own["problem"].nunique()),
                "runs": str(len(own)),
                "median R²": f"{own['r2'].median():.3f}",
                "median complexity": f"{own['complexity'].median():g}" if own["complexity"].notna().any() else "",
                "mean rank": f"{ranks[method].mean():.2f}" if len(shared) and method in searches else "",
                "best": str(int(best[method].sum())) if method in searches else "",
                "failed": str(int((own["status"] != "done").sum())),
                "p": probability(corrected.get(method)),
            }
        )
    caption = (
        f"Tables without a known formula: R² on the held-out quarter of the rows, {LIMIT:g} s on one core. A run "
        "without an answer, or worse than the mean of the target, counts as 0. *Mean rank* and *best* (to three "
        f"decimals, a shared place counts for each) are over the {len(shared)} tables that all have. *p*: Wilcoxon's "
        "signed-rank test against PruneSymNet on the mean R² of each table, Holm-corrected."
    )
    if references := [title(method) for method in order if method in REFERENCES]:
        caption += f" Not ranked, and corrected apart, since they do not search for a formula: {', '.join(references)}."
    return Table("Real tables", caption, with_heads(lines), chosen)


def real_tables(runs: pd.DataFrame) -> Table | None:
    """Each table by itself."""
    chosen = held_out(runs)
    if chosen.empty:
        return None
    per_table = means(chosen)
    sizes = chosen.pivot_table("complexity", "problem", "method", aggfunc="median", dropna=False)
    lines = []
    for problem, line in per_table.iterrows():
        cells = {}
        for method in with_references(chosen):
            size = sizes[method].get(problem) if method in sizes else None
            text = "" if pd.isna(line[method]) else f"{line[method]:.3f}"
            cells[called(chosen, method)] = text if pd.isna(size) else f"{text} ({size:g})"
        lines.append({"table": str(problem)} | cells)
    caption = f"Mean R² on held-out rows, and the median complexity of the formulas; {LIMIT:g} s on one core."
    return Table("Real tables, one by one", caption, with_heads(lines), chosen)
