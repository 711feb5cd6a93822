"""Families: their derivatives against finite differences, and grids that follow the values, whatever their unit."""

import numpy as np
import pytest

from prunesymnet.bank.bank import Term
from prunesymnet.bank.families import BENT, LOCATED, SHIFTED_POWERS, SIMPLE, WAVES, family_of, members, orthonormal
from prunesymnet.expression import Variable, evaluate
from prunesymnet.operators import OPERATORS

EVERY = [*SIMPLE, *LOCATED, *SHIFTED_POWERS, *BENT, *WAVES, family_of(OPERATORS["tanh"])]
X = np.linspace(0.3, 4.0, 50)


def named(family):
    return str(family.template)


def node(values=X):
    return Term(values, Variable("x"))


@pytest.mark.parametrize("family", EVERY, ids=named)
def test_derivatives_by_the_constants_inside(family):
    inside = family.grid(X)[3]
    _, slopes = family.program.values_and_jacobian({"g": X}, inside)
    for k, slope in enumerate(slopes):
        step = np.zeros_like(inside)
        step[k] = 1e-6 * max(abs(inside[k]), 1.0)
        up, down = (family.program.values({"g": X}, inside + sign * step) for sign in (1, -1))
        np.testing.assert_allclose((up - down) / (2 * step[k]), slope, rtol=1e-4, atol=1e-6 * np.abs(slope).max())


@pytest.mark.parametrize("unit", [1e-30, 1e-9, 1e12, 1e30])
@pytest.mark.parametrize("family", EVERY, ids=named)
def test_members_are_the_same_in_any_unit(family, unit):
    here, there = members([node()], [family]), members([node(X * unit)], [family])
    assert len(here) == len(there) > 0
    np.testing.assert_allclose(here.basis, there.basis, atol=1e-6)


@pytest.mark.parametrize("family", EVERY, ids=named)
def test_a_members_formula_has_its_values(family):
    found = members([node()], [family])
    for member in (0, len(found) // 2, len(found) - 1):
        values = evaluate(found.expression(member), {"x": X}).values
        first = found.columns[member, 0]
        np.testing.assert_allclose(values / np.abs(values).max(), first, rtol=1e-9, atol=1e-12)


def test_members_that_leave_the_domain_are_left_out():
    signed = node(np.linspace(-2, 2, 40))
    powers = [family for family in SIMPLE if named(family) == "g**1.0"]
    assert not len(members([signed], powers))
    found = members([signed], [*SIMPLE, *LOCATED, *SHIFTED_POWERS, *BENT])
    assert len(found)
    assert np.isfinite(found.columns).all()


def test_groups_are_the_members_of_one_family_and_node():
    found = members([node(), Term(X**2, Variable("x") ** 2)], SIMPLE[:4])
    assert len(found.groups) == 8
    for group in found.groups:
        assert len({*zip(found.family[group].tolist(), found.node[group].tolist(), strict=True)}) == 1
    assert sum(group.stop - group.start for group in found.groups) == len(found)


def test_orthonormal_columns_span_what_the_columns_do():
    columns = np.random.default_rng(0).normal(size=(6, 3, 30))
    columns[2, 2] = columns[2, 0] - columns[2, 1]
    basis = orthonormal(columns)
    for k, (rows, own) in enumerate(zip(columns, basis, strict=True)):
        np.testing.assert_allclose(own @ own.T, np.diag([1.0, 1.0, 0.0 if k == 2 else 1.0]), atol=1e-12)
        np.testing.assert_allclose(rows @ own.T @ own, rows, atol=1e-10)
