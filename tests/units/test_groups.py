"""Dimensionless groups: exact, as simple as can be, and back again."""

import numpy as np
import pytest

from prunesymnet.expression import evaluate, parse
from prunesymnet.units import TableUnits, find_groups, is_sound

RNG = np.random.default_rng(0)


def found(target="y", columns=None, **units):
    names = [name for name in units if name != target]
    # Of columns with the same unit, the first varies least, and is the measure of the others.
    columns = columns or {name: RNG.permutation(np.linspace(1, 3 + k, 20)) for k, name in enumerate(names)}
    table = TableUnits.of(units, names, target, constants=False)
    return table, columns, find_groups(table, columns)


def test_as_many_columns_go_as_there_are_independent_units():
    _, _, groups = found(G="m^3/(kg*s^2)", m1="kg", m2="kg", r1="m", r2="m", y="J")
    assert len(groups.columns) == 2
    assert str(groups) == "y*r1/(G*m1**2) depends on m2/m1, r2/r1"


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("G*m1*m2*(1/r2 - 1/r1)", {"G": "m^3/(kg*s^2)", "m1": "kg", "m2": "kg", "r1": "m", "r2": "m", "y": "J"}),
        ("q*(F + B*v*sin(a))", {"q": "C", "F": "V/m", "B": "T", "v": "m/s", "a": "1", "y": "N"}),
        ("sqrt(k/m)*exp(-c*t/m)", {"k": "N/m", "m": "kg", "c": "kg/s", "t": "s", "y": "1/s"}),
        (
            "h*w**3/(c**2*(exp(h*w/(k*T)) - 1))",
            {"h": "J*s", "w": "1/s", "c": "m/s", "k": "J/K", "T": "K", "y": "J/m^2"},
        ),
    ],
)
def test_a_sound_formula_is_the_same_in_groups_and_back(text, units):
    table, columns, groups = found(**units)
    formula = parse(text)
    inside = groups.taken_in(formula)
    assert set(inside.variables) <= set(groups.columns)
    values = evaluate(formula, columns).values
    np.testing.assert_allclose(
        evaluate(inside, groups.values(columns)).values * groups.scale(columns), values, rtol=1e-12
    )
    back = groups.put_back(inside)
    np.testing.assert_allclose(evaluate(back, columns).values, values, rtol=1e-12)
    assert is_sound(back, table)


def test_measures_cancel_where_they_are_put_back():
    _, _, groups = found(m="kg", u="m/s", v="m/s", w="m/s", y="J")
    back = groups.put_back(parse("v**2 + w**2 + 1"))
    assert str(back).count("u") == 1
    assert "/" not in str(back)


def test_a_column_that_is_often_zero_is_no_measure():
    columns = {"x": np.array([0.0, 0.0, 1.0, 2.0]), "z": np.array([1.0, 2.0, 3.0, 4.0])}
    _, _, groups = found(x="m", z="m", y="m", columns=columns)
    assert dict(groups.target) == {"z": 1}
    columns["z"] = columns["x"]
    assert found(x="m", z="m", y="m", columns=columns)[2] is None


def test_rows_on_which_a_measure_is_zero_say_nothing():
    columns = {"t": np.arange(10.0), "v": np.r_[0.0, np.full(9, 2.0)]}
    _, _, groups = found(t="s", v="m/s", y="m", columns=columns)
    assert groups.rows(columns).tolist() == [False, *[True] * 9]
    columns["v"] = columns["v"] + 1
    assert dict(found(t="s", v="m/s", u="m/s", y="m/s", columns=columns | {"u": columns["t"]})[2].target) == {"v": 1}


def test_no_root_is_taken_of_what_is_negative():
    columns = {"g": np.array([-1.0, 2.0, 3.0]), "l": np.array([1.0, 2.0, 3.0])}
    assert found(g="m/s^2", l="m", y="s", columns=columns)[2] is None
    columns["g"] = np.abs(columns["g"])
    assert found(g="m/s^2", l="m", y="s", columns=columns)[2] is not None


def test_where_there_is_nothing_to_gain_there_are_none():
    assert found(x="1", z="rad", y="1")[2] is None
    assert found(x="m", y="kg")[2] is None


def test_one_product_may_be_all_that_is_left():
    _, _, groups = found(m="kg", v="m/s", y="J")
    assert not groups.columns
    assert str(groups) == "y/(m*v**2) is a number"
    assert str(groups.put_back(parse("1.0"))) == "m*v**2*1.0"


def test_of_many_columns_those_with_different_units_are_the_measures():
    units = {f"x{k}": "m" for k in range(60)} | {"t": "s", "m": "kg", "y": "J"}
    _, _, groups = found(**units)
    assert len(groups.columns) == 59
    assert {"t", "m"} <= set(groups.target)


def test_several_roots_are_one():
    _, _, groups = found(gamma="1", p="Pa", rho="kg/m^3", y="m/s")
    assert str(groups.put_back(parse("1.5*sqrt(gamma)"))) == "1.5*sqrt(gamma*(p/rho))"
    assert str(groups.put_back(parse("1 + gamma"))) == "(1 + gamma)*sqrt(p/rho)"
