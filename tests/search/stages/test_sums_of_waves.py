"""Sums of many waves of one column."""

import numpy as np
import pytest

from contexts import context_of, problem_of
from prunesymnet.expression import evaluate, parse
from prunesymnet.operators import DEFAULT
from prunesymnet.search.stages.sums_of_waves import MOST_WAVES, ROWS_PER_WAVE, propose

T = np.sort(np.random.default_rng(3).uniform(0.0, 20.0, 160))
OVERTONES = "12 + 0.6*sin(2.1*t + 0.4) + 0.25*sin(4.2*t + 2) + 0.1*sin(6.3*t + 1)"
TIDE = "1.2*sin(0.51*t + 1) + 0.7*sin(1.32*t) + 0.5*sin(2.9*t + 2) + 0.3*sin(5.7*t + 5) + 0.2*sin(7.77*t + 3)"
SEASONS = "370 + 1.9*t + 0.02*t**2 + 3*sin(6.28*t + 1) + 0.9*sin(12.57*t + 0.3) + 0.4*sin(1.1*t)"


def proposals(target, operators=DEFAULT, columns=None):
    context = context_of(problem_of(columns or {"t": T}, target, operators, rows=160))
    return [proposal for batch in propose(context) for proposal in batch.proposals]


def waves_in(proposal):
    return str(proposal.expression).count("sin")


@pytest.mark.parametrize("text", [OVERTONES, TIDE, SEASONS])
def test_a_sum_of_waves_is_proposed(text):
    target = evaluate(parse(text), {"t": T}).values
    assert min(proposal.unexplained for proposal in proposals(target)) < 1e-6  # the last fit does the rest


@pytest.mark.parametrize("text", [OVERTONES, TIDE, SEASONS])
def test_noise_does_not_hide_it(text):
    truth = evaluate(parse(text), {"t": T}).values
    noise = 0.05 * np.random.default_rng(0).normal(size=len(T))
    best = min(proposals(truth + noise), key=lambda proposal: proposal.unexplained)
    values = evaluate(best.expression, {"t": T}).values
    assert np.mean((values - truth) ** 2) < 0.5 * np.mean(noise**2)


def test_waves_of_one_of_several_columns_stand_beside_the_others():
    rng = np.random.default_rng(0)
    columns = {"t": T, "u": rng.uniform(-1, 1, len(T)), "v": rng.uniform(-1, 1, len(T))}
    target = evaluate(parse("2*u - 3*v + sin(1.7*t) + 0.5*sin(3.9*t + 1) + 0.2*sin(8.1*t + 2)"), columns).values
    assert min(proposal.unexplained for proposal in proposals(target, columns=columns)) < 1e-6


def test_no_sum_has_more_waves_than_the_rows_are_enough_for():
    rng = np.random.default_rng(1)
    truth = sum(0.5**k * np.sin((k + 1.0) * T + rng.uniform(0, 6)) for k in range(12))
    assert max(map(waves_in, proposals(truth))) == MOST_WAVES
    assert max(map(waves_in, proposals(truth[::8], columns={"t": T[::8]})), default=0) <= 20 // ROWS_PER_WAVE


def test_noise_alone_is_no_reason_for_waves():
    rng = np.random.default_rng(2)
    found = [proposals(rng.normal(size=len(T))) for _ in range(5)]
    assert max((waves_in(one) for some in found for one in some), default=0) <= 3


@pytest.mark.parametrize("operators", [("+", "-", "*", "/"), ("+", "*", "exp")])
def test_without_waves_among_the_operators_there_are_none(operators):
    assert not proposals(evaluate(parse(OVERTONES), {"t": T}).values, operators)


def test_cosines_alone_are_enough():
    found = proposals(evaluate(parse(OVERTONES), {"t": T}).values, ("+", "-", "*", "/", "cos"))
    assert min(proposal.unexplained for proposal in found) < 1e-6
    assert not any("sin" in str(proposal.expression) for proposal in found)


@pytest.mark.filterwarnings("ignore:column 'u' is 2.5 in every row")
def test_a_column_that_does_not_vary_has_no_waves():
    target = evaluate(parse(OVERTONES), {"t": T}).values
    found = proposals(target, columns={"t": T, "u": np.full(len(T), 2.5)})
    assert min(proposal.unexplained for proposal in found) < 1e-6
    assert not any("sin(u" in str(proposal.expression) for proposal in found)
