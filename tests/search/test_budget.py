"""What a level may try."""

from dataclasses import fields

import pytest

from prunesymnet.search.budget import WIDER, Budget

SHRINKING = {"paired_queries", "queries_at_a_time"}  # each is a scan of a bank that has grown by more


@pytest.mark.parametrize("level", range(4))
def test_every_level_has_more_than_the_one_before(level):
    one, next_one = Budget.of(level), Budget.of(level + 1)
    assert (one.level, next_one.level) == (level, level + 1)
    for field in fields(Budget):
        before, after = getattr(one, field.name), getattr(next_one, field.name)
        assert isinstance(after, int)
        assert after >= 1
        if field.name in SHRINKING:
            assert 1 <= after <= before
        else:
            assert after >= before, field.name
    assert next_one.pair_nodes > one.pair_nodes
    assert next_one.single_nodes > one.single_nodes


def test_pairs_are_of_fewer_nodes_than_are_tried_one_by_one():
    for level in range(3):
        assert Budget.of(level).pair_nodes < Budget.of(level).single_nodes


def test_a_gpu_pairs_more_nodes_but_for_the_first_level():
    assert Budget.of(0, on_gpu=True) == Budget.of(0)
    for level in (1, 2, 3):
        with_it, without = Budget.of(level, on_gpu=True), Budget.of(level)
        assert with_it.pair_nodes == WIDER * without.pair_nodes
        assert with_it.single_nodes == without.single_nodes
