"""Which columns matter, told without a formula."""

import numpy as np
import pytest

from prunesymnet.structure import relevance
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


def test_units_change_nothing():
    given = columns()
    y = given["x1"] ** 2 / given["x4"]
    others = {name: column * 10.0 ** (9 * k - 30) for k, (name, column) in enumerate(given.items())}
    here, there = find_relevant(given, y), find_relevant(others, 1e-40 * y)
    assert here.names == there.names == ("x1", "x4")
    assert there.unexplained == pytest.approx(here.unexplained, rel=0.01, abs=1e-9)


def test_a_few_huge_values_change_nothing():
    given = columns()
    steep = {name: column**9 for name, column in given.items()}
    y = given["x1"] ** 2 / given["x4"]
    assert find_relevant(steep, np.exp(5 * y)).names == ("x1", "x4")


def test_unrelated_columns_are_left_out_however_many_there_are():
    given = columns(20)
    assert find_relevant(given, given["x1"] * np.sin(2 * given["x4"])).names == ("x1", "x4")


def test_a_column_that_hardly_matters_is_found_where_there_is_no_noise():
    given = columns(rows=60)
    found = find_relevant(given, np.log((given["x1"] + 0.04 * given["x2"]) / (given["x5"] + 0.02 * given["x6"])))
    assert found.names == ("x1", "x2", "x5", "x6")


@pytest.mark.parametrize("sign", [1, -1])
def test_poles_are_no_jumps(sign):
    rng = np.random.default_rng(0)
    given = {name: rng.uniform(-3, 3, 128) for name in "abcdef"}
    found = find_relevant(given, sign * given["b"] * given["e"] / (1 - given["b"] * given["e"] / 3))
    assert found.names == ("b", "e")


@pytest.mark.parametrize("rows", [29, 30])
@pytest.mark.parametrize("largest", [1.0, 1e200])
def test_a_target_is_on_the_circle_at_its_median_and_far_from_it(rows, largest):
    """The row in the middle is the median of an odd number of rows."""
    given = columns(3, rows)
    found = find_relevant(given, largest / (given["x1"] - 2))
    assert found.names == ("x1",)
    assert np.isfinite(found.unexplained)


def test_two_columns_that_matter_only_together_are_found():
    rng = np.random.default_rng(0)
    given = {name: rng.uniform(-3, 3, 104) for name in "abcdefgh"}
    found = find_relevant(given, 3 * given["b"] + given["d"] * given["f"])
    assert found.names == ("b", "d", "f")


def test_products_of_powers_with_both_signs_are_seen_in_logarithms():
    rng = np.random.default_rng(0)
    given = {name: rng.uniform(-3, 3, 128) for name in "abcdef"}
    found = find_relevant(given, given["b"] / (given["c"] ** 2 * given["e"]))
    assert found.names == ("b", "c", "e")
    assert found.unexplained < 0.5


def test_waves_that_are_shorter_than_the_distance_between_rows_are_seen():
    rng = np.random.default_rng(0)
    given = {name: rng.uniform(1, 3, 128) for name in "abcdef"}
    found = find_relevant(given, np.sin(400 * given["b"] / given["e"]) + np.cos(150 * given["c"] ** 2))
    assert found.names == ("b", "c", "e")
    assert found.unexplained < 0.2


def test_no_more_is_asked_than_what_can_be_spared(monkeypatch):
    given = columns(3)
    asked = []
    find = relevance._taken
    monkeypatch.setattr(relevance, "_taken", lambda *a: asked.append(a) or find(*a))
    y = np.sin(30 * given["x0"] * given["x1"]) + given["x0"] + given["x2"]
    assert set(find_relevant(given, y, spare=2).names) == {"x0", "x2"}
    assert len(asked) == 1


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
