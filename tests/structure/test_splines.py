"""Many spline bases at once."""

import numpy as np
from scipy.interpolate import BSpline

from prunesymnet.structure.splines import DEGREE, basis, knots


def test_a_basis_is_the_one_of_scipy():
    variables = np.random.default_rng(0).normal(size=(3, 40))
    inner = knots(variables, 5)
    found = basis(variables, inner)
    for u, t, columns in zip(variables, inner, found, strict=True):
        whole = np.concatenate([[u.min()] * (DEGREE + 1), t, [u.max()] * (DEGREE + 1)])
        np.testing.assert_allclose(columns, BSpline.design_matrix(u, whole, DEGREE).toarray(), atol=1e-12)


def test_knots_are_closer_at_the_ends_and_a_variable_of_few_values_has_a_basis():
    (inner,) = knots(np.linspace(0, 1, 101)[None], 5)
    steps = np.diff([0.0, *inner, 1.0])
    assert steps[0] < steps[1] < steps[2]
    assert steps[-1] < steps[-2]
    few = np.repeat([1.0, 2.0, 3.0], 10)[None]
    np.testing.assert_allclose(basis(few, knots(few, 5)).sum(axis=2), 1)
