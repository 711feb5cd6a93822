"""Each part of a sum or a product is searched alone, and both are put together."""

import numpy as np
import pytest

from contexts import context_of, stages_named, table, values_of
from prunesymnet.expression import parse
from prunesymnet.search.stages import When
from prunesymnet.search.stages.parts import _Smoothness, first_parts

SEARCHED = stages_named("singles", "sure_parts", "parts")


def batches_of(data, when, name):
    return [batch for stage, batch in context_of(data, stages=SEARCHED).run(when) if stage.name == name]


def exact_ones(law, **how):
    data = table(law, **how)
    batches = batches_of(data, When.LEVEL, "sure_parts")
    assert not batches_of(data, When.AFTER_LEVEL, "parts")  # they have had their turn
    proposals = [proposal for batch in batches for proposal in batch.proposals]
    off = [abs(values_of(proposal, data.columns) - data.y).max() / abs(data.y).max() for proposal in proposals]
    return [proposal for proposal, error in zip(proposals, off, strict=True) if error < 1e-6]


@pytest.mark.parametrize(
    "law",
    ["exp(x) + y*log(z)", "log(x)*(y + sin(z))"],
)
def test_parts_are_found_and_put_together(law):
    names = sorted({letter for letter in law if letter in "xyz"})
    found = exact_ones(law, names="".join(names), rows=120, low=1.0, high=3.0)
    assert found
    assert set(found[0].expression.variables) == set(names)


def test_parts_that_are_less_sure_wait_until_the_level_has_ended():
    data = table("exp(x) + y*log(z)", noise=0.2, names="xyz", rows=120, low=1.0, high=3.0)
    assert not batches_of(data, When.LEVEL, "sure_parts")
    assert batches_of(data, When.AFTER_LEVEL, "parts")


def test_a_part_whose_constants_can_not_be_told_is_none():
    data = table("x + y", names="xy", rows=20, low=1.0, high=3.0)
    asked = _Smoothness(context_of(data).problem, np.eye(20), product=False)
    assert asked.shortest(parse("1.0*exp(500.0*x)")) is None
    assert asked.shortest(parse("1e200*x")) is None  # its values are finite, and their squares are not
    assert asked.shortest(parse("1e-150*exp(200.0*x)")) is None  # the same of its slopes


def test_limits_are_looked_at_while_the_first_part_is_searched():
    looks = []
    data = table("exp(x) + y*log(z)", names="xyz", rows=60, low=1.0, high=3.0)
    context = context_of(data, stages=stages_named("pairs", "singles"), check=lambda: looks.append(1))
    found = context.in_parts
    before = len(looks)
    first_parts(context, found)
    assert len(looks) == before + 2  # after each of the stages


def test_nothing_is_proposed_where_columns_do_not_part():
    assert exact_ones("x*y/(x + y)", names="xy", rows=80, low=1.0, high=3.0) == []


def told(data, *stages):
    batches = [batch for _, batch in context_of(data, stages=stages_named(*stages)).run(When.LEVEL)]
    return [str(one.of("t")).partition(";")[0] for batch in batches for one in batch.structure]


def test_parts_are_told_but_not_where_a_group_says_more():
    data = table("exp(x) + y*log(z)", names="xyz", rows=60, low=1.0, high=3.0)
    assert told(data, "groups", "apart") == ["t is a function of x plus a function of y and z"]
    grouped = table("x*sin(y*z) + 2*x", names="xyz", rows=60, low=1.0, high=3.0)
    assert told(grouped, "groups", "apart") == ["t/x depends on y*z only"]
    assert told(grouped, "apart") == ["t is a function of x times a function of y and z"]
