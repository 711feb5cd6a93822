"""Quotients of sums with a function that has a constant inside: found at any constant, and never an error."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contexts import columns_of, problem_of
from prunesymnet.expression import canonical, evaluate
from prunesymnet.search.settings import PRESETS
from prunesymnet.search.stages.exact.member_quotients import quotients_with_a_member
from prunesymnet.search.stages.exact.sums import formulas

OPERATORS = PRESETS["default"].operators


def formulas_for(columns, target, operators=OPERATORS):
    problem = problem_of(columns, target, operators)
    hits, tested = quotients_with_a_member(problem)
    return [proposal.expression for proposal in formulas(problem, hits)], tested


LAWS = {
    "logistic": lambda x, t: 0.4 + 3 / (1 + 2 * np.exp(-t * x)),
    "hyperbolic tangent": lambda x, t: np.tanh(t * x),
    "one over a hyperbolic cosine": lambda x, t: 1 / np.cosh(t * x),
    "Langevin": lambda x, t: 1 / np.tanh(t * x) - 1 / (t * x),
    "a power below": lambda x, t: 8 * x / (1 + 1.3 * x ** (0.5 + 0.3 * t)),
    "a polynomial times an exponential": lambda x, t: (x - 2) ** 2 * (1 - np.exp(t * (x - 3))),
}


@pytest.mark.parametrize("law", LAWS)
@settings(max_examples=5)
@given(rate=st.floats(0.5, 1.5), seed=st.integers(0, 99))
def test_the_constant_is_found_between_the_points_of_the_grid(law, rate, seed):
    columns = columns_of(rows=90, low=0.2, high=4.0, names="x", seed=seed)
    y = LAWS[law](columns["x"], rate)
    found, tested = formulas_for(columns, y)
    assert tested
    assert found
    np.testing.assert_allclose(evaluate(found[0], columns).values, y, rtol=1e-6, atol=1e-8)


def test_rows_that_crowd_where_the_curve_is_flat_do_not_hide_it():
    x = np.exp(np.random.default_rng(0).uniform(-14, 1, 120))
    found, _ = formulas_for({"x": x}, 1 / (np.exp(0.7 * x) + np.exp(-0.7 * x)))
    assert canonical(found[0]).complexity < 20
    far = {"x": np.array([4.0, 6.0])}
    np.testing.assert_allclose(evaluate(found[0], far).values, 1 / (2 * np.cosh(0.7 * far["x"])), rtol=1e-6)


def test_products_with_columns_beside_the_function():
    columns = columns_of(rows=90, low=1.0, high=4.0, names="xyz", seed=1)
    x, y, z = columns.values()
    target = (x + 2 * y) * np.exp(-0.3 * z) + 3 * y
    found, _ = formulas_for(columns, target)
    np.testing.assert_allclose(evaluate(found[0], columns).values, target, rtol=1e-8)


def test_only_with_the_operators_that_there_are():
    columns = columns_of(rows=60, low=0.2, high=4.0, names="x", seed=0)
    found, _ = formulas_for(columns, np.tanh(columns["x"]), ["+", "-", "*", "sin"])
    assert not found


@pytest.mark.parametrize("target", [lambda x: x + 1, lambda x: x % 0.3, lambda x: np.sign(np.sin(9 * x)) - 3, np.sin])
@pytest.mark.parametrize("column", [np.linspace(0.0, 1.0, 60), np.linspace(-3.0, 2.0, 60), np.arange(60.0) % 2])
def test_what_is_nothing_of_the_kind_is_no_error(column, target):
    y = target(column)
    for formula in formulas_for({"x": column}, y)[0]:
        np.testing.assert_allclose(evaluate(formula, {"x": column}).values, y, atol=1e-4)
