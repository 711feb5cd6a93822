"""Rows that are equal, and rows without weight: what a formula is fitted to."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prunesymnet.data import Dataset, distinct_rows, make_dataset
from prunesymnet.errors import DataWarning


def table(rows, weights=None, count=None):
    """Rows of two columns and a target."""
    rows = np.array(rows, float)
    return Dataset(rows[:, :2], rows[:, 2], ("a", "b"), "y", weights, count)


ROWS = [[1, 2, 3], [2, 7, 4], [1, 2, 3], [1, 2, 5], [1, 2, 3]]


def cells(data):
    return np.column_stack([data.X, data.y]).tolist()


def test_equal_rows_become_one_of_their_weights_together():
    found = distinct_rows(table(ROWS))
    assert cells(found) == [[1, 2, 3], [2, 7, 4], [1, 2, 5]]
    assert found.weights.tolist() == [3, 1, 1]
    assert (found.rows, found.measurements) == (3, 5)
    assert (found.names, found.target) == (("a", "b"), "y")
    assert not any(array.flags.writeable for array in (found.X, found.y, found.weights))


def test_weights_are_added_and_rows_without_weight_left_out():
    found = distinct_rows(table(ROWS, [0.5, 2, 0, 0, 1]))
    assert cells(found) == [[1, 2, 3], [2, 7, 4]]
    assert found.weights.tolist() == [1.5, 2]
    assert found.measurements == 3


@pytest.mark.parametrize("weights", [None, [1, 2, 3, 4]])
def test_a_table_with_nothing_to_merge_is_returned_as_it_is(weights):
    data = make_dataset([1, 2, 3, 4], [4, 3, 2, 2], weights=weights)
    assert distinct_rows(data) is data


def test_equal_weights_say_nothing():
    found = distinct_rows(make_dataset([1, 2, 3], [4, 3, 2], weights=[7, 7, 7]))
    assert found.weights is None
    twice = distinct_rows(make_dataset([1, 2, 3] * 2, [4, 3, 2] * 2))
    assert (twice.weights, twice.rows, twice.measurements) == (None, 3, 6)


def test_a_target_that_differs_makes_another_row():
    assert distinct_rows(make_dataset([1, 2, 1], [1, 2, 3])).rows == 3


def test_rows_that_are_all_the_same_stay_two_at_least():
    with pytest.warns(DataWarning, match="in every row"):
        data = make_dataset([1, 1, 1], [2, 2, 2])
    assert distinct_rows(data).rows == 3


def test_what_was_merged_already_keeps_its_count():
    merged = distinct_rows(table(ROWS))
    assert distinct_rows(merged) is merged
    again = distinct_rows(table(ROWS, count=50))
    assert again.measurements == 50


def test_minus_zero_is_zero():
    assert distinct_rows(make_dataset([0.0, -0.0, 1.0], [1, 1, 2])).rows == 2


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3, st.integers(0, 3)), min_size=2, max_size=12))
def test_the_weighted_sums_of_all_rows_are_kept(rows):
    """Against a group-by of the whole table; whole numbers, so that sums are exact."""
    rows = pd.DataFrame(rows, columns=["a", "b", "y", "w"], dtype=float)
    if (rows["w"] > 0).sum() < 2 or rows[rows["w"] > 0][["a", "b", "y"]].drop_duplicates().shape[0] < 2:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant columns
        data = Dataset(rows[["a", "b"]], rows["y"], ("a", "b"), "y", rows["w"])
    found = distinct_rows(data)
    sums = rows[rows["w"] > 0].groupby(["a", "b", "y"])["w"].sum()
    ours = np.ones(found.rows) if found.weights is None else found.weights
    assert {tuple(row) for row in cells(found)} == set(sums.index)
    assert len(cells(found)) == len(sums)
    share = pd.Series(ours / ours.sum(), index=pd.MultiIndex.from_tuples(map(tuple, cells(found))))
    np.testing.assert_allclose(share.loc[list(sums.index)], sums / sums.sum())


@pytest.mark.filterwarnings("ignore::prunesymnet.errors.DataWarning")
def test_rows_of_many_columns_are_compared_in_all_of_them():
    wide = np.zeros((6, 40))
    wide[3, 39] = 1.0
    wide[4] = -0.0
    wide[5, 0] = 1.0
    found = distinct_rows(make_dataset(wide, [1, 1, 2, 1, 1, 1]))
    assert found.y.tolist() == [1, 2, 1, 1]
    assert found.weights.tolist() == [3, 1, 1, 1]
    assert found.X[:, [0, 39]].tolist() == [[0, 0], [0, 0], [0, 1], [1, 0]]
