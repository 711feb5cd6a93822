"""Constants inside are found: in members alone, in products, beside a term, under other operators."""

import numpy as np
import pytest

from contexts import columns_of, context_of, problem_of, table_of
from prunesymnet.expression import evaluate, parse
from prunesymnet.operators import DEFAULT
from prunesymnet.search.stages.families import batches, in_logarithms, nodes_of

LAWS = [
    "1.2 + 0.8*x**1.7",
    "0.7 + 3.1*exp(-1.3*(x - 1.4)**2)",
    "2.1*x**3/(exp(0.9*x) - 1)",
    "exp(1.6 - 3.9/(x + 2.3))",
    "5.2*exp(-3.1*exp(-0.7*x))",
    "y*exp(-0.37*x)",
    "1.1 + 8/(1 + exp(-1.3*(x - 1.4)))",
    "3.3*y**2/(exp(0.8*x/y) - 1)",
    "0.6 + 4.1*(x + 0.8)**-0.7",
    "0.06 + 0.37/(1 + (0.8*x)**1.8)**0.444",
    "9*(1 + 2.4*exp(-1.3*x))**-0.6",
]


def proposals(columns, target, operators=DEFAULT):
    context = context_of(problem_of(columns, target, operators))
    return [proposal for batch in batches(context) for proposal in batch().proposals]


@pytest.mark.parametrize("text", LAWS)
def test_a_law_with_constants_inside_is_proposed(text):
    columns = columns_of(80, low=0.2, high=4.0)
    target = evaluate(parse(text), columns).values
    found = proposals(columns, target)
    assert min(proposal.unexplained for proposal in found) < 1e-10


def test_only_functions_that_are_asked_for_are_used():
    columns = columns_of(60, low=0.2, high=4.0)
    target = np.exp(-0.7 * columns["x"])
    found = proposals(columns, target, ("+", "-", "*", "/"))
    assert found
    assert not any("exp" in str(proposal.expression) or "sqrt" in str(proposal.expression) for proposal in found)


def test_functions_of_ones_own_have_families_too():
    columns = columns_of(60)
    target = 2 * np.tanh(1.7 * (columns["x"] - 0.4)) + 1
    found = proposals(columns, target, (*DEFAULT, "tanh"))
    with_it = [proposal.unexplained for proposal in found if "tanh" in str(proposal.expression)]
    assert min(with_it) < 1e-10  # a step by an exponential is as exact


def test_columns_that_change_their_sign_have_no_logarithm():
    columns = columns_of(60)
    assert in_logarithms(problem_of(columns, np.exp(columns["x"]), DEFAULT)) == []
    assert in_logarithms(problem_of({"x": np.abs(columns["x"])}, columns["y"], DEFAULT)) == []


def test_products_and_their_inverses_stand_inside():
    columns = columns_of(60, low=0.5, high=2.0)
    context = context_of(problem_of(columns, np.sin(columns["x"]), DEFAULT))
    inside = {str(term.expression) for term in nodes_of(context)}
    assert {"x*y", "x/y", "y/x", "1/x"} <= inside
    assert "x" not in inside


@pytest.mark.parametrize("power", [-25, 8])
def test_units_do_not_matter(power):
    columns = columns_of(60, low=0.2, high=4.0)
    target = columns["y"] * np.exp(-0.37 * columns["x"])
    other = {"x": columns["x"] * 10.0**power, "y": columns["y"] * 10.0**-power}
    here = proposals(columns, target)
    there = proposals(other, target * 10.0**power)
    assert min(p.unexplained for p in here) < 1e-12
    assert min(p.unexplained for p in there) < 1e-12


def test_a_formula_goes_to_the_table_and_back():
    columns = {"v": np.linspace(1e7, 2.9e8, 30), "m": np.linspace(1.0, 9.0, 30) ** 2}
    truth = parse("m/sqrt(1 - v**2/9e16)")
    target = 1e-20 * evaluate(truth, columns).values
    problem = problem_of(columns, target, DEFAULT)
    assert problem.scales == {"v": 1e8}
    assert 0.5 < np.abs(problem.y).max() < 10
    formula = parse("2.0*m*v**2 + 1.0")
    in_table = evaluate(problem.to_table(formula), columns).values
    np.testing.assert_allclose(in_table, evaluate(formula, problem.columns).values * problem.scale, rtol=1e-12)
    back = problem.from_table(problem.to_table(formula))
    values = evaluate(formula, problem.columns).values
    np.testing.assert_allclose(evaluate(back, problem.columns).values, values, rtol=1e-12)
    assert table_of(columns, target).names == ("v", "m")
