"""Description length: what formulas, constants and residuals cost."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prunesymnet.coefficients import fit
from prunesymnet.coefficients.description import (
    BITS_PER_SYMBOL,
    IRRATIONAL,
    constant_bits,
    described,
    description_length,
    formula_bits,
    residual_bits,
    rough_length,
)
from prunesymnet.coefficients.fit import measure
from prunesymnet.data import make_dataset
from prunesymnet.expression import canonical, parse
from prunesymnet.expression.factoring import multiplied_out
from strategies import expressions

X = np.linspace(0.1, 3, 50)


def table(y, weights=None):
    return make_dataset(X, y, names=["x"], weights=weights)


def noisy(size=0.1, seed=0):
    return table(2 * np.sin(X) + 1 + size * np.random.default_rng(seed).normal(size=50))


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("x", 0),
        ("x + y", 0),
        ("sin(x)", 0),  # a function of a column is a symbol like others
        ("2.5*x", 0),  # a free constant has a price of its own
        ("x**2", 0),  # a square is one symbol
        ("3*x", math.log2(4)),
        ("(-7)*x", math.log2(8)),
        ("x**4", math.log2(5)),
        ("sqrt(2)*x", IRRATIONAL + math.log2(3)),
        ("pi*x", IRRATIONAL),
    ],
)
def test_what_a_formula_costs(text, more):
    tree = parse(text)
    assert formula_bits(tree) == pytest.approx(BITS_PER_SYMBOL * tree.complexity + more)


@given(expressions(max_leaves=5))
@settings(max_examples=60)
def test_equal_formulas_cost_the_same_once_they_are_canonical(tree):
    once = canonical(tree)
    assert formula_bits(canonical(once)) == formula_bits(once)
    assert formula_bits(tree) >= BITS_PER_SYMBOL * tree.complexity


SPELLINGS = [
    [
        "2.0*exp(-3.0/(x + 0.5))",
        "2.0/exp(3.0/(x + 0.5))",
        "2.0*exp(3.0/(-0.5 - x))",
        "2.0*exp(-1.0/(x/3.0 + 0.5/3.0))",
        "2.0*exp(-6.0/(2*x + 1.0))",
        f"exp({math.log(2)!r} - 3.0/(x + 0.5))",
    ],
    ["2.5*x**2 + 1.5*x", "x*(2.5*x + 1.5)", "2.5*x*(x + 0.6)", "1.5*x + 2.5*x*x"],
    ["1.5*x + 0.75", "0.75 + 1.5*x", "1.5*(x + 0.5)", "(3.0*x + 1.5)/2"],
    ["3.0/(x + 2.0)", "6.0/(2*x + 4.0)", "1/(x/3.0 + 2.0/3.0)"],
    ["2.0*exp(1.5*x)", f"exp(1.5*x + {math.log(2)!r})"],
    ["log(2.0*x)", f"log(x) + {math.log(2)!r}"],
    ["2.0*sqrt(x)", "sqrt(4.0*x)"],
    ["8.0*x**1.5", "(4.0*x)**1.5"],
    ["x**2 + 2*x + 1", "(x + 1)**2", "x*(x + 2) + 1"],
    ["1.5*(x + 1)*exp(x)", "1.5*exp(x)*(1 + x)"],
]


@pytest.mark.parametrize("spellings", SPELLINGS, ids=lambda spellings: spellings[0])
def test_one_formula_has_one_length_however_its_constants_are_spelled(spellings):
    lengths = [description_length(measure(parse(text), noisy()), noisy()) for text in spellings]
    assert lengths == pytest.approx([lengths[0]] * len(spellings), abs=1e-6)


@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.integers(-3, 3), st.integers(-3, 3), st.integers(1, 3)), min_size=1, max_size=3
    )
)
@settings(max_examples=60)
def test_a_polynomial_is_as_long_multiplied_out_as_in_factors(factors):
    product = parse("*".join(f"({a}*x**2 + ({b})*x + ({c}))**{power}" for a, b, c, power in factors))
    data = noisy()
    lengths = [description_length(measure(tree, data), data) for tree in (product, multiplied_out(product))]
    assert lengths[0] == pytest.approx(lengths[1], abs=1e-6)


@pytest.mark.parametrize(
    ("ordinary", "rare", "doublings", "digits"),
    [
        ("x**1.5", "x**8.0", 1, 0),
        ("x**1.5", "x**(-32.0)", 3, 0),
        ("x**1.5", "x**0.03125", 3, 0),
        ("x**4", "x**8", 1, np.log2(9 / 5)),
        ("x**(1/4)", "x**(1/16)", 2, 2),
    ],
)
def test_an_exponent_far_from_one_costs_two_bits_more_for_each_doubling(ordinary, rare, doublings, digits):
    assert formula_bits(parse(rare)) - formula_bits(parse(ordinary)) == pytest.approx(2 * doublings + digits)


def test_the_order_of_terms_costs_nothing():
    one, other = (canonical(parse(text)) for text in ("3*x + sin(y)*x + 2", "x*sin(y) + 2 + x*3"))
    assert formula_bits(one) == formula_bits(other)


def test_residuals_cost_half_a_bit_per_row_and_factor_of_two():
    assert residual_bits(100, 0.25) - residual_bits(100, 1.0) == pytest.approx(-100)
    assert residual_bits(40, [1.0, 2.0]) == pytest.approx([0, 20])
    assert np.isfinite(residual_bits(100, 0.0))


def test_a_constant_costs_what_as_many_rows_determine():
    assert constant_bits(1) == 1
    assert constant_bits(400) - constant_bits(100) == pytest.approx(1)


def test_the_rough_length_is_the_sum_of_its_parts():
    tree = parse("2.5*sin(x) + 1.5")
    expected = formula_bits(tree) + 2 * constant_bits(50) + float(residual_bits(50, 0.01))
    assert rough_length(tree, 50, 0.01) == pytest.approx(expected)


def test_the_length_of_a_fit_is_that_of_formula_constants_and_residuals():
    data = noisy()
    found = fit(parse("1.0*sin(x) + 1.0"), data)
    a, b = found.expression.constants
    # each constant to the precision that the residuals leave, given those before it
    first = np.linalg.norm(np.sin(X))
    second = np.linalg.norm(np.ones(50) - np.sin(X) * (np.sin(X).sum() / first**2))
    digits = [math.log2(1 + abs(c) * size / math.sqrt(found.mse)) + 1 for c, size in ((a, first), (b, second))]
    expected = formula_bits(found.expression) + sum(digits) + float(residual_bits(50, found.mse))
    assert description_length(found, data) == pytest.approx(expected)


def test_the_right_formula_is_shorter_than_a_worse_and_than_a_longer_one():
    data = noisy()
    right, worse, longer = (
        description_length(fit(parse(text), data), data)
        for text in ("1.0*sin(x) + 1.0", "1.0*x + 1.0", "1.0*sin(x) + 1.0 + 0.01*cos(x)*exp(x)*x")
    )
    assert right < worse
    assert right < longer


def test_noise_that_is_of_no_interest_makes_no_difference():
    data = noisy(1e-6)
    close, closer = measure(parse("2.00001*sin(x) + 1"), data), measure(parse("2.000001*sin(x) + 1"), data)
    assert description_length(close, data) > description_length(closer, data)
    lengths = [described(found, data, 1e-3)[0] for found in (close, closer)]
    assert lengths[0] == pytest.approx(lengths[1], abs=1e-3)
    assert described(close, data, 1e-3)[1] == pytest.approx(1e-3 * math.sqrt(np.mean(data.y**2)))


def test_what_is_not_finite_is_infinitely_long():
    data = noisy()
    assert description_length(measure(parse("log(x - 1.0)"), data), data) == math.inf


def test_rows_count_by_their_weights():
    y = 2 * np.sin(X) + 1
    spoiled, weights = y.copy(), np.ones(50)
    spoiled[::10], weights[::10] = 1e6, 0
    data = table(spoiled, weights)
    right, wrong = (description_length(fit(parse(text), data), data) for text in ("1.0*sin(x) + 1.0", "1.0*x + 1.0"))
    assert right < wrong - 100


def test_a_linear_model_says_its_columns():
    whole = formula_bits(parse("1.5*u + 2.5*v + 3.5*w + 4.5*x + 5.5"))
    without_one = formula_bits(parse("1.5*u + 2.5*v + 3.5*w + 5.5"))
    assert whole - without_one == BITS_PER_SYMBOL + 1  # the column, and that its coefficient is free
    assert formula_bits(parse("u + v")) == 3 * BITS_PER_SYMBOL  # is shorter as it stands
    assert formula_bits(parse("1.5*u*v + 2.5*v + 3.5")) == BITS_PER_SYMBOL * parse("1.5*u*v + 2.5*v + 3.5").complexity
