"""The best pairs of each complexity, against sorting all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prunesymnet.bank.best import LEAST_GAIN, Best, join, levels_of


def offered(gains, complexity, keep, cuts):
    """All pairs above the diagonal, in blocks between the cuts, kept by one `Best`."""
    parts = [slice(low, high) for low, high in zip([0, *cuts], [*cuts, len(gains)], strict=True) if low < high]
    blocks = [(a, b) for k, a in enumerate(parts) for b in parts[k:]]
    best, levels = Best(keep), levels_of(blocks, complexity)
    for a, b in blocks:
        best.offer(gains[a, b].copy(), levels, a, b)
    return best


@given(seed=st.integers(0, 10_000), keep=st.integers(1, 5), cut=st.integers(1, 11))
def test_they_are_those_of_all_pairs_in_order(seed, keep, cut):
    rng = np.random.default_rng(seed)
    gains = rng.uniform(0.01, 1, (12, 12))
    gains = (gains + gains.T) / 2
    complexity = np.sort(rng.integers(1, 4, 12))
    found = join([offered(gains, complexity, keep, [cut])], keep)
    every = {}
    for i in range(12):
        for j in range(i, 12):
            every.setdefault(int(complexity[i] + complexity[j]), []).append((-gains[i, j], i, j))
    expected = [pair for level in sorted(every) for pair in sorted(every[level])[:keep]]
    assert list(zip(found.left, found.right, strict=True)) == [(i, j) for _, i, j in expected]
    np.testing.assert_allclose(found.explained, [-gain for gain, _, _ in expected])


def test_the_parts_of_several_tasks_are_joined():
    rng = np.random.default_rng(0)
    gains = rng.uniform(0.01, 1, (8, 8))
    gains = (gains + gains.T) / 2
    complexity = np.ones(8, dtype=np.int64)
    whole = join([offered(gains, complexity, 3, [])], 3)
    blocks = [(slice(0, 4), slice(0, 4)), (slice(0, 4), slice(4, 8)), (slice(4, 8), slice(4, 8))]
    tasks = []
    for block in blocks:
        best = Best(3)
        best.offer(gains[block].copy(), levels_of([block], complexity), *block)
        tasks.append(best)
    joined = join(tasks, 3)
    np.testing.assert_array_equal(joined.left, whole.left)
    np.testing.assert_array_equal(joined.right, whole.right)


@pytest.mark.parametrize("gain", [np.nan, np.inf, 0.0, LEAST_GAIN / 2])
def test_what_is_no_gain_is_not_kept(gain):
    assert len(join([offered(np.full((3, 3), gain), np.ones(3, dtype=np.int64), 2, [])], 2)) == 0
