"""Linear columns beside a smooth function."""

import numpy as np

from prunesymnet.structure.smooth import LinearPart
from prunesymnet.structure.splines import basis, knots


def test_what_is_left_is_that_of_plain_least_squares():
    rng = np.random.default_rng(0)
    x, y, z = rng.uniform(1, 3, (3, 60))
    target, weights = np.exp(x * y) + z + rng.normal(size=60), rng.uniform(0.1, 1, 60)
    linear = [np.ones(60), x, y, z]
    variables = np.array([x, x * y, y / z])
    part = LinearPart.of(target, weights, linear)
    found = part.left_by_curves(variables, 4)
    root = np.sqrt(weights)
    for variable, share in zip(variables, found, strict=True):
        curve = basis(variable[None], knots(variable[None], 4))[0]
        lefts = []
        for columns in (np.column_stack(linear), np.column_stack([*linear, curve])):
            solved = np.linalg.lstsq(columns * root[:, None], target * root, rcond=None)[0]
            lefts.append(np.sum((target * root - columns * root[:, None] @ solved) ** 2))
        np.testing.assert_allclose(share, lefts[1] / lefts[0], rtol=1e-6)
        np.testing.assert_allclose(part.with_columns(curve).left, lefts[1] / weights.sum(), rtol=1e-6)


def test_what_linear_columns_explain_leaves_nothing_to_a_smooth_function():
    x = np.linspace(1, 2, 40)
    part = LinearPart.of(np.zeros(40), np.ones(40), [np.ones(40), x])
    assert part.left_by_curves(np.array([x]), 4).tolist() == [1.0]
