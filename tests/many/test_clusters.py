"""Many tables on the workers of Dask and of Ray: the same as one after the other; a worker that is killed."""

import os
import signal
import threading

import joblib
import numpy as np
import pandas as pd
import pytest

from prunesymnet import PruneSymRegressor, fit_many
from prunesymnet.search import SearchSettings

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # of other packages, we can't change them
X = np.linspace(1.0, 2.0, 24)[:, None]
QUICK = PruneSymRegressor(preset=SearchSettings(max_fits=20), progress=False)
NOISE = np.random.default_rng(0).normal(size=(5, 24))
TABLES = {k: (X, X[:, 0] ** 2 + 0.1 * NOISE[k]) for k in range(5)}


@pytest.fixture(scope="module")
def serial():
    return fit_many(TABLES, QUICK, n_jobs=1).table().drop(columns="seconds")


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        yield client


def test_dask_gives_what_one_worker_gives(client, serial):
    with joblib.parallel_config("dask"):
        found = fit_many(TABLES, QUICK)
    pd.testing.assert_frame_equal(found.table().drop(columns="seconds"), serial)


def test_dask_gives_the_tables_of_a_killed_worker_to_another(client):
    killed = next(iter(client.run(os.getpid).values()))
    slow = PruneSymRegressor(time_limit=2, progress=False)
    threading.Timer(1.0, os.kill, [killed, signal.SIGKILL]).start()
    with joblib.parallel_config("dask"):
        found = fit_many({k: (X, NOISE[k]) for k in range(4)}, slow)
    assert len(found.models) == 4


def test_ray_gives_what_one_worker_gives(serial):
    ray = pytest.importorskip("ray")
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, logging_level="error")
    try:
        register_ray()
        with joblib.parallel_config("ray"):
            found = fit_many(TABLES, QUICK)
    finally:
        ray.shutdown()
    pd.testing.assert_frame_equal(found.table().drop(columns="seconds"), serial)
