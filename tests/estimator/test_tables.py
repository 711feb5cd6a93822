"""The estimator on the tables that people have: odd names, odd cells, few rows, weights."""

import decimal
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from prunesymnet import PruneSymRegressor, SearchSettings, make_operator
from prunesymnet.errors import DataError, DataWarning
from prunesymnet.search import PRESETS, ExhaustiveSettings

FEW = replace(PRESETS["paper"], layers=2, max_epochs=20)  # ends by itself, and always in the same place
ROUNDS = SearchSettings(max_epochs=1, exhaustive=ExhaustiveSettings(levels=2))  # the bank alone
SHORT = replace(ROUNDS, exhaustive=ExhaustiveSettings(levels=0))  # shortcuts alone
RNG = np.random.default_rng(0)
X = RNG.uniform(1, 3, (40, 2))
Y = X[:, 0] * X[:, 1]
NOISY = 2 * X[:, 0] - X[:, 1] + 0.3 * RNG.normal(size=40)
FRAME = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})


def fitted(table, y=Y, weights=None, **parameters):
    """Exact data end a search at once."""
    model = PruneSymRegressor(**{"time_limit": 60, "progress": False, **parameters})
    return model.fit(table, y, sample_weight=weights)


def formula(table, y=Y, weights=None):
    return str(fitted(table, y, weights).best_)


def short(value):
    """A name for a test: what it looks for, and the kind of table."""
    return value if isinstance(value, str) else type(value).__name__


# ---- names ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["speed (m/s)", "my mass"], "y = my_mass*speed_m_s"),
        (["lambda", "class"], "y = class_*lambda_"),
        ([1990, 1991], "y = x1*x2"),
        (["1", "2"], "y = x1*x2"),
        (["%", "€"], "y = x1*x2"),
        (["température", "масса"], "y = température*масса"),
        (["log", "exp"], "y = exp_*log_"),
        (["pi", "e"], "y = e*pi_"),
        (["y", "x"], "y_2 = x*y"),
        (["x 2", "x_2"], "y = x_2*x_2_2"),
        (["a\nb", "<b>x</b>"], "y = a_b*b_x_b"),
    ],
)
def test_names_of_columns(names, found, tmp_path):
    frame = pd.DataFrame(X, columns=names)
    model = fitted(frame)
    assert str(model.best_) == found
    np.testing.assert_allclose(model.predict(frame), Y)
    if isinstance(names[0], str):
        assert model.feature_names_in_.tolist() == names
    function = {}
    exec(model.python(), function)  # noqa: S102 - the text of our own
    assert function["formula"](2.0, 3.0) == 6
    model.save(tmp_path / "model.json")
    np.testing.assert_array_equal(PruneSymRegressor.load(tmp_path / "model.json").predict(frame), model.predict(frame))


def test_names_that_are_one_name_to_python():
    """The micro sign and the Greek letter."""
    model = fitted(pd.DataFrame(X, columns=["\u00b5", "\u03bc"]))
    function = {}
    exec(model.python(), function)  # noqa: S102
    assert function["formula"](2.0, 3.0) == 6
    np.testing.assert_allclose(model.numpy()(X), Y)


def test_names_of_two_kinds_are_refused_with_a_remedy():
    with pytest.raises(TypeError, match=r"X\.columns = X\.columns\.astype\(str\)"):
        fitted(pd.DataFrame(X, columns=[1990, "a"]))


def test_two_columns_of_one_name():
    with pytest.raises(ValueError, match=r"'a'"):
        fitted(pd.DataFrame(X, columns=["a", "a"]))


def test_a_column_with_the_name_of_ones_own_operator(tmp_path):
    third = make_operator("third", lambda v: v**3 / 3)
    model = fitted(pd.DataFrame(X, columns=["third", "u"]), operators=["+", "*", third])
    model.save(tmp_path / "model.json")
    PruneSymRegressor.load(tmp_path / "model.json", operators=[third])


@pytest.mark.parametrize(
    ("y", "name"),
    [
        (Y.tolist(), "y"),
        (pd.Series(Y), "y"),
        (pd.Series(Y, name=0), "y"),
        (pd.Series(Y, name="flow rate (l/s)"), "flow_rate_l_s"),
        (pd.Series(Y, name="a"), "a_2"),
        (pd.Series(Y, name="area", index=range(100, 140)), "area"),
        (pd.DataFrame({"area": Y}), "area"),
        (pl.Series("area", Y), "area"),
        (pl.Series(Y), "y"),
        (pl.DataFrame({"area": Y}), "area"),
        (pd.Series(Y, name="area").astype("Float64"), "area"),
        (pd.Series(Y, name="area").astype(object), "area"),
    ],
)
def test_targets_and_their_names(y, name):
    model = fitted(FRAME, y)
    assert str(model.best_) == f"{name} = a*b"
    assert model.predict(FRAME).shape == np.shape(y)


def test_names_of_several_targets():
    table = np.column_stack([Y, 2 * Y])
    for y, names in (
        (table, ["y1", "y2"]),
        (pd.DataFrame(table, columns=["p", "q r"]), ["p", "q_r"]),
        (pd.DataFrame(table, columns=["a", "p"]), ["a_2", "p"]),
        (pl.DataFrame({"p": Y, "q": 2 * Y}), ["p", "q"]),
    ):
        assert [str(equation) for equation in fitted(FRAME, y).best_] == [f"{names[0]} = a*b", f"{names[1]} = 2*a*b"]


# ---- cells ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table",
    [
        FRAME.astype("Float64"),
        FRAME.astype(object),
        FRAME.assign(c=FRAME["a"] > 2),
        FRAME.assign(c=pd.array([True, False] * 20, dtype="boolean")),
        FRAME.assign(c=pd.array([1, 2] * 20, dtype="Int64")),
        FRAME.astype(np.longdouble),
        FRAME.set_axis([str(i) for i in range(40)]),
        pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": [True, False] * 20}),
    ],
    ids=short,
)
def test_cells_that_are_numbers_in_one_way_or_another(table):
    assert formula(table) == "y = a*b"


def with_cell(value, row=5, column="b"):
    frame = FRAME.copy()
    frame.loc[row, column] = value
    return frame


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (with_cell(np.nan), r"column 'b': no value \(NaN\) in row 6"),
        (with_cell(np.inf), "column 'b': infinite value in row 6"),
        (with_cell(np.nan).to_numpy(), r"column 'x2': no value \(NaN\) in row 6"),
        (with_cell(pd.NA).astype("Float64"), r"column 'b': no value \(NaN\) in row 6"),
        (with_cell(np.nan).astype(object), r"column 'b': no value \(NaN\) in row 6"),
        (
            FRAME.assign(c=pd.array([1, None] * 20, dtype="Int64")),
            r"column 'c': no value \(NaN\) in rows 2, 4, 6 and 17",
        ),
        (pl.DataFrame({"a": X[:, 0], "b": [1.0, None] * 20}), r"column 'b': no value \(NaN\) in rows 2, 4, 6 and 17"),
        (FRAME.assign(c=["low", "1.5"] * 20), "column 'c': 'low' in row 1 is not a number"),
        (FRAME.assign(c=["1,5", "1,7"] * 20), "column 'c': '1,5' in row 1.*write 1.5"),
        (FRAME.assign(c=pd.Categorical(["u", "v"] * 20)), "column 'c' is categorical"),
        (FRAME.assign(c=pd.Categorical([1, 2] * 20)), "column 'c' is categorical; name it in `categories`"),
        (FRAME.map(decimal.Decimal), r"column 'a': Decimal.* in row 1 .*\.astype\(float\)"),
        (FRAME.assign(c=1j * FRAME["a"]), "column 'c' is complex"),
        (FRAME.assign(c=[[1]] * 40), "column 'c'"),
        (pl.DataFrame({"a": X[:, 0], "c": ["u", "v"] * 20}), "column 'c': 'u' in row 1"),
        (FRAME.assign(c=pd.date_range("2020", periods=40)), "column 'c' holds dates"),
        (pd.DataFrame({"c": pd.date_range("2020", periods=40)}), "column 'c' holds dates"),
        (FRAME.assign(c=pd.date_range("2020", periods=40) - pd.Timestamp("2020")), "column 'c' holds durations"),
        (FRAME.assign(c=pd.period_range("2020", periods=40)), "column 'c'"),
        (pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": pd.date_range("2020", periods=40)}), "column 'c' holds dates"),
        (pl.LazyFrame({"a": X[:, 0]}), r"X is a LazyFrame; .*\(.collect\(\)\)"),
        (with_cell(np.inf).rename(columns={"b": "speed (m/s)"}), r"column 'speed \(m/s\)': infinite value"),
        (np.ma.masked_array(X, mask=X > 2.9), r"X has masked cells; fill them \(.filled\(\)\) or drop their rows"),
    ],
    ids=short,
)
@pytest.mark.filterwarnings("ignore::polars.exceptions.PerformanceWarning")
def test_cells_that_are_no_numbers_are_named(table, message):
    with pytest.raises(DataError, match=message):
        fitted(table, time_limit=1)


def test_a_lazy_frame_is_refused_without_a_warning():
    with pytest.raises(DataError, match="collect"):
        fitted(pl.LazyFrame({"a": X[:, 0]}))


@pytest.mark.parametrize("why", ["repeated", "weightless"])
def test_the_row_is_that_of_the_users_table(why):
    frame = pd.concat([FRAME.iloc[:3], FRAME], ignore_index=True)
    frame.loc[8, "b"] = np.nan
    weights = np.r_[np.zeros(3), np.ones(40)] if why == "weightless" else None
    with pytest.raises(DataError, match=r"column 'b': no value \(NaN\) in row 9"):
        fitted(frame, np.r_[Y[:3], Y], weights)


def with_y(value, kind=float):
    y = Y.astype(kind)
    y[7] = value
    return y


@pytest.mark.parametrize(
    ("table", "y", "message"),
    [
        (X, with_y(np.nan), "NaN"),
        (X, with_y(np.inf), "(?i)infinit"),
        (X, Y[:5], "X has 40 rows and y has 5"),
        (X, None, "y is None"),
        (X, np.zeros((40, 2, 2)), r"y must be \[rows\] or \[rows, targets\]"),
        (X, with_y(np.nan), "target 'y'.*row 8"),
        (FRAME, with_y(np.nan), "y.*NaN|NaN.*row 8"),
        (FRAME, Y[:5], "40.*5"),
        (FRAME, None, "(?i)target y is None|y must"),
        (FRAME, pd.Series(pd.Categorical(["u", "v"] * 20)), "target 'y'|could not convert"),
        (FRAME, ["low"] * 40, "'low'"),
        (X, [str(v) for v in Y], "target 'y'|y "),
        (FRAME, pd.Series(pd.date_range("2020", periods=40)), "target.*date|dtype"),
    ],
    ids=short,
)
def test_targets_that_can_not_be_used(table, y, message):
    with pytest.raises(ValueError, match=message):
        fitted(table, y, time_limit=1)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            X[:, 0],
            r"^X has one dimension, shape \(40,\).*X.reshape\(-1, 1\) of an array makes one column of it, .* one row$",
        ),
        (X[:, 0].tolist(), r"^X has one dimension, shape \(40,\)"),
        (FRAME["a"], r"X is a Series.*X.to_frame\(\)"),
        (X + 1j, "^Complex data not supported: give the real and imaginary parts of X as columns$"),
        (sparse.csr_matrix(X), "toarray"),
        ([["1", "b"]] * 40, "column 'x2': 'b' in row 1 is not a number"),
        ([[1, 2], [3]] * 20, "lists of different lengths"),
        (X[:1], "X has one row .* needs at least 2"),
        (X[:0], "0 sample"),
        (X[:, :0], "0 feature"),
    ],
    ids=["one dimension", "list", "series", "complex", "sparse", "text", "ragged", "one row", "no rows", "no columns"],
)
def test_tables_that_are_none(table, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fitted(table, Y[: len(table)] if not sparse.issparse(table) else Y)


# ---- prediction on frames -------------------------------------------------------------------------------


def test_frames_are_predicted_by_name():
    model = fitted(FRAME)
    for table in (FRAME, pl.DataFrame({"a": X[:, 0], "b": X[:, 1]}), FRAME.astype("Float64"), FRAME.iloc[:1]):
        np.testing.assert_allclose(model.predict(table), Y[: len(table)])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    with pytest.raises(DataError, match=r"column 'b': no value \(NaN\) in row 6"):
        model.predict(with_cell(np.nan))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"a": [1.0, 2.0], "c": [2.0, 1.0]}, "feature names"),
        ({"a": [1.0], "c": [2.0]}, "feature names"),
        ({"b": [1.0, 2.0], "a": [2.0, 1.0]}, "feature names"),
        ({"a": [1.0, 2.0], "b": [2.0, 1.0], "c": [1.0, 2.0]}, "feature names|3 features"),
        ({"a": [1.0, 2.0], "b": ["u", "v"]}, "column 'b': 'u' in row 1 is not a number"),
        ({"a": [1.0], "b": ["u"]}, "column 'b': 'u' in row 1 is not a number"),
    ],
    ids=lambda value: value if isinstance(value, str) else ",".join(value),
)
def test_frames_that_can_not_be_predicted(table, message):
    with pytest.raises(ValueError, match=message):
        fitted(FRAME).predict(pd.DataFrame(table))


# ---- few rows, and rows that say little -----------------------------------------------------------------


def test_two_rows_are_too_few_to_search_by():
    with pytest.raises(DataError, match="the table has 2 rows; a search needs at least 3"):
        fitted(X[:2], Y[:2])


@pytest.mark.parametrize("rows", [3, 9])
def test_few_rows(rows):
    model = fitted(X[:rows], Y[:rows])
    assert np.isfinite(model.predict(X)).all()
    assert model.equations_["loss"].notna().all()
    low, high = model.predict_interval(X)
    assert (low <= high).all()


def test_a_constant_target():
    with pytest.warns(DataWarning, match="target 'y' is 3.5 in every row"):
        model = fitted(X, np.full(40, 3.5))
    assert str(model.best_) == "y = 7/2"
    assert model.predict(X).tolist() == [3.5] * 40


def test_a_constant_column_and_columns_that_are_equal():
    with pytest.warns(DataWarning, match="column 'x3' is 1 in every row"):
        assert formula(np.column_stack([X, np.ones(40)])) == "y = x1*x2"
    with pytest.warns(DataWarning, match=r"columns 'x\d' and 'x\d' are equal") as caught:
        model = fitted(np.column_stack([X, X[:, :1]]))
    assert len(caught) == 1
    np.testing.assert_allclose(model.predict(np.column_stack([X, X[:, :1]])), Y)


def test_several_targets_warn_of_columns_once():
    with pytest.warns(DataWarning) as caught:
        fitted(np.ones((40, 200)), np.column_stack([Y, 2 * Y, Y**2]))
    assert [str(warning.message)[:11] for warning in caught] == ["200 columns"]


def test_a_frame_without_columns_and_numbers_beyond_floats():
    with pytest.raises(DataError, match="0 feature"):
        PruneSymRegressor().fit(pd.DataFrame(index=range(40)), Y)
    with pytest.raises(DataError, match="beyond the range of floats"):
        PruneSymRegressor().fit([[10**400], *([k] for k in range(39))], Y)
    with pytest.raises(DataError, match=r"column 'a': 10{59}\.\.\. in row 1 is a whole number of more than 64 bits"):
        PruneSymRegressor().fit(pd.DataFrame({"a": [10**400, *range(39)]}), Y)


@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.filterwarnings("ignore::prunesymnet.errors.DataWarning")
def test_nothing_but_a_constant_column(value):
    model = PruneSymRegressor(preset=ROUNDS).fit(np.full((40, 1), value), Y)
    np.testing.assert_allclose(model.predict([[value]]), Y.mean(), rtol=0.2)


@pytest.mark.filterwarnings("ignore::prunesymnet.errors.DataWarning")
def test_rows_that_are_all_the_same():
    model = PruneSymRegressor(preset=ROUNDS).fit(np.ones((5, 2)), np.full(5, 2.0))
    assert model.predict([[1.0, 1.0]]).tolist() == [2.0]


def test_one_row_that_the_weights_leave():
    with pytest.raises(DataError, match="weight"):
        fitted(X, Y, np.eye(40)[0])


def test_more_columns_than_rows():
    wide = np.random.default_rng(1).normal(size=(12, 30))
    assert formula(wide, 2 * wide[:, 3]) == "y = 2*x4"
    noise = PruneSymRegressor(preset=FEW).fit(wide, wide[:, 3] + np.random.default_rng(2).normal(size=12))
    assert np.isfinite(noise.predict(wide)).all()


def test_more_columns_than_rows_do_not_give_more_constants_than_rows():
    wide = np.random.default_rng(1).normal(size=(10, 30))
    model = PruneSymRegressor(preset=FEW).fit(wide, np.random.default_rng(2).normal(size=10))
    assert len(model.constants_) < 10


def says_something(model, table, y):
    scale = np.abs(y).max()
    rest = (y - model.predict(table)) / scale
    return rest @ rest < 0.2 * np.var(y / scale) * len(y)


@pytest.mark.parametrize(
    ("table", "y"),
    [(X, 1e100 * Y), (X, 1e-100 * Y), (1e100 * X, Y), (1e-100 * X, Y)],
    ids=["y 1e100", "y 1e-100", "X 1e100", "X 1e-100"],
)
def test_values_that_are_huge_or_tiny(table, y):
    """A formula that says something, or an error that names the column."""
    try:
        model = PruneSymRegressor(preset=ROUNDS).fit(table, y)
    except ValueError as problem:
        assert re.search("column 'x1' .*unit", str(problem))  # noqa: PT017
        return
    assert says_something(model, table, y)


@pytest.mark.parametrize(
    ("table", "y", "message"),
    [
        (X, 1e300 * Y, "target 'y' reaches 9e.300.*use another unit"),
        (X, 1e-300 * Y, "target 'y' reaches 9e-300.*use another unit"),
        (1e300 * X, Y, "column 'x1' .*unit"),
        pytest.param(
            1e-300 * X,
            Y,
            "column 'x1' .*unit",
        ),
    ],
    ids=["y 1e300", "y 1e-300", "X 1e300", "X 1e-300"],
)
def test_values_that_need_another_unit(table, y, message):
    with pytest.raises(ValueError, match=message):
        PruneSymRegressor(preset=ROUNDS).fit(table, y)


@pytest.mark.parametrize(("columns", "target"), [(1e13, 1.0), (1.0, 1e13)], ids=["X", "y"])
def test_what_is_too_large_for_networks_is_left_to_the_bank(columns, target):
    table, y = columns * X, target * NOISY
    assert says_something(PruneSymRegressor(preset=SHORT).fit(table, y), table, y)


# ---- weights ----------------------------------------------------------------------------------------------


def test_rows_of_no_weight_do_not_count():
    y = np.where(np.arange(40) < 20, Y, 1e6)
    assert formula(X, y, np.arange(40) < 20) == "y = x1*x2"
    table = X.copy()
    table[25] = 1e200  # a value that would overflow
    assert formula(table, y, np.arange(40) < 20) == "y = x1*x2"


def test_whole_weights_are_rows_that_repeat():
    weights = np.random.default_rng(1).integers(0, 4, 40)
    rows = np.repeat(np.arange(40), weights)
    weighted = PruneSymRegressor(preset=FEW).fit(X, NOISY, sample_weight=weights)
    repeated = PruneSymRegressor(preset=FEW).fit(X[rows], NOISY[rows])
    pd.testing.assert_frame_equal(weighted.equations_, repeated.equations_)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X))
    assert weighted.score(X, NOISY, sample_weight=weights) == pytest.approx(repeated.score(X[rows], NOISY[rows]))


def test_rows_that_repeat_count_each_time():
    """They are put together for the search, and standard errors are those of all rows."""
    x = np.random.default_rng(1).integers(1, 6, 200).astype(float)[:, None]
    y = np.round(2 * x[:, 0] + np.random.default_rng(2).normal(size=200))
    found = PruneSymRegressor(preset=SHORT).fit(x, y).best_
    given = PruneSymRegressor().fit_form("a*x1", x, y)
    assert str(found) == "y = 2*x1"
    assert found.rows == given.best_.rows == 200
    errors = [constant.standard_error for constant in found.constants]
    np.testing.assert_allclose(errors, given.constants_["standard_error"], rtol=1e-6)


@pytest.mark.parametrize(
    "weights", [2.0, np.full(40, 3.0), [1] * 40, pd.Series(np.ones(40), index=range(7, 47)), pl.Series(np.ones(40))]
)
def test_equal_weights_are_none(weights):
    plain = PruneSymRegressor(preset=FEW).fit(X, NOISY)
    weighted = PruneSymRegressor(preset=FEW).fit(X, NOISY, sample_weight=weights)
    pd.testing.assert_frame_equal(plain.equations_, weighted.equations_)
    np.testing.assert_array_equal(plain.predict_interval(X), weighted.predict_interval(X))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(40), "sample_weight must be above zero in at least 2 rows, got 0 of 40"),
        (-np.ones(40), "sample_weight must be at least 0; negative in rows 1, 2, 3 and 37 more"),
        (np.full(40, np.nan), r"sample_weight: no value \(NaN\) in rows 1, 2, 3 and 37 more"),
        (np.ones(5), "X has 40 rows and sample_weight has 5; give one value per row"),
        (np.ones((40, 2)), r"sample_weight must have shape \[rows\] or \[rows, 1\]"),
    ],
)
def test_weights_that_can_not_be_used(weights, message):
    with pytest.raises(ValueError, match=message):
        fitted(X, Y, weights)


def test_200_constant_columns_and_three_targets_give_one_warning():
    wide = np.column_stack([X, np.ones((len(X), 200))])
    with pytest.warns(DataWarning) as caught:
        PruneSymRegressor(preset=FEW, time_limit=2).fit(wide, np.column_stack([Y, Y**2, Y + 1]))
    assert [str(one.message)[:26] for one in caught] == ["200 columns have one value"]


# ---- categories -----------------------------------------------------------------------------------------


def of_materials(rows=60):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"length": rng.uniform(1, 5, rows), "material": rng.choice(["steel", "wood", "glass"], rows)})
    return frame, frame["length"] ** 2 + 3.0 * (frame["material"] == "wood")


def test_categories_become_columns_of_0_and_1(tmp_path):
    frame, y = of_materials()
    model = PruneSymRegressor(categories=["material"]).fit(frame, y)
    assert {*model.best_.names} == {"length", "material_glass", "material_steel", "material_wood"}
    assert model.feature_names_in_.tolist() == ["length", "material=glass", "material=steel", "material=wood"]
    np.testing.assert_allclose(model.predict(frame), y)
    np.testing.assert_allclose(model.predict(frame.tail(5)), y.tail(5))
    # A model that was saved needs to know no more than its columns.
    model.save(tmp_path / "model.json")
    again = PruneSymRegressor.load(tmp_path / "model.json")
    np.testing.assert_allclose(again.predict(frame), y)
    with pytest.raises(DataError, match="'gold' in row 2 is a category that the fit did not have; it had glass, steel"):
        again.predict(frame.head(3).assign(material=["wood", "gold", "wood"]))
    with pytest.raises(DataError, match="no category in row 2"):
        again.predict(frame.head(3).assign(material=["wood", None, "wood"]))


def test_categories_in_a_known_form():
    frame, y = of_materials()
    model = PruneSymRegressor(categories=["material"]).fit_form("length**2 + a*material_wood", frame, y)
    assert model.constants_["value"].tolist() == pytest.approx([3.0])


@pytest.mark.parametrize("kind", [float, "category", str])
def test_categories_of_any_type(kind):
    frame, y = of_materials()
    codes = frame["material"].map({"steel": 1, "wood": 2, "glass": 10}).astype(kind)
    model = PruneSymRegressor(categories=["material"]).fit(frame.assign(material=codes), y)
    assert model.feature_names_in_.tolist() == ["length", "material=1", "material=2", "material=10"]
    np.testing.assert_allclose(model.predict(frame.assign(material=codes.astype(int))), y)


@pytest.mark.parametrize(
    ("X", "categories", "message"),
    [
        (X, ["x1"], "categories are columns of a frame by their names, and X is a ndarray"),
        (of_materials()[0], ["matrial"], "no column is named 'matrial'; did you mean 'material'?"),
        (of_materials()[0], "material", "categories must be a list"),
        (of_materials()[0].assign(material=np.arange(60)), ["material"], "has 60 categories, more than 50"),
        (of_materials()[0].assign(**{"material=wood": 1.0}), ["material"], "has a column 'material=wood' already"),
    ],
)
def test_categories_that_cannot_be(X, categories, message):
    with pytest.raises(DataError, match=message):
        PruneSymRegressor(preset=FEW, categories=categories).fit(X, np.arange(len(X)))


def test_text_and_dates_are_refused_with_the_remedy():
    frame, y = of_materials()
    with pytest.raises(DataError, match=r"column 'material': .* is not a number .*leave the column out"):
        PruneSymRegressor(preset=FEW).fit(frame, y)
    with pytest.raises(DataError, match="column 'length' holds dates; give the time since a start as a number"):
        PruneSymRegressor(preset=FEW).fit(frame[["length"]].assign(length="2021-03-04"), y)
