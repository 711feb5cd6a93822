"""What members explain, by matrix products: against least squares, one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prunesymnet.bank.bank import Term, grow_bank
from prunesymnet.bank.families import LOCATED, SIMPLE, members
from prunesymnet.bank.family_scan import alone, beside_members, beside_nodes, terms_of, times_nodes
from prunesymnet.bank.query import Query
from prunesymnet.bank.targets import Target
from prunesymnet.expression import Variable
from regressions import fraction_left

X = np.linspace(0.2, 5.0, 60)
NODE = Term(X, Variable("x"))
FOUND = members([NODE], [*SIMPLE[:4], *LOCATED[:1]])
BANK = grow_bank({"x": X}, size=12)
FIXED = (Term(X**2, Variable("x") ** 2),)
NEAR = 1e-6  # columns that nearly depend on one another are left out, so the sums differ a little


def query(seed, fixed=()):
    rng = np.random.default_rng(seed)
    target = np.exp(-rng.uniform(0.1, 2) * X) + rng.normal(size=len(X)) / 5 + X
    return Query(Target.of(target, rng.uniform(0.5, 2, len(X))), fixed)


def left(asked, *columns):
    fixed = [term.values for term in asked.fixed_terms]
    return fraction_left(asked.target.values, [*fixed, *columns], asked.target.weights)


@given(seed=st.integers(0, 1000), fixed=st.booleans())
@settings(max_examples=10, deadline=None)
def test_a_member_alone_leaves_what_least_squares_leaves(seed, fixed):
    asked = query(seed, FIXED if fixed else ())
    hits = alone(FOUND, [asked])
    assert len(hits) >= len(FOUND.groups)
    for hit in hits:
        least = min(left(asked, *FOUND.columns[k]) for k in range(*_group(hit.members[0]).indices(len(FOUND))))
        assert hit.unexplained == pytest.approx(least, abs=NEAR)


@given(seed=st.integers(0, 1000), fixed=st.booleans())
@settings(max_examples=5, deadline=None)
def test_products_and_sums_with_nodes_leave_what_least_squares_leaves(seed, fixed):
    asked = query(seed, FIXED if fixed else ())
    for hit in times_nodes(FOUND, BANK, asked)[:20]:
        group = _group(hit.members[0])
        node = BANK.values[hit.node]
        least = min(left(asked, *(FOUND.columns[k] * node)) for k in range(group.start, group.stop))
        assert hit.unexplained == pytest.approx(least, abs=NEAR)
    for hit in beside_nodes(FOUND, BANK, asked)[:20]:
        group = _group(hit.members[0])
        node = BANK.values[hit.node]
        least = min(left(asked, node, *FOUND.columns[k]) for k in range(group.start, group.stop))
        assert hit.unexplained == pytest.approx(least, abs=NEAR)


def test_sums_of_two_members():
    asked = Query(Target.of(3 * np.exp(-2.1 * X) + 2 * np.exp(-0.3 * X)))
    found = members([NODE], SIMPLE[:1])
    (hit,) = beside_members(found, asked)
    one, two = (found.inside[k, 0] for k in hit.members)
    assert sorted([one, two]) == pytest.approx([-2.1, -0.3], rel=0.6)
    assert hit.unexplained == pytest.approx(
        left(asked, *found.columns[list(hit.members)].reshape(-1, len(X))), abs=NEAR
    )


def test_the_terms_of_an_answer():
    member = Term(np.exp(-X), Variable("e"))
    asked = query(0)
    (product, *_), (together, *_) = times_nodes(FOUND, BANK, asked), beside_nodes(FOUND, BANK, asked)
    (times,) = terms_of(product, [member], BANK)
    np.testing.assert_allclose(times.values, np.exp(-X) * BANK.values[product.node])
    assert [str(term.expression) for term in terms_of(together, [member], BANK)] == [
        "e", str(BANK.expression(together.node))
    ]  # fmt: skip
    assert terms_of(alone(FOUND, [asked])[0], [member], BANK) == [member]


def _group(member):
    return next(group for group in FOUND.groups if group.start <= member < group.stop)
