"""Regressions: what candidates leave unexplained, against numpy's least squares."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prunesymnet.bank.regression import Regression, Residual, unexplained
from regressions import a_regression, fixed_terms_of, fraction_left, pool


@given(
    seed=st.integers(0, 10_000),
    count=st.integers(0, 4),
    terms=st.integers(0, 3),
    weighted=st.booleans(),
    scale=st.sampled_from([1.0, 1e-9, 1e9]),
)
@settings(max_examples=60)
def test_what_is_unexplained_is_the_residual_of_least_squares(seed, count, terms, weighted, scale):
    values, _ = pool(seed)
    regression = a_regression(seed, values, terms, weighted)
    candidates = np.random.default_rng(seed).choice(values * scale, (5, count))
    got = unexplained(candidates, regression)
    for fraction, candidate in zip(got, candidates, strict=True):
        expected = fraction_left(regression.target, [*fixed_terms_of(regression), *candidate], regression.weights)
        assert fraction == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_terms_that_depend_on_one_another_explain_what_they_do_without():
    values, _ = pool(3)
    target = values[0] + 0.1 * values[1]
    one, twice, with_constant, with_fixed = unexplained(
        np.array([[values[0], values[0]], [values[0], 2 * values[0]], [values[0], 5 + 0 * values[0]],
                  [values[0], values[2]]]),
        Regression(target, values[2:3]),
    )  # fmt: skip
    expected = fraction_left(target, [values[0], values[2]])
    assert [one, twice, with_constant, with_fixed] == pytest.approx([expected] * 4, rel=1e-9)


def test_an_exact_answer_leaves_nothing_and_a_useless_one_all():
    values, _ = pool(4)
    target = 1e6 + 3 * values[0] * values[1]
    exact, useless = unexplained(np.array([[values[0] * values[1]], [np.ones(40)]]), Regression(target))
    assert exact < 1e-16
    assert useless == pytest.approx(1, rel=1e-9)
    assert unexplained(np.full((1, 1, 40), np.nan), Regression(target))[0] == pytest.approx(1)


@given(seed=st.integers(0, 10_000), terms=st.integers(0, 3), weighted=st.booleans())
@settings(max_examples=20)
def test_a_residual_is_what_the_fixed_terms_leave(seed, terms, weighted):
    values, _ = pool(seed)
    regression = a_regression(seed, values, terms, weighted)
    residual = Residual.of(regression)
    expected = fraction_left(regression.target, fixed_terms_of(regression), regression.weights)
    assert residual.values @ residual.values == pytest.approx(expected, rel=1e-9)
    assert residual.explained == pytest.approx(1 - expected, abs=1e-12)
    np.testing.assert_allclose(residual.basis @ residual.basis.T, np.eye(terms + 1), atol=1e-12)
    np.testing.assert_allclose(residual.basis @ residual.values, 0, atol=1e-12)


def test_rows_of_next_to_no_weight_count_nothing():
    values, _ = pool(5)
    weights = np.ones(40)
    weights[:4] = 1e-27
    spoiled = np.where(weights < 1, 1e9, values[0])
    assert (Residual.of(Regression(spoiled, None, weights)).root[:4] == 0).all()
    assert unexplained(values[:1][:, None], Regression(spoiled, None, weights))[0] < 1e-20


@pytest.mark.parametrize("constant", [0.0, 3.0, -1e9])
def test_a_constant_target_leaves_nothing_to_explain(constant):
    values, _ = pool(7)
    for fixed in (None, values[:2]):
        assert unexplained(values[:4][:, None], Regression(np.full(40, constant), fixed)) == pytest.approx([0] * 4)
