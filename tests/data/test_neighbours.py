import numpy as np
import pytest

from prunesymnet.data import make_dataset, weighted_around, weighted_by_neighbours


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("function", [lambda X: X[:, 0] ** 4, lambda X: np.exp(X[:, -1]), lambda X: np.sin(X).sum(1)])
def test_gross_outliers_are_seen_without_a_formula(columns, function):
    rng = np.random.default_rng(columns)
    X = rng.uniform(-5, 5, (128, columns))
    y = function(X)
    wrong = rng.choice(128, 6, replace=False)
    spoiled = y.copy()
    spoiled[wrong] += 20 * y.std() * rng.choice([-1, 1], 6)
    weights = weighted_by_neighbours(make_dataset(X, spoiled).with_loss("huber")).start_weights
    assert (weights[wrong] == 0).all()
    assert (weights > 0).sum() >= 0.75 * 128


def test_rows_that_a_formula_explains_come_back():
    x = np.linspace(0.01, 3, 60)
    data = make_dataset(x, 1 / x).with_loss("huber")
    assert weighted_by_neighbours(data).start_weights[0] == 0
    assert (weighted_around(data, 1 / x).start_weights == 1).all()


def test_squares_have_no_weights_to_begin_with():
    data = make_dataset(np.arange(5.0), np.arange(5.0) ** 2)
    assert weighted_by_neighbours(data) is data
    assert weighted_around(data, data.y) is data


def test_weights_go_along_with_rows():
    x = np.linspace(-1, 1, 30)
    y = x**2
    y[3] = 50
    data = weighted_by_neighbours(make_dataset(x, y).with_loss("absolute"))
    assert data.take([2, 3, 4]).start_weights[1] == 0
    assert data.search_weights is data.start_weights


def test_rows_of_counts_weigh_by_one_over_their_mean():
    x = np.repeat([1.0, 2.0], 30) + np.linspace(0, 0.01, 60)
    y = np.repeat([1.0, 100.0], 30)
    weights = weighted_by_neighbours(make_dataset(x, y).with_loss("poisson")).start_weights
    assert weights[0] == pytest.approx(100 * weights[-1])


def test_a_quantile_leans_to_its_side():
    rng = np.random.default_rng(0)
    x, y = np.linspace(0, 1, 200), rng.normal(size=200)
    data = weighted_by_neighbours(make_dataset(x, y).with_loss("quantile:0.9"))
    assert np.average(y, weights=data.search_weights) > np.average(y) + 0.3
