"""Sums of the terms of a dictionary are told from what is none, in every row, and their terms are found."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contexts import columns_of
from prunesymnet.bank.bank import Term
from prunesymnet.bank.dictionary import (
    Dictionary,
    functions_of,
    polynomials_of_waves,
    polynomials_with_a_function,
    products_of,
    terms_of,
)
from prunesymnet.expression import Constant, evaluate, parse
from prunesymnet.operators import DEFAULT, select_operators

TABLE = select_operators(DEFAULT)
COLUMNS = columns_of(rows=90, low=1.0, high=4.0, names="xyz")
ONE = Term(np.ones(90), Constant(1))
WORDS = Dictionary.of([ONE, *terms_of(COLUMNS, TABLE)])


def values(text, columns=COLUMNS):
    return evaluate(parse(text), columns).values


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(1, len(WORDS.terms) - 1), st.integers(1, 99)), min_size=1, max_size=5))
def test_a_sum_of_any_terms_is_held_and_its_terms_are_found(chosen):
    wanted = dict(chosen)
    target = np.sum([c * WORDS.terms[k].values for k, c in wanted.items()], axis=0)
    assert WORDS.holds(target[None]).all()
    kept = WORDS.shortest(target, np.ones(90))
    found = np.sum([coefficient * term.values for term, coefficient in kept], axis=0)
    np.testing.assert_allclose(found, target, rtol=1e-9, atol=1e-9 * np.abs(target).max())
    assert len(kept) <= len(wanted) + 1


@pytest.mark.parametrize("text", ["exp(x*y/9)", "sqrt(x + 2.5)", "sin(3*x)", "x*y*z", "log(x + y)"])
def test_what_is_no_sum_is_not_held(text):
    assert not WORDS.holds(values(text)[None]).any()


def test_a_sum_of_squares_that_one_row_has_does_not_say_that_all_rows_fit():
    spike = values("x + y") * np.where(np.arange(90) == 7, 1e6, 1.0)
    target = spike + 1e-3 * values("sin(3*x*y)")
    with_spike = Dictionary.of([*WORDS.terms, Term(spike, parse("x + y"))])
    assert with_spike.holds(spike[None]).all()
    assert not with_spike.holds(target[None]).any()


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_a_target_that_is_not_finite_or_too_large_is_not_held(bad):
    target = values("x + y")
    target[3] = bad
    assert not WORDS.holds(np.array([target, np.zeros(90)])).any()


def test_one_more_term_makes_it_a_sum():
    target = values("x*y - 2*cos(x*z) + 1/y")
    assert not WORDS.holds(target[None]).any()
    more = WORDS.and_also(Term(values("cos(x*z)"), parse("cos(x*z)")))
    assert more.holds(target[None]).all()
    kept = [str(term.expression) for term, _ in more.shortest(target, np.ones(90))]
    assert sorted(kept) == ["1/y", "cos(x*z)", "x*y"]


def test_a_term_that_is_a_sum_already_adds_nothing():
    more = WORDS.and_also(Term(values("x*y - sin(z)"), parse("x*y - sin(z)")))
    assert len(more.basis) == len(WORDS.basis)


def test_terms_are_as_many_as_the_rows_can_tell_apart():
    few = {name: column[:20] for name, column in COLUMNS.items()}
    assert len(terms_of(few, TABLE)) < 0.6 * 20 < len(terms_of(COLUMNS, TABLE))
    assert [str(term.expression) for term in terms_of(few, TABLE)[:3]] == ["x", "y", "z"]


def test_only_functions_of_the_table_that_are_finite_on_the_rows():
    around_zero = {"x": np.linspace(-1, 1.1, 30)}
    found = {str(term.expression) for term in functions_of(around_zero, TABLE)}
    assert found == {"sin(x)", "cos(x)", "exp(x)", "log(x**2)"}
    assert functions_of(COLUMNS, select_operators(["+", "*"])) == []


def test_products_with_a_function():
    target = values("(x + y - 9)*(sqrt(z) + 2)")[None]
    assert not WORDS.holds(target).any()
    held = [function for function, words in polynomials_with_a_function(COLUMNS, TABLE) if words.holds(target).all()]
    assert [str(function.expression) for function in held] == ["sqrt(z)"]


def test_polynomials_need_rows_for_their_terms():
    few = {name: column[:12] for name, column in COLUMNS.items()}
    assert list(polynomials_with_a_function(few, TABLE)) == []


def test_any_product_of_sums_of_waves_is_a_sum_of_words():
    x, y, z = COLUMNS["x"], COLUMNS["y"], COLUMNS["z"]
    sine, cosine = np.sin(y), np.cos(y)
    products = np.array([cosine * sine * (cosine * sine**2 - 1) * (x - 5), (sine + 2 * cosine) ** 3, z * cosine**4])
    held = [words for words in polynomials_of_waves(COLUMNS, TABLE) if words.holds(products).all()]
    assert len(held) == 1
    assert not any(words.holds((x * z * sine)[None]).any() for words in polynomials_of_waves(COLUMNS, TABLE))


def test_without_waves_there_are_no_polynomials_of_them():
    assert list(polynomials_of_waves(COLUMNS, {name: row for name, row in TABLE.items() if name != "cos"})) == []


def test_what_does_not_fit_beside_other_products_stands_with_the_columns_alone():
    rng = np.random.default_rng(0)
    columns = {name: rng.uniform(1, 3, 150) for name in "abcdef"}
    lists = products_of(columns, TABLE)
    texts = [[str(term.expression) for term in terms] for terms in lists]
    assert len(lists) > 1
    assert all(set(columns) <= set(some) and len(some) < 0.6 * 150 for some in texts)
    every = [text for some in texts for text in some if text not in columns]
    assert len(set(every)) == len(every)
    assert {"a*b", "a/b", "1/a", "a**2", "a/(b*c)"} <= set(every)
