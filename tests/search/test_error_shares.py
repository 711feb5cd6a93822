"""Errors that are shares of the values: when they are looked for, and that the search finds them."""

import numpy as np
import pytest

from contexts import all_stages_but
from prunesymnet.bank.query import Proposal
from prunesymnet.data import make_dataset
from prunesymnet.expression import canonical, evaluate, parse
from prunesymnet.search import SearchSettings, search
from prunesymnet.search.error_kinds import KINDS
from prunesymnet.search.error_shares import (
    LARGEST_SHARE,
    bias_bits,
    bias_is_seen,
    grow_with_target,
    left_by_curve,
    makes_a_difference,
    share,
    share_of,
    weight_bits,
)
from prunesymnet.search.loop import _Search
from prunesymnet.search.settings import ExhaustiveSettings, SearchStatus

ROWS = 60
NOISE = np.random.default_rng(5).normal(size=ROWS)
X = np.linspace(1.0, 9.0, ROWS)
LAW = 3.0 * np.exp(0.9 * X)
SLOW = tuple(stage.name for stage in all_stages_but("power_law", "polynomials", "unwrapping", "singles", "pairs"))
ONE_LEVEL = {"time_limit": 600.0, "exhaustive": ExhaustiveSettings(levels=1, without=SLOW)}


def test_values_of_one_size_or_with_weights_of_their_own_make_no_difference():
    assert makes_a_difference(make_dataset(X, LAW))
    assert not makes_a_difference(make_dataset(X, 100 + X))
    assert not makes_a_difference(make_dataset(X, LAW - LAW[3]))  # a share of 0 is nothing
    assert not makes_a_difference(make_dataset(X, LAW, weights=X))
    assert not makes_a_difference(make_dataset(X, np.where(X < 5, LAW, 1e-200)))  # nor is one of next to nothing


def test_the_bits_are_those_of_the_normal_distributions():
    sigma = 0.02 * LAW
    weights = 1 / LAW**2
    residual = sigma * NOISE

    def bits(spread):
        return float(np.sum(np.log2(spread) + 0.5 * np.log2(np.e) * (residual / spread) ** 2))

    alike, shares = np.sqrt(np.mean(residual**2)), np.sqrt(np.mean((residual / LAW) ** 2))
    mean_square = np.sum(weights * residual**2) / weights.sum()
    ours = 0.5 * ROWS * np.log2(mean_square) + weight_bits(weights) - 0.5 * ROWS * np.log2(alike**2)
    assert ours == pytest.approx(bits(shares * LAW) - bits(np.full(ROWS, alike)))
    assert weight_bits(None) == weight_bits(np.full(9, 3.0)) == 0.0
    assert share(make_dataset(X, LAW).with_loss("relative"), mean_square) == pytest.approx(shares)


@pytest.mark.parametrize(("error", "relative"), [(0.02 * LAW * NOISE, True), (0.02 * LAW.std() * NOISE, False)])
def test_the_errors_decide_how_they_are_counted(error, relative):
    found = search(make_dataset(X, LAW + error, names=["x"]), SearchSettings(**ONE_LEVEL))
    assert found.front.best.relative is relative
    squared = search(make_dataset(X, LAW + error, names=["x"]), SearchSettings(loss="squared", **ONE_LEVEL))
    assert not squared.front.best.relative


def test_intervals_of_shares_grow_with_the_value():
    data = make_dataset(X, LAW * (1 + 0.02 * NOISE), names=["x"]).with_loss("relative")
    found = search(data, SearchSettings(loss="relative", **ONE_LEVEL)).front.best
    low, high = found.interval({"x": X})
    assert np.sqrt(found.variance) == pytest.approx(0.02, rel=0.3)
    middle = (low + high) / 2
    assert ((high - low) / middle).max() < 0.2 > ((high - low) / middle).min() > 0.04
    inside = np.mean((data.y >= low) & (data.y <= high))
    assert inside > 0.85


def test_residuals_that_do_not_grow_are_no_reason_to_look():
    data = make_dataset(X, LAW)
    assert grow_with_target(data, LAW * NOISE)
    assert not grow_with_target(data, NOISE[::-1] / LAW)


def test_residuals_that_grow_are_seen_beside_what_a_formula_lacks_in_the_rows_of_small_values():
    residual = np.where(LAW[30] > LAW, LAW[15], 0.02 * LAW * NOISE)
    ranks = [np.argsort(np.argsort(part)) for part in (np.abs(residual), LAW)]
    assert np.corrcoef(*ranks)[0, 1] < 0.2
    assert grow_with_target(make_dataset(X, LAW), residual)
    assert not grow_with_target(make_dataset(X, LAW), residual[::-1])


@pytest.mark.parametrize(("rows", "law"), [(40, lambda x: 640 / (1 + np.exp(5 - x))), (100, lambda x: np.exp(-x / 2))])
def test_a_smooth_curve_shows_errors_that_grow_while_no_formula_is_near(rows, law):
    x, noise = np.linspace(0.1, 10.0, rows), np.random.default_rng(7).normal(size=(50, rows))

    def suspected(errors):
        tables = [make_dataset(x, law(x) + error) for error in errors]
        return np.mean([grow_with_target(table, left_by_curve(table)) for table in tables])

    assert suspected(0.03 * law(x) * noise) > 0.8
    assert suspected(0.03 * law(x).std() * noise) < 0.2


def test_a_smooth_curve_needs_rows_and_one_column():
    assert left_by_curve(make_dataset(X[:8], LAW[:8])) is None
    assert left_by_curve(make_dataset(np.array([X, X**2]).T, LAW)) is None


def test_what_weights_by_the_target_are_off_by_is_charged():
    assert bias_bits(0.0, 60) == 0.0
    assert bias_bits(0.01, 60) < 0.1 < 3 < bias_bits(0.15, 60)
    assert bias_bits(5.0, 60) == bias_bits(LARGEST_SHARE, 60)
    assert [bias_is_seen(share, 100) for share in (0.001, 0.1)] == [False, True]


def test_a_row_far_above_the_law_is_a_large_share_of_what_is_predicted():
    data = make_dataset(X, np.append(LAW[:-1], 20 * LAW[-1])).with_loss("relative")
    assert share_of(data, LAW) == pytest.approx(19 / np.sqrt(ROWS))
    assert share(data, data.mse(LAW)) < 0.13
    assert share_of(data, 0 * LAW) == np.inf


def test_large_shares_are_found_and_nothing_is_off_for_them():
    rng = np.random.default_rng(1)
    mass = 10 ** rng.uniform(-2, 3, 80)
    rate = 3.4 * mass**0.75 * (1 + 0.2 * rng.normal(size=80))
    found = search(make_dataset(mass, rate, names=["mass"]), SearchSettings(**ONE_LEVEL)).front.best
    assert found.relative
    low, high = found.interval({"mass": mass}, mean=True)
    assert np.mean((low < 3.4 * mass**0.75) & (3.4 * mass**0.75 < high)) > 0.5
    residual = rate / found.predict({"mass": mass}) - 1
    assert np.sqrt(found.variance) == pytest.approx(np.std(residual, ddof=2), rel=0.05)
    # Of shares of the prediction, those of the rows are on both sides of it; of shares of the target, they are above.
    assert abs(np.mean(residual)) < 0.01


def test_errors_are_alike_after_all_where_the_law_that_was_found_says_so(monkeypatch):
    def stages(ours):
        other = ours.other_with(KINDS["relative"], 1)
        other.begin()
        ours.go_on_as(other)
        ours.fitter.propose(Proposal(parse("2.9*exp(0.91*x)"), 1.0), None, "law")
        return SearchStatus.FINISHED

    monkeypatch.setattr(_Search, "stages", stages)
    for error, relative in ((0.02 * LAW * NOISE, True), (0.02 * LAW.std() * NOISE, False)):
        found = search(make_dataset(X, LAW + error, names=["x"]), SearchSettings(**ONE_LEVEL)).front.best
        assert found.relative is relative
        assert (found.expression.constants[-1] if relative else 0.9) == pytest.approx(0.9, rel=0.02)


@pytest.mark.parametrize(
    ("law", "ranges"),
    [
        ("6.674e-11*a*b/r**2", {"a": (20, 28), "b": (18, 26), "r": (6, 9)}),
        ("n*exp(-7.1e23*m*x/T)", {"n": (20, 25), "m": (-26, -24.5), "x": (2, 4.5), "T": (2.3, 2.5)}),
        ("sqrt(R**2 + (L*w - 1/(C*w))**2)", {"R": (1, 3), "w": (4, 6), "L": (-5, -3), "C": (-9, -7)}),
    ],
)
def test_a_law_over_many_decades_comes_back_from_errors_of_one_per_cent(law, ranges):
    rng = np.random.default_rng(3)
    columns = {name: 10 ** rng.uniform(*decades, 100) for name, decades in ranges.items()}
    y = evaluate(parse(law), columns).values
    X, names = np.array(list(columns.values())).T, list(columns)
    noisy = make_dataset(X, y * (1 + 0.01 * rng.normal(size=100)), names=names)
    found = search(noisy, SearchSettings(time_limit=600.0, max_evaluations=300_000_000)).front.best
    assert found.relative
    assert np.abs(evaluate(found.expression, columns).values / y - 1).max() < 0.05
    assert found.complexity <= canonical(parse(law)).complexity


def test_a_level_ends_when_errors_are_counted_in_another_way(monkeypatch):
    seen = []

    def level(ours, context, *_, **__):
        seen.append(context.archive is ours.archive and context.train is ours.rows.train)
        if len(seen) == 1:
            other = ours.other_with(KINDS["relative"], 1)
            other.begin()
            ours.go_on_as(other)

    monkeypatch.setattr(_Search, "level", level)
    monkeypatch.setattr("prunesymnet.search.fewer_columns.narrowed", lambda context, _: [context])
    monkeypatch.setattr("prunesymnet.search.fewer_columns.is_sure", lambda _: True)
    monkeypatch.setattr("prunesymnet.search.fewer_columns.ROOM", 0)  # one column is more
    data = make_dataset(X, LAW * (1 + 0.02 * NOISE), names=["x"])
    search(data, SearchSettings(time_limit=600.0, exhaustive=ExhaustiveSettings(levels=2, without=SLOW)))
    assert seen == [True, True, True]  # of the first level one context of two, of the second both
