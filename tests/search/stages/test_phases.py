"""Two frequencies at once."""

import pytest

from contexts import problem, term
from prunesymnet.bank.query import Query
from prunesymnet.operators import DEFAULT
from prunesymnet.search.stages.phases import phases


def test_more_may_be_kept_than_there_are():
    truth = problem("sin(2*x + y)", DEFAULT)
    nodes = [term(truth.columns, name) for name in "xy"]
    assert phases([Query(truth.target)], nodes, 4, 5000, ("sin", "cos"))


@pytest.mark.parametrize("names", [("sin", "cos"), ("sin",), ("cos",)])
def test_two_frequencies_are_found_at_once(names):
    truth = problem("3*sin(2*x*y - 1.5*(x + y) + 0.4) + 7", DEFAULT, low=-3, high=3, rows=120)
    nodes = [term(truth.columns, text) for text in ("x", "y", "x*y", "x + y")]
    found = phases([Query(truth.target)], nodes, 64, 5, names)
    assert len(found) <= 10
    assert min(proposal.unexplained for proposal in found) < 0.3  # the grid is as fine as a fit needs
    for proposal in found:
        assert {name for name in ("sin", "cos") if f"{name}(" in str(proposal.expression)} == {names[0]}


def test_beside_fixed_terms_a_weak_wave_is_found():
    truth = problem("5*x + 0.2*sin(3*x - 2*y)", DEFAULT, rows=120)
    nodes = [term(truth.columns, name) for name in "xy"]
    (best, *_) = phases([Query(truth.target, (nodes[0],))], nodes, 64, 3, ("sin", "cos"))
    assert truth.unexplained(best.expression) < 0.2 * truth.unexplained(Query(truth.target).formula([nodes[0]]))
