"""Random formulas: the same from the same seed, graded, drawn from boxes where they are defined, and recoverable."""

from collections import Counter

import numpy as np
import pytest

from benchmarks import run
from benchmarks.problems import load
from benchmarks.problems.random_formulas import GRADES, LARGEST, POSITIVE, VARIABLES, WIDE, draw
from benchmarks.recovery import operations, recovered
from benchmarks.trial import find
from prunesymnet.expression import evaluate, fingerprint, to_text

SEED = 1  # the seeds of releases are not looked at, not even by a test
PROBLEMS = load(f"random-{SEED}")


def test_there_are_eight_for_each_number_of_variables_and_each_grade():
    kinds = Counter(tuple(problem.name.split("-")[2:4]) for problem in PROBLEMS)
    assert kinds == {(f"{v}v", f"grade{g}"): 8 for v in VARIABLES for g in GRADES}
    assert len({problem.name for problem in PROBLEMS}) == len(PROBLEMS) == 200
    for problem in PROBLEMS:
        variables, grade = (int(part.strip("vgrade")) for part in problem.name.split("-")[2:4])
        assert len(problem.formula.variables) == variables, problem.name
        assert operations(problem.formula) >= 0.75 * (variables + grade), problem.name


def test_the_seed_alone_says_which_they_are():
    again = draw(seed=SEED)
    assert [to_text(a.formula) for a in again] == [to_text(b.formula) for b in PROBLEMS]
    assert [a.ranges for a in again] == [b.ranges for b in PROBLEMS]
    few = {problem.name: problem.formula for problem in draw(25, seed=SEED)}
    assert few == {problem.name: problem.formula for problem in PROBLEMS if problem.name in few}
    others = {fingerprint(problem.formula) for problem in draw(seed=SEED + 1)}
    assert len(others - {fingerprint(problem.formula) for problem in PROBLEMS}) > 180


def test_no_two_have_the_same_values():
    assert len({fingerprint(problem.formula) for problem in PROBLEMS}) == len(PROBLEMS)


@pytest.mark.parametrize("box", [WIDE, POSITIVE])
def test_points_can_be_drawn_from_the_box(box):
    chosen = [problem for problem in PROBLEMS if box in problem.ranges.values()]
    assert len(chosen) >= 20
    for problem in chosen:
        assert set(problem.ranges.values()) == {box}
        data = problem.sample(128, 3)
        assert np.isfinite(data.y).all()
        assert 1 / LARGEST < np.abs(data.y).max() < 100 * LARGEST, problem.name  # a pole may lie between the probes
        assert np.std(data.y) > 0.005 * np.sqrt(np.mean(data.y**2)), problem.name
        points = np.random.default_rng(4).uniform(*box, (500, data.features)).T
        assert evaluate(problem.formula, dict(zip(data.names, points, strict=True))).finite.mean() > 0.8, problem.name


def test_where_the_box_is_wide_nothing_stands_in_the_way():
    for problem in PROBLEMS:
        if WIDE in problem.ranges.values():
            points = np.random.default_rng(5).uniform(*WIDE, (500, len(problem.formula.variables))).T
            columns = dict(zip(problem.formula.variables, points, strict=True))
            assert evaluate(problem.formula, columns).finite.mean() > 0.98, problem.name


def test_every_variable_matters():
    for problem in PROBLEMS:
        data = problem.sample(512, 6)
        for name, column in data.columns.items():
            values, finite = evaluate(problem.formula, data.columns | {name: np.roll(column, 1)})
            change = (values - data.y)[finite]
            assert np.sqrt(np.mean(change**2)) > 0.002 * np.std(data.y), (problem.name, name)


def test_the_true_formula_is_recovered_and_another_is_not():
    for problem, other in zip(PROBLEMS[::8], PROBLEMS[1::8], strict=True):  # of the same kind
        assert recovered(problem, problem.formula), problem.name
        assert not recovered(problem, other.formula), problem.name


def test_a_count_that_is_not_the_same_for_all_kinds_is_named():
    with pytest.raises(ValueError, match="count must be a multiple of 25, as many of each size, got 30"):
        draw(30, seed=SEED)


def test_the_generator_draws_what_it_drew():
    """Other formulas under the same name would make results that do not compare: then take another seed."""
    first = [to_text(problem.formula) for problem in draw(25, seed=SEED)[:4]]
    assert first == ["log(x)/x", "3 - x/(x - 7.9)", "log(sin(log(2*x)))", "exp(1/2)*x**2"]


def test_the_runner_knows_the_sets_of_all_seeds(monkeypatch):
    monkeypatch.setattr("sys.argv", ["run", "--sets=random-1", "--problems=random-1-3v-grade2-04"])
    (trial,) = run.wanted(run.options())
    assert find(trial) == next(problem for problem in PROBLEMS if problem.name == trial.problem)
