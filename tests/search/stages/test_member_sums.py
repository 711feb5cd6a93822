"""Sums of several curves with constants inside, and squares of one."""

import numpy as np
import pytest

from contexts import context_of, problem_of
from prunesymnet.bank.bank import Term
from prunesymnet.bank.families import SIMPLE, members
from prunesymnet.bank.query import Query
from prunesymnet.expression import Variable, evaluate, parse
from prunesymnet.operators import DEFAULT
from prunesymnet.search.stages.member_sums import MOST_TERMS, propose, squares

X = np.linspace(0.1, 10.0, 120)
SUMS = [
    "2*exp(-5.6*(x - 2.2)**2) + 1.2*exp(-2*(x - 6.1)**2)",
    "2.9*exp(-3.3*(x - 2.1)**2) + 1.6*exp(-1.3*(x - 5.1)**2) + 1.5*exp(-2*(x - 8.6)**2)",
    "1.4/((x - 3.1)**2 + 0.4) + 0.8/((x - 6.9)**2 + 0.2) + 0.3",
    "5.1*exp(-1.3*x) + 2.2*exp(-0.21*x) + 0.4",
    "1.7*exp(-1.9*(x - 4.4)**2) + 0.21*x + 0.6",
    "2.2/(1 + exp(-3.1*(x - 3))) + 1.4/(1 + exp(-2.6*(x - 7.2)))",
]


def proposals(target, operators=DEFAULT, columns=None):
    context = context_of(problem_of(columns or {"x": X}, target, operators, rows=120))
    return [proposal for batch in propose(context) for proposal in batch.proposals]


@pytest.mark.parametrize("text", SUMS)
def test_a_sum_of_several_curves_is_proposed(text):
    target = evaluate(parse(text), {"x": X}).values
    assert min(proposal.unexplained for proposal in proposals(target)) < 1e-6  # the last fit does the rest


@pytest.mark.parametrize("text", SUMS[:4])
def test_noise_does_not_hide_it(text):
    truth = evaluate(parse(text), {"x": X}).values
    noise = 0.02 * truth.std() * np.random.default_rng(0).normal(size=len(X))
    best = min(proposals(truth + noise), key=lambda proposal: proposal.unexplained)
    values = evaluate(best.expression, {"x": X}).values
    assert np.mean((values - truth) ** 2) < np.mean(noise**2)


def test_two_peaks_that_overlap_are_told_apart():
    text = "1.9*exp(-5*(x - 2.5)**2) + 1.55*exp(-1.66*(x - 5.8)**2) + 1.57*exp(-1.72*(x - 6.8)**2)"
    truth = evaluate(parse(text), {"x": X}).values
    noise = 0.01 * np.random.default_rng(0).normal(size=len(X))
    found = min(proposals(truth + noise), key=lambda proposal: proposal.unexplained).expression
    assert np.mean((evaluate(found, {"x": X}).values - truth) ** 2) < 0.3 * np.mean(noise**2)
    for centre in (2.5, 5.8, 6.8):  # and not one wide peak less another
        assert min(abs(abs(constant) - centre) for constant in found.constants) < 0.1


def test_terms_of_several_columns_are_added():
    rng = np.random.default_rng(0)
    columns = {name: rng.uniform(0.2, 4.0, 80) for name in "xy"}
    target = evaluate(parse("sqrt(7.1 + x**2) + 68.6*y**2"), columns).values
    assert min(proposal.unexplained for proposal in proposals(target, columns=columns)) < 1e-6


def test_no_sum_has_more_terms_than_there_is_room_for():
    target = np.random.default_rng(0).normal(size=len(X))
    found = proposals(target)
    assert found
    assert max(str(proposal.expression).count("x") for proposal in found) <= 2 * MOST_TERMS


def test_only_functions_that_are_asked_for_are_used():
    target = evaluate(parse(SUMS[0]), {"x": X}).values
    found = proposals(target, ("+", "-", "*", "/"))
    assert found
    assert not any("exp" in str(proposal.expression) for proposal in found)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("4.75*(1 - exp(-1.94*(x - 0.74)))**2", "exp"),
        ("0.3/x**12 - 0.9/x**6", "x**"),
        ("2.4*(log(x + 3.3) - 1.2)**2 + 0.7", "log"),
    ],
)
def test_a_quadratic_function_of_a_curve_is_proposed(text, form):
    x = np.linspace(0.9, 3.0, 60)
    problem = problem_of({"x": x}, evaluate(parse(text), {"x": x}).values, DEFAULT)
    found = squares(members([Term(x, Variable("x"))], SIMPLE), problem.target)
    best = next(proposal for proposal in found if form in str(proposal.expression))
    assert best.unexplained < 1e-3
    assert Query(problem.target).complexity == problem.target.complexity
