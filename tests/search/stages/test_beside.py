"""What linear terms leave is searched as a function of one group, told, and put back."""

import numpy as np
import pytest

from contexts import context_of, stages_named, table
from prunesymnet.data import make_dataset
from prunesymnet.expression import evaluate
from prunesymnet.search.stages import When


def test_a_group_beside_linear_terms_is_told_in_the_tables_own_units_and_put_back():
    small = table("0.7*z - 2*x + exp(-x*y)", names="xyz", rows=100, low=1.0, high=3.0)
    data = make_dataset(small.X * [1, 1, 1000], 1e6 * small.y, names=small.names, target="target")
    batches = [b for _, b in context_of(data, stages=stages_named("groups", "singles", "beside")).run(When.LEVEL)]
    (told,) = (one.of("t") for batch in batches for one in batch.structure)
    columns = {**data.columns, "t": data.y}
    left, group = (evaluate(formula, columns).values for formula in (told.quantity, *told.groups))
    x, y, _ = small.columns.values()
    np.testing.assert_allclose(group, x * y)
    np.testing.assert_allclose(np.ptp(left / 1e6 - np.exp(-x * y)), 0, atol=0.01)
    proposals = [proposal for batch in batches for proposal in batch.proposals]
    problem = context_of(data).problem
    assert min(problem.unexplained(p.expression) for p in proposals if "z" in p.expression.variables) < 1e-4


def test_coefficients_that_are_too_large_for_whole_numbers_are_told():
    small = table("0.7*z - 2*x + exp(-x*y)", names="xyz", rows=100, low=1.0, high=3.0)
    data = make_dataset(small.X, 1e20 * small.y, names=small.names, target="target")
    batches = [b for _, b in context_of(data, stages=stages_named("groups", "beside")).run(When.LEVEL)]
    (told,) = (one for batch in batches for one in batch.structure)
    assert sorted(np.abs(told.quantity.constants)) == pytest.approx([0.7e20, 2e20], rel=0.01)
