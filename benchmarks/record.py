"""Result files: JSON lines, each with what made it (commit, versions, machine, settings)."""

import importlib.metadata
import json
import os
import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def provenance() -> dict[str, Any]:
    """The commit (with a + where the tree has uncommitted changes), the versions and the machine."""
    root = Path(__file__).parents[1]

    def git(*args: str) -> str:
        return subprocess.run(["git", *args], cwd=root, capture_output=True, text=True, check=False).stdout.strip()

    changed = "+" if git("status", "--porcelain", "--", "src", "benchmarks/*.py") else ""
    names = ("numpy", "scipy", "sympy", "torch", "prunesymnet")
    return {
        # On a machine that has the files but not the history, the caller says which commit they are.
        "commit": os.environ.get("BENCH_COMMIT") or git("rev-parse", "--short", "HEAD") + changed,
        "python": platform.python_version(),
        "versions": {name: version(name) for name in names},
        "cores": os.cpu_count(),
    }


def version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "from source"


def write(name: str, rows: Iterable[dict[str, Any]]) -> Path:
    """One line per row; the file is replaced only when all are there."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.jsonl"
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.with_suffix(".tmp").write_text(text)
    path.with_suffix(".tmp").replace(path)
    return path


def read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (RESULTS / f"{name}.jsonl").read_text().splitlines()]
