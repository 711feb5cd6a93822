"""The constants inside, found from the grid: alone, in products, in sums, in any unit."""

import numpy as np
import pytest

from prunesymnet.bank.bank import Term, grow_bank
from prunesymnet.bank.families import BENT, LOCATED, SHIFTED_POWERS, SIMPLE, members
from prunesymnet.bank.family_fit import refined
from prunesymnet.bank.family_scan import alone, beside_members, beside_nodes, times_nodes
from prunesymnet.bank.query import Query
from prunesymnet.bank.targets import Target
from prunesymnet.expression import Variable

X = np.linspace(0.4, 6.0, 60)
# A member between the points of its grid, for each family: constants inside in units of x.
INSIDE = {
    "exp(1.0*g)": (-0.7,),
    "log(exp(1.0*g) - 1)": (0.9,),
    "log(1 - exp(1.0*g))": (-0.8,),
    "1/(g + 1.0)": (0.9,),
    "1/(g + 1.0)**2": (1.3,),
    "1/sqrt(g + 1.0)": (0.6,),
    "sqrt(g + 1.0)": (0.7,),
    "log(g + 1.0)": (0.5,),
    "1/(1.0 - g)": (7.7,),
    "1/(1.0 - g)**2": (8.1,),
    "1/sqrt(1.0 - g)": (7.1,),
    "sqrt(1.0 - g)": (7.3,),
    "log(1.0 - g)": (6.9,),
    "g**1.0": (2.1,),
    "tanh(1.0*g)": (0.5,),
    "cosh(1.0*g)": (0.6,),
    "sinh(1.0*g)": (0.7,),
    "exp(1.0*(g - 1.0)**2)": (-0.9, 3.3),
    "1/((g - 1.0)**2 + 1.0)": (2.8, 0.7),
    "1/(1 + exp(1.0*(g - 1.0)))": (1.9, 3.1),
    "log(1 + exp(1.0*(g - 1.0)))": (1.7, 2.9),
    "exp(-(1.0*g)**1.0)": (0.3, 1.7),
    "(g + 1.0)**1.0": (0.8, -0.9),
    "(1.0 - g)**1.0": (7.6, -0.9),
    "(1 + exp(1.0*(g - 1.0)))**1.0": (1.4, 3.1),
}


def best(found, hits, bank):
    after = refined(hits, found, bank)
    k = int(np.argmin(after.unexplained))
    return after.unexplained[k], after.terms(k)


@pytest.mark.parametrize("unit", [1.0, 1e-20, 1e25])
@pytest.mark.parametrize("family", [*SIMPLE, *LOCATED, *SHIFTED_POWERS, *BENT], ids=lambda family: str(family.template))
def test_the_constants_of_a_member_are_found(family, unit):
    inside = INSIDE[str(family.template)]
    inside += tuple(1.1 * family.grid(X)[0, len(inside) :])  # near the one that it has for all its members
    truth = family.program.values({"g": X}, np.array(inside))
    found = members([Term(X * unit, Variable("x"))], [family])
    bank = grow_bank({"x": X}, size=4)
    left, _ = best(found, alone(found, [Query(Target.of(3 - 2 * truth))]), bank)
    assert left < 1e-9


def test_products_and_sums_with_a_node():
    z = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    bank = grow_bank({"z": z}, size=6)
    found = members([Term(X, Variable("x"))], SIMPLE[:1])
    for scan, truth in ((times_nodes, 2 + 5 * z * np.exp(-1.1 * X)), (beside_nodes, 1 - 3 * z**2 + np.exp(-1.1 * X))):
        left, (member,) = best(found, scan(found, bank, Query(Target.of(truth))), bank)
        assert left < 1e-15
        np.testing.assert_allclose(member.values, np.exp(-1.1 * X), rtol=1e-6)


def test_two_members_at_once():
    found = members([Term(X, Variable("x"))], SIMPLE[:1])
    asked = Query(Target.of(3 * np.exp(-2.1 * X) + 2 * np.exp(-0.3 * X)))
    left, terms = best(found, beside_members(found, asked), grow_bank({"x": X}, size=4))
    assert left < 1e-15
    assert len(terms) == 2


def test_a_start_is_never_made_worse_and_nothing_is_asked_of_nothing():
    found = members([Term(X, Variable("x"))], [*SIMPLE, *LOCATED])
    bank = grow_bank({"x": X}, size=4)
    asked = Query(Target.of(np.random.default_rng(1).normal(size=len(X))))
    after = refined(alone(found, [asked]), found, bank)
    assert (after.unexplained >= 0).all()
    assert (after.unexplained <= 1 + 1e-9).all()
    assert all(np.isfinite(member.values).all() for k in range(len(after.hits)) for member in after.terms(k))
    assert not len(refined([], found, bank).unexplained)
