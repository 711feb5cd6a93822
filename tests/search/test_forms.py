"""Formulas made from formulas."""

from dataclasses import replace

import numpy as np
import pytest

from contexts import columns_of
from prunesymnet.coefficients.fit import measure
from prunesymnet.data import make_dataset
from prunesymnet.expression import canonical, evaluate, fingerprint, parse, skeleton
from prunesymnet.search.forms import (
    freed,
    limits_of_powers,
    merged_form,
    reductions,
    with_canonical_formula,
    with_plain_formula,
    without_likely_zero,
    without_needless_abs,
    without_small_terms,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1/(1 + x**2)", "1.0/(1.0 + 1.0*x**2)"),
        ("sin(x)", "sin(1.0*x)"),
        ("x**5", "x**5"),
        ("2.5*x", "2.5*(1.0*x)"),
    ],
)
def test_a_freed_formula_has_a_weight_on_every_edge(text, expected):
    columns = columns_of()
    free = freed(parse(text))
    assert skeleton(canonical(free)) == skeleton(canonical(parse(expected)))
    np.testing.assert_allclose(evaluate(free, columns).values, evaluate(parse(text), columns).values)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("log(abs(x))", "log(x)"),
        ("log(abs(y))", "log(-y)"),
        ("log(abs(z))", "log(abs(z))"),
        ("2*log(abs(x - y)) + sin(abs(x))", "2*log(x - y) + sin(x)"),
        ("log(abs(log(abs(x + 3))))", "log(log(x + 3))"),
        ("log(abs(x*z))*log(abs(y))", "log(abs(x*z))*log(-y)"),
        ("abs(x) + 1", "x + 1"),
        ("abs(y)**1.5 + abs(z)", "(-y)**1.5 + abs(z)"),
    ],
)
def test_needless_abs_is_taken_out(text, expected):
    data = make_dataset([[1, -1, -1], [2, -2, 1], [3, -0.5, 2]], [1.0, 2.0, 4.0], names=["x", "y", "z"], target="t")
    assert without_needless_abs(parse(text), data) == parse(expected)


def test_a_rounded_exponent_brings_no_needless_abs():
    data = make_dataset(np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 2.8, 5.2]), names=["x"])
    rounded = measure(parse("sqrt(x)*abs(x)"), data)
    plain = with_plain_formula(replace(rounded, before_rounding=parse("abs(x)**1.5")), data)
    assert (str(plain.expression), str(plain.before_rounding)) == ("x**(3/2)", "x**1.5")


def test_abs_stays_where_its_operand_is_nought_somewhere():
    data = make_dataset([[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0], names=["x"])
    for text in ("log(abs(x))", "log(abs(x - 1))", "log(abs(x*sin(x) - x))"):
        assert without_needless_abs(parse(text), data) == parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.5*sin(x) + y", {"1.5*x + y", "y + 1.5", "1.5*sin(x)", "1.0*y"}),
        ("2.5*sin(0.001*x)", {"2.5*x", "2.5"}),
        ("x*sin(x) + sin(x)", {"1.0*x**2 + sin(x)", "1.0*x + sin(x)", "x*sin(x) + x", "2.0*sin(x)", "1.0*x*sin(x)"}),
        ("x", set()),
        ("2.0", set()),
    ],
)
def test_reductions_are_the_formulas_with_one_operator_less(text, expected):
    found = reductions(parse(text))
    assert {skeleton(e) for e in found} == {skeleton(canonical(parse(e))) for e in expected}
    assert all(e.complexity < parse(text).complexity for e in found)


@pytest.mark.parametrize("text", ["1.0*exp(1e-3/x)", "x**20*exp(1.0*x)", "1e300*sin(x)*1e10", "1.0*exp(x)/x**40"])
@pytest.mark.parametrize("size", [1e-300, 1e-8, 1.0, 1e6, 1e300])
def test_reductions_of_numbers_near_the_end_of_floats_are_finite(text, size):
    columns = {"x": size * np.linspace(1.0, 8.0, 20)}
    with np.errstate(all="ignore"):
        found = reductions(parse(text), columns)
    assert found
    assert all(np.isfinite(form.constants).all() for form in found)


def test_on_a_table_reductions_begin_near_what_they_reduce():
    year = np.linspace(1960.0, 2020.0, 61)
    formula = parse("2e-7*exp(4.96e-6*year**2) + 278.0")
    growth, *_ = reductions(formula, {"year": year})
    assert skeleton(growth) == skeleton(canonical(parse("1.0*exp(1.0*year) + 1.0")))
    before, after = (evaluate(one, {"year": year}).values for one in (formula, growth))
    assert np.abs(after / before - 1).max() < 0.01


def test_reductions_leave_the_formula_as_it_was_and_repeat_no_form():
    formula = parse("sin(x*y) + cos(x*y)*exp(x)/(x + y)")
    before = str(formula)
    found = [str(e) for e in reductions(formula)]
    assert str(formula) == before
    assert len(set(found)) == len(found) == 9


def three_columns(rows=60):
    return make_dataset(
        np.random.default_rng(0).uniform(0.5, 3, (rows, 3)), np.arange(float(rows)), names=["x", "y", "z"], target="t"
    )


LEAN = "x*exp(-0.3*(y - 1.7)**2)/(0.6*z**2 + 1.1)"
CLUTTERED = "x*exp(-0.3*(y - 1.7)**2)/(0.6*z**2 + 1.1 + 3e-7*x - 2e-7*y*z + 1e-7*sin(y) - 4e-7*x**2 + 2e-7*exp(-1.0*z))"


def test_small_terms_go_together_wherever_their_sum_stands():
    found = list(without_small_terms(parse(CLUTTERED), three_columns()))
    assert skeleton(found[0]) == skeleton(canonical(parse(LEAN)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2.0*x + 3.0*y", []),
        ("2.0*x", []),
        ("1e-9*x", []),
        ("2.0*x - 1e-5*y", ["2.0*x"]),
        ("1e-5*y - 2.0*x", ["-2.0*x"]),
        ("-(1e-5*y + 2.0*x)", ["-2.0*x"]),
        ("exp(x - 1e-5*y) - sqrt(2.0*x + 1e-4*(y - 1e-9*z))", ["exp(1.0*x) - sqrt(2.0*x)"]),
        ("2.0*x + 0.005*y + 1e-4*z + 1e-7", ["2.0*x", "2.0*x + 0.005*y", "2.0*x + 0.005*y + 1e-4*z"]),
    ],
)
def test_what_is_small_is_measured_against_the_whole_sum(text, expected):
    found = list(without_small_terms(parse(text), three_columns()))
    wanted = [skeleton(canonical(parse(form))) for form in expected]
    assert [skeleton(canonical(freed(form))) for form in found][: len(wanted)] == [
        skeleton(canonical(freed(parse(form)))) for form in expected
    ]
    assert bool(found) == bool(wanted)
    sizes = [form.complexity for form in found]
    assert sizes == sorted(sizes)


def test_terms_that_cancel_are_not_lost():
    # Both are small beside nothing: the sum of large terms that nearly cancel is what the others are measured against.
    found = list(without_small_terms(parse("1000.0*x - 999.999*x + 0.01*y"), three_columns()))
    assert all("y" in form.variables for form in found)


def test_a_term_without_values_stays():
    assert list(without_small_terms(parse("2.0*x + log(-x)"), three_columns())) == []


def test_forms_that_differ_in_their_constants_only_are_one():
    data = make_dataset([[1.0], [2.0], [3.0]], [1.0, 2.0, 4.0], names=["x"])
    forms = {merged_form(parse(text), data)[1] for text in ("2.5*(3.5*x + 1.5)", "0.5*x + 7.5", "1.5 + 1.5*x*2.5")}
    assert len(forms) == 1
    merged, _ = merged_form(parse("2.5*(3.5*x + 1.5)"), data)
    assert len(merged.constants) == 2
    assert str(merged_form(parse("log(abs(x))"), data)[0]) == "log(x)"


def test_a_fit_is_written_as_it_should_be_and_stays_as_good():
    data = make_dataset([[1.0], [2.0], [3.0]], [1.0, 2.0, 4.0], names=["x"])
    found = measure(parse("x*(-2.5) + -(-1.5)"), data)
    better = with_canonical_formula(found, data)
    assert fingerprint(better.expression) == fingerprint(found.expression)
    assert better.mse == found.mse
    assert str(better.expression) == str(canonical(found.expression))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3.0*(x**2/y**2 + 60.0)**(-30.0)/y", "3.0*exp(-0.5*x**2/y**2)/y"),
        ("2.0*(80.0 - x)**20.0", "2.0*exp(-0.25*x)"),
        ("2.0*x**0.02", "0.04*log(x) + 2.0"),
        ("2.0*(x + 1.0)**3.5", None),  # a power that a law may have
        ("2.0*(x + y)**12.0", None),  # no constant that could be large beside the rest
        ("x**12 + 3.0**x", None),  # no exponent that was fitted
    ],
)
def test_powers_that_are_too_high_or_too_low_are_tried_as_exponentials_and_logarithms(text, expected):
    found = limits_of_powers(parse(text))
    assert [str(form) for form in found] == ([] if expected is None else [str(canonical(parse(expected)))])


@pytest.mark.parametrize(
    ("truth", "given", "expected"),
    [
        ("3*y*exp(0.5*x)", "3.0*y*(exp(0.5*x) + 0.003)", "3.0*y*exp(0.5*x)"),
        ("y*exp(0.5*x)/(x + 1)", "1.0*y*(exp(0.5*x) - 0.002)/(x + 1)", "1.0*y*exp(0.5*x)/(x + 1)"),
        ("3*y*(exp(0.5*x) + 2)", "3.0*y*(exp(0.5*x) + 2.0)", None),  # it is sure not to be 0
        ("3*y/(exp(0.5*x) + 2)", "3.0*y/(exp(0.5*x) + 0.003)", None),  # below, what it adds is no constant
        ("3*exp(0.5*x) + y", "3.0*exp(0.5*x) + y + 0.001", None),  # of the whole sum
    ],
)
def test_a_constant_that_a_factor_adds_is_left_out_where_it_may_well_be_0(truth, given, expected):
    columns = columns_of(rows=60, low=0.0, high=3.0, names="xy")
    noise = 0.1 * np.random.default_rng(0).normal(size=60)
    X, y = np.array([*columns.values()]).T, evaluate(parse(truth), columns).values + noise
    data = make_dataset(X, y, names=["x", "y"], target="t")
    found = without_likely_zero(parse(given), data, 2.0)
    assert (None if found is None else skeleton(found)) == (None if expected is None else skeleton(parse(expected)))
