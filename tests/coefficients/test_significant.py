"""Numbers with the digits that their error leaves: what is printed is what was computed, rounded once."""

import math
import re
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prunesymnet.coefficients.significant import DIGITS_OF_ERROR, MOST_DIGITS, power_of_ten, written

values = st.floats(allow_nan=False, allow_infinity=False)
errors = st.floats(min_value=5e-324, allow_nan=False, allow_infinity=False)
NUMBER = re.compile(r"(-?\d+)(?:\.(\d+))?(?:e([+-]\d+))?")


def read(text):
    """A printed number, exactly, and one unit of its last digit."""
    match = NUMBER.fullmatch(text)
    assert match, text
    whole, part, exponent = match[1], match[2] or "", int(match[3] or 0)
    unit = Fraction(10) ** (exponent - len(part))
    return int(whole + part) * unit if not whole.startswith("-") else -int(whole[1:] + part) * unit, unit


@given(values, errors)
@example(6.674e-11, 3e-14)
@example(0.1, 9.96)
@example(99.96, 0.0999)
@example(1.7e308, 1.7e308)
@example(5e-324, 5e-324)
@example(1.0, 5e-324)
@example(-0.0, 1.0)
def test_value_and_error_are_rounded_to_the_same_place(value, error):
    shown = written(value, error)
    seen, _ = read(shown.value)
    wrong, _ = read(shown.error)
    two_digits = Fraction(10) ** (int(f"{error:.1e}".partition("e")[2]) - DIGITS_OF_ERROR + 1)
    if error > 1e-300:  # of smaller ones, floats themselves lack the second digit
        assert abs(wrong - Fraction(error)) <= two_digits / 2
    assert wrong > 0
    tiny = Fraction(abs(value)) / 10 ** (MOST_DIGITS - 1)  # the error is far below what is shown of the value
    assert abs(seen - Fraction(value)) <= max(Fraction(error) * Fraction(11, 200), tiny)
    assert not shown.value.startswith("-0.") or seen != 0
    assert shown.together.count("±") == 1


@given(st.floats(min_value=-1e6, max_value=1e6), st.floats(min_value=1e-3, max_value=1e3))
def test_the_printed_value_is_within_half_a_unit_of_its_last_digit(value, error):
    seen, unit = read(written(value, error).value)
    wrong, same = read(written(value, error).error)
    assert unit == same
    unit = max(unit, Fraction(10) ** (math.floor(math.log10(float(wrong)) + 1e-9) - 1))  # 4200: the zeros fill up
    assert abs(seen - Fraction(value)) <= unit / 2


@given(values)
def test_an_error_of_zero_is_printed_as_zero_and_no_other(value):
    shown = written(value, 0.0)
    assert shown.error == "0"
    assert float(shown.value) == pytest.approx(value, rel=1e-11)


@pytest.mark.parametrize(
    ("value", "error", "expected"),
    [
        (423.937, 42.123, "424 ± 42"),
        (6.674e-11, 3e-14, "(6.6740 ± 0.0030)e-11"),
        (6.674e-11, 0.0, "6.674e-11 ± 0"),
        (-40.78, 83.4, "-41 ± 83"),
        (3.78e13, 5.1e11, "(3.780 ± 0.051)e+13"),
        (42394.0, 4212.0, "42400 ± 4200"),
        (12345678.0, 12.0, "12345678 ± 12"),
        (1234567.0, 3333.0, "(1.2346 ± 0.0033)e+06"),
        (0.00123, 0.00045, "0.00123 ± 0.00045"),
        (1.5, 1e-13, "1.5 ± 1e-13"),
        (0.0, 0.1, "0.00 ± 0.10"),
        (2.5, math.inf, "2.5 ± inf"),
    ],
)
def test_as_people_write_it(value, error, expected):
    assert written(value, error).together == expected


def test_the_ends_of_an_interval_have_the_same_digits_and_another_power_can_be_written():
    shown = written(6.674e-11, 3e-14, (6.668e-11, math.inf), lambda exponent: f"E{exponent}")
    assert shown.others == ("6.6680E-11", "inf")
    assert power_of_ten(-5) == "e-05"
