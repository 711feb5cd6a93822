"""Problems in other units and beside unrelated columns: what is changed, and that it is judged as if nothing were."""

import doctest

import numpy as np
import pytest

from benchmarks.problems import load, units
from benchmarks.problems.units import (
    FURTHEST,
    Units,
    draw_units,
    in_own_units,
    in_units,
    read_again,
    with_unrelated,
)
from benchmarks.recovery import recovered
from benchmarks.rejudge import judged
from benchmarks.trial import Trial, find, in_the_problems_units, judge, stopping, tables
from prunesymnet.expression import canonical, evaluate, parse


def trial(**changes):
    return Trial("ours", "textbook", "michaelis-menten", points=60, seed=4, **changes)


def test_the_examples_in_the_docstrings():
    assert not doctest.testmod(units).failed


def test_units_are_powers_of_ten_that_the_seed_decides():
    names = tuple("abcdefgh")
    drawn = draw_units(names, 3)
    powers = np.log10([*drawn.columns.values(), drawn.target])
    assert np.allclose(powers, np.round(powers), atol=1e-9)
    assert (np.abs(powers) <= FURTHEST).all()
    assert len(set(powers)) > 5
    assert drawn == draw_units(names, 3)
    assert drawn != draw_units(names, 4)


def test_a_table_in_other_units_is_the_same_times_these():
    problem = find(trial())
    assert problem is not None
    plain, _ = tables(trial(), problem)
    other, fresh = tables(trial(other_units=True), problem)
    drawn = draw_units(plain.names, 4)
    assert other.columns["S"] == pytest.approx(plain.columns["S"] * drawn.columns["S"], rel=1e-12)
    assert other.y == pytest.approx(plain.y * drawn.target, rel=1e-12)
    assert fresh.y == pytest.approx(problem.sample(2000, 10_007).y)
    assert in_units(other, drawn.inverse()).y == pytest.approx(plain.y, rel=1e-12)


def test_what_is_found_in_other_units_is_judged_in_those_of_the_problem():
    asked = trial(other_units=True)
    problem = find(asked)
    assert problem is not None
    _, fresh = tables(asked, problem)
    drawn = draw_units(("S",), asked.seed)
    column, target = drawn.columns["S"], drawn.target
    right = parse(f"{212.7 * target!r}*S/(S + {0.0641 * column!r})")
    wrong = parse(f"{212.7 * target!r}*S/(S + {0.07 * column!r})")
    for found, wanted in ((right, True), (wrong, False)):
        judged = judge(problem, in_the_problems_units(asked, problem, found), fresh)
        assert judged["recovered"] is wanted
        assert judged["form"] is True
    assert judge(problem, in_the_problems_units(trial(), problem, right), fresh)["recovered"] is False


@pytest.mark.parametrize("problem", load("textbook"), ids=lambda problem: problem.name)
def test_a_law_in_other_units_and_back_is_the_law(problem):
    drawn = draw_units(problem.formula.variables, 1)
    there = in_own_units(problem.formula, drawn.inverse())
    back = canonical(in_own_units(there, drawn))
    data = problem.sample(60, 1)
    assert evaluate(back, data.columns).values == pytest.approx(data.y, rel=1e-6)
    assert evaluate(there, in_units(data, drawn).columns).values == pytest.approx(data.y * drawn.target, rel=1e-6)


def test_unrelated_columns_stand_beside_those_that_matter():
    problem = find(trial())
    assert problem is not None
    plain, _ = tables(trial(), problem)
    more, fresh = tables(trial(unrelated=10), problem)
    assert len(more.names) == 11
    assert more.columns["S"].tolist() == plain.columns["S"].tolist()
    assert more.y.tolist() == plain.y.tolist()
    sizes = [np.abs(values).max() for name, values in more.columns.items() if name != "S"]
    assert max(sizes) / min(sizes) > 1e10
    found = parse("212.7*S/(S + 0.0641) + 0.0*unrelated1", variables=more.names)
    assert judge(problem, parse("212.7*S/(S + 0.0641)"), fresh)["recovered"] is True
    assert not judge(problem, found + parse("unrelated2"), fresh).get("recovered")
    assert with_unrelated(plain, 0, 4) is plain


def test_formulas_with_unrelated_columns_and_of_other_units_can_be_judged_again():
    law = "212.7*S/(S + 0.0641)"
    row = trial(unrelated=2).__dict__ | {"formula": f"{law} + 0.5*unrelated1", "recovered": False, "form": False}
    assert judged(row)["recovered"] is False
    assert judged(row | {"formula": law})["recovered"] is True
    assert judged(trial(other_units=True).__dict__ | {"formula": law})["recovered"] is True


def test_units_of_one_change_nothing():
    formula = parse("2.5*x + y")
    assert in_own_units(formula, Units({"x": 1.0, "y": 1.0}, 1.0)) == formula


def test_points_that_say_when_to_stop_are_given_alike():
    asked = Trial("paper", "textbook", "michaelis-menten", points=60, seed=4, other_units=True, unrelated=2)
    problem = find(asked)
    data, _ = tables(asked, problem)
    fresh = stopping(asked, problem)["fresh"]
    assert fresh.names == data.names
    assert np.median(fresh.y / data.y) == pytest.approx(1, abs=0.3)


def test_what_only_rounding_keeps_from_being_short_is_read_as_short():
    fresnel = next(problem for problem in load("textbook") if problem.name == "fresnel")
    text = "1.0*(n2**2 + 1.0*n1*(n1 - 1.9999999999999998*n2))/(n2**2 + 1.0*n1*(n1 + 1.9999999999999998*n2))"
    assert not recovered(fresnel, parse(text))
    assert recovered(fresnel, read_again(parse(text)))
    assert read_again(parse("1.0001*x + 2.5")) == parse("1.0001*x + 2.5")
