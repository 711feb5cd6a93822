"""Where ours is behind: every cell in which a rival does better, computed so that none is left out."""

from collections.abc import Iterator

import pandas as pd

from benchmarks.conditions import LIMIT, POINTS
from benchmarks.methods.registry import RIVALS, title
from benchmarks.statistics import CLOSE, of
from benchmarks.tables.layout import HEADS, Table, with_heads
from benchmarks.tables.real import held_out, means

MEASURES = {"recovered": "recovered", "strict": "strictly recovered", "form": "right form", "close": f"R² > {CLOSE:g}"}
CELL = ["noise", "noise_of", "points", "span", "limit", "set", "group"]


def behind(runs: pd.DataFrame) -> Table | None:
    """A line for each group of problems, condition and measure in which a rival is ahead of ours; all at seed 0."""
    chosen = runs[runs["method"].isin(("ours", *RIVALS))]
    known = chosen[(chosen["set"] != "real") & (chosen["seed"] == 0)]
    cells = [*_known(known.assign(close=known["r2"] > CLOSE)), *_real(held_out(chosen))]
    if not cells:
        return None
    lines = [line for line in cells if line["ahead"]]
    what = f"{len(cells)} cells (a data set, a condition and a measure; R² on real tables to three decimals)"
    caption = f"PruneSymNet is ahead of every rival, or equal, in all of {what}."
    if lines:
        caption = f"Where a rival does better than PruneSymNet on the same problems: {len(lines)} of {what}."
    return Table("Behind", caption, with_heads(lines), chosen)


def _known(chosen: pd.DataFrame) -> Iterator[dict[str, str]]:
    both = chosen[chosen["method"] != "ours"].merge(of(chosen, "ours"), on=[*CELL, "problem"], suffixes=("", "_ours"))
    sums = (
        both.groupby([*CELL, "method"])[[*MEASURES, *(f"{name}_ours" for name in MEASURES)]].sum().reset_index("method")
    )
    for key, cell in sums.groupby(CELL):
        where = dict(zip(CELL, key, strict=True))
        for name, word in MEASURES.items():
            behind = cell[cell[name] > cell[f"{name}_ours"]]
            columns = (behind[column] for column in ("method", name, f"{name}_ours"))
            ahead = [f"{title(method)} {b} against {a}" for method, b, a in zip(*columns, strict=True)]
            group = HEADS.get(where["group"], where["group"])
            yield {"data set": group, "condition": _words(where), "measure": word, "ahead": "; ".join(ahead)}


def missed(runs: pd.DataFrame) -> Table | None:
    """The problems that a rival solves and ours does not, one by one; all at seed 0."""
    chosen = runs[runs["method"].isin(("ours", *RIVALS)) & (runs["set"] != "real") & (runs["seed"] == 0)]
    both = of(chosen, "ours").merge(chosen[chosen["method"] != "ours"], on=[*CELL, "problem"], suffixes=("_ours", ""))
    if both.empty:
        return None
    lines = []
    only_theirs = both["recovered"] & ~both["recovered_ours"]
    for name in ("recovered", "strict", "form"):
        lost = both[both[name] & ~both[f"{name}_ours"] & ~(only_theirs & (name != "recovered"))]
        for key, cell in lost.groupby([*CELL, "problem"]):
            where = dict(zip([*CELL, "problem"], key, strict=True))
            who = ", ".join(title(method) for method in cell["method"])
            ours = f"`{cell['formula_ours'].iloc[0]}`"
            lines.append(
                {"problem": where["problem"], "condition": _words(where), "measure": MEASURES[name], "by": who}
                | {"theirs": f"`{cell['formula'].iloc[0]}`", "PruneSymNet": ours}
            )
    tried = both.groupby([*CELL, "problem"]).ngroups
    caption = f"No rival solves a problem that PruneSymNet does not, in {tried} problems and conditions."
    if lines:
        caption = (
            f"Problems that a rival solves and PruneSymNet does not: {len(lines)}, in {tried} problems and conditions."
        )
    return Table("Missed", caption, with_heads(lines), chosen)


def _words(where: dict[str, float | str]) -> str:
    """A condition, as far as it is not the usual one; the noise is always said."""
    words = [f"noise {where['noise']:g}" + (f" of the {where['noise_of']}" if where["noise_of"] != "rms" else "")]
    words += [f"{where['points']:g} points"] * (where["points"] != POINTS)
    words += [f"in {where['span']}"] * (where["span"] != "")
    words += [f"{where['limit']:g} s"] * (where["limit"] != LIMIT)
    return ", ".join(words)


def _real(chosen: pd.DataFrame) -> Iterator[dict[str, str]]:
    per_table = means(chosen).round(3)
    if "ours" not in per_table:
        return
    for problem, line in per_table.iterrows():
        others = {name: line[name] for name in RIVALS if name in line and pd.notna(line[name])}
        ahead = [
            f"{title(name)} {value:.3f} against {line['ours']:.3f}"
            for name, value in others.items()
            if value > line["ours"]
        ]
        if others and pd.notna(line["ours"]):
            yield {"data set": str(problem), "condition": "real", "measure": "held-out R²", "ahead": "; ".join(ahead)}
