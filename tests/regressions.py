"""Regressions for the tests of scans, and plain least squares to compare their answers with."""

import numpy as np

from prunesymnet.bank.regression import Regression


def fraction_left(target, terms, weights=None):
    """The part of the variation that a constant and the terms leave, by numpy's least squares."""
    root = np.sqrt(np.ones_like(target) if weights is None else weights)
    matrix = np.array([np.ones_like(target), *terms]).T * root[:, None]
    matrix = matrix / np.maximum(np.linalg.norm(matrix, axis=0), 1e-300)
    residual = target * root - matrix @ np.linalg.lstsq(matrix, target * root, rcond=1e-13)[0]
    variation = target * root - root * (target @ root**2) / (root @ root)
    return float(residual @ residual) / float(variation @ variation)


def fixed_terms_of(regression):
    return [] if regression.fixed_terms is None else list(regression.fixed_terms)


def pool(seed, nodes=24, points=40):
    """Nodes that are not alike, of five complexities, in order."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(nodes, points)), np.sort(rng.integers(1, 6, nodes))


def a_regression(seed, values, terms=0, weighted=False):
    """Of a target that has a product of nodes in it, a sum of two, and noise."""
    rng = np.random.default_rng(seed + 1)
    a, b, c, d = rng.integers(0, len(values), 4)
    points = values.shape[1]
    target = values[a] * values[b] + values[c] - 0.7 * values[d] + rng.normal(size=points) + 5
    weights = rng.uniform(0, 1, points) * (rng.uniform(size=points) > 0.2) if weighted else None
    fixed = rng.normal(size=(terms, points)) + 0.5 * target if terms else None
    return Regression(target, fixed, weights)
