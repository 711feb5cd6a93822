"""Building on formulas that are nearly right: what stands in for a branch, columns made of several, two frequencies."""

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prunesymnet.bank.asked import Asked
from prunesymnet.bank.bank import grow_bank
from prunesymnet.bank.targets import plain
from prunesymnet.coefficients import fit
from prunesymnet.data import make_dataset
from prunesymnet.expression import Variable, canonical, evaluate, parse
from prunesymnet.operators import DEFAULT, OPERATORS, make_operator
from prunesymnet.search import SearchSettings, Start, search
from prunesymnet.search.loop import _Search
from prunesymnet.search.stages import ExhaustiveSettings, Rounds, Scene, blocks
from prunesymnet.search.stages.blocks import with_blocks
from prunesymnet.search.stages.grafts import Branch, questions
from prunesymnet.search.stages.phases import pursue_phases
from prunesymnet.search.stages.rates import rates
from prunesymnet.search.stages.rounds import different


def table(text, names="abcdxy", rows=80, low=1.0, high=3.0, seed=0):
    rng = np.random.default_rng(seed)
    columns = {name: rng.uniform(low, high, rows) for name in names}
    target = evaluate(parse(text), columns).values
    return make_dataset(np.array(list(columns.values())).T, target, names=list(columns), target="t")


def scene(text, **options):
    return Scene.of(table(text, **options), DEFAULT, rows=256, seed=0)


def best_of(proposals, scene, count=5):
    """The proposals nearest to the target."""
    errors = [np.var(evaluate(p.expression, scene.columns).values - scene.y) / np.var(scene.y) for p in proposals]
    return [proposals[k] for k in np.argsort(errors)[:count]]


# ---- grafts -------------------------------------------------------------------------------------------

NEAR = [  # a formula that is nearly right, and the right one
    ("a*(3.0 + b*sin(x))", "a*(c + b*sin(x))"),  # a constant becomes a column
    ("2.5*a*exp(b)", "a*exp(b)/(c + x**2)"),  # a factor is missing
    ("a*exp(0.5*b)", "a*exp(0.5*b + c*x)"),  # a term is missing inside
    ("a + b*x + log(c)", "a + b*x + sqrt(c*y)"),  # a term of a sum is another
    ("sin(a*b)*c", "sin(a*b + x/20)*c"),  # below a sine, away from the first branch
    ("a/(2.0 + b)", "a/(b + c*x**2)"),  # in a denominator
    ("(a + 1.5)**3", "(a + b*c)**3"),  # below a power
    ("sqrt(a**2 + 2.0)", "sqrt(a**2 + b*c)"),
]


@pytest.mark.parametrize(("near", "truth"), NEAR)
def test_the_bank_has_what_a_near_formula_lacks(near, truth):
    there = scene(truth)
    rounds = Rounds(there, ExhaustiveSettings())
    found = [proposal for _, proposals in rounds.grafts([parse(near)], 0) for proposal in proposals]
    best = best_of(found, there)
    assert best[0].unexplained == pytest.approx(rounds.left_of_y(best[0].expression))
    assert max(fit(proposal.expression, there.data).r2 for proposal in best) > 1 - 1e-10


def test_every_question_is_about_values_that_would_give_the_target():
    there = scene("a*exp(0.5*b + c*x)/(d + y)")
    for asked in questions(parse("a*exp(0.5*b + 1.5)/(d + y**2)"), there):
        counts = asked.frame.weights > 0
        np.testing.assert_allclose(asked.frame.back(asked.frame.target)[counts], there.y[counts], rtol=1e-6)


def test_a_formula_that_is_not_finite_is_not_asked_about():
    assert questions(parse("log(a - 2)"), scene("a*b")) == []
    assert [*Rounds(scene("a*b"), ExhaustiveSettings()).grafts([], 0)] == []


def test_formulas_with_columns_that_were_screened_out_are_passed_over():
    there = scene("a*b + c")
    few = Rounds(replace(there, names=("a", "b")), ExhaustiveSettings())
    assert [*few.grafts([parse("a*c")], 0)] == []
    assert [*few.reduced(blocks(parse("2.5*b*(a*c - 1.5)**2")))] == []
    data = table("a*b + 0.3*c + x*y", names="abcxy", rows=60)
    settings = SearchSettings(time_limit=3, exhaustive=ExhaustiveSettings(rounds=1, columns=2))
    assert search(data, settings).best.r2 > 0.5  # and no KeyError


def test_exponents_and_coefficients_are_not_branches():
    there = scene("a**2*b")
    asked = [(one.frame.text, len(one.given)) for one in questions(parse("2.5*a**1.5"), there)]
    assert len(asked) == len(set(asked))
    assert not any("**g" in text for text, _ in asked)


@given(
    st.sampled_from(sorted(set(OPERATORS) - {"pi", "id"})), st.floats(0.3, 2.5), st.floats(-0.05, 0.05), st.booleans()
)
def test_a_branch_goes_down_to_the_value_nearby(name, at, off, second):
    operator = OPERATORS[name]
    place = int(second and operator.arity == 2)
    now, other = np.array([at, at + 0.1]), (np.array([1.7, 1.7]), Variable("o"))
    branch = Branch(operator, place, now, other if operator.arity == 2 else None)
    aim = now + off
    with np.errstate(all="ignore"):
        target = branch.up(aim)
        slope = branch.slope(aim)
        found = branch.down(target)
    steep = np.isfinite(target) & (np.abs(slope) > 0.2)  # near a turning point the other branch is as near
    np.testing.assert_allclose(found[steep], aim[steep], rtol=1e-5)


def test_an_operator_without_inverse_is_undone_by_newtons_steps():
    soft = make_operator("soft", lambda u: np.log1p(np.exp(u)))
    now = np.linspace(0.5, 2, 7)
    branch = Branch(soft, 0, now, None)
    np.testing.assert_allclose(branch.down(branch.up(now + 0.3)), now + 0.3, rtol=1e-8)
    with np.errstate(all="ignore"):
        assert np.isnan(branch.down(np.full(7, -1.0))).all()  # it never is


# ---- blocks -------------------------------------------------------------------------------------------


def shown(text, **options):
    return {str(canonical(block)) for block in blocks(parse(text), **options).values()}


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
    near = parse("0.04*a*(b*c/(x*y) - 3.9)**2")
    rounds = Rounds(there, ExhaustiveSettings())
    (best,) = best_of([p for _, found in rounds.reduced(blocks(near)) for p in found], there, 1)
    assert rounds.left_of_y(best.expression) < 1e-12
    assert set(best.expression.variables) <= set(there.columns)
    assert rounds.scored > 0


# ---- phases -------------------------------------------------------------------------------------------


def test_more_may_be_kept_than_there_are():
    there = scene("sin(2*x + y)", names="xy")
    nodes = [(there.columns[name], Variable(name)) for name in "xy"]
    assert pursue_phases([Asked(plain(there.y, there.weights))], nodes, 4, 5000, ("sin", "cos"))


@pytest.mark.parametrize("names", [("sin", "cos"), ("sin",), ("cos",)])
def test_two_frequencies_are_found_at_once(names):
    there = scene("3*sin(2*x*y - 1.5*(x + y) + 0.4) + 7", names="xy", low=-3, high=3, rows=120)
    nodes = [(evaluate(tree, there.columns).values, tree) for tree in map(parse, ("x", "y", "x*y", "x + y"))]
    found = pursue_phases([Asked(plain(there.y, there.weights))], nodes, 64, 5, names)
    assert {proposal.source for proposal in found} == {"phases"}
    assert min(proposal.unexplained for proposal in found) < 0.3  # the grid is as fine as a fit needs
    for proposal in found:
        assert {"sin", "cos"} & {str(proposal.expression)[k : k + 3] for k in range(len(str(proposal.expression)))}


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("1.35*x*y + 5.5*sin((x - 1)*(y - 1))", -3, 3),
        ("2*cos(3.3*x - 1.7*y + 0.5) + x", -3, 3),
        ("sin(x**2 + 2.2*x) + y", -3, 3),
    ],
)
def test_a_search_finds_a_wave_of_two_nodes(text, low, high):
    data = table(text, names="xy", rows=120, low=low, high=high)
    found = search(data, SearchSettings(time_limit=30))
    fresh = table(text, names="xy", rows=200, low=low, high=high, seed=1)
    np.testing.assert_allclose(evaluate(found.best.expression, fresh.columns).values, fresh.y, atol=1e-5)


def test_on_a_grid_no_column_is_taken_for_another():
    levels = np.meshgrid(*[np.linspace(1, 3, 4)] * 3, indexing="ij")
    columns = {name: level.reshape(-1) for name, level in zip("xyz", levels, strict=True)}
    bank = grow_bank(columns, DEFAULT, 60)
    kept = {str(bank.expression(k)) for k in different(bank, bank.plain_nodes())}
    assert {"x", "y", "z"} <= kept
    assert "1 + x" not in kept  # x plus a constant


# ---- the loop -----------------------------------------------------------------------------------------


def test_a_search_builds_on_what_is_nearly_right():
    data = table("a*(c + b*x*sin(y))", names="abcxy", rows=100, high=5.0)
    stages = []
    found = search(data, SearchSettings(time_limit=60), watch=lambda update: stages.append(update.stage))
    assert str(found.best.expression) == "a*(c + b*x*sin(y))"
    assert "grafts" in stages


def test_an_error_of_nought_ends_the_building():
    data = table("a*b + c", names="abc", rows=30)
    state = _Search(data, SearchSettings(time_limit=30), None, Start())
    state.stages_since = -100  # as if an exact formula were not yet accepted
    rounds = Rounds(Scene.of(data, DEFAULT, 256, 0), ExhaustiveSettings())
    state.judge.note(replace(state.judge.candidate_of(parse("a*b + c"), ""), heldout_mse=0.0))
    state.unexplained = lambda: 0.0
    began = time.monotonic()
    state.build_on(rounds, 0)
    assert time.monotonic() - began < 15


def test_columns_are_made_of_the_best_formula_that_is_nearly_right_once():
    data = table("a*(b*c/(x*y) - 4)**2 + 0.001*b", names="abcxy", rows=60)
    state = _Search(data, SearchSettings(time_limit=30), None, Start())
    rounds = Rounds(Scene.of(data, DEFAULT, 256, 0), ExhaustiveSettings())
    assert [*state.fewer_columns(rounds, 0)] == []  # the linear model is far off
    state.judge.candidate_of(parse("1.0*a*(b*c/(x*y) - 4.0)**2"), "")
    stage, proposals = next(state.fewer_columns(rounds, 0))
    assert stage == "monomial"
    assert all(set(proposal.expression.variables) <= set(data.names) for proposal in proposals)
    assert state.reduced == {frozenset({"a", "b*c/(x*y)"})}
    assert [*state.fewer_columns(rounds, 0)] == []  # these have been tried


def test_building_on_formulas_can_be_switched_off():
    data = table("a*(c + b*x*sin(y)) + exp(a*b)/(c + x*y)", names="abcxy", rows=40)
    stages = []
    settings = SearchSettings(time_limit=4, exhaustive=ExhaustiveSettings(grafts=False, blocks=False, rounds=1))
    search(data, settings, watch=lambda update: stages.append(update.stage))
    assert "grafts" not in stages
    assert stages.count("polynomial") == 1  # with blocks, they are asked for once more


# ---- rates --------------------------------------------------------------------------------------------


def test_rates_stay_in_range_and_leave_out_what_does_not_vary():
    x = np.linspace(0, 4, 9)
    values, trees = rates([(x, Variable("x")), (np.ones(9), Variable("one")), (1e6 + x, Variable("far"))])
    assert {tree.variables for tree in trees} == {("x",)}
    assert np.isfinite(values).all()
    for row, tree in zip(values, trees, strict=True):
        np.testing.assert_allclose(row, evaluate(tree, {"x": x}).values)


def test_a_rate_in_noise_is_found():
    data = table("a*(1 - exp(-x/(0.6*b)))", names="abx", rows=128, low=0.5, high=5)
    noise = 0.01 * np.sqrt(np.mean(data.y**2)) * np.random.default_rng(7).normal(size=128)
    noisy = make_dataset(data.X, data.y + noise, names=list(data.names), target="t")
    found = search(noisy, SearchSettings(time_limit=10)).best.expression
    left = np.var(evaluate(found, data.columns).values - data.y)
    assert left < 0.1 * np.var(noise)
    assert "exp(" in str(found)
