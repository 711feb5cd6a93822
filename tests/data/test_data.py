"""Tables: what gets in, what is refused, and what the refusal says."""

import copy
import dataclasses
import decimal
import gzip
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from prunesymnet.data import Dataset, distinct_rows, files, from_frame, load_example, make_dataset, read_table
from prunesymnet.data.files import EXAMPLES
from prunesymnet.errors import DataError, DataWarning
from prunesymnet.operators import OPERATORS

X = np.array([[1.0, 10.0], [2.0, 30.0], [3.0, 20.0], [5.0, 40.0]])
Y = np.array([0.1, 0.3, 0.2, 1 / 3])
FRAME = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y})


def frame_with(**columns) -> pd.DataFrame:
    return pd.DataFrame({"a": X[:, 0], "y": Y} | columns)


def same(one: Dataset, other: Dataset) -> bool:
    weights = [None if d.weights is None else d.weights.tolist() for d in (one, other)]
    return (
        (one.names, one.target, weights[0]) == (other.names, other.target, weights[1])
        and np.array_equal(one.X, other.X)
        and np.array_equal(one.y, other.y)
    )


def refused(*parts: str):
    """Expect a DataError whose message holds all parts, in order."""
    return pytest.raises(DataError, match=".*".join(re.escape(part) for part in parts))


def warned(*parts: str):
    return pytest.warns(DataWarning, match=".*".join(re.escape(part) for part in parts))


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


# What gets in


def test_arrays_lists_frames_and_files_agree(tmp_path):
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    FRAME.to_csv(tmp_path / "t.csv.gz", index=False)
    FRAME.to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    FRAME.to_csv(tmp_path / "semicolon.csv", index=False, sep=";")
    FRAME.to_csv(tmp_path / "t.TXT", index=False, sep=" ")
    FRAME.to_csv(tmp_path / "tab.txt", index=False, sep="\t", lineterminator="\r\n")
    FRAME.to_csv(tmp_path / "bom.csv", index=False, encoding="utf-8-sig", lineterminator="\r")
    FRAME.to_parquet(tmp_path / "t.parquet")
    expected = make_dataset(X, Y, names=["a", "b"])
    files = sorted(tmp_path.iterdir())
    assert len(files) == 8
    for file in files:
        assert same(read_table(file, "y"), expected), file
    assert same(read_table(str(files[0]), "y"), expected)
    assert same(make_dataset(X.tolist(), Y.tolist(), names=("a", "b")), expected)
    assert same(make_dataset(FRAME[["a", "b"]], FRAME["y"]), expected)
    assert same(make_dataset(FRAME[["a", "b"]], FRAME[["y"]]), expected)
    assert same(from_frame(FRAME, "y"), expected)
    assert same(Dataset(X, Y, ("a", "b")), expected)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=20, unique=True))
@settings(max_examples=40, deadline=None)
def test_a_csv_gives_back_every_bit(tmp_path_factory, values):
    file = tmp_path_factory.mktemp("bits") / "t.csv"
    frame = pd.DataFrame({"a": values, "y": np.arange(len(values)) + 0.5})
    frame.to_csv(file, index=False)
    assert np.array_equal(read_table(file, "y").X[:, 0], frame["a"].to_numpy())


def test_fields():
    data = make_dataset(X, Y, weights=[1, 0, 2, 1])
    assert (data.rows, data.features, data.names, data.target) == (4, 2, ("x1", "x2"), "y")
    assert repr(data) == "Dataset(y from x1, x2; 4 rows, weighted)"
    assert list(data.columns) == ["x1", "x2"]
    assert np.array_equal(data.columns["x2"], X[:, 1])
    assert np.shares_memory(data.columns["x2"], data.X)
    assert data.X.flags.f_contiguous
    assert {a.dtype for a in (data.X, data.y, data.weights)} == {np.dtype(np.float64)}
    wide = make_dataset(np.random.default_rng(0).normal(size=(3, 8)), [1, 2, 3])
    assert repr(wide) == "Dataset(y from x1, x2, x3, x4, x5 and 3 more; 3 rows)"


def test_one_dimensional_X_is_one_feature():
    assert make_dataset(X[:, 0], Y).names == ("x1",)
    assert make_dataset(pd.Series(X[:, 0], name="mass"), Y).names == ("mass",)
    assert make_dataset(pd.Series(X[:, 0]), pd.Series(Y, name=3)).names == ("x1",)


def test_names_come_from_pandas_unless_given():
    data = make_dataset(FRAME[["a", "b"]], FRAME["y"].rename("force"))
    assert (data.names, data.target) == (("a", "b"), "force")
    data = make_dataset(FRAME[["a", "b"]], FRAME["y"], names=["u", "v"], target="w")
    assert (data.names, data.target) == (("u", "v"), "w")
    assert make_dataset(pd.DataFrame(X), Y).names == ("x1", "x2")


def test_features_and_weights_by_column():
    frame = FRAME.assign(label="t", w=[1.0, 2.0, 0.0, 1.0])
    data = from_frame(frame, "y", features=["b", "a"], weights="w")
    assert data.names == ("b", "a")
    assert np.array_equal(data.X, X[:, ::-1])
    assert data.weights.tolist() == [1, 2, 0, 1]
    assert from_frame(frame.drop(columns="label"), "y", weights="w").names == ("a", "b")


@pytest.mark.parametrize(
    "column",
    [
        np.array([1, 0, 0, 1], dtype=bool),
        np.array([1, 0, 0, 1], dtype=np.int8),
        np.array([1, 0, 0, 1], dtype=np.float32),
        np.array([1, 0, 0, 1], dtype=object),
        pd.array([1, 0, 0, 1], dtype="Int64"),
        pd.array([1, 0, 0, 1], dtype="boolean"),
        pd.array([1, 0, 0, 1], dtype="double[pyarrow]"),
        np.ma.masked_array([1.0, 0.0, 0.0, 1.0], mask=False),
    ],
    ids=lambda column: str(column.dtype),
)
def test_bool_integer_and_the_like_become_float(column):
    data = from_frame(frame_with(c=column), "y", features=["c"])
    assert data.X.dtype == np.float64
    assert data.X[:, 0].tolist() == [1, 0, 0, 1]


def test_y_as_a_column():
    assert np.array_equal(make_dataset(X, Y[:, None]).y, Y)
    for wide in (Y[None, :], X, FRAME[["a", "b"]]):
        with refused("y must have shape [rows] or [rows, 1]", "pass one column"):
            make_dataset(X, wide)


# Nobody can change it


def test_arrays_are_read_only_copies():
    x, y, w = np.asfortranarray(X), Y.copy(), np.ones(4)
    data = make_dataset(x, y, weights=w)
    x[:], y[:], w[:] = 7, 7, 7
    assert np.array_equal(data.X, X)
    assert np.array_equal(data.y, Y)
    assert np.array_equal(data.weights, np.ones(4))
    for array in (data.X, data.y, data.weights, data.columns["x1"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.y = Y


def test_a_frame_changed_later_changes_nothing():
    frame = FRAME.copy()
    data = from_frame(frame, "y")
    frame.loc[:, :] = 0.0
    assert same(data, from_frame(FRAME, "y"))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))])  # noqa: S301
def test_copies_stay_read_only(again):
    data = make_dataset(X, Y, weights=[1, 2, 3, 4])
    other = again(data)
    assert same(data, other)
    assert not any(a.flags.writeable for a in (other.X, other.y, other.weights))


def test_replace_checks_again():
    with refused("target 'y'", "NaN", "row 1"):
        dataclasses.replace(make_dataset(X, Y), y=[np.nan, 1, 2, 3])


# Cells


@pytest.mark.parametrize(
    ("column", "parts"),
    [
        ([1, np.nan, 2, np.nan], ["no value (NaN) in rows 2 and 4", "drop or fill"]),
        ([np.nan] * 4, ["no value (NaN) in rows 1, 2, 3 and 1 more", "drop or fill"]),
        ([1, 2, -np.inf, 3], ["infinite value in row 3", "drop or correct"]),
        (pd.array([1, None, 2, 3], dtype="Int64"), ["no value (NaN) in row 2"]),
        (pd.array([True, None, False, True], dtype="boolean"), ["no value (NaN) in row 2"]),
        ([1, 2, None, 3], ["no value (NaN) in row 3"]),
        (["1", None, "2", "3"], ["no value (NaN) in row 2"]),
        (np.array([1, None, 2, None], dtype=object), ["no value (NaN) in rows 2 and 4"]),
        (["u", "v", "w", "z"], ["'u' in row 1 is not a number (and 3 more like it)", "leave the column out"]),
        (["1", "2", "n/a", "4"], ["'n/a' in row 3 is not a number", "correct it or drop the row"]),
        (["1", "2", None, "x"], ["'x' in row 4"]),
        (["1", "1,5", "3", "4"], ["'1,5' in row 2", "write 1.5"]),
        ([1.0, "2", 3.0, "four"], ["'four' in row 4"]),
        (["1", "2", "3", "4"], ["'1' in row 1 is an object of type str", ".astype(float)"]),
        ([decimal.Decimal(i) for i in range(4)], ["row 1", "type Decimal", ".astype(float)"]),
        (["2021-03-04", "2021-03-05", None, "2021-03-06 12:00"], ["holds dates", "total_seconds()"]),
        (["4.3.2021", "05/03/2021", "6.3.21", "7.3.2021"], ["holds dates", "total_seconds()"]),
        (["1,234", "5,678", "3", "4"], ["'1,234' in row 1", "may be 1.234 or 1234", "which sign"]),
        (["1" * 10_000_000 + "x", "2", "3", "4"], [f"'{'1' * 60}'... (10,000,001 characters) in row 1"]),
        (["\x1b[2J", "2", "3", "4"], ["'\\x1b[2J' in row 1"]),
        ([1, 2, 3, 2**70], ["row 4", "more than 64 bits", "give them as floats"]),
        ([1j, 2, 3, 4], ["is complex", "real and imaginary part"]),
        (pd.date_range("2020-01-01", periods=4), ["holds dates", "total_seconds()"]),
        (pd.date_range("2020-01-01", periods=4, tz="UTC"), ["holds dates", "total_seconds()"]),
        (pd.timedelta_range("1s", periods=4), ["holds durations", "total_seconds()"]),
        (pd.Categorical(["u", "v", "u", "v"]), ["is categorical", "get_dummies"]),
        (pd.arrays.SparseArray([0.0, 0.0, 1.0, 2.0]), ["is sparse", "to_dense"]),
    ],
)
def test_bad_cells_in_a_frame(column, parts):
    with refused("column 'c'", *parts):
        from_frame(frame_with(c=column), "y")


def test_bad_cells_in_arrays():
    with refused("column 'x2'", "no value (NaN) in row 3"):
        make_dataset(np.where(X == 20, np.nan, X), Y)
    with refused("column 'x2'", "'n/a' in row 2"):
        make_dataset([[1, 2], [3, "n/a"], [5, 6]], [1, 2, 3])
    with refused("column 'x2'", "'n/a' in row 2"):
        make_dataset(np.array([[1, 2], [3, "n/a"], [5, 6]], dtype=object), [1, 2, 3])
    with refused("column 'x1'", "b'u' in row 1"):
        make_dataset(np.array([b"u", b"v"]), [1, 2])
    with refused("column 'x1'", "no value (NaN) in row 2"):
        make_dataset(np.ma.masked_array([1, 2, 3], mask=[0, 1, 0]), [1, 2, 3])
    with refused("column 'x1'", "infinite value in row 2"):
        make_dataset(np.array(["1", "1e4000"]).astype(np.longdouble), [1, 2])
    with refused("target 'y'", "infinite value in row 4"):
        make_dataset(X, [1, 2, 3, np.inf])
    with refused("target 'y'", "'q' in row 2"):
        make_dataset(X, [1, "q", 3, 4])


def test_whole_numbers_beyond_float64():
    with warned("column 'x1'", "beyond 2**53 in row 2", "leave the column out"):
        data = make_dataset([3, 2**53 + 1], [1, 2])
    assert data.X[1, 0] == 2.0**53
    make_dataset([3, 2**53 - 1], [1, 2])
    make_dataset([3.0, 1e300], [1, 2])
    make_dataset([3, 17 * 10**17], [1, 2])  # which is a float64
    with warned("3 columns", "rounds 4: 'a', 'b', 'c'"):
        make_dataset(pd.DataFrame({"a": [2**53 + 1, 1], "b": [2**60 + 1, 2**61 + 1], "c": [-(2**62) - 1, 1]}), [1, 2])


def test_weights():
    with refused("weights", "at least 0", "rows 2 and 4"):
        make_dataset(X, Y, weights=[1, -1, 2, -3])
    for positive in (0, 1):
        with refused("weights must be above zero in at least 2 rows", f"got {positive} of 4"):
            make_dataset(X, Y, weights=np.eye(4)[0] * positive)
    with refused("weights", "NaN", "row 3"):
        make_dataset(X, Y, weights=[1, 1, np.nan, 1])
    with refused("X has 4 rows and weights has 3"):
        make_dataset(X, Y, weights=[1, 1, 1])
    with refused("weights must be [rows]", "shape ()"):
        make_dataset(X, Y, weights=2.0)


# Shapes


def test_shapes():
    with refused("X has 4 rows and y has 3"):
        make_dataset(X, Y[:3])
    for empty in ([], np.empty((0, 2))):
        with refused("no rows", "at least 2"):
            make_dataset(empty, [])
    with refused("one row", "at least 2"):
        make_dataset([[1.0, 2.0]], [1.0])
    with refused("no columns", "at least one feature"):
        make_dataset(np.empty((4, 0)), Y)
    with refused("X must be [rows] or [rows, columns]", "ndarray has shape (2, 2, 2)"):
        make_dataset(np.zeros((2, 2, 2)), [1, 2])
    with refused("X must be [rows] or [rows, columns]", "dict has shape ()"):
        make_dataset({"a": [1, 2]}, [1, 2])
    with refused("row 1 has 2 values, row 3 has 1", "same columns"):
        make_dataset([[1, 2], [3, 4], [5]], [1, 2, 3])
    with refused("a cell holds a list"):
        make_dataset([[1, [2, 3]], [4, 5]], [1, 2])
    with refused("X is a structured array", "pandas.DataFrame(X)"):
        make_dataset(np.zeros(4, dtype=[("a", float), ("b", float)]), Y)
    with refused("X is a sparse matrix", "X.toarray()"):
        make_dataset(sparse.csr_array(X), Y)


# Names


@pytest.mark.parametrize(
    ("name", "reason", "better"),
    [
        ("mass (kg)", "not a Python identifier", "mass_kg"),
        ("area (m²)", "not a Python identifier", "area_m2"),
        ("2nd", "not a Python identifier", "x2nd"),
        ("lambda", "not a Python identifier", "lambda_"),
        ("", "is empty", "x1"),
        ("°", "not a Python identifier", "x1"),
        (7, "not a Python identifier", "x7"),
        (("u", "v"), "not a Python identifier", "u_v"),
        *[(name, "the name of an operator", f"{name}_") for name in OPERATORS if name.isidentifier()],
    ],
)
def test_names_a_formula_cannot_use(name, reason, better):
    with refused(f"column {name!r} ", reason, f"rename it, e.g. to {better!r}"):
        make_dataset(X, Y, names=[name, "b"])
    if name:  # an empty target gets a number of its own
        with refused(f"target {name!r} ", reason, f"rename it, e.g. to {better.replace('x1', 'x3')!r}"):
            make_dataset(X, Y, target=name)
    assert make_dataset(X, Y, names=[better, "b"]).names[0] == better


def test_a_frames_columns_called_like_operators_get_an_underscore():
    frame = pd.DataFrame({"min": [1.0, 2, 4], "max_": [3.0, 1, 2], "max": [1.0, 1, 2]})
    assert from_frame(frame, "max").names == ("min_", "max_")
    assert from_frame(frame, "max").target == "max__2"
    assert from_frame(frame, "max_").names == ("min_", "max__2")
    data = make_dataset(frame[["min"]], frame["max"])
    assert (data.names, data.target) == (("min_",), "max_")
    assert make_dataset(frame[["min", "max_"]], frame["max"]).target == "max__2"


def test_all_bad_names_are_told_at_once():
    with refused("column 'a b'", "'a_b'", "column 'sin'", "'sin_'", "target 'c-d'", "'c_d'"):
        make_dataset(X, Y, names=["a b", "sin"], target="c-d")


def test_names_that_do_not_fit():
    with refused("X has 2 columns and names has 3"):
        make_dataset(X, Y, names=["a", "b", "c"])
    with refused("names must be a list", "['ab']"):
        make_dataset(X, Y, names="ab")
    with refused("2 columns are named 'a'"):
        make_dataset(X, Y, names=["a", "a"])
    with refused("2 columns are named 'b'"):
        from_frame(FRAME.set_axis(["b", "b", "y"], axis=1), "y")
    with refused("target 'y' is also a feature", "target=..."):
        make_dataset(X, Y, names=["x", "y"])
    with refused("target 'y' is also a feature", "take it out"):
        from_frame(FRAME, "y", features=["a", "y"])


def test_columns_that_are_not_there():
    with refused("no column is named 'Y'", "a, b, y"):
        from_frame(FRAME, "Y", features=["a"])
    with refused("no column is named 'perod'; did you mean 'period'?"):
        from_frame(FRAME.rename(columns={"y": "period"}), "perod")
    with refused("no column is named 'c'", "the columns are a, b, y"):
        from_frame(FRAME, "y", features=["a", "c"])
    with refused("no column is named 'w'"):
        from_frame(FRAME, "y", weights="w")
    with refused("no feature columns", "only y"):
        from_frame(FRAME[["y"]], "y")
    with refused("no feature columns"):
        from_frame(FRAME, "y", features=[])
    with refused("features must be a list", "['a']"):
        from_frame(FRAME, "y", features="a")
    with refused("frame must be a pandas DataFrame, not ndarray", "make_dataset"):
        from_frame(X, "y")
    many = pd.DataFrame(np.arange(60).reshape(2, 30), columns=[f"c{i}" for i in range(30)])
    with refused("c11 and 18 more"):
        from_frame(many, "target")


# What is kept, with a warning


def test_oddities_are_kept():
    with warned("column 'c' is 3 in every row", "leave it out"):
        data = from_frame(frame_with(c=3), "y")
    assert data.names == ("a", "c")
    with warned("columns 'a' and 'c' are equal", "leave one out"):
        data = from_frame(frame_with(c=X[:, 0]), "y")
    assert data.names == ("a", "c")
    with warned("column 'c' equals target 'y'", "leave it out"):
        data = from_frame(frame_with(c=Y), "y")
    assert data.names == ("a", "c")
    with warned("target 'y' is 2 in every row", "that constant"):
        make_dataset(X, [2, 2, 2, 2])


def test_each_kind_of_oddity_is_told_once():
    table = np.column_stack([np.full((4, 200), 3.0), X[:, :1], X[:, :1], X[:, :1]])
    with pytest.warns(DataWarning) as caught:
        make_dataset(table, Y)
    assert [str(warning.message) for warning in caught] == [
        "200 columns have one value in every row, so they can't explain anything: x1, x2, x3, x4, x5 and 195 more",
        "2 columns equal one before them in every row; leave them out: x202 (x201), x203 (x201)",
    ]


def test_another_target_is_checked_alone():
    data = make_dataset(X, Y)
    other = data.with_target(2 * Y, "z")
    assert (other.target, other.X is data.X) == ("z", True)
    np.testing.assert_array_equal(other.y, 2 * Y)
    with warned("column 'x1' equals target 'z'"):
        data.with_target(X[:, 0], "z")
    with refused("target 'x1' is also a feature"):
        data.with_target(Y, "x1")
    with refused("target 'z'", "row 2"):
        data.with_target([1.0, np.nan, 2.0, 3.0], "z")


def test_some_of_the_columns():
    data = Dataset(np.arange(12.0).reshape(4, 3), Y, ("a", "b", "c"), weights=[1, 2, 3, 4])
    few = data.only(["c", "a"])
    assert few.names == ("c", "a")
    np.testing.assert_array_equal(few.columns["a"], data.columns["a"])
    np.testing.assert_array_equal(few.weights, data.weights)


def test_zero_and_minus_zero_are_equal():
    with warned("columns 'x1' and 'x2' are equal"):
        make_dataset([[0.0, -0.0], [1.0, 1.0]], [1, 2])


def test_different_indexes_are_told():
    x, shuffled = FRAME[["a", "b"]], FRAME["y"].sample(frac=1, random_state=1)
    with warned("X and y have different indexes", "paired by position", "y.reindex(X.index)", "y.to_numpy()"):
        data = make_dataset(x, shuffled)
    assert np.array_equal(data.y, shuffled.to_numpy())
    with warned("X and y have different indexes"):
        make_dataset(x["a"], shuffled.to_frame())
    with warned("X and weights have different indexes", "weights.reindex(X.index)"):
        Dataset(x, Y, ("a", "b"), weights=pd.Series(1.0, index=list("uvwx")))
    # What the warning advises gives none, nor do equal indexes of another kind, nor an X without one.
    assert same(make_dataset(x, shuffled.reindex(x.index)), make_dataset(x, FRAME["y"]))
    assert same(make_dataset(x, shuffled.to_numpy(), target="y"), data)
    make_dataset(x, FRAME["y"].set_axis(pd.Index([0, 1, 2, 3])))
    make_dataset(X, shuffled)


def test_a_warning_points_at_the_caller():
    with pytest.warns(DataWarning) as caught:
        make_dataset([1, 1, 1], [1, 2, 3])
    assert [Path(warning.filename).name for warning in caught] == ["test_data.py"]


def test_a_million_rows_are_checked_and_merged():
    x = np.random.default_rng(0).normal(size=(500_000, 2))
    data = make_dataset(np.r_[x, x], np.r_[x[:, 0], x[:, 0]] + 1)
    assert distinct_rows(data).rows == 500_000


# Files


def test_a_bad_cell_is_named_by_row_and_line(tmp_path):
    rows = [f"{i},{i * i}" for i in range(1, 25)]
    rows[16] = "oops,289"
    file = written(tmp_path / "t.csv", "\n".join(["a,y", *rows]))
    with refused("t.csv: column 'a': 'oops' in row 17 (line 18 of the file)", "correct it or drop the row"):
        read_table(file, "y")
    file = written(tmp_path / "u.csv", "a;y;b\n1;2;x\n1,5;3;4\n2,5 m;3;4\n")
    with refused("'1,5' in row 2", "(line 3 of the file)", "write 1.5"):
        read_table(file, "y", features=["a"])
    file = written(tmp_path / "v.csv", "a,y\n1,2\n,3\n4,NaN\nnan,5\n")
    with refused("column 'a'", "NaN", "rows 2 and 4", "(lines 3 and 5 of the file)"):
        read_table(file, "y")
    file = written(tmp_path / "many.csv", "a,y\n" + ",1\n" * 5)
    with refused("rows 1, 2, 3 and 2 more", "(lines 2, 3, 4 and 2 more of the file)"):
        read_table(file, "y")
    file = written(tmp_path / "w.csv", "a,y\n1,2\n2,inf\n")
    with refused("target 'y'", "infinite value in row 2", "(line 3 of the file)"):
        read_table(file, "y")
    file = written(tmp_path / "weights.csv", "a,y,w\n1,2,1\n2,3,-1\n")
    with refused("weights", "row 2", "(line 3 of the file)"):
        read_table(file, "y", weights="w")


@given(st.lists(st.sampled_from(["row", "blank", "spaces", "long"]), min_size=2, max_size=12), st.data())
@settings(max_examples=40, deadline=None)
def test_lines_are_counted_past_blank_lines_and_line_breaks(tmp_path_factory, kinds, data):
    bad = data.draw(st.integers(0, len(kinds)))
    separator = data.draw(st.sampled_from([",", "\t", ";"]))
    lines = ["", separator.join(["a", "y", "note"])]
    row = 0
    for i, kind in enumerate([*kinds[:bad], "bad", *kinds[bad:], "row", "row"]):
        if kind == "bad":
            expected = (row + 1, len(lines) + 1)
        text = {"blank": "", "spaces": "   "}.get(kind)
        if text is None:
            row += 1
            note = '"two\nlines"' if kind == "long" else "-"
            text = separator.join(["oops" if kind == "bad" else str(i), str(i * i), note])
        lines.extend(text.split("\n"))
    file = written(tmp_path_factory.mktemp("lines") / "t.csv", "\n".join(lines))
    with refused(f"'oops' in row {expected[0]} ", f"(line {expected[1]} of the file)"):
        read_table(file, "y", features=["a"])


def test_lines_in_a_file_separated_by_blanks(tmp_path):
    file = written(tmp_path / "t.txt", " a   y\n\n 1   2\n   \n x   3\n")
    with refused("'x' in row 2", "(line 5 of the file)"):
        read_table(file, "y")


def test_a_label_column_may_stay_in_the_file(tmp_path):
    file = written(tmp_path / "t.csv", "who,a,y\nu,1,2\nv,2,3\n")
    with refused("column 'who': 'u' in row 1", "leave the column out"):
        read_table(file, "y")
    assert read_table(file, "y", features=["a"]).X[:, 0].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("t.csv", b"", ["is empty", "a line of names"]),
        ("t.csv", b"\n \n", ["is empty"]),
        ("t.csv", b"a,y\n", ["no rows"]),
        ("t.csv", b"a,y\n1,2\n", ["one row"]),
        ("t.csv", b"PK\x03\x04\x00\x00", ["not a text file", "save it as CSV"]),
        ("t.csv", b'""\n', ["put a line of names first"]),
        ("t.txt", b'"my a"  y\n1 2\n3 4\n', ["column 'my a'", "'my_a'"]),
        ("t.csv", b"a,y\n1,2,3\n4,5,6\n", ["more cells in a row than names in its first line, 2"]),
        ("t.csv", b"a,y\n0,1,2\n1,4,5\n", ["more cells in a row than names in its first line, 2"]),
        ("t.csv", b"a,y\n1,2\n4,5,6\n", ["not a table", "line 3"]),
        ("t.csv", b'a,y\n1,"2\n4,5\n', ["not a table", "correct that line"]),
        ("t.csv", b"a,a,y\n1,2,3\n4,5,6\n", ["2 columns are named 'a'"]),
        ("t.csv", b",a,y\n0,1,2\n2,3,4\n", ["column '' is empty", "leave them out"]),
        ("t.csv", b"mass (kg),y\n1,2\n3,4\n", ["'mass (kg)'", "'mass_kg'"]),
        ("t.csv.gz", gzip.compress(b"a,y\n1,2\n", mtime=0)[:-6], ["can't be unpacked", "write it again"]),
        ("t.parquet", b"a,y\n1,2\n", ["can't be read as Parquet", "write it again"]),
        ("t.xlsx", b"PK", ["can't be read as a spreadsheet", "save it again"]),
        ("t.xls", b"PK", ["can't read a .xls", ".xlsx"]),
        ("t.parquet.gz", b"PK", ["can't read a .parquet"]),
        ("t", b"a,y\n1,2\n", ["file without a suffix", ".csv", ".parquet"]),
    ],
)
def test_files_that_are_no_tables(tmp_path, name, content, parts):
    (tmp_path / name).write_bytes(content)
    with refused(f"{name}: ", *parts):
        read_table(tmp_path / name, "y")


def test_files_that_are_not_there(tmp_path):
    with refused("none.csv: no such file in", "check the path"):
        read_table(tmp_path / "none.csv", "y")
    (tmp_path / "d.csv").mkdir()
    with refused("d.csv: is a directory", "name a file in it"):
        read_table(tmp_path / "d.csv", "y")
    file = written(tmp_path / "t.csv", "a,period\n1,2\n2,3\n")
    with refused("t.csv: no column is named 'perod'; did you mean 'period'?"):
        read_table(file, "perod")


def test_parquet_is_checked_too(tmp_path):
    frame_with(c=[1, None, 3, 4]).to_parquet(tmp_path / "t.parquet")
    with refused("t.parquet: column 'c'", "NaN", "row 2"):
        read_table(tmp_path / "t.parquet", "y")
    frame_with(c=list("uvwx")).to_parquet(tmp_path / "t.parquet")
    with refused("t.parquet: column 'c'", "'u' in row 1"):
        read_table(tmp_path / "t.parquet", "y")


# Parts


@given(
    rows=st.integers(3, 60),
    holdout=st.floats(0, 1, exclude_min=True, exclude_max=True),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=60, deadline=None)
def test_split_parts_the_rows(rows, holdout, seed):
    index = np.arange(rows, dtype=float)
    data = make_dataset(np.column_stack([index, index**2]), index + 0.5, weights=index + 1)
    train, held = data.split(holdout, seed)
    assert train.rows >= 2
    assert held.rows >= 1
    if 1 <= holdout * rows <= rows - 2:
        assert abs(held.rows - holdout * rows) <= 0.5
    assert sorted([*train.X[:, 0], *held.X[:, 0]]) == index.tolist()
    for part in (train, held):
        first = part.X[:, 0]
        assert np.all(np.diff(first) > 0)
        assert np.array_equal(part.X[:, 1], first**2)
        assert np.array_equal(part.y, first + 0.5)
        assert np.array_equal(part.weights, first + 1)
        assert (part.names, part.target) == (data.names, data.target)
        assert part.X.flags.f_contiguous
        assert not any(a.flags.writeable for a in (part.X, part.y, part.weights))
    again = data.split(holdout, seed)
    assert same(train, again[0])
    assert same(held, again[1])


def test_split_follows_the_seed():
    data = make_dataset(np.arange(40.0), np.arange(40.0) ** 2)
    assert len({tuple(data.split(0.5, seed)[1].y) for seed in range(20)}) == 20
    assert data.split()[1].rows == 10
    assert same(data.split()[1], data.split(0.25, 0)[1])


def test_split_refuses():
    data = make_dataset([1, 2], [3, 4])
    with refused("a split needs 3 rows", "there are 2"):
        data.split()
    data = make_dataset(X, Y, weights=[0, 0, 1, 1])
    for holdout in (0, 1, -0.1, 1.5, np.nan, "half", None):
        with refused("holdout must be a fraction between 0 and 1", repr(holdout)):
            data.split(holdout)
    for seed in (-1, 1.5, None):
        with refused("seed must be a whole number", repr(seed)):
            data.split(0.5, seed)
    with refused("all have weight 0", "another seed"):
        data.take([0, 1])


def test_take():
    data = make_dataset(X, Y)
    assert data.take([2, 0, 2]).y.tolist() == Y[[2, 0, 2]].tolist()
    assert data.take(Y > 0.15).X.tolist() == X[Y > 0.15].tolist()
    assert data.take(slice(1, None)).rows == 3
    assert data.take(3).y.tolist() == [Y[3]]
    for index in ([4], [-5], [True, False], [0.5], np.array([])):
        with refused("index must be row numbers from 0 to 3", "mask of 4"):
            data.take(index)
    for index in ([], slice(4, None), [[0, 1]]):
        with refused("index must select at least one row"):
            data.take(index)


# Shipped tables


def test_examples_are_all_there():
    assert list(EXAMPLES) == ["planets", "hubble", "boyle", "balmer"]
    assert [load_example(name).rows for name in EXAMPLES] == [9, 24, 25, 14]
    with refused("no example is named 'planet'", "planets, hubble, boyle, balmer"):
        load_example("planet")


def test_an_installed_package_has_its_examples_beside_it(tmp_path, monkeypatch):
    (tmp_path / "examples").mkdir()
    written(tmp_path / "examples" / "boyle.csv", "volume,pressure\n1,2\n2,1\n")
    monkeypatch.setattr(files, "__file__", str(tmp_path / "data" / "files.py"))
    assert load_example("boyle").y.tolist() == [2, 1]


def test_example_laws_hold():
    def columns(name):
        data = load_example(name)
        assert (data.target, data.names) == EXAMPLES[name]
        return data.X[:, 0], data.y

    axis, period = columns("planets")
    np.testing.assert_allclose(period, axis**1.5, rtol=1e-3)
    volume, pressure = columns("boyle")
    np.testing.assert_allclose(pressure * volume, 1408, rtol=1e-2)
    n, wavelength = columns("balmer")
    np.testing.assert_allclose(wavelength, 364.5983 * n**2 / (n**2 - 4), rtol=1e-5)
    distance, velocity = columns("hubble")
    constant = distance @ velocity / (distance @ distance)
    assert constant == pytest.approx(424, abs=1)
    assert np.std(velocity - constant * distance) == pytest.approx(224, abs=1)
    assert np.corrcoef(distance, velocity)[0, 1] == pytest.approx(0.79, abs=0.005)
