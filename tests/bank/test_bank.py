"""The bank: each node against its own formula, what is in it, and what may not be."""

import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from prunesymnet.bank.bank import LARGEST, RECIPROCAL, grow_bank
from prunesymnet.bank.limits import NodeLimits
from prunesymnet.expression import Apply, evaluate, postorder
from prunesymnet.operators import DEFAULT, OPERATORS, PAPER, UNNESTED, make_operator
from prunesymnet.units import TableUnits, is_sound

ALL = tuple(OPERATORS)
BUMP = make_operator("bump", lambda u: 1 / (1 + u * u))


def columns_of(names="xy", seed=0, points=24, low=-2.0, high=3.0):
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(low, high, points) for name in names}


def texts(bank):
    return [str(bank.expression(node)) for node in range(len(bank))]


def operators_in(tree):
    return {node.operator.name for node in postorder(tree) if isinstance(node, Apply)}


def check(bank, columns):
    """Each node is what its formula says, on finite values of ordinary size that vary, in order of complexity."""
    for node in range(len(bank)):
        values, finite = evaluate(bank.expression(node), columns)
        assert finite.all()
        np.testing.assert_allclose(bank.values[node], values, rtol=1e-12, err_msg=str(bank.expression(node)))
    assert (np.diff(bank.complexity) >= 0).all()
    largest = np.abs(bank.values).max(axis=1)
    assert ((largest > 1 / LARGEST) & (largest < LARGEST)).all()
    assert (np.ptp(bank.values, axis=1) > 1e-8 * largest).all()


def directions(values):
    """Of length one: nodes that are equal up to a factor are the same or opposite."""
    scaled = values / np.abs(values).max(axis=1, keepdims=True)
    return scaled / np.linalg.norm(scaled, axis=1, keepdims=True)


def repeated(bank, within=1e-11):
    """Pairs of nodes that are equal up to a factor."""
    unit = directions(bank.values)
    both = cKDTree(np.concatenate([unit, -unit])).query_pairs(within)
    return {tuple(sorted((i % len(unit), j % len(unit)))) for i, j in both}


def node_like(bank, values):
    """The simplest node that is `values` up to a factor, or None."""
    cosine = directions(bank.values) @ directions(values[None])[0]
    alike = np.flatnonzero(np.abs(cosine) > 1 - 1e-12)
    return int(alike[0]) if len(alike) else None


# ---- nodes and formulas -------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 10_000),
    names=st.sampled_from(["x", "xy", "xyz"]),
    operators=st.sampled_from([PAPER, ALL, ("+", "*"), ("-", "/", "exp"), ("sqrt", "log", "-"), (*PAPER, BUMP)]),
    low=st.sampled_from([-4.0, -2.0, 0.1]),
    points=st.sampled_from([3, 8, 40]),
    size=st.integers(1, 150),
)
@settings(max_examples=40)
def test_a_node_has_the_values_of_its_formula(seed, names, operators, low, points, size):
    columns = columns_of(names, seed, points, low)
    bank = grow_bank(columns, operators, size)
    assert len(names) <= len(bank) <= max(size, len(names))
    check(bank, columns)
    allowed = {row if isinstance(row, str) else row.name for row in operators} | {"neg"}
    for node in range(len(bank)):
        assert operators_in(bank.expression(node)) <= allowed


@given(
    seed=st.integers(0, 10_000),
    steps=st.lists(st.sampled_from(["with_reciprocals", "first"]), min_size=1, max_size=4),
)
@settings(max_examples=25)
def test_it_stays_so_when_nodes_are_added_and_left_out(seed, steps):
    columns = columns_of("xy", seed)
    bank = grow_bank(columns, size=60)
    for step in steps:
        before = len(bank)
        if step == "with_reciprocals":
            bank = bank.with_reciprocals()
            assert len(bank) >= before
        else:
            bank = bank.first(before // 2)
            assert before // 2 <= len(bank) <= before
        check(bank, columns)


def test_a_node_is_as_complex_as_its_formula():
    columns = columns_of(low=0.2)
    bank = grow_bank(columns, ALL, size=500)
    for node in range(len(bank)):
        tree = bank.expression(node)
        if not bank.flipped[node] and "neg" not in operators_in(tree):
            assert bank.complexity[node] == tree.complexity, str(tree)


def test_three_rows_make_a_bank_too():
    columns = columns_of("xy", points=3)
    bank = grow_bank(columns, size=300).with_reciprocals()
    assert len(bank) > 100
    check(bank, columns)


# ---- what is in it ------------------------------------------------------------------------------------


@pytest.mark.parametrize("operators", [PAPER, ALL, ("+", "-", "*", "abs", "sqrt")])
@pytest.mark.parametrize("low", [-2.0, 0.3])
def test_no_two_nodes_are_equal_up_to_a_factor(operators, low):
    bank = grow_bank(columns_of(low=low), operators, 2000)
    assert len(bank) == 2000
    assert repeated(bank) == set()


def test_a_reciprocal_repeats_only_what_is_more_complex():
    bank = grow_bank(columns_of(low=0.3), size=1000).with_reciprocals()
    pairs = repeated(bank)
    assert pairs
    for one, two in pairs:
        assert bank.operator[one] == RECIPROCAL
        assert bank.complexity[one] < bank.complexity[two]


@pytest.mark.parametrize("operators", [PAPER, ("-", "*", "/", "sqrt", "square"), ("*", "square", BUMP)])
def test_whatever_the_operators_make_of_simpler_nodes_is_in_it(operators):
    """Up to a factor, one by one, as far as it is finite and varies."""
    bank = grow_bank(columns_of(low=0.3), operators, 400, unnested=())
    complete = bank.complexity[-1] - 1
    units = directions(bank.values)
    inside = cKDTree(np.concatenate([units, -units]))
    nodes = list(zip(bank.complexity, bank.values, strict=True))
    constant = [(1, np.ones(24))]
    made = []
    for row in bank.table:
        operands = [(node,) for node in nodes]
        if row.arity == 2:
            with_one = constant if row.name in ("+", "-", "/") else []
            operands = [(one, two) for one in with_one + nodes for two in nodes]
        with np.errstate(all="ignore"):
            made += [
                row.numpy(*(values for _, values in chosen)) for chosen in operands
                if row.cost + sum(complexity for complexity, _ in chosen) <= complete
            ]  # fmt: skip
    made = np.array(made)
    largest = np.abs(made).max(axis=1)
    made = made[(largest > 2 / LARGEST) & (largest < LARGEST / 2) & (np.ptp(made, axis=1) > 1e-6 * largest)]
    assert len(made) > 200
    assert inside.query(directions(made))[0].max() < 1e-7


def test_without_a_square_a_node_may_be_multiplied_by_itself():
    columns = columns_of()
    bank = grow_bank(columns, ("+", "*"), 400)
    assert node_like(bank, columns["x"] ** 2) is not None
    assert node_like(bank, (columns["x"] + columns["y"]) ** 2) is not None


def test_reciprocals_of_all_that_stays_clear_of_zero_are_as_simple_as_what_they_are_of():
    bank = grow_bank(columns_of(), size=150)
    wider = bank.with_reciprocals()
    count = 0
    for node in range(len(bank)):
        values = bank.values[node]
        if np.abs(values).min() > 1e-6:
            found = node_like(wider, 1 / values)
            assert found is not None, str(bank.expression(node))
            assert wider.complexity[found] <= bank.complexity[node]
            count += 1
    assert count > 100


def test_the_simplest_nodes_are_the_first():
    bank = grow_bank(columns_of("xyz"), size=300).with_reciprocals()
    assert texts(bank.first(100)) == texts(bank)[:100]
    assert texts(bank.first(10_000)) == texts(bank)


def test_a_smaller_bank_is_the_beginning_of_a_larger():
    columns = columns_of()
    assert texts(grow_bank(columns, size=80)) == texts(grow_bank(columns, size=500))[:80]


def test_a_constant_column_is_no_node():
    columns = {"one": np.full(20, 3.0), **columns_of("x", points=20)}
    assert "one" not in " ".join(texts(grow_bank(columns, size=50)))
    nothing = grow_bank({"one": np.full(20, 3.0)}, size=50)
    assert len(nothing) == len(nothing.with_reciprocals()) == len(nothing.first(5)) == 0


def test_what_varies_or_differs_by_a_millionth_does_so():
    x = np.linspace(-1, 1, 20)
    columns = {"x": 1 + 1e-6 * x, "y": 1 + 1e-9 * x, "z": x, "w": x + 1e-6 * x**2, "v": x + 1e-13 * x**2}
    assert texts(grow_bank(columns, (), 9)) == ["x", "z", "w"]


# ---- what may not be ----------------------------------------------------------------------------------


def test_a_bank_is_no_larger_than_asked_for():
    columns = columns_of("xyz")
    for size in (1, 3, 4, 57, 1000):
        assert len(grow_bank(columns, size=size)) == max(size, 3)


def test_a_bank_fits_into_the_memory_asked_for():
    columns = columns_of("xyz", points=128)
    tracemalloc.start()
    bank = grow_bank(columns, size=10**7, memory=0.01)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.9 * 0.01 * 2**30 < bank.values.nbytes <= 0.01 * 2**30
    assert peak < 4 * 0.01 * 2**30


def test_what_overflows_or_leaves_its_domain_is_no_node():
    bank = grow_bank({"x": np.linspace(-900, 900, 25)}, (*PAPER, "sqrt"), 400)
    found = texts(bank)
    assert "x**2" in found
    assert "sin(x)" in found
    assert np.isfinite(bank.values).all()
    assert not {"exp(x)", "log(x)", "log(-x)", "sqrt(x)", "sqrt(-x)", "1/x"} & set(found)


def test_what_has_a_domain_is_applied_to_the_negative_where_that_is_in_it():
    found = texts(grow_bank({"x": np.linspace(-3, -1, 9)}, ("log", "sqrt", "-", "*"), 100))
    assert "log(-x)" in found
    assert "sqrt(-x)" in found
    assert not {"log(x)", "sqrt(x)"} & set(found)


def test_a_users_operator_is_not_applied_outside_of_its_domain():
    root = make_operator("root", lambda u: np.sqrt(np.abs(u)), domain=lambda u: u >= 0)
    found = texts(grow_bank({"x": np.linspace(-1, 2, 9)}, ("+", root), 5))
    assert not {"root(x)", "root(-x)"} & set(found)


def test_operators_that_may_not_be_nested_are_not():
    def nested(tree):
        return any(
            isinstance(node, Apply)
            and node.operator.name in UNNESTED
            and any(operators_in(child) & set(UNNESTED) for child in node.operands)
            for node in postorder(tree)
        )

    columns = columns_of(low=0.3)
    strict, free = grow_bank(columns, size=1500), grow_bank(columns, size=1500, unnested=())
    assert not any(nested(strict.expression(node)) for node in range(len(strict)))
    assert any(nested(free.expression(node)) for node in range(len(free)))
    for node in range(len(strict)):
        assert strict.nested[node] == bool(operators_in(strict.expression(node)) & set(UNNESTED))


def test_operators_are_applied_to_many_nodes_at_a_time():
    calls = []
    counted = make_operator("counted", lambda u: calls.append(len(np.atleast_1d(u))) or 1 / (1 + u * u))
    calls.clear()
    assert len(grow_bank(columns_of("xyz", low=0.5), ("+", "*", counted), size=10_000)) == 10_000
    assert len(calls) < 100  # and not one for each node


# ---- operators of one's own ---------------------------------------------------------------------------


def test_a_users_operators_make_nodes_as_ours_do():
    gap = make_operator("gap", lambda u, v: np.abs(u - v) + u, cost=1)
    columns = columns_of()
    bank = grow_bank(columns, (BUMP, gap), 60)
    found = texts(bank)
    assert {"bump(x)", "gap(x, y)", "gap(y, x)", "bump(gap(x, y))"} <= set(found)
    check(bank, columns)


def test_an_operator_may_be_dear():
    dear = make_operator("dear", lambda u: 1 / (1 + u * u), cost=5)
    assert "dear(x)" in texts(grow_bank(columns_of("x"), [dear], 5))


def test_an_operator_may_be_free():
    free = make_operator("free", lambda u: 1 / (1 + u * u), cost=0)
    assert "free(x)" in texts(grow_bank(columns_of("x"), ["+", free], 5))


def test_on_a_grid_no_column_is_taken_for_another():
    levels = np.meshgrid(*[np.linspace(1, 3, 4)] * 3, indexing="ij")
    columns = {name: level.reshape(-1) for name, level in zip("xyz", levels, strict=True)}
    bank = grow_bank(columns, PAPER, 60)
    kept = {str(bank.expression(node)) for node in bank.different(bank.algebraic_nodes())}
    assert {"x", "y", "z"} <= kept
    assert "1 + x" not in kept  # x plus a constant


def test_monomials_are_the_products_and_quotients_of_columns():
    bank = grow_bank(columns_of(low=0.3), ("+", "*", "/", "sin"), 200)
    found = {str(bank.expression(node)) for node in bank.monomials()}
    assert {"x", "y", "x*y", "x/y", "y/x"} <= found
    for node in bank.monomials():
        assert operators_in(bank.expression(node)) <= {"*", "/"}
        assert "1/" not in str(bank.expression(node))


def test_a_node_is_a_term():
    bank = grow_bank(columns_of(), size=20)
    values, expression = bank.term(7)
    np.testing.assert_array_equal(values, bank.values[7])
    assert expression == bank.expression(7)


def test_no_node_breaks_a_limit_and_others_take_its_place():
    columns = {"x": np.linspace(0.5, 2.0, 20), "z": np.linspace(2.0, 0.1, 20) ** 2}
    limits = NodeLimits(max_uses={"exp": 1, "log": 0}, max_nested={"sqrt": {"exp": 0}, "sin": {"tanh": 0}})
    bank = grow_bank(columns, ("+", "*", "exp", "log", "sin", "tanh", "sqrt"), 600, limits=limits)
    texts = [str(bank.expression(node)) for node in range(len(bank))]
    assert len(bank) == 600
    assert all(text.count("exp(") <= 1 and "log(" not in text for text in texts)
    assert not any(re.search(r"sin\([^)]*tanh", text) for text in texts)
    assert any("exp(" in text for text in texts)


def test_costs_put_nodes_in_another_order():
    bank = grow_bank({"x": np.linspace(0.5, 2.0, 20)}, ("+", "exp", "sin"), 4, limits=NodeLimits(costs={"sin": 1}))
    assert [str(bank.expression(node)) for node in range(2)] == ["x", "sin(x)"]


def test_with_dimensions_only_sound_nodes_are_made():
    units = TableUnits.of({"x": "m", "t": "s"}, ("x", "t", "n"), "y", constants=False)
    columns = dict(zip("xtn", np.random.default_rng(0).uniform(1, 2, (3, 30)), strict=True))
    bank = grow_bank(columns, DEFAULT, 300, dimensions=units.dimensions)
    assert len(bank) == 300
    assert all(is_sound(bank.expression(node), units) for node in range(len(bank)))
    texts = {str(bank.expression(node)) for node in range(len(bank))}
    assert {"x/t", "sqrt(x)", "1 + n", "sin(n)"} <= texts
    every = grow_bank(columns, DEFAULT, 300)
    assert (bank.complexity < 5).sum() < (every.complexity < 5).sum()  # so there is room for more
