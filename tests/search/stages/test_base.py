"""Stages and their context: who has a turn, when, and what they get."""

from dataclasses import replace

import numpy as np
import pytest

from contexts import all_stages_but, columns_of, context_of, names_of, problem, problem_of, run, stages_named, term
from prunesymnet.bank import query
from prunesymnet.bank.query import Proposal, Query, Scanner
from prunesymnet.expression import parse
from prunesymnet.search import STAGES, ExhaustiveSettings, SearchSettings, Start
from prunesymnet.search.budget import Budget
from prunesymnet.search.columns import SeenColumns
from prunesymnet.search.loop import _Search
from prunesymnet.search.rows import Rows
from prunesymnet.search.stages import Batch, Stage, When, base
from prunesymnet.search.stages.base import measured, substituted
from prunesymnet.search.stopping import Limits

FEW = ("+", "*", "/", "sin", "exp")
SMALL = problem("exp(x)*sin(3*y) + x*y", FEW, noise=0.1, rows=16, low=0.3)
SHOWN = [stage.name for stage in STAGES if stage.proposes and stage.when in (When.START, When.LEVEL)]


def made_up(propose=None, name="made up", when=When.LEVEL, **options):
    return Stage(name, when, propose, **options)


def test_names_are_different():
    assert len({stage.name for stage in STAGES}) == len(STAGES)


@pytest.mark.parametrize("when", [When.LEVEL, When.AFTER_LEVEL])
def test_where_numbers_fail_a_stage_the_others_go_on(when):
    def fails(context):
        yield Batch([])
        raise np.linalg.LinAlgError("Eigenvalues did not converge")

    other = made_up(lambda context: iter([Batch([])]), "other", when)
    with pytest.warns(UserWarning, match=r"'made up' ended early.* did not converge"):
        found = list(context_of(SMALL, stages=(made_up(fails, when=when), other)).run(when))
    assert [stage.name for stage, _ in found] == ["made up", "other"]


def no_numbers(*_):
    raise np.linalg.LinAlgError("Eigenvalues did not converge")


def test_where_numbers_fail_what_parts_a_stage_has_the_others_go_on():
    failing = Stage("failing", When.LEVEL, parts=lambda context: map(no_numbers, [context]))
    other = made_up(lambda context: iter([Batch([])]), "other", When.LEVEL)
    with pytest.warns(UserWarning, match="'failing' ended early"):
        found = list(context_of(SMALL, stages=(failing, other)).run(When.LEVEL))
    assert [stage.name for stage, _ in found] == ["other"]


def test_where_numbers_fail_some_queries_the_others_keep_their_answers(monkeypatch):
    monkeypatch.setattr(base, "QUERIES_AT_A_TIME", 3)
    stages, formulas = stages_named("fixed_terms", "grafts"), ["1.0*exp(x)*sin(3*y) + 1.0"]
    expected = context_of(SMALL, stages=stages).best_single
    context, first = context_of(SMALL, stages=stages, formulas=formulas), []

    def fails_at_first(self, *asked, singles=Scanner.singles):
        first.append(asked)
        return no_numbers() if len(first) == 1 else singles(self, *asked)

    monkeypatch.setattr(Scanner, "singles", fails_at_first)
    with pytest.warns(UserWarning, match="'singles' ended early"):
        assert context.best_single == [(np.inf, 0)] * 3 + expected[3:]
    first.clear()
    with pytest.warns(UserWarning, match="'grafts' ended early"):
        list(context.run(When.AFTER_LEVEL))


def test_every_stage_does_one_thing():
    for stage in STAGES:
        assert sum(map(bool, (stage.propose, stage.batches, stage.parts, stage.queries))) == 1, stage.name


SILENT = {
    "query_pairs",
    "growth",
    "groups",
    "in_groups",
    "in_groups_again",
    "without_power_columns",
    "tails",
    "beside",
    "apart",
    "sure_parts",
    "sums",
    "envelopes",
}  # there is nothing for them in the rows


@pytest.mark.parametrize("name", [name for name in SHOWN if name not in SILENT])
def test_a_stage_may_be_alone(name):
    assert names_of(run(context_of(SMALL, stages=stages_named(name)))) == {name}


@pytest.mark.parametrize("name", [stage.name for stage in STAGES])
def test_a_stage_that_is_switched_off_is_not_there(name):
    settings = SearchSettings(exhaustive=ExhaustiveSettings(without=(name,)))
    seen = SeenColumns(SMALL.data, SMALL.data.names)
    ours = _Search(Rows.of(SMALL.data, settings), settings, settings.rules(), None, Start(), Limits(), seen)
    there = ours.contexts.all(ours.rows, ours.archive)[0].stages
    assert [stage.name for stage in there] == [stage.name for stage in STAGES if stage.name != name]


def test_without_a_stages_queries_they_are_not_asked():
    every = context_of(SMALL).queries
    asking = [stage for stage in STAGES if stage.queries]
    for stage in asking:
        without = context_of(SMALL, stages=all_stages_but(stage.name)).queries
        alone = context_of(SMALL, stages=(stage,)).queries
        assert len(alone) > 1  # beside that about the target itself
        assert len(without) + len(alone) == len(every) + 1
    (query,) = context_of(SMALL, stages=all_stages_but(*(stage.name for stage in asking))).queries
    assert query == Query(SMALL.target)


def test_a_stage_needs_one_of_its_operators():
    waves = made_up(lambda context: iter([Batch([])]), needs=("sin", "cos"))
    for operators, there in ((("+", "sin"), True), (("cos",), True), (("+", "exp"), False)):
        context = context_of(problem("x*y", operators, rows=16), stages=(waves,))
        assert bool(list(context.run(When.LEVEL))) is there
    assert "frequencies" not in names_of(run(context_of(problem("x*y", ("+", "exp"), rows=16), stages=STAGES[7:15])))


def test_a_stage_has_its_turn_when_it_says():
    stages = tuple(made_up(lambda context: iter([Batch([])]), when.name, when) for when in When)
    context = context_of(SMALL, stages=stages)
    for when in When:
        assert [stage.name for stage, _ in context.run(when)] == [when.name]
    assert [stage.name for stage, _ in context.run(When.START, When.LEVEL)] == ["START", "LEVEL"]


# ---- made-up stages -----------------------------------------------------------------------------------


def test_a_new_stage_proposes():
    batch = Batch([Proposal(parse("x + y"), 0.5)], scored=7)
    context = context_of(SMALL, stages=(*stages_named("pairs"), made_up(lambda _: iter([batch]))))
    stage, last = list(context.run(When.LEVEL))[-1]
    assert (stage.name, last) == ("made up", batch)


def test_a_new_stages_queries_are_asked_of_the_banks():
    truth = problem("exp(x)*y + 3*sin(5*x)", FEW)
    asks = made_up(queries=lambda context: [Query(context.problem.target, (term(truth.columns, "sin(5*x)"),))])
    asked = run(context_of(truth, stages=(asks, *stages_named("singles", "query_pairs"))))
    assert any(proposal.exact for _, proposals in asked for proposal in proposals)
    not_asked = run(context_of(truth, stages=stages_named("singles", "query_pairs")))
    assert not any(proposal.exact for _, proposals in not_asked for proposal in proposals)


# ---- the context --------------------------------------------------------------------------------------


def test_another_level_has_another_budget_and_banks_of_its_own():
    context = context_of(SMALL, stages=())
    first, second = context.pair_bank, context.at(1).pair_bank
    assert context.at(1).budget == Budget.of(1)
    assert len(first) < len(second)
    assert context.pair_bank is first  # grown once


@pytest.mark.parametrize(("device", "there", "first"), [("cuda", "cuda", 1), ("auto", "cuda", 2), ("auto", "cpu", 9)])
def test_levels_whose_banks_are_large_enough_for_a_gpu_have_larger_ones(device, there, first, monkeypatch):
    asked = []
    monkeypatch.setattr(query, "device_of", lambda name: (asked.append(name), there)[1])
    context = replace(context_of(SMALL, stages=()), scanner=Scanner(device=device))
    for level in range(4):
        assert context.at(level).budget == Budget.of(level, on_gpu=level >= first)
    assert len(asked) == (3 if device == "cuda" else 2)  # a search that ends before does not wait for an answer


def test_another_problem_begins_at_the_first_level():
    other = SMALL.only(["x"])
    context = context_of(SMALL, stages=()).at(2).of(other)
    assert context.budget == Budget.of(0)
    assert set(context.pair_bank.names) == {"x"}


def test_banks_keep_to_the_budget():
    context = context_of(SMALL, stages=())
    budget = context.budget
    assert len(context.grow(budget.pair_nodes)) <= budget.pair_nodes
    assert len(context.single_bank) <= budget.single_nodes
    assert len(context.pursuit_bank) <= budget.pursuit_nodes


def test_reciprocals_are_in_a_bank_where_there_are_quotients():
    for operators, more in ((("+", "/"), True), (("+", "*"), False)):
        context = context_of(problem("x*y", operators, low=0.3), stages=())
        bank = context.grow(50)
        assert (len(context.with_reciprocals(bank)) > len(bank)) is more


def test_each_query_is_scanned_once_for_single_nodes():
    context = context_of(SMALL, stages=stages_named("fixed_terms"))
    scanned = [batch.best for part in context.single_parts for batch in part.batches()]
    for part in context.single_parts:
        part.make = None  # a second time it can't be
    assert context.best_single == [best for some in scanned for best in some]
    assert len(context.best_single) == len(context.queries)
    for left, node in context.best_single:
        assert 0 <= left <= 1
        assert 0 <= node < len(context.single_bank)


def test_simple_factors_are_the_simple_terms():
    context = context_of(SMALL, stages=())
    for one, factor in zip(context.simple_terms(20), context.simple_factors(20), strict=True):
        values = factor.term.values if factor.divides else 1 / factor.term.values
        np.testing.assert_allclose(values, one.values)


def test_polynomial_terms_need_rows_for_their_coefficients():
    context = context_of(problem("x*y", FEW, rows=60), stages=())
    assert [len(terms) for terms in context.polynomial_terms(1, 2, 3)] == [2, 5, 9]
    few = context_of(problem("x*y", FEW, rows=30), stages=())
    assert [len(terms) for terms in few.polynomial_terms(1, 2, 3)] == [2, 5]


def test_proposals_are_measured_on_the_problem_and_columns_put_in():
    columns = columns_of()
    truth = problem_of(columns, columns["x"] * columns["y"] + 1, FEW)
    (one,) = measured([Proposal(parse("x*y"), 0.0)], truth)
    assert one.unexplained == pytest.approx(truth.unexplained(parse("x*y")))
    (other,) = substituted([Proposal(parse("sin(block)"), 0.25)], {"block": parse("x*y")})
    assert (str(other.expression), other.unexplained) == ("sin(x*y)", 0.25)
