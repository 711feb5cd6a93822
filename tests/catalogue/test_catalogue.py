"""The names of formulas: each form of the catalogue is named whatever its constants and columns are."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings

from prunesymnet.catalogue import FORMS, known_as, matching
from prunesymnet.catalogue.forms import COLUMNS
from prunesymnet.catalogue.matching import rule
from prunesymnet.expression import Variable, canonical, parse
from tests.strategies import expressions

TEXTS = [(form, text) for form in FORMS for text in form.texts]


def drawn(form, text, rng):
    """The form with constants of any size and with columns of other names, in any order."""
    tree = parse(text)
    constants = [name for name in tree.variables if name not in COLUMNS]
    columns = [name for name in tree.variables if name in COLUMNS]
    sizes = 10.0 ** rng.uniform(-2, 2, len(constants))
    exponents = [name in "mnp" for name in constants]
    sizes = np.where(exponents, rng.uniform(0.3, 3.0, len(constants)), sizes)
    signs = [rng.choice([-1.0, 1.0]) if name in form.any_sign else 1.0 for name in constants]
    names = [f"column_{i}" for i in rng.permutation(len(columns))]
    values = dict(zip(constants, (signs * sizes).tolist(), strict=True))
    return tree.substitute(values | {old: Variable(new) for old, new in zip(columns, names, strict=True)})


def test_there_are_many_and_each_has_a_name_of_its_own():
    assert len({form.name for form in FORMS}) >= 90
    assert len({text for _, text in TEXTS}) == len(TEXTS)


@pytest.mark.parametrize(("form", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_a_form_is_named_with_any_constants_and_columns(form, text):
    rng = np.random.default_rng(len(text))
    for _ in range(3):
        formula = drawn(form, text, rng)
        assert known_as(formula) in same_or_special(form), formula
        assert known_as(canonical(formula)) == known_as(formula), formula


def same_or_special(form):
    """The form, and those that are the same with fewer signs left open: no other law may give it a name."""
    shapes = {shape_of(text) for text in form.texts}
    others = [one for one in FORMS if shapes & set(map(shape_of, one.texts)) and len(one.any_sign) < len(form.any_sign)]
    return {str(form), *map(str, others)}


@cache
def shape_of(text):
    return matching._drawn(parse(text), "")[0][0]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("2.1 + 1.9*x**0.6", "Herschel-Bulkley's fluid"),
        ("2.1 + 1.9*x**(-1.2)", "a power law on an offset"),
        ("2.1 - 1.9*x**0.6", "a power law on an offset"),
        ("9.6*x**(-1.4) - 0.9", "Phillips's curve"),
        ("1.9*x**0.6", "a power law"),
        ("1.9*x**(-0.6)", "an inverse power law"),
        ("0.05 + 2.3*x**1.2/(150.0 + x**1.2)", "the four-parameter logistic curve"),
        ("0.05 + 2.3/(1 + 150.0*x**(-1.2))", "the four-parameter logistic curve"),
        ("0.1 + 2.2*x/(x + 4.1)", "Michaelis-Menten's rate on a background"),
        ("2.2*x/(x + 4.1) - 0.1", "Michaelis-Menten's rate less a constant"),
    ],
)
def test_a_law_gives_its_name_only_where_its_constants_have_their_signs(text, name):
    assert known_as(parse(text)).partition(";")[0] == name


@pytest.mark.parametrize(("form", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_nothing_of_a_form_is_left_open_but_its_constants(form, text):
    constants = [name for name in parse(text).variables if name not in COLUMNS]
    assert rule(text, form.any_sign).freedom() == len(constants)


LOOK_ALIKES = [
    "2.5*x**4/(exp(1.4*x) - 1)",  # Planck's law has a cube
    "2.5*x**3/(exp(1.4*x) - 2)",
    "2.5*x**3/(exp(1.4*x) + 1)",
    "212.7*x/(x - 0.0641)",  # a pole where an enzyme has none
    "212.7*x/(x**3 + 0.0641)",
    "1e-9*exp(27.6*v) - 1.1e-9",  # a diode has no current without a voltage
    "2*d*sin(2.5*a)",
    "3*d*sin(a)",
    "((n1 - n2)/(n1 + 2.0*n2))**2",
    "((n1 - n2)/(n1 + n2))**4",
    "99.0/r**12 - 64.0/r**5",
    "99.0/r**12 + 64.0/r**6",
    "5.2*exp(0.8*(x - 4.1)**2)",  # no peak
    "m/sqrt(1 + v**2/9.0)",
    "m/(1 - v**2/9.0)",
    "8.3*T/(V - 0.4) - 0.3/V**3",
    "p**2.7/(7.1 + p**2.8)",
    "5.1*(T**4 - S**3)",
    "x*y/(y + 2*z)",
    "x + sin(x)",
]


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_what_only_looks_alike_has_no_such_name(text):
    assert known_as(parse(text)) == ""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("x/(1 + x)", "Michaelis-Menten's rate of an enzyme"),
        ("10/(1 + 24*exp(-0.9*t))", "logistic growth"),
        ("10/(1 + exp(3 - 0.9*t))", "logistic growth"),
        ("364.5*n**2/(n**2 - 4)", "Balmer's series"),
        ("exp(16.4 - 3885.7/(T - 43.0))", "Antoine's vapour pressure"),
        ("4.75*(1 - exp(-1.94*(r - 0.741)))**2", "Morse's potential"),
        ("m/sqrt(1 - v**2/299792458**2)", "relativistic mass"),
        ("1/sqrt(1 + (f/1200)**4)", "the gain of Butterworth's filter of second order"),
        ("x", "proportionality"),
        ("x**2.0", "a square law"),
        ("((n1 - n2)/(n1 + n2))**2", "Fresnel's reflectance"),
    ],
)
def test_a_formula_is_named_as_it_was_found(text, name):
    assert known_as(parse(text)).partition(";")[0] == name


def test_formulas_without_a_column_with_many_or_very_long_ones_have_no_name():
    assert known_as(parse("2.5")) == ""
    assert known_as(parse("a*b*c*d*e")) == ""
    assert known_as(parse(" + ".join(f"{i}.5*sin({i}.5*x)" for i in range(1, 20)))) == ""
    assert known_as(parse("1e300*(1e300*x)**2")) == ""  # constants beyond the range of floats


@given(expressions())
@settings(max_examples=50)
def test_any_formula_has_a_name_or_none(formula):
    assert isinstance(known_as(formula), str)
