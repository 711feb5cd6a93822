"""Scans against least squares in double precision, pair by pair; what may not change the answer, and what it costs."""

import tracemalloc
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from prunesymnet.bank.bank import grow_bank
from prunesymnet.bank.scan import Question, scan, scan_singles, unexplained
from prunesymnet.bank import scan as module

TOLERANCE = 1e-4
ANSWERS = ("left", "right", "explained")


def fraction_left(target, terms, weights=None):
    """The part of the variation that a constant and the terms leave, by numpy's least squares."""
    root = np.sqrt(np.ones_like(target) if weights is None else weights)
    matrix = np.array([np.ones_like(target), *terms]).T * root[:, None]
    matrix = matrix / np.maximum(np.linalg.norm(matrix, axis=0), 1e-300)
    residual = target * root - matrix @ np.linalg.lstsq(matrix, target * root, rcond=1e-13)[0]
    variation = target * root - root * (target @ root**2) / (root @ root)
    return float(residual @ residual) / float(variation @ variation)


def pool(seed, nodes=24, points=40):
    """Nodes that are not alike, of five complexities, in order."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(nodes, points)), np.sort(rng.integers(1, 6, nodes))


def a_question(seed, values, terms=0, weighted=False):
    """Of a target that has a product of nodes in it, a sum of two, and noise."""
    rng = np.random.default_rng(seed + 1)
    a, b, c, d = rng.integers(0, len(values), 4)
    points = values.shape[1]
    target = values[a] * values[b] + values[c] - 0.7 * values[d] + rng.normal(size=points) + 5
    weights = rng.uniform(0, 1, points) * (rng.uniform(size=points) > 0.2) if weighted else None
    given = rng.normal(size=(terms, points)) + 0.5 * target if terms else None
    return Question(target, given, weights)


def best_by_force(values, complexity, question, products, keep):
    """By complexity, what the `keep` best pairs explain."""
    pairs = combinations_with_replacement(range(len(values)), 2) if products else combinations(range(len(values)), 2)
    found = {}
    for i, j in pairs:
        explained = explained_by(values, question, products, i, j)
        found.setdefault(int(complexity[i] + complexity[j]), []).append(explained)
    return {level: sorted(all_of_it, reverse=True)[:keep] for level, all_of_it in found.items()}


def explained_by(values, question, products, i, j):
    terms = [values[i] * values[j]] if products else [values[i], values[j]]
    given = [] if question.given is None else question.given
    return 1 - fraction_left(question.target, [*given, *terms], question.weights)


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
    question = a_question(seed, values, terms, weighted)
    (found,) = scan(values, complexity, [question], products=products, keep=keep)
    levels = by_level(found, complexity)
    expected = best_by_force(values, complexity, question, products, keep)
    for level, best in expected.items():
        best = [explained for explained in best if explained > 1e-3]
        mine = [(i, j, e) for i, j, e in levels.get(level, []) if products or i != j]
        assert len(levels.get(level, [])) <= keep
        assert len(mine) >= len(best)
        np.testing.assert_allclose([e for _, _, e in mine][: len(best)], best, atol=TOLERANCE)
        for i, j, e in mine:
            assert i <= j
            assert e == pytest.approx(explained_by(values, question, products, i, j), abs=TOLERANCE)


@pytest.mark.parametrize("products", [True, False])
def test_so_they_are_for_the_nodes_of_a_bank(products):
    rng = np.random.default_rng(0)
    columns = {name: rng.uniform(-2, 2, 50) for name in "xy"}
    bank = grow_bank(columns, size=45)
    x, y = columns["x"], columns["y"]
    question = Question(3 * np.sin(x) * y**2 - 1 if products else 2 * np.exp(x) - y**2 + 4)
    (found,) = scan(bank.values, bank.complexity, [question], products=products, keep=1)
    expected = best_by_force(bank.values, bank.complexity, question, products, 1)
    for level, ((i, j, explained),) in by_level(found, bank.complexity).items():
        if i != j or products:
            assert explained == pytest.approx(expected[level][0], abs=2 * TOLERANCE)
    best = int(np.argmax(found.explained))
    trees = {str(bank.expression(int(node))) for node in (found.left[best], found.right[best])}
    assert trees == ({"sin(x)", "y**2"} if products else {"exp(x)", "y**2"})


@given(
    seed=st.integers(0, 10_000),
    count=st.integers(0, 4),
    terms=st.integers(0, 3),
    weighted=st.booleans(),
    scale=st.sampled_from([1.0, 1e-9, 1e9]),
)
@settings(max_examples=60)
def test_what_is_unexplained_is_the_residual_of_least_squares(seed, count, terms, weighted, scale):
    values, _ = pool(seed)
    question = a_question(seed, values, terms, weighted)
    candidates = np.random.default_rng(seed).choice(values * scale, (5, count))
    got = unexplained(candidates, question)
    given_terms = [] if terms == 0 else list(question.given)
    for fraction, candidate in zip(got, candidates, strict=True):
        expected = fraction_left(question.target, [*given_terms, *candidate], question.weights)
        assert fraction == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_terms_that_depend_on_one_another_explain_what_they_do_without():
    values, _ = pool(3)
    target = values[0] + 0.1 * values[1]
    one, twice, with_constant, with_given = unexplained(
        np.array([[values[0], values[0]], [values[0], 2 * values[0]], [values[0], 5 + 0 * values[0]],
                  [values[0], values[2]]]),
        Question(target, values[2:3]),
    )  # fmt: skip
    expected = fraction_left(target, [values[0], values[2]])
    assert [one, twice, with_constant, with_given] == pytest.approx([expected] * 4, rel=1e-9)


def test_an_exact_answer_leaves_nothing_and_a_useless_one_all():
    values, _ = pool(4)
    target = 1e6 + 3 * values[0] * values[1]
    exact, useless = unexplained(np.array([[values[0] * values[1]], [np.ones(40)]]), Question(target))
    assert exact < 1e-16
    assert useless == pytest.approx(1, rel=1e-9)
    assert unexplained(np.full((1, 1, 40), np.nan), Question(target))[0] == pytest.approx(1)


@given(seed=st.integers(0, 10_000), terms=st.integers(0, 3), weighted=st.booleans(), keep=st.integers(1, 6))
@settings(max_examples=30)
def test_the_best_single_nodes_of_each_complexity_are_those_of_least_squares(seed, terms, weighted, keep):
    values, complexity = pool(seed, nodes=60)
    questions = [a_question(seed + k, values, terms if k else 0, weighted) for k in range(3)]
    for question, found in zip(questions, scan_singles(values, complexity, questions, keep=keep), strict=True):
        given_terms = [] if question.given is None else list(question.given)
        exact = np.array([fraction_left(question.target, [*given_terms, node], question.weights) for node in values])
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
    questions = [a_question(k, values, k % 3, weighted=k > 1) for k in range(4)]
    with threadpool_limits(1, user_api="blas"):
        one, two, three = (
            scan(values, complexity, questions, products=products, workers=workers) for workers in (1, 2, 3)
        )
    assert all(len(pairs) for pairs in one)
    assert all(same(a, b) and same(a, c) for a, b, c in zip(one, two, three, strict=True))


@pytest.mark.parametrize("products", [True, False])
@pytest.mark.parametrize("terms", [0, 2])
def test_the_size_of_a_block_does_not_matter(products, terms, monkeypatch):
    values, complexity = pool(1, nodes=100)
    question = a_question(1, values, terms)
    answers = []
    for block in (384, 7, 1):
        monkeypatch.setattr(module, "BLOCK", block)
        answers.append(scan(values, complexity, [question], products=products, keep=4)[0])
    for other in answers[1:]:
        assert np.array_equal(other.left, answers[0].left)
        assert np.array_equal(other.right, answers[0].right)
        np.testing.assert_allclose(other.explained, answers[0].explained, atol=1e-5)


@pytest.mark.parametrize("products", [True, False])
def test_questions_asked_together_are_answered_as_alone(products):
    values, complexity = pool(2, nodes=50)
    questions = [a_question(k, values, k, weighted=k % 2 == 1) for k in range(4)]
    questions.append(Question(questions[0].target, None, questions[1].weights))
    together = scan(values, complexity, questions, products=products)
    for question, answer in zip(questions, together, strict=True):
        (alone,) = scan(values, complexity, [question], products=products)
        assert np.array_equal(alone.left, answer.left)
        assert np.array_equal(alone.right, answer.right)


@pytest.mark.parametrize("products", [True, False])
def test_a_weight_is_a_number_of_rows(products):
    values, complexity = pool(5)
    question = a_question(5, values, terms=1)
    times = np.random.default_rng(5).integers(0, 4, 40)
    assert (times == 0).any()
    weighted = Question(question.target, question.given, times.astype(float))
    repeated = Question(np.repeat(question.target, times), np.repeat(question.given, times, axis=1))
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
    question = a_question(6, values, terms=1)
    (plain,) = scan(values, complexity, [question], products=products, keep=3)
    scales = scale ** np.random.default_rng(0).uniform(0, 1, (len(values), 1)) if scale > 0 else scale
    other = Question(scale * question.target + 3 * scale, question.given / scale)
    (scaled,) = scan(values * scales, complexity, [other], products=products, keep=3)
    assert np.array_equal(plain.left, scaled.left)
    assert np.array_equal(plain.right, scaled.right)
    np.testing.assert_allclose(plain.explained, scaled.explained, atol=1e-5)


# ---- odd questions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("constant", [0.0, 3.0, -1e9])
def test_a_constant_leaves_nothing_to_explain(constant):
    values, complexity = pool(7)
    for given_terms in (None, values[:2]):
        question = Question(np.full(40, constant), given_terms)
        assert unexplained(values[:4][:, None], question) == pytest.approx([0] * 4)
        assert all(left == pytest.approx(0) for _, left in scan_singles(values, complexity, [question], keep=1)[0])


@pytest.mark.parametrize("products", [True, False])
def test_nobody_explains_a_constant(products):
    values, complexity = pool(7)
    (found,) = scan(values, complexity, [Question(np.full(40, 3.0))], products=products)
    assert len(found) == 0


@pytest.mark.parametrize("products", [True, False])
def test_an_empty_pool_has_no_answer(products):
    (found,) = scan(np.zeros((0, 9)), np.zeros(0, dtype=np.int64), [Question(np.arange(9.0))], products=products)
    assert len(found) == 0


def test_nodes_that_are_nowhere_both_nonzero_do_not_hide_the_others():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 60)
    x = rng.uniform(1, 2, 60)
    values = np.array([kind == 0, kind == 1, x], dtype=float)  # 0/1 columns for categories: a*b is nought in every row
    complexity = np.ones(3, dtype=np.int64)
    question = Question(2 * values[0] * x + 1)
    (found,) = scan(values, complexity, [question], keep=1)
    assert (found.left.tolist(), found.right.tolist()) == ([0], [2])
    assert found.explained[0] == pytest.approx(1, abs=TOLERANCE)


def test_a_node_that_is_nought_on_all_rows_that_count_does_not_hide_the_others():
    values, complexity = pool(8)
    weights = np.ones(40)
    weights[:10] = 0
    values[3] = np.where(weights > 0, 0.0, 1.0)
    question = Question(values[0] * values[1] + 2, None, weights)
    for products in (True, False):
        (found,) = scan(values, complexity, [question], products=products, keep=2)
        assert 3 not in found.left[found.explained > 0.9]
        assert found.explained.max() > (0.999 if products else 0.01)
        assert np.isfinite(found.explained).all()


@pytest.mark.parametrize("products", [True, False])
def test_what_the_given_terms_explain_counts_as_explained(products):
    values, complexity = pool(9)
    target = values[0] * values[1] + 0.01 * values[2]
    question = Question(target, (values[0] * values[1])[None])
    (found,) = scan(values, complexity, [question], products=products)
    assert (found.explained > 0.999).all()
    assert len(found)


def test_what_explains_next_to_nothing_is_no_answer():
    rng = np.random.default_rng(0)
    target = rng.normal(size=400)
    values = rng.normal(size=(6, 400))
    basis = np.linalg.qr(np.array([np.ones(400), target]).T)[0]
    values -= (values @ basis) @ basis.T
    (found,) = scan(values, np.ones(6, dtype=np.int64), [Question(target)], products=False)
    assert len(found) == 0


def test_a_scan_needs_room_for_blocks_and_not_for_all_pairs():
    rng = np.random.default_rng(0)
    columns = {name: rng.uniform(-2, 2, 32) for name in "xyz"}
    bank = grow_bank(columns, size=4000)
    question = Question(np.exp(columns["x"]) * columns["y"])
    for products in (True, False):
        tracemalloc.start()
        scan(bank.values, bank.complexity, [question], products=products)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 12 * 2**20  # all pairs in single precision are 64 MiB
