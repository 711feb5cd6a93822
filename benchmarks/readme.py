"""Puts the tables of the results files into README.md, between their marks; `--check` only says if they differ."""

import re
import sys
from pathlib import Path

from benchmarks import core, paper, record, scanning, search, speed, startup

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
    "paper": paper.table,
    "speed": lambda: speed.summary(record.read("speed")),
    "cuda": cuda,
    "search": search.table,
    "ablation": search.ablation,
    "scanning": lambda: scanning.summary(record.read("scanning")),
    "scanning-cuda": lambda: scanning.summary(record.read("scanning-cuda")),
    "stability": stability,
    "startup": lambda: startup.summary(record.read("startup")),
}


def filled(text: str) -> str:
    for name, table in TABLES.items():
        mark = rf"(<!-- bench:{name} -->\n).*?(<!-- /bench:{name} -->)"
        body = table()
        text = re.sub(mark, lambda m, body=body: f"{m[1]}{body}\n{m[2]}", text, flags=re.DOTALL)
    return text


if __name__ == "__main__":
    before = README.read_text()
    after = filled(before)
    if "--check" in sys.argv:
        sys.exit("README.md does not show the results files: run python -m benchmarks.readme" if before != after else 0)
    README.write_text(after)
