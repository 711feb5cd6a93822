"""From a proposed formula to a candidate in the archive."""

import math
from dataclasses import replace

import numpy as np
import pytest

from prunesymnet.bank.query import Proposal
from prunesymnet.coefficients.fit import measure
from prunesymnet.data import make_dataset
from prunesymnet.expression import evaluate, parse
from prunesymnet.search import Candidate, Constraints, Pruned, SearchSettings
from prunesymnet.search.archive import Archive
from prunesymnet.search.fitting import LONGEST_TO_SHRINK, Fitter
from prunesymnet.search.rows import Rows

SETTINGS = SearchSettings()


def fitter(function=lambda x: 2 * np.sin(x) + 1, settings=SETTINGS, fits_per_form=3, rows=60):
    x = np.linspace(0.1, 3, rows)
    given = Rows.of(make_dataset(x, function(x), names=["x"]), settings)
    return Fitter(given, settings.rules(), Archive(given), fits_per_form)


def test_a_candidate_is_fitted_on_training_rows_and_measured_on_the_others():
    fit = fitter()
    found = fit.candidate(parse("1.0*sin(x) + 0.5"), "made up")
    assert found.expression.constants == pytest.approx((2, 1))
    assert found.heldout_mse < 1e-25
    assert found.stage == "made up"
    assert fit.archive.fits == 1


def test_what_breaks_a_rule_is_not_fitted():
    fit = fitter(settings=replace(SETTINGS, constraints=Constraints(max_uses={"sin": 0})))
    assert fit.candidate(parse("1.0*sin(x) + 0.5"), "").heldout_mse == math.inf
    assert fit.archive.fits == 0
    assert fit.archive.by_size == {}


@pytest.mark.parametrize("text", ["log(x - 2.0)*0.0", "1.0/(x - x)"])
def test_what_is_not_finite_is_no_good(text):
    assert fitter().candidate(parse(text), "").heldout_mse == math.inf


def test_more_constants_than_the_rows_can_tell_are_no_good():
    few = fitter(rows=6)
    text = " + ".join(f"1.0*x**{k}" for k in range(2, 6)) + " + 1.0"
    assert few.candidate(parse(text), "").heldout_mse == math.inf


def test_a_form_is_fitted_only_so_often():
    fit = fitter(lambda x: np.exp(x) / (1 + x), fits_per_form=2)
    for k in range(5):
        fit.consider(parse(f"{k + 1}.5*sin(x) + {k}.25"), "")
    assert fit.archive.fits == 2
    assert list(fit.archive.tries.values()) == [5]


def test_what_does_not_seem_exact_is_tried_with_a_weight_on_every_edge():
    as_it_stands, freed = fitter(lambda x: 1 / (3 + x**2)), fitter(lambda x: 1 / (3 + x**2))
    as_it_stands.propose(Proposal(parse("1/(1 + x**2)"), unexplained=0.0), None, "")
    freed.propose(Proposal(parse("1/(1 + x**2)"), unexplained=0.1), None, "")
    assert not as_it_stands.archive.exact
    assert freed.archive.exact


def test_an_exact_formula_is_made_as_simple_as_it_can_be():
    fit = fitter(lambda x: 3 * x)
    fit.consider(parse("3000.0*sin(0.00001*x)*100.0 + 0.1*x"), "")
    assert fit.archive.exact
    assert fit.archive.best.expression.complexity <= 3


def test_terms_that_are_small_together_go_together():
    x, y, z = columns = np.random.default_rng(0).uniform(0.5, 3, (3, 128))
    target = x * np.exp(-0.3 * (y - 1.7) ** 2) / (1.1 + 0.6 * z**2)
    given = Rows.of(make_dataset(columns.T, target, names=["x", "y", "z"], target="t"), SETTINGS)
    fit = Fitter(given, SETTINGS.rules(), Archive(given), 3)
    clutter = "3e-7*x*y - 2e-7*y*z + 1e-7*sin(y*x) - 4e-7*x**2*z + 2e-7*exp(-1.0*z*y)*sin(x) - 1e-7*x**2*y**2*z"
    long = parse(f"1.0*x*exp(-0.3*(y - 1.7)**2)/(0.6*z**2 + 1.1 + {clutter})")
    assert long.complexity > LONGEST_TO_SHRINK  # so that its operators are not taken out one at a time
    fit.improve(fit.candidate(long, "made up"))
    assert fit.archive.exact
    assert len(fit.archive.best.expression.constants) <= 4
    assert fit.archive.best.stage == "made up"


def given(fit, text):
    """A candidate with the constants that it is written with."""
    found = measure(parse(text), fit.rows.train)
    return Candidate(found, measure(found.expression, fit.rows.held).mse, "made up")


def test_what_leaves_next_to_nothing_is_fitted_to_the_end():
    fit = fitter()
    settled = fit.settled(given(fit, "2.00002*sin(x) + 0.99998"))
    assert settled.expression.constants == pytest.approx((2, 1))
    assert settled.stage == "made up"


@pytest.mark.parametrize("text", ["2.2*sin(x) + 0.9", "2.0*sin(x) + 1.0"])
def test_what_leaves_more_or_nothing_is_not_fitted_again(text):
    fit = fitter()
    candidate = given(fit, text)
    assert fit.settled(candidate) is candidate
    assert fit.archive.fits == 0


def test_terms_that_are_small_but_there_stay():
    fit = fitter(lambda x: x + 1e-6 * np.sin(x) + 2e-7 * np.exp(x))
    fit.consider(parse("1.0*x + 2e-6*sin(x) + 1e-7*exp(x)"), "")
    assert sorted(fit.archive.best.expression.constants) == pytest.approx([2e-7, 1e-6, 1])


def test_where_in_a_network_it_comes_from_is_kept():
    fit = fitter(lambda x: 3 * x)
    pruned = Pruned(7, None, np.zeros(3))
    fit.consider(parse("2.0*x + 0.5*sin(x)"), "networks", pruned=pruned)
    assert fit.archive.best.pruned is pruned
    assert fit.archive.best.epoch == 7


def test_some_rows_may_come_first():
    fit = fitter(lambda x: np.sin(25 * x))
    near = fit.rows.train.take(fit.rows.train.X[:, 0] < 1.5)
    fit.consider(parse("1.0*sin(24.5*x)"), "", first=near)
    assert fit.archive.exact


# ---- with a constant less -------------------------------------------------------------------------------


def few_noisy_rows(text, rows=14):
    x = np.linspace(0.3, 3, rows)
    truth = evaluate(parse(text), {"x": x}).values
    target = truth + 1e-3 * truth.std() * np.random.default_rng(0).normal(size=rows)
    return make_dataset(x, target, names=["x"])


@pytest.mark.parametrize(
    ("text", "proposed", "constants"),
    [
        ("5*(1 - exp(-0.4*x))", "1.0 - 1.0*exp(-0.3*x)", 2),
        ("3*log(1 + 0.7*x)", "1.0 + 1.0*log(x + 1.0)", 2),
        ("2*(exp(-0.2*x) - exp(-1.5*x))", "0.1 + 1.0*exp(-0.3*x) - 1.0*exp(-1.0*x)", 3),  # first one, then the other
    ],
)
def test_what_begins_at_nothing_is_also_fitted_with_a_constant_less(text, proposed, constants):
    given = Rows.of(few_noisy_rows(text), SETTINGS)
    fit = Fitter(given, SETTINGS.rules(), Archive(given), fits_per_form=3)
    fit.consider(parse(proposed), "")
    shortest, *_ = sorted(fit.archive.known(), key=fit.archive.length)
    assert len(shortest.expression.constants) == constants
    assert fit.archive.unexplained(shortest) < 1e-4


def test_what_is_far_from_nothing_is_fitted_once():
    given = Rows.of(few_noisy_rows("5 - 3*exp(-0.4*x)"), SETTINGS)
    fit = Fitter(given, SETTINGS.rules(), Archive(given), fits_per_form=3)
    fit.consider(parse("1.0 - 1.0*exp(-0.3*x)"), "")
    assert fit.archive.fits == 1


@pytest.mark.parametrize("text", ["5*(1 - exp(-0.4*x))", "2*(exp(-0.2*x) - exp(-1.5*x))", "5 - 3*exp(-0.4*x)"])
def test_what_is_done_ahead_is_all_that_a_proposal_needs(text):
    given = Rows.of(few_noisy_rows(text), SETTINGS)
    formula = parse("0.1 + 1.0*exp(-0.3*x) - 1.0*exp(-1.0*x)")
    ahead, alone = (Fitter(given, SETTINGS.rules(), Archive(given), fits_per_form=3) for _ in range(2))
    ahead.known.add(alone.look_ahead(formula, {}, ahead.archive.standing()))
    made = len(ahead.known.fits)
    ahead.consider(formula, "")
    alone.consider(formula, "")
    assert made == ahead.archive.fits == alone.archive.fits
    assert not ahead.known.fits
    found, others = (sorted(str(one.expression) for one in fit.archive.known()) for fit in (ahead, alone))
    assert found == others
