"""Which formulas are dimensionally sound."""

import pytest
from hypothesis import given

from prunesymnet.expression import parse
from prunesymnet.units import TableUnits, is_sound
from strategies import expressions

UNITS = {"m": "kg", "v": "m/s", "u": "m/s", "t": "s", "a": "rad", "E": "J"}
NAMES = ("m", "v", "u", "t", "a")
CARRY, PURE = (TableUnits.of(UNITS, NAMES, "E", constants=constants) for constants in (True, False))


@pytest.mark.parametrize(
    "text",
    [
        "m*v**2/2",
        "m*(v**2 + u**2)*sin(a)",
        "m*sqrt(v**2*u**2 + v**4)",
        "m*v*u*exp(-v/u)",
        "m*u**2*(v/u)**1.73",
        "m*u**2*(log(v) - log(u))",
        "m*u**2*exp(0.5*log(v/u))",
        "m*exp(log(u)*2)",
        "m*(v - u)**2*(1 + a)",
        "m*v*u*min(v/u, 1)",
    ],
)
def test_what_needs_no_unit_of_a_constant_is_sound_either_way(text):
    assert is_sound(parse(text), CARRY)
    assert is_sound(parse(text), PURE)


@pytest.mark.parametrize(
    "text",
    [
        "3.5*t",
        "2.0*t + 3.0",
        "m*v**2*exp(-0.1*t)",
        "1.5*m**0.7",
        "0.3*log(t) + 1.2",
        "2.0*sin(3.0*t + 1.0)",
        "1/(t + 2.0)",
    ],
)
def test_what_needs_one_is_sound_only_if_constants_may_carry_it(text):
    expression = parse(text) if text != "1/(t + 2.0)" else parse("1.0/(t + 2.0)")
    assert is_sound(expression, CARRY)
    assert not is_sound(expression, PURE)


@pytest.mark.parametrize(
    "text",
    [
        "m",
        "m*v**2 + t",
        "m*v**2*exp(t)",
        "m*v**2*sin(m)",
        "m*v**2*(1 + t)",
        "m*v**2*2**t",
        "m*v**a",
        "log(t)",
        "max(t, m*v**2)",
    ],
)
def test_exact_numbers_carry_nothing(text):
    assert not is_sound(parse(text), CARRY)
    assert not is_sound(parse(text), PURE)


def test_a_target_of_unknown_unit_may_have_any():
    units = TableUnits.of({"t": "s"}, ("t",), "y")
    assert is_sound(parse("t**2"), units)
    assert not is_sound(parse("t + t**2"), units)


@given(expressions())
def test_without_dimensions_everything_is_sound(expression):
    units = TableUnits.of({"w": "1"}, expression.variables, "w", constants=False)
    assert is_sound(expression, units)
