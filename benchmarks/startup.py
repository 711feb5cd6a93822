"""How long from pressing return to the formula, and where the time goes: `prunesymnet fit` on 128 rows of
x*y/(2*pi*z), five times."""

import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import record

TIMES = 5
PARTS = ("numpy", "pandas", "scipy", "rich", "typer")
_LINE = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \|(\s+)(\S+)")


def measure(folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "prunesymnet", "fit", "law.csv", "--target", "v"]
    walls, searches = [], []
    for _ in range(TIMES):
        began = time.perf_counter()
        out = subprocess.run([*command, "--json"], cwd=folder, capture_output=True, text=True, check=True)
        walls.append(time.perf_counter() - began)
        front = json.loads(out.stdout)["fronts"][0]
        searches.append(front["seconds"])
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    interpreter = time.perf_counter() - began
    traced = subprocess.run(
        [sys.executable, "-X", "importtime", *command[1:]], cwd=folder, capture_output=True, text=True, check=True
    )
    return {
        "formula": front["equations"][front["chosen"]]["formula"],
        "wall": statistics.median(walls),
        "longest": max(walls),
        "interpreter": interpreter,
        "search": statistics.median(searches),
        "imports": imports(traced.stderr),
    }


def imports(trace: str) -> dict[str, float]:
    """Seconds that the modules of each package took by themselves."""
    found = dict.fromkeys((*PARTS, "prunesymnet"), 0.0)
    for match in _LINE.finditer(trace):
        package = match[4].partition(".")[0]
        if package in found:
            found[package] += int(match[1]) / 1e6
    return found


def summary(rows: list[dict[str, Any]]) -> str:
    (row,) = rows
    taken = row["imports"]
    lines = [f"| `prunesymnet fit` on 128 rows of `{row['formula']}`, commit {row['commit']} | |", "|---|---|"]
    lines += [
        f"| from return to the formula, median of {TIMES} (longest) | {row['wall']:.2f} s ({row['longest']:.2f} s) |"
    ]
    lines += [f"| of which Python itself | {row['interpreter']:.2f} s |"]
    lines += [f"| importing {name} | {seconds:.2f} s |" for name, seconds in taken.items()]
    lines += [f"| the search | {row['search']:.2f} s |"]
    return "\n".join(lines)


if __name__ == "__main__":
    X = np.random.default_rng(0).uniform(1, 5, (128, 3))
    with tempfile.TemporaryDirectory() as name:
        table = pd.DataFrame(X, columns=["x", "y", "z"]).assign(v=X[:, 0] * X[:, 1] / (2 * np.pi * X[:, 2]))
        table.to_csv(Path(name, "law.csv"), index=False)
        rows = [measure(Path(name)) | record.provenance()]
    record.write("startup", rows)
    print(summary(rows))
