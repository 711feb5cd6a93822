"""The end of a search: which formula is believed, and what the front shows beside it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from clocks import Clock
from prunesymnet.coefficients import covariance, fit
from prunesymnet.coefficients.description import description_length
from prunesymnet.coefficients.fit import measure
from prunesymnet.data import make_dataset
from prunesymnet.equations import Equation, Front
from prunesymnet.errors import NothingFoundError
from prunesymnet.expression import evaluate, parse, skeleton
from prunesymnet.search import Candidate, Constraints, SearchSettings, front_of
from prunesymnet.search.archive import Archive
from prunesymnet.search.finish import Finish
from prunesymnet.search.fitting import Fitter
from prunesymnet.search.rows import Rows

SETTINGS = SearchSettings()


def data(text="x**2 + y", rows=60, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    columns = {name: rng.uniform(-2, 2, rows) for name in "xy"}
    target = evaluate(parse(text), columns).values + noise * rng.normal(size=rows)
    return make_dataset(np.array(list(columns.values())).T, target, names=["x", "y"], target="t")


def finished(table, *formulas, settings=SETTINGS, first=(), **more):
    """What is chosen when the search has met these formulas."""
    rows = Rows.of(table, settings)
    archive = Archive(rows)
    fitter = Fitter(rows, settings.rules(), archive, 3)
    for text in formulas:
        fitter.improve(fitter.candidate(parse(text), ""))
    return Finish(rows, settings.rules(), settings, tuple(map(parse, first)), **more).choose(archive)


def test_an_exact_formula_is_rounded_and_nothing_longer_is_shown():
    best, front = finished(data("2*x**2 + y/3"), "1.0*x + 1.0*y", "1.9*x**2 + 0.3*y", "1.9*x**2 + 0.3*y + 1e-9*sin(x)")
    assert str(best.expression) == "2*x**2 + y/3"
    assert front.best.expression == best.expression
    assert front.chosen == len(front) - 1
    sizes = [equation.complexity for equation in front]
    assert sizes == sorted(sizes)
    assert len(front) > 1  # simpler ones are there to be seen


@pytest.mark.parametrize("used", [1_000, 100])
def test_what_was_rounded_keeps_its_error_bar_also_when_all_rows_are_fitted_last(used):
    table = data("2*x**2 + y/3", rows=300, noise=0.05)
    _, front = finished(table, "1.9*x**2 + 0.3*y", settings=replace(SETTINGS, rows=used))
    assert str(front.best.expression) == "2*x**2 + y/3"
    free = fit(parse("2.0*x**2 + y/3.0"), table)
    expected = np.sqrt(np.diag(covariance(free.expression, table)))
    np.testing.assert_allclose([c.standard_error for c in front.best.constants], expected, rtol=1e-6)
    assert [c.rounded_to for c in front.best.constants] == ["2", "3"]


def test_in_noise_the_shortest_description_is_believed():
    table = data("2*x**2 + y", rows=200, noise=0.3)
    right, wiggly = "1.0*x**2 + 1.0*y", "1.0*x**2 + 1.0*y + 0.01*sin(7.0*x) + 0.01*cos(9.0*y*x)"
    best, front = finished(table, "1.0*x + 1.0*y + 1.0", right, wiggly)
    assert "sin" not in str(best.expression)
    assert front.best.description_length == min(equation.description_length for equation in front)


def test_a_simpler_formula_is_looked_at_though_a_longer_one_does_better_on_the_rows_held_out():
    table = data("2*x**2 + y", rows=40, noise=0.3)
    rows = Rows.of(table, SETTINGS)
    archive = Archive(rows)
    short, long = (fit(parse(text), rows.train) for text in ("2.0*x**2 + 1.0*y", "2.0*x**2 + 1.0*y + 0.1*sin(9.0*x*y)"))
    for found, error in ((short, 1.0), (long, 1e-9)):  # as if the three rows held out were so by chance
        archive.add(Candidate(found, error, ""))
    assert [c.expression for c in archive.by_length()] == [long.expression]
    chosen, _ = Finish(rows, SETTINGS.rules(), SETTINGS).choose(archive)
    assert str(chosen.expression) == "2*x**2 + y"


def test_of_formulas_of_one_size_rounding_decides_where_noise_would():
    rng = np.random.default_rng(3)
    columns = {name: rng.uniform(0.2, 3, 50) for name in "xy"}
    law = columns["y"] * (columns["x"] ** 2 / 5 + 1) ** 3.5
    table = make_dataset(
        np.array([*columns.values()]).T, law + 0.03 * law.std() * rng.normal(size=50), names=["x", "y"], target="t"
    )
    forms = ["0.0036*y*(x**2 + 5.0)**3.5", "0.085*y*(x**2.56 + 3.75)**2.0", "0.06*y*(x**2.5 + 3.9)**2.1"]
    rows = Rows.of(table, SETTINGS)
    fitted = [measure(fit(parse(text), rows.train).expression, rows.used).mse for text in forms[:2]]
    assert fitted[1] != fitted[0]
    best, _ = finished(table, *forms)
    assert str(best.expression) == "y*(x**2/5 + 1)**(7/2)"


def test_where_nothing_is_better_the_linear_model_is_believed():
    table = data("x + y", rows=100, noise=1.0)
    best, _ = finished(table, "1.0*sin(9.0*x)", "1.0*x + 1.0*y + 1.0")
    assert set(best.expression.variables) == {"x", "y"}
    assert "sin" not in str(best.expression)


def test_what_is_not_allowed_is_not_chosen():
    settings = replace(SETTINGS, constraints=Constraints(max_uses={"y": 0}))
    best, front = finished(data(), "1.0*x**2 + 1.0*y", "1.0*x**2 + 1.0", settings=settings)
    assert all("y" not in equation.expression.variables for equation in front)
    assert best.expression.variables == ("x",)
    never = replace(SETTINGS, constraints=Constraints(allow=lambda _: False))
    with pytest.raises(NothingFoundError, match="max_complexity and the constraints"):
        finished(data(), "1.0*x", settings=never)


def test_formulas_of_the_start_stay_as_they_are():
    _, front = finished(data(noise=0.1), "1.0*x + 1.0*y", first=["1.0625*x**2 + y"])
    assert "1.0625*x**2 + y" in [str(equation.expression) for equation in front]


def test_the_front_says_how_each_form_does_on_rows_that_it_has_not_seen():
    table = data(noise=0.1)
    _, front = finished(table, "1.0*x**2 + 1.0*y", "1.0*x**2 + 1.0")
    rows = Rows.of(table, SETTINGS)
    for equation in front:
        again = fit(equation.expression, rows.train)
        assert equation.heldout_r2 == pytest.approx(measure(again.expression, rows.held).r2, abs=1e-6)


def test_of_a_large_table_the_last_fit_is_on_all_rows():
    table = data("2*x**2 + y", rows=300, noise=0.3)
    best, front = finished(table, "1.0*x**2 + 1.0*y + 1.0", settings=replace(SETTINGS, rows=60))
    assert best.mse == pytest.approx(measure(best.expression, table).mse)
    for equation in front:
        assert equation.loss == pytest.approx(measure(equation.expression, table).mse)


def test_a_function_chooses_a_row_of_the_front():
    settings = replace(SETTINGS, selection=lambda table: 0)
    _, front = finished(data(noise=0.1), "1.0*x**2 + 1.0*y", "1.0", settings=settings)
    assert front.chosen == 0
    with pytest.raises(ValueError, match="must return a row of the front, 0 to"):
        finished(data(noise=0.1), "1.0*x**2 + 1.0*y", settings=replace(SETTINGS, selection=lambda table: -1))


def test_a_pole_between_the_rows_makes_a_description_longer_unless_it_is_exact():
    table = data(noise=0.1, rows=40)
    finish = Finish(Rows.of(table, SETTINGS), SETTINGS.rules(), SETTINGS)
    fine, pole = (fit(parse(text), table) for text in ("1.0*x**2 + y", "1.0*x**2 + y + 1e-9/(x - 0.3)"))
    assert finish.length(fine) == description_length(fine, table)
    assert finish.length(pole) > description_length(pole, table)
    table = data("1/x**3")
    finish = Finish(Rows.of(table, SETTINGS), SETTINGS.rules(), SETTINGS)
    exact = measure(parse("1.0/x**3"), table)
    assert finish.length(exact) == description_length(exact, table, noise=finish.no_error)
    assert finish.rows.between.penalty(exact.expression) > 0


@given(far=st.floats(1e13, 1e17), slope=st.floats(0.1, 10))
@hypothesis_settings(max_examples=20)
def test_of_two_exact_formulas_the_shorter_has_the_shorter_description_whatever_rounding_leaves(far, slope):
    table = data(f"{slope}*x + y")
    finish = Finish(Rows.of(table, SETTINGS), SETTINGS.rules(), SETTINGS)
    law = measure(parse(f"{slope * (1 + 1e-14)}*x + y"), table)
    with_a_pole = measure(parse(f"{far}*({slope}*x + y)/({far} - x)"), table)
    assert finish.length(law) < finish.length(with_a_pole)


def ties(table, *formulas, settings=SETTINGS):
    """Which of some formulas are near ties with the first."""
    finish = Finish(Rows.of(table, settings), settings.rules(), settings)
    equations = tuple(Equation.of(fit(parse(text), table), table) for text in formulas)
    return finish.ties(Front(equations, 0))


def near_zero(to, rows=40):
    """A sine between 0 and some phase, with errors of 0.1 in turns above and below it."""
    x = np.linspace(0.02, to, rows)
    return make_dataset(x, 3 * np.sin(x) + 0.1 * (-1) ** np.arange(rows), names=["x"])


def test_formulas_that_the_data_hardly_tell_apart_are_ties():
    forms = "1.0*sin(x)", "1.0*x", "1.0*exp(x)", "1.0*x**2 + 1.0*x + 1.0"
    assert ties(near_zero(0.8), *forms) == (1,)  # near 0 a sine is a line
    assert ties(near_zero(3.0), *forms) == ()


def test_an_exact_formula_has_no_ties():
    x = np.linspace(1, 2, 30)
    assert ties(make_dataset(x, 3 * x, names=["x"]), "1.0*x", "3*x", "1.0*x + 1.0") == ()


def test_what_leaving_rows_out_tells_apart_is_no_tie():
    table = data("x", noise=0.5)
    finish = Finish(Rows.of(table, SETTINGS), SETTINGS.rules(), SETTINGS)
    right, wrong = (Equation.of(fit(parse(text), table), table, length=10.0) for text in ("1.0*x", "1.0*x**2"))
    assert finish.ties(Front((right, wrong), 0)) == ()
    assert finish.ties(Front((right, wrong), 1)) == (0,)


def test_the_front_says_which_rows_are_ties():
    table = near_zero(0.8)
    front = front_of(table, (parse("1.0*sin(x)"), parse("1.0*x")), SETTINGS)
    finish = Finish(Rows.of(table, SETTINGS), SETTINGS.rules(), SETTINGS)
    assert front.ties == finish.ties(front) != ()


def test_ties_stay_ties_when_all_rows_are_fitted_last():
    table, settings = near_zero(0.8, rows=80), replace(SETTINGS, rows=40)
    finish = Finish(Rows.of(table, settings), settings.rules(), settings)
    fits = [fit(parse(text), finish.rows.used) for text in ("1.0", "1.0*x", "1.0*sin(x)")]
    shown = Front(tuple(Equation.of(found, finish.rows.used) for found in fits), 2, ties=(1,))
    _, front = finish.on_all_rows(fits[2], shown)
    assert [front.mark(row) for row in range(3)] == ["", "≈", ">"]


def test_the_front_of_some_formulas_is_fitted_and_not_rounded():
    front = front_of(data("2.123456789*x**2 + y"), (parse("1.0*x**2 + 1.0*y"), parse("1.0*x")), SETTINGS)
    assert front.best.expression.constants == pytest.approx((2.123456789, 1.0))
    assert front.best.r2 == pytest.approx(1)


def test_without_time_a_fitted_formula_comes_out_and_no_row_more_is_looked_at():
    table = data("2.5*x**2 + y", rows=300, noise=0.05)
    settings = replace(SETTINGS, rows=100)
    best, front = finished(table, "1.9*x**2 + 0.3*y", settings=settings, seconds_left=lambda: 0.0)
    assert best.r2 > 0.999
    assert {equation.rows for equation in front} == {100}
    assert np.isnan([equation.heldout_r2 for equation in front]).all()


@pytest.mark.parametrize(("limit", "rows"), [(3.0, 100), (1e3, 300)])
def test_all_rows_are_fitted_last_if_there_is_time(limit, rows):
    """By a clock that goes on by a second at each look: to look at a formula in all rows takes one."""
    table, settings = data("2.5*x**2 + y", rows=300, noise=0.05), replace(SETTINGS, rows=100)
    clock = Clock(step=1.0)
    finish = Finish(Rows.of(table, settings), settings.rules(), settings, seconds_left=lambda: limit - clock())
    found = fit(parse("1.0*x**2 + 1.0*y"), finish.rows.used)
    best, front = finish.on_all_rows(found, Front((Equation.of(found, finish.rows.used),), 0))
    assert front.best.rows == rows
    seen = table if rows == table.rows else finish.rows.used
    assert front.best.loss == pytest.approx(measure(best.expression, seen).mse)


def test_columns_that_were_chosen_by_chance_make_no_linear_model():
    X = np.random.default_rng(0).normal(size=(60, 31))
    table = make_dataset(X, 2 * X[:, 30])
    for names, count in ((table.names[:30], 0), (("x31",), 3), (None, 3)):
        finish = Finish(Rows.of(table, SETTINGS), SETTINGS.rules(), SETTINGS, linear_columns=names)
        assert len(finish.linear_models()) == count


def test_an_exponential_is_chosen_though_only_a_high_power_was_found():
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, 100)
    table = make_dataset(x, np.exp(-(x**2) / 2) + 0.05 * rng.normal(size=100), names=["x"], target="t")
    best, _ = finished(table, "1.0*x", "1e59*(x**2 + 60.0)**(-33.0)")
    assert skeleton(best.before_rounding or best.expression) == skeleton(parse("2.0*exp(-3.0*x**2)"))


def test_a_number_that_the_rows_rule_out_is_not_what_a_constant_is_rounded_to():
    x = np.linspace(1, 5, 40)
    table = make_dataset(x, 2.3 * x + 0.1 * np.cos(17 * x**2), names=["x"])
    finish = Finish(Rows.of(table, SETTINGS), SETTINGS.rules(columns=table.columns), SETTINGS)
    ruled_out, fine = (replace(measure(parse(f"{a}*x"), table), before_rounding=parse("2.3*x")) for a in ("2", "23/10"))
    assert finish.as_rows_allow(ruled_out).expression.constants == pytest.approx([2.3], rel=0.01)
    assert finish.as_rows_allow(fine) is fine
