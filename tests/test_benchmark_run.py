"""The runner of the benchmarks: what it runs, what it writes down, and that nothing is run twice."""

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from benchmarks import record, run
from benchmarks.problems import load, noisy
from benchmarks.recovery import recovered, right_form
from benchmarks.rejudge import judged
from benchmarks.trial import Trial, measure
from prunesymnet.expression import parse

ROOT = Path(__file__).parents[1]
KOZA = next(problem for problem in load() if problem.name == "koza-12")  # x**4 - x**2 + y**2/2 - y


def command(*options: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.run", *options], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def test_a_run_is_written_down_and_not_run_again(tmp_path):
    file = tmp_path / "runs.jsonl"
    options = "--methods", "ours", "--problems", "koza-04", "--seconds", "2", "--jobs", "1", "--file", str(file)
    assert "1 runs to do" in command(*options)
    (row,) = record.read(file)
    assert (row["method"], row["group"], row["recovered"], row["status"]) == ("ours", "koza", True, "done")
    assert row["formula"] == "x**3 + x**2 + x"
    assert row["complexity"] == row["true_complexity"]
    assert 0 < row["seconds"] < 2
    assert {"commit", "python", "versions", "machine", "cores"} <= set(row)
    assert "0 runs to do" in command(*options)
    assert len(record.read(file)) == 1
    assert "1 runs to do" in command(*options, "--noise", "0.1", "--dry")


def test_a_trial_has_a_key_that_survives_the_file():
    trial = Trial("ours", "paper", "koza-01", 0.01, 50, (1.0, 2.0), 60.0, 3)
    assert Trial.of(json.loads(json.dumps(asdict(trial)))).key == trial.key


def test_plans_are_every_combination():
    trials = list(run.Runs(("ours", "operon"), noise=(0.0, 0.1), seeds=2).trials())
    assert len(trials) == len({trial.key for trial in trials}) == 2 * 2 * 2 * 87
    whole = [trial for parts in run.PLANS.values() for part in parts for trial in part.trials()]
    asked = {(t.method, t.noise) for t in whole if t.set == "paper" and t.limit == 10 and t.points == 128}
    assert {(name, noise) for name in ("ours", *run.RIVALS) for noise in (0.0, 0.01)} <= asked


@pytest.mark.parametrize(("option", "said"), [("--methods=eureqa", "got eureqa"), ("--range=1", "two numbers")])
def test_what_is_unknown_is_named(option, said):
    assert said in command(option)


def test_what_crashes_and_what_does_not_end_are_rows(monkeypatch):
    row = run.isolated(Trial("ours", "nguyen", "no-such-problem"), "abc")
    assert (row["status"], row["recovered"], row["commit"]) == ("crashed", False, "abc")
    assert "no-such-problem" in row["error"]
    monkeypatch.setattr(run, "GRACE", -19.8)
    row = run.isolated(Trial("ours", "paper", "koza-01"), "abc")
    assert (row["status"], row["recovered"], row["group"]) == ("timed out", False, "koza")


def test_what_fails_is_a_row(monkeypatch):
    def fail(*_):
        raise RuntimeError("no luck")

    monkeypatch.setattr("benchmarks.trial.method", lambda name: fail)
    row = measure(Trial("ours", "paper", "koza-01"))
    assert (row["status"], row["recovered"], row["formula"]) == ("failed", False, None)
    assert "no luck" in row["error"]


def test_half_a_line_is_cut_off_and_no_row(tmp_path):
    file = tmp_path / "runs.jsonl"
    record.append(file, {"a": 1})
    with file.open("a") as opened:
        opened.write('{"a": 2, "b')
    assert record.read(file) == [{"a": 1}]
    record.append(file, {"a": 3})
    assert record.read(file) == [{"a": 1}, {"a": 3}]
    assert file.read_text() == '{"a": 1}\n{"a": 3}\n'


def test_the_right_form_may_have_other_constants():
    near = parse("1.01*x**4 - 0.98*x**2 + 0.51*y**2 - 1.02*y")
    assert not recovered(KOZA, near)
    assert right_form(KOZA, near)
    assert not right_form(KOZA, parse("1.01*x**4 - 0.98*x**3 + 0.51*y**2 - 1.02*y"))
    assert not right_form(KOZA, parse("x**4"))


def test_noise_is_a_part_of_the_root_mean_square_and_judged_without_it():
    row = measure(Trial("ours", "paper", "korns-01", noise=0.1, limit=2.0))
    truth = KOZA.sample(500, 0).y
    errors = noisy(KOZA.sample(500, 0), 0.1, 0).y - truth
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(0.1 * np.sqrt(np.mean(truth**2)), rel=0.1)
    assert row["form"]
    assert not row["recovered"]
    assert row["r2"] > 0.99


def test_formulas_can_be_judged_again():
    row = measure(Trial("ours", "paper", "koza-04", limit=2.0))
    spoilt = row | {"recovered": False, "form": False, "mse": 7.0, "r2": None}
    assert judged(spoilt) == row
    assert judged(spoilt | {"formula": "x"})["recovered"] is False
    nothing = spoilt | {"formula": None}
    assert judged(nothing) is nothing


@pytest.mark.slow
def test_a_cluster_can_do_the_runs(tmp_path):
    pytest.importorskip("distributed")
    file = tmp_path / "runs.jsonl"
    options = "--methods=ours", "--problems=koza-03,koza-04", "--seconds=2", "--jobs=2", "--backend=dask"
    command(*options, f"--file={file}")
    assert sorted(row["problem"] for row in record.read(file)) == ["koza-03", "koza-04"]
