"""Interval arithmetic: no value, slope or bend at a point of a box lies outside of the box's bounds."""

import numpy as np
import pytest

from prunesymnet.expression import evaluate, parse
from prunesymnet.expression.intervals import bounds
from prunesymnet.operators import OPERATORS, make_operator

FORMULAS = [
    "x*exp(-x)", "sin(3*x)*z/(1 + x**2)", "sqrt(x + 6)*tanh(z)", "log(x**2 + 1.5)**3", "(x + 6)**1.5", "(x + 7)**z",
    "cosh(x)/(2 + cos(z*x))", "atan(x)*erf(z)", "1/(x + 7) - x/(z + 8)", "asin(x/8) + acos(z/9)", "tan(x/20)",
    "sinh(x)*pi - inv(x + 9)", "-id(x)**3", "(x - z)**(-2)", "abs(x) - max(x, z)*min(x, z)", "x**4 - x**(-3)",
]  # fmt: skip
STEP = 1e-4  # of the differences that the derivatives are compared with


@pytest.mark.parametrize("text", FORMULAS)
def test_nothing_in_a_box_lies_outside_its_bounds(text):
    rng, formula = np.random.default_rng(0), parse(text)
    low = rng.uniform(-5, 4, (200, 2))
    wide = rng.uniform(0, 1, (200, 2))
    found = bounds(formula, {"x": (low[:, 0], (low + wide)[:, 0]), "z": (low[:, 1], (low + wide)[:, 1])}, by="x")
    for _ in range(5):
        points = low + wide * rng.uniform(0.05, 0.95, (200, 2))

        def at(off, points=points):
            return evaluate(formula, {"x": points[:, 0] + off, "z": points[:, 1]}).values

        slope, bend = (at(STEP) - at(-STEP)) / (2 * STEP), (at(STEP) - 2 * at(0) + at(-STEP)) / STEP**2
        for bound, value, digits in zip(found, (at(0), slope, bend), (1e-9, 1e-4, 1e-2), strict=True):
            if "abs" in text and digits > 1e-9:
                continue  # differences across an edge are no derivatives
            room = digits * (1 + np.abs(value))
            known = np.isfinite(value) & np.isfinite(bound.low) & np.isfinite(bound.high)
            assert ((value >= bound.low - room) & (value <= bound.high + room))[known].all()


def test_every_operator_is_known_and_a_users_own_is_not():
    box = {"x": (np.array([0.2]), np.array([0.3])), "z": (np.array([0.4]), np.array([0.45]))}
    for name, row in OPERATORS.items():
        call = {0: name, 1: f"{name}(x)"}.get(row.arity) or (f"x {name} z" if name in "+-*/" else f"{name}(x, z)")
        assert np.isfinite(bounds(parse(call), box).value.low).all(), name
    own = make_operator("doubled", lambda v: 2 * v)
    assert bounds(parse("doubled(x)", operators=[own]), box).value.low == -np.inf


def test_bounds_are_unknown_where_a_domain_may_be_left():
    box = {"x": (np.array([-1.0, 1.0]), np.array([1.0, 2.0]))}
    for text in ("log(x)", "1/x", "sqrt(x)", "x**0.5", "asin(x - 1.5)"):
        known = np.isfinite(bounds(parse(text), box).value.low)
        assert known.tolist() == [False, True], text
