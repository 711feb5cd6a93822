"""Polynomials whose terms may have the sine or cosine of an angle."""

import numpy as np
import pytest

from contexts import context_of, problem_of, stages_named, table, values_of
from prunesymnet.operators import DEFAULT
from prunesymnet.search.stages import When
from prunesymnet.search.stages.angles import angles


def proposals(data):
    batches = context_of(data, stages=stages_named("angles")).run(When.LEVEL)
    return [proposal for _, batch in batches for proposal in batch.proposals]


@pytest.mark.parametrize("law", ["sqrt(x**2 + y**2 - 2*x*y*cos(u - v))", "x*y + 3*x*sin(u) - v*cos(u)"])
def test_all_terms_of_a_law_of_sides_and_angles_are_found_at_once(law):
    data = table(law, names="uvxy", rows=130, low=1.0, high=4.0)
    best = min(proposals(data), key=lambda proposal: proposal.unexplained)
    np.testing.assert_allclose(values_of(best, data.columns), data.y, rtol=1e-6)


def test_a_polynomial_and_noise_need_no_angle():
    assert proposals(table("x*y + v**2 + u", names="uvxy", rows=100, low=1.0, high=4.0)) == []
    assert proposals(table("x", noise=1.0, names="uvxy", rows=100, low=1.0, high=4.0)) == []


def test_what_varies_too_little_or_too_much_is_no_angle():
    columns = {"x": np.linspace(0, 0.5, 50), "y": np.linspace(0, 99, 50), "z": np.linspace(1, 4, 50)}
    known = {str(angle.formula) for angle in angles(problem_of(columns, np.linspace(0, 1, 50), DEFAULT))}
    assert "z" in known
    assert not known & {"x", "y"}
