"""The rivals' formulas, as we write them, say what they said."""

from importlib.util import find_spec

import numpy as np
import pytest

from benchmarks import trial
from benchmarks.methods import NAMES, method, missing, ours
from benchmarks.methods.registry import METHODS, REFERENCES, RIVALS, SHOWN
from benchmarks.problems import load
from prunesymnet.data import make_dataset
from prunesymnet.expression import evaluate, parse

X = np.random.default_rng(0).uniform(1, 3, (60, 2))
DATA = make_dataset(X, X[:, 0] * X[:, 1] + X[:, 0], names=["a", "b"])


def formula(answer):
    return answer.expression if isinstance(answer, ours.Answer) else answer


@pytest.mark.parametrize("name", ["ours", *RIVALS])
def test_a_method_gives_a_formula_with_values(name):
    reason = missing(name)
    if reason:
        pytest.skip(reason)
    assert evaluate(formula(method(name)(DATA, 1.0, 0)), DATA.columns).finite.all()


def test_ours_finds_a_simple_formula():
    values, _ = evaluate(formula(method("ours")(DATA, 60.0, 0)), DATA.columns)
    np.testing.assert_allclose(values, DATA.y)


def test_every_variant_of_ours_can_be_run():
    for name in ours.VARIANTS:
        assert formula(method(name)(DATA, 0.2, 0)).variables


def test_the_linear_model_is_least_squares_with_every_column():
    X = np.column_stack([DATA.X, 1e9 * DATA.X[:, 0]])  # the last says nothing new, in a unit of its own
    data = make_dataset(X, 3 * X[:, 0] - X[:, 1] + 2 + X[:, 0] ** 2, names=["a", "b", "c"])
    values = evaluate(method("linear")(data, 1.0, 0), data.columns).values
    design = np.column_stack([np.ones(data.rows), DATA.X])
    np.testing.assert_allclose(values, design @ np.linalg.lstsq(design, data.y, rcond=None)[0])


def test_boosting_has_no_formula_but_predicts_rows_that_it_has_not_seen():
    row = trial.measure(trial.Trial("boosting", "paper", "koza-01"))
    assert (row["status"], row["formula"], row["complexity"], row["recovered"]) == ("done", None, None, False)
    assert row["r2"] > 0.9
    assert row["mse"] > 0


def test_each_method_has_one_record_and_each_record_a_method():
    own = {name for name in METHODS if not METHODS[name].better_of}
    assert own | {*ours.ABLATIONS} | {*ours.WITH_ONE} == {*NAMES}
    assert {better for method in METHODS.values() for better in method.better_of} <= {*RIVALS}
    looks = [(METHODS[name].colour, METHODS[name].mark) for name in (*SHOWN, *REFERENCES)]
    assert len({colour for colour, _ in looks}) == len({mark for _, mark in looks}) == len(looks)
    for name in (*RIVALS, *REFERENCES):
        assert (METHODS[name].about and find_spec(f"benchmarks.methods.{METHODS[name].module}")) is not None


def test_the_papers_way_gets_fresh_points_that_say_when_to_stop():
    problem = load()[0]
    for name in ("paper", "paper-1000", "paper+rescaled", "no-gradient-1000"):
        fresh = trial.stopping(trial.Trial(name, "paper", problem.name, seed=1), problem)["fresh"]
        given, judging = trial.tables(trial.Trial(name, "paper", problem.name, seed=1), problem)
        assert fresh.rows == given.rows
        assert not set(fresh.X[:, 0]) & (set(given.X[:, 0]) | set(judging.X[:, 0]))
    for name in ("ours", "paper+", "paper+held-out", "operon"):
        assert trial.stopping(trial.Trial(name, "paper", problem.name), problem) == {}


def test_an_unknown_method_is_named():
    with pytest.raises(ValueError, match=r"must be one of ours, paper, .*, got 'eureqa'"):
        method("eureqa")


def test_what_is_not_installed_is_said(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert missing("ours") is None
    assert missing("dsr") is None
    assert "pip install 'prunesymnet[bench]'" in missing("operon")


def test_pysr_needs_julia(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert "it needs the command julia" in missing("pysr")


def test_the_trees_of_gplearn_have_its_values():
    pytest.importorskip("gplearn")
    from gplearn._program import _Program
    from gplearn.functions import _function_map as functions

    from benchmarks.methods.gp import tree

    words = ["sub", "div", 0, "log", 1, "mul", "sqrt", 1, 2.5]
    program = [functions[word] if isinstance(word, str) else word for word in words]
    theirs = _Program(
        function_set=[], arities={}, init_depth=(2, 6), init_method="grow", n_features=2, const_range=None,
        metric=None, p_point_replace=0.05, parsimony_coefficient=0.0, random_state=None, program=program,
    )  # fmt: skip
    ours = tree(program, DATA.names)
    assert str(ours) == "a/log(abs(b)) - sqrt(abs(b))*2.5"
    np.testing.assert_allclose(evaluate(ours, DATA.columns).values, theirs.execute(X))


def test_gplearn_by_correlation_gets_its_slope_and_offset():
    pytest.importorskip("gplearn")
    from benchmarks.methods.gp import scaled

    found = scaled(parse("a*b"), make_dataset(X, 3 * X[:, 0] * X[:, 1] - 2, names=["a", "b"]))
    np.testing.assert_allclose(evaluate(found, DATA.columns).values, 3 * X[:, 0] * X[:, 1] - 2)
    flat = parse("a - a")
    assert scaled(flat, DATA) is flat


def test_rils_rols_numbers_the_columns():
    pytest.importorskip("rils_rols_cpp")
    from benchmarks.methods.rils_rols import read

    assert str(read("(((x1*-0.500000)+ln(x0))+((x1)**2))", ("b", "x1"))) == "x1*(-0.5) + log(b) + x1**2"
