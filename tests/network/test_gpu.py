"""The same numbers on a GPU; skipped where there is none."""

import numpy as np
import pytest
import torch

from prunesymnet.data import make_dataset
from prunesymnet.network import Network
from prunesymnet.network.activation import backward, forward
from prunesymnet.network.training import Trainer, TrainingSettings
from prunesymnet.search import ExhaustiveSettings, SearchSettings, search
from torch_network import initial_weights, input_rows

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")

X = np.random.default_rng(0).uniform(-5, 5, (64, 2))
DATA = make_dataset(X, X[:, 0] * X[:, 1] / 2, names=["x", "y"], target="t")


def test_the_way_forward_and_back_is_the_same():
    network = Network(("x", "y"), layers=3)
    weights = initial_weights(network, 5, 0, dtype=torch.float64)
    inputs = input_rows(network, DATA.columns, dtype=torch.float64)
    upstream = torch.randn(5, 64, dtype=torch.float64)
    here = forward(np, weights.numpy(), inputs.numpy(), network.rows, network.sizes)
    there = forward(torch, weights.cuda(), inputs.cuda(), network.rows, network.sizes)
    np.testing.assert_allclose(there[0].cpu().numpy(), here[0], rtol=1e-9)
    np.testing.assert_array_equal(there[3].cpu().numpy(), here[3])
    ours = backward(np, upstream.numpy(), weights.numpy(), here[1], here[2], network.rows, network.sizes)
    theirs = backward(torch, upstream.cuda(), weights.cuda(), there[1], there[2], network.rows, network.sizes)
    np.testing.assert_allclose(theirs.cpu().numpy(), ours, rtol=1e-6, atol=1e-6 * np.abs(ours).max())


def test_training_stays_finite_and_learns():
    trainer = Trainer(Network(DATA.names), DATA, TrainingSettings(restarts=16, device="cuda"))
    first = trainer.step()
    for _ in range(200):
        last = trainer.step()
        assert bool(torch.isfinite(last).all())
    assert bool(torch.isfinite(trainer.weights).all())
    assert float(last.median()) < float(first.median())


def test_an_exhaustive_search_finds_the_formula():
    settings = SearchSettings(exhaustive=ExhaustiveSettings(device="cuda", without=("power_law", "polynomials")))
    assert str(search(DATA, settings).best.expression) == "x*y/2"


def test_a_search_finds_the_formula():
    settings = SearchSettings(pruner="beam", max_epochs=400, training=TrainingSettings(restarts=4, device="cuda"))
    assert str(search(DATA, settings).best.expression) == "x*y/2"
