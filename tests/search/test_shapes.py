"""Shapes: what samples refuse, what is proven, and what a search does with them."""

from dataclasses import replace

import numpy as np
import pytest

from models import PATIENT, SHORTCUTS
from prunesymnet.data import make_dataset
from prunesymnet.errors import NothingFoundError
from prunesymnet.expression import parse
from prunesymnet.search import Constraints, search
from prunesymnet.search.shapes import BY_ALGEBRA, PROVEN, SAMPLED, Shape, Shapes

BOX = {"x": (0.0, 4.0), "z": (-1.0, 1.0)}


@pytest.mark.parametrize(
    ("shape", "formula", "how"),
    [
        ("increasing in x", "x*exp(z) + 1", PROVEN),
        ("increasing in x", "x**2*(4.5 - x)**2", None),
        ("decreasing in z", "x*exp(-z)", PROVEN),
        ("convex in x", "x**2 + z", PROVEN),
        ("convex in x", "x**3 - 0.1*x**2", None),
        ("concave in x", "sqrt(x + 1)*2", PROVEN),
        ("positive", "x**2*z**2", PROVEN),
        ("negative", "-exp(z)", PROVEN),
        ("positive", "x - 0.001", None),
        ("above 1", "1 + x*exp(z)", PROVEN),
        ("below 2", "x/(1 + x)", PROVEN),
        ("between 0 and 1", "tanh(x)", PROVEN),
        ("between 0 and 1", "tanh(2*z)", None),
        ("even in z", "x*cos(z) + z**2", BY_ALGEBRA),
        ("odd in z", "sin(z)*x - z**3", BY_ALGEBRA),
        ("odd in z", "sin(z) + x", None),
        ("0 at x = 0", "x*exp(z)/(x + 1)", BY_ALGEBRA),
        ("1 at x = 0, z = 0", "cos(x + z)", BY_ALGEBRA),
        ("0 at x = 0", "x + 0.01*z", None),
        ("limit 0 at x = inf", "exp(-x)*z", PROVEN),
        ("limit 2 at x = inf", "2*x/(x + exp(z))", SAMPLED),
        ("limit 2 at x = inf", "2*x/(x + 1) + 1e-9*x", None),
        ("limit inf at x = inf", "x*exp(z)", SAMPLED),
        ("limit 1 at x = 0", "sin(x)/x", SAMPLED),
    ],
)
def test_what_is_known_of_a_formula(shape, formula, how):
    (verdict,) = Shapes.of([shape], BOX).verdicts(parse(formula))
    assert (verdict.how if verdict.holds else None) == how
    assert (Shapes.of([shape], BOX).broken_by(parse(formula)) is None) or how is None


def test_intervals_find_what_samples_miss():
    """A dent so narrow that no sample lies in it."""
    shapes = Shapes.of(["positive"], {"x": (0.0, 4.0)})
    dent = parse("(x - 1.2345)**2 - 1e-5")
    assert shapes.broken_by(dent) is None
    (verdict,) = shapes.verdicts(dent)
    assert not verdict.holds
    assert "interval arithmetic" in verdict.how


def test_a_formula_without_a_value_in_the_box_has_no_shape():
    assert Shapes.of(["increasing in x"], {"x": (-1.0, 1.0)}).broken_by(parse("log(x)"))


def test_sentences_are_read_as_they_are_written():
    assert Shape.read("0 at x=0,y = -1.5").point == {"x": 0.0, "y": -1.5}
    assert Shape.read("  limit  1   at x=inf").text == "limit 1 at x = inf"


def saturating(rows=50):
    rng = np.random.default_rng(3)
    x = rng.uniform(0.2, 5, rows)
    return make_dataset(x, 3 * x / (x + 0.8) + 0.15 * rng.normal(size=rows), names=["x"])


def test_every_formula_of_a_search_has_the_shapes_and_says_how_that_is_known():
    rules = Constraints(shape=("increasing in x", "0 at x = 0"), box={"x": (0, 10)})
    found = search(saturating(), replace(PATIENT, constraints=rules, max_fits=20))
    for equation in found.front:
        assert len(equation.shape) == 2
        assert np.diff(equation.predict({"x": np.linspace(0, 10, 200)})).min() >= -1e-6
        assert equation.predict({"x": [0.0]})[0] == pytest.approx(0, abs=1e-5)


def test_a_value_that_is_known_is_fitted():
    """Of a straight line through noise, no fit goes through a point by itself."""
    x = np.linspace(1, 5, 20)
    table = make_dataset(x, 2 * x + np.sin(9 * x), names=["x"])
    rules = Constraints(shape=("1 at x = 0",), box={"x": (0, 5)})
    found = search(table, replace(SHORTCUTS, constraints=rules, max_complexity=5))
    assert found.best.expression.variables == ("x",)
    assert found.front.best.predict({"x": [0.0]})[0] == pytest.approx(1, abs=1e-5)


def test_what_no_formula_can_have_is_said():
    rules = Constraints(shape=("increasing in x", "decreasing in x", "above 100"))
    with pytest.raises(NothingFoundError):
        search(saturating(), replace(SHORTCUTS, constraints=rules))
    with pytest.raises(ValueError, match="constraints shape 'z', which is no column"):
        search(saturating(), replace(SHORTCUTS, constraints=Constraints(shape=("convex in z",))))


def test_a_value_may_be_asked_for_at_a_point_that_no_whole_number_is():
    shapes = Shapes.of(["1 at x = 1e20"], {"x": (0.0, 1e21)})
    assert len(shapes.verdicts(parse("x/1e20"))) == 1
