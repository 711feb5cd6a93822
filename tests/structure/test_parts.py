"""Parts that have no column in common are found without a formula, and only where they are there."""

import numpy as np
import pytest

from prunesymnet.structure.parts import can_be_told, find_parts, find_sum_or_product

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


def test_all_functions_of_a_sum_are_told_and_how_much_they_leave():
    y = np.exp(X) + Y * Z + np.sin(2 * U)
    found = find_parts(COLUMNS, y)
    assert {frozenset(part) for part in found.every} == {frozenset("x"), frozenset("yz"), frozenset("u")}
    assert found.unexplained < 1e-2 * found.unexplained_by_one
    assert can_be_told(found, COLUMNS, y)
    noisy = find_parts(COLUMNS, y + 0.3 * np.std(y) * np.random.default_rng(0).normal(size=len(y)))
    assert noisy is None or not can_be_told(noisy, COLUMNS, y)


def test_a_product_is_none_of_a_sum_however_near_it_is():
    columns = {name: 2 + 0.2 * column for name, column in COLUMNS.items()}
    x, y, z, u = columns.values()
    product = 100 * np.sin(x) * (y + 1 / z) * np.sqrt(u)
    found = find_sum_or_product(columns, product)
    assert not can_be_told(found, columns, product) or found.product
    as_sum = find_parts(columns, product)
    assert as_sum is None or not can_be_told(as_sum, columns, product)
    as_product = find_parts(columns, product, product=True)
    assert can_be_told(as_product, columns, product)
    assert ("y", "z") in as_product.every


def test_few_rows_and_many_columns_are_not_asked():
    assert parted((np.exp(X) + Y)[:20], {"x": X[:20], "y": Y[:20]}) is None
    assert parted(X, {f"x{k}": RNG.normal(size=110) for k in range(9)}) is None
    assert parted(X + 1, {"x": X}) is None


def test_the_clock_is_asked():
    def stop():
        raise TimeoutError

    with pytest.raises(TimeoutError):
        find_parts(COLUMNS, np.exp(X) + Y, stop)
