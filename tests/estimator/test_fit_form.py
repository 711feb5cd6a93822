"""Fitting a form that the user gives: constants, standard errors and intervals, against scipy's."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import curve_fit

from prunesymnet import PruneSymRegressor, load_example, make_operator, parse
from prunesymnet.errors import DataError, DataWarning, ParseError

RNG = np.random.default_rng(0)
T = np.sort(RNG.uniform(0, 4, 60))
S = RNG.uniform(0.5, 3, 60)
NOISE = 0.05 * RNG.normal(size=60)
DECAY = 2 * np.exp(-1.5 * T) + 0.5 + NOISE


def fitted(form, X, y, **more):
    return PruneSymRegressor().fit_form(form, X, y, **more)


def compare(model, function, columns, y, weights=None):
    """Value, standard error and interval of each constant must be what `curve_fit` gives from there."""
    found = model.constants_
    sigma = None if weights is None else 1 / np.sqrt(weights)
    tight = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15}
    best, covariance = curve_fit(function, columns, y, p0=found["value"].to_numpy(), sigma=sigma, **tight)
    errors = np.sqrt(np.diag(covariance))
    np.testing.assert_array_less(np.abs(found["value"] - best), 1e-6 * np.maximum(np.abs(best), errors))
    np.testing.assert_allclose(found["standard_error"], errors, rtol=1e-5)  # its derivatives are differences
    reach = stats.t.ppf(0.975, len(y) - len(best)) * found["standard_error"]
    np.testing.assert_allclose(found["low"], found["value"] - reach, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found["high"], found["value"] + reach, rtol=1e-9, atol=1e-12)


def is_honest(model, X, y):
    """What it says of itself is what its predictions do."""
    assert model.best_.loss == pytest.approx(np.mean((model.predict(X) - y) ** 2), rel=1e-6)
    assert model.best_.r2 == pytest.approx(model.score(X, y), abs=1e-9)


FORMS = [
    ("a*exp(-b*x) + c", lambda x, a, b, c: a * np.exp(-b * x) + c, (2.0, 1.5, 0.5)),
    ("a*x + b", lambda x, a, b: a * x + b, (3.0, -1.0)),
    ("a + b*x + c*x**2 + d*x**3", lambda x, a, b, c, d: a + b * x + c * x**2 + d * x**3, (1.0, -2.0, 0.5, 0.1)),
    ("a*(x + 1)**b", lambda x, a, b: a * (x + 1) ** b, (0.7, 1.7)),
    ("Vmax*x/(Km + x)", lambda x, v, k: v * x / (k + x), (3.0, 0.7)),
    ("L/(1 + exp(-k*(x - x0)))", lambda x, h, k, m: h / (1 + np.exp(-k * (x - m))), (5.0, 3.0, 2.0)),
    ("a*exp(-(x - m)**2/(2*s**2))", lambda x, a, m, s: a * np.exp(-((x - m) ** 2) / (2 * s**2)), (3.0, 2.0, 0.5)),
    ("a*exp(-b*x)*cos(w*x + p)", lambda x, a, b, w, p: a * np.exp(-b * x) * np.cos(w * x + p), (2.0, 0.5, 7.0, 0.3)),
    ("a*x + a*exp(-b*x)", lambda x, a, b: a * x + a * np.exp(-b * x), (3.0, 2.0)),
    ("log(a + b*x)/c", lambda x, a, b, c: np.log(a + b * x) / c, (2.0, 3.0, 0.2)),
]


# ---- against curve_fit ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("form", "function", "true"), FORMS, ids=[form for form, *_ in FORMS])
def test_the_constants_are_those_of_curve_fit(form, function, true):
    y = function(T, *true) + NOISE
    model = fitted(form, T[:, None], y)
    assert model.fronts_[0].status == "converged"
    assert set(model.constants_["name"]) == set(parse(form).variables) - {"x"}
    compare(model, function, T, y)
    assert model.best_.loss <= np.mean((function(T, *true) - y) ** 2)  # no worse than the truth
    is_honest(model, T[:, None], y)


@pytest.mark.parametrize(
    "weights",
    [
        1 + T,
        1 / (0.1 + T) ** 2,
        1e6 * (1 + T),
        np.where(T < 2, 1.0, 0.0),
    ],
    ids=["rising", "falling", "large", "some are 0"],
)
def test_weights(weights):
    model = fitted("a*exp(-b*x) + c", T[:, None], DECAY, sample_weight=weights)
    some = weights > 0
    function = FORMS[0][1]
    compare(model, function, T[some], DECAY[some], weights[some])
    loss = np.average((model.predict(T[:, None]) - DECAY) ** 2, weights=weights)
    assert model.best_.loss == pytest.approx(loss)


def test_several_columns_of_a_frame():
    frame = pd.DataFrame({"time (s)": T, "mass": S, "unused": 1 - S})
    y = pd.Series(2 * S * np.exp(-0.7 * T) + 0.3 * np.sqrt(S) + NOISE, name="signal (V)")
    model = fitted("a*mass*exp(-b*time_s) + c*sqrt(mass)", frame, y)
    compare(model, lambda x, a, b, c: a * x[1] * np.exp(-b * x[0]) + c * np.sqrt(x[1]), (T, S), y.to_numpy())
    assert model.feature_names_in_.tolist() == ["time (s)", "mass", "unused"]
    assert str(model.best_).startswith("signal_V = ")
    assert model.predict(frame).shape == (60,)


def test_several_columns_without_names():
    X = np.column_stack([T, S])
    y = 2 * T * S + 3 * S + NOISE
    for form, names in (("a*x1*x2 + b*x2", None), ("a*t*s + b*s", ["t", "s"])):
        model = fitted(form, X, y, names=names)
        compare(model, lambda x, a, b: a * x[0] * x[1] + b * x[1], (T, S), y)
        is_honest(model, X, y)


def test_several_targets():
    y = np.column_stack([DECAY, 5 * np.exp(-0.4 * T) - 1 + NOISE])
    model = fitted("a*exp(-b*x) + c", T[:, None], y)
    assert model.n_outputs_ == len(model.constants_) == len(model.best_) == 2
    for k, constants in enumerate(model.constants_):
        alone = fitted("a*exp(-b*x) + c", T[:, None], y[:, k])
        pd.testing.assert_frame_equal(constants, alone.constants_)
        np.testing.assert_allclose(model.predict(T[:, None])[:, k], alone.predict(T[:, None]))


def test_a_law_in_a_real_table():
    hubble = load_example("hubble")
    model = fitted("H*distance", pd.DataFrame({"distance": hubble.X[:, 0]}), pd.Series(hubble.y, name="velocity"))
    assert model.best_.text(digits=3) == "424*distance"
    compare(model, lambda x, h: h * x, hubble.X[:, 0], hubble.y)


@pytest.mark.parametrize("form", ["2.5*x + 1.0", "a*x + 1.0"])
def test_numbers_with_a_point_are_fitted(form):
    y = 3 * T - 1 + NOISE
    model = fitted(form, T[:, None], y)
    is_honest(model, T[:, None], y)
    compare(model, lambda x, a, b: a * x + b, T, y)


def test_each_constant_has_a_name_of_its_own():
    assert fitted("2.5*x + c1", T[:, None], DECAY).constants_["name"].is_unique


def test_a_form_without_constants():
    y = 2 * T + NOISE
    model = fitted("2*x", T[:, None], y)
    assert len(model.constants_) == 0
    assert model.predict([[3.0]]).tolist() == [6.0]
    is_honest(model, T[:, None], y)
    low, high = model.predict_interval([[3.0]])
    assert low < 6 < high


def test_a_form_as_a_tree_and_with_operators_of_ones_own():
    tree = parse("a*exp(-b*x) + c")
    model, text = fitted(tree, T[:, None], DECAY), fitted("a*exp(-b*x) + c", T[:, None], DECAY)
    pd.testing.assert_frame_equal(model.constants_, text.constants_)
    own = make_operator("twice_sine", lambda v: 2 * np.sin(v))
    model = PruneSymRegressor(operators=["+", "*", own]).fit_form("a*twice_sine(b*x)", T[:, None], 3 * np.sin(2 * T))
    np.testing.assert_allclose(model.predict(T[:, None]), 3 * np.sin(2 * T), atol=1e-9)


def test_the_same_seed_gives_the_same_constants():
    one, other = (fitted(FORMS[7][0], T[:, None], DECAY).constants_ for _ in range(2))
    pd.testing.assert_frame_equal(one, other, check_exact=True)


# ---- hard starts ------------------------------------------------------------------------------------------


def hard(form, x, y, least):
    return pytest.param(form, x, y, least, id=f"{form} to {x.max():g}")


LONG, YEARS, KELVIN, NANOMETRES = (
    10 * T,
    np.arange(1800.0, 2001, 10),
    np.linspace(280, 350, 30),
    np.linspace(400, 600, 80),
)


@pytest.mark.parametrize(
    ("form", "x", "y", "least"),
    [
        hard("V*x/(K + x)", 1000 * T, 300 * T / (0.7 + T) + NOISE, 0.999),
        hard("L/(1 + exp(-k*(x - x0)))", LONG, 5 / (1 + np.exp(-3 * (T - 2))) + NOISE, 0.99),
        hard("a*sin(w*x + p) + c", LONG, 3 * np.sin(0.2 * LONG + 0.7) + NOISE, 0.99),
        hard("a*exp(-b*x) + c", LONG, DECAY, 0.98),
        hard("a*x**b", 10 * (T + 1), 3 * (T + 1) ** 1.7 + NOISE, 0.999),
        hard(
            "L/(1 + exp(-k*(x - x0)))",
            YEARS,
            300 / (1 + np.exp(-0.03 * (YEARS - 1915))) + RNG.normal(size=21),
            0.99,
        ),
        hard(
            "a*exp(-(x - m)**2/(2*s**2)) + c",
            NANOMETRES,
            100 * np.exp(-((NANOMETRES - 510) ** 2) / 50) + RNG.normal(size=80),
            0.99,
        ),
        hard(
            "A*exp(-E/(8314*x/1000))",
            KELVIN,
            1e13 * np.exp(-8e4 / (8.314 * KELVIN)) * (1 + 0.01 * RNG.normal(size=30)),
            0.99,
        ),
    ],
)
def test_forms_on_the_scales_that_tables_have(form, x, y, least):
    model = fitted(form, x[:, None], y)
    is_honest(model, x[:, None], y)
    assert model.score(x[:, None], y) > least


def test_a_frequency_on_a_regular_grid():
    t = np.linspace(0, 4, 60)
    model = fitted("a*exp(-b*x)*cos(w*x + p)", t[:, None], 2 * np.exp(-0.5 * t) * np.cos(7 * t + 0.3) + NOISE)
    assert abs(dict(zip(model.constants_["name"], model.constants_["value"], strict=True))["w"]) == pytest.approx(
        7, rel=0.01
    )


DEGREES = np.arange(0, 91, 5.0)
WAVE = 41.2 * np.sin(2 * DEGREES / 57.3)


@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize(
    ("form", "inside"),
    [
        ("41.2*sin(x1/28.6)", 28.65),
        ("40.0*sin(0.035*x1)", 2 / 57.3),
        ("A*sin(x1/p)", 28.65),
        ("A*sin(w*x1)", 2 / 57.3),
    ],
)
def test_of_waves_that_no_row_tells_apart_the_one_that_was_given_or_the_longest_wins(form, inside, noise):
    y = WAVE + noise * np.random.default_rng(3).normal(size=len(WAVE))
    model = fitted(form, DEGREES[:, None], y)
    assert model.constants_["value"].tolist() == pytest.approx([41.2, inside], rel=0.01)


def test_a_frequency_that_was_given_is_kept_though_a_lower_one_fits_as_well():
    given = 2 / 57.3 + 2 * np.pi / 5
    noise = 0.3 * np.random.default_rng(3).normal(size=len(WAVE))
    model = fitted(f"41.0*sin({given:.4f}*x1)", DEGREES[:, None], WAVE + noise)
    assert model.constants_["value"].tolist() == pytest.approx([41.2, given], rel=0.01)


# ---- what the data do not say -------------------------------------------------------------------------------


@pytest.mark.parametrize(("form", "rows"), [("a*b*x", 60), ("a*x + b + c", 60), ("a + b*x + c*x**2 + d*x**3", 3)])
def test_constants_that_can_not_be_told_apart_have_no_standard_error(form, rows):
    model = fitted(form, T[:rows, None], DECAY[:rows])
    assert "can't be told apart" in model.fronts_[0].status
    undetermined = model.constants_[model.constants_["standard_error"] == math.inf]
    assert len(undetermined) >= 2
    assert (undetermined["low"] == -math.inf).all()
    assert (undetermined["high"] == math.inf).all()
    assert np.isfinite(model.predict(T[:, None])).all()


def test_as_many_constants_as_rows():
    model = fitted("a*x + b", [[1.0], [2.0]], [3.0, 5.0])
    np.testing.assert_allclose(model.constants_["value"], [2, 1])
    assert (model.constants_["standard_error"] == math.inf).all()
    low, high = model.predict_interval([[1.5]])
    assert (low, high) == (-math.inf, math.inf)


@pytest.mark.parametrize(
    ("form", "table", "parts"),
    [
        ("a + b*log(x - 100)", T[:, None], ["row 1", "log(x - 100)", "x = 0", "60 of 60 rows"]),
        ("a*x2/x1 + b*x2**4", np.column_stack([T - T[7], T]), ["row 8", "a*x2/x1", "x1 = 0", "1 of 60 rows"]),
        ("a*x**b*exp(1000 + x)", T[:, None], ["row 1", "exp(1000 + x)", "60 of 60 rows"]),
        ("a + x/(1 - 1)", T[:, None], ["row 1", "x/(1 - 1)", "60 of 60 rows"]),
        ("a + 1/0*x", T[:, None], ["row 1", "1/0", "its numbers are such"]),
    ],
)
def test_a_form_that_has_no_value_says_where(form, table, parts):
    with pytest.raises(DataError, match=".*".join(map(re.escape, parts))):
        fitted(form, table, DECAY)


def test_rows_are_counted_as_they_were_given():
    x = np.array([1.0, 1.0, 2.0, 2.0, 0.0, 3.0])
    with pytest.raises(DataError, match="no value in row 5"):
        fitted("a/x", x[:, None], np.array([1.0, 1.0, 2.0, 2.0, 3.0, 1.0]))


def test_a_target_on_the_left_is_accepted():
    model = fitted("y = a*exp(-b*x) + ln(c)", T[:, None], DECAY)
    assert model.constants_["name"].tolist() == ["a", "b", "c"]
    for form in ("2*y = a*x", "y == a*x", "x = a*x", "= a*x"):
        with pytest.raises(ValueError, match=r"with the target alone on the left|has no meaning in a formula"):
            fitted(form, T[:, None], DECAY)


def test_a_name_that_is_nearly_a_columns_is_told_of():
    frame = pd.DataFrame({"speed": T, "mass": T**2})
    with pytest.warns(DataWarning, match="'sped' is no column, so it is fitted as a constant; did you mean 'speed'"):
        fitted("a*mass + sped", frame, DECAY)
    with pytest.raises(ValueError, match="all its names would be constants; did you mean 'speed' by 'sped'"):
        fitted("a*sped + b", frame, DECAY)
    fitted("a*speed + speed0*mass", frame, DECAY)  # the column is there: the other is meant


@pytest.mark.parametrize("scale", [1e100, 1e-100])
def test_values_that_are_huge_or_tiny(scale):
    y = scale * (3 * T - 1 + NOISE)
    model = fitted("a*x + b", T[:, None], y)
    np.testing.assert_allclose(model.constants_["value"], scale * np.polyfit(T, y / scale, 1))


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_a_target_whose_square_is_no_number_needs_another_unit(scale):
    with pytest.raises(DataError, match=r"target 'y' reaches 1e.*use another unit"):
        fitted("a*x + b", T[:, None], scale * (3 * T - 1 + NOISE))


def test_rows_that_repeat_count_each_time():
    x = np.random.default_rng(1).integers(1, 6, 200).astype(float)
    y = np.round(2 * x + np.random.default_rng(2).normal(size=200))
    compare(fitted("a*x + b", x[:, None], y), lambda x, a, b: a * x + b, x, y)


# ---- intervals --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_interval_of_a_line_is_the_textbooks(confidence):
    y = 3 * T - 1 + NOISE
    model = fitted("a*x + b", T[:, None], y)
    new = np.array([-5.0, 0.0, 2.0, 40.0])
    A, B = np.column_stack([T, np.ones(60)]), np.column_stack([new, np.ones(4)])
    rest = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    spread = np.sqrt(rest @ rest / 58 * (1 + np.einsum("ij,jk,ik->i", B, np.linalg.inv(A.T @ A), B)))
    reach = stats.t.ppf(0.5 + confidence / 2, 58) * spread
    low, high = model.predict_interval(new[:, None], confidence)
    middle = model.predict(new[:, None])
    np.testing.assert_allclose(middle - low, reach, rtol=1e-8)
    np.testing.assert_allclose(high - middle, reach, rtol=1e-8)


def test_the_interval_holds_as_many_as_it_says():
    rng = np.random.default_rng(5)
    x, new = rng.uniform(0, 4, 100), rng.uniform(0, 4, 4000)
    model = fitted("a*exp(-b*x) + c", x[:, None], 2 * np.exp(-x) + 1 + 0.1 * rng.normal(size=100))
    y = 2 * np.exp(-new) + 1 + 0.1 * rng.normal(size=4000)
    for confidence in (0.5, 0.9):
        low, high = model.predict_interval(new[:, None], confidence)
        assert np.mean((low < y) & (y < high)) == pytest.approx(confidence, abs=0.06)


def test_the_unit_of_the_weights_does_not_change_an_interval():
    one, other = (
        np.array(fitted("a*x + b", T[:, None], DECAY, sample_weight=k * (1 + T)).predict_interval(T[:, None]))
        for k in (1, 100)
    )
    np.testing.assert_allclose(one, other)


# ---- mistakes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("a*foo(x)", "unknown function 'foo'"),
        ("a*sine(x)", "unknown function 'sine'; did you mean 'sin'"),
        ("a*x +", "ends where an operand is due"),
        ("a*x)", "never opened"),
        ("a x", "a product needs its \\*"),
        ("", "the formula is empty"),
        ("lambda*x", "'lambda' is a word of Python's own"),
        ("k*speed (m/s)", "unknown function 'speed'"),
    ],
)
def test_a_form_that_is_none(form, message):
    with pytest.raises(ParseError, match=message):
        fitted(form, T[:, None], DECAY)


def test_a_form_must_be_text():
    with pytest.raises(TypeError, match="must be text, got int"):
        fitted(3, T[:, None], DECAY)


@pytest.mark.parametrize(
    ("form", "X"),
    [
        ("a*exp(-b*t)", T[:, None]),
        ("a*x + b*z", np.column_stack([T, S])),
        ("a*temprature + b", pd.DataFrame({"temperature": T})),
    ],
)
def test_a_form_that_names_no_column_is_a_mistake(form, X):
    with pytest.raises(ValueError, match=r"has none of the columns \((x1|temperature).*would be constants"):
        fitted(form, X, DECAY)


@pytest.mark.parametrize("names", [["t"], ["t", "t"], ["t", "s", "u"]])
def test_names_that_do_not_fit(names):
    with pytest.raises(DataError, match="names must be 2 different names, one per column of X"):
        fitted("k*t", np.column_stack([T, S]), DECAY, names=names)


def test_names_are_a_list_for_a_table_that_has_none():
    for X, names in ((np.column_stack([T, S]), "ts"), (pd.DataFrame({"time (s)": T}), ["t"])):
        with pytest.raises(ValueError, match="names must be a list of names for an X that has none"):
            fitted("k*t", X, DECAY, names=names)


# ---- constants by category ------------------------------------------------------------------------------------


def sites(rows=60, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"my site": rng.choice(["New York", "a[1]", "Oslo"], rows), "t": rng.uniform(0, 5, rows)})
    level = frame["my site"].map({"New York": 1.0, "a[1]": 2.0, "Oslo": 3.5})
    rate = frame["my site"].map({"New York": 0.5, "a[1]": 0.9, "Oslo": 0.3})
    return frame, level + 3 * np.exp(-rate * frame["t"])


def test_constants_by_category_come_back_from_a_file_and_predict(tmp_path):
    frame, y = sites()
    model = PruneSymRegressor().fit_form("a[my_site] + b*exp(-k[my_site]*t)", frame, y)
    values = dict(zip(model.constants_["name"], model.constants_["value"], strict=True))
    assert values == pytest.approx(
        {
            "a[my_site=New York]": 1.0, "a[my_site=Oslo]": 3.5, "a[my_site=a(1)]": 2.0, "b": 3.0,
            "k[my_site=New York]": 0.5, "k[my_site=Oslo]": 0.3, "k[my_site=a(1)]": 0.9,
        }
    )  # fmt: skip
    assert str(model.best_) == "y = a[my_site] + 3*exp(-k[my_site]*t)"
    model.save(tmp_path / "model.json")
    again = PruneSymRegressor.load(tmp_path / "model.json")
    assert again.predict(frame) == pytest.approx(y.to_numpy())
    assert str(again.best_) == str(model.best_)


def test_error_bars_by_category_are_those_of_each_category_alone():
    """Without a shared constant, each category is a fit of its own, but for the variance that all share."""
    frame, y = sites(rows=90)
    y = y + np.random.default_rng(1).normal(0, 0.05, 90)
    both = PruneSymRegressor().fit_form("a[my_site] + b[my_site]*t", frame, y).constants_.set_index("name")
    here = frame["my site"] == "Oslo"
    alone = PruneSymRegressor().fit_form("a + b*t", frame.loc[here, ["t"]], y[here]).constants_.set_index("name")
    ratio = both.loc["a[my_site=Oslo]", "standard_error"] / alone.loc["a", "standard_error"]
    assert both.loc["b[my_site=Oslo]", "value"] == pytest.approx(alone.loc["b", "value"])
    assert both.loc["b[my_site=Oslo]", "standard_error"] / alone.loc["b", "standard_error"] == pytest.approx(ratio)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("a[place]*t", r"a\[place\] must have a column of X in its brackets \(my_site, t\), got 'place'"),
        ("a[t]*t", r"'t' must be a column of categories, as in a\[t\], or one of numbers, not both"),
    ],
)
def test_an_index_that_is_no_column_of_categories(form, message):
    frame, y = sites()
    with pytest.raises(ValueError, match=message):
        PruneSymRegressor().fit_form(form, frame, y)


def test_an_index_needs_a_frame():
    with pytest.raises(DataError, match="X must be a frame with names"):
        PruneSymRegressor().fit_form("a[site]*x", np.ones((5, 1)), np.arange(5.0))
