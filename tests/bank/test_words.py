"""Words: their values are those of their formulas, each is there once, and the simplest come first."""

import numpy as np
import pytest

from contexts import columns_of
from prunesymnet.bank.words import words_of
from prunesymnet.expression import evaluate
from prunesymnet.operators import DEFAULT, select_operators


@pytest.mark.parametrize("names", ["x", "xy", "xyzu"])
def test_words_have_the_values_of_their_formulas(names):
    columns = columns_of(30, low=0.5, high=3.0, names=names)
    words = words_of(columns, select_operators(DEFAULT), most=500)
    assert len({str(word.expression) for word in words}) == len(words)
    sizes = [word.expression.complexity for word in words]
    assert sizes == sorted(sizes)
    for word in words:
        np.testing.assert_allclose(word.values, evaluate(word.expression, columns).values, rtol=1e-9)


def test_there_are_as_many_as_are_wanted():
    assert len(words_of(columns_of(30, low=0.5, names="xyzu"), select_operators(DEFAULT), most=50)) == 50


def test_without_quotients_there_are_only_products():
    words = words_of(columns_of(30, low=0.5, names="xy"), select_operators(["+", "*"]), most=500)
    assert words
    assert not any("/" in str(word.expression).replace("1/2", "").replace("3/2", "") for word in words)


def test_columns_with_zeros_and_of_both_signs_have_the_words_that_are_finite():
    columns = {"x": np.linspace(-2, 2, 31), "y": np.linspace(1, 2, 31)}
    names = {str(word.expression) for word in words_of(columns, select_operators(DEFAULT), most=500)}
    assert {"x", "x**2", "x*y", "x/y", "sin(x)"} <= names
    assert not {"1/x", "sqrt(x)", "y/x"} & names
