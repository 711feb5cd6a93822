"""Squares of sums that change their sign."""

from dataclasses import replace

import numpy as np
import pytest

from contexts import columns_of, context_of, problem_of, proposals_of, run, stages_named, table
from prunesymnet.bank.bank import Term
from prunesymnet.bank.dictionary import Dictionary
from prunesymnet.expression import Constant, parse
from prunesymnet.search.stages.exact.squares import Sums, _inverse

STAGE = stages_named("squares")
FOUND = [
    "(x - 2.3*y/z + log(z))**2",  # three terms
    "(x - y/z - 1.7)**2",  # two, and a constant
    "v**2*x**2*(u/y - log(z))**2",  # behind a factor
    "x + (u - x/z + u/y**2)**2",  # beside a term
    "(x + y - 2.5*z)**4",  # a root of a root
    "1/(x - z/y + log(y))**2",  # in a function
]


def proposed(data):
    return proposals_of(run(context_of(data, stages=STAGE)))


def data_of(text):
    return table(text, names=parse(text).variables, rows=100, low=1.0, high=5.0)


@pytest.mark.parametrize("text", FOUND)
def test_it_is_found_where_it_is_exact(text):
    data = data_of(text)
    found = proposed(data)
    assert found
    values = [np.asarray(context_of(data).problem.unexplained(proposal.expression)) for proposal in found]
    assert max(values) < 1e-9


@pytest.mark.parametrize("text", FOUND[:3])
def test_nothing_is_proposed_where_there_is_noise(text):
    data = data_of(text)
    noise = 1e-6 * np.random.default_rng(0).normal(size=data.rows)
    assert proposed(replace(data, y=data.y * (1 + noise))) == []


@pytest.mark.parametrize("text", ["exp(x)/(x + y)", "(sin(x*y) - 3*z)**2", "-(x - y)**2"])
def test_nothing_is_proposed_for_other_formulas(text):
    assert all(proposal.exact for proposal in proposed(data_of(text)))


def test_few_rows_are_not_asked():
    assert proposed(table("(x - y)**2", names="xy", rows=8)) == []


def test_inverses_are_those_of_matrices():
    matrices = np.random.default_rng(0).normal(size=(50, 3, 3))
    np.testing.assert_allclose(_inverse(matrices), np.linalg.inv(matrices), rtol=1e-6, atol=1e-9)
    assert not _inverse(np.ones((1, 3, 3))).any()


@pytest.mark.parametrize("kind", ["mostly ones", "mostly noughts", "a column of categories"])
def test_rows_that_are_alike_tell_nothing_and_take_no_time(kind, monkeypatch):
    rng = np.random.default_rng(0)
    columns = columns_of(rows=20, low=0.5, high=3.0)
    y = np.full(20, 0.0 if kind == "mostly noughts" else 1.0)
    y[3] = 9.0
    if kind == "a column of categories":
        columns |= {"z": rng.integers(0, 2, 20) * 1.0, "u": rng.integers(0, 2, 20) * 1.0}
        y = rng.integers(0, 3, 20) * 1.0
    asked = []
    monkeypatch.setattr(Dictionary, "holds", lambda *_: asked.append(1) or [False])
    context = context_of(problem_of(columns, y))
    list(Sums([Term(np.ones(20), Constant(1)), *(context.words.term(k) for k in range(72))]).of_size(np.sqrt(y)[None]))
    assert len(asked) < 100
