"""Products of powers: constructed ones are found, with the signs that a logarithm loses."""

import numpy as np
import pytest

import contexts
from contexts import problem_of, proportional, values_of
from prunesymnet.bank.bank import grow_bank
from prunesymnet.expression import evaluate, parse
from prunesymnet.operators import PAPER
from prunesymnet.search.stages.powers import products_of_powers


def columns_of(low=0.3, rows=80, names="xyz"):
    return contexts.columns_of(rows, low=low, names=names)


def powers(columns, target, size=600, keep=5):
    truth = problem_of(columns, target)
    return products_of_powers(truth, grow_bank(truth.columns, PAPER, size), keep)


def fits(proposal, columns, target):
    return proportional(values_of(proposal, columns), target)


FORMULAS = [
    "3*(x + y)**2*z",
    "(x + y)**(3/2)/(1 + z)",
    "x**2*y/sqrt(1 + z)",
    "sqrt(x**2 + y**2)*z**3",
    "2.5*sin(x)**2/(y + z)",
    "exp(x)*y**(-2.3)",
    "(1 + x)**0.7*(y + z)**1.8",
    "x*(1 + y)**2/(x + z)**3",
    "2.5*x*(1 + y)**z",
    "y**x/(1 + z)**2",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_product_of_powers_is_found(text):
    columns = columns_of()
    target = evaluate(parse(text), columns).values
    found = powers(columns, target)
    exact = [proposal for proposal in found if fits(proposal, columns, target)]
    assert exact
    assert min(proposal.unexplained for proposal in exact) < 1e-12


def test_an_exponent_that_is_exact_is_left_as_it_is():
    columns = columns_of()
    target = evaluate(parse("(1 + x)**0.7*(y + z)**1.9"), columns).values
    found = powers(columns, target)
    assert min(proposal.unexplained for proposal in found) < 1e-12
    assert any(fits(proposal, columns, target) for proposal in found)


@pytest.mark.parametrize("text", ["-2*(x + y)**3*z", "x**2*(1 + x*y)/z", "(x - y)**2*(1 + z)"])
def test_signs_come_back_with_whole_exponents(text):
    columns = columns_of(low=-2)
    target = evaluate(parse(text), columns).values
    assert (columns["x"] + columns["y"] < 0).any()
    assert any(fits(proposal, columns, target) for proposal in powers(columns, target))


def test_no_root_is_taken_of_a_negative_number():
    columns = columns_of(low=-2)
    target = np.abs(columns["x"] + columns["y"]) ** 1.5 * np.abs(columns["z"])
    for proposal in powers(columns, target):
        assert evaluate(proposal.expression, columns).finite.all(), str(proposal.expression)


def test_proposals_are_different_and_use_the_columns_only():
    columns = columns_of()
    found = powers(columns, evaluate(parse("(x + y)**(3/2)/(1 + z)"), columns).values)
    assert len({str(proposal.expression) for proposal in found}) > 10
    for proposal in found:
        assert set(proposal.expression.variables) <= set(columns)
        assert 0 <= proposal.unexplained <= 1


def test_what_is_found_is_found_again():
    columns = columns_of()
    target = evaluate(parse("x**2*y/sqrt(1 + z) + 0.1*x"), columns).values
    assert powers(columns, target) == powers(columns, target)


def test_a_few_rows_of_zero_do_no_harm_and_many_end_it():
    columns = columns_of()
    columns["x"][:5] = 0.0
    target = columns["x"] * (columns["y"] + columns["z"]) ** 2
    assert any(set(p.expression.variables) >= {"y", "z"} for p in powers(columns, target))
    target[:20] = 0.0
    assert powers(columns, target) == []


def test_a_bank_of_one_node_has_no_products():
    columns = columns_of(names="x")
    assert powers(columns, columns["x"] ** 2, size=1) == []
