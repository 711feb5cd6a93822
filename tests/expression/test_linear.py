"""Sums of columns with coefficients: these are what the formula's values say, and free constants are never lost."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prunesymnet.expression import evaluate, parse, postorder
from prunesymnet.expression.linear import linear_coefficients_of

TERMS = st.dictionaries(st.sampled_from("xyzu"), st.integers(-9, 9).filter(bool), min_size=1)


def linear_coefficients(formula):
    found = {}
    for node in postorder(formula):
        found[id(node)] = linear_coefficients_of(node, [found[id(part)] for part in node.operands])
    return found[id(formula)]


@given(TERMS, st.integers(-5, 5), st.integers(1, 7))
def test_a_sum_has_the_coefficients_of_its_values(terms, constant, below):
    text = " + ".join(f"({c})*{name}" for name, c in terms.items())
    formula = parse(f"-(({text} + {constant})/{below})")
    found = linear_coefficients(formula)
    assert found == {name: Fraction(-c, below) for name, c in (*terms.items(), ("", constant))}
    columns = {name: np.array([k + 1.0, 2.5]) for k, name in enumerate("xyzu")}
    by_hand = sum(float(c) * (columns[name] if name else 1.0) for name, c in found.items())
    assert evaluate(formula, columns).values == pytest.approx(by_hand)


@pytest.mark.parametrize("text", ["x*y", "x**2", "x + x", "sin(x) + y", "2.5*(x + y)", "1.5*(2.5*x)", "3/x"])
def test_what_is_no_such_list_has_none(text):
    assert linear_coefficients(parse(text)) is None


def test_free_constants_have_no_value():
    assert linear_coefficients(parse("1.5*x - y/2.5 + 3*z + 0.5")) == {"x": None, "y": None, "z": 3, "": None}
