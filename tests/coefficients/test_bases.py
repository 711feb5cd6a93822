"""Columns of length one, and bases of what columns span."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prunesymnet.coefficients.bases import basis_in_turn, basis_of

ROWS = 12


@pytest.mark.parametrize("basis", [basis_in_turn, basis_of])
@given(places=st.lists(st.integers(0, 3), max_size=10), seed=st.integers(0, 50))
def test_a_basis_spans_all_columns_wherever_the_dependent_ones_stand(basis, places, seed):
    """Sums of up to three directions, and columns of zeros."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(3, ROWS))
    columns = np.array([rng.integers(1, 4, size=place) @ directions[:place] for place in places]).reshape(-1, ROWS)
    found = basis(columns, 1e-9)
    assert len(found) == np.linalg.matrix_rank(columns)
    np.testing.assert_allclose(found @ found.T, np.eye(len(found)), atol=1e-9)
    np.testing.assert_allclose(columns @ found.T @ found, columns, atol=1e-8)
