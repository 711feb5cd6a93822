"""Rates: exp(w*u) of simple nodes, for a few w."""

import numpy as np

from contexts import best_r2, context_of, problem, proposals_of, run, stages_named, term
from prunesymnet.bank.bank import Term
from prunesymnet.expression import Variable, evaluate
from prunesymnet.search.stages.rates import RATES, rates


def test_rates_stay_in_range_and_leave_out_what_does_not_vary():
    x = np.linspace(0, 4, 9)
    found = rates([Term(x, Variable("x")), Term(np.ones(9), Variable("one")), Term(1e6 + x, Variable("far"))])
    assert len(found) == len(RATES)
    assert {tree.variables for _, tree in found} == {("x",)}
    for values, tree in found:
        assert np.isfinite(values).all()
        np.testing.assert_allclose(values, evaluate(tree, {"x": x}).values)


def test_units_do_not_matter():
    x = np.linspace(0, 4, 9)
    one, other = (rates([term({"x": scale * x}, "x")]) for scale in (1.0, 1e9))
    for (a, _), (b, _) in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b)


def test_a_rate_that_no_bank_has_is_nearly_there_in_noise():
    truth = problem("4*(1 - exp(-x/0.6)) + y", low=0.1, high=3.0, noise=0.01)
    found = proposals_of(run(context_of(truth, stages=stages_named("rates", "fixed_terms")), start=False))
    assert best_r2(found, truth) > 0.99


def test_without_an_exponential_there_are_none():
    truth = problem("x*y + x", ("+", "*", "sin"), rows=20)
    assert run(context_of(truth, stages=stages_named("rates"))) == []
