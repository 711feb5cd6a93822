"""The linear model, with the columns that it needs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from prunesymnet.coefficients import fit
from prunesymnet.data import make_dataset
from prunesymnet.errors import DataWarning
from prunesymnet.search import ExhaustiveSettings, SearchSettings, search
from prunesymnet.search.linear_model import (
    linear,
    linear_models,
    needed_columns,
    no_worse_than,
    simplest_forms,
    telling_columns,
    varying,
)
from prunesymnet.search.prediction import left_out, predicts_better


def table(rows=80, columns=6, seed=0, noise=1.0, weights=None):
    """A plane of the first two columns, and others that have nothing to say."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) * 10.0 ** rng.integers(-3, 4, columns)
    y = 3 * X[:, 0] / X[:, 0].std() - 2 * X[:, 1] / X[:, 1].std() + noise * rng.normal(size=rows)
    return make_dataset(X, y, names=[f"x{k}" for k in range(columns)], weights=weights)


def error(data, names):
    # scikit-learn leaves out columns that are small beside others: they are made alike
    columns = [data.columns[name] / data.columns[name].std() for name in names] or [np.zeros(data.rows)]
    X = np.array(columns).T
    fitted = LinearRegression().fit(X, data.y, sample_weight=data.weights)
    return float(np.average((fitted.predict(X) - data.y) ** 2, weights=data.weights))


@given(st.integers(0, 30), st.floats(1.0, 1.5), st.booleans())
def test_columns_go_as_long_as_the_error_allows_it(seed, times, weighted):
    weights = np.random.default_rng(seed).uniform(0.5, 2, 80) if weighted else None
    data = table(seed=seed, weights=weights)
    most = times * error(data, data.names) + 1e-9
    kept = needed_columns(data, most)
    assert error(data, kept) <= most * (1 + 1e-6)
    for name in kept:  # none of those left could go
        assert error(data, [other for other in kept if other != name]) > most * (1 - 1e-6)


def test_a_column_that_others_make_up_for_is_the_first_to_go():
    data = table()
    twice = np.column_stack([data.X, data.X[:, 0] + data.X[:, 1]])
    again = make_dataset(twice, data.y, names=[*data.names, "sum"])
    assert len({"x0", "x1", "sum"} & set(needed_columns(again, 1.01 * error(again, again.names)))) == 2


@pytest.mark.parametrize("columns", [10, 300])
def test_one_inverse_serves_many_columns(columns):
    data = table(rows=columns + 50, columns=columns)
    most = 1.3 * error(data, data.names)
    kept = needed_columns(data, most)
    assert len(kept) < columns
    assert error(data, kept) <= most * (1 + 1e-6)


def test_where_every_error_is_small_enough_no_column_is_needed():
    assert needed_columns(table(), np.inf) == ()
    assert str(linear(())) == "1.0"


def test_a_plane_in_much_noise_comes_without_the_columns_that_say_nothing():
    rows, columns = 500, 6
    data = table(rows, columns, noise=4.0, seed=1)
    banks = ExhaustiveSettings(levels=0)
    found = search(data, SearchSettings(time_limit=float("inf"), exhaustive=banks)).best
    assert found.expression.complexity < linear(data.names).complexity
    line = fit(linear(data.names), data).expression
    assert not predicts_better(left_out(line, data), left_out(found.expression, data))


def test_the_shorter_model_is_no_worse_by_more_than_chance():
    data = table(200)
    whole, shorter, _ = linear_models(data)
    assert whole.mse == pytest.approx(error(data, data.names))
    assert whole.mse <= shorter.mse <= no_worse_than(whole, data)
    assert {"x0", "x1"} <= set(shorter.expression.variables) < set(data.names)


def test_columns_that_say_little_do_not_pay_for_themselves():
    few = set(telling_columns(table(200, columns=12)))
    assert {"x0", "x1"} <= few
    assert len(few) < 6
    assert telling_columns(table(200, columns=3, noise=0.0)) == ("x0", "x1")


def test_where_all_columns_are_needed_both_models_are_one():
    whole, shorter, _ = linear_models(table(columns=2))
    assert whole == shorter


@pytest.mark.parametrize(
    ("required", "texts"),
    [
        ((), ["1.0 + 1.0*x0 + 1.0*x1", "1.0", "x0", "1.0"]),
        (("x1",), ["1.0 + 1.0*x0 + 1.0*x1", "1.0 + 1.0*x1", "1.0*x1", "x1", "1.0"]),
    ],
)
def test_what_may_take_the_place_of_the_linear_model(required, texts):
    assert [str(form) for form in simplest_forms(table(columns=2).names, required)] == texts


def test_outliers_do_not_keep_a_column():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 2))
    y = 3 * X[:, 0] + 0.1 * rng.normal(size=200)
    y[X[:, 1] > 0.9] += 50  # about one row in twenty, where the second column is large
    data = make_dataset(X, y, names=["a", "b"])
    assert "b" in linear_models(data)[1].expression.variables
    few = linear_models(data.with_loss("huber"))[1]
    assert few.expression.variables == ("a",)
    assert few.expression.constants[0] == pytest.approx(3, abs=0.1)


def test_a_column_with_one_value_is_in_no_linear_model():
    x = np.linspace(0, 3, 12)
    with pytest.warns(DataWarning, match="can't explain anything"):
        data = make_dataset(np.column_stack([x, np.full(12, 5.0)]), 2 * x + np.sin(9 * x), names=["x", "five"])
    assert varying(data) == ("x",)
    assert all(found.expression.variables == ("x",) for found in linear_models(data))
    assert varying(data.only(["five"])) == ("five",)  # without columns there is no table
    found = search(data, SearchSettings(max_fits=30))
    assert not any("five" in equation.expression.variables for equation in found.front)
