"""Fits in chunks: the same as in memory."""

import numpy as np
import pytest

from prunesymnet.coefficients import fit
from prunesymnet.coefficients.description import description_length
from prunesymnet.coefficients.in_chunks import Moments, fit_in_passes, partly_rounded, round_numbers, sums_of
from prunesymnet.coefficients.uncertainty import covariance
from prunesymnet.data import make_dataset
from prunesymnet.expression import parse
from prunesymnet.expression.canonical.terms import constant_value

rng = np.random.default_rng(1)
X = rng.uniform(0.5, 3, (5000, 2))
COLUMNS = {"x": X[:, 0], "z": X[:, 1]}
WEIGHTS = rng.uniform(0.1, 2, 5000)
LAW = 2 * np.exp(-0.7 * X[:, 0]) * X[:, 1] ** 1.4 + 0.3 + 0.05 * rng.normal(size=5000)


def passes(y, weights=None, size=700):
    def go_through(asked):
        found = None
        for first in range(0, len(y), size):
            here = slice(first, first + size)
            columns = {name: values[here] for name, values in COLUMNS.items()}
            w = None if weights is None else weights[here]
            part = [sums_of(formula, at, columns, y[here], w, derivatives=derive) for formula, at, derive in asked]
            found = part if found is None else [a.with_more(b) for a, b in zip(found, part, strict=True)]
        return found

    return go_through


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_constants_covariance_and_length_are_those_of_all_rows_in_memory(weights):
    form, other = parse("1.5*exp(-0.5*x)*z**1.2 + 0.2"), parse("3*z/x")
    table = make_dataset(X, LAW, names=["x", "z"], weights=weights)
    expected = fit(form, table)
    (found,), (measured,) = fit_in_passes([form], passes(LAW, weights), [other])
    assert found.expression.constants == pytest.approx(expected.expression.constants, rel=1e-6)
    assert found.sums.mse == pytest.approx(expected.mse, rel=1e-10)
    assert found.sums.r2 == pytest.approx(expected.r2, abs=1e-12)
    assert found.sums.covariance() == pytest.approx(covariance(expected.expression, table), rel=1e-5)
    assert found.length == pytest.approx(description_length(expected, table), abs=0.01)
    assert measured.mse == pytest.approx(fit(other, table).mse, rel=1e-10)


def test_constants_that_nearly_make_up_for_one_another_keep_their_digits():
    """Sums of products of these columns are singular to the last digit."""
    y = 2 * X[:, 0] + 3 * (X[:, 0] + 1e-7 * X[:, 1])
    (found,), _ = fit_in_passes([parse("1.0*x + 1.0*(x + z/10000000)")], passes(y))
    assert found.expression.constants == pytest.approx([2.0, 3.0], abs=1e-6)


def test_a_step_that_makes_things_worse_is_not_taken():
    far = parse("0.1*exp(-3.0*x)*z**1.4 + 0.3")  # a full step goes beyond the range of floats
    (found,), (start,) = fit_in_passes([far], passes(LAW), [far])
    assert found.sums.mse < 0.1 * start.mse


def test_rows_without_a_value_are_counted_and_end_the_fit():
    (found,), _ = fit_in_passes([parse("1.0*log(x - 1) + 1.0")], passes(LAW))
    assert found.sums.undefined == int((X[:, 0] <= 1).sum())
    assert found.sums.mse == found.length == np.inf


def test_roundings_stay_as_far_as_all_rows_allow():
    y = 2 * X[:, 0] + 0.52 * X[:, 1] + 3 + 0.01 * rng.normal(size=5000)
    (free,), _ = fit_in_passes([parse("2.0*x + 0.5*z + 3.0")], passes(y))
    for half in ("1/2", "0.5"):  # the first is refuted by all rows, the second was free before
        kept = partly_rounded(free, [parse("2"), parse(half), parse("3")])
        assert str(kept.with_constants([0.5])) == "2*x + 0.5*z + 3"
    assert partly_rounded(free, [parse("1"), parse("1"), parse("1")]) is None
    found = round_numbers(free, [parse("2.0"), parse("1/2"), parse("3.0")], largest=100)
    assert [str(number) for number in found[::2]] == ["2", "3"]
    assert abs(constant_value(found[1]) - 0.52) < 0.001  # in the place of 1/2


def test_a_chunk_without_rows_adds_nothing():
    form = parse("1.0*x + 1.0")
    some, none = (sums_of(form, None, {"x": X[:n, 0]}, LAW[:n]) for n in (5, 0))
    assert none.with_more(some).squares == pytest.approx(some.squares)
    assert some.with_more(none).rows == 5


def test_a_constant_needs_no_columns():
    (found,), _ = fit_in_passes([parse("1.0")], lambda asked: [sums_of(form, at, {}, LAW) for form, at, _ in asked])
    assert found.expression.constants == pytest.approx([LAW.mean()])
    assert found.sums.mse == pytest.approx(LAW.var())
    assert found.sums.covariance() == pytest.approx(np.array([[LAW.var(ddof=1) / len(LAW)]]))


def test_moments_of_parts_are_those_of_the_whole():
    values = 1e8 + rng.normal(size=1000)
    whole = Moments.of(values[:300]).with_more(Moments()).with_more(Moments.of(values[300:]))
    assert whole.squares / 1000 == pytest.approx(np.var(values), rel=1e-6)
    assert Moments().with_more(Moments.of(values)).mean == pytest.approx(values.mean(), rel=1e-12)
