"""Searches that are told the units of a table."""

from dataclasses import replace

import numpy as np
import pytest

from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import Proposal
from prunesymnet.data import make_dataset
from prunesymnet.errors import UnitError
from prunesymnet.expression import parse
from prunesymnet.operators import DEFAULT
from prunesymnet.search import SearchSettings, SearchStatus, search
from prunesymnet.search.ahead import allowed
from prunesymnet.search.archive import Archive
from prunesymnet.search.contexts import Contexts
from prunesymnet.search.fitting import Fitter
from prunesymnet.search.rows import Rows
from prunesymnet.units import TableUnits, is_sound

RNG = np.random.default_rng(0)
COLUMNS = dict(zip("mghv", RNG.uniform(1, 5, (4, 60)), strict=True))
UNITS = {"m": "kg", "g": "m/s^2", "h": "m", "v": "m/s", "E": "J"}
SETTINGS = SearchSettings(units=UNITS, max_fits=400, workers=1)


def table(values, target="E", **columns):
    columns = columns or COLUMNS
    return make_dataset(np.column_stack(list(columns.values())), values, names=list(columns), target=target)


@pytest.mark.parametrize("constant_units", [True, False])
def test_a_law_of_pure_numbers_is_found_by_its_groups(constant_units):
    m, g, h, v = COLUMNS.values()
    found = search(table(m * g * h + m * v**2 / 2), replace(SETTINGS, constant_units=constant_units))
    assert found.status.is_exact
    assert found.fits < 60
    units = SETTINGS.units_of(tuple(COLUMNS), "E")
    assert all(is_sound(equation.expression, units) for equation in found.front)


def test_a_constant_may_carry_a_unit_and_is_not_rounded_then():
    t = np.linspace(0, 10, 60)
    settings = replace(SETTINGS, units={"t": "s", "y": "m"})
    found = search(table(3.0 * np.exp(-0.5 * t), "y", t=t), settings).front.best
    assert str(found) == "y = 3*exp(-0.5*t)"
    assert [constant.unit for constant in found.constants] == ["m", "1/s"]
    assert len(found.expression.constants) == 2  # floats: 3 m is no pure number


def test_where_units_leave_one_product_nothing_else_is_tried():
    m, v = COLUMNS["m"], COLUMNS["v"]
    noisy = m * v**2 / 2 * RNG.normal(1, 0.05, 60)
    settings = replace(SETTINGS, units={"m": "kg", "v": "m/s", "E": "J"}, constant_units=False)
    found = search(table(noisy, m=m, v=v), settings)
    assert found.status in (SearchStatus.NOISE_FLOOR, SearchStatus.FINISHED)
    assert set(found.best.expression.variables) == {"m", "v"}
    assert found.fits < 10


def test_columns_that_are_often_zero_are_searched_by_their_dimensions():
    x = np.maximum(np.linspace(-1, 1, 60), 0.0)  # neither can be a measure of the other
    z = np.roll(x, 17)
    settings = replace(SETTINGS, units={"x": "m", "z": "m", "y": "m^2"}, constant_units=False)
    found = search(table(x**2 + 3 * x * z + 2 * z**2, "y", x=x, z=z), settings)
    assert found.status.is_exact
    assert is_sound(found.best.expression, settings.units_of(("x", "z"), "y"))


def test_times_that_begin_at_zero_are_no_hindrance():
    t, v = np.arange(60.0), RNG.uniform(1, 5, 60)
    a = RNG.uniform(1, 5, 60)
    settings = replace(SETTINGS, units={"t": "s", "v": "m/s", "a": "m/s^2", "y": "m"}, constant_units=False)
    found = search(table(v * t + a * t**2 / 2, "y", t=t, v=v, a=a), settings)
    assert found.status.is_exact


def test_what_can_not_be_is_an_error():
    pure = replace(SETTINGS, units={"m": "kg", "E": "J"}, constant_units=False)
    with pytest.raises(UnitError, match="no product of powers of the columns"):
        search(table(2 * COLUMNS["m"], m=COLUMNS["m"]), pure)
    with pytest.raises(TypeError, match="units must map names"):
        SearchSettings(units=["m"])
    with pytest.raises(ValueError, match="constant_units=False is for tables with units"):
        SearchSettings(constant_units=False)


@pytest.mark.parametrize(("columns", "free"), [(("t",), True), (("t", "x"), False)])
def test_units_rule_out_no_node_of_one_column_where_constants_carry_them(columns, free):
    values = np.random.default_rng(1).uniform(1, 2, (30, len(columns)))
    rows = Rows.of(make_dataset(values, values[:, 0] ** 2, names=list(columns), target="y"), SETTINGS)
    for constants in (True, False):
        units = TableUnits.of({"t": "s", "x": "m", "y": "s"}, columns, "y", constants=constants)
        contexts = Contexts(SETTINGS, units, None, lambda: None, iter)
        (context,) = contexts.all(rows, Archive(rows))
        assert (context.problem.dimensions is None) is (free and constants)
        assert contexts.with_rows(context, rows).problem.dimensions == context.problem.dimensions


def test_what_is_sound_with_weights_is_proposed():
    t = np.linspace(1, 2, 30)
    data = make_dataset(t, t**2, names=["t"], target="y")
    units = TableUnits.of({"t": "s", "y": "m"}, ("t",), "y")
    settings = SearchSettings(max_complexity=20)  # without such rules nothing is left out here
    for told, expected in ((units, ["2.0*exp(t)"]), (replace(units, constants=False), [])):
        rules = replace(settings.rules(), units=told)
        rows = Rows.of(data, settings)
        fitter = Fitter(rows, rules, Archive(rows), settings.fits_per_form)
        proposals = [Proposal(parse("2.0*exp(t)"), 0.5)]
        fine = allowed(proposals, Problem.of(data, DEFAULT, 256, 0), rules, fitter)
        assert [str(proposal.expression) for proposal in fine] == expected
