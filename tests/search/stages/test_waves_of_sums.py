"""Waves of sums of simple terms."""

from dataclasses import replace

import numpy as np
import pytest

from contexts import columns_of, context_of, problem, proposals_of, run, stages_named, table, table_of
from prunesymnet.bank.bank import Term
from prunesymnet.expression import evaluate, parse
from prunesymnet.operators import DEFAULT
from prunesymnet.search.stages.waves_of_sums import WAVES_OF_SUMS, Sums, propose

ROWS = {"rows": 120, "low": 1.0, "high": 5.0}
FOUND = [
    "cos(x*y + z/u + 1.77)",
    "2.5*sin(x - y**2 + z) + 1",  # with an amplitude and an offset
    "sin(x*z + y - cos(x))",  # of a function
    "sin(z + x/y - 9) - z",  # beside a term
    "x*sin(y - z*u + x)",  # behind a factor
    "exp(sin(x + y - z))",  # in a function
]


@pytest.mark.parametrize("text", FOUND)
def test_it_is_found_where_it_is_exact(text):
    data = table(text, names=parse(text).variables, **ROWS)
    found = proposals_of(run(context_of(data, stages=stages_named("waves_of_sums"))))
    assert min(proposal.unexplained for proposal in found) < 1e-12


def test_one_of_the_terms_may_have_any_frequency():
    data = table("sin(x + y**2 + 0.37*x*y*z)", names="xyz", **ROWS)
    found = proposals_of(run(context_of(data, stages=stages_named("waves_of_sums"))))
    assert min(proposal.unexplained for proposal in found) < 0.2  # the grid is as fine as a fit needs


def test_noise_does_not_hide_it_and_gets_no_functions_inside():
    data = table("cos(x*y + z)", noise=0.1, names="xyz", **ROWS)
    found = proposals_of(run(context_of(data, stages=stages_named("waves_of_sums"))))
    assert min(proposal.unexplained for proposal in found) < 0.05
    noise = replace(data, y=np.random.default_rng(0).normal(size=data.rows))
    for proposal in proposals_of(run(context_of(noise, stages=stages_named("waves_of_sums")))):
        assert not {"exp", "log"} & {name for name in ("exp", "log") if name in str(proposal.expression)}


@pytest.mark.parametrize("names", [("sin",), ("cos",)])
def test_only_the_wave_that_is_asked_for_is_used(names):
    others = [name for name in DEFAULT if name not in ("sin", "cos")]
    truth = problem("cos(x*y + z + 0.4)", [*others, *names], names="xyz", **ROWS)
    found = [proposal for batch in propose(context_of(truth)) for proposal in batch.proposals]
    assert min(proposal.unexplained for proposal in found) < 1e-12
    assert not any(f"{name}(" in str(p.expression) for p in found for name in {"sin", "cos"} - set(names))


def test_it_needs_waves():
    assert not WAVES_OF_SUMS.can_run(problem("x + y", ("+", "*")))


def test_a_frequency_may_be_larger_than_any_whole_number_that_is_exact():
    terms = [Term(np.linspace(0.0, 1.0, 9), parse("x"))]
    sums = Sums.of(terms, np.zeros(1, dtype=bool), pairs_of=1)
    assert sums.formula(np.array([2.0])).constants == ()
    assert sums.formula(np.array([2.0**70])).constants == (2.0**70,)


@pytest.mark.filterwarnings("ignore:column 'z' is 2.5 in every row")
def test_a_column_that_does_not_vary_has_no_frequency():
    columns = columns_of(names="xyz", **ROWS) | {"z": np.full(ROWS["rows"], 2.5)}
    data = table_of(columns, evaluate(parse("sin(x - y**2 + 0.37*z*x)"), columns).values)
    found = proposals_of(run(context_of(data, stages=stages_named("waves_of_sums"))))
    assert found
