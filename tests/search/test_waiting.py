"""Proposals that wait: which go at once, and in which order the others come."""

import numpy as np

from prunesymnet.bank.query import Proposal
from prunesymnet.expression import parse
from prunesymnet.search.waiting import AT_ONCE, Waiting


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
    assert waiting.take(5) == []


def test_the_others_come_best_of_each_complexity_first_and_the_stages_in_turn():
    texts = {1: ["x", "y"], 2: ["x**2", "y**2"], 3: ["x + y", "x*y"]}
    every = [
        (stage, Proposal(parse(text), left))
        for stage, shift in (("a", 0.0), ("b", 0.5))
        for complexity, pair in texts.items()
        for left, text in zip((0.4 / complexity + shift, 0.45 / complexity + shift), pair, strict=True)
    ]
    waiting = Waiting(100, every[::-1])
    order = waiting.take(100)
    assert sorted(map(repr, order)) == sorted(map(repr, every))
    assert {stage for stage, _ in order[:2]} == {"a", "b"}
    for name in "ab":
        mine = [proposal for stage, proposal in order if stage == name]
        best, second = mine[:3], mine[3:]
        assert {str(proposal.expression) for proposal in best} == {"x", "x**2", "x + y"}
        assert [p.unexplained for p in best] == sorted(p.unexplained for p in best)
        assert [p.unexplained for p in second] == sorted(p.unexplained for p in second)
    assert Waiting(100, list(every)).take(4) == order[:4]


def test_what_is_not_taken_is_given_up():
    waiting = Waiting(100, [("a", Proposal(parse("x"), 0.1 * k)) for k in range(1, 9)])
    assert len(waiting.take(3)) == 3
    assert waiting.take(3) == []


def test_the_length_grows_with_the_formula_and_with_what_it_leaves():
    waiting = Waiting(100)
    lengths = [waiting.length(Proposal(parse(text), left)) for text, left in (("x", 0.1), ("x*y", 0.1), ("x*y", 0.2))]
    assert np.all(np.diff(lengths) > 0)
