"""Products of sums multiplied out: the same values, and a coefficient for every term."""

import numpy as np
import pytest

from prunesymnet.expression import Constant, Variable, apply, evaluate, expanded, parse
from prunesymnet.expression.expanding import MOST_TERMS

SUMS = [
    ("2.0*(1.0*x + 3.0)*(0.5*x - 1.0*y)", "1.0*x**2 - 2.0*x*y + 3.0*x - 6.0*y"),
    ("square(1.0*x + 0.5)", "1.0*x**2 + 1.0*x + 0.25"),
    ("cube(1.0*x + 1.0)", "1.0*x**3 + 3.0*x**2 + 3.0*x + 1.0"),
    ("(1.0*x + 2.0*y)/(4.0*z)", "0.25*x/z + 0.5*y/z"),
    ("1.0*sin((0.5*x + 1.0)*(2.0*x))", "1.0*sin(1.0*x**2 + 2.0*x)"),
    ("1.0/square(1.0*x + 1.0)", "1.0/(x**2 + 2.0*x + 1.0)"),
]
# Constants inside of a factor would be fitted apart in every term.
STAY_TOGETHER = ["1.0*exp(0.5*x)*(x + 2.0)", "1.0*(x + 2.0)/(y + 3.0)"]


@pytest.mark.parametrize(("text", "sum_"), SUMS)
def test_every_term_has_its_coefficient(text, sum_):
    assert expanded(parse(text)) == parse(sum_)


@pytest.mark.parametrize("text", STAY_TOGETHER)
def test_a_factor_with_constants_inside_stays_before_the_sum(text):
    assert expanded(parse(text)) == parse(text)


def test_the_papers_example_has_every_term_that_the_product_has():
    found = expanded(parse("(1.0*x*x + 0.5*y)*(0.3*x + 0.7*log(abs(y)))"))
    assert len(found.constants) == 4
    assert found.variables == ("x", "y")


def test_what_has_too_many_terms_is_refused():
    text = "(1.0*x + 1.0*y + 1.0*z + 1.0)"
    assert expanded(parse(f"{text}*{text}")) is not None
    assert expanded(parse("*".join([text] * 6))) is None
    assert MOST_TERMS < 4**6


@pytest.mark.parametrize("seed", range(40))
def test_the_values_stay(seed):
    """Of formulas as a network writes them, at points where terms do not cancel: all is positive."""
    rng = np.random.default_rng(seed)
    formula = Constant(1.0) * Variable("x")
    for _ in range(4):
        other = Constant(float(rng.uniform(0.5, 2))) * Variable(str(rng.choice(["x", "y"])))
        kind = rng.choice(["+", "*", "/", "square", "exp", "log"])
        weight = Constant(float(rng.uniform(0.1, 0.5)))
        if kind in ("square", "exp"):
            formula = apply(kind, weight * formula) + other
        elif kind == "log":
            formula = apply("log", formula + 1.0) * other
        else:
            formula = apply(kind, weight * formula + 1.0, other)
    columns = {name: rng.uniform(0.5, 1.5, 20) for name in "xy"}
    values, finite = evaluate(formula, columns)
    assert finite.all()
    sums = expanded(formula)
    assert sums is not None
    np.testing.assert_allclose(evaluate(sums, columns).values, values, rtol=1e-9)


def test_polynomials_of_a_network_become_polynomials():
    rng = np.random.default_rng(0)
    a, b, c, d = rng.normal(size=4)
    found = expanded(parse(f"({a}*square({b}*x + {c}) + {d}*x)*({c}*x - {a})*{b}"))
    assert len(found.constants) == 4  # of x**3, x**2, x and 1
