"""Every pair of nodes is in one tile, and a tile has one complexity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prunesymnet.bank.tiles import Layout, tiles_of


@given(sizes=st.lists(st.integers(0, 40), min_size=1, max_size=5).filter(any), tile=st.integers(1, 9))
def test_nodes_stand_in_tiles_of_one_complexity(sizes, tile):
    complexity = np.repeat(np.arange(1, len(sizes) + 1), sizes)
    layout = Layout.of(complexity, tile)
    assert layout.nodes[layout.nodes >= 0].tolist() == list(range(len(complexity)))
    rows = layout.nodes.reshape(len(layout), tile)
    for nodes, size in zip(rows, layout.complexity, strict=True):
        assert set(complexity[nodes[nodes >= 0]]) == {size}
        assert (nodes >= 0).any()


@pytest.mark.parametrize("most", [1, 3, 8, 30])
def test_every_tile_of_pairs_is_there_once_whatever_the_blocks(most):
    layout = Layout.of(np.repeat([1, 2, 3], [5, 9, 30]), 4)
    blocks = layout.blocks(most)
    assert all(block.stop - block.start <= most for block in blocks)
    found = []
    for k, a in enumerate(blocks):
        for b in blocks[k:]:
            found += zip(*(side.tolist() for side in tiles_of(a, b)), strict=True)
    count = len(layout)
    assert sorted(found) == [(i, j) for i in range(count) for j in range(i, count)]
