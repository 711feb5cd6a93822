"""Growth by a share in each step: shares and powers of what has grown, exact and in noise."""

import numpy as np
import pytest

from contexts import columns_of, context_of, problem, problem_of, proportional, values_of
from prunesymnet.bank.problem import Problem
from prunesymnet.data import make_dataset
from prunesymnet.expression import evaluate, parse
from prunesymnet.operators import PAPER
from prunesymnet.search.stages.growth import GROWTH, growths

LAWS = (
    "p*(1 + r)**n",
    "p/(1 - r)**n",
    "p*r/(1 - (1 + r)**(-n))",
    "p*((1 + r)**n - 1)/r",
    "p*(1 + r)*((1 + r)**n - 1)/r",
    "1 - (1 - r)**n",
)


def columns():
    rng = np.random.default_rng(0)
    return {"n": rng.uniform(2, 25, 80), "r": rng.uniform(0.02, 0.2, 80), "p": rng.uniform(1, 9, 80)}


def proposed(target, given=None):
    given = given or columns()
    return [p for batch in GROWTH.propose(context_of(problem_of(given, target))) for p in batch.proposals]


@pytest.mark.parametrize("law", LAWS)
def test_laws_of_growth_are_the_first_that_is_proposed(law):
    target = evaluate(parse(law), columns()).values
    found = proposed(target)
    assert found[0].unexplained < 1e-20
    assert proportional(values_of(found[0], columns()), target)


@pytest.mark.parametrize("law", LAWS)
def test_they_are_among_the_proposals_where_there_is_noise(law):
    target = evaluate(parse(law), columns()).values
    noisy = target * (1 + 0.01 * np.random.default_rng(1).normal(size=len(target)))
    unexplained = [np.mean((values_of(p, columns()) - target) ** 2) / target.var() for p in proposed(noisy)]
    assert min(unexplained) < 0.01**2


def test_a_column_in_other_units_is_no_other_share():
    given = columns()
    target = evaluate(parse("p*(1 + r)**n"), given).values
    small = given | {"r": given["r"] / 10}  # the search has it in tenths
    data = make_dataset(np.array(list(small.values())).T, target, names=list(small), target="t")
    assert Problem.of(data, PAPER, 256, 0).scales
    target = evaluate(parse("p*(1 + r)**n"), small).values
    truth = problem_of(small, target)
    found = [evaluate(truth.to_table(p.expression), small).values for p in proposed(target, small)]
    assert any(np.allclose(values, target, rtol=1e-8) for values in found)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("of_rate", "of_steps"), [(1e-13, 1e11), (1e9, 1e-20), (1e-6, 1.0)])
def test_shares_and_steps_may_be_in_units_far_from_ordinary(law, of_rate, of_steps):
    given = columns()
    target = evaluate(parse(law), given).values
    given["r"], given["n"] = of_rate * given["r"], of_steps * given["n"]
    given = problem_of(given, target)
    found = [p for batch in GROWTH.propose(context_of(given)) for p in batch.proposals]
    assert found[0].unexplained < 1e-20


def test_in_ordinary_units_a_column_is_tried_as_it_is():
    given = problem_of(columns(), columns()["p"] ** 2)
    assert {str(growth.share.expression) for growth in growths(given)} == {"1 + r", "1 - r"}


def test_what_is_above_one_is_no_share_and_without_exponentials_there_is_no_growth():
    assert growths(problem("x*y", low=1.0, high=3.0)) == []
    assert growths(problem("x*y", low=0.1, high=0.5, operators=("+", "*", "/"))) == []
    assert growths(problem("x*y", low=0.1, high=0.5)) != []


def test_a_target_with_a_zero_has_none():
    given = columns_of(low=0.1, high=0.9)
    target = given["x"] * given["y"]
    target[3] = 0.0
    assert proposed(target, given) == []


def test_the_last_of_many_shares_may_be_the_one():
    given = columns_of(rows=80, low=0.05, high=0.9, names="abcdefghij")
    target = evaluate(parse("a*(1 - i)**j"), given).values
    found = proposed(target, given)
    assert found[0].unexplained < 1e-20
    assert proportional(values_of(found[0], given), target)
