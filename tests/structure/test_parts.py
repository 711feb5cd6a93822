"""Parts that have no column in common are found without a formula, and only where they are there."""

import numpy as np
import pytest

from prunesymnet.structure.parts import find_parts

RNG = np.random.default_rng(11)
COLUMNS = dict(zip("xyzu", RNG.uniform(-2, 2, (4, 110)), strict=True))
X, Y, Z, U = COLUMNS.values()


def parted(y, columns=COLUMNS):
    found = find_parts(columns, y)
    return None if found is None else frozenset([found.first, found.rest])


@pytest.mark.parametrize(
    ("y", "parts"),
    [
        (np.exp(X) + Y * Z * U, {("x",), ("y", "z", "u")}),
        (np.cos(X * Z) - Y**2 * U, {("x", "z"), ("y", "u")}),
        (1e9 * (np.sin(2 * U) + X * Y / (3 + Z)), {("u",), ("x", "y", "z")}),
    ],
)
def test_sums(y, parts):
    assert parted(y) == parts
    noisy = y + 0.01 * np.std(y) * np.random.default_rng(0).normal(size=len(y))
    assert parted(noisy) == parts


def test_the_first_part_is_known_but_for_a_constant():
    found = find_parts(COLUMNS, np.exp(X) + Y * Z * U)
    off = found.curve - np.exp(X)
    assert np.std(off) < 0.05 * np.std(np.exp(X))
    assert found.uncertain < 0.05


@pytest.mark.parametrize(
    "y",
    [
        X * Y * Z * U,
        np.cos(X + Y) * (Z + U) * (X + U),
        np.random.default_rng(1).normal(size=110),
        np.full(110, 2.0),
        1 / (X - Y) + Z / U,  # poles: no surface predicts what was left out
    ],
    ids=["product", "mixed", "noise", "constant", "poles"],
)
def test_nothing_is_claimed_where_there_are_none(y):
    assert parted(y) is None


def test_few_rows_and_many_columns_are_not_asked():
    assert parted((np.exp(X) + Y)[:20], {"x": X[:20], "y": Y[:20]}) is None
    assert parted(X, {f"x{k}": RNG.normal(size=110) for k in range(9)}) is None
    assert parted(X + 1, {"x": X}) is None


def test_the_clock_is_asked():
    def stop():
        raise TimeoutError

    with pytest.raises(TimeoutError):
        find_parts(COLUMNS, np.exp(X) + Y, stop)
