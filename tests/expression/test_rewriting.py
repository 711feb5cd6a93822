"""What a formula may be with fewer constants: the constants follow from its own, so that values are about the same."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from prunesymnet.expression import canonical, evaluate, parse, skeleton
from prunesymnet.expression.rewriting import fewer_constants, tied
from prunesymnet.expression.rewriting.likeness import LARGEST
from samples import COLUMNS, comparable, differ
from strategies import expressions

SIMPLER = [
    ("4.0*x**2 - 12.0*x*y + 9.0*y**2 + 1.5", "4.0*(x - 1.5*y)**2 + 1.5"),
    ("x**2 + 0.38*x - y + cos(x) + 0.0361", "(x + 0.19)**2 - y + cos(x)"),
    ("z**2 + x*y*(x*y - 2*z) - 4.34*(x*y - z) + 4.7089", "(x*y - z - 2.17)**2"),
    ("-x**2 + 3.0*x*y - 2.25*y**2", "-(x - 1.5*y)**2"),
    ("x**2 + y**2 + z**2 + 2*x*y - 2*x*z - 2*y*z", "(x + y - z)**2"),
    ("8.0*exp(-0.5*x) - 8.0*exp(-0.25*x) + 2.0", "8.0*(exp(-0.25*x) - 0.5)**2"),
    ("log(x**4 + 3.0*x**2*y + 2.25*y**2)", "log((x**2 + 1.5*y)**2)"),
    ("2.0*x**3 - 9.0*x**2 + 13.5*x + y", "2.0*(x - 1.5)**3 + y + 6.75"),
    ("x**4 - 8*x**3 + 24*x**2 - 32*x + y**3 + 3*y**2 + 4*y + 6", "x**4 - 8*x**3 + 24*x**2 - 32*x + (y + 1)**3 + y + 5"),
    ("x**6 + 5.4*x**4 + 9.72*x**2 + 5.832 + y", "(x**2 + 1.8)**3 + y"),
    ("z*sin(x)**3 + 3*z*sin(x)**2 + 3*z*sin(x)", "z*(sin(x) + 1)**3 - z"),
    ("0.6*cos(x) + 0.8*sin(x)", "cos(x - 0.9272952180016122)"),
    ("y*z - 0.6*sin(x*y)*z - 0.8*cos(x*y)*z", "y*z + z*cos(x*y + 2.498091544796509)"),
    ("3.0*sin(x)**2 - 1.5", "-1.5*cos(2*x)"),
    ("2.0*sin(x)**3 - 1.5*sin(x) + y", "y - 0.5*sin(3*x)"),
    ("sin(x + 0.5)*sin(x - 0.5) - 0.5*cos(1.0)", "-0.5*cos(2*x)"),
    ("y*exp(2*x) + y*exp(-2*x) + z", "2*y*cosh(2*x) + z"),
    ("3.0*exp(0.2*x) - 1.5*exp(-0.2*x)", "4.242640687*sinh(0.2*x + 0.34657359)"),
    ("1/(2.5*exp(0.3*x) + 2.5*exp(-0.3*x))", "0.2/cosh(0.3*x)"),
    ("53.0 - 106.0/(exp(0.37*x) + 1)", "53.0*tanh(0.185*x)"),
    ("x*y*(1 - 2/(exp(2*x*z) + 1))", "x*y*tanh(x*z)"),
    ("4.1*(1 - exp(-0.11*x))/(1 + exp(-0.11*x))", "4.1*tanh(0.055*x)"),
    ("2.0 - 4.0/(1 + 3.0*exp(0.5*x))", "2.0*tanh(0.25*x + 0.549306144)"),
    ("y + 2*y/(exp(x) - 1)", "y/tanh(x/2)"),
    ("1.5*(x**(-6) - 0.2)**2 - 0.061", "1.5/x**12 - 0.6/x**6"),
    ("2.0*(exp(x) + 1.5)**2 - 4.5 + y", "2.0*exp(2*x) + 6.0*exp(x) + y"),
    ("(0.6*y - x + 2.4)/(y + 4.0)", "0.6 - x/(y + 4.0)"),
    ("(40 - x*(x**2 - 20*x + 2*y + 2))/(x**2 + 2)", "20 - x - 2*x*y/(x**2 + 2)"),
    ("x*y + 3.0*x + 0.5*y + 1.5 - z", "(x + 0.5)*(y + 3.0) - z"),
    ("x*sqrt(z) + y*sqrt(z) + 1.79*x + 1.79*y - 9*sqrt(z) - 16.11", "(x + y - 9)*(sqrt(z) + 1.79)"),
    ("exp(x*y + 2.5*x + 1.5*y**2 + 3.75*y)", "exp((x + 1.5*y)*(y + 2.5))"),
    ("sin(0.5*x - (x - 1.0)**2)", "-sin(x**2 - 2.5*x + 1.0)"),
    ("3.0*x/sqrt(9.0 - x**2)", "x/sqrt(1 - 0.1111111111*x**2)"),
    ("0.512*y/(x**2 + 0.8)**3", "y/(1.25*x**2 + 1)**3"),
    ("z - 8.0*(x*y + 0.5)**2", "z - 2*(2.0*x*y + 1)**2"),
    ("log(6.0/(x - 3.0) + y**2)", "log(2/(0.3333333333*x - 1) + y**2)"),
    ("0.825*x/(1/y + 3.3)", "x/(4*(0.3030303030/y + 1))"),
]


@pytest.mark.parametrize(("text", "expected"), SIMPLER)
def test_laws_are_found_in_the_form_that_their_terms_make(text, expected):
    forms = list(fewer_constants(parse(text)))
    values = evaluate(parse(text), COLUMNS).values
    assert skeleton(parse(expected)) in [skeleton(form) for form in forms]
    closest = min(float(np.nanmax(np.abs(evaluate(form, COLUMNS).values - values))) for form in forms)
    assert closest <= 1e-9 * float(np.nanmax(np.abs(values)))


@pytest.mark.parametrize(
    "text",
    [
        "x**2 + x*y + y**2",  # between two squares there is twice their product
        "x**2 - 2.0*x*y - y**2",
        "1.5*x**3 + 2.0*x**2 + 7.0*x + 5.0",  # as many constants about any origin
        "x**3 + 2*x**2",  # no whole number is its origin
        "exp(x) + exp(-2*x)",
        "x*exp(x) + y*exp(-x)",
        "1.5 - 2.5/(exp(x) + 1)",  # a step between two values that are not opposite
        "sin(x) + cos(y)",
        "x*sin(x) + y*cos(x)",
        "sin(2.0*x) + 0.5*cos(2.1*x)",
        "(x + 1)/(y + 2)",
        "(x**2 + y)/(x + 1)",
        "2.5*(x + 1.5)/(x + 3.5)",
        "x + 2.0*y",
        "3.5*x/(y + 2.5)",  # the factor would be 1.4, no whole number and none below one
        "1.5*x**2*(y - 3)",
        "x*y + 3.0*x + 0.5*y + 4.0",  # of a product, the last term would be 1.5
        "1e200*x**2*1e200 + 2e200*x*1e200 + 1e200*1e200",
        " + ".join(f"0.{k}*x**{k}*sin({k}.5*y)" for k in range(1, 40)),  # too long to be looked at
    ],
)
def test_what_is_none_of_these_stays(text):
    assert list(fewer_constants(canonical(parse(text)))) == []


numbers = st.floats(0.2, 5.0).map(lambda value: round(value, 3))


@given(numbers, st.integers(1, 9), st.sampled_from(("-3", "-3/2", "-1", "-1/2", "1/2", "2")), st.floats(-0.03, 0.03))
def test_one_term_of_a_sum_may_be_one_where_its_factor_is_about_whole(shift, whole, exponent, off):
    factor = whole * (1 + off) * shift ** -float(Fraction(exponent))
    text = f"y*{factor!r}*(x**2 + {shift!r})**({exponent})"
    unit = parse(f"{whole}*y*({1 / shift!r}*x**2 + 1)**({exponent})")
    forms = [form for form in fewer_constants(parse(text)) if len(form.constants) == 1]
    assert any(not differ(evaluate(form, COLUMNS).values, *comparable(unit)) for form in forms)


@given(numbers, numbers, st.sampled_from(("x*y", "sin(x)", "exp(0.3*x)", "y**2")))
def test_squares_multiplied_out_are_squares_again(a, b, atom):
    square = parse(f"{a**2!r}*({atom})**2 + {2 * a * b!r}*{atom}*z + {b**2!r}*z**2 + log(x)")
    form = min(fewer_constants(square), key=lambda form: form.complexity)
    assert ")**2" in str(form)
    assert len(form.constants) < len(square.constants)
    assert not differ(evaluate(form, COLUMNS).values, *comparable(square))


@given(numbers, numbers, numbers)
def test_two_waves_of_one_argument_are_one(a, b, rate):
    total = parse(f"{a}*sin({rate}*x) - {b}*cos({rate}*x)")
    (form,) = fewer_constants(total)
    assert form.complexity < total.complexity
    np.testing.assert_allclose(evaluate(form, COLUMNS).values, evaluate(total, COLUMNS).values, atol=1e-9 * (a + b))


@given(expressions(max_leaves=10))
def test_no_form_is_longer_or_has_new_variables(expression):
    formula = canonical(expression)
    for form in fewer_constants(formula):
        assert set(form.variables) <= set(formula.variables)
        assert form.complexity <= formula.complexity + 2  # a factor of a sum may come out of it


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2.5 - 2.499*exp(-x)", ["2.5*(1 - exp(-x))"]),
        ("2.5*x + 5.1*y", ["2.5*(x + 2*y)"]),
        ("1.1*x + 1.7*y + z", ["0.55*(2*x + 3*y) + z"]),
        ("3.0*(x + y) + 1.51*z", ["1.5*(2*x + 2*y + z)"]),
        ("2.0*x + 3*y", []),  # one of them is not free
        ("2.0*x + 17.7*y", []),  # no simple ratio
        ("2.0*x", []),
        ("x + y", []),
        ("1e200*x*1e200", []),
    ],
)
def test_constants_of_about_a_simple_ratio_are_tied(text, expected):
    found = list(tied(parse(text)))
    assert [skeleton(tree) for tree in found] == [skeleton(parse(tree)) for tree in expected]
    assert all(len(tree.constants) == len(parse(text).constants) - 1 for tree in found)


def test_the_nearest_tie_comes_first():
    found = [str(tree) for tree in tied(parse("2.5*x - 2.5*y + 2.4*z"))]
    assert found[0] == "2.4*z + 2.5*(x - y)"
    assert len(found) == 3


@given(expressions(max_leaves=10))
def test_a_tie_changes_a_formula_little(expression):
    for tree in tied(expression):
        assert set(tree.variables) <= set(expression.variables)
        assert len(tree.constants) < len(canonical(expression).constants)


@given(numbers, numbers, st.integers(-30, 30), st.integers(-30, 30))
@example(1.0, 1.0, 17, -4)
def test_products_of_numbers_of_any_size_are_found(b, c, one, two):
    b, c = float(f"{b}e{one}"), float(f"{c}e{two}")
    assume(not any(value.is_integer() and value <= LARGEST for value in (b, c)))  # these are exact, and no constants
    product = parse(f"x*y + {b!r}*x + {c!r}*y + {b * c!r}")
    forms = list(fewer_constants(product))
    assert any(skeleton(form) == skeleton(parse("(x + 1.5)*(y + 1.5)")) for form in forms)
