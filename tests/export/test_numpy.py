"""Formulas as functions of numpy arrays."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given

from benchmarks.problems import load
from prunesymnet.export.numpy import to_numpy
from prunesymnet.expression import Apply, Variable, evaluate, parse
from prunesymnet.operators import make_operator
from samples import COLUMNS, NAMES
from strategies import expressions

TABLE = np.column_stack([COLUMNS[name] for name in NAMES])


@pytest.mark.parametrize("problem", load(), ids=lambda problem: problem.name)
def test_the_papers_formulas(problem):
    data = problem.sample(32)
    f = to_numpy(problem.formula)
    np.testing.assert_array_equal(f(data.X), data.y)
    np.testing.assert_array_equal(f(*data.X.T), data.y)


@given(expressions())
def test_a_function_gives_what_evaluate_does(tree):
    expected = evaluate(tree, COLUMNS).values
    f = to_numpy(tree, NAMES)
    np.testing.assert_array_equal(f(TABLE), expected)
    np.testing.assert_array_equal(f(*TABLE.T), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))(TABLE), expected)  # noqa: S301


def test_columns_come_in_the_order_of_names():
    tree = parse("a - b")
    table = np.array([[1.0, 10.0, 100.0]])
    assert to_numpy(tree)(table[:, :2]).tolist() == [-9.0]
    assert to_numpy(tree, ["b", "c", "a"])(table).tolist() == [99.0]


def test_shapes():
    f, g, none = to_numpy(parse("x + y")), to_numpy(parse("2*x")), to_numpy(parse("1.5"))
    assert f(1, 2) == 3.0
    assert isinstance(f(1, 2), float)
    assert f([1, 2], 3).tolist() == [4.0, 5.0]
    assert f(np.arange(3)[:, None], np.arange(2)).tolist() == [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]]
    assert f(np.empty((0, 2))).shape == (0,)
    assert f(np.empty(0), np.empty(0)).shape == (0,)
    assert g([1.0, 2.0]).tolist() == g([[1.0], [2.0]]).tolist() == [2.0, 4.0]
    assert g(3) == 6.0
    assert none() == 1.5
    assert none(np.empty((2, 0))).tolist() == [1.5, 1.5]
    assert to_numpy(parse("1.5"), ["x"])(np.arange(3)).tolist() == [1.5] * 3
    assert f(np.array([[1, 2]], dtype=np.int8)).dtype == f(np.ones((1, 2), np.float32)).dtype == np.float64


def test_outside_the_domain_and_silent():
    f = to_numpy(parse("log(x)/y + exp(x)"))
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(f([-1.0, 1.0, 1000.0], [1.0, 0.0, 1.0]), [np.nan, np.nan, np.inf])


def test_the_values_are_the_callers_own():
    for text in ("x", "id(x)", "2.0"):
        X = np.ones((3, 1))
        values = to_numpy(parse(text), ["x"])(X)
        values += 1
        assert (X == 1).all()


def test_copies_and_what_is_printed():
    f = to_numpy(parse("x**2 + 0.5"), ["t", "x"])
    for again in (copy.deepcopy(f), copy.copy(f), pickle.loads(pickle.dumps(f))):  # noqa: S301
        assert again.names == ("t", "x")
        assert again.expression == f.expression
        assert again([[9.0, 2.0]]).tolist() == [4.5]
    assert repr(f) == "NumpyFunction('x**2 + 0.5', names=['t', 'x'])"


def test_what_does_not_fit_is_refused():
    f = to_numpy(parse("x + y"))
    with pytest.raises(ValueError, match=r"X must have 2 columns \(x, y\), got 3"):
        f(np.ones((4, 3)))
    with pytest.raises(ValueError, match=r"takes one table or 2 columns \(x, y\), got 1 arrays"):
        f(np.ones(4))
    with pytest.raises(ValueError, match="mismatch"):
        f(np.ones(4), np.ones(3))


def test_a_users_operator():
    tree = Apply(make_operator("softplus", lambda u: np.log1p(np.exp(u))), (Variable("x"),))
    np.testing.assert_allclose(to_numpy(tree)([0.0, 1.0]), np.log1p(np.exp([0.0, 1.0])))
