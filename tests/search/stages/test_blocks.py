"""Fewer columns: what a formula makes of several becomes one."""

import numpy as np

from contexts import context_of, problem, stages_named
from prunesymnet.expression import Variable, canonical, parse
from prunesymnet.operators import DEFAULT
from prunesymnet.search.stages import STAGES, When
from prunesymnet.search.stages.blocks import blocks, with_blocks


def scene(text, names="abcdxy", rows=80):
    return problem(text, DEFAULT, names=names, rows=rows, low=1.0, high=3.0)


def shown(text, **options):
    return {str(canonical(block)) for block in blocks(parse(text), **options).values()}


def batches_of(truth, *formulas, stages=STAGES):
    others = ("grafts", "nested", "parts")  # which have their turn after a level, too
    stages = tuple(stage for stage in stages if stage.name not in others)
    context = context_of(truth, stages=stages, formulas=formulas)
    return [batch for _, batch in context.run(When.AFTER_LEVEL)]


def test_what_has_its_columns_for_itself_is_a_block():
    assert shown("2.5*n*(B*m/(k*T) - 3.9)**2") == {"n", "B*m/(T*k)"}
    assert shown("0.4/(x + (y - z)**2/x)") == {"x", "y - z"}
    assert shown("0.3*T*k - 0.07*h*w + 0.1") == {"T*k", "h*w"}
    assert shown("exp(-(a*b)/c) + 1") == {"a*b/c"}


def test_a_sum_is_a_block_unless_only_products_are():
    text = "x*(cos(w*t)*(a + b - 0.5) + 1)**2"
    assert "a + b" in str(shown(text))
    assert shown(text, only_products=True) == {"x", "t*w", "a", "b"}


def test_where_no_two_columns_become_one_there_are_no_blocks():
    assert blocks(parse("x + sin(y)")) == {}
    assert blocks(parse("x*y + y*z + z*x")) == {}
    assert blocks(parse("2.5")) == {}


def test_the_name_of_a_block_is_not_a_columns():
    found = blocks(parse("block_1*(x*y - 1.5)**2"))
    assert found["block_1"] == Variable("block_1")
    assert str(found["block_2"]) == "x*y"


def test_blocks_must_be_finite_and_vary():
    there = scene("a*b")
    assert with_blocks(there, {"block_1": parse("log(a - 2)")}) is None
    assert with_blocks(there, {"block_1": parse("a - a")}) is None
    made = with_blocks(there, {"block_1": parse("a*b")})
    assert list(made.columns) == ["block_1"]
    np.testing.assert_array_equal(made.y, there.y)


def test_with_blocks_for_columns_a_bank_reaches_deeper():
    there = scene("a/(exp(b*c/(x*y)) + exp(-b*c/(x*y)))")
    stages = stages_named("pairs", "unwrapping", "query_pairs", "blocks")
    found = batches_of(there, "0.04*a*(b*c/(x*y) - 3.9)**2", stages=stages)
    proposals = [proposal for batch in found for proposal in batch.proposals]
    assert min(there.unexplained(proposal.expression) for proposal in proposals) < 1e-12
    assert all(there.has(proposal.expression) for proposal in proposals)
    assert sum(batch.scored for batch in found) > 0


def test_each_set_of_blocks_is_tried_once():
    there = scene("a*(b*c/(x*y) - 4)**2 + 0.001*b", names="abcxy", rows=60)
    assert batches_of(there, "1.0*a + 1.0*b + 1.0") == []  # far off
    batches = batches_of(there, "1.0*a*(b*c/(x*y) - 4.0)**2", stages=stages_named("polynomials", "blocks"))
    assert [batch.then_fit > 0 for batch in batches] == [False, False, True]  # the polynomials, and their fits


def test_columns_that_were_left_out_are_not_built_on():
    few = scene("a*b + c").only(["a", "b"])
    assert batches_of(few, "1.0*a*b + 1.0*c") == []


def test_structure_that_is_found_among_blocks_is_told_in_columns():
    there = scene("sqrt(a/b)*tanh(1.3*c)", names="abc", rows=200)
    batches = batches_of(there, "1.0*sqrt(a/b)*(c/(c + 0.4))", stages=stages_named("groups", "blocks"))
    told = [reduction for batch in batches for reduction in batch.structure]
    assert told
    assert {name for one in told for name in one.quantity.variables} == {"_target_", "a", "b"}
