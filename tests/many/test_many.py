"""Many tables in one call: which tables there are, what comes back, and what happens when something goes wrong."""

import os
import signal
from datetime import date
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest

from prunesymnet import ManyModels, PruneSymRegressor, bootstraps, fit_many, folds
from prunesymnet.errors import DataError, FileFormatError, InterruptedWarning
from prunesymnet.many import OneTable
from prunesymnet.many.fitting import seed_of
from prunesymnet.many.tables import tables_of
from prunesymnet.search import SearchSettings

X = np.linspace(1.0, 2.0, 24)[:, None]
QUICK = PruneSymRegressor(preset=SearchSettings(max_fits=20), progress=False)  # the same everywhere
FRAME = pd.DataFrame(
    {
        "site": np.repeat(["b", "a"], 24),
        "x": np.tile(X[:, 0], 2),
        "u": np.concatenate([2 * X[:, 0] ** 2, 3.5 * X[:, 0] ** 2]),
        "v": np.concatenate([X[:, 0] + 1, 1 / X[:, 0]]),
    }
)


@pytest.fixture(scope="module")
def found():
    return fit_many(FRAME, QUICK, y=["u", "v"], by="site", features=["x"], n_jobs=1)


def test_a_model_for_each_group_and_target(found):
    assert list(found) == [("a", "u"), ("a", "v"), ("b", "u"), ("b", "v")]
    assert str(found["b", "u"].best_) == "u = 2*x**2"
    assert str(found["a", "v"].best_) == "v = 1/x"
    table = found.table()
    assert table["site"].tolist() == ["a", "a", "b", "b"]
    assert table["target"].tolist() == ["u", "v", "u", "v"]
    assert (table["r2"] > 0.999).all()
    assert not found.errors


def test_forms_that_differ_in_their_numbers_are_one(found):
    forms = found.forms().set_index("form")
    assert forms.loc["c1*x**2", "chosen"] == 2
    assert found.shared_form is None
    assert "no form is shared by all: c1*x**2 by 2" in found.summary()


def test_what_is_saved_comes_back(found, tmp_path):
    found.save(tmp_path / "fits")
    again = ManyModels.load(tmp_path / "fits")
    pd.testing.assert_frame_equal(again.table(), found.table())
    assert again["a", "v"].predict(pd.DataFrame({"x": [2.0]})) == pytest.approx([0.5])


def test_a_folder_has_each_model_at_once_and_what_it_has_is_not_fitted_again(tmp_path):
    tables = {"a b/c": (X, 2 * X[:, 0]), 2: (X, 3 * X[:, 0]), "bad": (X, np.full(24, np.nan))}
    seen = []
    first = fit_many(tables, QUICK, n_jobs=1, folder=tmp_path)
    assert len(list(tmp_path.glob("model-*.json"))) == 2
    assert list(ManyModels.load(tmp_path).models) == ["a b/c", 2]
    tables[2] = (X, 4 * X[:, 0])  # other rows, another key beside it, and one that failed: these are fitted
    again = fit_many({"new": (X, X[:, 0]), **tables}, QUICK, n_jobs=1, folder=tmp_path, watch=seen.append)
    assert [one.seconds == first.by_key[one.key].seconds for one in seen if one.key == "a b/c"] == [True]
    assert str(again[2].best_) == "y = 4*x1"
    assert list(again) == ["new", "a b/c", 2, "bad"]
    other = PruneSymRegressor(preset=SearchSettings(max_fits=19), progress=False)
    anew = fit_many(tables, other, n_jobs=1, folder=tmp_path)
    assert anew.by_key["a b/c"].digest != first.by_key["a b/c"].digest


def test_a_folder_has_tables_by_any_key(tmp_path):
    key = (date(2021, 5, 1), ("north", np.int64(3)))
    first, again = (fit_many({key: (X, 2 * X[:, 0])}, QUICK, n_jobs=1, folder=tmp_path) for _ in range(2))
    assert again.by_key[key].seconds == first.by_key[key].seconds  # was not fitted again
    assert list(ManyModels.load(tmp_path)) == [("2021-05-01", ("north", "3"))]


def test_a_file_of_another_folder_is_not_read(tmp_path):
    from prunesymnet.runs.files import seal

    row = {"key": 1, "file": "../other.json", "seconds": 0.0, "error": "", "notes": [], "test_r2": None}
    (tmp_path / "models.json").write_bytes(seal("prunesymnet models", {"names": ["key"], "tables": [row]}, "me"))
    with pytest.raises(FileFormatError, match="must be in the folder"):
        ManyModels.load(tmp_path)


def test_one_table_that_fails_does_not_lose_the_others(tmp_path):
    tables = {"good": (X, 2 * X[:, 0]), "missing": (X, np.full(24, np.nan)), "no table": 7}
    found = fit_many(tables, QUICK, n_jobs=1)
    assert list(found.models) == ["good"]
    assert "no value (NaN)" in found.errors["missing"]
    assert "must be (X, y)" in found.errors["no table"]
    with pytest.raises(KeyError, match="no value"):
        found["missing"]
    assert found.table()["status"].tolist()[1:] == ["failed", "failed"]
    found.save(tmp_path)
    assert ManyModels.load(tmp_path).errors == found.errors


# Processes take seconds to start.
@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_any_number_of_workers_and_any_order_give_the_same(backend):
    noise = np.random.default_rng(0).normal(size=(2, 24))
    tables = {k: (X, X[:, 0] + 0.1 * noise[k]) for k in range(2)}
    one = fit_many(tables, QUICK, n_jobs=1).table().drop(columns="seconds")
    with joblib.parallel_config(backend, n_jobs=2):
        two = fit_many(dict(reversed(tables.items())), QUICK).table().drop(columns="seconds")
    pd.testing.assert_frame_equal(one, two.iloc[::-1].reset_index(drop=True))


def test_a_seed_goes_with_the_key_alone():
    assert len({seed_of(key, 0) for key in ("a", "b", 1, ("a", 1))}) == 4
    assert seed_of("a", 0) != seed_of("a", 1)
    found = fit_many({"a": (X, X[:, 0])}, QUICK, n_jobs=1)
    assert found["a"].random_state == seed_of("a", 0)


class Killer:
    """A target that ends the process of whoever reads it: always, or the first time only."""

    def __init__(self, parent, marker=None):
        self.parent, self.marker = parent, marker

    def __reduce__(self):
        return _killing, (self.parent, self.marker)


def _killing(parent, marker):
    if os.getpid() != parent and (marker is None or not Path(marker).exists()):
        if marker is not None:
            Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return X[:, 0] * 3


@pytest.mark.slow
def test_the_tables_of_a_killed_worker_are_done_again(tmp_path):
    once, always = Killer(os.getpid(), str(tmp_path / "killed")), Killer(os.getpid())
    tables = {"once": (X, once), "fine": (X, X[:, 0]), "always": (X, always), "last": (X, 2 * X[:, 0])}
    found = fit_many(tables, QUICK, n_jobs=2)
    assert list(found.models) == ["once", "fine", "last"]
    assert "worker died" in found.errors["always"]
    assert (tmp_path / "killed").exists()


def test_ctrl_c_returns_what_is_finished():
    def watch(one):
        if one.key == 1:
            raise KeyboardInterrupt  # a signal may be switched off where tests run

    tables = [(X, k * X[:, 0]) for k in (1, 2, 3, 4)]
    with pytest.warns(InterruptedWarning, match="of 4 tables were not fitted"):
        found = fit_many(tables, QUICK, n_jobs=1, watch=watch)
    assert {0, 1} == set(found.models)
    assert found.table()["status"].iloc[-1] == "not fitted"


def test_ctrl_c_within_a_search_ends_all_and_keeps_what_it_has():
    calls = []

    def interrupt(update):
        calls.append(update)
        if len(calls) == 2:
            raise KeyboardInterrupt

    estimator = PruneSymRegressor(max_evaluations=10**7, progress=False, callbacks=[interrupt])
    noise = np.random.default_rng(0).normal(size=len(X))
    with pytest.warns(InterruptedWarning, match="2 of 3 tables were not fitted"):
        found = fit_many([(X, noise), (X, X[:, 0]), (X, X[:, 0])], estimator, n_jobs=1)
    assert [fit.status for fit in found.fits] == ["interrupted", "not fitted", "not fitted"]


def test_a_watcher_gets_results_as_they_come_and_can_end_it():
    seen = []

    def watch(one):
        seen.append(one.key)
        if len(seen) == 2:
            raise StopIteration

    with pytest.warns(InterruptedWarning, match="1 of 3"):
        found = fit_many([(X, k * X[:, 0]) for k in (2, 3, 4)], QUICK, n_jobs=1, watch=watch)
    assert seen == [0, 1] == list(found.models)


def test_an_error_of_a_watcher_is_told():
    def watch(one):
        raise RuntimeError("of the watcher")

    with pytest.raises(RuntimeError, match="of the watcher"):
        fit_many([(X, k * X[:, 0]) for k in (2, 3)], QUICK, n_jobs=1, watch=watch)


def test_folds_and_bootstraps_are_judged_by_rows_that_they_were_not_fitted_to():
    y = 2 * X[:, 0] + 1
    tables = folds(X, y, 3)
    rows = np.concatenate([tables[k].test[1] for k in tables])
    assert sorted(rows) == sorted(y)
    assert not set(tables[0].y) & set(tables[0].test[1])
    found = fit_many(tables, QUICK, n_jobs=1)
    assert (found.table()["test_r2"] > 0.999).all()
    drawn = bootstraps(pd.DataFrame({"x": X[:, 0]}), pd.Series(y, name="y"), 4, seed=1)
    assert len(drawn) == 4
    assert len(drawn[3].y) == 24 > len(set(drawn[3].y))
    assert not set(drawn[3].y) & set(drawn[3].test[1])
    assert not np.array_equal(drawn[0].y, drawn[1].y)


def test_rows_that_lack_a_value_are_left_out_of_their_table_only():
    frame = FRAME.assign(u=FRAME["u"].where(FRAME.index > 0))
    tables, _ = tables_of(frame, y=["u", "v"], by="site", features=["x"], drop_missing=True)
    assert [len(tables[key].y) for key in tables] == [24, 24, 23, 24]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tables": FRAME}, "y must name the column to explain"),
        ({"tables": FRAME, "y": "w"}, "no column is named 'w'"),
        ({"tables": FRAME, "y": "u", "by": ["u"]}, "named 'u'"),
        ({"tables": FRAME.assign(site=None), "y": "u", "by": "site"}, "'site': no value"),
        ({"tables": FRAME, "y": "u", "features": "x"}, r"write features=\['x'\]"),
        ({"tables": FRAME, "y": ["u", "v"], "features": ["x", "v"]}, "target 'v' is also a feature"),
        ({"tables": {}}, "at least one table"),
        ({"tables": {1: (X, X)}, "y": "u"}, "y is for a frame, and tables is a dict"),
        ({"tables": "table.csv"}, "must be a frame, a mapping or a list"),
        ({"tables": [(X, X[:, 0])], "estimator": PruneSymRegressor(run_dir="runs")}, "run_dir is the folder of one"),
        ({"tables": [(X, X[:, 0])], "estimator": PruneSymRegressor(preset="papr")}, "preset must be"),
        ({"tables": [(X, X[:, 0])], "n_jobs": "all"}, "n_jobs must be a number of workers, .* got 'all'"),
        ({"tables": [(X, X[:, 0])], "estimator": X}, "estimator must be a PruneSymRegressor"),
    ],
)
def test_errors_name_what_is_wrong(arguments, message):
    with pytest.raises((DataError, ValueError, TypeError), match=message):
        fit_many(**arguments)


def test_bootstraps_of_what_is_no_table():
    with pytest.raises(ValueError, match="count must be a whole number >= 1, got 0"):
        bootstraps(X, X[:, 0], 0)
    with pytest.raises(DataError, match="X has 24 rows and y has 9"):
        bootstraps(X, X[:9, 0])


def test_a_table_may_have_weights_and_several_targets():
    weights = np.where(np.arange(24) < 12, 1.0, 0.0)
    y = np.column_stack([X[:, 0] * 2, np.where(weights > 0, X[:, 0] * 3, 9.0)])
    found = fit_many({"t": OneTable(X, y, weights)}, QUICK, n_jobs=1)
    assert found.table()["target"].tolist() == ["y1", "y2"]
    assert str(found["t"].best_[1]) == "y2 = 3*x1"
