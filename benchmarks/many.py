"""What `fit_many` adds to each table: the milliseconds that sending it out and taking its model back take.

The tables can't be fitted (their targets have no values), so that next to nothing is left but the way there and back.
This way goes through one process, which has the scheduler of Dask in it, too. Its time on the processor for one table
says how many workers it can keep busy: as many as fit into the time of a fit. Dask and Ray are measured where they are
installed.
"""

import importlib.util
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import joblib
import numpy as np

from benchmarks import record

WORKERS = 2
TABLES = 200
SHAPE = (1000, 5)  # rows and columns: 40 kB of numbers
FIT_SECONDS = (1.0, 10.0, 60.0)


@contextmanager
def loky() -> Iterator[None]:
    with joblib.parallel_config("loky", n_jobs=WORKERS):
        yield


@contextmanager
def dask() -> Iterator[None]:
    from distributed import Client, LocalCluster

    options = {"n_workers": WORKERS, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster), joblib.parallel_config("dask"):
        yield


@contextmanager
def ray() -> Iterator[None]:
    import ray as package
    from ray.util.joblib import register_ray

    package.init(num_cpus=WORKERS, include_dashboard=False, logging_level="error")
    register_ray()
    with joblib.parallel_config("ray"):
        yield
    package.shutdown()


BACKENDS: dict[str, Callable[[], Any]] = {"loky": loky, "dask": dask, "ray": ray}


def measure(name: str) -> dict[str, Any]:
    from prunesymnet import PruneSymRegressor, fit_many

    X, y = np.random.default_rng(0).random(SHAPE), np.full(SHAPE[0], np.nan)
    estimator = PruneSymRegressor(progress=False)
    with BACKENDS[name]():
        fit_many([(X, y)] * (4 * WORKERS), estimator, progress=False)  # workers import what they need
        tables = [(X + k, y) for k in range(TABLES)]
        began, processor = time.perf_counter(), time.process_time()
        found = fit_many(tables, estimator, progress=False)
        seconds, processor = time.perf_counter() - began, time.process_time() - processor
    assert len(found.errors) == TABLES
    return {
        "backend": name,
        "workers": WORKERS,
        "tables": TABLES,
        "rows": SHAPE[0],
        "columns": SHAPE[1],
        "seconds": seconds,
        "per_table": processor / TABLES,
        "load": os.getloadavg()[0],
        "version": record.version("distributed" if name == "dask" else "ray" if name == "ray" else "joblib"),
    }


def summary(rows: list[dict[str, Any]]) -> str:
    head = " | ".join(f"kept busy by fits of {seconds:g} s" for seconds in FIT_SECONDS)
    lines = [
        f"| backend, commit {rows[0]['commit']} | for a table of {rows[0]['rows']:,} rows | {head} |",
        "|---|---|" + "---|" * len(FIT_SECONDS),
    ]
    for row in rows:
        busy = " | ".join(f"{seconds / row['per_table']:,.0f} workers" for seconds in FIT_SECONDS)
        lines.append(f"| {row['backend']} ({row['version']}) | {1000 * row['per_table']:.1f} ms | {busy} |")
    return "\n".join(lines)


def main() -> None:
    needed = {"loky": "joblib", "dask": "distributed", "ray": "ray"}
    there = [name for name in BACKENDS if importlib.util.find_spec(needed[name])]
    rows = [measure(name) | record.provenance() for name in there]
    record.write("many", rows)
    print(summary(rows))


if __name__ == "__main__":
    main()
