"""The units that constants carry, in those of the table."""

import pytest

from prunesymnet.expression import parse
from prunesymnet.units import TableUnits, units_of_constants


@pytest.mark.parametrize(
    ("text", "units", "expected"),
    [
        ("5.0*x", {"x": "m", "y": "N"}, ("N/m",)),
        ("1.5*x**2", {"x": "m", "y": "J"}, ("J/m^2",)),
        ("1.5*x**2", {"x": "mg/L", "y": "V"}, ("V/(mg/L)^2",)),
        ("1.5/x**2", {"x": "mg/L", "y": "V"}, ("V*(mg/L)^2",)),
        ("3.0*exp(-0.4*t) + 2.0", {"t": "h", "y": "K"}, ("K", "1/h", "K")),
        ("0.5*m*v**2", {"m": "kg", "v": "m/s", "y": "J"}, ("",)),
        ("2.0*x", {"x": "km", "y": "m"}, ("m/km",)),
        ("1.2*x**0.5", {"x": "m", "y": "s"}, ("s/m^(1/2)",)),
        ("1.2*x**0.73", {"x": "m", "y": "s"}, ("s/m^0.73", "")),
        ("0.3*log(x) + 1.2", {"x": "m", "y": "V"}, ("V", "V")),
        ("3.0*v/t", {"v": "m/s", "t": "s", "y": "N"}, ("kg",)),
        ("2.0*x + 1.5", {"x": "mg/L", "y": "1"}, ("L/mg", "")),
        ("2.0*x", {"x": "J/(K*mol)", "y": "1"}, ("K*mol/J",)),
        ("2.0*x", {"x": "kg m/s", "y": "1"}, ("s/(kg m)",)),
        ("2.0*x", {"x": "1/s", "y": "1"}, ("s",)),
        ("2.0*x", {"x": "m / s", "y": "1"}, ("s/m",)),
        ("2.0*x", {"x": "m/s*K", "y": "1"}, ("1/(m/s*K)",)),  # the K is above
        ("2.0*x", {"x": "m/(kg*s)^2", "y": "1"}, ("1/(m/(kg*s)^2)",)),
        ("2.0*x", {"x": "N·m/s", "y": "1"}, ("s/(N·m)",)),
        ("1.5*x**2", {"x": "m^2", "y": "V"}, ("V/(m^2)^2",)),
        ("2.0*sin(3.0*x)*t**2", {"x": "rad", "t": "s", "y": "m"}, ("m/s^2", "")),
        ("8.3*n*T/V", {"n": "mol", "T": "K", "V": "m^3", "y": "Pa"}, ("Pa*m^3/(mol*K)",)),
        ("0.002*d**2*h", {"d": "inch", "h": "ft", "y": "ft^3"}, ("ft^2/inch^2",)),
        ("4.0*sqrt(c)", {"c": "ppm", "y": "count/min"}, ("count/min/ppm^(1/2)",)),  # no powers of ten in front
        ("x + 2.0*t", {"x": "m", "t": "s", "y": "s"}, ("",)),  # not sound
    ],
)
def test_the_unit_of_a_constant_follows_from_the_formula(text, units, expected):
    table = TableUnits.of(units, [name for name in units if name != "y"], "y")
    formula = parse(text)
    if text == "1.2*x**0.5":
        formula = parse("1.2*sqrt(x)")
    assert units_of_constants(formula, table) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2.0*x + 1.5", ("L/mg", "")),
        ("2.0*x/(3.0 + x)", ("", "mg/L")),
        ("2.0*exp(-0.3*x) + 1.5", ("", "L/mg", "")),
        ("x + 1.5", ("mg/L",)),  # the formula tells what the target is measured in
        ("sqrt(x**2 + 1.5)", ("(mg/L)^2",)),
    ],
)
def test_a_target_without_a_unit_counts_as_a_number_where_the_formula_allows_it(text, expected):
    assert units_of_constants(parse(text), TableUnits.of({"x": "mg/L"}, ("x",), "y")) == expected


def test_a_constant_whose_unit_is_open_has_none():
    table = TableUnits.of({"x": "m", "y": "V"}, ("x",), "y")
    assert units_of_constants(parse("a*b*x + c"), table, parameters=["a", "b", "c"]) == ("", "", "V")


def test_constants_that_have_names_may_stand_twice():
    table = TableUnits.of({"t": "s", "y": "m"}, ("t",), "y")
    form = parse("a*exp(-k*t) + a*k*t")
    assert units_of_constants(form, table, parameters=["a", "k"]) == ("m", "1/s")


def test_what_has_no_constants_has_no_units():
    assert units_of_constants(parse("x"), TableUnits.of({"x": "m", "y": "m"}, ("x",), "y")) == ()
