"""Polynomials: random ones come out as they are, and nothing else is called exact."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from contexts import columns_of, problem, problem_of, terms_of, values_of
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.targets import unwrap
from prunesymnet.data import make_dataset
from prunesymnet.expression import Constant, postorder
from prunesymnet.operators import PAPER
from prunesymnet.search.stages.polynomials import polynomials

pytestmark = pytest.mark.filterwarnings("ignore:column .* equals target")  # x is a polynomial too


def polynomial(truth, **options):
    """The first proposal for the target as it stands, or None; of an exact polynomial there is no other."""
    found = list(polynomials(truth, truth.target, **options))
    assert len(found) <= 1 or not any(one.exact for one in found)
    return found[0] if found else None


@st.composite
def sparse_polynomials(draw):
    """The number of variables, and {exponents: coefficient} of one to five terms, one of them no constant."""
    count = draw(st.integers(1, 3))
    power = st.lists(st.integers(0, 4), min_size=count, max_size=count).filter(lambda p: sum(p) <= 4).map(tuple)
    terms = draw(st.dictionaries(power, st.integers(-9, 9).filter(bool), min_size=1, max_size=5))
    assume(any(sum(exponents) for exponents in terms))
    return count, terms


def polynomial_values(terms, columns):
    return sum(
        coefficient * np.prod([u**p for u, p in zip(columns.values(), powers, strict=True)], axis=0)
        for powers, coefficient in terms.items()
    )


@given(sparse_polynomials(), st.booleans(), st.sampled_from([0.3, -2.0]))
@settings(max_examples=60)
def test_a_sparse_polynomial_comes_out_as_it_is(truth, only_exact, low):
    count, terms = truth
    columns = columns_of(100, low=low, names="xyz"[:count])
    target = polynomial_values(terms, columns)
    found = polynomial(problem_of(columns, target), only_exact=only_exact)
    np.testing.assert_allclose(values_of(found, columns), target, rtol=1e-7, atol=1e-7 * np.abs(target).max())
    got = terms_of(found.expression)
    assert len(got) == len(terms)
    numbers = [node.value for term in got for node in postorder(term) if isinstance(node, Constant) and node.is_free]
    np.testing.assert_allclose(sorted(numbers), sorted(terms.values()), rtol=1e-5)
    assert found.exact


def test_what_is_no_polynomial_is_not_called_exact():
    for text in ("sin(3*x)*y", "1/(x + 3)", "abs(x)"):
        assert polynomial(problem(text, rows=100), only_exact=True) is None
        assert polynomial(problem(text, rows=100)).unexplained > 1e-12


def test_noise_is_not_fitted():
    rng = np.random.default_rng(0)
    columns = columns_of(100)
    target = 2 * columns["x"] ** 2 - columns["y"] + 0.1 * rng.normal(size=100)
    noisy = problem_of(columns, target)
    assert polynomial(noisy, only_exact=True) is None
    found = polynomial(noisy)
    assert len(terms_of(found.expression)) <= 4
    assert found.unexplained == pytest.approx(0.1**2 / np.var(target), rel=0.7)


@pytest.mark.parametrize(
    ("text", "target"),
    [("exp(x**2 - 2*y)", "exp(g)"), ("1/(x**2 + y**2 + 1)", "1/g"), ("sqrt(x**2 + y**2 + 1)", "sqrt(g)")],
)
def test_a_polynomial_inside_an_operator_is_found_for_its_target(text, target):
    inside = problem(text, (*PAPER, "sqrt"))
    targets = {one.text: one for one in unwrap(inside.target, [], inside.operators)}
    (found,) = polynomials(inside, targets[target], only_exact=True)
    np.testing.assert_allclose(values_of(found, inside.columns), inside.y, rtol=1e-6)
    assert found.exact


def test_weights_say_which_rows_count():
    columns = columns_of(100, names="x")
    target = 3 * columns["x"] ** 2 - 1
    weights = np.ones(100)
    weights[:20] = 0
    target[:20] = 77.0 + np.arange(20)
    found = polynomial(problem_of(columns, target, weights=weights))
    np.testing.assert_allclose(values_of(found, columns)[20:], target[20:], rtol=1e-8)
    assert len(terms_of(found.expression)) == 2


def test_few_rows_or_many_columns_make_no_polynomial():
    assert polynomial(problem("x*y + 1", rows=4)) is None
    rng = np.random.default_rng(0)
    data = make_dataset(rng.normal(size=(60, 50)), rng.normal(size=60))
    assert polynomial(Problem.of(data, PAPER, 256, 0)) is None


def test_columns_that_depend_on_one_another_do_no_harm():
    columns = columns_of(100, names="x")
    columns["y"] = 2 * columns["x"] + 1
    columns["z"] = (columns["x"] > 0).astype(float)  # its powers are all the same
    target = columns["x"] ** 2 + columns["z"]
    found = polynomial(problem_of(columns, target))
    np.testing.assert_allclose(values_of(found, columns), target, atol=1e-7)
