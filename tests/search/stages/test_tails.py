"""Rows far out on the tails count in full where they have most of the variation."""

from dataclasses import replace

import numpy as np

from contexts import context_of, stages_named, table
from prunesymnet.expression import to_text
from prunesymnet.search.stages import When


def proposed(data):
    context = context_of(data, stages=stages_named("tails"))
    return [to_text(p.expression) for _, batch in context.run(When.LEVEL) for p in batch.proposals]


def test_a_pole_below_noise_is_seen_by_the_rows_that_stand_out():
    data = table("cos(y)/x", names="xy", rows=120, low=-5.0, high=5.0)
    noise = 0.1 * np.std(data.y) * np.random.default_rng(0).normal(size=data.rows)
    assert any("cos(y)/x" in text for text in proposed(replace(data, y=data.y + noise)))


def test_nothing_is_asked_again_where_no_row_stands_out():
    assert proposed(table("cos(y)*x", names="xy", rows=120, low=-5.0, high=5.0)) == []
