"""Formulas that are nothing where a column is 0, with a constant less."""

import numpy as np
import pytest

from prunesymnet.expression import canonical, evaluate, parse
from prunesymnet.search.origin import from_nothing

COLUMNS = {"x": np.linspace(0.5, 3.0, 12), "v": np.linspace(2.0, 1.0, 12)}
# A formula as a scan fits it, and how many constants it needs.
BEGIN_AT_NOTHING = {
    "2.0 - 2.01*exp(-0.3*x)": 2,
    "3.0*log(x + 2.0) - 2.1": 2,
    "0.75*log(0.75 - x/8) + 0.21": 2,
    "4.0 - 31.0/(x + 2.8)**2": 2,
    "4.0 - 11.2/(x + 2.8)": 2,
    "5.0*sqrt(x + 4.0) - 10.02": 2,
    "3.2 - 1.7*(x + 3.1)**0.55": 3,
    "1.01 - 1.0*exp(-1.0*(0.3*x)**1.6)": 3,
    "2.0*exp(-0.3*x) - 2.02*exp(-1.3*x)": 3,
    "0.4*x + 2.0*exp(-0.3*x) - 2.02*exp(-1.3*x)": 4,
    "2.0*v - 2.01*v*exp(-0.3*x)": 2,
    "2.0*cos(1.7*x) - 1.98": 2,
}


@pytest.mark.parametrize(("text", "constants"), BEGIN_AT_NOTHING.items(), ids=BEGIN_AT_NOTHING)
def test_what_begins_at_nothing_has_a_constant_less(text, constants):
    found = from_nothing(parse(text), COLUMNS, 0.1)
    assert len(canonical(found).constants) == constants
    values, before = (evaluate(tree, COLUMNS).values for tree in (found, parse(text)))
    assert np.abs(values - before).max() < 0.15  # another constant, and nearly the same curve
    nothing = evaluate(found, {**COLUMNS, "x": np.zeros(12)}).values
    assert np.allclose(nothing, 0.0, atol=1e-12)


@pytest.mark.parametrize("text", BEGIN_AT_NOTHING)
def test_the_unit_of_a_column_makes_no_difference(text):
    in_thousands = parse(text).substitute({"x": 1000.0 * parse("x")})
    found = from_nothing(in_thousands, {**COLUMNS, "x": COLUMNS["x"] / 1000}, 0.1)
    assert len(canonical(found).constants) == BEGIN_AT_NOTHING[text]


@pytest.mark.parametrize(
    "text",
    [
        "2.0 - 1.5*exp(-0.3*x)",  # is 0.5 there
        "2.0 + 2.0*exp(-0.3*x)",
        "2.0*x - 2.0*x**2",  # no term is anything there
        "3.0 - 3.0/x",  # is not finite there
        "2.0 - 2.0*exp(-0.3*x)*v",  # not for every v
        "1.5*x + 0.01",  # a constant that may be 0 is another question
        "1.5*exp(x)",
        "2.5",
        "x",
    ],
)
def test_what_does_not_is_left_alone(text):
    assert from_nothing(parse(text), COLUMNS, 0.1) is None


def test_of_several_terms_those_that_cancel_best_are_taken():
    found = from_nothing(parse("2.0*exp(-0.3*x) - 2.05*exp(-1.3*x) - 2.001*exp(-4.0*x)"), COLUMNS, 0.1)
    assert str(canonical(found)) in ("2.0*(exp(-0.3*x) - exp(-4.0*x)) - 2.05*exp(-1.3*x)",
                                     "2.0*(exp(-0.3*x) - exp(-4*x)) - 2.05*exp(-1.3*x)")  # fmt: skip


def test_what_is_not_finite_there_is_left_alone():
    assert from_nothing(parse("2.0/x - 2.0*exp(-0.3*x)/x"), COLUMNS, 0.1) is None
