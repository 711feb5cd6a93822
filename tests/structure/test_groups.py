"""Groups found from the data, and none where there is none."""

import numpy as np
import pytest

from contexts import columns_of
from prunesymnet.expression import evaluate, parse
from prunesymnet.structure.exponents import first_vectors
from prunesymnet.structure.find import find_likely_group, find_structure
from prunesymnet.structure.frame import ProductFrame, chance_bits
from prunesymnet.structure.groups import Tried
from prunesymnet.structure.products import Product, find_product
from prunesymnet.structure.quantities import Quantities

ROWS = 120
LAWS = {
    "x**3*y/(exp(x*y/z) - 1)": "x*y/z",
    "x*sin(y)/z": "y",
    "u/(exp(x*y/z) + exp(-x*y/z))": "x*y/z",
    "x*exp(-((y - z)/u)**2)/u": "(y - z)/u",
    "x/(u**2 + y**2 + z**2)": "u**2 + y**2 + z**2",
}


def found_in(text, noise=0.0, scale=None, seed=0):
    columns = columns_of(rows=ROWS, low=1.0, high=4.0, names="uxyz", seed=seed)
    y = evaluate(parse(text), columns).values
    y = y + noise * np.sqrt(np.mean(y**2)) * np.random.default_rng(1).normal(size=ROWS)
    scale = scale or {}
    given = {name: column * scale.get(name, 1.0) for name, column in columns.items()}
    return find_structure(given, y, np.full(ROWS, 1 / ROWS)), columns, y


def same_group(found, text, columns):
    """Whether one is a power of the other."""
    one, two = (np.log(np.abs(evaluate(formula, columns).values)) for formula in (found.groups[0].formula, parse(text)))
    return abs(np.corrcoef(one, two)[0, 1]) > 1 - 1e-12


@pytest.mark.parametrize("law", LAWS)
def test_the_group_of_a_law_is_found_with_noise_and_without(law):
    for noise in (0.0, 0.01):
        found, columns, y = found_in(law, noise)
        assert same_group(found, LAWS[law], columns)
        assert found.unexplained < (0.01 if noise else 1e-3)
        order = np.argsort(found.groups[0].values)
        curve = (y / found.factor.values)[order]
        assert np.abs(np.diff(curve)).sum() < 4 * np.ptp(curve) + 40 * noise * np.abs(curve).max()  # one curve


def test_a_curve_that_saturates_in_a_table_of_many_decades():
    rng = np.random.default_rng(0)
    ends = {"b": (1e-3, 1e1), "n": (1e23, 1e25), "m": (1e-2, 1.0), "t": (1.0, 1e2)}
    columns = {name: np.exp(rng.uniform(*np.log(both), ROWS)) for name, both in ends.items()}
    b, n, m, t = columns.values()
    found = find_structure(columns, n * m * np.tanh(70 * m * b / t), np.full(ROWS, 1 / ROWS))
    assert same_group(found, "m*b/t", columns)
    assert str(found.factor.formula) in ("m*n", "n*m")


def test_two_groups_are_found_where_one_is_not_enough():
    found, _, _ = found_in("x*(cos(y*z/3) + u*cos(y*z/3)**2)")
    assert {str(group.formula) for group in found.groups} == {"y*z", "u"}
    assert str(found.factor.formula) == "x"


def test_units_do_not_matter():
    law = "x**3*y/(exp(x*y/z) - 1)"
    found, columns, _ = found_in(law, scale={"x": 1e-9, "z": 1e12})
    assert same_group(found, LAWS[law], columns)


@pytest.mark.parametrize("law", ["2*x*y/z", "sin(x) + exp(y/3) + log(z)", "x + y*z + exp(u)*z + log(x*u)"])
def test_where_there_is_no_group_none_is_claimed(law):
    assert found_in(law)[0] is None


def test_noise_has_no_group():
    rng = np.random.default_rng(0)
    for k in range(5):
        columns = columns_of(rows=60, low=1.0, high=4.0, names="uxyz", seed=k)
        assert find_structure(columns, rng.normal(size=60), np.full(60, 1 / 60)) is None


def test_few_rows_one_column_and_columns_with_zeros_are_no_error():
    x = np.arange(20.0)
    weights = np.full(20, 1 / 20)
    assert find_structure({"x": x}, x**2, weights) is None
    assert find_structure({"x": x, "y": x[::-1]}, np.exp(x), weights) is None
    assert find_structure({"x": 0 * x, "y": 0 * x}, x, weights) is None


def test_chance_is_that_of_the_f_test():
    from scipy.stats import f

    left, freedom, count = 0.4, 50, 6
    statistic = (1 / left - 1) * (freedom - count) / count
    assert np.isclose(chance_bits(left, freedom, count), -np.log2(f.sf(statistic, count, freedom - count)))


def test_differences_are_of_the_tables_own_numbers():
    x, y = np.linspace(1, 2, 9), np.linspace(5, 3, 9)
    made = Quantities.of({"x": x / 1e3, "y": y}).with_differences({"x": x / 1e3, "y": y}, {"x": 1e3})
    np.testing.assert_allclose(made.values[2], x - y)
    assert [str(formula) for formula in made.shown[2:]] == ["x - y", "x + y"]


def test_of_columns_that_are_far_apart_differences_are_of_equal_sizes():
    x, y = np.linspace(1, 2, 9), np.linspace(5, 3, 9)
    made = Quantities.of({"x": x, "y": y}).with_differences({"x": x, "y": y}, {"x": 1e-20, "y": 1e3})
    np.testing.assert_allclose(made.values[2], x - y)
    assert [str(formula) for formula in made.formulas[2:]] == ["x - y", "x + y"]
    assert [str(formula) for formula in made.shown[2:]] == ["x - 1e-23*y", "x + 1e-23*y"]


@pytest.mark.parametrize("law", [law for law in LAWS if "-" in LAWS[law] or "+" in LAWS[law]])
def test_groups_with_sums_are_found_in_any_units(law):
    columns = columns_of(rows=ROWS, low=1.0, high=4.0, names="uxyz")
    y = evaluate(parse(law), columns).values
    units = {"u": 1e-9, "x": 1e5, "y": 1e20, "z": 1e-12}
    found = find_structure(columns, y, np.full(ROWS, 1 / ROWS), units)
    table = {name: column * units[name] for name, column in columns.items()}
    assert same_group(found, LAWS[law], columns)
    in_table = evaluate(found.groups[0].shown, table).values
    assert np.ptp(in_table / found.groups[0].values) < 1e-9 * np.abs(in_table / found.groups[0].values).max()


def test_a_product_of_two_functions_is_found_where_no_group_is():
    found, _, y = found_in("exp(-(x - 2)**2)/(1 + (y - 2)**2)")
    assert isinstance(found, Product)
    assert {str(group.formula) for group in found.groups} == {"x", "y"}
    made = found.factor.values * found.curves[0] * found.curves[1]
    np.testing.assert_allclose(made, y, atol=0.01 * y.max())


def test_the_product_in_front_of_two_functions_may_have_powers_of_their_columns():
    columns = columns_of(rows=ROWS, low=1.0, high=2.0, names="uvxyz")
    columns |= {"u": columns["u"] + 1.5, "x": columns["x"] + 1.5}  # of the same sign in all rows: u - v and log(x/y)
    y = evaluate(parse("z*(u - v)/log(x/y)"), columns).values
    weights = np.full(ROWS, 1 / ROWS)
    frame = ProductFrame.of(columns, y, weights, evenly=True)
    found = find_product(Tried.of(frame, frame.columns, first_vectors(frame.columns.columns)))
    assert {group.formula.variables for group in found.groups} == {("u", "v"), ("x", "y")}
    assert sum(name in found.factor.formula.variables for name in "uv") == 1
    made = found.factor.values * found.curves[0] * found.curves[1]
    np.testing.assert_allclose(made, y, rtol=0.01)


def test_a_group_that_is_likely_can_be_tried_where_none_is_sure():
    columns = columns_of(rows=48, low=1.0, high=4.0, names="uxyz")
    y = evaluate(parse("u*log(1 + x*y/z)"), columns).values
    weights, noise = np.full(48, 1 / 48), np.random.default_rng(3).normal(size=48)
    likely = find_likely_group(columns, y * (1 + 0.01 * noise), weights)
    assert same_group(likely, "x*y/z", columns)
    assert find_likely_group(columns, np.exp(noise), weights) is None
    assert (
        find_likely_group({"x": columns["x"], "y": columns["y"]}, y, weights) is None
    )  # of few columns none is needed
