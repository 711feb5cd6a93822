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
HERE = str(Path(__file__).parent.parent) + os.sep  # the checkout's folder, which is of no interest to others


def provenance() -> dict[str, Any]:
    """The commit, the versions and the machine."""
    names = ("numpy", "scipy", "sympy", "torch", "prunesymnet")
    return {
        "commit": commit(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in names},
        "machine": machine(),
        "cores": os.cpu_count(),
    }


def commit() -> str:
    """With a + where the tree has changes. On a machine that has no history, BENCH_COMMIT says which it is."""
    if "BENCH_COMMIT" in os.environ:
        return os.environ["BENCH_COMMIT"]
    root = Path(__file__).parents[1]

    def git(*args: str) -> str:
        return subprocess.run(["git", *args], cwd=root, capture_output=True, text=True, check=False).stdout.strip()

    changed = (
        "+"
        if git("status", "--porcelain", "--", "src", "benchmarks/*.py", "benchmarks/methods", "benchmarks/problems")
        else ""
    )
    return git("rev-parse", "--short", "HEAD") + changed


def version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "from source"


def machine() -> str:
    """The processor, as it calls itself."""
    described = Path("/proc/cpuinfo")
    lines = described.read_text().splitlines() if described.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def path_of(file: str | Path) -> Path:
    """A file as it is given, or a results file by its name."""
    return RESULTS / f"{file}.jsonl" if isinstance(file, str) else file


def write(file: str | Path, rows: Iterable[dict[str, Any]]) -> Path:
    """One line per row; the file is replaced only when all are there."""
    path = path_of(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(_line(row) for row in rows)
    path.with_suffix(".tmp").write_text(text)
    path.with_suffix(".tmp").replace(path)
    return path


def append(path: Path, row: dict[str, Any]) -> None:
    """One more line, on the disk when this returns. What a killed process left of a line is cut off first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(size - 1)
            if file.read(1) != b"\n":
                file.seek(0)
                file.truncate(file.read().rfind(b"\n") + 1)
        file.write(_line(row).encode())
        file.flush()
        os.fsync(file.fileno())


def _line(row: dict[str, Any]) -> str:
    """A row as it is kept: files that a traceback names are named from the checkout's folder on."""
    error = row.get("error")
    return json.dumps(row | {"error": error.replace(HERE, "")} if isinstance(error, str) else row) + "\n"


def read(file: str | Path) -> list[dict[str, Any]]:
    """The rows of a file, none where there is none; a line that a killed process left half is not a row."""
    path = path_of(file)
    text = path.read_text() if path.exists() else ""
    rows = []
    for number, line in enumerate(text[: text.rfind("\n") + 1].splitlines(), 1):
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise ValueError(f"line {number} of {path} is not JSON ({error}): mend or delete it") from None
    return rows
