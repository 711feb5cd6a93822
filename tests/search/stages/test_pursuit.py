"""Pursuit of several terms: constructed sums are found, term by term or after a swap."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from contexts import problem_of, term
from prunesymnet.bank.bank import grow_bank
from prunesymnet.bank.query import Scanner
from prunesymnet.bank.targets import unwrap
from prunesymnet.expression import evaluate, parse, postorder
from prunesymnet.operators import PAPER, select_operators
from prunesymnet.search.stages.pursuit import State, pursue

COLUMNS = {name: np.random.default_rng(k).uniform(-2, 2, 90) for k, name in enumerate("xyz")}
BANK = grow_bank(COLUMNS, size=150)


def targets_of(target, operators=()):
    return {
        one.text: one
        for one in unwrap(problem_of(COLUMNS, target).target, [], select_operators(operators) if operators else {})
    }


def sums(target, starts=((),), beam=3, steps=3, workers=1, bank=BANK):
    return pursue(targets_of(target)["g"], bank, Scanner(5, workers), starts=list(starts), beam=beam, steps=steps)


def values_of(text):
    return evaluate(parse(text), COLUMNS).values


FORMULAS = [
    "3*x*sin(y) + 2*z**2 - 1",
    "x*y - 2*exp(z) + 3*cos(x)",
    "2*x*exp(y) - 3*sin(z)*x + y**2",
    "x*y*z + 4*cos(y) - x**2*z",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_sum_of_terms_is_found(text):
    target = values_of(text)
    best = sums(target)[0]
    assert best.exact
    np.testing.assert_allclose(evaluate(best.expression, COLUMNS).values, target, atol=1e-6 * np.abs(target).max())


def test_in_the_presence_of_noise_the_terms_are_those_of_the_formula():
    target = values_of("3*x*sin(y) + 2*z**2") + 0.05 * np.random.default_rng(0).normal(size=90)
    best = sums(target)[0]
    ratio = best.unexplained * np.var(target) / 0.05**2
    assert 0.5 < ratio < 1.5
    assert best.expression.complexity < 25


def test_terms_to_start_from_are_kept():
    target = values_of("5*x**3 + 2*y**3 + sin(z)*x")
    start = (term(COLUMNS, "x**3"), term(COLUMNS, "y**3"))
    (best, *_) = sums(target, starts=[start], steps=1)
    assert best.exact
    assert {"x**3", "y**3"} <= {str(part) for part in postorder(best.expression)}


def test_a_wrong_term_is_swapped_for_the_right_one():
    target = values_of("2*x*exp(y) - 3*sin(z)")
    wrong = (term(COLUMNS, "sin(x)*y"),)
    found = sums(target, starts=[wrong], steps=1, beam=1)
    assert not any("sin(x)*y" in str(part) for part in postorder(found[0].expression))
    assert found[0].exact


def test_the_first_is_of_least_description_length_and_no_two_have_the_same_terms():
    target = values_of("3*x*sin(y) + 2*z**2 - 1") + 0.3 * np.random.default_rng(1).normal(size=90)
    found = sums(target)
    assert 1 < len(found) <= 12
    assert len({str(proposal.expression) for proposal in found}) == len(found)
    lengths = [45 * np.log2(p.unexplained) + 2 * p.expression.complexity for p in found]
    assert lengths[0] < np.median(lengths)
    for proposal in found:
        assert set(proposal.expression.variables) <= set(COLUMNS)
        assert evaluate(proposal.expression, COLUMNS).finite.all()


def test_what_is_unexplained_is_what_the_formula_leaves():
    target = values_of("3*x*sin(y) + 2*z**2") + 0.3 * np.random.default_rng(1).normal(size=90)
    weights = targets_of(target)["g"].weights
    variation = weights @ (target - weights @ target) ** 2
    for proposal in sums(target):
        left = weights @ (evaluate(proposal.expression, COLUMNS).values - target) ** 2
        assert proposal.unexplained == pytest.approx(left / variation, rel=1e-6)


def test_a_sum_inside_an_operator_is_found_for_its_target():
    target = np.exp(values_of("0.3*x*sin(y) + 0.2*z**2"))
    inside = targets_of(target, PAPER)["exp(g)"]
    best = pursue(inside, BANK, Scanner(), starts=[()], beam=3, steps=2)[0]
    np.testing.assert_allclose(evaluate(best.expression, COLUMNS).values, target, rtol=1e-6)


def test_any_number_of_workers_finds_the_same_and_so_does_a_second_run():
    target = values_of("x*y - 2*exp(z) + 3*cos(x)") + 0.1 * np.random.default_rng(1).normal(size=90)
    with threadpool_limits(1, user_api="blas"):
        one, again, two = sums(target), sums(target), sums(target, workers=2)
    assert one == again == two


def test_a_bank_without_nodes_has_no_answer():
    assert sums(values_of("x*y"), bank=grow_bank({"x": np.full(90, 3.0)})) == []


def test_a_state_is_its_terms_in_any_order_and_longer_with_more():
    x, y = term(COLUMNS, "x*y"), term(COLUMNS, "sin(z)")
    assert State((x, y), 0.5).key == State((y, x), 0.1).key != State((x,), 0.5).key
    assert State((x,), 0.5).length(90) < State((x, y), 0.5).length(90)
    assert State((x, y), 0.1).length(90) < State((x,), 0.5).length(90)
    assert np.isfinite(State((x,), 0.0).length(90))
    assert State((), 1.0).length(90) == 0


def test_it_looks_at_the_limits_between_its_steps():
    def stop():
        raise TimeoutError

    with pytest.raises(TimeoutError):
        pursue(targets_of(values_of("x*y"))["g"], BANK, Scanner(), starts=[()], beam=1, check=stop)
