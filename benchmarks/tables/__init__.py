"""The tables that are made from the file of runs, each as Markdown and as CSV.

    python -m benchmarks.tables              writes benchmarks/results/tables/
    python -m benchmarks.tables --check      only says which files there are old
    python -m benchmarks.tables --file runs.jsonl votes    prints a table of another file

Each is a function of the runs (`benchmarks.statistics.frame`) to a `Table`, or to None where it would be empty.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks import record, statistics
from benchmarks.tables import behind, fairness, layout, mechanisms, methods, paper, presets, real, summary, textbook
from benchmarks.tables.layout import Table

FOLDER = record.RESULTS / "tables"
TABLES: dict[str, Callable[[pd.DataFrame], Table | None]] = {
    "summary": summary.summary,
    "rivals": methods.rivals,
    "fairness": fairness.fairness,
    "datasets": paper.datasets,
    "votes": paper.votes,
    "recovered": paper.recovered,
    "five-runs": paper.five_runs,
    "ablation-votes": paper.ablation_votes,
    "ablation-recovered": paper.ablation_recovered,
    "paper-plus": presets.paper_plus,
    "methods": methods.methods,
    "further": methods.further,
    "random": methods.random,
    "noise": methods.noise,
    "noise-by-seed": methods.noise_by_seed,
    "outliers": methods.outliers,
    "points": methods.points,
    "limits": methods.limits,
    "textbook": textbook.textbook,
    "laboratory": textbook.laboratory,
    "handbook": textbook.handbook,
    "spectra": textbook.spectra,
    "si": textbook.si,
    "textbook-why": textbook.why,
    "units": textbook.units,
    "told-units": methods.told_units,
    "unrelated": textbook.unrelated,
    "mechanisms": mechanisms.mechanisms,
    "seconds": methods.times,
    "real": real.real,
    "real-tables": real.real_tables,
    "behind": behind.behind,
    "missed": behind.missed,
}
BY_MACHINE = ("summary",)  # those that compare the runs of each machine apart
# Those that show runs with gross outliers, in other units or beside unrelated columns.
CHANGED = {"outliers": "outliers", "units": "other_units", "unrelated": "unrelated"}
# The plans of benchmarks.run that make a table's runs, where they are not called as the table is; none means all.
PLANS = {
    "summary": "comparison further random real",
    "votes": "comparison paper",
    "recovered": "comparison paper dsr-full",
    "five-runs": "comparison paper",
    "ablation-votes": "paper",
    "ablation-recovered": "paper",
    "paper-plus": "presets",
    "methods": "comparison noise",
    "noise-by-seed": "noise",
    "points": "points range",
    "mechanisms": "ablations",
    "seconds": "comparison",
    "real-tables": "real",
    "textbook-why": "textbook",
    "fairness": "",
    "behind": "",
    "missed": "",
}


def make(name: str, lines: Sequence[dict[str, Any]] | None = None) -> Table | None:
    """A table by name, of these lines or of the results file."""
    lines = statistics.rows() if lines is None else lines
    return TABLES[name](statistics.frame(lines, per_machine=name in BY_MACHINE, changed=CHANGED.get(name, "")))


def page(name: str, lines: Sequence[dict[str, Any]] | None = None) -> str:
    """A table by name with its heading and caption; empty where there are no runs."""
    table = make(name, lines)
    return layout.page(table, PLANS.get(name, name)) if table else ""


def captioned(name: str) -> str:
    """A table of the results file with what there is to know of it, but no heading; empty where there are no runs."""
    return page(name).partition("\n")[2].strip()


def markdown(name: str, lines: Sequence[dict[str, Any]] | None = None) -> str:
    """A table by name as Markdown, with the line that says where its numbers come from; empty where there are none."""
    table = make(name, lines)
    return layout.markdown(table, PLANS.get(name, name)) if table else ""


def files(lines: Sequence[dict[str, Any]]) -> dict[str, str]:
    """The text of every table's two files by their names; a message for each table without runs."""
    latest = statistics.frame(lines)
    special = {name: statistics.frame(lines, per_machine=True) for name in BY_MACHINE}
    special |= {name: statistics.frame(lines, changed=change) for name, change in CHANGED.items()}
    found = {}
    for name, build in TABLES.items():
        table = build(special.get(name, latest))
        if table is None:
            print(f"{name}: no runs yet")
            continue
        found[f"{name}.md"] = layout.page(table, PLANS.get(name, name))
        found[f"{name}.csv"] = table.cells.to_csv(index=False, lineterminator="\n")
    return found


def write(lines: Sequence[dict[str, Any]], folder: Path = FOLDER) -> list[Path]:
    """All tables for which there are runs, as files; those of tables that have lost theirs are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = files(lines)
    for name in TABLES:
        if f"{name}.md" not in texts:
            (folder / f"{name}.md").unlink(missing_ok=True)
            (folder / f"{name}.csv").unlink(missing_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return [folder / name for name in texts]


def stale(lines: Sequence[dict[str, Any]], folder: Path = FOLDER) -> list[str]:
    """The files that do not show the runs."""
    return [
        name
        for name, text in files(lines).items()
        if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != text
    ]
