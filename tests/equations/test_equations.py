"""Equations and fronts: predictions, intervals and errors against textbook formulas and scipy; how they are shown."""

import copy
import math
import pickle
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

from prunesymnet.coefficients import fit
from prunesymnet.coefficients.fit import measure
from prunesymnet.data import load_example, make_dataset
from prunesymnet.equations import Equation, Front
from prunesymnet.expression import parse
from prunesymnet.operators import make_operator


def equation(text, data, **options):
    return Equation.of(fit(parse(text), data, **options), data)


def line(rows=25, seed=0, weights=None):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 10, rows)
    return make_dataset(x, 2.5 * x - 1 + rng.normal(size=rows), names=["x"], target="t", weights=weights)


HUBBLE = load_example("hubble")
LINE = line()
SINC = make_operator("sinc", np.sinc)


def test_an_equation_is_called_by_its_name_rounded_or_not():
    assert equation("1.0*distance", HUBBLE).known_as.startswith("proportionality; also")
    assert equation("1.0*distance**2 + 1.0*distance**3", HUBBLE).known_as == ""
    balmer = load_example("balmer")
    assert equation("364.0*n**2/(n**2 - 4)", balmer).known_as == "Balmer's series"
    assert equation("364.0*n**2/(n**2 - 4.1)", balmer).known_as == "Balmer's series"
    named = Equation.of(fit(parse("H*distance"), HUBBLE, parameters=["H"]), HUBBLE)
    assert named.known_as.startswith("proportionality; also")
    assert copy.deepcopy(named).known_as == named.known_as


# ---- constants, by name -----------------------------------------------------------------------------------------


def test_exponents_are_as_they_are_written_where_constants_are_free_again():
    x = np.linspace(1, 5, 30)
    data = make_dataset(x, 2 * np.sqrt(x) * (1 + 0.01 * np.sin(17 * x)), names=["x"])
    found = replace(measure(parse("2.0*sqrt(x)"), data), before_rounding=parse("2.0*x**0.51"))
    law = Equation.of(found, data)
    assert law.free_form.constants[1] != 0.5
    assert law.free_form_as_written.constants == (2.0, 0.5)


def test_the_names_of_constants_lead_to_their_places():
    law = equation("1.0*distance + 1.0", HUBBLE)
    assert str(law) == "velocity = 454.158*distance + (-40.7836)"
    assert law.named_text() == "velocity = c1*distance + c2"
    written = Equation.of(replace(fit(parse("450.0*distance - 40.0"), HUBBLE)), HUBBLE)
    assert str(written) == "velocity = 454.158*distance - 40.7836"
    assert written.named_text() == "velocity = c1*distance - c2"
    assert [str(c) for c in written.constants] == [
        "c1 = 454 ± 75  (95%: 298 to 610)",
        "c2 = 41 ± 83  (95%: -132 to 214)",
    ]


def test_the_constant_of_gravity_has_its_digits():
    rng = np.random.default_rng(0)
    M, m, r = rng.uniform(1e3, 1e4, (3, 50))
    exact = 6.674e-11 * M * m / r**2
    noisy = make_dataset(np.column_stack([M, m, r]), exact * (1 + 0.01 * rng.normal(size=50)), names=["M", "m", "r"])
    law = equation("1e-10*M*m/r**2", noisy)
    assert law.named_text() == "y = c1*M*m/r**2"
    assert re.fullmatch(r"c1 = \(6\.\d+ ± 0\.0\d+\)e-11  \(95%: 6\.\d+e-11 to 6\.\d+e-11\)", str(law.constants[0]))
    known = Equation.of(
        measure(parse("6.674e-11*M*m/r**2"), replace_target(noisy, exact)), replace_target(noisy, exact)
    )
    assert str(known.constants[0]).startswith("c1 = 6.674e-11 ± ")
    assert "0.000000" not in str(known.constants[0])


def replace_target(data, y):
    return make_dataset(data.X, y, names=data.names)


def test_named_constants_keep_their_names_and_others_avoid_those_of_columns():
    data = make_dataset(LINE.X, LINE.y, names=["c1"], target="c2")
    law = equation("a*c1 + 1.0", data, parameters=["a"])
    assert law.named_text() == "c2 = a*c1 + c3"
    assert [constant.name for constant in law.constants] == ["a", "c3"]


def test_a_constant_that_the_data_do_not_determine_says_so():
    law = equation("1.5*exp(2.5)*x + 1.0", LINE)
    assert str(law.constants[0]).endswith(", not determined by the data")


# ---- values and intervals -------------------------------------------------------------------------------------


def textbook(data, at, confidence=0.95):
    """The least-squares line: its value and the half width of the prediction interval at new points."""
    A = np.column_stack([data.columns["x"], np.ones(data.rows)])
    W = np.eye(data.rows) if data.weights is None else np.diag(data.weights)
    inverse = np.linalg.inv(A.T @ W @ A)
    beta = inverse @ A.T @ W @ data.y
    residual = data.y - A @ beta
    s2 = residual @ W @ residual / (data.rows - 2)
    new = np.column_stack([at, np.ones(len(at))])
    reach = stats.t.ppf(0.5 + confidence / 2, data.rows - 2)
    scatter = s2 if data.weights is None else s2 / data.weights.mean()  # of a measurement that weighs as the others do
    half = reach * np.sqrt(scatter + s2 * np.einsum("ni,ij,nj->n", new, inverse, new))
    return new @ beta, half, s2 * inverse, beta


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("weights", [None, np.linspace(0.2, 3, 25)])
def test_a_line_has_the_textbooks_confidence_band(confidence, weights):
    data = line(weights=weights)
    at = np.array([-3.0, 0.0, 4.2, 50.0])
    value, _, spread, _ = textbook(data, at, confidence)
    new = np.column_stack([at, np.ones(len(at))])
    half = stats.t.ppf(0.5 + confidence / 2, 23) * np.sqrt(np.einsum("ni,ij,nj->n", new, spread, new))
    low, high = equation("1.0*x + 1.0", data).interval({"x": at}, confidence, mean=True)
    np.testing.assert_allclose(low, value - half, rtol=1e-6)
    np.testing.assert_allclose(high, value + half, rtol=1e-6)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("weights", [None, np.linspace(0.2, 3, 25)])
def test_a_line_has_the_textbooks_prediction_interval(confidence, weights):
    data = line(weights=weights)
    law = equation("1.0*x + 1.0", data)
    at = np.array([-3.0, 0.0, 4.2, 50.0])
    value, half, spread, beta = textbook(data, at, confidence)
    np.testing.assert_allclose(law.predict({"x": at}), value, rtol=1e-9)
    low, high = law.interval({"x": at}, confidence)
    np.testing.assert_allclose(low, value - half, rtol=1e-7)
    np.testing.assert_allclose(high, value + half, rtol=1e-7)
    np.testing.assert_allclose(law.covariance, spread, rtol=1e-7)
    reach = stats.t.ppf(0.5 + confidence / 2, data.rows - 2)
    for estimate, center, error in zip(law.estimates(confidence), beta, np.sqrt(np.diag(spread)), strict=True):
        np.testing.assert_allclose(estimate.value, center, rtol=1e-9)
        np.testing.assert_allclose(estimate.standard_error, error, rtol=1e-7)
        np.testing.assert_allclose([estimate.low, estimate.high], [center - reach * error, center + reach * error])


def test_a_form_with_named_constants_agrees_with_curve_fit():
    rng = np.random.default_rng(1)
    x = np.linspace(0, 4, 60)
    y = 2 * np.exp(-1.5 * x) + 0.5 + 0.05 * rng.normal(size=60)
    data = make_dataset(x, y, names=["x"])

    def model(x, a, b, c):
        return a * np.exp(-b * x) + c

    law = equation("a*exp(-b*x) + c", data, parameters=["a", "b", "c"])
    best, spread = optimize.curve_fit(model, x, y, p0=[1, 1, 1])
    assert [estimate.name for estimate in law.constants] == ["a", "b", "c"]
    np.testing.assert_allclose([law.parameters[name] for name in "abc"], best, rtol=1e-6)
    np.testing.assert_allclose(law.covariance, spread, rtol=1e-4)
    at = np.array([0.3, 2.0, 6.0])
    a, b, _ = best
    J = np.stack([np.exp(-b * at), -a * at * np.exp(-b * at), np.ones(3)])
    s2 = np.sum((y - model(x, *best)) ** 2) / 57
    half = stats.t.ppf(0.975, 57) * np.sqrt(np.einsum("in,ij,jn->n", J, spread, J) + s2)
    low, high = law.interval({"x": at})
    np.testing.assert_allclose((high + low) / 2, model(at, *best), rtol=1e-6)
    np.testing.assert_allclose((high - low) / 2, half, rtol=1e-4)
    np.testing.assert_allclose(law.predict({"x": at}), model(at, *best), rtol=1e-6)
    assert law.expression.variables == ("x",)
    assert law.complexity == law.expression.complexity


def test_intervals_hold_as_often_as_they_say():
    rng = np.random.default_rng(2)
    inside = {0.95: 0, 0.6: 0}
    trials, new = 600, 5
    for _ in range(trials):
        x = rng.uniform(0, 3, 15)
        data = make_dataset(x, np.exp(0.5 * x) + 0.3 * rng.normal(size=15), names=["x"])
        law = equation("1.0*exp(0.6*x)", data)
        at = rng.uniform(0, 3, new)
        y = np.exp(0.5 * at) + 0.3 * rng.normal(size=new)
        for confidence in inside:
            low, high = law.interval({"x": at}, confidence)
            inside[confidence] += np.sum((low <= y) & (y <= high))
    assert inside[0.95] / (trials * new) == pytest.approx(0.95, abs=0.015)
    assert inside[0.6] / (trials * new) == pytest.approx(0.6, abs=0.04)


def test_an_interval_without_degrees_of_freedom_is_infinite():
    data = make_dataset([1.0, 2.0], [3.0, 7.0], names=["x"])
    law = equation("1.0*x + 1.0", data)
    low, high = law.interval({"x": [1.5]})
    assert (low[0], high[0]) == (-math.inf, math.inf)
    np.testing.assert_allclose(law.predict({"x": [1.5]}), 5.0)


def test_a_constant_that_the_data_do_not_determine_gives_no_finite_interval():
    law = equation("1.0*x + 1.0 + 1.0", LINE)
    low, high = law.interval({"x": [1.0]})
    assert (low[0], high[0]) == (-math.inf, math.inf)
    assert np.isfinite(law.predict({"x": [1.0]})).all()


def test_an_exact_formula_has_an_interval_of_no_width():
    law = equation("x**2/2", make_dataset([1.0, 2.0, 4.0], [0.5, 2.0, 8.0], names=["x"]))
    low, high = law.interval({"x": [3.0]})
    np.testing.assert_array_equal([low, high], 4.5)
    assert law.constants == ()


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 95, "95%", math.nan])
def test_a_confidence_must_be_a_share(confidence):
    with pytest.raises(ValueError, match="confidence must be between 0 and 1"):
        equation("1.0*x", LINE).interval({"x": [1.0]}, confidence)
    with pytest.raises(ValueError, match="confidence must be between 0 and 1"):
        equation("1.0*x", LINE).estimates(confidence)


def test_outside_its_domain_a_formula_has_no_value_and_no_interval():
    law = equation("1.0*log(x) + 1.0", LINE)
    at = {"x": [-1.0, 0.0, 1.0, 1e308]}
    values = law.predict(at)
    np.testing.assert_array_equal(np.isnan(values), [True, True, False, False])
    low, high = law.interval(at)
    np.testing.assert_array_equal(np.isnan(low), [True, True, False, False])
    np.testing.assert_array_equal(np.isnan(high), [True, True, False, False])
    assert np.isnan(equation("1.0*exp(x)", LINE).predict({"x": [1e4]})).all()


def test_a_formula_without_columns_is_repeated_for_each_row():
    law = equation("1.0", LINE)
    np.testing.assert_allclose(law.predict({"x": [1.0, 2.0, 3.0]}), [LINE.y.mean()] * 3)
    low, high = law.interval({"x": [1.0, 2.0, 3.0]})
    assert len(low) == len(high) == 3


# ---- columns --------------------------------------------------------------------------------------------------


def test_columns_may_be_lists_arrays_or_a_frame_with_more_in_it():
    law = equation("1.0*x + 1.0", LINE)
    expected = law.predict({"x": np.array([1.0, 2.0])})
    np.testing.assert_array_equal(law.predict({"x": [1, 2]}), expected)
    np.testing.assert_array_equal(law.predict(pd.DataFrame({"name": ["a", "b"], "x": [1, 2]})), expected)


def test_a_missing_column_is_named():
    law = equation("1.0*x + 1.0", LINE)
    for method in (law.predict, law.interval):
        with pytest.raises(KeyError, match=r"needs the column 'x'; the table has y, z"):
            method({"y": [1.0], "z": [2.0]})


def test_a_missing_column_is_named_in_a_frame_whose_columns_are_numbers():
    with pytest.raises(KeyError, match="needs the column 'x'"):
        equation("1.0*x", LINE).predict(pd.DataFrame(np.zeros((2, 1))))


def test_one_number_for_a_column_is_one_row():
    np.testing.assert_allclose(equation("2*x", LINE).predict({"x": 1.5}), 3.0)


def test_no_rows_give_no_values():
    assert equation("1.0*x", LINE).predict({"x": []}).shape == (0,)


# ---- what is known about it -----------------------------------------------------------------------------------


def test_what_is_known_is_what_numpy_says():
    law = equation("1.0*x + 1.0", LINE)
    A = np.column_stack([LINE.X, np.ones(LINE.rows)])
    squares = np.sum((LINE.y - A @ np.linalg.lstsq(A, LINE.y, rcond=None)[0]) ** 2)
    assert law.loss == pytest.approx(squares / LINE.rows)
    assert law.variance == pytest.approx(squares / (LINE.rows - 2))
    assert law.r2 == pytest.approx(1 - squares / np.sum((LINE.y - LINE.y.mean()) ** 2))
    assert (law.rows, law.names, law.target) == (LINE.rows, ("x",), "t")
    assert math.isnan(law.heldout_r2)


def test_a_fit_that_failed_is_an_equation_too():
    data = make_dataset([-1.0, -2.0, -3.0], [1.0, 2.0, 4.0], names=["x"])
    law = equation("1.0*log(x)", data)
    assert law.loss == math.inf
    assert np.isnan(law.predict(data.columns)).all()
    assert law.constants[0].standard_error == math.inf
    assert law.description_length == math.inf
    str(Front((law,), 0))


@pytest.mark.parametrize(("text", "names"), [("a*x + 1.0", ["a"]), ("1.0*x + 1.0", []), ("a*x + b", ["a", "b"])])
def test_named_constants_and_numbers_are_fitted_alike(text, names):
    law = equation(text, LINE, parameters=names)
    assert law.r2 > 0.9
    assert np.mean((law.predict(LINE.columns) - LINE.y) ** 2) == pytest.approx(law.loss)
    assert set(law.parameters) == set(names)
    assert len(law.constants) == 2
    value, half, *_ = textbook(LINE, [3.0])
    np.testing.assert_allclose(law.interval({"x": [3.0]}), [value - half, value + half], rtol=1e-7)


# ---- copies ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])  # noqa: S301
@pytest.mark.parametrize("used", [False, True])
def test_copies_predict_the_same(copied, used):
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, 30)
    data = make_dataset(x, 3 * np.sinc(x) + 0.1 * rng.normal(size=30), names=["x"])
    form = parse("a*sinc(x)", operators=[SINC])
    laws = [
        equation("1.0*x + 1.0", LINE),
        equation("a*exp(-b*x) + c", LINE, parameters=["a", "b", "c"]),
        Equation.of(fit(form, data, parameters=["a"]), data),
    ]
    front = Front(tuple(laws), 1, "ended", 2.5, 7)
    if used:
        for law in laws:
            law.interval({"x": [1.0]})
    other = copied(front)
    assert (other.chosen, other.status, other.seconds, other.fits) == (1, "ended", 2.5, 7)
    pd.testing.assert_frame_equal(other.table(), front.table(), check_exact=True)
    at = {"x": np.linspace(0.1, 3, 9)}
    for law, same in zip(front, other, strict=True):
        assert (same.form, same.parameters) == (law.form, law.parameters)
        np.testing.assert_array_equal(same.predict(at), law.predict(at))
        np.testing.assert_array_equal(same.interval(at), law.interval(at))
        assert same.constants == law.constants


# ---- fronts ---------------------------------------------------------------------------------------------------

FORMS = ["1.0", "1.0*distance", "1.0*distance + 1.0", "1.0*exp(1.0*distance) + 1.0*distance**2 + 1.0"]
FRONT = Front(tuple(equation(form, HUBBLE) for form in FORMS), 1, "stopped at the time limit", 1.5, 4)


def test_a_front_is_a_sequence_of_equations():
    assert len(FRONT) == 4
    assert list(FRONT) == list(FRONT.equations)
    assert FRONT.best is FRONT[1] is FRONT[-3]
    assert FRONT.target == "velocity"
    for index in (4, -5):
        with pytest.raises(IndexError, match=f"a row of the front, 0 to 3, got {index}"):
            FRONT[index]


@pytest.mark.parametrize("chosen", [-1, 4])
def test_the_chosen_row_must_be_there(chosen):
    with pytest.raises(ValueError, match="chosen must be from 0 to 3"):
        replace(FRONT, chosen=chosen)
    with pytest.raises(ValueError, match="at least one equation"):
        Front((), 0)


def test_the_table_has_one_row_per_equation():
    table = FRONT.table()
    columns = ["complexity", "loss", "r2", "heldout_r2", "description_length", "tie", "equation"]
    assert list(table.columns) == columns
    assert table["complexity"].tolist() == [e.complexity for e in FRONT]
    assert table["loss"].tolist() == [e.loss for e in FRONT]
    assert table["r2"].tolist() == [e.r2 for e in FRONT]
    assert table["description_length"].tolist() == [e.description_length for e in FRONT]
    assert table["heldout_r2"].isna().all()
    assert [parse(text).variables for text in table["equation"]] == [(), *[("distance",)] * 3]


def test_printed_it_is_a_table_that_marks_the_chosen_row():
    lines = str(FRONT).splitlines()
    assert len(lines) == 5
    assert lines[0].endswith("velocity =")
    assert [line.startswith(">") for line in lines] == [False, False, True, False, False]
    for law, shown in zip(FRONT, lines[1:], strict=True):
        assert shown.endswith(law.text())
    assert str(FRONT.best) == f"velocity = {FRONT.best.text()}"
    assert "complexity 3" in repr(FRONT.best)
    assert FRONT.best._repr_latex_().startswith("$\\mathrm{velocity} = ")


def test_near_ties_with_the_chosen_row_are_marked_and_explained():
    tied = replace(FRONT, ties=(0, 2))
    lines = str(tied).splitlines()
    assert [line[0] for line in lines] == [" ", "≈", ">", "≈", " ", "≈"]
    assert lines[-1] == "≈ the data hardly tell this formula from the chosen one"
    assert tied.table()["tie"].tolist() == [True, False, True, False]
    assert "<td>≈ 0</td>" in tied._repr_html_()
    assert "hardly tell" in tied._repr_html_()
    assert "≈" not in str(FRONT) + FRONT._repr_html_()


@pytest.mark.parametrize("ties", [(1,), (4,), (-1,)])
def test_a_tie_must_be_another_row(ties):
    with pytest.raises(ValueError, match="ties must be rows of the front other than the chosen one"):
        replace(FRONT, ties=ties)


def test_a_long_formula_is_cut_unless_it_is_chosen():
    long = equation(" + ".join(f"1.0*sin({k}*distance)" for k in range(1, 15)), HUBBLE)
    short = equation("1.0", HUBBLE)
    cut, whole = (str(Front((short, long), chosen)).splitlines()[-1] for chosen in (0, 1))
    assert cut.endswith("…")
    assert whole.endswith(long.text())
    assert len(cut) < len(whole)


@pytest.mark.parametrize("r2", [1.0, 0.5, 0.9999999, 1 - 1e-16, -3e7, -math.inf, math.nan, -0.00001])
def test_every_share_can_be_shown(r2):
    shown = Front((replace(FRONT[0], r2=r2, heldout_r2=r2),), 0)
    assert "-0.0000" not in str(shown)
    if r2 == 0.9999999:
        assert "1 - 1e-07" in str(shown)
    assert shown._repr_html_().count("<tr") == 2


def test_html_shows_every_row_and_escapes_what_it_shows():
    html = FRONT._repr_html_()
    assert html.count("<tr") == 5
    assert html.count("font-weight:bold") == 1
    assert "▸ 1" in html
    hostile = Front((replace(FRONT[0], target="<script>alert(1)</script>&"),), 0)
    shown = hostile._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;" in shown


def curved(bits):
    """A line and a parabola, fitted to a line with noise, whose descriptions differ by so many bits."""
    one, two = equation("1.0*x + 1.0", LINE), equation("1.0*x**2 + 1.0*x + 1.0", LINE)
    return Front((one, replace(two, description_length=one.description_length + bits)), 0)


@pytest.mark.parametrize("mean", [False, True])
def test_an_interval_of_a_front_knows_other_formulas_that_are_likely(mean):
    near, far = {"x": np.array([5.0])}, {"x": np.array([60.0])}
    own = curved(0).best.interval(far, mean=mean)
    widths = [np.ptp(curved(bits).interval(far, mean=mean)) for bits in (0.0, 3.0, 30.0)]
    assert widths[0] > widths[1] > widths[2] == pytest.approx(np.ptp(own))
    low, high = curved(0).interval(far, mean=mean)
    for part in curved(0):  # as likely as not: both are in it, but for their outermost tails
        assert low < part.predict(far) < high
    assert np.ptp(curved(0).interval(near, mean=mean)) < 2 * np.ptp(curved(0).best.interval(near, mean=mean))


def test_an_interval_of_a_front_of_one_is_its_own_and_there_is_none_where_the_chosen_formula_has_no_value():
    columns = {"x": np.array([1.0, 7.0])}
    np.testing.assert_array_equal(Front((curved(0).best,), 0).interval(columns), curved(0).best.interval(columns))
    with_log = Front((equation("1.0*log(x)", LINE), curved(0).best), 0)
    with_log = replace(
        with_log, equations=(replace(with_log[0], description_length=0.0), replace(with_log[1], description_length=0.0))
    )
    low, high = with_log.interval({"x": np.array([-1.0, 2.0])})
    assert np.isnan([low[0], high[0]]).all()
    assert low[1] < high[1]
    with pytest.raises(ValueError, match="confidence"):
        curved(0).interval(columns, 1.5)
