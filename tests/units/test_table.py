"""The units of a table: do they fit together, and can the target be made of them?"""

import pytest

from prunesymnet.errors import UnitError
from prunesymnet.units import TableUnits, same_dimension


def table(target="y", constants=False, **units):
    return TableUnits.of(units, [name for name in units if name != target], target, constants=constants)


def test_a_dimension_is_a_number_that_adds_up():
    units = table(v="m/s", m="kg", t="s", y="J")
    made = units.dimension("m") + 2 * units.dimension("v")
    assert same_dimension(units.dimension("y"), made)
    assert not same_dimension(units.dimension("v"), units.dimension("t"))
    assert table(x="rad", y="1").dimension("x") == 0


def test_units_of_one_system_need_no_factors():
    assert table(d="km", t="h", y="km/h").coherent
    assert not table(d="km", t="s", y="m/s").coherent
    assert not table(angle="deg", y="1").coherent
    assert not table(T="degC", y="J").coherent


def test_a_column_without_a_unit_is_a_pure_number():
    units = TableUnits.of({"x": "m"}, ("x", "n"), "y")
    assert units.dimensions["n"] == 0
    assert not units.target_known


@pytest.mark.parametrize(
    ("units", "message"),
    [
        ({"x": "m", "y": "kg"}, "no product of powers of the columns has the unit of 'y', kg"),
        ({"x": "m"}, "the target 'y' has no unit"),
        ({"x": "km", "z": "m", "y": "m"}, "not of one system"),
        ({"T": "degC", "y": "K"}, "does not begin at zero"),
    ],
)
def test_where_pure_numbers_can_not_do_it_says_so_and_what_helps(units, message):
    with pytest.raises(UnitError, match=f"{message}.*let constants carry units"):
        table(**units).check_pure()


def test_where_they_can_there_is_no_error():
    table(x="m", t="s", y="m/s").check_pure()
    table(x="1", y="1").check_pure()
