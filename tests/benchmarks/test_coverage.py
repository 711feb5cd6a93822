"""The benchmark that counts how often intervals hold the truth."""

import numpy as np
import pytest

from benchmarks import coverage, record
from prunesymnet.coefficients import fit
from prunesymnet.equations import Equation
from prunesymnet.expression import parse

MADE_BY = {"commit": "abc1234"}
LINE, DECAY = coverage.LAWS[:2]


def test_there_are_ten_laws_each_with_its_own_noise():
    assert len({law.name for law in coverage.LAWS}) == 10
    assert {*coverage.SEARCHED} < {law.name for law in coverage.LAWS}
    draws = [law.draw(seed, 3, new=new).tolist() for law in coverage.LAWS for seed in (0, 1) for new in (True, False)]
    assert len({tuple(draw) for draw in draws}) == 40


@pytest.mark.parametrize("law", coverage.LAWS, ids=lambda law: law.name)
def test_intervals_of_a_known_form_hold_the_truth_about_as_often_as_they_say(law):
    row = coverage.known(law, repeats=60)
    for share in (*row["constants"], row["curve"], row["measurement"]):
        assert 0.85 < share <= 1  # 0.95 less three standard errors of 60


def test_a_formula_has_the_right_form_if_it_can_be_the_law():
    data = DECAY.table(0)
    right = Equation.of(fit(parse("4.0*exp(-0.5*x) + 1.2"), data), data)
    np.testing.assert_allclose(coverage.true_constants(right, DECAY, data), [5.0, -0.7, 1.0], rtol=1e-6)
    assert coverage.true_constants(Equation.of(fit(parse("1.0*x + 1.0"), data), data), DECAY, data) is None


def test_a_search_is_judged_by_what_it_found():
    row = coverage.searched(LINE, repeats=1, max_fits=20)
    assert row["repeats"] == 1
    assert row["right_form"] in (0, 1)
    assert (row["constants"] is None) == (row["right_form"] == 0)
    table = coverage.summary([coverage.known(LINE, repeats=2) | MADE_BY, row | MADE_BY])
    assert "line: `2.0*x + 1.0`" in table
    assert "1 searches of 20 fits each, commit abc1234" in table


def test_measured_intervals_hold_the_truth_in_93_to_97_percent():
    rows = [row for row in record.read("coverage") if row["what"] == "known form"]
    assert {row["law"] for row in rows} == {law.name for law in coverage.LAWS}
    for row in rows:
        assert row["repeats"] == 1000
        for share in (*row["constants"], row["curve"], row["measurement"]):
            assert coverage.LEAST <= share <= coverage.MOST, row["law"]
