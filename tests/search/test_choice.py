"""The choice on real and noisy tables: what a scientist would accept, from candidates that are given by hand where no
search is needed."""

import math

import numpy as np
import pytest

import tables
from prunesymnet.coefficients import fit
from prunesymnet.data import load_example, make_dataset
from prunesymnet.expression import parse, skeleton
from prunesymnet.search import ExhaustiveSettings, SearchSettings, front_of, search
from prunesymnet.search.archive import Archive
from prunesymnet.search.finish import Finish
from prunesymnet.search.fitting import Fitter
from prunesymnet.search.linear_model import linear, linear_models
from prunesymnet.search.rows import Rows

SETTINGS = SearchSettings()


def shown(table, *formulas):
    """The front of some formulas, fitted but not rounded, beside the linear model."""
    return front_of(table, tuple(map(parse, formulas)), SETTINGS)


def finished(table, *formulas):
    """The front after a search that has met these formulas."""
    rows = Rows.of(table, SETTINGS)
    archive = Archive(rows)
    fitter = Fitter(rows, SETTINGS.rules(), archive, 3)
    for text in formulas:
        fitter.improve(fitter.candidate(parse(text), ""))
    return Finish(rows, SETTINGS.rules(), SETTINGS).choose(archive)[1]


def few_fits(count):
    return SearchSettings(time_limit=math.inf, max_fits=count, exhaustive=ExhaustiveSettings(levels=1))


# ---- against the linear model ---------------------------------------------------------------------------


def test_arrhenius_law_is_chosen_though_its_weights_differ_by_many_orders():
    table = tables.nitrogen_pentoxide()
    front = shown(table, "1e13*exp(-12000.0/T)", "1.0*T")
    assert skeleton(front.best.expression) == skeleton(parse("1.0*exp(-2.0/T)"))
    assert front.best.expression.constants == pytest.approx((3.78e13, -12373), rel=0.01)
    assert front.best.r2 > 0.999
    found = search(table, few_fits(200))
    assert skeleton(found.front.best.expression) == skeleton(parse("1.0*exp(-2.0/T)"))


def test_a_constant_is_not_chosen_where_the_quadratic_model_predicts_much_better():
    front = shown(tables.star_cluster(), "1.0", "1.0*temp + 1.0", "1.0*temp + 1.0/temp + 1.0")
    assert front.best.description_length > front[0].description_length  # which is the constant's
    assert skeleton(front.best.expression) == skeleton(parse("2.0*temp + 3.0/temp + 4.0"))


@pytest.mark.parametrize("rows", [12, 35, 100])
@pytest.mark.parametrize("seed", range(4))
def test_in_pure_noise_a_constant_stays_chosen(rows, seed):
    rng = np.random.default_rng(seed)
    table = make_dataset(rng.uniform(1, 3, rows), rng.normal(size=rows), names=["x"], target="t")
    forms = ("1.0", "1.0*x", "1.0*x**2 + 1.0*x + 1.0", "1.0*sin(5.0*x + 1.0) + 1.0", "1.0*exp(x) + 1.0", "1.0/x + 1.0")
    assert not shown(table, *forms).best.expression.variables


@pytest.mark.slow
def test_of_two_hundred_columns_the_one_that_matters_is_chosen():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 200))
    names = [f"g{k}" for k in range(200)]
    table = make_dataset(X, 2 * X[:, 5] + rng.normal(size=500), names=names, target="t")
    assert str(search(table, few_fits(60)).front.best.expression) == "2*g5"


@pytest.mark.parametrize(
    ("table", "formulas"),
    [
        (tables.cars(), ["1.0*speed", "1.0*speed**2", "1.0*speed**1.4"]),
        (tables.stackloss(), ["1.0*air**2*water", "1.0*air**3", "1.0*water**2"]),
        (load_example("hubble"), ["1.0*distance", "1.0*sqrt(distance)"]),
    ],
    ids=["cars", "stackloss", "hubble"],
)
def test_a_line_without_a_useless_offset_is_chosen(table, formulas):
    useless = skeleton(linear(table.names))
    assert useless in [skeleton(row.expression) for row in shown(table, *formulas)]
    for front in (shown(table, *formulas), finished(table, *formulas)):
        assert skeleton(front.best.expression) != useless
        assert len(front.best.expression.constants) <= 1


def test_the_linear_model_is_chosen_where_it_predicts_rows_left_out_better():
    x = np.linspace(0, 1, 60)
    table = make_dataset(x, 5 + x + 0.05 * np.random.default_rng(0).normal(size=60), names=["x"])
    front = shown(table, "1.0", "1.0*exp(x)")
    assert skeleton(front.best.expression) == skeleton(linear(["x"]))
    assert front.best.loss == pytest.approx(linear_models(table)[0].mse)


# ---- one law, one row -------------------------------------------------------------------------------------


def test_a_pole_through_two_rows_is_not_chosen():
    x = np.linspace(0, 10, 60)
    y = 3 * x + np.random.default_rng(2).normal(size=60)
    y[30:32] += 12, -14
    front = shown(make_dataset(x, y, names=["x"]), "3.0*x", "3.0*x + 0.5/(5.2 - x)")
    with_pole = next(e for e in front if e.complexity > 5 and "/" in e.text())
    line = next(e for e in front if e.complexity == 3)
    assert with_pole.description_length < line.description_length - 4
    assert front.best is line


def test_a_law_that_is_rounded_and_the_same_law_as_it_was_fitted_are_one_row():
    x = np.linspace(0, 3, 60)
    table = make_dataset(x, 2 * x + 0.5 + 0.1 * np.random.default_rng(0).normal(size=60), names=["x"])
    front = finished(table, "1.0*x + 0.5", "1.0*x + 1/2", "2*x + 0.5", "2*x + 1/2")
    lines = [row for row in front if skeleton(row.free_form or row.expression) == skeleton(parse("1.0*x + 0.5"))]
    assert len(lines) == 1
    assert len({row.text() for row in front}) == len(front)


def test_keplers_law_is_read_with_three_halves_and_the_free_fit_is_beside_it():
    front = finished(load_example("planets"), "semi_major_axis**1.4", "1.0*semi_major_axis**1.4", "1.0*semi_major_axis")
    assert str(front.best.expression) == "semi_major_axis**(3/2)"
    (exponent,) = front.best.constants
    assert exponent.fitted == pytest.approx(1.49984, abs=5e-6)
    assert exponent.standard_error == pytest.approx(1e-5, rel=0.5)
    assert exponent.rounded_to == "3/2"


def test_the_free_fit_is_beside_a_law_that_also_came_with_its_exponent():
    forms = "1.0*semi_major_axis**(3/2) + 1.0", "1.0*semi_major_axis**1.4"
    for some in (forms, forms[::-1]):
        best = finished(load_example("planets"), *some).best
        assert str(best.expression) == "semi_major_axis**(3/2)"
        assert [constant.rounded_to for constant in best.constants] == ["3/2"]


def test_balmers_law_comes_out_of_an_exponent_that_was_fitted_too():
    front = finished(load_example("balmer"), "91.0*(0.25 - 1/n**2)**(-1.001)", "1.0*n**2 + 1.0*n + 1.0")
    assert str(front.best.expression).startswith("364.599")
    assert skeleton(front.best.expression) == skeleton(parse("364.6/(1 - 4/n**2)"))
    assert front.best.description_length == pytest.approx(-91.2, abs=0.1)


# ---- between the rows -------------------------------------------------------------------------------------

WAVES = ["855.0/cos(sqrt(year))", "1.0*cos(228331.0/year)", "1.0*cos(228331.0/year) + 1.0*year", "1.0*sin(7.3*year)"]


@pytest.mark.parametrize("table", [tables.nile(), tables.carbon_dioxide()], ids=["nile", "co2"])
def test_waves_that_the_rows_do_not_show_are_not_even_on_the_front(table):
    smooth = ["1.0*year**2 + 1.0*year + 1.0", "1.0/year", "1.0"]
    for front in (shown(table, *smooth, *WAVES), finished(table, *smooth, *WAVES)):
        assert not any(wave in str(row.expression) for row in front for wave in ("sin", "cos"))
        assert len(front) > 1


@pytest.mark.parametrize("table", [tables.nile(), tables.carbon_dioxide()], ids=["nile", "co2"])
def test_a_search_shows_nothing_that_the_rows_do_not(table):
    front = search(table, few_fits(150)).front
    between = Rows.of(table, SETTINGS).between
    assert all(math.isfinite(between.penalty(row.expression)) for row in front)
    assert not any(wave in str(front.best.expression) for wave in ("sin", "cos"))


def test_a_phase_is_not_rounded_away_where_the_wave_without_it_is_not_shown():
    year = np.arange(1871.0, 1971.0)
    table = make_dataset(
        year, 10 * np.sin(0.0283 * year) + 3 * np.random.default_rng(0).normal(size=100), names=["year"], target="flow"
    )
    between = Rows.of(table, SETTINGS).between
    assert not math.isfinite(between.penalty(fit(parse("10.0*sin(0.0283*year)"), table).expression))
    front = finished(table, "10.0*sin(0.0283*year + 0.001)", "1.0*year + 1.0")
    assert all(math.isfinite(between.penalty(row.expression)) for row in front)
