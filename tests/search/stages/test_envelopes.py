"""Waves with an envelope of one column."""

import numpy as np
import pytest

from contexts import context_of, problem_of
from prunesymnet.bank.bank import Term
from prunesymnet.bank.families import ENVELOPES, SIMPLE, WAVES, members
from prunesymnet.bank.query import Query
from prunesymnet.bank.regression import unexplained
from prunesymnet.bank.targets import Target
from prunesymnet.expression import Variable, evaluate, parse
from prunesymnet.operators import DEFAULT
from prunesymnet.search.stages.envelopes import propose, scanned, waves_with_envelopes

T = np.sort(np.random.default_rng(3).uniform(0.3, 20.0, 90))
WITH_ENVELOPES = {
    "decays": "0.7 - 2*exp(-0.13*t)*cos(2.1*t + 0.4)",
    "grows": "0.02*exp(0.21*t)*sin(3.7*t + 2)",
    "packet": "1.5*exp(-0.06*(t - 8.3)**2)*cos(2.9*t + 1)",
    "power": "3*sin(1.7*t - 2)/t - 1",
    "root": "0.3*sqrt(t + 2.2)*cos(4.4*t)",
    "modulated": "4*(1 + 0.6*sin(0.8*t + 1.2))*cos(5.3*t - 0.7)",
    "on a slope": "0.4*t + 2*exp(-0.2*t)*sin(3.3*t + 0.5)",
}


def proposals(target, operators=DEFAULT, columns=None):
    context = context_of(problem_of(columns or {"t": T}, target, operators))
    return [proposal for batch in propose(context) for proposal in batch.proposals]


def values(text, t=T):
    return evaluate(parse(text), {"t": t}).values


@pytest.mark.parametrize("text", WITH_ENVELOPES.values(), ids=WITH_ENVELOPES)
def test_a_wave_with_an_envelope_is_proposed(text):
    assert min(proposal.unexplained for proposal in proposals(values(text))) < 1e-6  # the last fit does the rest


@pytest.mark.parametrize("text", WITH_ENVELOPES.values(), ids=WITH_ENVELOPES)
def test_noise_does_not_hide_it(text):
    truth = values(text)
    noise = 0.1 * truth.std() * np.random.default_rng(0).normal(size=len(T))
    best = min(proposals(truth + noise), key=lambda proposal: proposal.unexplained)
    assert np.mean((evaluate(best.expression, {"t": T}).values - truth) ** 2) < 0.5 * np.mean(noise**2)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e12])
def test_the_unit_of_the_column_makes_no_difference(unit):
    column = Term(T * unit, Variable("t"))
    query = Query(Target.of(values(WITH_ENVELOPES["decays"])))
    best, *_ = waves_with_envelopes(members([column], ENVELOPES), query, WAVES[0])
    assert best.unexplained < 1e-9
    assert str(best.term.expression).startswith("exp(")


def test_the_scan_says_what_a_regression_says():
    column, query = Term(T, Variable("t")), Query(Target.of(values(WITH_ENVELOPES["power"])), (Term(T, Variable("t")),))
    found, frequencies = members([column], SIMPLE[:2]), np.array([0.8, 2.5])
    left = scanned(found, query, T, frequencies)
    for k, w in enumerate(frequencies):
        pairs = found.columns[:, :1] * np.array([np.sin(w * T), np.cos(w * T)])
        assert np.allclose(left[:, k], unexplained(pairs, query.regression()), rtol=1e-9)


@pytest.mark.parametrize(
    "text", ["0.3*t**3 - t + 2", "5*exp(-0.4*t)", "exp(-0.3*(t - 6)**2)", "log(t + 1)/t", "1/(1 + exp(-t + 9))"]
)
def test_a_smooth_curve_is_no_wave(text):
    truth = values(text)
    noisy = truth + 0.05 * truth.std() * np.random.default_rng(1).normal(size=len(T))
    assert not [one for one in proposals(noisy) if one.unexplained > 0.05]
    assert len(proposals(noisy)) <= 1


def test_noise_alone_is_no_reason_for_a_wave():
    rng = np.random.default_rng(2)
    assert not [one for _ in range(5) for one in proposals(rng.normal(size=len(T)))]


def test_of_several_columns_none_is_tried():
    columns = {"t": T, "u": np.random.default_rng(0).uniform(1, 2, len(T))}
    assert not proposals(values(WITH_ENVELOPES["decays"]) * columns["u"], columns=columns)


@pytest.mark.parametrize("operators", [("+", "-", "*", "/", "exp"), ("+", "*", "exp")])
def test_without_waves_among_the_operators_there_are_none(operators):
    assert not proposals(values(WITH_ENVELOPES["decays"]), operators)


def test_cosines_alone_are_enough():
    found = proposals(values(WITH_ENVELOPES["decays"]), ("+", "-", "*", "/", "exp", "cos"))
    assert min(proposal.unexplained for proposal in found) < 1e-6
    assert not any("sin" in str(proposal.expression) for proposal in found)


def test_envelopes_have_the_operators_that_there_are():
    found = proposals(values(WITH_ENVELOPES["decays"]), ("+", "-", "*", "/", "sin"))
    assert found
    assert not any("exp" in str(proposal.expression) for proposal in found)
