"""Waves of any frequency, of thousands of products of powers."""

import numpy as np
import pytest

from prunesymnet.structure.waves import find_waves


def columns(rows=128, low=-3.0, high=3.0):
    rng = np.random.default_rng(0)
    return {name: rng.uniform(low, high, rows) for name in "abcdef"}


@pytest.mark.parametrize("frequency", [12.0, 40.0, 250.0])
@pytest.mark.parametrize(
    ("names", "inside"),
    [("b", lambda c: c["b"]), ("c", lambda c: c["c"] ** 3), ("ae", lambda c: c["a"] * c["e"])],
)
def test_a_wave_of_any_frequency_is_found(frequency, names, inside):
    given = columns()
    found = find_waves(given, np.cos(frequency * inside(given) / np.ptp(inside(given)) + 0.3))
    assert found[0].names == tuple(names)
    assert found[0].unexplained < 0.2


def test_a_wave_of_a_quotient_is_found_beyond_its_tails():
    given = columns()
    found = find_waves(given, np.sin(2 * given["a"] * given["c"] / given["f"]))
    assert found[0].names == ("a", "c", "f")


def test_waves_are_found_one_after_the_other():
    given = columns()
    found = find_waves(given, np.sin(20 * given["b"]) + 0.6 * np.sin(33 * given["d"]))
    assert [wave.names for wave in found] == [("b",), ("d",)]
    assert found[1].unexplained < 0.1 < found[0].unexplained


def test_noise_has_no_wave():
    given = columns()
    draws = (np.random.default_rng(seed).normal(size=128) for seed in range(10))
    assert sum(bool(find_waves(given, y)) for y in draws) == 0


def test_columns_with_zeros_and_constant_columns_do_no_harm():
    given = columns()
    given["b"][:5] = 0.0
    given["c"] = np.full(128, 2.0)
    assert find_waves(given, np.sin(9 * given["a"]))[0].names == ("a",)
    assert find_waves({"c": given["c"]}, given["a"]) == []
