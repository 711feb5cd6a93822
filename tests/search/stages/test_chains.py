"""Chains of a factor, an operator, an offset and an operator are undone; what is left is simple."""

import numpy as np
import pytest

import contexts
from contexts import problem, values_of
from prunesymnet.expression import evaluate, parse
from prunesymnet.operators import DEFAULT
from prunesymnet.search.stages.chains import chains, factors


def problem_of(text, low=1.0, high=5.0, rows=200, noise=0.0):
    return problem(text, DEFAULT, noise=noise, names=parse(text).variables, low=low, high=high, rows=rows)


FOUND = [
    ("n*(exp(q*v/(k*t)) - 1)", 1),
    ("1/(exp(h*w/(k*t)) - 1)", 1),
    ("G*m/((x1 - x2)**2 + (y1 - y2)**2)", 2),
    ("x*sqrt(y**2 + z**2)", 1),
    ("log(1 + 3*x*y)/z", 1),
    ("x/(1 + 2*y - 0.2*z)", 1),
    ("n*(1 + p*q*cos(v)/(k*t))", 1),
    ("sqrt(1 + x*sin(y)**2/z)", 1),
]


@pytest.mark.parametrize(("text", "columns"), FOUND)
def test_a_chain_is_found_exactly(text, columns):
    truth = problem_of(text)
    best = chains(truth, columns, 200, 5)[0]
    assert best.exact
    np.testing.assert_allclose(values_of(best, truth.columns), truth.y, rtol=1e-7)


def test_a_factor_of_two_columns_needs_both():
    assert not any(proposal.exact for proposal in chains(problem_of(FOUND[2][0]), 1, 200, 5))


def test_exact_proposals_come_first_then_the_others_by_what_they_leave():
    found = chains(problem_of(FOUND[0][0]), 2, 200, 5)
    exact = [proposal.exact for proposal in found]
    assert exact == sorted(exact, reverse=True)
    left = [proposal.unexplained for proposal in found]
    assert left == sorted(left)
    assert len(found) <= 40


def test_the_same_chains_every_time():
    one, two = (chains(problem_of(FOUND[1][0]), 1, 100, 5) for _ in range(2))
    assert one == two


def test_in_the_presence_of_noise_the_right_chain_is_among_the_best():
    truth = problem_of("2/(1 + x*y)", noise=1e-4)
    best = min(chains(truth, 1, 100, 5), key=lambda p: np.mean((values_of(p, truth.columns) - truth.y) ** 2))
    assert np.mean((values_of(best, truth.columns) - truth.y) ** 2) < 4e-8


def test_negative_columns_and_targets():
    truth = problem_of("-x*(exp(y) - 1)", low=-2.0, high=-0.5)
    best = chains(truth, 1, 100, 5)[0]
    assert best.exact
    np.testing.assert_allclose(values_of(best, truth.columns), truth.y, rtol=1e-7)


@pytest.mark.parametrize("rows", [5, 8])
def test_few_rows_do_not_break_it(rows):
    for proposal in chains(problem_of("x*y + z", rows=rows), 2, 50, 3):
        assert proposal.unexplained >= 0


def test_a_column_with_zeros_is_no_factor():
    x = np.arange(20.0)
    found = factors(contexts.problem_of({"x": x, "z": x + 1}, x * (x + 1), DEFAULT), 2, 100)
    assert {variable for factor in found for variable in factor.term.expression.variables} == {"z"}


def test_factors_are_simplest_first():
    truth = problem_of("x*y*z")
    found = factors(truth, 2, 1000)
    texts = [str(factor.term.expression) for factor in found]
    assert set(texts[:6]) == {"x", "y", "z", "x**(-1)", "y**(-1)", "z**(-1)"}
    assert len(set(texts)) == len(texts) == 3 * 4 + 3 * 16
    assert max(map(texts.index, ["x*y", "x**2", "x**(-1)*z"])) < min(map(texts.index, ["x*y**2", "x**2*z**2"]))
    for factor in found:
        np.testing.assert_allclose(factor.term.values, evaluate(factor.term.expression, truth.columns).values)


@pytest.mark.parametrize("most", [1, 7, 30])
def test_there_are_at_most_so_many_factors(most):
    truth = problem_of("x*y*z")
    assert [str(f.term.expression) for f in factors(truth, 2, most)] == [
        str(f.term.expression) for f in factors(truth, 2, 1000)[:most]
    ]
