"""Sums of simple functions of the columns, behind factors, functions and denominators, where they are exact."""

from dataclasses import replace

import numpy as np
import pytest

from contexts import columns_of, context_of, problem_of, proposals_of, run, stages_named, table, values_of
from prunesymnet.expression import parse, skeleton, to_text
from prunesymnet.operators import DEFAULT, make_operator
from prunesymnet.search import search
from prunesymnet.search.settings import PRESETS

STAGE = stages_named("exact_sums", "dictionaries")
NAMES = {"names": "xyz", "rows": 100, "low": 1.0, "high": 5.0}
FOUND = [
    "x*y - 2*log(z) + sqrt(x) + 3*z/y",  # a sum
    "exp(x)*(y**2 + z + 5)",  # divided by a node
    "log(2*x + z - log(y) + 4)/cos(z)",  # in a function
    "(log(x) + 0.833)/(z + 8*y/x)",  # y upside down, and a node with a constant
    "2*log(x/z) + cos(1/y)",  # a sum and a node
    "sin(x) + exp(sin(sqrt(y))) - z",  # a function inside a function
    "x*(x + y + 9)*(sqrt(z) + 1.79)",  # products with a function
    "x**2*exp(-x)*cos(x)*(sin(x)**3 - 2*cos(x) + 0.7)*(y - 5)",  # a product of sums of waves, behind a product
    "u*(0.57*z/y - u + 9.3)*(v + x + 9.2)",  # products with a quotient
    "y*(u - 6.3*v/(x*z))*(u + z)",  # of five columns there are more kinds of products than rows
    "(y + z)*(z + cos(x + y + 8))",  # a wave with a phase
    "cos(y)*exp(y) + log(x) + sin(x*z)",  # a sum and two nodes
    "sin(z/(2*x*y**2*(x + 3)))",  # a function, a product of powers, and one over a sum
    "6*x/(y + z + 1.3) + sin(x)",  # a sum over a sum, with a function
    "sqrt((y + log(x))/(z + 2.1*sqrt(y) + 0.4))",  # in a function
    "x*y + 2*z - log(y + 3.3)",  # a sum and a constant inside
    "sin(5.1/y) - 1.11*sin(x)",  # a wave of another frequency
    "u/z - 0.19*y**2 + 8.15/(x + 3.9)",  # the same, where functions of the column are all but that
    "sin(z/y)*(y + sqrt(x + 4.03))",  # divided by a node, and a constant inside
    "(u - x*y/z + 1.2*x*z)/sqrt(z**2 + y**2)",  # products of three columns, and a function of a sum
    "(x - 3.1*y*z)/sqrt(7.3 - 0.01*z**2/x**2)",  # a factor with a constant inside
    "(log(x) - 2*y + 0.3*z)*(1 - exp(-0.37*y))",
    "(y**2 + 2.3*x - 6.9)/sqrt(u + z + 7.96)",
    "2.5 + x**1.7*exp(-0.3*y)/z",  # a function of a sum beside an offset
    "4.2 - 1/(x + 2.3*y*z + sqrt(x))",
    "3.1*log(x + 2*y + z**2)",  # a function of a sum with an amplitude
    "5.5*sin(0.3*x/y + 0.1*z - 0.4)",
    "cos(x) + log(log(x)) + log(log(y))",  # two functions inside functions
    "exp(sqrt(y))*(u + z)/log(x)",  # the same, of the logarithm
    "u - v + x + log(z)*(y*z + 6.99)",  # a product of two terms
    "u*x*y/z + log(log(v + 1))",  # the product of powers that y is nearest to
    "u*(v*y - log(x))*(y - z - 8)",  # by a sum of two terms
    "(x*z - x/u + 2.3)/(y + log(u))**2",  # times a square of one
    "exp(y)*(y + log(x) - 8)/cos(x)",  # divided by two functions
    "exp(-exp(u))*(x - u*x + z + sin(y) + 1.03)",  # by a function inside a function
    "exp((u + y - 8.1)/x) - log(z)",  # in a function, less a node
    "cos(y)*(x + cos(4.7*y))",  # divided by a node, and a wave of another frequency
]


def data_of(text):
    return table(text, **NAMES | {"names": parse(text).variables})


def proposed(data):
    return proposals_of(run(context_of(data, stages=STAGE)))


@pytest.mark.parametrize("text", FOUND)
def test_exact_sums_are_found(text):
    data = data_of(text)
    found = proposed(data)
    assert found
    assert all(proposal.exact for proposal in found)
    best = min(found, key=lambda proposal: proposal.expression.complexity)
    np.testing.assert_allclose(values_of(best, data.columns), data.y, rtol=1e-4)


@pytest.mark.parametrize("text", FOUND[1:4])
def test_nothing_is_proposed_where_there_is_noise(text):
    data = data_of(text)
    noise = 1e-6 * np.random.default_rng(0).normal(size=data.rows)
    assert proposed(replace(data, y=data.y * (1 + noise))) == []


@pytest.mark.parametrize("text", ["exp(sin(x*y))/(z + cos(x + y*z))", "sin(x*exp(y*z/9) + 1/(x + y))"])
def test_nothing_is_proposed_for_other_formulas(text):
    assert proposed(data_of(text)) == []


def test_a_smooth_curve_is_no_exact_sum_of_many_terms():
    columns = {"x": np.random.default_rng(0).uniform(2.8, 3.8, 60)}
    problem = problem_of(columns, np.exp(16.4 - 38.857 / (columns["x"] - 0.43)), DEFAULT)
    found = proposals_of(run(context_of(problem, stages=STAGE)))
    assert all(proposal.expression.complexity < 20 for proposal in found)  # the law itself is one of few


def test_a_product_of_sums_is_shown_as_one():
    data = data_of("x*(x + y + 9)*(sqrt(z) + 1.79)")
    found = search(data, replace(PRESETS["default"], max_fits=300, workers=1))
    assert skeleton(found.best.expression) == skeleton(parse("x*(x + y + 9)*(sqrt(z) + 1.79)"))


def test_without_quotients_and_with_an_operator_of_ones_own():
    soft = make_operator("soft", lambda u: np.log1p(np.exp(u)))
    columns = columns_of(**NAMES)
    target = 2 * np.log1p(np.exp(columns["x"])) - columns["y"] * columns["z"] + 4
    found = proposals_of(run(context_of(problem_of(columns, target, ["+", "-", "*", soft]), stages=STAGE)))
    assert found
    np.testing.assert_allclose(values_of(found[0], columns), target, rtol=1e-9)


def test_more_columns_than_rows_tell_nothing():
    columns = columns_of(rows=12, names=[f"x{k}" for k in range(15)])
    assert proposals_of(run(context_of(problem_of(columns, np.arange(12.0) ** 2), stages=STAGE))) == []


def test_the_same_formulas_every_time():
    one, two = (proposed(data_of(FOUND[1])) for _ in range(2))
    assert [to_text(p.expression) for p in one] == [to_text(p.expression) for p in two]


def test_operators_without_any_function_are_no_error():
    columns = columns_of(**NAMES)
    target = np.exp(columns["x"]) + columns["y"]
    assert proposals_of(run(context_of(problem_of(columns, target, ["+", "-", "*", "/"]), stages=STAGE))) == []
