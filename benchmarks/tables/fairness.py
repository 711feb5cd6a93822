"""Who ran where, with what: for each method the conditions of its runs, from the registry and the rows themselves."""

import pandas as pd

from benchmarks.methods.registry import METHODS
from benchmarks.statistics import machine_words, of
from benchmarks.tables.layout import Table, called, seeds, with_heads


def fairness(runs: pd.DataFrame) -> Table | None:
    """A line for each campaign of a method on each machine it was run on, most runs first."""
    chosen = runs[runs["method"].isin([name for name, method in METHODS.items() if not method.better_of])]
    chosen = chosen.assign(machine=chosen["machine"].fillna("not recorded"))
    lines = []
    for method in (name for name in METHODS if (chosen["method"] == name).any()):
        own = of(chosen, method)
        parts = own.groupby(["machine", "cores", "campaign"], dropna=False)
        for (machine, cores, campaign), part in sorted(parts, key=lambda pair: -len(pair[1])):
            lines.append(
                {
                    "method": called(part, method),
                    "operators": METHODS[method].operators,
                    "limits": ", ".join(f"{limit:g} s" for limit in sorted(part["limit"].unique())),
                    "ends before": METHODS[method].ends or "never",
                    "runs": f"{len(part):,}",
                    "seeds": seeds(part).split(maxsplit=1)[1],
                    "failed": str(int((part["status"] != "done").sum())),
                    "campaign": "" if pd.isna(campaign) else str(campaign),
                    "commits": ", ".join(sorted(part["commit"].dropna().unique())),
                    "machine": machine_words(machine, cores),
                }
            )
    caption = (
        "With what each method was run, and where: the runs that the tables use, each on one core. *Ends before*: what "
        "ends a fit before its time is up. *Failed*: runs that crashed, failed or did not end. *Campaign*: the name "
        "under which runs were made together, at one commit."
    )
    return Table("Who ran where", caption, with_heads(lines), chosen) if lines else None
