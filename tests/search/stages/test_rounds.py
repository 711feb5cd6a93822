"""Rounds, and the questions and proposals that they are made of: each mechanism alone, and what holds of all."""

import tracemalloc
from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from prunesymnet.bank.asked import EXACT, Asked
from prunesymnet.bank.scan import unexplained
from prunesymnet.bank.targets import unwrap
from prunesymnet.data import make_dataset
from prunesymnet.expression import Apply, Constant, Variable, evaluate, parse, postorder
from prunesymnet.operators import PAPER, make_operator
from prunesymnet.search.stages import ExhaustiveSettings, Proposal, Rounds, Scene, promising

SWITCHES = tuple(field.name for field in fields(ExhaustiveSettings) if isinstance(field.default, bool))
NOTHING = ExhaustiveSettings(**dict.fromkeys(SWITCHES, False))
FEW = ("sin", "exp")  # these make a small bank: all stages in a fifth of a second


def columns_of(rows=60, low=-2.0, high=2.0, names="xy", seed=0):
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(low, high, rows) for name in names}


def scene_of(columns, target, operators=PAPER, rows=256, weights=None):
    X = np.array(list(columns.values())).T
    return Scene.of(make_dataset(X, target, names=list(columns), target="t", weights=weights), operators, rows, 0)


def scene(text, operators=PAPER, noise=0.0, **options):
    columns = columns_of(**options)
    target = evaluate(parse(text), columns).values
    return scene_of(columns, target + noise * np.random.default_rng(1).normal(size=len(target)), operators)


def run(scene, settings=None, numbers=(0,)):
    """All stages of the shortcuts and of these rounds."""
    rounds = Rounds(scene, settings or ExhaustiveSettings())
    return [*rounds.shortcuts(), *(stage for number in numbers for stage in rounds.round(number))]


def only(*names):
    return replace(NOTHING, **dict.fromkeys(names, True))


def sources(stages):
    return {name for name, _ in stages} | {proposal.source for _, proposals in stages for proposal in proposals}


def proposals_of(stages):
    return [proposal for _, proposals in stages for proposal in proposals]


def best_r2(stages, scene):
    """Of all proposals with a factor and a constant at their best, how much the best explains."""
    best = 0.0
    for proposal in proposals_of(stages):
        values, finite = evaluate(proposal.expression, scene.columns)
        if finite.all() and np.ptp(values) > 0 and np.abs(values).max() < 1e100:
            best = max(best, np.corrcoef(values, scene.y)[0, 1] ** 2)
    return best


def operators_in(tree):
    return {node.operator.name for node in postorder(tree) if isinstance(node, Apply)}


# ---- mechanisms ---------------------------------------------------------------------------------------

# Each formula is found by this mechanism, and not without.
FOUND = [
    ("monomials", "2*x**1.7*y**(-0.6)", {"low": 0.3}),
    ("polynomials", "x**3 - 2*x*y + 3*y**2 - 1", {}),
    ("unwrapping", "exp(x*sin(y) + 0.5*x**2)", {}),
    ("quotients", "(1 + 2*x + x*y)/(3 + x**2 + y**2)", {}),
    ("given", "sin(x)*exp(y) + 3*x**2", {}),
    ("singles", "1 + 3*sin(x**2 + y)", {}),
    ("powers", "3*(1 + x**2)**1.7/(2 + sin(y))**0.8", {}),
    ("frequencies", "2*sin(17.3*x + 0.7) + 1", {}),
    ("pursuit", "3*x*sin(y) + 2*exp(x) - y**2*x + cos(y)", {}),
]


@pytest.mark.parametrize(("switch", "text", "options"), FOUND, ids=[entry[0] for entry in FOUND])
def test_a_mechanism_alone_finds_what_it_is_for(switch, text, options):
    truth = scene(text, **options)
    assert best_r2(run(truth, only(switch)), truth) > 1 - 1e-5
    assert best_r2(run(truth, NOTHING), truth) < 1 - 1e-4


def test_pairs_are_always_scanned():
    for text in ("3*x*sin(y) - 1", "2*exp(x) + y**2 + 5", "sin(x)/(1 + y**2)"):
        truth = scene(text)
        stages = run(truth, NOTHING)
        assert sources(stages) == {"pairs"}
        best = min(proposals_of(stages), key=lambda proposal: proposal.unexplained)
        assert best.exact
        np.testing.assert_allclose(evaluate(best.expression, truth.columns).values, truth.y, atol=1e-6)


STAGES = {
    "monomials": {"monomial"},
    "polynomials": {"polynomial"},
    "quotients": {"quotient"},
    "singles": {"singles"},
    "powers": {"powers"},
    "frequencies": {"frequencies", "phases"},
    "pursuit": {"pursuit"},
}


@pytest.mark.parametrize("switch", STAGES)
def test_a_mechanism_that_is_switched_off_is_not_there(switch):
    truth = scene("exp(x)*sin(3*y) + x*y", (*FEW, "/"), noise=0.1, rows=16)
    without = sources(run(truth, ExhaustiveSettings(**{switch: False})))
    assert not STAGES[switch] & without
    assert STAGES[switch] <= sources(run(truth, only(switch)))
    assert {name for other in STAGES if other != switch for name in STAGES[other]} <= without


def test_without_questions_beside_that_about_y_none_are_asked():
    truth = scene("exp(x)*sin(3*y) + x*y", FEW, noise=0.1, rows=16)
    every = sources(run(truth))
    without = sources(run(truth, ExhaustiveSettings(unwrapping=False, given=False, quotients=False)))
    none = {"pairs", "monomial", "polynomial", "singles", "powers", "frequencies", "phases", "pursuit"}
    assert without <= none
    assert every > without


def test_where_there_is_no_sine_there_are_no_frequencies():
    assert "frequencies" not in sources(run(scene("x*y + exp(x)", ("+", "*", "exp"), rows=16), only("frequencies")))


# ---- what holds of all --------------------------------------------------------------------------------


NOISY = scene("exp(x)*sin(3*y) + x*y", noise=0.1, rows=30)


@pytest.fixture(scope="module")
def every_stage():
    return run(NOISY)


def test_proposals_use_columns_only_and_say_what_they_leave(every_stage):
    assert len(proposals_of(every_stage)) > 100
    for proposal in proposals_of(every_stage):
        assert set(proposal.expression.variables) <= {"x", "y"}
        assert 0 <= proposal.unexplained <= 1 + 1e-9
        assert proposal.source
        assert proposal.rows is None or proposal.rows.shape == (30,)


@pytest.mark.parametrize("switch", ["pursuit", "given"])
def test_what_a_proposal_leaves_is_what_its_formula_leaves(switch):
    """Where the target is y itself and all constants are in front of terms."""
    truth = scene("exp(x)*sin(3*y) + x*y", noise=0.1)
    variation = truth.weights @ (truth.y - truth.weights @ truth.y) ** 2
    proposals = proposals_of(run(truth, only(switch)))
    assert proposals
    for proposal in proposals:
        off = evaluate(proposal.expression, truth.columns).values - truth.y
        assert proposal.unexplained == pytest.approx(truth.weights @ off**2 / variation, rel=1e-5, abs=1e-12)


def test_a_second_run_proposes_the_same(every_stage):
    again = run(NOISY)
    assert [name for name, _ in every_stage] == [name for name, _ in again]
    assert proposals_of(every_stage) == proposals_of(again)


def test_more_workers_propose_the_same():
    truth = scene("exp(x)*sin(3*y) + x*y", (*FEW, "*"), noise=0.1, rows=30)
    with threadpool_limits(1, user_api="blas"):
        one, two = (run(truth, replace(only("pursuit"), workers=workers)) for workers in (1, 2))
    assert proposals_of(one) == proposals_of(two)


def test_a_later_round_knows_more():
    truth = scene("sin(x**2 + y)*(1 + exp(x*y))", ("+", "*", "sin", "exp", "square"))
    first, second = (best_r2(run(truth, NOTHING, (number,)), truth) for number in (0, 1))
    assert second > first


def test_the_answers_kept_are_as_many_as_asked_for():
    truth = scene("exp(x)*sin(3*y) + x*y", (*FEW, "*"), noise=0.1)
    few, many = (len(proposals_of(run(truth, replace(NOTHING, keep=keep)))) for keep in (1, 5))
    assert 0 < few < many


@pytest.mark.parametrize("rows", [2, 3, 5])
def test_a_few_rows_are_enough_to_go_through_all_stages(rows):
    assert len(proposals_of(run(scene("x*y + sin(x)", FEW, rows=rows)))) > 10


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
    truth = scene_of(columns, target, FEW)
    stages = run(truth)
    assert {"pairs", "pursuit"} <= sources(stages)
    assert all(np.isfinite(proposal.unexplained) for proposal in proposals_of(stages))


def test_a_users_operator_is_used():
    bump = make_operator("bump", lambda u: 1 / (1 + u * u))
    columns = columns_of()
    truth = scene_of(columns, 3 * columns["y"] / (1 + columns["x"] ** 2) + 1, ("+", "*", bump))
    best = min(proposals_of(run(truth, NOTHING)), key=lambda proposal: proposal.unexplained)
    assert best.exact
    assert "bump" in operators_in(best.expression)


def test_zero_one_columns_of_categories_go_through_all_stages():
    rng = np.random.default_rng(0)
    kind, x = rng.integers(0, 3, 60), rng.uniform(1, 2, 60)
    columns = {"a": (kind == 0) * 1.0, "b": (kind == 1) * 1.0, "x": x}
    truth = scene_of(columns, np.sin(3 * x) * columns["a"] + np.exp(x) * columns["b"])
    assert "quotient" in sources(run(truth, only("quotients")))


@pytest.mark.parametrize("scale", [1e13, 1e-13])
def test_columns_in_any_units_go_through_all_stages(scale):
    columns = {"x": scale * columns_of(30, low=1)["x"]}
    truth = scene_of(columns, np.sin(3 * columns["x"] / scale) * columns["x"], FEW)
    assert "frequencies" in sources(run(truth, only("frequencies")))


def test_rows_that_are_drawn_may_happen_to_have_one_value():
    target = np.zeros(400)
    drawn = scene_of({"x": np.arange(400.0)}, np.arange(400.0) ** 2, rows=50).columns["x"]
    target[next(row for row in range(400) if row not in drawn)] = 1.0
    truth = scene_of({"x": np.arange(400.0)}, target, FEW, rows=50)
    assert np.ptp(truth.y) == 0
    run(truth)


def test_many_columns_do_not_make_many_monomials():
    rng = np.random.default_rng(0)
    data = make_dataset(rng.normal(size=(20, 25)), rng.normal(size=20))
    rounds = Rounds(Scene.of(data, ("sin",), 256, 0), only("given"))
    tracemalloc.start()
    for _ in rounds.round(0):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * 2**20


def test_proposals_use_the_operators_asked_for():
    truth = scene("x*sin(3*y) + x*y", ("+", "*", "sin"), noise=0.1, rows=30)
    for proposal in proposals_of(run(truth, only("given", "quotients", "frequencies", "pursuit", "unwrapping"))):
        assert operators_in(proposal.expression) <= {"+", "-", "*", "neg", "sin", "pow", "square"}, str(
            proposal.expression
        )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rounds", -1), ("rounds", 1.5), ("rows", 9), ("keep", 0), ("keep", "5"), ("fits", 0), ("workers", 0),
        ("workers", True), ("memory", 0), ("memory", -1.0), ("memory", float("nan")), ("memory", "2"), ("memory", None),
    ],
)  # fmt: skip
def test_bad_settings_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be .*got {value!r}"):
        ExhaustiveSettings(**{name: value})


# ---- the scene ----------------------------------------------------------------------------------------


def test_a_scene_is_of_some_rows_drawn_by_the_seed():
    X = np.arange(500.0)
    data = make_dataset(X, np.sin(X), names=["x"])
    one, same, other = (Scene.of(data, PAPER, 100, seed) for seed in (1, 1, 2))
    assert len(one.y) == 100
    np.testing.assert_array_equal(one.columns["x"], same.columns["x"])
    assert not np.array_equal(one.columns["x"], other.columns["x"])
    assert len(set(one.columns["x"].tolist())) == 100
    np.testing.assert_array_equal(one.y, np.sin(one.columns["x"]))
    np.testing.assert_array_equal(Scene.of(data, PAPER, 500, 0).columns["x"], X)


def test_rows_far_out_on_the_tails_count_less():
    target = np.r_[np.random.default_rng(0).normal(size=99), 1e6]
    truth = scene_of({"x": np.arange(100.0)}, target)
    assert truth.weights.sum() == pytest.approx(1)
    assert truth.weights[-1] < 1e-6 * truth.weights[0]
    order = np.argsort(np.abs(target - np.median(target)))
    assert (np.diff(truth.weights[order]) <= 0).all()
    assert truth.weights[:99].min() > 0.5 * truth.weights[:99].max()


def test_rows_without_weight_are_left_out_and_the_others_count_by_theirs():
    weights = np.repeat([0.0, 1.0, 2.0, 3.0], 10)
    target = np.tile([1.0, -1.0], 20)
    truth = scene_of({"x": np.arange(40.0)}, target, weights=weights)
    np.testing.assert_array_equal(truth.columns["x"], np.flatnonzero(weights))
    np.testing.assert_allclose(truth.weights, weights[weights > 0] / weights.sum())


def test_a_target_of_mostly_one_value_has_weights_all_the_same():
    truth = scene_of({"x": np.arange(40.0)}, np.r_[np.zeros(37), 1, 2, 3])
    assert np.isfinite(truth.weights).all()
    assert (truth.weights > 0).all()


# ---- questions and proposals --------------------------------------------------------------------------


def asked_about(columns, text, operators=(), **options):
    target = evaluate(parse(text), columns).values
    return {frame.text: frame for frame in unwrap(target, [], operators, **options)}, target


def term(columns, text):
    return evaluate(parse(text), columns).values, parse(text)


def test_the_formula_of_an_answer_has_the_coefficients_of_least_squares():
    columns = columns_of()
    frames, target = asked_about(columns, "3*sin(x) - 2*x*y + 0.5*y**2 + 7")
    asked = Asked(frames["g"], (term(columns, "sin(x)"),))
    formula = asked.formula([term(columns, "x*y"), term(columns, "y**2")])
    np.testing.assert_allclose(evaluate(formula, columns).values, target, rtol=1e-9)
    assert sorted(formula.constants) == pytest.approx([-2, 0.5, 3, 7])


def test_a_denominator_is_given_like_a_term():
    columns = columns_of()
    frames, target = asked_about(columns, "(2 + 3*x*y)/(1 - 0.4*sin(x))")
    asked = Asked(frames["g"], below=term(columns, "sin(x)"))
    answer = term(columns, "x*y")
    assert unexplained(answer[0][None, None], asked.question())[0] < EXACT
    np.testing.assert_allclose(evaluate(asked.formula([answer]), columns).values, target, rtol=1e-9)


def test_the_formula_of_an_answer_is_wrapped_in_its_frame():
    columns = columns_of()
    frames, target = asked_about(columns, "exp(2*x + (1 + 3*sin(y))/(2 - y**2/9))", PAPER)
    asked = Asked(frames["exp(g)"], (term(columns, "x"), term(columns, "x*y**2")), term(columns, "y**2"))
    formula = asked.formula([term(columns, "sin(y)")])
    np.testing.assert_allclose(evaluate(formula, columns).values, target, rtol=1e-7)


def test_answers_that_do_not_fit_or_are_none_make_formulas_too():
    columns = columns_of()
    frames, target = asked_about(columns, "x + 3")
    weights = frames["g"].weights
    assert evaluate(Asked(frames["g"]).formula([]), columns).values == pytest.approx(weights @ target / weights.sum())
    twice = Asked(frames["g"]).formula([term(columns, "x"), term(columns, "2*x")])
    np.testing.assert_allclose(evaluate(twice, columns).values, target)
    none = (np.zeros(60), Constant(0) * Variable("x"))
    assert np.isfinite(evaluate(Asked(frames["g"]).formula([none]), columns).values).all()


def test_a_question_with_more_in_it_is_more_complex():
    columns = columns_of(low=0.5)
    frames, _ = asked_about(columns, "x + 3", PAPER)
    sizes = [
        Asked(frames["g"]), Asked(frames["g"], (term(columns, "x"),)), Asked(frames["g"], (term(columns, "x*y"),)),
        Asked(frames["g"], (term(columns, "x*y"),), term(columns, "y")),
        Asked(frames["exp(g)"], (term(columns, "x*y"),), term(columns, "y")),
    ]  # fmt: skip
    assert sizes[0].complexity == 0
    assert all(one.complexity < two.complexity for one, two in pairwise(sizes))


def test_a_proposal_is_exact_when_it_leaves_less_than_rounding():
    assert Proposal(parse("x"), 1e-20, "pairs").exact
    assert not Proposal(parse("x"), EXACT, "pairs").exact
    assert Proposal(parse("x"), 0.5, "a", np.ones(3, dtype=bool)) == Proposal(parse("x"), 0.5, "a")


def test_the_most_promising_are_the_best_of_each_complexity_and_source_in_turn():
    texts = {1: ["x", "y"], 2: ["x**2", "y**2"], 3: ["x + y", "x*y"]}
    every = [
        Proposal(parse(text), left, source)
        for source, shift in (("a", 0.0), ("b", 0.5))
        for complexity, pair in texts.items()
        for left, text in zip((0.4 / complexity + shift, 0.45 / complexity + shift), pair, strict=True)
    ]
    order = promising(every[::-1], 100)
    assert sorted(map(repr, order)) == sorted(map(repr, every))
    assert {proposal.source for proposal in order[:2]} == {"a", "b"}
    for source in "ab":
        mine = [proposal for proposal in order if proposal.source == source]
        best, second = mine[:3], mine[3:]
        assert sorted(proposal.expression.complexity for proposal in best) == [1, 2, 3]
        assert {str(proposal.expression) for proposal in best} == {"x", "x**2", "x + y"}
        assert [p.unexplained for p in best] == sorted(p.unexplained for p in best)
        assert [p.unexplained for p in second] == sorted(p.unexplained for p in second)
    assert [p.unexplained for p in promising(every, 4)] == [p.unexplained for p in order[:4]]
    assert promising([], 5) == []
