"""Proposals that wait: which go at once, and in which order the others come."""

import numpy as np

from prunesymnet.bank.query import Proposal
from prunesymnet.expression import parse
from prunesymnet.search.waiting import AT_ONCE, Waiting


def leaves(*proposals):
    """What each formula leaves, as the proposals say."""
    known = {str(proposal.expression): proposal.unexplained for proposal in proposals}
    return lambda proposal: known[str(proposal.expression)]


def test_what_seems_exact_and_the_most_promising_go_at_once():
    long = "sin(x*y) + exp(x)*cos(y)/(1 + x**2)"
    exact = [Proposal(parse("x*y"), 1e-20), Proposal(parse("x"), 0.0)]
    accurate = [Proposal(parse(long), 0.01 + k / 100) for k in range(AT_ONCE)]
    short = [Proposal(parse("x"), 0.2), Proposal(parse("y"), 0.21)]
    others = [Proposal(parse(long), 0.5 + k / 10) for k in range(3)]
    waiting = Waiting(rows=10)  # few rows: what is short is worth more than what is accurate
    at_once = waiting.add("a", [*others, *short, *accurate, *exact])
    assert at_once[:2] == exact
    assert {id(p) for p in at_once[2:]} == {id(p) for p in [*accurate, *short]}
    assert [id(p) for _, p in waiting.proposals] == [id(p) for p in others]


def test_no_proposal_is_taken_twice():
    waiting = Waiting(rows=100)
    proposals = [Proposal(parse("x"), 0.1), Proposal(parse("x*y"), 0.2)]
    assert len(waiting.add("a", proposals)) == 2
    assert waiting.take(5, leaves(*proposals)) == []


def test_half_come_by_length_and_half_best_of_each_complexity_with_the_stages_in_turn():
    texts = {"a": ["x", "y", "x**2", "y**2", "x + y", "x*y"], "b": ["exp(x)", "exp(y)", "x*exp(x)", "y*exp(x)"]}
    every = [
        (stage, Proposal(parse(text), 0.1 + 0.05 * k + (0.5 if stage == "b" else 0.0)))
        for stage, group in texts.items()
        for k, text in enumerate(group)
    ]
    waiting = Waiting(4, every[::-1])  # of so few rows, what is simple is short
    unexplained = leaves(*(proposal for _, proposal in every))
    order = waiting.take(100, unexplained)
    assert sorted(map(repr, order)) == sorted(map(repr, every))
    assert [str(proposal.expression) for _, proposal in order[:3]] == ["x", "exp(x)", "y"]
    assert Waiting(4, list(every)).take(4, unexplained) == order[:4]


def test_proposals_are_compared_by_what_they_leave_of_the_target():
    of_other_targets = [("a", Proposal(parse("x"), 1e-9)), ("a", Proposal(parse("y"), 1e-3))]
    taken = Waiting(100, of_other_targets).take(1, lambda proposal: 0.5 if str(proposal.expression) == "x" else 0.1)
    assert [str(proposal.expression) for _, proposal in taken] == ["y"]


def test_what_is_not_taken_is_given_up():
    waiting = Waiting(100, [("a", Proposal(parse("x"), 0.1 * k)) for k in range(1, 9)])
    assert len(waiting.take(3, lambda proposal: 0.5)) == 3
    assert waiting.take(3, lambda proposal: 0.5) == []


def test_the_length_grows_with_the_formula_and_with_what_it_leaves():
    waiting = Waiting(100)
    lengths = [waiting.length(Proposal(parse(text), left)) for text, left in (("x", 0.1), ("x*y", 0.1), ("x*y", 0.2))]
    assert np.all(np.diff(lengths) > 0)
