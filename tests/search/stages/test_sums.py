"""Sums of several simple terms in noise."""

import numpy as np
import pytest

from contexts import columns_of, context_of, problem_of, values_of
from prunesymnet.expression import canonical, evaluate, parse
from prunesymnet.operators import DEFAULT
from prunesymnet.search.stages.sums import FEWEST_ROWS, SUMS

LAWS = [
    "sqrt(x**2 + y**2*z**2 - 2*y/u + 1/(u*z)**2)",
    "z*(x**4 - y**4)",
    "exp(0.5*x/y - 0.8*z + 0.3*x*z)",
    "2*x*y - 3*z/u + 0.7*u**2 + x/z",
    "1/(x/y + 2*z*u + u**2)",
]


def noisy(text, noise, rows=100, low=1.0, high=3.0):
    columns = columns_of(rows, low, high, names=parse(text).variables, seed=4)
    exact = evaluate(parse(text), columns).values
    return problem_of(columns, exact * (1 + noise * np.random.default_rng(1).normal(size=rows)), DEFAULT)


def found_near(proposals, text, low=1.0, high=3.0):
    """Whether one of the first proposals is the law, but for what noise does to its constants."""
    others = columns_of(50, low, high, names=parse(text).variables, seed=9)
    truth = evaluate(parse(text), others).values
    off = [np.abs(values_of(proposal, others) - truth).max() for proposal in proposals[:3]]
    best = proposals[int(np.argmin(off))].expression
    short = canonical(best).complexity <= 2 * canonical(parse(text)).complexity + 8
    return min(off) < 0.02 * np.abs(truth).max() and short


@pytest.mark.parametrize("text", LAWS)
def test_a_sum_of_few_words_is_found_in_noise(text):
    batch, _ = SUMS.propose(context_of(noisy(text, 1e-3)))
    assert batch.scored > 0
    assert found_near(batch.proposals, text)


@pytest.mark.parametrize("text", ["z*(u + x*y*sin(v))", "x*(1 + 0.3*y*z*cos(u)/v)", "x*sin(y)/cos(y) + 2*z"])
def test_sums_of_longer_words_are_found_in_noise(text):
    _, batch = SUMS.propose(context_of(noisy(text, 1e-3, low=0.2, high=1.4)))
    assert found_near(batch.proposals, text, 0.2, 1.4)


@pytest.mark.parametrize("text", ["1/(exp(x/y - 2*z) + 1)", "x*(1 - exp(-y*z))", "x/(exp(0.5*y/z) - 1)"])
def test_sums_in_an_exponential_beside_one_are_found_in_noise(text):
    batch, _ = SUMS.propose(context_of(noisy(text, 1e-3)))
    assert found_near(batch.proposals, text)


def test_the_shortest_descriptions_come_first():
    batch, _ = SUMS.propose(context_of(noisy(LAWS[3], 1e-3)))
    assert batch.proposals[0].unexplained < 1e-4


def test_few_rows_are_not_asked():
    assert list(SUMS.propose(context_of(noisy(LAWS[0], 1e-3, rows=FEWEST_ROWS - 1)))) == []
