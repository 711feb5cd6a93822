"""A table that is larger than memory: seconds and memory of `fit_large` on Parquet files of up to 1e8 rows.

Each table is written to a folder of its own, fitted in a process of its own, whose peak memory is measured, and
deleted. Beside each is what the same rows give in memory, where they fit: the same formula, constants and error bars.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import record

ROWS = (10**6, 10**7, 10**8)
IN_MEMORY = 10**6  # rows up to which the ordinary fit is measured, too
ROWS_OF_A_FILE = 10**6
NOISE = 0.05
LAW = "2*exp(-0.7*x)*z**1.5 + 0.3"
MEBIBYTE = 2**20


def columns(part: int, rows: int) -> dict[str, Any]:
    """Some rows of the table: two columns, and the law with noise."""
    rng = np.random.default_rng([7, part])
    x, z = rng.uniform(0.2, 4, rows), rng.uniform(0.2, 4, rows)
    return {"x": x, "z": z, "y": 2 * np.exp(-0.7 * x) * z**1.5 + 0.3 + NOISE * rng.normal(size=rows)}


def write(folder: Path, rows: int) -> None:
    import pyarrow
    import pyarrow.parquet

    for part in range(-(-rows // ROWS_OF_A_FILE)):
        here = min(ROWS_OF_A_FILE, rows - part * ROWS_OF_A_FILE)
        pyarrow.parquet.write_table(pyarrow.table(columns(part, here)), folder / f"part-{part:05d}.parquet")


def measure(folder: str, rows: int, way: str) -> dict[str, Any]:
    """In a process of its own: one fit, and the most memory that the process ever had."""
    from prunesymnet import PruneSymRegressor

    model = PruneSymRegressor(progress=False)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, processor = time.perf_counter(), time.process_time()
    if way == "chunks":
        model.fit_large(folder, "y")
    else:
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(folder).to_pandas()
        model.fit(table[["x", "z"]], table["y"])
    seconds, processor = time.perf_counter() - began, time.process_time() - processor
    front = model.fronts_[0]
    return {
        "rows": rows,
        "way": way,
        "law": LAW,
        "noise": NOISE,
        "formula": str(front.best),
        "constants": [[one.fitted, one.standard_error] for one in front.best.constants],
        "loss": front.best.loss,
        "rows_of_the_answer": front.best.rows,
        "seconds": seconds,
        "search_seconds": front.seconds,
        "processor_seconds": processor,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEBIBYTE,
        "imported_mib": before * 1024 / MEBIBYTE,
        "status": front.status,
    }


def summary(found: list[dict[str, Any]]) -> str:
    lines = [
        "| rows | read | GiB of Parquet | seconds | search | processor | peak MiB | formula |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in found:
        size = f"{row['bytes'] / 2**30:.2f}"
        lines.append(
            f"| {row['rows']:,} | in {row['way']} | {size} | {row['seconds']:.0f} | {row['search_seconds']:.0f} | "
            f"{row['processor_seconds']:.0f} | {row['peak_mib']:,.0f} | `{row['formula']}` |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=list(ROWS))
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--one", nargs=3, metavar=("FOLDER", "ROWS", "WAY"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.one[0], int(given.one[1]), given.one[2])))
        return
    found = []
    for rows in given.rows:
        folder = Path(tempfile.mkdtemp(prefix="large-", dir=given.folder))
        try:
            write(folder, rows)
            size = sum(file.stat().st_size for file in folder.iterdir())
            for way in ("chunks", "memory") if rows <= IN_MEMORY else ("chunks",):
                command = [sys.executable, "-m", "benchmarks.large", "--one", str(folder), str(rows), way]
                out = subprocess.run(command, capture_output=True, text=True, check=True)
                found.append(json.loads(out.stdout.splitlines()[-1]) | {"bytes": size} | record.provenance())
                print(summary(found[-1:]).splitlines()[-1], flush=True)
        finally:
            shutil.rmtree(folder)
        record.write("large", found)  # what there is, should it be stopped
    print(summary(found))


if __name__ == "__main__":
    main()
