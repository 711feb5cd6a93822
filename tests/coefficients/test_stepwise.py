"""Stepwise regression: what a set leaves is what least squares leave, and the sets of a law are found."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prunesymnet.coefficients.description import constant_bits, residual_bits
from prunesymnet.coefficients.stepwise import best_beside_first, best_pairs, best_sets

BITS = 6.0


def table(seed, columns=8, rows=40):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(columns, rows)) * 10.0 ** rng.uniform(-8, 8, (columns, 1)), rng.normal(size=rows)


def left_by(columns, target):
    scaled = columns / np.abs(columns).max(axis=1, keepdims=True)
    rest = target - scaled.T @ np.linalg.lstsq(scaled.T, target, rcond=None)[0]
    return rest @ rest / (target @ target)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=20)
def test_a_set_leaves_what_least_squares_leave(seed):
    columns, target = table(seed)
    for found in best_sets(columns, target, np.full(8, BITS), most=4)[:20]:
        assert found.unexplained == pytest.approx(left_by(columns[list(found.columns)], target), rel=1e-6)
        length = residual_bits(40, found.unexplained) + len(found.columns) * (BITS + constant_bits(40))
        assert found.length == pytest.approx(float(length))


@given(seed=st.integers(0, 10_000))
@settings(max_examples=20)
def test_with_a_beam_as_wide_as_all_sets_none_is_better(seed):
    columns, target = table(seed, columns=6)
    found = best_sets(columns, target, np.full(6, BITS), most=3, beam=100)
    for count in (1, 2, 3):
        best = min(left_by(columns[list(chosen)], target) for chosen in combinations(range(6), count))
        assert min(one.unexplained for one in found if len(one.columns) == count) == pytest.approx(best, rel=1e-6)


@given(seed=st.integers(0, 10_000), count=st.integers(2, 12))
@settings(max_examples=20)
def test_no_pair_is_better_than_the_best(seed, count):
    columns, target = table(seed, columns=count)
    bits = np.random.default_rng(seed).uniform(3, 30, count)
    found = best_pairs(columns, target, bits, beam=3)
    left = {pair: left_by(columns[list(pair)], target) for pair in combinations(range(count), 2)}
    lengths = {(a, b): residual_bits(40, value) + bits[a] + bits[b] for (a, b), value in left.items()}
    assert [one.columns for one in found] == sorted(lengths, key=lambda pair: float(lengths[pair]))[:3]
    assert found[0].unexplained == pytest.approx(left[found[0].columns], rel=1e-6)


def test_more_columns_than_are_looked_at_together_make_the_same_pairs(monkeypatch):
    columns, target = table(3, columns=30)
    whole = best_pairs(columns, target, np.full(30, BITS))
    monkeypatch.setattr("prunesymnet.coefficients.stepwise.PAIRS_AT_A_TIME", 7)
    assert [one.columns for one in best_pairs(columns, target, np.full(30, BITS))] == [one.columns for one in whole]


def test_from_pairs_larger_sets_go_on():
    columns, target = table(5, columns=6)
    pairs = best_pairs(columns, target, np.full(6, BITS), beam=100)
    found = best_sets(columns, target, np.full(6, BITS), most=3, beam=100, begin=pairs)
    best = min(left_by(columns[list(chosen)], target) for chosen in combinations(range(6), 3))
    assert min(one.unexplained for one in found if len(one.columns) == 3) == pytest.approx(best, rel=1e-6)
    assert {len(one.columns) for one in found} == {2, 3}


@given(seed=st.integers(0, 10_000))
@settings(max_examples=10)
def test_the_best_column_beside_the_first_is_found(seed):
    columns, target = table(seed)
    found = [one for one in best_beside_first(columns, target, np.full(8, BITS)) if len(one.columns) == 2]
    best = min(range(1, 8), key=lambda k: left_by(columns[[0, k]], target))
    assert found[0].columns == (0, best)


def test_sets_of_which_no_column_shows_alone_are_found():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(200, 100))
    columns[7] = columns[3] + 0.4 * rng.normal(size=100)  # what counts is their difference
    target = columns[3] - columns[7] + 0.01 * rng.normal(size=100)
    assert best_sets(columns, target, np.full(200, BITS))[0].columns == (3, 7)


@pytest.mark.parametrize("broken", [0.0, np.inf, np.nan])
def test_columns_that_can_not_be_used_are_left_out(broken):
    columns, target = table(1)
    columns[2] = broken
    for found in (best_sets(columns, target, np.full(8, BITS)), best_pairs(columns, target, np.full(8, BITS))):
        assert found
        assert not any(2 in one.columns for one in found)


def test_columns_that_are_all_but_the_same_do_no_harm():
    x = np.linspace(1.0, 1.001, 60)
    columns = np.array([x**power for power in np.linspace(-4, 4, 200)])
    found = best_sets(columns, np.sin(x), np.full(200, BITS))
    assert found[0].unexplained < 1e-9


def test_no_target_and_no_columns_give_no_sets():
    columns, target = table(1)
    assert best_sets(columns, np.zeros_like(target), np.full(8, BITS)) == []
    for best in (best_sets, best_pairs, best_beside_first):
        assert best(columns, np.zeros_like(target), np.full(8, BITS)) == []
        assert best(np.zeros_like(columns), target, np.full(8, BITS)) == []
