"""Building on formulas that are nearly right: what stands in for a branch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contexts import context_of, fitter_of, problem, stages_named
from prunesymnet.bank.bank import Term
from prunesymnet.coefficients import fit
from prunesymnet.expression import Variable, parse
from prunesymnet.operators import DEFAULT, OPERATORS, make_operator
from prunesymnet.search.stages import When
from prunesymnet.search.stages.grafts import Branch, _grafted, branch_queries

NEAR = [  # a formula that is nearly right, and the right one
    ("a*(3.0 + b*sin(x))", "a*(c + b*sin(x))"),  # a constant becomes a column
    ("2.5*a*exp(b)", "a*exp(b)/(c + x**2)"),  # a factor is missing
    ("a*exp(0.5*b)", "a*exp(0.5*b + c*x)"),  # a term is missing inside
    ("a + b*x + log(c)", "a + b*x + sqrt(c*y)"),  # a term of a sum is another
    ("sin(a*b)*c", "sin(a*b + x/20)*c"),  # below a sine, away from the first branch
    ("a/(2.0 + b)", "a/(b + c*x**2)"),  # in a denominator
    ("(a + 1.5)**3", "(a + b*c)**3"),  # below a power
    ("sqrt(a**2 + 2.0)", "sqrt(a**2 + b*c)"),
]


def scene(text):
    return problem(text, DEFAULT, names="abcdxy", rows=80, low=1.0, high=3.0)


def grafts(truth, *formulas):
    context = context_of(truth, stages=stages_named("grafts"), formulas=formulas)
    return [batch for _, batch in context.run(When.AFTER_LEVEL)]


@pytest.mark.parametrize(("near", "truth"), NEAR)
def test_the_bank_has_what_a_near_formula_lacks(near, truth):
    truth = scene(truth)
    found = [proposal for batch in _grafted(context_of(truth), (parse(near),)) for proposal in batch.proposals]
    best = sorted(found, key=lambda proposal: proposal.unexplained)[:5]
    for proposal in best:
        assert proposal.unexplained == pytest.approx(truth.unexplained(proposal.expression), abs=1e-20)
    assert max(fit(proposal.expression, truth.data).r2 for proposal in best) > 1 - 1e-10


def test_every_query_is_about_values_that_would_give_the_target():
    truth = scene("a*exp(0.5*b + c*x)/(d + y)")
    queries = branch_queries(parse("a*exp(0.5*b + 1.5)/(d + y**2)"), truth)
    assert len(queries) > 10
    for query in queries:
        counts = query.target.weights > 0
        np.testing.assert_allclose(query.target.back(query.target.values)[counts], truth.y[counts], rtol=1e-6)


def test_a_formula_that_is_not_finite_is_not_asked_about():
    assert branch_queries(parse("log(a - 2)"), scene("a*b")) == []


def test_exponents_and_coefficients_are_not_branches():
    asked = [
        (query.target.text, len(query.fixed_terms)) for query in branch_queries(parse("2.5*a**1.5"), scene("a**2*b"))
    ]
    assert len(asked) == len(set(asked))
    assert not any("**g" in text for text, _ in asked)


def test_it_builds_on_nothing_that_is_far_off():
    assert grafts(scene("sin(9*a)*b"), "1.0*c + 1.0") == []


def test_columns_that_were_left_out_are_not_built_on():
    few = scene("a*b + c").only(["a", "b"])
    assert grafts(few, "1.0*a*b + 1.0*c + 0.1*x") == []


def test_it_goes_on_as_long_as_the_best_formula_becomes_much_better():
    context = context_of(scene("a*(c + b*sin(x))"), stages=stages_named("grafts"), formulas=["a*(3.0 + b*sin(x))"])
    passes = 0
    for _, batch in context.run(When.AFTER_LEVEL):
        if batch.then_fit:
            passes += 1
            assert batch.then_fit < context.settings.exhaustive.fits
            if passes == 1:
                fitter_of(context).candidate(parse("a*(c + b*sin(x))"), "grafts")
    assert passes == 2  # one pass more for the new formula, which makes nothing better


def test_an_error_of_nought_ends_the_building():
    passes = [batch for batch in grafts(scene("a*b + c"), "a*b + c") if batch.then_fit]
    assert len(passes) == 1


@given(
    st.sampled_from(sorted(set(OPERATORS) - {"pi", "id"})), st.floats(0.3, 2.5), st.floats(-0.05, 0.05), st.booleans()
)
def test_a_branch_goes_down_to_the_value_nearby(name, at, off, second):
    operator = OPERATORS[name]
    place = int(second and operator.arity == 2)
    now, other = np.array([at, at + 0.1]), Term(np.array([1.7, 1.7]), Variable("o"))
    branch = Branch(operator, place, now, other if operator.arity == 2 else None)
    aim = now + off
    with np.errstate(all="ignore"):
        target = branch.up(aim)
        slope = branch.slope(aim)
        found = branch.down(target)
    steep = np.isfinite(target) & (np.abs(slope) > 0.2)  # near a turning point the other branch is as near
    np.testing.assert_allclose(found[steep], aim[steep], rtol=1e-5)


def test_an_operator_without_inverse_is_undone_by_newtons_steps():
    soft = make_operator("soft", lambda u: np.log1p(np.exp(u)))
    now = np.linspace(0.5, 2, 7)
    branch = Branch(soft, 0, now, None)
    np.testing.assert_allclose(branch.down(branch.up(now + 0.3)), now + 0.3, rtol=1e-8)
    with np.errstate(all="ignore"):
        assert np.isnan(branch.down(np.full(7, -1.0))).all()  # it never is
