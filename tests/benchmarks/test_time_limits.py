"""The benchmark of how long fits take beyond their limits."""

import numpy as np
import pytest

from benchmarks import time_limits
from benchmarks.time_limits import over, summary

ROW = {"shape": "wide", "rows": 400, "columns": 300, "limit": 1.0, "clock": "wall", "seconds": 1.25, "commit": "abc1"}


def test_shapes_reach_the_size_that_is_promised():
    assert max(rows * columns for rows, columns in time_limits.SHAPES.values()) == 10**7


@pytest.mark.parametrize("target", time_limits.TARGETS)
def test_a_table(target):
    X, y = time_limits.table("wide", target)
    assert X.shape == time_limits.SHAPES["wide"]
    assert np.isfinite(y).all()
    np.testing.assert_array_equal(time_limits.table("wide", target)[1], y)


def test_a_fit_is_measured(monkeypatch):
    monkeypatch.setattr(time_limits, "LIMITS", (0.1,))
    (row,) = time_limits.measure("wide", "noise")
    assert (row["rows"], row["columns"], row["limit"]) == (400, 300, 0.1)
    assert row["seconds"] > 0
    assert row["complexity"] >= 1


def test_the_longest_counts_and_the_late_are_counted():
    rows = [ROW, ROW | {"seconds": 0.5}, ROW | {"limit": 5.0, "seconds": 6.3}, ROW | {"shape": "long", "rows": 1000}]
    assert [over(row) for row in rows[:2]] == pytest.approx([0.25, 0.0])
    lines = summary([*rows, rows[3] | {"limit": 5.0, "seconds": 5.5}]).splitlines()
    assert lines[0] == "| seconds beyond the limit, commit abc1 | limit 1 s | limit 5 s |"
    assert lines[2] == "| 400 rows x 300 columns | 0.25 | 1.30 |"
    assert lines[3] == "| 1,000 rows x 300 columns | 0.25 | 0.50 |"
    assert ", on the processor, commit" in summary([ROW | {"clock": "processor"}])
    assert lines[-1] == "1 of 5 fits took more than 1 s and 5% beyond."
