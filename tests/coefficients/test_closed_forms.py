import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prunesymnet.coefficients.closed_forms import closed_forms, simplest_fraction
from prunesymnet.coefficients.description import formula_bits
from prunesymnet.expression import parse
from prunesymnet.expression.canonical.terms import constant_value

KNOWN = [
    (0.2, "1/5"), (-1.5, "-3/2"), (math.pi, "pi"), (-math.pi / 2, "-pi/2"), (2 / math.pi, "2/pi"),
    (1 / (4 * math.pi), "1/(4*pi)"), (3 / (20 * math.pi), "3/(20*pi)"), (1 / (8 * math.pi**2), "1/(8*pi**2)"),
    (math.sqrt(2), "sqrt(2)"), (math.sqrt(3) / 2, "sqrt(3)/2"), (1 / math.sqrt(2 * math.pi), "1/(sqrt(2)*sqrt(pi))"),
    (math.e, "exp(1)"), (2 / math.e, "2*exp(-1)"), (1 / 3, "1/3"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), KNOWN)
def test_known_constants(value, text):
    first = closed_forms(value, 1e-12 * abs(value))[0]
    assert constant_value(first) == pytest.approx(value, rel=1e-14)
    assert formula_bits(first) <= formula_bits(parse(text))


@pytest.mark.parametrize("value", [0.547237485, 3.39, 213.809, 1.2345678, 17.77])
def test_other_numbers_have_none(value):
    assert closed_forms(value, 1e-9 * value) == []


@given(st.floats(0.01, 100), st.floats(1e-9, 0.1))
def test_every_form_is_within_the_tolerance(value, tolerance):
    for form in closed_forms(value, tolerance) + closed_forms(-value, tolerance):
        assert abs(abs(constant_value(form)) - value) <= tolerance * (1 + 1e-9)


@given(st.floats(1e-3, 1e3), st.floats(1e-6, 1.0))
def test_the_simplest_fraction_is_inside_and_simplest(low, width):
    high = low + width
    found = simplest_fraction(low, high)
    assert Fraction(low) <= found <= Fraction(high)
    for q in range(1, min(found.denominator, 300)):
        assert math.ceil(Fraction(low) * q) > Fraction(high) * q


def test_bits_grow_with_the_form():
    order = ["x", "2*x", "x/5", "17*x/5", "pi*x/5"]
    lengths = [formula_bits(parse(text)) for text in order]
    assert lengths == sorted(lengths)
