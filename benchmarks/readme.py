"""Puts the tables of the results files into README.md, between their marks; `--check` only says if they differ."""

import re
import sys
from pathlib import Path

from benchmarks import core, record

README = Path(__file__).parents[1] / "README.md"
TABLES = {"core": lambda: core.summary(record.read("core"))}


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
