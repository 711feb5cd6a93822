"""Queries to a bank: the formulas of their answers, exact ones first, then the best of each complexity."""

from itertools import pairwise

import numpy as np
import pytest

from contexts import columns_of, term
from prunesymnet.bank.bank import Term, grow_bank
from prunesymnet.bank.query import EXACT, PROPOSALS, Proposal, Query, Scanner, by_rank, in_parts, left_by_pairs
from prunesymnet.bank.regression import unexplained
from prunesymnet.bank.targets import Target, unwrap
from prunesymnet.expression import Constant, Variable, evaluate, parse
from prunesymnet.operators import PAPER, select_operators

COLUMNS = {name: np.random.default_rng(k).uniform(0.5, 2, 80) for k, name in enumerate("xyz")}
BANK = grow_bank(COLUMNS, PAPER, 200)


def values_of(text):
    return evaluate(parse(text), COLUMNS).values


def query(text, noise=0.0):
    return Query(Target.of(values_of(text) + noise * np.random.default_rng(9).normal(size=80)))


def check_order(proposals):
    exact = [proposal.exact for proposal in proposals]
    assert exact == sorted(exact, reverse=True)
    sizes = [proposal.expression.complexity for proposal in proposals if proposal.exact]
    assert sizes[:1] == sorted(sizes)[:1]


# ---- answers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["3*x*sin(y) - 1", "2*exp(x) + y**2 + 5", "x*y", "sin(x) - cos(z)"])
def test_an_exact_pair_comes_first(text):
    found = Scanner(keep=3).pairs([query("exp(x*y*z)", 0.1), query(text)], BANK).proposals
    assert found[0].exact
    check_order(found)
    np.testing.assert_allclose(evaluate(found[0].expression, COLUMNS).values, values_of(text), atol=1e-7)


def test_several_exact_pairs_come_simplest_first():
    found = [p for p in Scanner(keep=5).pairs([query("x*y*z")], BANK).proposals if p.exact]
    assert len(found) > 1
    check_order(found)


def test_there_are_at_most_so_many_proposals_and_no_more_for_more_queries():
    for keep in (1, 4):
        queries = [query("exp(x*y)/z", 0.1)] * 3
        assert len(Scanner(keep=keep).pairs(queries, BANK).proposals) <= PROPOSALS * keep
        assert len(Scanner(keep=keep).singles(queries, BANK).proposals) <= PROPOSALS * keep


def test_without_an_exact_one_the_best_of_each_complexity_come_first():
    found = Scanner(keep=3).pairs([query("exp(x*y)/z + sin(3*x)", 0.1)], BANK).proposals
    assert not any(proposal.exact for proposal in found)
    assert found[0].unexplained == min(proposal.unexplained for proposal in found)


def test_what_a_proposal_leaves_is_what_its_formula_leaves():
    one = query("exp(x*y)/z", 0.1)
    for proposal in Scanner(keep=3).pairs([one], BANK).proposals:
        rest = one.target.values - evaluate(proposal.expression, COLUMNS).values
        assert np.var(rest) / np.var(one.target.values) == pytest.approx(proposal.unexplained, rel=1e-6, abs=1e-12)


def test_a_single_node_answers_and_the_best_of_each_query_is_named():
    texts = ["3*sin(x) + 1", "x*y", "2 - exp(z)"]
    found, best, scored = Scanner(keep=2).singles([query(text) for text in texts], BANK)
    assert [proposal.exact for proposal in found[:3]] == [True] * 3
    assert len(best) == 3
    assert scored == 3 * len(BANK)
    for text, (left, node) in zip(texts, best, strict=True):
        assert left < 1e-12
        assert abs(np.corrcoef(BANK.values[node], values_of(text))[0, 1]) == pytest.approx(1, abs=1e-9)


def test_an_unwrapped_target_is_wrapped_again():
    y = values_of("exp(x*sin(y) + 1)")
    queries = [Query(target) for target in unwrap(Target.of(y), [], select_operators(PAPER))]
    found = Scanner(keep=3).pairs(queries, BANK).proposals
    assert found[0].exact
    np.testing.assert_allclose(evaluate(found[0].expression, COLUMNS).values, y, rtol=1e-7)


@pytest.mark.parametrize("products", [True, False])
def test_what_pairs_leave_is_between_nothing_and_all(products):
    regression = query("x/y + z", 0.01).regression()
    (pairs,) = Scanner(keep=5).scan(BANK, [regression], products=products)
    left = left_by_pairs(pairs, BANK, products, regression)
    assert left.shape == (len(pairs),)
    assert ((left >= 0) & (left <= 1 + 1e-12)).all()


def test_no_query_no_answer():
    assert Scanner().pairs([], BANK) == ([], [], 0)


# ---- formulas -----------------------------------------------------------------------------------------


def targets_of(columns, text, operators=()):
    y = evaluate(parse(text), columns).values
    table = select_operators(operators) if operators else {}
    return {target.text: target for target in unwrap(Target.of(y), [], table)}, y


def test_the_formula_of_an_answer_has_the_coefficients_of_least_squares():
    columns = columns_of()
    targets, y = targets_of(columns, "3*sin(x) - 2*x*y + 0.5*y**2 + 7")
    with_sine = Query(targets["g"], (term(columns, "sin(x)"),))
    formula = with_sine.formula([term(columns, "x*y"), term(columns, "y**2")])
    np.testing.assert_allclose(evaluate(formula, columns).values, y, rtol=1e-9)
    assert sorted(formula.constants) == pytest.approx([-2, 0.5, 3, 7])


def test_a_denominator_is_fixed_like_a_term():
    columns = columns_of()
    targets, y = targets_of(columns, "(2 + 3*x*y)/(1 - 0.4*sin(x))")
    quotient = Query(targets["g"], denominator=term(columns, "sin(x)"))
    answer = term(columns, "x*y")
    assert unexplained(answer.values[None, None], quotient.regression())[0] < EXACT
    np.testing.assert_allclose(evaluate(quotient.formula([answer]), columns).values, y, rtol=1e-9)


def test_the_formula_of_an_answer_is_that_of_y():
    columns = columns_of()
    targets, y = targets_of(columns, "exp(2*x + (1 + 3*sin(y))/(2 - y**2/9))", PAPER)
    fixed = term(columns, "x"), term(columns, "x*y**2")
    formula = Query(targets["exp(g)"], fixed, term(columns, "y**2")).formula([term(columns, "sin(y)")])
    np.testing.assert_allclose(evaluate(formula, columns).values, y, rtol=1e-7)


def test_answers_that_do_not_fit_or_are_none_make_formulas_too():
    columns = columns_of()
    targets, y = targets_of(columns, "x + 3")
    plain = Query(targets["g"])
    weights = plain.target.weights
    assert evaluate(plain.formula([]), columns).values == pytest.approx(weights @ y / weights.sum())
    twice = plain.formula([term(columns, "x"), term(columns, "2*x")])
    np.testing.assert_allclose(evaluate(twice, columns).values, y)
    none = Term(np.zeros(60), Constant(0) * Variable("x"))
    assert np.isfinite(evaluate(plain.formula([none]), columns).values).all()


def test_a_small_term_beside_a_large_constant_is_kept():
    x = COLUMNS["x"]
    formula = Query(Target.of(1e11 + np.sin(x))).formula([Term(np.sin(x), parse("sin(x)"))])
    assert "sin" in str(formula)


def test_a_term_that_adds_nothing_is_left_out():
    x = COLUMNS["x"]
    with_y = Query(Target.of(3 * np.sin(x) + 1), (term(COLUMNS, "y"),))
    assert with_y.formula([term(COLUMNS, "sin(x)")]).variables == ("x",)


def test_a_query_with_more_in_it_is_more_complex():
    columns = columns_of(low=0.5)
    targets, _ = targets_of(columns, "x + 3", PAPER)
    x, product, y = (term(columns, text) for text in ("x", "x*y", "y"))
    sizes = [
        Query(targets["g"]), Query(targets["g"], (x,)), Query(targets["g"], (product,)),
        Query(targets["g"], (product,), y), Query(targets["exp(g)"], (product,), y),
    ]  # fmt: skip
    assert sizes[0].complexity == 0
    assert all(one.complexity < two.complexity for one, two in pairwise(sizes))


def test_a_proposal_is_exact_when_it_leaves_less_than_rounding():
    assert Proposal(parse("x"), 1e-20).exact
    assert not Proposal(parse("x"), EXACT).exact
    assert Proposal(parse("x"), 0.5, np.ones(3, dtype=bool)) == Proposal(parse("x"), 0.5)


# ---- order --------------------------------------------------------------------------------------------


def test_the_best_of_each_kind_come_before_the_second_best():
    items = [("a", 1), ("a", 2), ("a", 3), ("b", 5), ("b", 4), ("c", 9)]
    ranked = by_rank(items, lambda item: item[1], lambda item: item[0])
    assert ranked == [("a", 1), ("b", 4), ("c", 9), ("a", 2), ("b", 5), ("a", 3)]


@pytest.mark.parametrize(("count", "sizes"), [(0, []), (1, [1]), (5, [5]), (6, [5, 1]), (15, [5, 5, 5])])
def test_parts_are_all_items_in_order(count, sizes):
    parts = list(in_parts(list(range(count)), 5))
    assert [len(part) for part in parts] == sizes
    assert [item for part in parts for item in part] == list(range(count))
