"""Puts the tables of the results files into README.md, between their marks; `--check` only says if they differ."""

import re
import sys
from pathlib import Path

from benchmarks import core, record, scanning, speed, startup, tables

README = Path(__file__).parents[1] / "README.md"


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
    "core": lambda: core.summary(record.read("core")),
    "speed": lambda: speed.summary(record.read("speed")),
    "cuda": cuda,
    **{name: lambda name=name: tables.markdown(name) for name in tables.TABLES},
    "scanning": lambda: scanning.summary(record.read("scanning")),
    "scanning-cuda": lambda: scanning.summary(record.read("scanning-cuda")),
    "stability": stability,
    "startup": lambda: startup.summary(record.read("startup")),
}


def filled(text: str) -> str:
    def table(mark: re.Match[str]) -> str:
        if mark["name"] not in TABLES:
            raise ValueError(f"README.md has a mark for {mark['name']!r}; tables are {', '.join(TABLES)}")
        return f"<!-- bench:{mark['name']} -->\n{TABLES[mark['name']]()}\n<!-- /bench:{mark['name']} -->"

    return re.sub(r"<!-- bench:(?P<name>\S+) -->\n.*?<!-- /bench:(?P=name) -->", table, text, flags=re.DOTALL)


if __name__ == "__main__":
    before = README.read_text()
    after = filled(before)
    if "--check" in sys.argv:
        sys.exit("README.md does not show the results files: run python -m benchmarks.readme" if before != after else 0)
    README.write_text(after)
