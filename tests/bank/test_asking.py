"""Questions to the bank: exact answers first, then the best of each complexity."""

import numpy as np
import pytest

from prunesymnet.bank.asked import Asked
from prunesymnet.bank.asking import AT_A_TIME, PER_KEEP, ask_pairs, ask_singles, in_parts, left_by
from prunesymnet.bank.bank import grow_bank
from prunesymnet.bank.scan import scan
from prunesymnet.bank.targets import plain, unwrap
from prunesymnet.expression import evaluate, parse
from prunesymnet.operators import PAPER

COLUMNS = {name: np.random.default_rng(k).uniform(0.5, 2, 80) for k, name in enumerate("xyz")}
BANK = grow_bank(COLUMNS, PAPER, 200)


def values_of(text):
    return evaluate(parse(text), COLUMNS).values


def asked(text, noise=0.0):
    return Asked(plain(values_of(text) + noise * np.random.default_rng(9).normal(size=80)))


def check_order(proposals):
    exact = [proposal.exact for proposal in proposals]
    assert exact == sorted(exact, reverse=True)
    sizes = [proposal.expression.complexity for proposal in proposals if proposal.exact]
    assert sizes[:1] == sorted(sizes)[:1]


@pytest.mark.parametrize("text", ["3*x*sin(y) - 1", "2*exp(x) + y**2 + 5", "x*y", "sin(x) - cos(z)"])
def test_an_exact_pair_comes_first(text):
    found = ask_pairs([asked("exp(x*y*z)", 0.1), asked(text)], BANK, "pairs", keep=3)
    assert found[0].exact
    assert found[0].source == "pairs"
    check_order(found)
    np.testing.assert_allclose(evaluate(found[0].expression, COLUMNS).values, values_of(text), atol=1e-7)


def test_several_exact_pairs_come_simplest_first():
    found = [p for p in ask_pairs([asked("x*y*z")], BANK, "pairs", keep=5) if p.exact]
    assert len(found) > 1
    check_order(found)


def test_there_are_at_most_so_many_proposals_and_no_more_for_more_questions():
    for keep in (1, 4):
        assert len(ask_pairs([asked("exp(x*y)/z", 0.1)] * 3, BANK, "pairs", keep=keep)) <= PER_KEEP * keep
        assert len(ask_singles([asked("exp(x*y)/z", 0.1)] * 3, BANK, "singles", keep=keep)[0]) <= PER_KEEP * keep


def test_without_an_exact_one_the_best_of_each_complexity_come_first():
    found = ask_pairs([asked("exp(x*y)/z + sin(3*x)", 0.1)], BANK, "pairs", keep=3)
    assert not any(proposal.exact for proposal in found)
    assert found[0].unexplained == min(proposal.unexplained for proposal in found)


def test_what_a_proposal_leaves_is_what_its_formula_leaves():
    one = asked("exp(x*y)/z", 0.1)
    for proposal in ask_pairs([one], BANK, "pairs", keep=3):
        rest = one.frame.target - evaluate(proposal.expression, COLUMNS).values
        assert np.var(rest) / np.var(one.frame.target) == pytest.approx(proposal.unexplained, rel=1e-6, abs=1e-12)


def test_a_single_node_answers_and_the_best_of_each_question_is_named():
    texts = ["3*sin(x) + 1", "x*y", "2 - exp(z)"]
    found, best = ask_singles([asked(text) for text in texts], BANK, "singles", keep=2)
    assert [proposal.exact for proposal in found[:3]] == [True] * 3
    assert {proposal.source for proposal in found} == {"singles"}
    assert len(best) == 3
    for text, (left, node) in zip(texts, best, strict=True):
        assert left < 1e-12
        assert abs(np.corrcoef(BANK.values[node], values_of(text))[0, 1]) == pytest.approx(1, abs=1e-9)


def test_an_unwrapped_target_is_wrapped_again():
    target = values_of("exp(x*sin(y) + 1)")
    frames = [Asked(frame) for frame in unwrap(target, [], PAPER)]
    found = ask_pairs(frames, BANK, "questions", keep=3)
    assert found[0].exact
    np.testing.assert_allclose(evaluate(found[0].expression, COLUMNS).values, target, rtol=1e-7)


@pytest.mark.parametrize("products", [True, False])
def test_what_pairs_leave_is_between_nothing_and_all(products):
    question = asked("x/y + z", 0.01).question()
    (pairs,) = scan(BANK.values, BANK.complexity, [question], products=products, keep=5)
    left = left_by(pairs, BANK, products, question)
    assert left.shape == (len(pairs),)
    assert ((left >= 0) & (left <= 1 + 1e-12)).all()


def test_no_question_no_answer():
    assert ask_pairs([], BANK, "pairs", keep=3) == []


@pytest.mark.parametrize(("count", "sizes"), [(0, []), (1, [1]), (5, [5]), (6, [5, 1]), (15, [5, 5, 5])])
def test_parts_are_all_items_in_order(count, sizes):
    parts = list(in_parts(list(range(count)), 5))
    assert [len(part) for part in parts] == sizes
    assert [item for part in parts for item in part] == list(range(count))


def test_parts_are_of_so_many_unless_told():
    assert [len(part) for part in in_parts(list(range(AT_A_TIME + 1)))] == [AT_A_TIME, 1]


def test_a_small_term_beside_a_large_constant_is_kept():
    x = COLUMNS["x"]
    formula = Asked(plain(1e11 + np.sin(x))).formula([(np.sin(x), parse("sin(x)"))])
    assert "sin" in str(formula)


def test_a_term_that_adds_nothing_is_left_out():
    x, y = COLUMNS["x"], COLUMNS["y"]
    formula = Asked(plain(3 * np.sin(x) + 1), ((y, parse("y")),)).formula([(np.sin(x), parse("sin(x)"))])
    assert formula.variables == ("x",)
