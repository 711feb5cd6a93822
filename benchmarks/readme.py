"""Puts the tables of the results files into README.md and the pages of the docs that have marks for them; `--check`
only says if they differ."""

import re
import sys
from pathlib import Path

from benchmarks import (
    core,
    coverage,
    gpu_tables,
    large,
    many,
    record,
    scaling,
    scanning,
    speed,
    startup,
    structure,
    tables,
    time_limits,
)

ROOT = Path(__file__).parents[1]
PAGES = (
    ROOT / "README.md",
    *(ROOT / "docs" / page for page in ("measured.md", "gpu.md", "large-tables.md", "cluster.md", "parallel.md")),
)


def cuda() -> str:
    rows = record.read("speed-cuda")
    head = f"| networks together, {rows[0]['gpu']}, commit {rows[0]['commit']} | per network and step |\n|---|---|\n"
    return head + "\n".join(f"| {row['restarts']:,} | {1e6 * row['per_net']:.1f} µs |" for row in rows)


def stability() -> str:
    rows = record.read("stability")
    bad = sum(row["not_finite"] > 0 for row in rows)
    head = "| problems | steps each | with a value that was not finite | commit |\n|---|---|---|---|\n"
    return head + f"| {len(rows):,} | {rows[0]['steps']} | {bad} | {rows[0]['commit']} |"


TABLES = {
    "summary": lambda: tables.captioned("summary"),
    "core": lambda: core.summary(record.read("core")),
    "speed": lambda: speed.summary(record.read("speed")),
    "cuda": cuda,
    "scanning": lambda: scanning.summary(record.read("scanning")),
    "gpu-filters": gpu_tables.filters,
    "gpu-floor": gpu_tables.floor,
    "gpu-scans": gpu_tables.scans,
    "gpu-million": gpu_tables.million,
    "gpu-searches": gpu_tables.searches,
    "gpu-stages": gpu_tables.stages,
    "gpu-networks": gpu_tables.networks,
    "scaling": lambda: scaling.summary(record.read("scaling")),
    "stability": stability,
    "startup": lambda: startup.summary(record.read("startup")),
    "time-limits": lambda: time_limits.summary(record.read("time-limits")),
    "many": lambda: many.summary(record.read("many")),
    "large": lambda: large.summary(record.read("large")),
    "structure": lambda: structure.summary(record.read("structure"), record.read("laws")),
    "coverage": lambda: coverage.summary(record.read("coverage")),
}


def filled(text: str) -> str:
    def table(mark: re.Match[str]) -> str:
        if mark["name"] not in TABLES:
            raise ValueError(f"a page has a mark for {mark['name']!r}; tables are {', '.join(TABLES)}")
        return f"<!-- bench:{mark['name']} -->\n{TABLES[mark['name']]()}\n<!-- /bench:{mark['name']} -->"

    return re.sub(r"<!-- bench:(?P<name>\S+) -->\n.*?<!-- /bench:(?P=name) -->", table, text, flags=re.DOTALL)


def main() -> None:
    before = {page: page.read_text(encoding="utf-8") for page in PAGES}
    after = {page: filled(text) for page, text in before.items()}
    old = [str(page.relative_to(ROOT)) for page in PAGES if before[page] != after[page]]
    if "--check" in sys.argv:
        sys.exit(f"run python -m benchmarks.readme: {', '.join(old)} do not show the results files" if old else 0)
    for page, text in after.items():
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
