"""The presets: the paper to the letter, what "paper+" does differently, and the paper's ablations."""

from dataclasses import replace

import numpy as np
import pytest

from contexts import context_of
from prunesymnet.data import make_dataset
from prunesymnet.expression import parse
from prunesymnet.search import DIFFERENCES, PRESETS, SearchStatus, Start, search
from prunesymnet.search.archive import Archive
from prunesymnet.search.fitting import Fitter
from prunesymnet.search.rows import Rows
from prunesymnet.search.settings import with_differences
from prunesymnet.search.stages.networks import overlap, propose

PAPER, PLUS = PRESETS["paper"], PRESETS["paper+"]
SMALL = replace(PAPER, layers=2, max_epochs=40)


def table(function=lambda x: x**3 - np.cos(x), rows=60, seed=0):
    x = np.random.default_rng(seed).uniform(-3, 3, rows)
    return make_dataset(x, function(x), names=["x"])


def fitter(settings, function=lambda x: x**2 - x, fresh=None):
    rows = Rows.of(table(function), settings, fresh)
    return Fitter(rows, settings.rules(), Archive(rows), settings.fits_per_form, settings)


# ---- the paper to the letter -------------------------------------------------------------------------


def test_the_settings_of_the_paper():
    assert (PAPER.layers, PAPER.max_epochs, PAPER.prune_every, PAPER.pruner) == (6, 3000, 20, "beam")
    assert (PAPER.pruning.beam, PAPER.pruning.sampled_layers, PAPER.pruning.sampled_from) == (5, 2, "input")
    assert (PAPER.pruning.sampled_by, PAPER.pruning.rescale) == ("loss", False)
    assert (PAPER.fit_method, PAPER.snapping.fit.method, PAPER.snapping.only_integers) == ("bfgs", "bfgs", True)
    assert (PAPER.holdout, PAPER.linear_model, PAPER.remove_operators) == (0.0, False, False)
    assert PAPER.selection == "accuracy"
    training = PAPER.training
    assert (training.overlap, training.raise_after, training.unnested) == (0.8, 2, PAPER.pruning.unnested)


def test_all_rows_are_fitted_and_none_is_held_out():
    rows = Rows.of(table(), PAPER)
    assert rows.train is rows.held is rows.every
    assert not rows.holds_out
    assert Rows.of(table(), PLUS).holds_out


def test_candidates_are_fitted_by_bfgs(monkeypatch):
    used = []

    def noted(expression, data, *, settings, **_):
        used.append(settings.method)
        return original(expression, data, settings=settings)

    original = Fitter.candidate.__globals__["fit"]
    monkeypatch.setitem(Fitter.candidate.__globals__, "fit", noted)
    for settings, method in ((PAPER, "bfgs"), (with_differences(PAPER, ["lm"]), "lm")):
        fitter(settings).candidate(parse("1.0*x**2 + 1.0*sin(x)"), "")
        assert set(used) == {method}
        used.clear()


def test_products_of_sums_are_multiplied_out_fitted_and_rounded_term_by_term():
    fit = fitter(PAPER, lambda x: x**4 + x**3 + x**2 + x)
    fit.consider(parse("0.7*square(0.9*x + 0.3)*(0.5*square(0.8*x) + 0.4*x)"), "networks")
    assert fit.archive.best.expression == parse("x**4 + x**3 + x**2 + x")
    without = fitter(replace(PAPER, expand=False), lambda x: x**4 + x**3 + x**2 + x)
    without.consider(parse("0.7*square(0.9*x + 0.3)*(0.5*square(0.8*x) + 0.4*x)"), "networks")
    assert without.archive.best.expression != parse("x**4 + x**3 + x**2 + x")


def test_constants_are_rounded_to_whole_numbers_only():
    fit = fitter(PAPER, lambda x: 3 * x**2 + np.pi * x)
    fit.consider(parse("1.0*x**2 + 1.0*x + 0.5"), "networks")
    assert fit.archive.best.expression.constants == pytest.approx((np.pi,))


def test_no_operator_is_taken_out():
    """With sin(x) in the formula, exact data of a parabola are fitted with a coefficient of nearly 0 before it."""
    for settings, removes in ((PAPER, False), (with_differences(PAPER, ["fewer-operators"]), True)):
        fit = fitter(settings, lambda x: 1.5 * x**2 - 0.5 * x)
        fit.consider(parse("1.0*x**2 + 1.0*x + 0.5*sin(0.7*x)"), "networks")
        assert (fit.archive.fits > 1) == removes


def test_the_linear_model_does_not_begin():
    first = []
    search(table(), SMALL, watch=lambda update: first.append(update.best.stage))
    assert set(first) == {"networks"}
    first.clear()
    search(table(), with_differences(SMALL, ["linear-first"]), watch=lambda update: first.append(update.best.stage))
    assert first[0] in ("linear", "networks")
    stopped = search(table(), replace(SMALL, prune_every=1000, max_epochs=2))  # before there is a formula
    assert stopped.candidate.stage == "linear"


def test_the_formula_of_least_error_is_the_answer():
    given = Start((parse("0.5*x**3 - 1.0"), parse("0.5*x**3 - 1.0*sin(x) + 0.3*x**2 - 0.2")))
    found = search(table(), replace(SMALL, max_epochs=1), start=given)
    assert found.best.mse == min(equation.loss for equation in found.front)


# ---- when to stop -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fresh", "status"),
    [
        (None, SearchStatus.EXACT_ON_FITTED),
        (table(lambda x: x**2 - x, seed=1), SearchStatus.EXACT_ON_FRESH),
        (table(lambda x: x**2 - x + 0.1 * (x > 2), seed=1), SearchStatus.MAX_EPOCHS),
    ],
)
def test_fresh_rows_decide_when_to_stop(fresh, status):
    given = Start((parse("0.9*x**2 - 1.1*x"),))
    found = search(table(lambda x: x**2 - x), replace(SMALL, max_epochs=1), start=given, fresh=fresh)
    assert found.status is status
    assert found.best.expression == parse("x**2 - x")


def test_fresh_rows_decide_nothing_else():
    fresh = table(lambda x: 100 * x, seed=1)
    with_them, without = (search(table(), SMALL, fresh=rows) for rows in (fresh, None))
    assert str(with_them.best.expression) == str(without.best.expression)


def test_fresh_rows_must_be_a_table_of_the_same_columns():
    with pytest.raises(TypeError, match=r"^fresh must be a Dataset with all columns"):
        search(table(), SMALL, fresh=np.zeros(3))
    with pytest.raises(TypeError, match=r"^fresh must be a Dataset with all columns"):
        search(table(), SMALL, fresh=make_dataset(np.arange(9.0), np.arange(9.0) ** 2, names=["u"]))


# ---- overlap, and the ablations -----------------------------------------------------------------------


def test_candidates_are_the_same_where_they_retain_the_same_edges():
    one, two, three = (frozenset({(5, k), (7, 1)}) for k in range(3))
    assert overlap({one, two}, {one, two}) == 1.0
    assert overlap({one, two}, {two, three}) == 0.5
    assert overlap(set(), {one}) == 0.0
    assert overlap({one}, set()) == 0.0


def weights_at_prunings(settings):
    found = []
    for batch in propose(context_of(table(), settings=settings)):
        found += [pruned.weights for pruned in batch.pruned[:1]]
    return found


def test_without_gradient_the_weights_stay_from_one_pruning_to_the_next():
    still = replace(PRESETS["no-gradient"], layers=2, max_epochs=60)
    first, *others = weights_at_prunings(still)
    assert len(others) == 2
    for other in others:
        np.testing.assert_array_equal(other, first)
    first, second, _ = weights_at_prunings(replace(SMALL, max_epochs=60))
    assert (first != second).any()


def test_the_ablations_are_the_paper_but_for_one_thing():
    ablated = PRESETS["no-gradient"]
    assert replace(ablated, training=replace(ablated.training, gradient=True)) == PAPER
    assert replace(PRESETS["random-pruning"], pruner="beam") == PAPER


# ---- paper+ -----------------------------------------------------------------------------------------


def test_paper_plus_is_the_paper_with_every_difference():
    settings = PAPER
    for difference in DIFFERENCES.values():
        settings = difference.applied(settings)
    assert settings == PLUS


@pytest.mark.parametrize("name", DIFFERENCES)
def test_every_difference_changes_something_that_no_other_changes(name):
    assert with_differences(PAPER, [name]) != PAPER
    assert with_differences(PAPER, [other for other in DIFFERENCES if other != name]) != PLUS
    assert DIFFERENCES[name].about.endswith(".")
