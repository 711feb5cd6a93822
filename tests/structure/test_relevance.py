"""Which columns matter, told without a formula."""

import numpy as np
import pytest

from prunesymnet.structure.relevance import Relevant, find_relevant, normal_scores


def columns(count=8, rows=100, seed=0):
    rng = np.random.default_rng(seed)
    return {f"x{k}": column for k, column in enumerate(rng.uniform(1, 3, (count, rows)))}


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_the_columns_of_a_law_are_found(noise):
    given = columns()
    y = given["x1"] ** 2 / given["x4"] + noise * np.random.default_rng(1).normal(size=100)
    found = find_relevant(given, y)
    assert {"x1", "x4"} <= set(found.names)
    assert len(found.names) <= 4
    assert found.unexplained < 0.2


def test_units_and_a_few_huge_values_change_nothing():
    given = columns()
    y = given["x1"] ** 2 / given["x4"]
    steep = {name: column**9 * 1e20 for name, column in given.items()}
    assert find_relevant(steep, 1e-12 * np.exp(5 * y)) == find_relevant(given, y)


def test_noise_is_not_predicted():
    y = np.random.default_rng(2).normal(size=100)
    assert find_relevant(columns(), y).unexplained > 0.7


def test_where_nothing_varies_nothing_matters():
    given = {"x": np.ones(20), "y": np.arange(20.0)}
    assert find_relevant(given, np.ones(20)) == Relevant()
    assert find_relevant({"x": np.ones(20)}, np.arange(20.0)) == Relevant()
    assert find_relevant(given, np.arange(20.0)).names == ("y",)


def test_equal_values_have_equal_scores():
    scores = normal_scores(np.array([0.0, 1.0, 1.0, 0.0, 5.0]))
    assert scores[0] == scores[3] < scores[1] == scores[2] < scores[4]
    assert scores.std() == pytest.approx(1)
