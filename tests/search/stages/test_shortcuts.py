"""Monomials, polynomials and quotients: random ones are found, and nothing else is."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from prunesymnet.bank.targets import unwrap
from prunesymnet.data import make_dataset
from prunesymnet.expression import Apply, Constant, evaluate, fingerprint, parse, postorder
from prunesymnet.operators import PAPER
from prunesymnet.search.stages import Scene
from prunesymnet.search.stages.shortcuts import eliminate, monomial, monomials, polynomials, quotients

pytestmark = pytest.mark.filterwarnings("ignore:column .* equals target")  # x is a polynomial too

NAMES = ("x", "y", "z")


def columns_of(count, low=-2.0, high=2.0, rows=100, seed=0):
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(low, high, rows) for name in NAMES[:count]}


def scene_of(columns, target, weights=None):
    X = np.array(list(columns.values())).T
    return Scene.of(make_dataset(X, target, names=list(columns), target="t", weights=weights), PAPER, 256, 0)


def scene(text, count=2, **options):
    columns = columns_of(count, **options)
    return scene_of(columns, evaluate(parse(text), columns).values)


def polynomial(found_in, **options):
    """The one proposal for the target as it stands, or None."""
    found = list(polynomials(found_in, unwrap(found_in.y, [], (), found_in.weights)[0], **options))
    assert len(found) <= 1
    return found[0] if found else None


def values_of(proposal, columns):
    return evaluate(proposal.expression, columns).values


def proportional(values, target):
    return np.isfinite(values).all() and np.allclose(values * (target @ values) / (values @ values), target, rtol=1e-6)


def terms_of(tree):
    """The terms of a sum of coefficients times monomials, without a nought."""
    todo, found = [tree], []
    while todo:
        node = todo.pop()
        if isinstance(node, Apply) and node.operator.name == "+":
            todo += node.operands
        elif node != Constant(0):
            found.append(node)
    return found


# ---- monomials ----------------------------------------------------------------------------------------


def test_all_products_up_to_a_degree_are_there_once_and_the_simplest_first():
    columns = columns_of(3)
    found = monomials(NAMES, columns, 3)
    assert len(found) == 19  # 3 + 6 + 10
    assert len({fingerprint(tree) for _, tree in found}) == 19
    for values, tree in found:
        np.testing.assert_allclose(values, evaluate(tree, columns).values, rtol=1e-12)
    assert [str(tree) for _, tree in found[:5]] == ["x", "y", "z", "x**2", "x*y"]
    assert [str(tree) for _, tree in monomials(NAMES, columns, 2)] == [str(tree) for _, tree in found[:9]]


exponents = st.floats(-3, 3).filter(lambda p: abs(p) > 0.01)


@given(powers=st.lists(exponents, min_size=1, max_size=3), factor=st.floats(1e-3, 1e3))
@settings(max_examples=40)
def test_of_positive_columns_a_monomial_with_any_exponents_is_found(powers, factor):
    columns = columns_of(len(powers), low=0.3)
    target = factor * np.prod([u**p for u, p in zip(columns.values(), powers, strict=True)], axis=0)
    found = [values_of(proposal, columns) for proposal in monomial(scene_of(columns, target))]
    assert any(np.allclose(values, target, rtol=1e-8) for values in found)


whole = st.integers(-3, 3).filter(bool)


@given(powers=st.lists(whole, min_size=1, max_size=3), factor=st.floats(0.01, 100), sign=st.sampled_from([-1, 1]))
@settings(max_examples=40)
def test_of_columns_that_change_sign_one_with_whole_exponents(powers, factor, sign):
    columns = columns_of(len(powers))
    target = sign * factor * np.prod([u**p for u, p in zip(columns.values(), powers, strict=True)], axis=0)
    found = list(monomial(scene_of(columns, target)))
    assert any(proportional(values_of(proposal, columns), target) for proposal in found)
    assert all(proposal.source == "monomial" for proposal in found)


def test_a_column_that_does_not_matter_is_left_out():
    found = next(iter(monomial(scene("3*x**2", low=0.3))))
    assert found.expression.variables == ("x",)


def test_a_column_with_a_zero_is_left_out_and_a_target_with_one_has_no_monomial():
    columns = columns_of(2, low=0.3)
    columns["y"][4] = 0.0
    assert all("y" not in p.expression.variables for p in monomial(scene_of(columns, 2 * columns["x"] ** 1.5)))
    assert list(monomial(scene_of(columns, columns["x"] * columns["y"]))) == []


def test_no_root_is_taken_of_a_negative_number():
    columns = columns_of(1)
    for proposal in monomial(scene_of(columns, np.abs(columns["x"]) ** 1.5)):
        assert evaluate(proposal.expression, columns).finite.all()


def test_a_monomial_of_twelve_columns_is_found():
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 2, (80, 12))
    powers = rng.uniform(-2, 2, 12)
    data = make_dataset(X, 2 * np.prod(X**powers, axis=1))
    found = [values_of(p, data.columns) for p in monomial(Scene.of(data, PAPER, 256, 0))]
    assert any(np.allclose(values, data.y, rtol=1e-8) for values in found)


# ---- polynomials --------------------------------------------------------------------------------------


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
    columns = columns_of(count, low=low)
    target = polynomial_values(terms, columns)
    found = polynomial(scene_of(columns, target), only_exact=only_exact)
    np.testing.assert_allclose(values_of(found, columns), target, rtol=1e-7, atol=1e-7 * np.abs(target).max())
    got = terms_of(found.expression)
    assert len(got) == len(terms)
    numbers = [node.value for term in got for node in postorder(term) if isinstance(node, Constant) and node.is_free]
    np.testing.assert_allclose(sorted(numbers), sorted(terms.values()), rtol=1e-5)
    assert found.exact
    assert found.source == "polynomial"


def test_what_is_no_polynomial_is_not_called_exact():
    for text in ("sin(3*x)*y", "1/(x + 3)", "abs(x)"):
        assert polynomial(scene(text), only_exact=True) is None
        assert polynomial(scene(text)).unexplained > 1e-12


def test_noise_is_not_fitted():
    rng = np.random.default_rng(0)
    columns = columns_of(2)
    target = 2 * columns["x"] ** 2 - columns["y"] + 0.1 * rng.normal(size=100)
    noisy = scene_of(columns, target)
    assert polynomial(noisy, only_exact=True) is None
    found = polynomial(noisy)
    assert len(terms_of(found.expression)) <= 4
    assert found.unexplained == pytest.approx(0.1**2 / np.var(target), rel=0.7)


@pytest.mark.parametrize(
    ("text", "frame"),
    [("exp(x**2 - 2*y)", "exp(g)"), ("1/(x**2 + y**2 + 1)", "1/g"), ("sqrt(x**2 + y**2 + 1)", "sqrt(g)")],
)
def test_a_polynomial_inside_an_operator_is_found_in_its_frame(text, frame):
    inside = scene(text)
    frames = {f.text: f for f in unwrap(inside.y, [], (*PAPER, "sqrt"), inside.weights)}
    (found,) = polynomials(inside, frames[frame], only_exact=True)
    np.testing.assert_allclose(values_of(found, inside.columns), inside.y, rtol=1e-6)
    assert found.exact


def test_weights_say_which_rows_count():
    columns = columns_of(1)
    target = 3 * columns["x"] ** 2 - 1
    weights = np.ones(100)
    weights[:20] = 0
    target[:20] = 77.0 + np.arange(20)
    found = polynomial(scene_of(columns, target, weights))
    np.testing.assert_allclose(values_of(found, columns)[20:], target[20:], rtol=1e-8)
    assert len(terms_of(found.expression)) == 2


def test_few_rows_or_many_columns_make_no_polynomial():
    assert polynomial(scene("x*y + 1", rows=4)) is None
    rng = np.random.default_rng(0)
    data = make_dataset(rng.normal(size=(60, 50)), rng.normal(size=60))
    assert polynomial(Scene.of(data, PAPER, 256, 0)) is None


def test_columns_that_depend_on_one_another_do_no_harm():
    columns = columns_of(1)
    columns["y"] = 2 * columns["x"] + 1
    columns["z"] = (columns["x"] > 0).astype(float)  # its powers are all the same
    target = columns["x"] ** 2 + columns["z"]
    found = polynomial(scene_of(columns, target))
    np.testing.assert_allclose(values_of(found, columns), target, atol=1e-7)


# ---- elimination --------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10_000), needed=st.sets(st.integers(0, 9), min_size=1, max_size=5))
@settings(max_examples=40)
def test_columns_that_are_not_needed_go_and_the_others_stay(seed, needed):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(10, 60)) * 10.0 ** rng.integers(-6, 7, (10, 1))
    chosen = sorted(needed)
    coefficients = rng.uniform(1, 2, len(chosen)) / np.abs(columns[chosen]).max(axis=1)
    target = coefficients @ columns[chosen]
    kept, error = eliminate(columns, target, 60)
    assert [index for index, _ in kept] == chosen
    np.testing.assert_allclose([c for _, c in kept], coefficients, rtol=1e-9)
    assert error <= 1e-24 * (target @ target)


def test_columns_of_noise_go():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(20, 200))
    target = 3 * columns[4] - columns[7] + 0.1 * rng.normal(size=200)
    kept, error = eliminate(columns, target, 200)
    assert {4, 7} <= {index for index, _ in kept}
    assert len(kept) <= 3
    assert error == pytest.approx(200 * 0.1**2, rel=0.3)


def test_of_columns_that_are_equal_one_stays():
    rng = np.random.default_rng(0)
    one, two = rng.normal(size=(2, 50))
    kept, error = eliminate(np.array([one, 2 * one, two, 0 * one]), one + two, 50)
    assert len(kept) == 2
    assert error < 1e-20
    assert eliminate(np.zeros((2, 50)), one, 50) == ([], pytest.approx(one @ one))


# ---- quotients ----------------------------------------------------------------------------------------

QUOTIENTS = [  # and how many terms there are above and below
    ("(1 + 2*x)/(3 + x**2)", 2, 2),
    ("x/(1 + y**2)", 1, 2),
    ("(x + y)/(1 + x*y)", 2, 2),
    ("1/(x + 3) + 1/(x - 3)", 1, 2),
    ("x**3/(x**2 + y**2 + 1)", 1, 3),
    ("(x - y)/(x + y + 9) + z", 5, 3),
    ("1/(x + y)", 1, 2),
]


@pytest.mark.parametrize(("text", "above", "below"), QUOTIENTS)
def test_a_quotient_of_polynomials_is_found(text, above, below):
    truth = parse(text)
    (found,) = quotients(scene(text, len(truth.variables)))
    assert found.source == "quotient"
    assert [len(terms_of(part)) for part in found.expression.operands] == [above, below]
    others = columns_of(3, seed=1)
    np.testing.assert_allclose(values_of(found, others), evaluate(truth, others).values, rtol=1e-5)


@pytest.mark.parametrize("text", ["sin(2*x)", "exp(x)*y", "abs(x)", "sqrt(x + 3)/(1 + y**2)"])
def test_what_is_none_gives_no_quotient(text):
    assert list(quotients(scene(text))) == []


def test_noise_gives_no_quotient():
    columns = columns_of(1)
    target = (1 + columns["x"]) / (3 + columns["x"] ** 2) + 1e-4 * np.random.default_rng(0).normal(size=100)
    assert list(quotients(scene_of(columns, target))) == []


def test_columns_with_a_law_between_them_do_no_harm():
    angle = np.random.default_rng(0).uniform(0, 6, 80)
    columns = {"x": np.cos(angle), "y": np.sin(angle)}  # x**2 + y**2 = 1
    for proposal in quotients(scene_of(columns, np.exp(columns["x"]))):
        np.testing.assert_allclose(values_of(proposal, columns), np.exp(columns["x"]), rtol=1e-5)


def test_columns_that_are_nowhere_both_nonzero_do_no_harm():
    rng = np.random.default_rng(0)
    kind, x = rng.integers(0, 3, 60), rng.uniform(1, 2, 60)
    columns = {"a": (kind == 0).astype(float), "b": (kind == 1).astype(float), "x": x}  # categories, as 0/1 columns
    assert list(quotients(scene_of(columns, np.sin(3 * x) * columns["a"] + np.exp(x) * columns["b"]))) == []
