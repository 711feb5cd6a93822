"""Scans of a GPU against double precision, pair by pair. What the kernels compute, PyTorch computes here on the CPU,
with the same rough numbers; tests of the kernels themselves are skipped where there is no GPU."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from prunesymnet.bank import gpu, query
from prunesymnet.bank.bank import grow_bank
from prunesymnet.bank.gpu import Placed, scan_placed, scan_singles_placed
from prunesymnet.bank.query import Query, Scanner
from prunesymnet.bank.regression import Regression, Residual
from prunesymnet.bank.scan import CANCELLED, scan_singles
from prunesymnet.bank.targets import Target
from regressions import a_regression, pool

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
RNG = np.random.default_rng(0)
COLUMNS = {name: RNG.uniform(-3, 5, 60) for name in "xy"}
X, Y = COLUMNS.values()
BANK = grow_bank(COLUMNS, size=150).with_reciprocals()
NOISE = RNG.normal(size=60)
REGRESSIONS = [
    Regression(np.sin(X) * Y**2 + 1),  # exact
    Regression(np.exp(X / 3) * np.sqrt(Y + 4) + 0.01 * NOISE),  # smooth: many pairs explain nearly all
    Regression(NOISE),
    Regression(np.log(np.abs(X * Y) + 1) + X, np.array([X, Y])),
    Regression(X * Y + np.cos(X), np.array([X]), RNG.uniform(0, 1, 60)),
    Regression(1000 + NOISE, np.array([X**k for k in range(1, 6)])),
]


def gains(values, regression, products):
    """What every pair explains of what the fixed terms leave, by the formulas of `bank/scan.py` in double precision."""
    residual = Residual.of(regression)
    root, basis = residual.root, residual.basis[1:]
    target = residual.values / np.linalg.norm(residual.values)
    with np.errstate(all="ignore"):
        if products:
            nodes = values / np.sqrt((values * values) @ root**2)[:, None]
            size = (nodes**2 * root**2) @ (nodes**2).T
            spread = np.maximum(size - ((nodes * root**2) @ nodes.T) ** 2, CANCELLED * size)
            for q in basis:
                spread = spread - ((nodes * (q * root)) @ nodes.T) ** 2
            out = ((nodes * (target * root)) @ nodes.T) ** 2 / np.maximum(spread, CANCELLED * size)
        else:
            nodes = values * root
            nodes = nodes - np.outer(nodes @ root, root)
            nodes = nodes / np.linalg.norm(nodes, axis=1)[:, None]
            parts = nodes @ basis.T
            size = np.clip(1 - (parts**2).sum(axis=1), CANCELLED, 1.0)
            u, alike = nodes @ target, nodes @ nodes.T - parts @ parts.T
            above = np.outer(u**2, size) + np.outer(size, u**2) - 2 * np.outer(u, u) * alike
            out = above / np.maximum(np.outer(size, size) - alike**2, CANCELLED)
    return np.where(out <= 2, out, 0.0)


def best_of_each(values, complexity, regression, products, keep):
    """By complexity, what the `keep` best pairs explain, in double precision."""
    gain, found = gains(values, regression, products), {}
    explained = Residual.of(regression).explained
    i, j = np.triu_indices(len(values))
    size = complexity[i] + complexity[j]
    for level in np.unique(size):
        best = np.sort(gain[i, j][size == level])[::-1][:keep]
        found[int(level)] = explained + (1 - explained) * best
    return found


def check(found, bank, regressions, products, keep, tolerance=1e-9):
    for pairs, regression in zip(found, regressions, strict=True):
        expected = best_of_each(bank.values, bank.complexity, regression, products, keep)
        size = bank.complexity[pairs.left] + bank.complexity[pairs.right]
        assert (pairs.left <= pairs.right).all()
        assert len(set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))) == len(pairs)
        for level, best in expected.items():
            best = best[best > Residual.of(regression).explained + 2e-6]
            mine = pairs.explained[size == level]
            assert len(mine) <= keep
            np.testing.assert_allclose(mine[: len(best)], best, rtol=0, atol=tolerance)


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def small_tiles(monkeypatch):
    """So many tiles that most need not be looked at."""
    monkeypatch.setattr(gpu, "TILE", 8)
    monkeypatch.setattr(gpu, "STRIP", 16)
    monkeypatch.setattr(gpu, "FIRST_LOOK", 2)
    monkeypatch.setattr(gpu, "AT_A_TIME", 50)


@pytest.mark.parametrize("products", [True, False])
@pytest.mark.parametrize("precision", ["tf32", "bf16x3", "float32"])
def test_the_best_pairs_are_those_of_double_precision(products, precision, small_tiles):
    placed = Placed.of(BANK.values, BANK.complexity, "cpu", filters=(precision,))
    found = scan_placed(placed, REGRESSIONS, products=products, keep=4)
    check(found, BANK, REGRESSIONS, products, 4)


@pytest.mark.parametrize("products", [True, False])
def test_so_they_are_of_random_nodes_with_weights(products, small_tiles):
    for seed in range(6):
        values, complexity = pool(seed, nodes=60)
        bank = replace(BANK, values=values, complexity=complexity)
        regression = a_regression(seed, values, terms=seed % 3, weighted=seed % 2 == 1)
        check(scan_placed(Placed.of(values, complexity, "cpu"), [regression], products=products, keep=3),
              bank, [regression], products, 3)  # fmt: skip


def tile_maxima(scores, placed, targets):
    left, right = placed.sides
    every = [torch.full((len(left),), k) for k in range(targets)]
    found = [scores.exact(which.to(left.device), left.long(), right.long()) for which in every]
    return torch.stack([torch.where(gain <= 2, gain, 0.0).amax(dim=(1, 2)) for gain in found])


@pytest.mark.parametrize("precision", ["tf32", "bf16x3", "float32"])
def test_no_pair_of_a_tile_explains_more_than_its_bound(precision, small_tiles):
    placed = Placed.of(BANK.values, BANK.complexity, "cpu")
    residuals = [Residual.of(regression) for regression in REGRESSIONS[:4]]
    for scores in (gpu._Products.of(placed, residuals), *(gpu._Sums.of(placed, [one]) for one in residuals)):
        count = len(residuals) if isinstance(scores, gpu._Products) else 1
        assert (tile_maxima(scores, placed, count) <= scores.bounds(precision)).all()


def test_the_rougher_the_filter_the_more_is_looked_at(small_tiles, monkeypatch):
    looked, look = [], gpu._look
    monkeypatch.setattr(gpu, "MANY", 0)
    monkeypatch.setattr(gpu, "_look", lambda *args: (looked.append(len(args[3])), look(*args))[1])
    counts = {}
    for filters in (("tf32",), ("float32",), ("tf32", "float32")):
        looked.clear()
        placed = Placed.of(BANK.values, BANK.complexity, "cpu", filters=filters)
        scan_placed(placed, REGRESSIONS[1:2], products=True, keep=4)
        counts[filters] = sum(looked)
    tiles = len(placed.sides[0])
    assert counts["float32",] < counts["tf32",]
    assert counts["float32",] < tiles / 2  # the filter leaves most of them out
    assert counts["tf32", "float32"] <= counts["tf32",]  # where too much is left, the next filter says


@pytest.mark.parametrize("products", [True, False])
def test_less_memory_changes_nothing(products, small_tiles):
    one, two = (
        scan_placed(Placed.of(BANK.values, BANK.complexity, "cpu", memory), REGRESSIONS[3:5], products=products, keep=3)
        for memory in (1.0, 1e-3)
    )
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a.explained, b.explained, atol=1e-12)
        assert a.left.tolist() == b.left.tolist()


def test_a_target_that_does_not_vary_has_no_answers():
    for products in (True, False):
        placed = Placed.of(BANK.values, BANK.complexity, "cpu")
        (found,) = scan_placed(placed, [Regression(np.full(60, 3.0))], products=products)
        assert not len(found)


def test_single_nodes_are_those_of_the_cpu(small_tiles):
    for memory in (1.0, 1e-5):
        placed = Placed.of(BANK.values, BANK.complexity, "cpu", memory)
        found = scan_singles_placed(placed, REGRESSIONS, keep=3)
        for mine, theirs in zip(found, scan_singles(BANK.values, BANK.complexity, REGRESSIONS, keep=3), strict=True):
            assert len(mine) == len(theirs)
            np.testing.assert_allclose(sorted(e for _, e in mine), sorted(e for _, e in theirs), atol=1e-5)


def test_a_scanner_puts_large_banks_on_the_gpu(monkeypatch):
    monkeypatch.setattr(query, "device_of", lambda device: "cpu:0" if device == "auto" else device)
    used = []
    monkeypatch.setattr(
        query, "scan_placed", lambda *args, **rest: (used.append("pairs"), scan_placed(*args, **rest))[1]
    )
    monkeypatch.setattr(
        query,
        "scan_singles_placed",
        lambda *args, **rest: (used.append("singles"), scan_singles_placed(*args, **rest))[1],
    )
    asked = [Query(Target(X * Y, np.ones(60)))]

    def answers(device):
        scanner = Scanner(keep=2, device=device)
        found = [*scanner.pairs(asked, BANK).proposals, *scanner.singles(asked, BANK).proposals]
        return sorted(round(one.unexplained, 6) for one in found), scanner

    here, _ = answers("cpu")
    small, _ = answers("auto")
    assert not used  # the bank is too small to pay
    monkeypatch.setattr(query, "PAIRED_ON_GPU", 1)
    monkeypatch.setattr(query, "TRIED_ON_GPU", 1)
    monkeypatch.setattr(query, "AUTO", 1)
    there, scanner = answers("auto")
    assert used == ["pairs", "pairs", "singles"]
    assert here == small == there
    assert scanner.placed(BANK) is scanner.placed(BANK)  # it is put there once


# ---- on a GPU -----------------------------------------------------------------------------------------


@needs_gpu
@pytest.mark.parametrize("precision", ["tf32", "bf16x3"])
def test_the_kernels_compute_what_pytorch_does(precision):
    placed = Placed.of(BANK.values, BANK.complexity, "cuda")
    plain = replace(placed, fused=False)
    residuals = [Residual.of(regression) for regression in REGRESSIONS[:4]]
    groups = [(gpu._Products, residuals[:3]), (gpu._Products, residuals), *((gpu._Sums, [one]) for one in residuals)]
    for kind, some in groups:
        ours, theirs = (kind.of(one, some).bounds(precision) for one in (placed, plain))
        assert float((ours - theirs).abs().median()) < placed.off(precision)  # where nodes are nearly alike, more
        assert (tile_maxima(kind.of(placed, some), placed, len(some)) <= ours).all()


@needs_gpu
@pytest.mark.parametrize("products", [True, False])
def test_the_best_hundred_on_a_gpu_are_those_of_double_precision(products):
    bank = grow_bank(COLUMNS, size=1500).with_reciprocals()
    found = scan_placed(Placed.of(bank.values, bank.complexity, "cuda"), REGRESSIONS, products=products, keep=100)
    check(found, bank, REGRESSIONS, products, 100, tolerance=1e-7)


@needs_gpu
def test_a_scan_keeps_to_its_memory():
    bank = grow_bank(COLUMNS, size=60_000)
    memory = 0.25
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    placed = Placed.of(bank.values, bank.complexity, "cuda", memory)
    for products in (True, False):
        scan_placed(placed, REGRESSIONS, products=products, keep=5)
    assert torch.cuda.max_memory_allocated() - before < memory * 2**30
