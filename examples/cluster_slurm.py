"""A formula for each group of a table, on the nodes of a Slurm cluster, by dask-jobqueue.

    pip install 'prunesymnet[cluster]' dask-jobqueue
    python cluster_slurm.py table.csv --target y --by site --jobs 10

On the login node. Each job is one node with as many worker processes as cores; they come and go by the queue, and the
tables of a node that goes are done again. `--test` runs the same with processes of this machine in place of jobs.
"""

import argparse
import os

import joblib
import pandas as pd
from dask.distributed import Client

from prunesymnet import PruneSymRegressor, fit_many


def cluster_of(jobs: int, cores: int, memory: str, test: bool):
    """Workers with one thread each: a fit is one thread of Python."""
    if test:
        from dask_jobqueue.local import LocalCluster

        cluster = LocalCluster(cores=cores, processes=cores, memory=memory, interface="lo")
    else:
        from dask_jobqueue import SLURMCluster

        cluster = SLURMCluster(cores=cores, processes=cores, memory=memory, walltime="04:00:00")
    cluster.scale(jobs=jobs)
    return cluster


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", help="a CSV file")
    parser.add_argument("--target", required=True)
    parser.add_argument("--by", required=True)
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for each group")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cores", type=int, default=os.cpu_count(), help="of one job")
    parser.add_argument("--memory", default="16GB", help="of one job")
    parser.add_argument("--out", default="formulas.csv")
    parser.add_argument("--test", action="store_true", help="jobs are processes of this machine")
    given = parser.parse_args()
    frame = pd.read_csv(given.table)
    with cluster_of(given.jobs, given.cores, given.memory, given.test) as cluster, Client(cluster) as client:
        client.wait_for_workers(1)
        with joblib.parallel_config("dask"):
            found = fit_many(frame, PruneSymRegressor(time_limit=given.time_limit), y=given.target, by=given.by)
    found.table().to_csv(given.out, index=False)
    print(found)


if __name__ == "__main__":
    main()
