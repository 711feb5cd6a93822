"""The search goes on with a group as its only column, and what it finds is put back."""

import pytest

from contexts import all_stages_but, context_of, stages_named, table, values_of
from prunesymnet.search import SearchSettings, search
from prunesymnet.search.stages import When

LAW = "x**2*y*exp(-(x*y/z)**2)"


@pytest.fixture(scope="module")
def data():
    return table(LAW, names="uxyz", rows=120, low=1.0, high=3.0)


def batches_of(data, stages):
    return [batch for _, batch in context_of(data, stages=stages).run(When.LEVEL)]


def test_what_is_found_of_the_group_is_a_formula_of_the_columns(data):
    batches = batches_of(data, stages_named("groups", "singles", "in_groups"))
    (reduction,) = batches[0].structure
    assert set(reduction.groups[0].variables) == {"x", "y", "z"}
    proposals = [proposal for batch in batches[1:] for proposal in batch.proposals]
    assert all(set(proposal.expression.variables) <= set(data.names) for proposal in proposals)
    exact = [proposal for proposal in proposals if proposal.exact]
    assert exact
    assert abs(values_of(exact[0], data.columns) - data.y).max() < 1e-6 * abs(data.y).max()


def test_a_search_tells_the_structure_and_finds_the_law(data):
    found = search(data, SearchSettings(max_fits=200))
    assert found.status.is_exact
    (reduction,) = found.front.structure
    assert "target" in reduction.quantity.variables
    assert "depends on" in str(reduction)


def test_without_a_group_nothing_is_told_or_searched():
    flat = table("sin(x) + exp(y/3) + log(z)", names="xyz", rows=80, low=1.0, high=3.0)
    assert batches_of(flat, stages_named("groups", "in_groups", "in_groups_again")) == []
    assert all(stage.name != "groups" for stage in all_stages_but("groups"))


def test_a_group_that_is_likely_is_searched_without_a_word_of_it():
    noisy = table("u*log(1 + x*y/z)", noise=0.015, names="uxyz", rows=30, low=1.0, high=4.0)
    stages = stages_named("groups", "singles", "in_groups", "in_groups_again")
    context = context_of(noisy, stages=stages)
    assert context.structure is None
    assert context.likely_group is not None
    batches = [(stage.name, batch) for stage, batch in context.run(When.LEVEL) if stage.name != "singles"]
    assert {name for name, _ in batches} == {"in_groups_again"}
    assert all(batch.structure == () for _, batch in batches)
    assert any(len(proposal.expression.variables) == 4 for _, batch in batches for proposal in batch.proposals)
    assert not list(context.of(context.problem).parts(When.LEVEL, wanted=lambda stage: stage.name == "in_groups_again"))


def test_what_columns_that_enter_as_powers_leave_is_searched():
    noisy = table("u*(x**2 + 2*z + y**3/5)", noise=0.3, names="uxyz", rows=80, low=1.0, high=4.0)
    context = context_of(noisy, stages=stages_named("pairs", "without_power_columns"))
    assert context.structure is None
    (found,) = context.without_power_columns
    assert str(found.factor.formula) == "u"
    left = {"pairs": [], "without_power_columns": []}
    for stage, batch in context.run(When.LEVEL):
        assert batch.structure == ()
        left[stage.name] += [proposal.unexplained for proposal in batch.proposals]
    assert min(left["without_power_columns"]) < 0.1 * min(left["pairs"])
    assert not list(context.of(context.problem).parts(When.LEVEL, wanted=lambda s: s.name == "without_power_columns"))
