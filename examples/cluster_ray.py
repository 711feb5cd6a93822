"""A formula for each group of a table, on a Ray cluster, by Ray's backend for joblib.

    pip install prunesymnet 'ray[default]'
    ray start --head                                 # on the first machine
    ray start --address=FIRST_MACHINE:6379           # on each other one
    python cluster_ray.py table.csv --target y --by site --address auto

Without `--address`, Ray is started on this machine, with as many workers as it has cores.
"""

import argparse

import joblib
import pandas as pd
import ray
from ray.util.joblib import register_ray

from prunesymnet import PruneSymRegressor, fit_many


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", help="a CSV file")
    parser.add_argument("--target", required=True)
    parser.add_argument("--by", required=True)
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for each group")
    parser.add_argument("--address", help="of a Ray cluster that is there")
    parser.add_argument("--out", default="formulas.csv")
    given = parser.parse_args()
    frame = pd.read_csv(given.table)
    ray.init(address=given.address)
    register_ray()
    with joblib.parallel_config("ray"):
        found = fit_many(frame, PruneSymRegressor(time_limit=given.time_limit), y=given.target, by=given.by)
    ray.shutdown()
    found.table().to_csv(given.out, index=False)
    print(found)


if __name__ == "__main__":
    main()
