"""One formula with other constants in each category."""

from dataclasses import replace

import numpy as np
import pytest

from clocks import Clock
from models import SHORTCUTS
from prunesymnet.coefficients import FitSettings
from prunesymnet.coefficients.by_category import fit_by_category
from prunesymnet.data import make_dataset
from prunesymnet.errors import DataError
from prunesymnet.expression import parse
from prunesymnet.search import Constraints, SearchSettings, search, search_by_category

# Power laws and polynomials alone: what a law of categories needs of a search is a form.
FEW = SHORTCUTS


def table(noise=0.0, categories=3, rows=90, seed=0):
    """y = a[site]*x**2/z, with another a at each site."""
    rng = np.random.default_rng(seed)
    site, x, z = rng.integers(0, categories, rows), rng.uniform(0.5, 3, rows), rng.uniform(1, 2, rows)
    y = np.array([1.0, 2.5, -3.0])[site] * x**2 / z + noise * rng.normal(size=rows)
    places = {str(k): f"site_{k}" for k in range(categories)}
    X = np.column_stack([x, z, *((site == k) * 1.0 for k in range(categories))])
    return make_dataset(X, y, names=["x", "z", *places.values()]), places


@pytest.fixture(scope="module")
def found():
    data, places = table()
    return search_by_category(data, "site", places, FEW)


def test_the_law_is_found_with_what_differs_by_category(found):
    assert "exact" in found.status
    best = found.best
    assert best.text() == "c1[site]*x**2/z"
    values = {constant.name: constant.value for constant in best.constants}
    assert [values[f"c1[site={k}]"] for k in range(3)] == pytest.approx([1.0, 2.5, -3.0])
    assert best.complexity == 6  # each constant once, whatever the number of categories


def test_it_predicts_each_category_by_its_own_constants(found):
    columns = {"x": [2.0, 2.0], "z": [1.0, 1.0], "site_0": [1, 0], "site_1": [0, 1], "site_2": [0, 0]}
    assert found.best.predict(columns) == pytest.approx([4.0, 10.0])


def test_error_bars_are_those_of_each_category():
    data, places = table(noise=0.1)
    best = search_by_category(data, "site", places, FEW).best
    off = [abs(c.value - truth) / c.standard_error for c, truth in zip(best.constants, (1.0, 2.5, -3.0), strict=False)]
    assert best.text().startswith("c1[site]*x**2/z")
    assert max(off) < 4


def test_constraints_hold_in_all_categories():
    data, places = table()
    rules = Constraints(excludes=("z",))
    shown = search_by_category(data, "site", places, replace(FEW, constraints=rules))
    assert all("z" not in equation.expression.variables for equation in shown)


def test_a_law_without_a_constant_that_is_left():
    data, places = table()
    same = data.with_target(data.columns["x"] ** 2 / data.columns["z"], "t")
    best = search_by_category(same, "site", places, FEW).best
    assert best.text() == "x**2/z"
    assert not best.constants


def test_a_table_of_categories_alone_is_refused():
    data = make_dataset(np.repeat(np.eye(2), 10, axis=0), np.arange(20.0), names=["a", "b"])
    with pytest.raises(DataError, match="constants_per must leave a column"):
        search_by_category(data, "site", {"one": "a", "two": "b"}, FEW)
    with pytest.raises(ValueError, match="constants_per needs the columns of a table's categories"):
        search(data, SearchSettings(constants_per="site"))


def test_formulas_are_told_before_the_end_and_what_is_found_is_the_same():
    data, places = table(noise=0.1)
    said = []
    watched = search_by_category(data, "site", places, FEW, watch=said.append)
    assert [str(one) for one in watched] == [str(one) for one in search_by_category(data, "site", places, FEW)]
    assert said[-1].stage == "categories"
    assert said[0].stage != "categories"  # a search of a part of the rows, of which the formula is fitted to all
    assert all(set(places.values()) <= set(update.best.expression.variables) for update in said)
    assert said[-1].best.fit.mse <= said[0].best.fit.mse


def test_a_clock_that_has_run_out_gives_the_first_formula_all_the_same():
    data, places = table(noise=0.1)
    assert search_by_category(data, "site", places, replace(FEW, time_limit=1e-9)).best.r2 > 0.5


def test_a_watcher_ends_it():
    def stop(update):
        raise StopIteration

    data, places = table(noise=0.1)
    shown = search_by_category(data, "site", places, FEW, watch=stop)
    assert shown.status == "stopped by a callback"


def test_a_function_chooses_a_row():
    data, places = table(noise=0.1)
    shown = search_by_category(data, "site", places, replace(FEW, selection=lambda frame: 0))
    assert shown.chosen == 0
    with pytest.raises(ValueError, match="must return a row of the front"):
        search_by_category(data, "site", places, replace(FEW, selection=lambda frame: len(frame)))


@pytest.mark.filterwarnings("ignore:target .* is .* in every row")
@pytest.mark.parametrize("value", [3.0, 0.0])
def test_a_target_that_does_not_vary_is_a_number(value):
    data, places = table()
    shown = search_by_category(data.with_target(np.full(data.rows, value), "t"), "site", places, FEW)
    assert shown.best.text() == f"{value:g}"


def test_the_fits_of_categories_share_the_time_limit(monkeypatch):
    data, places = table(noise=0.1)
    data = data.with_loss("absolute")
    clock = Clock(step=1.0)
    monkeypatch.setattr("time.monotonic", clock)
    form = parse("a[site]*x + b[site]*z + c[site]")
    fit_by_category(form, data, {"site": places}, settings=FitSettings(starts=4, time_limit=30))
    assert clock.now < 150  # looked at once by each fit, and once in each of its steps
