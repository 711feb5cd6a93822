"""Functions inside functions are proposed where they are exact, and not on noisy rows."""

from dataclasses import replace

import numpy as np

from contexts import context_of, stages_named, table
from prunesymnet.expression import to_text
from prunesymnet.search.stages import When


def proposed(data):
    context = context_of(data, stages=stages_named("unwrapping", "nested"))
    return [proposal for _, batch in context.run(When.AFTER_LEVEL) for proposal in batch.proposals]


def test_exact_ones_are_proposed_and_noisy_ones_are_not():
    data = table("exp(sin(sin(x) + 1))", names="x", rows=60, low=-3.0, high=3.0)
    found = proposed(data)
    assert any("sin(1 + sin(x))" in to_text(proposal.expression) for proposal in found)
    noise = 1e-3 * np.random.default_rng(0).normal(size=data.rows)
    assert proposed(replace(data, y=data.y + noise)) == []
