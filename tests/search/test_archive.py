"""The archive: the best of each size, the best of all, and the front."""

import numpy as np
import pytest

from prunesymnet.coefficients import Fit, FitStatus
from prunesymnet.coefficients.description import rough_length
from prunesymnet.data import make_dataset
from prunesymnet.expression import parse
from prunesymnet.search import Candidate, SearchSettings
from prunesymnet.search.archive import CLEARLY, Archive
from prunesymnet.search.fitting import Fitter
from prunesymnet.search.rows import Rows


def archive(weights=None, y=None):
    x = np.linspace(0, 3, 60)
    return Archive(
        Rows.of(make_dataset(x, np.sin(x) if y is None else y, names=["x"], weights=weights), SearchSettings())
    )


def candidate(text, heldout, mse=None):
    mse = heldout if mse is None else mse
    return Candidate(Fit(parse(text), mse, 0.0, FitStatus.CONVERGED, 0, 0.0), heldout, "made up")


def test_of_each_size_the_one_of_least_error_is_kept():
    known = archive()
    for text, error in (("sin(x)", 0.3), ("cos(x)", 0.2), ("exp(x)", 0.25), ("1.5*x", 0.9), ("x", 0.5)):
        known.add(candidate(text, error))
    assert {str(one.expression) for one in known.by_size.values()} == {"cos(x)", "1.5*x", "x"}
    assert known.fits == 5


def test_a_few_that_are_next_in_error_are_kept_each_once():
    known = archive()
    for text, error in (("sin(x)", 0.3), ("cos(x)", 0.2), ("cos(x)", 0.2), ("exp(x)", 0.25), ("log(x)", 0.4)):
        known.add(candidate(text, error))
    for text, error in (("sin(x)", 0.35), ("exp(x)", np.inf)):
        known.add(candidate(text, error))
    assert [known.error(one) for one in known.runners_up(1e9)] == pytest.approx([0.25, 0.3, 0.35])
    assert known.runners_up(-1e9) == []
    assert [str(one.expression) for one in known.known()] == ["cos(x)"]  # the search goes on with the best


def test_constants_are_part_of_the_size():
    known = archive()
    known.add(candidate("2*x", 0.5))
    known.add(candidate("2.5*x", 0.1))
    assert len(known.by_size) == 2


def test_the_error_is_of_all_rows():
    known = archive()
    rows = known.rows
    one = candidate("x", heldout=0.5, mse=0.1)
    assert known.error(one) == pytest.approx((0.1 * rows.train.rows + 0.5 * rows.held.rows) / 60)
    assert known.unexplained(one) == pytest.approx(known.error(one) / rows.used.variation)


def test_only_what_is_clearly_better_is_better():
    known = archive()
    assert known.is_better(candidate("x", 10.0))  # than nothing
    known.set_best(candidate("x", 0.5))
    assert not known.is_better(candidate("cos(x)", 0.5 * CLEARLY))
    assert known.is_better(candidate("cos(x)", 0.5 * CLEARLY - 0.01))
    assert not known.is_better(candidate("cos(x)", np.nan))


def test_what_is_off_on_the_rows_that_it_was_fitted_to_is_not_exact():
    known = archive()
    assert known.is_exact(candidate("sin(x)", 0.0))
    assert not known.is_exact(candidate("sin(x)", 0.0, mse=0.01))
    assert not known.is_exact(candidate("sin(x)", 0.01, mse=0.0))


def test_of_exact_ones_the_simpler_is_better():
    known = archive()
    known.set_best(candidate("sin(x) + x - x", 0.0))
    assert known.exact
    assert known.is_better(candidate("sin(x)", 1e-25))
    assert not known.is_better(candidate("sin(x) + x*x - x*x", 0.0))


def test_improvements_are_remembered():
    known = archive()
    for text, error in (("x", 0.5), ("cos(x)", 0.1)):
        known.set_best(candidate(text, error))
    found = [(epoch, str(formula), error) for epoch, formula, error in known.improvements]
    assert found == [(0, "x", 0.5), (0, "cos(x)", 0.1)]


def test_the_front_has_what_no_simpler_one_equals_on_rows_held_out():
    known = archive()
    for text, error in (("x", 0.5), ("sin(x)", 0.6), ("x + cos(x)", 0.3), ("x*cos(x) + exp(x)", 0.3)):
        known.add(candidate(text, error))
    known.set_best(candidate("sin(x)*cos(x)*exp(x) - x", 0.1))
    front = known.front()
    assert [one.heldout_mse for one in front] == [0.5, 0.3, 0.1]
    sizes = [one.expression.complexity for one in front]
    assert sizes == sorted(sizes)


def test_by_length_leaves_out_what_a_shorter_one_clearly_beats_on_rows_held_out():
    known = archive()
    for text, error in (("x", 0.5), ("sin(x)", 0.55), ("x + cos(x)", 0.3), ("x*cos(x) + exp(x)", 0.9)):
        known.add(candidate(text, error))
    kept = known.by_length()
    lengths = [known.length(one) for one in kept]
    assert lengths == sorted(lengths)
    assert 0.9 not in [one.heldout_mse for one in kept]
    assert 0.3 in [one.heldout_mse for one in kept]


def test_an_error_of_nought_has_a_length():
    assert np.isfinite(archive().length(candidate("sin(x)", 0.0)))


def test_what_is_left_counts_rows_by_their_weights():
    x = np.linspace(0, 3, 60)
    y, weights = np.sin(x), np.ones(60)
    y[::10], weights[::10] = 1e6, 0
    known = archive(weights, y)
    settings = SearchSettings()
    constant = Fitter(known.rows, settings.rules(), known, 3).candidate(parse("1.0"), "")
    assert known.unexplained(constant) == pytest.approx(1, abs=0.1)


def test_where_no_rows_are_held_out_each_row_counts_once():
    x = np.linspace(1, 2, 8)
    rows = Rows.of(make_dataset(x, np.sin(x), names=["x"]), SearchSettings())
    assert not rows.holds_out
    found = candidate("1.0*x + 0.5", 0.01, 0.01)
    assert Archive(rows).length(found) == pytest.approx(rough_length(found.expression, 8, 0.01))
