"""Scans against least squares in double precision, pair by pair; what may not change the answer, and what it costs."""

import tracemalloc
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from prunesymnet.bank import scan as module
from prunesymnet.bank.bank import grow_bank
from prunesymnet.bank.regression import Regression, unexplained
from prunesymnet.bank.scan import scan, scan_singles
from regressions import a_regression, fixed_terms_of, fraction_left, pool

TOLERANCE = 1e-4
ANSWERS = ("left", "right", "explained")


def best_by_force(values, complexity, regression, products, keep):
    """By complexity, what the `keep` best pairs explain."""
    pairs = combinations_with_replacement(range(len(values)), 2) if products else combinations(range(len(values)), 2)
    found = {}
    for i, j in pairs:
        explained = explained_by(values, regression, products, i, j)
        found.setdefault(int(complexity[i] + complexity[j]), []).append(explained)
    return {level: sorted(all_of_it, reverse=True)[:keep] for level, all_of_it in found.items()}


def explained_by(values, regression, products, i, j):
    terms = [values[i] * values[j]] if products else [values[i], values[j]]
    return 1 - fraction_left(regression.target, [*fixed_terms_of(regression), *terms], regression.weights)


def by_level(pairs, complexity):
    levels = {}
    for i, j, explained in zip(pairs.left, pairs.right, pairs.explained, strict=True):
        levels.setdefault(int(complexity[i] + complexity[j]), []).append((int(i), int(j), float(explained)))
    return levels


def same(one, two):
    return all(np.array_equal(getattr(one, name), getattr(two, name)) for name in ANSWERS)


# ---- against least squares ----------------------------------------------------------------------------


@pytest.mark.parametrize("products", [True, False])
@given(seed=st.integers(0, 10_000), terms=st.integers(0, 3), weighted=st.booleans(), keep=st.integers(1, 6))
@settings(max_examples=12)
def test_the_best_pairs_of_each_complexity_are_those_of_least_squares(products, seed, terms, weighted, keep):
    values, complexity = pool(seed)
    regression = a_regression(seed, values, terms, weighted)
    (found,) = scan(values, complexity, [regression], products=products, keep=keep)
    levels = by_level(found, complexity)
    expected = best_by_force(values, complexity, regression, products, keep)
    for level, best in expected.items():
        best = [explained for explained in best if explained > 1e-3]
        mine = [(i, j, e) for i, j, e in levels.get(level, []) if products or i != j]
        assert len(levels.get(level, [])) <= keep
        assert len(mine) >= len(best)
        np.testing.assert_allclose([e for _, _, e in mine][: len(best)], best, atol=TOLERANCE)
        for i, j, e in mine:
            assert i <= j
            assert e == pytest.approx(explained_by(values, regression, products, i, j), abs=TOLERANCE)


@pytest.mark.parametrize("products", [True, False])
def test_so_they_are_for_the_nodes_of_a_bank(products):
    rng = np.random.default_rng(0)
    columns = {name: rng.uniform(-2, 2, 50) for name in "xy"}
    bank = grow_bank(columns, size=45)
    x, y = columns["x"], columns["y"]
    regression = Regression(3 * np.sin(x) * y**2 - 1 if products else 2 * np.exp(x) - y**2 + 4)
    (found,) = scan(bank.values, bank.complexity, [regression], products=products, keep=1)
    expected = best_by_force(bank.values, bank.complexity, regression, products, 1)
    for level, ((i, j, explained),) in by_level(found, bank.complexity).items():
        if i != j or products:
            assert explained == pytest.approx(expected[level][0], abs=2 * TOLERANCE)
    best = int(np.argmax(found.explained))
    trees = {str(bank.expression(int(node))) for node in (found.left[best], found.right[best])}
    assert trees == ({"sin(x)", "y**2"} if products else {"exp(x)", "y**2"})


@given(seed=st.integers(0, 10_000), terms=st.integers(0, 3), weighted=st.booleans(), keep=st.integers(1, 6))
@settings(max_examples=30)
def test_the_best_single_nodes_of_each_complexity_are_those_of_least_squares(seed, terms, weighted, keep):
    values, complexity = pool(seed, nodes=60)
    regressions = [a_regression(seed + k, values, terms if k else 0, weighted) for k in range(3)]
    for regression, found in zip(regressions, scan_singles(values, complexity, regressions, keep=keep), strict=True):
        fixed, target, weights = fixed_terms_of(regression), regression.target, regression.weights
        exact = np.array([fraction_left(target, [*fixed, node], weights) for node in values])
        for node, left in found:
            assert left == pytest.approx(exact[node], rel=1e-9)
        for level in set(complexity.tolist()):
            mine = sorted(left for node, left in found if complexity[node] == level)
            best = np.sort(exact[complexity == level])[:keep]
            np.testing.assert_allclose(mine, best, atol=TOLERANCE)


# ---- what may not change the answer -------------------------------------------------------------------


@pytest.mark.parametrize("products", [True, False])
def test_any_number_of_workers_gives_the_same_answer(products, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 20)
    values, complexity = pool(0, nodes=300)
    regressions = [a_regression(k, values, k % 3, weighted=k > 1) for k in range(4)]
    with threadpool_limits(1, user_api="blas"):
        one, two, three = (
            scan(values, complexity, regressions, products=products, workers=workers) for workers in (1, 2, 3)
        )
    assert all(len(pairs) for pairs in one)
    assert all(same(a, b) and same(a, c) for a, b, c in zip(one, two, three, strict=True))


@pytest.mark.parametrize("products", [True, False])
@pytest.mark.parametrize("terms", [0, 2])
def test_the_size_of_a_block_does_not_matter(products, terms, monkeypatch):
    values, complexity = pool(1, nodes=60)
    regression = a_regression(1, values, terms)
    answers = []
    for block in (384, 7, 1):
        monkeypatch.setattr(module, "BLOCK", block)
        answers.append(scan(values, complexity, [regression], products=products, keep=4)[0])
    for other in answers[1:]:
        assert np.array_equal(other.left, answers[0].left)
        assert np.array_equal(other.right, answers[0].right)
        np.testing.assert_allclose(other.explained, answers[0].explained, atol=1e-5)


@pytest.mark.parametrize("products", [True, False])
def test_regressions_asked_together_are_answered_as_alone(products):
    values, complexity = pool(2, nodes=50)
    regressions = [a_regression(k, values, k, weighted=k % 2 == 1) for k in range(4)]
    regressions.append(Regression(regressions[0].target, None, regressions[1].weights))
    together = scan(values, complexity, regressions, products=products)
    for regression, answer in zip(regressions, together, strict=True):
        (alone,) = scan(values, complexity, [regression], products=products)
        assert np.array_equal(alone.left, answer.left)
        assert np.array_equal(alone.right, answer.right)


@pytest.mark.parametrize("products", [True, False])
def test_a_weight_is_a_number_of_rows(products):
    values, complexity = pool(5)
    regression = a_regression(5, values, terms=1)
    times = np.random.default_rng(5).integers(0, 4, 40)
    assert (times == 0).any()
    weighted = Regression(regression.target, regression.fixed_terms, times.astype(float))
    repeated = Regression(np.repeat(regression.target, times), np.repeat(regression.fixed_terms, times, axis=1))
    wide = np.repeat(values, times, axis=1)
    (mine,), (theirs,) = (
        scan(values, complexity, [weighted], products=products, keep=2),
        scan(wide, complexity, [repeated], products=products, keep=2),
    )
    np.testing.assert_allclose(mine.explained, theirs.explained, atol=1e-5)
    assert np.array_equal(mine.left, theirs.left)
    np.testing.assert_allclose(
        unexplained(values[:5][:, None], weighted), unexplained(wide[:5][:, None], repeated), rtol=1e-9
    )
    one, two = scan_singles(values, complexity, [weighted])[0], scan_singles(wide, complexity, [repeated])[0]
    assert dict(one) == pytest.approx(dict(two), rel=1e-9)


@pytest.mark.parametrize("products", [True, False])
@pytest.mark.parametrize("scale", [1e-6, 1e6, -1.0])
def test_units_do_not_matter(products, scale):
    values, complexity = pool(6)
    regression = a_regression(6, values, terms=1)
    (plain,) = scan(values, complexity, [regression], products=products, keep=3)
    scales = scale ** np.random.default_rng(0).uniform(0, 1, (len(values), 1)) if scale > 0 else scale
    other = Regression(scale * regression.target + 3 * scale, regression.fixed_terms / scale)
    (scaled,) = scan(values * scales, complexity, [other], products=products, keep=3)
    assert np.array_equal(plain.left, scaled.left)
    assert np.array_equal(plain.right, scaled.right)
    np.testing.assert_allclose(plain.explained, scaled.explained, atol=1e-5)


# ---- odd regressions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("constant", [0.0, 3.0, -1e9])
def test_a_constant_leaves_nothing_to_explain(constant):
    values, complexity = pool(7)
    for fixed in (None, values[:2]):
        regression = Regression(np.full(40, constant), fixed)
        assert unexplained(values[:4][:, None], regression) == pytest.approx([0] * 4)
        assert all(left == pytest.approx(0) for _, left in scan_singles(values, complexity, [regression], keep=1)[0])


@pytest.mark.parametrize("products", [True, False])
def test_nobody_explains_a_constant(products):
    values, complexity = pool(7)
    (found,) = scan(values, complexity, [Regression(np.full(40, 3.0))], products=products)
    assert len(found) == 0


@pytest.mark.parametrize("products", [True, False])
def test_an_empty_pool_has_no_answer(products):
    (found,) = scan(np.zeros((0, 9)), np.zeros(0, dtype=np.int64), [Regression(np.arange(9.0))], products=products)
    assert len(found) == 0


def test_nodes_that_are_nowhere_both_nonzero_do_not_hide_the_others():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 60)
    x = rng.uniform(1, 2, 60)
    values = np.array([kind == 0, kind == 1, x], dtype=float)  # 0/1 columns for categories: a*b is nought in every row
    complexity = np.ones(3, dtype=np.int64)
    regression = Regression(2 * values[0] * x + 1)
    (found,) = scan(values, complexity, [regression], keep=1)
    assert (found.left.tolist(), found.right.tolist()) == ([0], [2])
    assert found.explained[0] == pytest.approx(1, abs=TOLERANCE)


def test_a_node_that_is_nought_on_all_rows_that_count_does_not_hide_the_others():
    values, complexity = pool(8)
    weights = np.ones(40)
    weights[:10] = 0
    values[3] = np.where(weights > 0, 0.0, 1.0)
    regression = Regression(values[0] * values[1] + 2, None, weights)
    for products in (True, False):
        (found,) = scan(values, complexity, [regression], products=products, keep=2)
        assert 3 not in found.left[found.explained > 0.9]
        assert found.explained.max() > (0.999 if products else 0.01)
        assert np.isfinite(found.explained).all()


@pytest.mark.parametrize("products", [True, False])
def test_what_the_fixed_terms_explain_counts_as_explained(products):
    values, complexity = pool(9)
    target = values[0] * values[1] + 0.01 * values[2]
    regression = Regression(target, (values[0] * values[1])[None])
    (found,) = scan(values, complexity, [regression], products=products)
    assert (found.explained > 0.999).all()
    assert len(found)


def test_what_explains_next_to_nothing_is_no_answer():
    rng = np.random.default_rng(0)
    target = rng.normal(size=400)
    values = rng.normal(size=(6, 400))
    basis = np.linalg.qr(np.array([np.ones(400), target]).T)[0]
    values -= (values @ basis) @ basis.T
    (found,) = scan(values, np.ones(6, dtype=np.int64), [Regression(target)], products=False)
    assert len(found) == 0


def test_a_scan_needs_room_for_blocks_and_not_for_all_pairs():
    rng = np.random.default_rng(0)
    columns = {name: rng.uniform(-2, 2, 32) for name in "xyz"}
    bank = grow_bank(columns, size=4000)
    regression = Regression(np.exp(columns["x"]) * columns["y"])
    for products in (True, False):
        tracemalloc.start()
        scan(bank.values, bank.complexity, [regression], products=products)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 12 * 2**20  # all pairs in single precision are 64 MiB
