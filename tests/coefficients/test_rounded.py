"""Rounded constants keep their error bars: the fit in which they are free."""

import math

import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import curve_fit

from prunesymnet.coefficients import Fit, FitStatus, snap
from prunesymnet.coefficients.fit import measure
from prunesymnet.coefficients.rounded import counterparts, exact_numbers, free_fit, freed_at, is_excluded
from prunesymnet.data import make_dataset
from prunesymnet.equations import Equation
from prunesymnet.expression import compile_expression, parse, to_text
from prunesymnet.expression.tree import is_free
from tests.strategies import expressions

X = np.linspace(0.5, 6.0, 40)
NOISE = np.random.default_rng(3).standard_normal(len(X))


def found(text, data, before=None):
    """What a search might have rounded from another formula."""
    measured = measure(parse(text), data)
    origin = parse(before or text)
    return Fit(measured.expression, measured.mse, measured.r2, FitStatus.CONVERGED, 0, 0.0, before_rounding=origin)


def table(values, noise=0.05, **options):
    return make_dataset(X, values + noise * NOISE, names=["x"], **options)


def test_mercurys_vapour_pressure_is_as_sure_as_the_fit_with_all_constants_free():
    temperature = np.arange(0, 361, 20.0)
    pressure = [0.0002, 0.0012, 0.006, 0.03, 0.09, 0.27, 0.75, 1.85, 4.2, 8.8, 17.3, 32.1, 57, 96, 157, 247, 376, 558]
    data = make_dataset(temperature, [*pressure, 806], names=["T"])
    law = snap(parse("2.9e-07*exp(1.617*sqrt(T) - 0.02483*T)"), data)
    assert len(law.expression.constants) < 3, "no constant was rounded"
    start = (2.9e-7, 1.617, 0.02483)
    _, spread = curve_fit(lambda T, a, b, c: a * np.exp(b * np.sqrt(T) - c * T), temperature, data.y, start)
    equation = Equation.of(law, data)
    assert len(equation.constants) == 3
    root = next(e for e in equation.constants if 1 < e.fitted < 2)
    assert root.standard_error == pytest.approx(math.sqrt(spread[1, 1]), rel=1e-2)


@pytest.mark.parametrize("weights", [None, np.linspace(0.2, 3, len(X))])
def test_errors_are_those_of_curve_fit_with_the_rounded_constant_free(weights):
    data = table(3 * np.exp(-X / 2) + 1.234, weights=weights)
    equation = Equation.of(found("3*exp(-x/2) + 1.234", data), data)
    sigma = None if weights is None else 1 / np.sqrt(weights)
    best, spread = curve_fit(lambda x, a, b, c: a * np.exp(-x / b) + c, X, data.y, (3, 2, 1), sigma=sigma, xtol=1e-13)
    assert equation.named_text() == "y = c1*exp(-x/c2) + c3"
    assert [e.rounded_to for e in equation.constants] == ["3", "2", ""]
    assert [e.value for e in equation.constants] == [3, 2, 1.234]
    np.testing.assert_allclose([e.fitted for e in equation.constants], best, rtol=1e-5)
    np.testing.assert_allclose(equation.covariance, spread, rtol=1e-3)
    low, high = equation.interval({"x": X})
    assert ((low < equation.predict({"x": X})) & (equation.predict({"x": X}) < high)).all()


@pytest.mark.parametrize(
    ("formula", "before", "expected"),
    [
        ("3*x**2", "2.9*x**2", "2.9*x**2"),  # a square that was one from the start
        ("3*x**2", "2.9*x**1.98", "2.9*x**1.98"),
        ("3*x**(3/2)", "2.9*x**1.49", "2.9*x**1.49"),
        ("3*x/2", "1.5*x", "2.9*x/2"),  # one of two that say the same
        ("5.5/(1 - 2/(x + 3)**2)", "5.4/(1 - 2.1/(x + 2.9)**2)", "5.4/(1 - 2.1/(x + 2.9)**2)"),
        ("2*pi*x", "6.2*x", "6.2*x"),  # a number as a whole
        ("sqrt(x)/2 + 1", "0.5*x**0.49 + 1.0", "x**0.5/2.0 + 1.0"),
        ("sin(2*x)", "1.0*sin(1.9*x)", "sin(1.9*x)"),  # a factor of 1 does not stand in the formula
        ("7", "7.1", "7.1"),
    ],
)
def test_which_numbers_are_free(formula, before, expected):
    data = table(compile_expression(parse(formula)).values({"x": X}))
    free = free_fit(found(formula, data, before), data).expression
    masked = [parse(to_text(form)).with_constants([1.0] * len(form.constants)) for form in (free, parse(expected))]
    assert masked[0] == masked[1]


def test_a_formula_of_the_users_has_exact_numbers():
    data = table(3 * X)
    assert free_fit(measure(parse("3*x"), data), data) is None
    assert Equation.of(measure(parse("3*x"), data), data).constants == ()


def test_of_exact_data_roundings_are_no_guesses():
    data = make_dataset(X, 3 * X**2 + 1, names=["x"])
    assert free_fit(found("3*x**2 + 1", data), data) is None


def test_a_row_is_left_to_see_an_error_by():
    data = make_dataset([1.0, 2.0, 4.0], [1.1, 3.9, 16.2], names=["x"])
    equation = Equation.of(found("x**2 + 3*sin(x) - x/7 - 1", data), data)
    assert len(equation.constants) == 2
    assert all(math.isfinite(e.standard_error) for e in equation.constants)


def test_a_formula_that_is_not_finite_stays_as_it_is():
    data = table(X)
    assert free_fit(found("3*log(-x)", data), data) is None


@given(expressions())
def test_what_is_freed_is_found_again_in_its_place(expression):
    places = exact_numbers(expression)
    free = freed_at(expression, places)
    numbers = counterparts(free, expression)
    assert len(numbers) == len(free.constants) == len(places) + len(expression.constants)
    assert not any(exact_numbers(free).values())
    assert [n for n in numbers if is_free(n)] == [n for n in numbers if n.constants]


def test_other_formulas_are_no_counterparts():
    with pytest.raises(ValueError, match="is not x \\+ 2 with some of its numbers free"):
        counterparts(parse("2.0*x"), parse("x + 2"))
    with pytest.raises(ValueError, match="numbers free"):
        counterparts(parse("1.0 + 2"), parse("x + 2"))


@pytest.mark.parametrize(
    ("text", "excluded"), [("3*exp(-x/2)", False), ("3*exp(-x/3) + x/9", True), ("3.2*exp(-x/2)", False)]
)
def test_a_number_is_excluded_outside_of_its_interval_in_the_fit_with_free_numbers(text, excluded):
    data = table(3 * np.exp(-X / 2) + (X / 9 if "9" in text else 0.0))
    rounded = found(text, data, before="1.0*exp(-1.0*x)" + (" + 1.0*x" if "9" in text else ""))
    assert is_excluded(rounded, free_fit(rounded, data), data, 0.99) is excluded
