"""A group beside linear terms is found, and only where there is one."""

import numpy as np
import pytest

from prunesymnet.structure.beside import find_beside

RNG = np.random.default_rng(5)
COLUMNS = dict(zip("xyzu", RNG.uniform(1, 3, (4, 110)), strict=True))
X, Y, Z, U = COLUMNS.values()
WEIGHTS = np.full(110, 1 / 110)


@pytest.mark.parametrize(
    ("y", "group", "factor", "terms"),
    [
        (2 * Z - 0.5 * U + np.exp(-X * Y), "x*y", "1", {"z": 2.0, "u": -0.5}),
        (3 * Z + X + np.tanh(X / Y - 1), "x/y", "1", {"z": 3.0, "x": 1.0}),
        (Z - 4 * X + U * np.sin(X * Y), "x*y", "u", {"z": 1.0, "x": -4.0}),
        (5 * Z + np.cos(X - Y), "x - y", "1", {"z": 5.0}),
    ],
    ids=["product", "own column too", "times a column", "difference"],
)
def test_groups(y, group, factor, terms):
    found = find_beside(COLUMNS, y, WEIGHTS)
    assert (str(found.group.formula), str(found.factor.formula)) == (group, factor)
    assert found.coefficients == pytest.approx(terms, abs=0.02)
    assert found.unexplained < 1e-4 < found.second


@pytest.mark.parametrize(
    "y",
    [
        RNG.normal(size=110),
        2 * X - Y,
        np.exp(X) + np.sin(2 * Y) + 1 / Z,
        np.sin(2 * X) + Y,  # a function of one column: a sum of parts, and no group
        np.sin(X * Y) + np.cos(Z * U),
    ],
    ids=["noise", "linear", "sum of functions", "one column", "two groups"],
)
def test_nothing_is_claimed_where_there_is_none(y):
    assert find_beside(COLUMNS, y, WEIGHTS) is None


def test_the_clock_is_asked_and_one_column_has_no_group():
    def stop():
        raise TimeoutError

    with pytest.raises(TimeoutError):
        find_beside(COLUMNS, Z + np.exp(-X * Y), WEIGHTS, check=stop)
    assert find_beside({"x": X}, np.exp(X), WEIGHTS) is None
