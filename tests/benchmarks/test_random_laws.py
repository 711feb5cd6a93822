"""Random laws: the same from the same seed, with all their columns; and structure that is claimed or not."""

from benchmarks import structure
from benchmarks.problems import load
from benchmarks.problems.random_laws import COLUMNS, draw
from prunesymnet.expression import fingerprint, to_text

FEW = draw(10, seed=1)  # the seeds of releases are not looked at, not even by a test
MADE_BY = {"commit": "0123456"}


def test_there_are_as_many_for_each_number_of_columns_and_all_are_different():
    assert [len(problem.formula.variables) for problem in FEW] == [count for count in COLUMNS for _ in range(2)]
    assert len({fingerprint(problem.formula) for problem in FEW}) == len(FEW)
    assert [to_text(problem.formula) for problem in draw(10, seed=1)] == [to_text(problem.formula) for problem in FEW]
    assert {to_text(problem.formula) for problem in draw(10, seed=2)}.isdisjoint(map(to_text, (p.formula for p in FEW)))


def test_a_set_is_loaded_by_its_name_and_has_points():
    problems = load("laws-1")
    assert len(problems) == 100
    assert problems[0].sample(20, 0).rows == 20


def test_no_structure_is_claimed_where_there_is_none_and_the_summary_counts():
    rows = [structure.looked_at(structure.without_structure(number, 0)) | MADE_BY for number in range(4)]
    assert [row["kind"] for row in rows] == ["noise", "sum"] * 2
    assert all(row["claimed"] is None for row in rows)
    run = {"problem": "laws-1-4v-01", "set": "laws-1", "limit": 20.0, "seconds": 1.0} | MADE_BY
    runs = [run | {"method": name, "recovered": name == "ours"} for name in ("ours", "without-groups")]
    text = structure.summary(rows, runs)
    assert "| noise | 2 | 0 |" in text
    assert "| ours | 1 of 1 | 1 of 1 | 1.0 |" in text
