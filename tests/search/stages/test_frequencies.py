"""Frequencies: random ones are found on the grid and between its points, whatever else is in the target."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contexts import context_of, problem, problem_of
from prunesymnet.bank.bank import Term, grow_bank
from prunesymnet.bank.query import Query
from prunesymnet.bank.regression import Regression, unexplained
from prunesymnet.bank.targets import Target
from prunesymnet.coefficients import fit
from prunesymnet.expression import Variable, evaluate, parse
from prunesymnet.operators import DEFAULT
from prunesymnet.search.stages.frequencies import (
    Grid,
    Waves,
    refined,
    scan_frequencies,
    wave,
    waves_beside_terms,
    waves_inside,
)
from regressions import fraction_left

COUNT = 1024


def points(seed=0, rows=120, low=-2.0, high=3.0):
    return np.random.default_rng(seed).uniform(low, high, rows)


def with_tails(seed=0, rows=200):
    """Most of it between -1 and 1, and a few rows far out."""
    u = points(seed, rows, -1, 1)
    u[:8] *= 1000
    return u


# ---- the grid -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1.0, 0.25, 1 / 12])
def test_in_rows_at_equal_steps_no_wave_is_faster_than_half_a_turn_each(step):
    u = step * np.delete(np.arange(40), [3, 17, 18])  # some are missing
    frequencies = Grid.of(u, COUNT).frequencies
    assert frequencies.max() <= np.pi / step < frequencies.max() + 1 / np.ptp(u)
    uneven = u + step * np.random.default_rng(0).uniform(-0.2, 0.2, len(u))
    assert Grid.of(uneven, COUNT).frequencies.max() == pytest.approx(COUNT / np.ptp(uneven))


@given(seed=st.integers(0, 10_000), scale=st.sampled_from([1e-6, 1.0, 1e6]), count=st.integers(1, 3000))
def test_the_step_is_one_over_the_range(seed, scale, count):
    u = scale * points(seed)
    grid = Grid.of(u, count)
    np.testing.assert_allclose(grid.frequencies * np.ptp(u), np.arange(1, count + 1))
    assert grid.rows.all()


def test_tails_are_cut_off_and_the_step_is_that_of_the_rest():
    u = with_tails()
    grid = Grid.of(u, 50)
    assert not grid.rows[np.abs(u) > 4].any()
    assert grid.rows[np.abs(u) < 1].all()
    assert grid.frequencies[0] == pytest.approx(1 / np.ptp(u[grid.rows]))
    assert grid.frequencies[0] > 50 / np.ptp(u)


@pytest.mark.parametrize("u", [np.r_[np.zeros(30), np.arange(5.0)], np.array([0.0, 1.0]), np.arange(9) % 2 * 1.0])
def test_a_column_that_is_mostly_one_value_has_a_grid_all_the_same(u):
    grid = Grid.of(u, 10)
    assert grid.rows.all()
    assert np.isfinite(grid.frequencies).all()


# ---- the scan -----------------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 10_000),
    steps=st.floats(3, COUNT - 1),
    phase=st.floats(0, 2 * np.pi),
    amplitude=st.floats(1e-3, 1e3),
    offset=st.floats(-100, 100),
)
@settings(max_examples=40)
def test_the_frequency_is_at_the_top_within_a_step_and_comes_out_between(seed, steps, phase, amplitude, offset):
    u = points(seed)
    grid = Grid.of(u, COUNT)
    step = grid.frequencies[0]
    regression = Regression(amplitude * (np.sin(steps * step * u + phase) + offset))
    ((found, left),) = scan_frequencies(u, grid, [regression], 5)
    assert abs(found[0] - steps * step) <= step
    assert left[0] < 0.1
    assert (np.diff(left) >= 0).all()
    assert abs(refined(u, grid, float(found[0]), regression) - steps * step) < 5e-2 * step  # of few waves least exactly


@given(seed=st.integers(0, 10_000), terms=st.integers(0, 2), weighted=st.booleans())
@settings(max_examples=15)
def test_what_is_left_is_the_residual_of_least_squares(seed, terms, weighted):
    rng = np.random.default_rng(seed)
    u = points(seed)
    target = np.sin(7 * u) + rng.normal(size=120)
    extra = rng.normal(size=(terms, 120)) + target
    weights = rng.uniform(0, 1, 120) if weighted else np.ones(120)
    regression = Regression(target, extra if terms else None, weights if weighted else None)
    ((found, left),) = scan_frequencies(u, Grid.of(u, 60), [regression], 6)
    for w, fraction in zip(found[found > 5 / np.ptp(u)], left[found > 5 / np.ptp(u)], strict=True):
        expected = fraction_left(target, [*extra, np.sin(w * u), np.cos(w * u)], weights)
        assert fraction == pytest.approx(expected, abs=1e-4)


def test_only_the_tops_of_hills_are_counted():
    u = points()
    ((found, _),) = scan_frequencies(u, Grid.of(u, COUNT), [Regression(np.sin(100.3 * u))], 8)
    places = np.sort(np.round(found * np.ptp(u)))
    assert len(places) == 8
    assert np.diff(places).min() >= 2


def test_each_regression_is_answered_as_if_it_were_alone():
    u = points()
    grid = Grid.of(u, 3000)  # more than one chunk
    weights = np.where(np.arange(120) % 3 == 0, 0.0, 1.0)
    regressions = [Regression(np.sin(w * u), None, weights if k else None) for k, w in enumerate((20.0, 55.5, 590.0))]
    together = scan_frequencies(u, grid, regressions, 3)
    for regression, (found, left) in zip(regressions, together, strict=True):
        ((alone, left_alone),) = scan_frequencies(u, grid, [regression], 3)
        np.testing.assert_array_equal(found, alone)
        np.testing.assert_allclose(left, left_alone, atol=1e-5)
    assert [found[0] for found, _ in together] == pytest.approx([20.0, 55.5, 590.0], abs=1 / np.ptp(u))


def test_rows_in_the_tails_do_not_count():
    u = with_tails()
    grid = Grid.of(u, COUNT)
    target = np.sin(77.7 * u)
    spoiled = np.where(grid.rows, target, 50.0)
    for t in (target, spoiled):
        ((found, left),) = scan_frequencies(u, grid, [Regression(t)], 1)
        assert abs(found[0] - 77.7) <= grid.frequencies[0]
        assert left[0] < 0.1
        assert refined(u, grid, float(found[0]), Regression(t)) == pytest.approx(77.7, abs=0.01 * grid.frequencies[0])


def test_a_weak_wave_is_found_beside_terms_that_are_fixed():
    u, v = points(1), points(2)
    target = 5 * v**2 + 0.1 * np.cos(33.3 * u)
    grid = Grid.of(u, COUNT)
    ((found, left),) = scan_frequencies(u, grid, [Regression(target, (v**2)[None])], 1)
    assert abs(found[0] - 33.3) <= grid.frequencies[0]
    assert left[0] < 1e-3


def test_the_origin_does_not_matter():
    u = points(low=0, high=1)
    target = np.sin(300.3 * u)
    there = 1e6 + u
    grid = Grid.of(there, COUNT)
    ((found, _),) = scan_frequencies(there, grid, [Regression(target)], 1)
    assert abs(found[0] - 300.3) <= grid.frequencies[0]


# ---- terms --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4*sin(2.5*u) + 1", ["sin(2.5*u)", "sin(2.5*u + phase)"]),
        ("3 - cos(2.5*u)", ["cos(2.5*u)", "sin(2.5*u + phase)"]),
        ("sin(2.5*u + 0.8)", ["sin(2.5*u + phase)"]),
    ],
)
def test_the_terms_of_a_wave(text, expected):
    u = points()
    target = evaluate(parse(text), {"u": u}).values
    query = Query(Target.of(target))
    found = wave(query, Term(u, Variable("u")), 2.5)
    assert [str(tree).split("(")[0] for _, tree in found] == [text.split("(")[0] for text in expected]
    for values, tree in found:
        np.testing.assert_allclose(values, evaluate(tree, {"u": u}).values, rtol=1e-12)
    for values, _ in (found[0], found[-1]):
        assert unexplained(values[None, None], query.regression())[0] < 1e-20
    formula = query.formula([found[-1]])
    np.testing.assert_allclose(evaluate(formula, {"u": u}).values, target, atol=1e-9)


def test_the_phase_is_that_beside_the_fixed_terms():
    u, v = points(1), points(2)
    target = 3 * v + np.sin(4.5 * u + 1.1)
    query = Query(Target.of(target), (Term(v, Variable("v")),))
    *_, (values, _) = wave(query, Term(u, Variable("u")), 4.5)
    np.testing.assert_allclose(values, np.sin(4.5 * u + 1.1), atol=1e-9)


@pytest.mark.parametrize("names", [("sin", "cos"), ("sin",), ("cos",)])
def test_a_sum_of_waves_is_found_one_by_one(names):
    columns = {"x": points(1), "y": points(2)}
    target = Target.of(2 * np.sin(7.3 * columns["x"]) + np.cos(31.7 * columns["y"] + 0.4) + 3)
    waves = Waves(grow_bank(columns, ("+", "*"), 2), keep=3, names=names)
    grids = {node: Grid.of(waves.bank.values[node], 400) for node in range(2)}
    hits = waves.scan([Query(target)], grids)
    assert abs(hits[0].frequency - 7.3) <= grids[hits[0].node].frequencies[0]
    more = waves.beside_the_best(hits, [Query(target)], grids)
    best = min(waves.proposals(waves.scan(more, grids), more, grids), key=lambda proposal: proposal.unexplained)
    np.testing.assert_allclose(evaluate(best.expression, columns).values, target.values, atol=0.1)
    assert all(name in names for name in ("sin", "cos") if f"{name}(" in str(best.expression))


def test_rows_in_the_tails_are_left_to_a_later_fit():
    columns = {"x": with_tails()}
    query = Query(Target.of(np.sin(77.7 * columns["x"])))
    waves = Waves(grow_bank(columns, ("+",), 1), keep=2)
    grids = {0: Grid.of(columns["x"], COUNT)}
    for proposal in waves.proposals(waves.scan([query], grids), [query], grids):
        np.testing.assert_array_equal(proposal.rows, grids[0].rows)


@pytest.mark.parametrize(
    "text", ["3/(2.1 + cos(17.3*x + 0.4))", "exp(0.7*sin(17.3*x))", "sqrt(4 + cos(17.3*x))", "x*(2 - cos(17.3*x))"]
)
def test_a_wave_in_a_function_or_behind_a_factor_is_found_at_any_frequency(text):
    context = context_of(problem(text, rows=120))
    (batch,) = waves_inside(context)
    assert min(context.problem.unexplained(proposal.expression) for proposal in batch.proposals) < 1e-4


def test_waves_that_become_longer_in_proportion_are_found():
    x = np.linspace(1, 5, 80)
    context = context_of(problem_of({"x": x}, 2.3 * np.sin(4.3 * np.log(x) + 0.7) + 0.4, DEFAULT))
    found = [proposal for batch in waves_beside_terms(context) for proposal in batch.proposals]
    fits = [fit(proposal.expression, context.train) for proposal in found if "log(x)" in str(proposal.expression)]
    assert min(one.mse for one in fits) < 1e-16
