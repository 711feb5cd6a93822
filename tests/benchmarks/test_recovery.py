"""What counts as found: the same formula in another form passes, one that is nearly the same does not."""

import numpy as np
import pytest

from benchmarks.identity import same_formula
from benchmarks.problems import Problem, load
from benchmarks.recovery import agrees, recovered, right_form, strictly_recovered
from prunesymnet.expression import canonical, parse


def problem(text, low=1.0, high=3.0):
    formula = parse(text)
    return Problem("made", "made", formula, dict.fromkeys(formula.variables, (low, high)))


EQUAL = {  # a formula, and others that say the same
    "(x + 1)**2 - y": ["x**2 + 2*x + 1 - y", "1.00000001*x**2 + 2.0*x - y + 1.0", "(x + 1)*(x + 1.0) - 1.0000001*y"],
    "sqrt(x)*y": ["y*exp(log(x)/2)", "y*x**0.5", "y*x/sqrt(x)", "0.9999999*y*sqrt(x) + 1e-9"],
    "sin(x)*cos(y)": ["(sin(x + y) + sin(x - y))/2", "0.5*(sin(x + y) + sin(x - y))", "sin(x)*sin(y + 1.5707963268)"],
    "exp(x - y)": ["exp(x)/exp(y)", "2.718281828*exp(x - y - 1)", "1/exp(y - x)"],
    "1.5*(x + 0.3857)**2": ["1.5*x**2 + 1.1571*x + 0.22314674", "(1.22474487*x + 0.472384097)**2"],
    "0.1*x + 0.333333333333*y": ["x/10 + y/3", "(3*x + 10*y)/30"],
    "exp(-4*x**2) + y": ["1.00000002*exp(-4.0*x**2) + y - 5e-17"],
    "x/(x + y)": ["1/(1 + y/x)", "1 - y/(x + y)", "1.0 - y/(x + 1.0*y)"],
}
EXTRA = [
    "1e-6/(x - 1.2345)",
    "exp(2*x - 30)",
    "0.0005",
    "1e-7*x",
    "1e-12*cos(x)",
    "1e-9/(x - 1.2345)",
    "exp(2.1*x - 40.5)",
]


@pytest.mark.parametrize(("truth", "found"), [(truth, form) for truth, forms in EQUAL.items() for form in forms])
def test_the_same_formula_in_another_form_is_strictly_recovered(truth, found):
    known = problem(truth)
    assert recovered(known, parse(found)), "the test needs a form that is recovered"
    assert strictly_recovered(known, parse(found))
    assert strictly_recovered(known, canonical(parse(found)))


@pytest.mark.parametrize("extra", EXTRA)
@pytest.mark.parametrize("truth", ["x**2 + x*y", "sin(x) + 2*y", "1.5*x/(y + 2)"])
def test_what_the_truth_has_not_is_not_strictly_recovered_however_small(truth, extra):
    known, found = problem(truth), parse(f"{truth} + {extra}")
    assert agrees(known, found, 1.0, 1e-3), "the test needs a term that is small"
    assert not strictly_recovered(known, found)
    assert not strictly_recovered(known, canonical(found))


def test_three_of_these_pass_the_judge_who_is_not_strict():
    for known in (p for p in load() if p.name in ("koza-01", "livermore-07")):
        first = known.formula.variables[0]
        for extra in (f"1e-6/({first} - 1.2345)", f"exp(2*{first} - 30)", "0.0005"):
            assert recovered(known, parse(f"{known.formula} + {extra}"))


def test_every_true_formula_is_strictly_recovered():
    for known in load():
        assert strictly_recovered(known, known.formula), known.name
        assert strictly_recovered(known, canonical(known.formula)), known.name


def test_a_number_that_is_off_by_more_than_rounding_is_not_strictly_recovered():
    known = problem("1.5*x + sin(y)")
    assert strictly_recovered(known, parse("1.5000003*x + sin(y)"))
    assert recovered(known, parse("1.50002*x + sin(y)"))
    assert not strictly_recovered(known, parse("1.50002*x + sin(y)"))


def test_a_formula_that_only_resembles_the_truth_at_the_points_is_another():
    # cos(x) and its Taylor polynomial differ by 1e-11 of a unit within a tenth of 0, and are two formulas.
    series = parse("1 - x**2/2 + x**4/24 - x**6/720")
    points = {"x": np.linspace(-0.1, 0.1, 60)}
    assert not same_formula(parse("cos(x)"), series, points)
    free = parse("1.0 - 0.5*x**2 + 0.0416666666*x**4 - 0.00138888*x**6")
    assert not same_formula(parse("cos(x)"), free, points)


def test_a_formula_is_judged_where_the_truth_is_finite():
    known = problem("log(x) + y", 1.0, 2.0)  # three times as wide, x is below 0, too
    assert strictly_recovered(known, parse("log(abs(x)) + y"))
    both = problem("x + y", 1.0, 2.5)  # here y is below 0, too, and the truth is finite there
    assert recovered(both, parse("x + abs(y)"))
    assert not strictly_recovered(both, parse("x + abs(y)"))


def test_the_right_form_frees_what_was_fitted_and_keeps_whole_numbers():
    known = problem("2.5*x**2 + sin(3*y)")
    assert right_form(known, parse("2.31*x**2 + sin(3*y)"))
    assert right_form(known, parse("2.31*x**2 + sin(2.98*y)"))
    assert right_form(known, parse("2.31*x**2.0 + sin(2.98*y)"))
    assert not right_form(known, parse("2*x**2 + sin(3*y)"))
    assert not right_form(known, parse("5*x**2/3 + sin(2.98*y)"))
    assert not right_form(known, parse("2.31*x**3 + sin(2.98*y)"))
