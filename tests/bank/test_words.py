"""Words: their values are those of their formulas, each is there once, and the simplest come first."""

import numpy as np
import pytest

from contexts import columns_of
from prunesymnet.bank.words import words_of
from prunesymnet.expression import evaluate
from prunesymnet.operators import DEFAULT, select_operators


def terms(words):
    return [words.term(k) for k in range(len(words))]


def texts(columns, operators=DEFAULT, most=5000):
    return {str(word.expression) for word in terms(words_of(columns, select_operators(operators), most))}


@pytest.mark.parametrize("names", ["x", "xy", "xyzu"])
def test_words_have_the_values_of_their_formulas(names):
    columns = columns_of(30, low=0.5, high=3.0, names=names)
    words = words_of(columns, select_operators(DEFAULT), most=500)
    assert words.complexity.tolist() == [word.expression.complexity for word in terms(words)]
    assert words.complexity.tolist() == sorted(words.complexity)
    assert len({str(word.expression) for word in terms(words)}) == len(words)
    for word in terms(words):
        np.testing.assert_allclose(word.values, evaluate(word.expression, columns).values, rtol=1e-9)


def test_there_are_as_many_as_are_wanted():
    assert len(words_of(columns_of(30, low=0.5, names="xyzu"), select_operators(DEFAULT), most=50)) == 50


def test_without_quotients_there_are_only_products():
    words = texts(columns_of(30, low=0.5, names="xy"), ["+", "*", "sin", "cos"])
    assert words
    assert not any("/" in text.replace("1/2", "").replace("3/2", "") for text in words)


def test_columns_with_zeros_and_of_both_signs_have_the_words_that_are_finite():
    columns = {"x": np.linspace(-2, 2, 31), "y": np.linspace(1, 2, 31)}
    names = texts(columns)
    assert {"x", "x**2", "x*y", "x/y", "sin(x)"} <= names
    assert not {"1/x", "sqrt(x)", "y/x"} & names


def test_products_of_three_columns_with_a_wave_are_there_and_the_tangent():
    names = texts(columns_of(30, low=0.5, names="xyz"), most=20_000)
    assert {"x*y/z*cos(z)", "x*(sin(y)/cos(y))", "1/cos(x)**2"} <= names


def test_no_word_is_left_out_for_one_that_is_larger():
    columns = columns_of(30, low=0.5, names="xyz")
    assert texts(columns, most=300) <= texts(columns, most=1000) <= texts(columns, most=10**6)


def test_one_column_alone_and_no_functions():
    assert texts({"x": np.linspace(1, 2, 9)}, ["+", "/"]) >= {"x", "1/x", "x**2", "x**(1/2)", "x**4"}
