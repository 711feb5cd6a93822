"""Quotients of polynomials: exact ones are found, and nothing else is."""

import numpy as np
import pytest

from contexts import columns_of, context_of, problem, problem_of, terms_of, values_of
from prunesymnet.expression import evaluate, parse
from prunesymnet.operators import PAPER
from prunesymnet.search.stages.base import When
from prunesymnet.search.stages.rational import RATIONAL, nearly_rational, rational_functions, roots

QUOTIENTS = [  # and how many terms there are above and below
    ("(1 + 2*x)/(3 + x**2)", 2, 2),
    ("x/(1 + y**2)", 1, 2),
    ("(x + y)/(1 + x*y)", 2, 2),
    ("1/(x + 3) + 1/(x - 3)", 1, 2),
    ("x**3/(x**2 + y**2 + 1)", 1, 3),
    ("(x - y)/(x + y + 9) + z", 5, 3),
    ("1/(x + y)", 1, 2),
    ("(x**4 + y**3 - y)/((y - 1)**4 + 10)", 3, 5),
    ("y/(x + 2.4) - 0.7/(x + 3)**2", 5, 4),
]


@pytest.mark.parametrize(("text", "above", "below"), QUOTIENTS)
def test_a_quotient_of_polynomials_is_found(text, above, below):
    truth = parse(text)
    (found,) = rational_functions(problem(text, rows=100, names=truth.variables))
    assert [len(terms_of(part)) for part in found.expression.operands] == [above, below]
    others = columns_of(100, names="xyz", seed=1)
    np.testing.assert_allclose(values_of(found, others), evaluate(truth, others).values, rtol=1e-5)


@pytest.mark.parametrize("text", ["sin(2*x)", "exp(x)*y", "abs(x)", "sqrt(x + 3)/(1 + y**2)"])
def test_what_is_none_gives_no_quotient(text):
    assert list(rational_functions(problem(text, rows=100))) == []


ROOTS = [
    "(x + y + 1.7 - sqrt((x + y + 1.7)**2 - 4*x*y))/2",
    "x/2 + y/2 + sqrt((x - y)**2/4 + z**2)",
    "(sqrt(x**2 + 2*y*z) - x)/y",
]


@pytest.mark.parametrize("text", ROOTS)
def test_the_root_of_a_quadratic_equation_is_found(text):
    given = problem(text, [*PAPER, "sqrt"], rows=100, low=1.0, high=4.0, names=parse(text).variables)
    (found,) = roots(given)
    others = columns_of(100, low=1.0, high=4.0, names="xyz", seed=1)
    np.testing.assert_allclose(values_of(found, others), evaluate(parse(text), others).values, rtol=1e-5)


@pytest.mark.parametrize("text", ["x + exp(y/3)", "sin(x)*y", "x**2/y + 1"])
def test_what_is_no_root_gives_none(text):
    assert list(roots(problem(text, [*PAPER, "sqrt"], rows=100, low=1.0, high=4.0))) == []


def test_where_there_are_no_roots_none_is_proposed():
    assert list(roots(problem(ROOTS[0], rows=100, low=1.0, high=4.0))) == []


IN_NOISE = [
    "20 - x - x*y/(1 + 0.5*x**2)",
    "3.2*x*y/(1.5 + x + 0.7*y)",
    "(1 + 3*x)/(2 + x**2)",
    "(x*z + y*u)/(x + y)",  # without a constant below
    "x*y/(x + y)",
]


@pytest.mark.parametrize("text", IN_NOISE)
def test_a_quotient_is_found_in_noise(text):
    names = parse(text).variables
    given = problem(text, rows=120, low=0.2, high=5.0, noise=1e-3, names=names)
    assert list(rational_functions(given)) == []
    best = min(nearly_rational(given), key=lambda proposal: proposal.unexplained)
    assert best.unexplained < 1e-4
    assert len(best.expression.constants) < 12
    others = columns_of(50, low=0.2, high=5.0, names=names, seed=1)
    truth = evaluate(parse(text), others).values
    np.testing.assert_allclose(values_of(best, others), truth, atol=0.02 * np.abs(truth).max())


def test_a_weighted_mean_is_found_in_as_few_rows_as_a_search_of_sixty_is_fitted_to():
    given = problem("(x*z + y*u)/(x + y)", rows=48, low=1.0, high=9.0, noise=0.02, names="uxyz")
    best = min(nearly_rational(given), key=lambda proposal: proposal.unexplained)
    assert {str(variable) for part in best.expression.operands for variable in part.variables} == set("uxyz")
    assert len(best.expression.constants) < 12


def test_what_has_a_pole_in_the_rows_is_not_taken_for_a_quotient_with_noise():
    columns = columns_of(80, names="x")
    target = np.where(columns["x"] > 0, 1.0, -1.0)
    assert all(
        np.isfinite(values_of(proposal, columns)).all() for proposal in nearly_rational(problem_of(columns, target))
    )


def test_noise_gives_no_quotient():
    columns = columns_of(100, names="x")
    target = (1 + columns["x"]) / (3 + columns["x"] ** 2) + 1e-4 * np.random.default_rng(0).normal(size=100)
    assert list(rational_functions(problem_of(columns, target))) == []


def test_columns_with_a_law_between_them_do_no_harm():
    angle = np.random.default_rng(0).uniform(0, 6, 80)
    columns = {"x": np.cos(angle), "y": np.sin(angle)}  # x**2 + y**2 = 1
    for proposal in rational_functions(problem_of(columns, np.exp(columns["x"]))):
        np.testing.assert_allclose(values_of(proposal, columns), np.exp(columns["x"]), rtol=1e-5)


def test_columns_that_are_nowhere_both_nonzero_do_no_harm():
    rng = np.random.default_rng(0)
    kind, x = rng.integers(0, 3, 60), rng.uniform(1, 2, 60)
    columns = {"a": (kind == 0).astype(float), "b": (kind == 1).astype(float), "x": x}  # categories, as 0/1 columns
    assert list(rational_functions(problem_of(columns, np.sin(3 * x) * columns["a"] + np.exp(x) * columns["b"]))) == []


def test_a_later_level_has_nothing_to_add():
    context = context_of(problem("x/(1 + y**2)"))
    assert [len(batch.proposals) for batch in RATIONAL.propose(context)] == [1]
    there = [RATIONAL in context.at(level).stages_at(When.LEVEL) for level in (0, 1)]
    assert there == [True, False]
