"""Residuals that follow a column."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prunesymnet.coefficients import fit
from prunesymnet.data import make_dataset
from prunesymnet.equations import Equation, Front
from prunesymnet.equations.pattern import BY_CHANCE, followed
from prunesymnet.errors import FileFormatError
from prunesymnet.expression import parse
from prunesymnet.runs.records import of_equation, to_equation

X = np.linspace(0.0, 10.0, 80)


def noise(seed=0, rows=80):
    return np.random.default_rng(seed).standard_t(3, size=rows)


def law(form="1.0*x", lacking=0.0, seed=0):
    """A line through rows that lie on a line, but for a wave."""
    data = make_dataset(
        np.column_stack([X, noise(9)]), 3 * X + lacking * np.sin(X) + 0.3 * noise(seed), names=["x", "z"]
    )
    return Equation.of(fit(parse(form), data), data)


def test_what_is_independent_follows_nothing_but_by_chance():
    columns = {"x": X, "z": noise(1)}
    seen = sum(bool(followed(noise(seed), columns)) for seed in range(2, 402))
    assert seen <= 400 * BY_CHANCE + 4


@given(seed=st.integers(2, 99), stretched=st.sampled_from([np.exp, np.cbrt, lambda x: 1e9 * x]))
def test_only_the_order_counts(seed, stretched):
    residual, other = noise(seed) + np.sin(X), np.random.default_rng(seed).permutation(80)
    found = followed(residual, {"x": X, "z": noise(1)})
    assert followed(residual**3, {"x": stretched(X), "z": noise(1)}) == found
    assert followed(residual[other], {"x": X[other], "z": noise(1)[other]}) == found


def test_rows_of_one_value_are_in_no_order():
    levels = np.repeat([1.0, 2.0], 40)
    assert followed(np.sin(2 * X), {"dose": levels}) == ""
    assert followed(np.sin(2 * X), {"dose": levels, "time": X}) == "time"


@pytest.mark.parametrize("residual", [np.sin(X[:9]), np.where(X < 5, np.nan, X), np.zeros(80)])
def test_few_rows_and_no_numbers_show_nothing(residual):
    assert followed(residual, {"x": X[: len(residual)]}) == ""


def test_a_front_says_what_its_formula_may_lack():
    assert law().follows == law(lacking=1.0, form="1.0*x + 1.0*sin(x)").follows == ""
    lacking = law(lacking=1.0)
    assert lacking.follows == "x"
    assert "along x, neighbouring rows are off to the same side" in str(Front((lacking,), 0))


def test_rounding_errors_are_no_pattern():
    data = make_dataset(X, X / 3, names=["x"])
    assert Equation.of(fit(parse("1.0*x"), data), data).follows == ""


def test_it_is_kept_in_files_and_must_be_a_column():
    record = of_equation(law(lacking=1.0)) | {"heldout_r2": 0.5}
    assert to_equation(record, ("x", "z"), "y").follows == "x"
    with pytest.raises(FileFormatError, match="follows no column"):
        to_equation(record | {"follows": "w"}, ("x", "z"), "y")
    assert to_equation({k: v for k, v in record.items() if k != "follows"}, ("x", "z"), "y").follows == ""
