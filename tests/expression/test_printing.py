"""Writing formulas as text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prunesymnet.expression import evaluate, parse, to_text
from samples import COLUMNS
from strategies import expressions


@pytest.mark.parametrize(
    "text",
    [
        "x", "-x", "2", "-2", "0.5", "1e-05", "1e+16", "-0.0", "pi", "x + y", "x - y - z", "x - (y - z)",
        "x + (y + z)", "x*y/z", "x/(y*z)", "x*(y/z)", "x/(y/z)", "-x*y", "-(x*y)", "x - (-y)", "x*(-y)",
        "x + (-2)", "-(-x)", "-(2)", "-(-2)", "-2**2", "(-2)**2", "(-x)**2", "-x**2", "x**(-2)", "x**(-y)",
        "x**y**z", "(x**y)**z", "(x**2)**3", "x**2**y", "2**x", "x**2.0", "pow(x, 2)", "pow(x, 3)", "x**4",
        "pow(x, 2)**2", "sin(x + y)**2", "id(x)", "inv(x + 1)", "sqrt(x**2)", "exp(-x**2/2)", "(x + y)*(x - y)",
        "(x + y)**2", "(x/y)**2", "2*x**2 + 0.5",
    ],
)  # fmt: skip
def test_a_text_as_short_as_can_be_stays_as_it_is(text):
    assert to_text(parse(text)) == text


def test_digits_round_for_reading():
    tree = parse("3.14159265*x**2.0 - 1234567.0*y + 0.000012345 + 7*z")
    assert to_text(tree, digits=3) == "3.14*x**2 - 1.23e+06*y + 1.23e-05 + 7*z"
    assert to_text(tree, digits=1) == "3*x**2 - 1e+06*y + 1e-05 + 7*z"
    with pytest.raises(ValueError, match="digits must be a whole number >= 1, or None for all of them, got 0"):
        to_text(tree, digits=0)
    assert to_text(tree, digits=15) == "3.14159265*x**2 - 1234567*y + 1.2345e-05 + 7*z"
    assert to_text(parse("0.5*x + 123456789"), digits=2) == "0.5*x + 123456789"  # whole numbers are exact
    assert to_text(parse("x**3.0"), digits=2) == "x**3"
    assert to_text(parse("x - 0.5 + (-0.25)*y"), digits=2) == "x - 0.5 + (-0.25*y)"


@given(expressions(), st.integers(1, 17))
def test_rounded_text_is_close(tree, digits):
    rounded = parse(to_text(tree, digits=digits))
    close = tree.with_constants([float(f"{value:.{digits}g}") for value in tree.constants])
    columns = {name: column[:4] for name, column in COLUMNS.items()}
    np.testing.assert_allclose(evaluate(rounded, columns).values, evaluate(close, columns).values, rtol=1e-9)
