"""Sums behind a factor with a constant inside: found at any constant, and never an error."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contexts import columns_of, problem_of
from prunesymnet.bank.bank import Term
from prunesymnet.bank.dictionary import Dictionary, terms_of
from prunesymnet.expression import Constant, evaluate
from prunesymnet.search.settings import PRESETS
from prunesymnet.search.stages.exact.unknown_constants import behind_a_member

OPERATORS = PRESETS["default"].operators


def found_for(columns, target):
    given = problem_of(columns, target, OPERATORS)
    words = Dictionary.of([Term(np.ones_like(given.y), Constant(1)), *terms_of(given.columns, given.operators)])
    return behind_a_member(given, [words])


@settings(max_examples=10)
@given(rate=st.floats(0.1, 3.0), shift=st.floats(0.05, 20.0), seed=st.integers(0, 99))
def test_the_constant_is_found_between_the_points_of_the_grid(rate, shift, seed):
    columns = columns_of(rows=90, low=1.0, high=4.0, names="xyz", seed=seed)
    x, y, z = columns.values()
    for target, constant in (
        ((x - 2 * y * z + 0.3) * np.exp(-rate * x), -rate),
        ((x * y + 1.7 * z) / np.sqrt(x + shift), shift),
    ):
        hits, tested = found_for(columns, target)
        assert tested
        inside = [float(factor.term.expression.constants[0]) for hit in hits for factor in hit.steps]
        assert min(abs(value / constant - 1) for value in inside) < 1e-6
        factor = min(hits, key=lambda hit: abs(hit.steps[0].term.expression.constants[0] / constant - 1)).steps[0]
        np.testing.assert_allclose(factor.term.values, evaluate(factor.term.expression, columns).values)


@pytest.mark.parametrize("target", [lambda x: x + 1, lambda x: x % 0.3, lambda x: np.sign(np.sin(9 * x)) - 3, np.exp])
@pytest.mark.parametrize("column", [np.linspace(0.0, 1.0, 60), np.linspace(-3.0, 2.0, 60), np.arange(60.0) % 2])
def test_what_is_nothing_of_the_kind_is_no_error(column, target):
    hits, _ = found_for({"x": column, "y": column[::-1].copy()}, target(column))
    assert all(np.isfinite(hit.steps[0].term.values).all() for hit in hits)
