"""Tables in chunks: the same as in memory, and errors that say what is wrong with a folder."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from prunesymnet import PruneSymRegressor
from prunesymnet.cli.app import app
from prunesymnet.data.chunks import FileChunks, chunks_of, is_large
from prunesymnet.errors import DataError, DomainWarning
from prunesymnet.runs import read_run
from prunesymnet.search import SearchSettings

ROWS = 3000
QUICK = SearchSettings(max_fits=12, rows=300)  # of whose rows some are left out of the sample
rng = np.random.default_rng(5)
FRAME = pd.DataFrame({"x": rng.uniform(0.5, 3, ROWS), "n": rng.integers(1, 5, ROWS)})
FRAME["y"] = 3 * FRAME["x"] * FRAME["n"] + 0.503 + 0.1 * rng.normal(size=ROWS)


def written(folder, frame=FRAME, parts=3, kind="parquet"):
    folder.mkdir(exist_ok=True)
    for k, rows in enumerate(np.array_split(np.arange(len(frame)), parts)):
        part = frame.iloc[rows]
        if kind == "parquet":
            part.to_parquet(folder / f"part-{k}.parquet", index=False)
        else:
            part.to_csv(folder / f"part-{k}.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return written(tmp_path_factory.mktemp("table") / "parts")


@pytest.fixture(scope="module")
def in_memory():
    return PruneSymRegressor(preset=QUICK, progress=False).fit(FRAME[["x", "n"]], FRAME["y"])


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_constants_errors_and_intervals_are_those_of_all_rows(tmp_path, in_memory, kind):
    path = written(tmp_path / "parts", kind=kind)
    found = PruneSymRegressor(preset=QUICK, progress=False, run_dir=tmp_path / "run").fit_large(path, "y")
    assert found.best_.rows == ROWS
    assert str(found.best_).startswith("y = 3*")
    pd.testing.assert_frame_equal(found.constants_, in_memory.constants_, rtol=1e-6)
    assert found.best_.loss == pytest.approx(in_memory.best_.loss, rel=1e-9)
    assert found.best_.variance == pytest.approx(in_memory.best_.variance, rel=1e-9)
    assert found.best_.r2 == pytest.approx(found.score(FRAME[["x", "n"]], FRAME["y"]), abs=1e-12)
    for equation in found.fronts_[0]:  # the others as they are, with their errors on all rows
        error = np.mean(
            (equation.predict({name: FRAME[name].to_numpy(float) for name in ("x", "n")}) - FRAME["y"]) ** 2
        )
        assert equation.loss == pytest.approx(error, rel=1e-9)
    assert read_run(tmp_path / "run").latest().fronts[0].best.rows == ROWS


def test_weights_standard_errors_and_other_columns(tmp_path):
    sigma = np.where(np.arange(ROWS) % 3, 0.1, 2.0)
    weights = np.where(np.arange(ROWS) % 4, 1 / sigma**2, 0.0)  # those without are no measurements
    frame = FRAME.assign(y=FRAME["y"] + sigma * rng.normal(size=ROWS), sigma=sigma, w=weights, label="text")
    path = written(tmp_path / "parts", frame)
    model = PruneSymRegressor(preset=QUICK, progress=False)
    for given in ({"y_err": "sigma"}, {"weights": "w"}):
        found = model.fit_large(path, "y", features=["x", "n"], **given).constants_
        other = {"y_err": frame["sigma"]} if "y_err" in given else {"sample_weight": frame["w"]}
        expected = PruneSymRegressor(preset=QUICK, progress=False).fit(frame[["x", "n"]], frame["y"], **other)
        pd.testing.assert_frame_equal(found, expected.constants_, rtol=1e-6)
    with pytest.raises(DataError, match="'label' holds no numbers"):
        model.fit_large(path, "y")
    with pytest.raises(DataError, match="y_err must be standard errors > 0"):
        model.fit_large(
            written(tmp_path / "wrong", frame.assign(sigma=sigma - 0.1)), "y", features=["x"], y_err="sigma"
        )
    with pytest.raises(DataError, match="weights must be at least 0"):
        model.fit_large(written(tmp_path / "wrong", frame.assign(w=sigma - 0.2)), "y", features=["x"], weights="w")


def test_errors_that_are_shares_of_the_value(tmp_path):
    frame = FRAME.assign(y=3 * FRAME["x"] ** 3 * FRAME["n"] * rng.normal(1, 0.02, ROWS))
    path = written(tmp_path / "parts", frame)
    model = PruneSymRegressor(preset=QUICK, progress=False, loss="relative").fit_large(path, "y")
    expected = PruneSymRegressor(preset=QUICK, progress=False, loss="relative").fit(frame[["x", "n"]], frame["y"])
    assert model.best_.relative
    assert model.best_.variance == pytest.approx(expected.best_.variance, rel=1e-6)
    pd.testing.assert_frame_equal(model.constants_, expected.constants_, rtol=1e-6)
    zero = written(tmp_path / "zero", frame.assign(y=frame["y"].where(frame.index > 0, 0.0)))
    assert not PruneSymRegressor(preset=QUICK, progress=False).fit_large(zero, "y").best_.relative
    with pytest.raises(DataError, match="'y' is 0 in some rows"):
        PruneSymRegressor(progress=False, loss="relative").fit_large(zero, "y")


def test_a_formula_that_has_no_value_in_rows_outside_of_the_sample_is_not_chosen(tmp_path):
    x = np.linspace(1, 10, ROWS)
    x[17] = -1.0  # which a sample of ten rows hardly has
    frame = pd.DataFrame({"x": x, "y": np.sqrt(np.abs(x)) * 2 + 1})
    model = PruneSymRegressor(preset=SearchSettings(max_fits=30, rows=60), progress=False)
    with pytest.warns(DomainWarning, match=f"no value in 1 of {ROWS:,} rows"):
        model.fit_large(written(tmp_path / "parts", frame), "y")
    assert np.isfinite(model.best_.loss)
    assert np.isfinite(model.predict(frame[["x"]])).all()


def test_missing_values_are_an_error_or_left_out(tmp_path, in_memory):
    holes = FRAME.assign(n=FRAME["n"].astype("Int64"))
    holes.loc[ROWS - 10, "n"] = pd.NA
    path = written(tmp_path / "parts", holes)
    model = PruneSymRegressor(preset=QUICK, progress=False)
    with pytest.raises(DataError, match=rf"'n': no value \(NaN\) in row {ROWS - 9:,}"):
        model.fit_large(path, "y")
    with pytest.warns(UserWarning, match="left out 1 of 3,000 rows"):
        model.fit_large(path, "y", drop_missing=True)
    assert model.best_.rows == ROWS - 1
    infinite = written(tmp_path / "infinite", FRAME.assign(x=FRAME["x"].where(FRAME.index != 2500, np.inf)))
    with pytest.raises(DataError, match="'x': infinite value in row 2,501"):
        model.fit_large(infinite, "y", drop_missing=True)


def test_what_is_wrong_with_a_folder_is_said(tmp_path, folder):
    model = PruneSymRegressor(progress=False)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="has no files that end with"):
        model.fit_large(tmp_path / "empty", "y")
    with pytest.raises(DataError, match="no such file or folder"):
        model.fit_large(tmp_path / "nowhere", "y")
    mixed = written(tmp_path / "mixed")
    FRAME.head().drop(columns="n").to_parquet(mixed / "part-9.parquet")
    with pytest.raises(DataError, match=r"part-9.parquet: column 'n' is not there, and a number in the first"):
        model.fit_large(mixed, "y")
    FRAME.head().to_csv(mixed / "more.csv")
    with pytest.raises(DataError, match="Parquet files and CSV files"):
        model.fit_large(mixed, "y")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "part.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match="can't be read as parquet"):
        model.fit_large(broken, "y")
    none = written(tmp_path / "none", FRAME.head(0), parts=1)
    with pytest.raises(DataError, match="has no rows"):
        model.fit_large(none, "y")
    with pytest.raises(DataError, match="no column is named 'u'"):
        model.fit_large(folder, "u")
    with pytest.raises(DataError, match="must be the name of one column"):
        model.fit_large(folder, ["y"])
    with pytest.raises(TypeError, match="what is in memory is for fit"):
        model.fit_large(FRAME, "y")
    with pytest.raises(ValueError, match="loss must be one of auto, squared, relative"):
        PruneSymRegressor(loss="huber").fit_large(folder, "y")
    with pytest.raises(ValueError, match="template is for tables in memory"):
        PruneSymRegressor(template="f(x)").fit_large(folder, "y")


def test_the_number_of_threads_changes_nothing_and_folders_may_be_columns(tmp_path, folder):
    def total(threads, rows):
        chunks = FileChunks(folder, threads=threads, chunk_rows=rows)
        return [float(one) for one in chunks.map(lambda chunk, _: chunk.columns["y"].sum(), ["y"])]

    assert total(1, 700) == total(3, 700)
    assert sum(total(2, 100)) == pytest.approx(FRAME["y"].sum())
    for n, part in FRAME.groupby("n"):
        written(tmp_path / f"n={n}", part.drop(columns="n"), parts=1)
    chunks = chunks_of(tmp_path)
    assert set(chunks.labels) == {"x", "y", "n"}
    assert chunks.rows == ROWS
    sums = sum(chunks.map(lambda chunk, _: (chunk.columns["n"] * chunk.columns["y"]).sum(), ["n", "y"]))
    assert sums == pytest.approx((FRAME["n"] * FRAME["y"]).sum())


def test_the_command_takes_a_folder(folder, tmp_path):
    assert is_large(folder)
    assert not is_large(folder / "part-0.parquet")
    options = ["-y", "y", "--max-evaluations", "20000", "-j", "1", "--save", str(tmp_path / "model.json")]
    done = CliRunner().invoke(app, ["fit", str(folder), *options])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("y = 3*")
    done = CliRunner().invoke(app, ["fit", str(folder), "-y", "y,x"])
    assert done.exit_code == 3
    assert "name one column to explain" in done.output


class Lazy:
    """What is asked of a Dask frame, without Dask."""

    npartitions = 1
    columns = ("x",)
    to_delayed = None


def test_a_dask_frame_is_for_fit_large():
    with pytest.raises(DataError, match="use fit_large"):
        PruneSymRegressor().fit(Lazy(), [1.0])


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of other packages
def test_a_dask_frame_is_as_good_as_a_folder(folder, in_memory):
    dask = pytest.importorskip("dask")
    frames = pytest.importorskip("dask.dataframe")
    with dask.config.set(scheduler="synchronous"):
        found = PruneSymRegressor(preset=QUICK, progress=False).fit_large(frames.read_parquet(folder), "y")
    pd.testing.assert_frame_equal(found.constants_, in_memory.constants_, rtol=1e-6)
