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


@pytest.mark.parametrize("text", LAWS)
def test_a_sum_of_few_words_is_found_in_noise(text):
    (batch,) = SUMS.propose(context_of(noisy(text, 1e-3)))
    assert batch.scored > 0
    others = columns_of(50, 1.0, 3.0, names=parse(text).variables, seed=9)
    truth = evaluate(parse(text), others).values
    off = [np.abs(values_of(proposal, others) - truth).max() for proposal in batch.proposals[:3]]
    assert min(off) < 0.02 * np.abs(truth).max()
    best = batch.proposals[int(np.argmin(off))].expression
    assert canonical(best).complexity <= 2 * canonical(parse(text)).complexity + 8


def test_the_shortest_descriptions_come_first():
    (batch,) = SUMS.propose(context_of(noisy(LAWS[3], 1e-3)))
    assert batch.proposals[0].unexplained < 1e-4


def test_few_rows_are_not_asked():
    assert list(SUMS.propose(context_of(noisy(LAWS[0], 1e-3, rows=FEWEST_ROWS - 1)))) == []
