"""Units as texts: what is read, and what is refused."""

import sys
from fractions import Fraction

import pytest

from prunesymnet.errors import UnitError
from prunesymnet.units import parse_unit


@pytest.mark.parametrize("text", ["m/s", "m*s^-1", "m s^-1", "m·s⁻¹", "m * s**-1", "m/s "])
def test_a_unit_can_be_written_in_many_ways(text):
    unit = parse_unit(text)
    assert unit.powers == {"length": 1, "time": -1}
    assert unit.factor == pytest.approx(1)


def test_what_is_derived_is_made_of_the_bases():
    assert parse_unit("J").powers == {"length": 2, "mass": 1, "time": -2}
    assert parse_unit("Hz^0.5").powers == {"time": Fraction(-1, 2)}
    assert parse_unit("km/h").factor == pytest.approx(1 / 3.6)
    assert parse_unit("1/s").powers == {"time": -1}


@pytest.mark.parametrize("text", ["", "1", "-", " dimensionless"])
def test_a_pure_number_has_no_unit(text):
    assert parse_unit(text).powers == {}


def test_degrees_celsius_and_decibels_do_not_begin_at_zero():
    assert not parse_unit("degC").from_zero
    assert not parse_unit("dB").from_zero
    assert parse_unit("degC/m").powers == {"temperature": 1, "length": -1}
    assert parse_unit("delta_degC").from_zero


@pytest.mark.parametrize(
    "text",
    ["metres each day", "USD", "9**9**9", "(9^9)^9", "m+s", "m;s", "__import__('os')", "m" * 100, "12345 m", "m**x"],
)
def test_what_is_no_unit_is_refused(text):
    with pytest.raises(UnitError, match=r"the unit of v, .* is not known"):
        parse_unit(text, "the unit of v")


def test_a_number_is_no_part_of_a_unit():
    with pytest.raises(UnitError, match="has a number in it"):
        parse_unit("3 m")
    with pytest.raises(TypeError, match="a unit must be a text"):
        parse_unit(3)


def test_without_pint_the_extra_is_named(monkeypatch):
    from prunesymnet.units import parsing

    parsing._registry.cache_clear()
    parsing._parsed.cache_clear()
    monkeypatch.setitem(sys.modules, "pint", None)
    with pytest.raises(ImportError, match=r"prunesymnet\[units\]"):
        parse_unit("m")
