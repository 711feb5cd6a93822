"""Columns that enter as powers are told from others, with noise and without, and none where there is none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contexts import columns_of
from prunesymnet.expression import evaluate, parse
from prunesymnet.structure.power_columns import Surface, chance_of, find_power_columns

ROWS = 100
LAWS = {  # and the product of powers
    "x*y/(z + u)": "x*y",
    "x**2*exp(-0.4*y)/z": "x**2/z",
    "(x - 0.3*y)/sqrt(z)": "1/sqrt(z)",
    "3*x*log(1 + y*z)/u**2": "x/u**2",
    "-x*(y + z**2)": "x",
}


def found_in(text, noise, rows=ROWS, seed=0):
    columns = columns_of(rows=rows, low=1.0, high=4.0, names="uxyz", seed=seed)
    columns = {name: columns[name] for name in parse(text).variables}
    y = evaluate(parse(text), columns).values
    y = y + noise * np.std(y) * np.random.default_rng(seed).normal(size=rows)
    return find_power_columns(columns, y, np.full(rows, 1 / rows)), columns


def is_multiple(one, two, columns):
    ratio = one / evaluate(parse(two), columns).values
    return np.ptp(ratio) <= 1e-9 * np.abs(ratio).max()


@pytest.mark.parametrize("noise", [0.01, 0.05])
@pytest.mark.parametrize("law", LAWS)
def test_the_product_of_powers_of_a_law_is_found(law, noise):
    hits = 0
    for seed in range(6):
        found, columns = found_in(law, noise, seed=seed)
        hits += bool(found) and is_multiple(found[0].factor.values, LAWS[law], columns)
        for one in found:
            left = {str(group.formula) for group in one.groups}
            assert left == set(columns) - set(one.factor.formula.variables)
            assert all(np.array_equal(group.values, columns[str(group.formula)]) for group in one.groups)
    assert hits >= 4  # what is no more than chance for a test is sometimes one


@pytest.mark.parametrize("text", ["x + y + z", "x*y + z", "x**y", "exp(x) + y*z"])
def test_where_no_column_enters_as_a_power_there_is_none(text):
    wrong = sum(bool(found_in(text, 0.02, seed=seed)[0]) for seed in range(10))
    assert wrong <= 1


def test_a_product_of_powers_alone_leaves_no_column():
    found, columns = found_in("x**2*y/z", 0.01)
    assert all(one.groups for one in found)
    assert all(len(one.groups) < len(columns) for one in found)


def test_tables_that_say_nothing():
    rng = np.random.default_rng(0)
    x, y = rng.uniform(1, 2, (2, 40))
    weights = np.ones(40)
    assert find_power_columns({"x": x}, x**2, weights) == []
    assert find_power_columns({"x": x, "y": y}, rng.normal(size=40), weights) == []  # both signs
    assert find_power_columns({"x": x[:6], "y": y[:6]}, x[:6] * y[:6], weights[:6]) == []  # too few rows
    assert find_power_columns({"x": x - 1.5, "c": np.ones(40)}, x, weights) == []  # one column varies
    assert find_power_columns({"x": x, "y": y}, np.full(40, 3.0), weights) == []


def test_a_column_of_noughts_and_ones_may_be_left():
    rng = np.random.default_rng(1)
    x, group = rng.uniform(1, 5, 120), rng.integers(0, 2, 120).astype(float)
    y = x**2 * (1 + 2 * group) * (1 + 0.03 * rng.normal(size=120))
    (found,) = find_power_columns({"x": x, "group": group}, y, np.ones(120))
    assert str(found.factor.formula) == "x**2"
    assert [str(one.formula) for one in found.groups] == ["group"]


def test_errors_that_are_shares_count_by_their_weights():
    rng = np.random.default_rng(2)
    x, z = np.exp(rng.uniform(-6, 6, (2, 100)))
    y = x * z / (1 + z) * np.exp(0.02 * rng.normal(size=100))  # over ten decades
    (found,) = find_power_columns({"x": x, "z": z}, y, 1 / y**2)
    assert str(found.factor.formula) == "x"


def test_the_surface_is_that_of_a_regression_where_it_is_exact():
    columns = columns_of(rows=60, low=1.0, high=3.0, names="xy")
    logs = np.array([np.ones(60), np.log(columns["x"]), np.log(columns["y"])])
    y = np.exp(np.array([0.3, 1.7, -2.2]) @ logs)
    surface = Surface.of(columns, y, np.ones(60))
    assert surface.left <= 1e-20 * surface.variation
    plain = Surface(columns, y, surface.roots, (), cubes=False)
    assert [round(plain.exponent(name)[0], 9) for name in "xy"] == [1.7, -2.2]


@settings(max_examples=30)
@given(st.floats(0.1, 30.0), st.integers(1, 8), st.integers(3, 80))
def test_the_chance_is_that_of_the_f_distribution(explained, terms, freedom):
    from scipy.stats import f

    assert chance_of(explained, terms, freedom) == pytest.approx(f.sf(explained / terms, terms, freedom), rel=1e-6)
