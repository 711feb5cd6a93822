"""Products of columns, and products of powers of anything."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contexts import columns_of, term
from prunesymnet.bank.bank import Term
from prunesymnet.bank.monomials import monomial_terms, power_law, raised
from prunesymnet.expression import Variable, canonical, evaluate, fingerprint

X = Variable("x")


def test_all_products_up_to_a_degree_are_there_once_and_the_simplest_first():
    columns = columns_of(names="xyz")
    found = monomial_terms(columns, 3)
    assert len(found) == 19  # 3 + 6 + 10
    assert len({fingerprint(tree) for _, tree in found}) == 19
    for values, tree in found:
        np.testing.assert_allclose(values, evaluate(tree, columns).values, rtol=1e-12)
    assert [str(tree) for _, tree in found[:5]] == ["x", "y", "z", "x**2", "x*y"]
    assert [str(tree) for _, tree in monomial_terms(columns, 2)] == [str(tree) for _, tree in found[:9]]


@given(
    st.lists(st.floats(-3, 3).filter(lambda p: abs(p) > 0.01), min_size=1, max_size=3),
    st.floats(1e-3, 1e3).flatmap(lambda c: st.sampled_from([c, -c])),
)
@settings(max_examples=30)
def test_powers_of_positive_factors_are_found(powers, coefficient):
    columns = columns_of(low=0.3, names="xyz"[: len(powers)])
    factors = [term(columns, f"{name} + 1") for name in columns]
    target = coefficient * np.prod([f.values**p for f, p in zip(factors, powers, strict=True)], axis=0)
    formula = power_law(factors, target, np.ones(60), near=0.0)
    np.testing.assert_allclose(evaluate(formula, columns).values, target, rtol=1e-8)


def test_exponents_near_whole_numbers_and_halves_are_made_so():
    columns = columns_of(low=0.3)
    factors = [term(columns, name) for name in columns]
    target = columns["x"] ** 2.1 * columns["y"] ** (-0.45)
    assert str(power_law(factors, target, np.ones(60), near=0.2)).endswith("*x**2*y**(-1/2)")
    assert len(power_law(factors, target, np.ones(60), near=0.01).constants) == 3


def test_a_factor_that_changes_its_sign_needs_a_whole_exponent():
    columns = columns_of()
    factors = [term(columns, "x")]
    cube = power_law(factors, -2 * columns["x"] ** 3, np.ones(60), near=1e-6)
    np.testing.assert_allclose(evaluate(cube, columns).values, -2 * columns["x"] ** 3)
    root = np.abs(columns["x"]) ** 1.4
    assert power_law(factors, root, np.ones(60), near=0.1) is None
    rounded = power_law(factors, root, np.ones(60), near=0.1, near_signed=0.5)
    assert evaluate(rounded, columns).finite.all()


def test_rows_without_weight_may_have_a_factor_of_nought():
    columns = columns_of(low=0.3)
    columns["x"][:5] = 0.0
    weights = (columns["x"] > 0).astype(float)
    formula = power_law([term(columns, "x")], 3 * columns["x"] ** 2, weights, near=1e-6)
    np.testing.assert_allclose(evaluate(formula, columns).values, 3 * columns["x"] ** 2)


def test_a_factor_that_does_not_matter_is_left_out():
    columns = columns_of(low=0.3)
    formula = power_law([term(columns, "x"), term(columns, "y")], columns["x"] ** 2, np.ones(60), near=1e-6)
    assert formula.variables == ("x",)


@pytest.mark.parametrize(
    ("exponent", "text", "free"),
    [
        (1, "x", 0),
        (2.0, "x**2", 0),
        (-1, "x**(-1)", 0),
        (0.5, "x**(1/2)", 0),
        (-1.5, "x**(-3/2)", 0),
        (1.7, "x**1.7", 1),
        (-1e20, "x**(-1e+20)", 1),  # too large for a whole number
    ],
)
def test_whole_exponents_and_halves_are_exact_numbers(exponent, text, free):
    assert str(raised(X, exponent)) == text
    assert len(raised(X, exponent).constants) == free


def test_terms_are_multiplied_with_their_formulas():
    columns = columns_of()
    both = term(columns, "x") * term(columns, "sin(y)")
    assert isinstance(both, Term)
    np.testing.assert_array_equal(both.values, evaluate(both.expression, columns).values)


def test_roots_of_a_quotient_are_one_root():
    x, y, z = (np.random.default_rng(k).uniform(1, 3, 30) for k in range(3))
    factors = [Term(values, Variable(name)) for name, values in (("x", x), ("y", y), ("z", z))]
    formula = power_law(factors, 2 * z**1.5 * np.sqrt(x / y), np.ones(30), near=1e-6)
    assert str(canonical(formula)).count("sqrt(") == 1
    np.testing.assert_allclose(evaluate(formula, {"x": x, "y": y, "z": z}).values, 2 * z**1.5 * np.sqrt(x / y))
