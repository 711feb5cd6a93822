"""The rivals' formulas, as we write them, say what they said."""

import numpy as np
import pytest

from benchmarks.methods import NAMES, method
from prunesymnet.data import make_dataset
from prunesymnet.expression import evaluate

X = np.random.default_rng(0).uniform(1, 3, (60, 2))
DATA = make_dataset(X, X[:, 0] * X[:, 1] + X[:, 0], names=["a", "b"])
NEEDS = {"ours": "prunesymnet", "operon": "pyoperon", "gplearn": "gplearn"}


@pytest.mark.parametrize("name", NAMES)
def test_a_method_finds_a_simple_formula_in_a_second(name):
    pytest.importorskip(NEEDS[name])
    values, finite = evaluate(method(name)(DATA, 1.0, 0), DATA.columns)
    assert finite.all()
    assert np.corrcoef(values, DATA.y)[0, 1] > 0.95


def test_an_unknown_method_is_named():
    with pytest.raises(ValueError, match="must be one of ours, operon, gplearn, got 'eureqa'"):
        method("eureqa")
