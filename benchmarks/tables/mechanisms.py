"""What each mechanism of our search is worth: what is lost without it."""

import pandas as pd

from benchmarks.conditions import FURTHER, NOISE, POINTS, RANDOM
from benchmarks.methods.ours import ABLATIONS
from benchmarks.methods.registry import title
from benchmarks.statistics import MACHINE, of, plain
from benchmarks.tables.layout import Table, count, with_heads

SETS = {"paper": "the paper's", "further": "further sets", "random": "random formulas"}


def mechanisms(runs: pd.DataFrame) -> Table | None:
    """Recovered with everything, and without each mechanism that the search has today, at the shortest time limit that
    was tried; only problems that both have, run on the same machine, say what was lost."""
    chosen = runs[runs["method"].isin(("ours", *ABLATIONS)) & runs["noise"].isin((0.0, NOISE)) & (runs["seed"] == 0)]
    chosen = plain(chosen, "paper", *FURTHER, RANDOM)
    chosen = chosen[chosen["limit"] == chosen.loc[chosen["method"] != "ours", "limit"].min()]
    whole = of(chosen, "ours")
    without = [method for method in ABLATIONS if (chosen["method"] == method).any()]
    if not without or whole.empty:
        return None
    lines = [{"": "with all mechanisms"} | _counts(whole)]
    for method in without:
        own = of(chosen, method)
        both = own.merge(whole, on=["problem", "noise", *MACHINE], suffixes=("", "_whole"))
        lost = both[both["recovered_whole"] & ~both["recovered"]]
        won = both[both["recovered"] & ~both["recovered_whole"]]
        lines.append(
            {"": title(method)} | _counts(own) | {"only with it": _names(lost), "only without it": _names(won)}
        )
    limit = chosen["limit"].iloc[0]
    caption = (
        f"Recovered with all mechanisms of the search and without each; {POINTS} points, {limit:g} s on one core, seed "
        f"0. At {NOISE:.0%} noise, the number with the right form stands in brackets. *Only with it*: the formulas "
        "that are recovered with all mechanisms and not without this one. Most can be found in more than one way."
    )
    return Table("What each mechanism is worth", caption, with_heads(lines), chosen)


def _counts(own: pd.DataFrame) -> dict[str, str]:
    exact, noisy = own[own["noise"] == 0], own[own["noise"] == NOISE]
    kinds = exact["set"].map({"paper": "paper", RANDOM: "random"}).fillna("further")
    cells = {head: count(exact.loc[kinds == kind, "recovered"]) for kind, head in SETS.items()}
    blurred = f"{noisy['recovered'].sum()} ({noisy['form'].sum()}) of {len(noisy)}" if len(noisy) else ""
    return {"the paper's": cells.pop("the paper's"), f"{NOISE:.0%} noise": blurred} | cells


def _names(runs: pd.DataFrame) -> str:
    both = zip(runs["problem"], runs["noise"], strict=True)
    return ", ".join(f"{problem} ({noise:.0%} noise)" if noise else problem for problem, noise in both)
