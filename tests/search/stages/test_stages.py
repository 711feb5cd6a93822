"""All stages together: what each is for, what holds of all that they propose, and that odd data do no harm."""

import tracemalloc

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from contexts import (
    all_stages_but,
    best_r2,
    columns_of,
    context_of,
    names_of,
    operators_in,
    problem,
    problem_of,
    proposals_of,
    run,
    stages_named,
    table,
)
from prunesymnet.bank.problem import Problem
from prunesymnet.data import make_dataset
from prunesymnet.errors import DataWarning
from prunesymnet.expression import evaluate
from prunesymnet.operators import make_operator
from prunesymnet.search import STAGES, ExhaustiveSettings, SearchSettings, search
from prunesymnet.search.stages import When

NAMES = tuple(stage.name for stage in STAGES)
FEW = ("sin", "exp")  # these make a small bank: all stages in a fifth of a second
WITH_BANKS = tuple(stage for stage in STAGES if stage.when in (When.START, When.LEVEL))
PAIRED = ("pairs", "query_pairs")

# Each formula is found by this stage beside the scan of pairs, and not without.
FOUND = [
    ("power_law", "2*x**1.7*y**(-0.6)", {"low": 0.3}),
    ("polynomials", "x**3 - 2*x*y + 3*y**2 - 1", {}),
    ("unwrapping", "exp(x*sin(y) + 0.5*x**2)", {}),
    ("rational", "(1 + 2*x + x*y)/(3 + x**2 + y**2)", {}),
    ("denominators", "(2 + 3*x*exp(y))/(1 - 0.4*sin(x))", {}),
    ("factored_quotients", "x*(1 - 0.6*exp(x*y))/(1 - 0.4*sin(y))", {}),
    ("fixed_terms", "sin(x)*exp(y) + 3*x**2", {}),
    ("singles", "1 + 3*sin(x**2 + y)", {}),
    ("powers", "3*(1 + x**2)**1.7/(2 + sin(y))**0.8", {}),
    ("chains", "x**2/(exp(2*x + 0.3*y) + 1)", {"low": 0.3}),
    ("frequencies", "2*sin(17.3*x + 0.7) + 1", {}),
    ("pursuit", "3*x*sin(y) + 2*exp(x) - y**2*x + cos(y)", {}),
]


@pytest.mark.parametrize(("name", "text", "options"), FOUND, ids=[entry[0] for entry in FOUND])
def test_a_stage_finds_what_it_is_for(name, text, options):
    truth = problem(text, **options)
    alone = context_of(truth, stages=stages_named(*PAIRED, name))
    assert best_r2(proposals_of(run(alone)), truth) > 1 - 1e-5
    without = context_of(truth, stages=stages_named(*PAIRED))
    assert best_r2(proposals_of(run(without)), truth) < 1 - 1e-4


@pytest.mark.parametrize("text", ["3*x*sin(y) - 1", "2*exp(x) + y**2 + 5", "sin(x)/(1 + y**2)"])
def test_pairs_alone_find_products_and_sums(text):
    truth = problem(text)
    found = proposals_of(run(context_of(truth, stages=stages_named("pairs"))))
    best = min(found, key=lambda proposal: proposal.unexplained)
    assert best.exact
    np.testing.assert_allclose(evaluate(best.expression, truth.columns).values, truth.y, atol=1e-6)


# ---- what holds of all --------------------------------------------------------------------------------

NOISY = problem("exp(x)*sin(3*y) + x*y", noise=0.1, rows=30)


@pytest.fixture(scope="module")
def every_batch():
    return run(context_of(NOISY))


def test_every_stage_has_its_turn(every_batch):
    silent = {
        "growth",
        "groups",
        "beside",
        "apart",
        "sure_parts",
        "in_groups",
        "in_groups_again",
        "without_power_columns",
        "tails",
        "envelopes",
    }  # there is nothing for them in these rows
    assert names_of(every_batch) == {stage.name for stage in WITH_BANKS if stage.proposes} - silent


def test_proposals_use_columns_only_and_say_what_they_leave(every_batch):
    assert len(proposals_of(every_batch)) > 100
    for proposal in proposals_of(every_batch):
        assert set(proposal.expression.variables) <= {"x", "y"}
        assert proposal.unexplained >= 0
        assert proposal.rows is None or proposal.rows.shape == (30,)


def test_a_second_run_proposes_the_same(every_batch):
    again = run(context_of(NOISY))
    assert [name for name, _ in every_batch] == [name for name, _ in again]
    assert proposals_of(every_batch) == proposals_of(again)


@pytest.mark.parametrize("names", [("pursuit",), ("fixed_terms", "singles"), ("pairs",)])
def test_what_a_proposal_leaves_is_what_its_formula_leaves(names):
    """Where the target is y itself and all constants are in front of terms."""
    truth = problem("exp(x)*sin(3*y) + x*y", noise=0.1)
    proposals = proposals_of(run(context_of(truth, stages=stages_named(*names))))
    assert proposals
    for proposal in proposals:
        assert proposal.unexplained == pytest.approx(truth.unexplained(proposal.expression), rel=1e-5, abs=1e-12)


def test_more_workers_propose_the_same():
    truth = problem("exp(x)*sin(3*y) + x*y", (*FEW, "*"), noise=0.1, rows=30)
    with threadpool_limits(1, user_api="blas"):
        one, two = (run(context_of(truth, stages=stages_named("pairs", "pursuit"), workers=k)) for k in (1, 2))
    assert proposals_of(one) == proposals_of(two)


def test_a_later_level_knows_more():
    truth = problem("sin(x**2 + y)*(1 + exp(x*y))", ("+", "*", "sin", "exp", "square"))
    context = context_of(truth, stages=stages_named("pairs"))
    first, second = (best_r2(proposals_of(run(context, (level,))), truth) for level in (0, 1))
    assert second > first


def test_the_answers_kept_are_as_many_as_asked_for():
    truth = problem("exp(x)*sin(3*y) + x*y", (*FEW, "*"), noise=0.1)
    few, many = (len(proposals_of(run(context_of(truth, stages=stages_named("pairs"), keep=k)))) for k in (1, 5))
    assert 0 < few < many


def test_proposals_use_the_operators_asked_for():
    truth = problem("x*sin(3*y) + x*y", ("+", "*", "sin"), noise=0.1, rows=30)
    of_any_power = ("power_law", "powers", "chains", "polynomials")
    for proposal in proposals_of(run(context_of(truth, stages=all_stages_but(*of_any_power)))):
        found = operators_in(proposal.expression)
        assert found <= {"+", "-", "*", "neg", "sin", "pow", "square", "cube"}, str(proposal.expression)


def test_a_users_operator_is_used():
    bump = make_operator("bump", lambda u: 1 / (1 + u * u))
    columns = columns_of()
    truth = problem_of(columns, 3 * columns["y"] / (1 + columns["x"] ** 2) + 1, ("+", "*", bump))
    found = proposals_of(run(context_of(truth, stages=stages_named("pairs"))))
    best = min(found, key=lambda proposal: proposal.unexplained)
    assert best.exact
    assert "bump" in operators_in(best.expression)


# ---- odd data -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [2, 3, 5])
def test_a_few_rows_are_enough_to_go_through_all_stages(rows):
    assert len(proposals_of(run(context_of(problem("x*y + sin(x)", FEW, rows=rows), stages=WITH_BANKS)))) > 10


ODD = {
    "a target of two values": lambda x, y: ({"x": x, "y": y}, (x > 0) * 1.0),
    "a column of two values": lambda x, y: ({"x": (x > 0) * 1.0, "y": y}, x * y),
    "columns that are multiples": lambda x, y: ({"x": x, "y": 2 * x}, np.sin(x) * x),
    "rows that are repeated": lambda x, y: ({"x": np.repeat(x[:6], 5), "y": np.repeat(y[:6], 5)}, np.repeat(y[:6], 5)),
    "few whole numbers": lambda x, y: ({"x": np.round(x), "y": np.round(y)}, np.round(x + y)),
    "a pole": lambda x, y: ({"x": x, "y": y}, 1 / (x - x[3] + 1e-9)),
    "a target in small units": lambda x, y: ({"x": x, "y": y}, 1e-30 * np.sin(x) * y),
    "a target in large units": lambda x, y: ({"x": x, "y": y}, 1e30 * np.sin(x) * y),
    "columns far from zero": lambda x, y: ({"x": 1e7 + x, "y": y}, np.sin(x) * y),
}


@pytest.mark.filterwarnings("ignore::prunesymnet.errors.DataWarning")
@pytest.mark.parametrize("name", ODD)
def test_odd_data_do_no_harm(name):
    columns, target = ODD[name](*columns_of(30).values())
    batches = run(context_of(problem_of(columns, target, FEW)))
    assert {"pairs", "pursuit"} <= names_of(batches)
    assert all(np.isfinite(proposal.unexplained) for proposal in proposals_of(batches))


def test_zero_one_columns_of_categories_go_through_all_stages():
    rng = np.random.default_rng(0)
    kind, x = rng.integers(0, 3, 60), rng.uniform(1, 2, 60)
    columns = {"a": (kind == 0) * 1.0, "b": (kind == 1) * 1.0, "x": x}
    truth = problem_of(columns, np.sin(3 * x) * columns["a"] + np.exp(x) * columns["b"])
    assert proposals_of(run(context_of(truth, stages=stages_named("denominators", "singles", "query_pairs"))))


@pytest.mark.parametrize("scale", [1e13, 1e-13])
def test_columns_in_any_units_go_through_all_stages(scale):
    columns = {"x": scale * columns_of(30, low=1)["x"]}
    truth = problem_of(columns, np.sin(3 * columns["x"] / scale) * columns["x"], FEW)
    assert proposals_of(run(context_of(truth, stages=stages_named("frequencies"))))


def test_rows_that_are_drawn_may_happen_to_have_one_value():
    target = np.zeros(400)
    drawn = problem_of({"x": np.arange(400.0)}, np.arange(400.0) ** 2, rows=50).columns["x"]
    target[next(row for row in range(400) if row not in drawn)] = 1.0
    truth = Problem.of(make_dataset(np.arange(400.0), target, names=["x"]), FEW, 50, 0)
    assert np.ptp(truth.y) == 0
    run(context_of(truth))


def test_where_no_column_varies_there_are_no_banks():
    columns = {"x": np.full(30, 1e300), "y": np.full(30, 3.0)}
    with pytest.warns(DataWarning, match="in every row"):
        truth = problem_of(columns, np.arange(30.0), FEW)
    assert run(context_of(truth, stages=stages_named("pairs", "singles", "pursuit"))) == []


def test_many_columns_do_not_make_many_monomials():
    rng = np.random.default_rng(0)
    data = make_dataset(rng.normal(size=(20, 25)), rng.normal(size=20))
    context = context_of(Problem.of(data, ("sin",), 256, 0), stages=stages_named("fixed_terms", "query_pairs"))
    tracemalloc.start()
    run(context)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * 2**20


# ---- in a search --------------------------------------------------------------------------------------


def found_by(text, operators, stages=NAMES, **options):
    """What a search with some of the stages makes of a table, and the stages that had their turn."""
    seen = []
    exhaustive = ExhaustiveSettings(levels=1, without=tuple(name for name in NAMES if name not in stages))
    settings = SearchSettings(time_limit=float("inf"), operators=operators, exhaustive=exhaustive)
    result = search(table(text, **options), settings, watch=lambda update: seen.append(update.stage))
    return result.best, set(seen)


@pytest.mark.parametrize(
    "text", ["1.35*x*y + 5.5*sin((x - 1)*(y - 1))", "2*cos(3.3*x - 1.7*y + 0.5) + x", "sin(x**2 + 2.2*x) + y"]
)
def test_a_wave_of_two_nodes_is_found(text):
    found, _ = found_by(text, ("+", "-", "*", "sin", "cos"), rows=100, low=-3, high=3)
    fresh = table(text, rows=200, low=-3, high=3, seed=1)
    np.testing.assert_allclose(evaluate(found.expression, fresh.columns).values, fresh.y, atol=1e-5)


def test_a_law_with_many_columns_on_either_side_is_a_pair_of_a_larger_bank():
    text, options = "k*a*(t - u)/log(b/c)", {"names": "abcktu", "rows": 60, "low": 1.0, "high": 3.0}
    (_, small), (_, wide) = run(context_of(table(text, **options), stages=stages_named("pairs", "wide_pairs")))
    assert min(proposal.unexplained for proposal in wide) < 0.3 * min(proposal.unexplained for proposal in small)


def test_a_search_builds_on_what_is_nearly_right():
    found, seen = found_by(
        "a*(c + b*x*sin(y))", ("+", "*", "sin"), ("pairs", "grafts"), names="abcxy", rows=60, low=1.0, high=5.0
    )
    assert str(found.expression) == "a*(c + b*x*sin(y))"
    assert "grafts" in seen


@pytest.mark.slow
def test_building_on_formulas_can_be_switched_off():
    options = {"names": "abcxy", "rows": 40, "low": 1.0, "high": 3.0}
    for stages in (("pairs", "grafts", "blocks"), ("pairs",)):
        _, seen = found_by("a*(c + b*x*sin(y)) + exp(a*b)/(c + x*y)", ("+", "*", "sin"), stages, **options)
        assert set(stages) <= seen
    assert not {"grafts", "blocks"} & seen
