"""One table gives one formula, whichever way it comes in: the estimator, the command line, a run, `search`."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from models import NOISY
from prunesymnet.cli.app import app
from prunesymnet.data import from_frame
from prunesymnet.estimator import PruneSymRegressor
from prunesymnet.runs import load_model, read_run, resume, run
from prunesymnet.search import PRESETS, SearchSettings, search

SETTINGS = SearchSettings(time_limit=float("inf"), max_fits=12)
RNG = np.random.default_rng(5)
PLAIN = pd.DataFrame({**NOISY.columns, "y": NOISY.y, "w": 1.0})
TABLES = {
    "rows that repeat": PLAIN.loc[RNG.integers(0, 60, 150)],
    "rows without weight": PLAIN.assign(w=RNG.integers(0, 3, 60)),
    "all of it": PLAIN.assign(w=RNG.integers(0, 3, 60)).loc[RNG.integers(0, 60, 150)],
}


@pytest.fixture(params=TABLES)
def table(request):
    return TABLES[request.param].reset_index(drop=True)


def test_every_way_in_gives_the_same_front(table, tmp_path, monkeypatch):
    data = from_frame(table, "y", weights="w")
    expected = search(data, SETTINGS).front
    assert len(expected) > 1

    estimator = PruneSymRegressor(preset=SETTINGS, progress=False, n_jobs=1)
    estimator.fit(table[["x", "z"]], table["y"], sample_weight=table["w"])
    same(estimator.fronts_[0], expected)

    (front,) = run([data], SETTINGS, folder=tmp_path / "run", progress=False).fronts
    same(front, expected)

    monkeypatch.setitem(PRESETS, "default", SETTINGS)
    table.to_csv(tmp_path / "table.csv", index=False)
    command = ["fit", "table.csv", "-y", "y", "--weights", "w", "-t", "100000", "-q", "--save", "model.json"]
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    same(load_model("model.json").fronts[0], expected)


def test_a_run_that_was_cut_off_has_the_same_rows(table, tmp_path):
    def stop(update):
        raise ConnectionError

    data = from_frame(table, "y", weights="w")
    expected = search(data, replace(SETTINGS, max_fits=1)).front.best.rows
    with pytest.raises(ConnectionError):
        run([data], SETTINGS, folder=tmp_path / "run", callbacks=[stop], progress=False)
    assert read_run(tmp_path / "run").latest().fronts[0].best.rows == expected == np.count_nonzero(table["w"])
    assert resume(tmp_path / "run", progress=False).fronts[0].best.rows == expected


def test_several_targets_are_each_as_they_would_be_alone():
    """Rows that are equal in one target need not be so in the other."""
    half = np.arange(60) % 2 == 0
    X, y = np.repeat(NOISY.X[half], 2, axis=0), np.repeat(NOISY.y[half], 2)
    both = np.column_stack([y, NOISY.y])
    estimator = PruneSymRegressor(preset=SETTINGS, progress=False, n_jobs=1)
    found = estimator.fit(X, both).equations_
    for target, table in zip(both.T, found, strict=True):
        pd.testing.assert_frame_equal(table, estimator.fit(X, target).equations_, check_exact=True)


def same(front, expected):
    pd.testing.assert_frame_equal(front.table(), expected.table(), check_exact=True)
    assert str(front.best) == str(expected.best)
    assert front.best.rows == expected.best.rows
