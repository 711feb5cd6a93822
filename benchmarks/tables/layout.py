"""What a table is, how its cells are written, and how it becomes Markdown."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.methods.registry import METHODS, title
from benchmarks.published import DATA_SETS
from benchmarks.statistics import wilson

HEADS = {"koza": "Koza", "korns": "Korns", "ode": "ODE", "livermore": "Livermore", "aifeynman2": "AIFeynman2",
         "aifeynman3": "AIFeynman3", "nguyen": "Nguyen", "jin": "Jin", "keijzer": "Keijzer",
         "vladislavleva": "Vladislavleva", "feynman": "Feynman", "strogatz": "Strogatz",
         "textbook": "textbook", "textbook-fair": "textbook, fair", "laboratory": "laboratory", "handbook": "handbook",
         "spectra": "spectra", "si": "SI units"}  # fmt: skip


class Table(NamedTuple):
    title: str
    caption: str
    cells: pd.DataFrame
    used: pd.DataFrame  # the runs it was made from


def markdown(table: Table, plan: str) -> str:
    """The table with the line that says how to make its numbers again; a table without a cell is its caption."""
    if table.cells.empty:
        return table.caption + measured(table.used, plan)
    return lines(table.cells) + measured(table.used, plan)


def lines(cells: pd.DataFrame) -> str:
    """The cells as Markdown."""
    found = [list(cells.columns), ["---"] * cells.shape[1], *cells.to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in line)} |" for line in found)


def page(table: Table, plan: str) -> str:
    """The same with its heading and caption: a file of its own."""
    above = f"# {table.title}\n\n" + ("" if table.cells.empty else f"{table.caption}\n\n")
    return f"{above}{markdown(table, plan)}\n"


def measured(used: pd.DataFrame, plan: str) -> str:
    """The line below a table; none where nothing had to be measured."""
    if used.empty:
        return ""
    commits, machines = (", ".join(sorted(used[name].dropna().unique())) for name in ("commit", "machine"))
    command, where = f"python -m benchmarks.run {plan}".rstrip(), f", on {machines}" if machines else ""
    notes = "".join(f" {note}" for note in sorted(used["note"].dropna().unique()))
    return f"\n\n{ran(used)}, measured at commit {commits}{where}; `{command}`.{notes}"


def ran(used: pd.DataFrame) -> str:
    """How many runs there are, with which seeds and limits: as the rows say it, so that it can't be wrong."""
    own = used[~used["method"].isin([name for name, method in METHODS.items() if method.better_of])]
    limits = " or ".join(f"{limit:g} s" for limit in sorted(own["limit"].unique()))
    return f"{_counted(len(own), 'run')} with {seeds(own)}, at most {limits} each"


def seeds(runs: pd.DataFrame) -> str:
    """
    >>> seeds(pd.DataFrame({"seed": [0.0, 1.0, 2.0, 0.0]}))
    'seeds 0 to 2'
    """
    there = sorted({int(seed) for seed in runs["seed"]})
    if len(there) == 1:
        return f"seed {there[0]}"
    straight = there == list(range(there[0], there[-1] + 1))
    return f"seeds {there[0]} to {there[-1]}" if straight else f"seeds {', '.join(map(str, there))}"


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}" + "s" * (number != 1)


def called(runs: pd.DataFrame, method: str) -> str:
    """A method's name, with the version of its package where it has one."""
    versions = runs.loc[runs["method"] == method, "version"].dropna().unique()
    return " ".join([title(method), *(f"{version}" for version in versions[:1])])


def count(flags: Sequence[bool], full: int | None = None) -> str:
    """How many are true, and of how many where those are not all there could be."""
    found, tried = int(np.sum(flags)), len(flags)
    if not tried:
        return ""
    return str(found) if tried == full else f"{found} of {tried}"


def interval(flags: Sequence[bool]) -> str:
    low, high = wilson(int(np.sum(flags)), len(flags))
    return f"{100 * low:.0f}–{100 * high:.0f}%"


def probability(value: float | None) -> str:
    if value is None or np.isnan(value):
        return ""
    return "< 0.001" if value < 0.001 else f"{value:.2g}"


def seconds(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2f} s" if value < 10 else f"{value:.1f} s"


def with_heads(lines: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Lines as a frame whose columns of data sets are written as people write them; what a line lacks is empty."""
    return pd.DataFrame(list(lines)).rename(columns=HEADS).fillna("").astype(str)


def by_data_set(runs: pd.DataFrame, column: str, sizes: dict[str, int]) -> dict[str, str]:
    """How many runs have `column`, in each of the paper's data sets."""
    return {name: count(runs.loc[runs["group"] == name, column], sizes[name]) for name in DATA_SETS}
