"""The runner of the benchmarks: what it runs, what it writes down, and that nothing is run twice."""

import json
import subprocess
import sys
from collections import Counter
from dataclasses import asdict
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from benchmarks import plans, record, run
from benchmarks.methods.ours import ABLATIONS
from benchmarks.methods.registry import QUICK
from benchmarks.problems import load, noisy
from benchmarks.recovery import recovered, right_form
from benchmarks.rejudge import judged
from benchmarks.trial import Trial, measure
from prunesymnet.expression import parse

ROOT = Path(__file__).parents[2]
KOZA = next(problem for problem in load() if problem.name == "koza-12")  # x**4 - x**2 + y**2/2 - y


def command(*options: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.run", *options], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def test_a_run_is_written_down_and_not_run_again(tmp_path, monkeypatch, capsys):
    """Runs in a process of their own, as people start them; what only counts them is asked here."""
    file = tmp_path / "runs.jsonl"
    options = "--methods", "ours", "--problems", "koza-04", "--seconds", "60", "--jobs", "1", "--file", str(file)

    def said(*options):
        monkeypatch.setattr(sys, "argv", ["run", *options])
        run.main()
        return capsys.readouterr().out

    assert "1 runs to do" in command(*options)
    (row,) = record.read(file)
    assert (row["method"], row["group"], row["recovered"], row["status"]) == ("ours", "koza", True, "done")
    assert row["formula"] == "x**3 + x**2 + x"
    assert row["complexity"] == row["true_complexity"]
    assert 0 < row["seconds"] < 60
    assert {"commit", "python", "versions", "machine", "cores"} <= set(row)
    assert "0 runs to do" in said(*options)
    assert "1 runs to do" in command(*options, "--seeds", "2", "--keep")
    assert [line["seed"] for line in record.read(file)] == [0, 1]
    assert "0 runs to do" in said(*options)
    assert len(record.read(file)) == 2
    assert "1 runs to do" in said(*options, "--noise", "0.1", "--dry")


def test_a_trial_has_a_key_that_survives_the_file():
    trial = Trial("ours", "paper", "koza-01", 0.01, 50, (1.0, 2.0), 60.0, 3)
    assert Trial.of(json.loads(json.dumps(asdict(trial)))).key == trial.key


def test_every_tenth_problem(monkeypatch):
    monkeypatch.setattr("sys.argv", ["run", "--methods", "ours", "--every", "10", "--seeds", "1"])
    names = [trial.problem for trial in run.wanted(run.options())]
    assert names == [problem.name for problem in load()][::10]
    assert len(names) == 9


def test_a_campaign_runs_all_of_it_anew_and_names_its_rows(tmp_path, monkeypatch):
    file, trial = tmp_path / "runs.jsonl", Trial("ours", "paper", "koza-01")
    monkeypatch.setattr(run, "isolated", lambda trial, commit, keep: asdict(trial) | {"status": "done"})
    run.run([trial], 1, file)
    assert run.todo([trial], file) == []
    assert run.todo([trial], file, campaign="autumn") == [trial]
    run.run([trial], 1, file, campaign="autumn")
    assert run.todo([trial], file, campaign="autumn") == []
    assert [row.get("campaign") for row in record.read(file)] == [None, "autumn"]


def test_plans_are_every_combination():
    trials = list(plans.Runs(("ours", "operon"), noise=(0.0, 0.1), seeds=2).trials())
    assert len(trials) == len({trial.key for trial in trials}) == 2 * 2 * 2 * 87
    whole = [trial for parts in plans.PLANS.values() for part in parts for trial in part.trials()]
    asked = {(t.method, t.noise) for t in whole if t.set == "paper" and t.limit == 10 and t.points == 128}
    assert {(name, noise) for name in ("ours", *QUICK) for noise in (0.0, 0.01)} <= asked


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--methods=eureqa", "methods must be of ours, paper"),
        ("--problems=koza-1", "got koza-1"),
        ("--range=2,1", "the lower first"),
        ("--points=0", "points must be at least 10, got 0"),
        ("--seeds=0", "seeds must be at least 1"),
        ("--noise-of=median", "noise_of must be of rms, value, spread, got median"),
        ("--unrelated=-1", "unrelated must be at least 0, got -1"),
    ],
)
def test_what_is_wrong_is_named(monkeypatch, capsys, option, said):
    monkeypatch.setattr(sys, "argv", ["run", option])
    with pytest.raises(SystemExit):
        run.options()
    assert said in capsys.readouterr().err


def chosen(monkeypatch, *options: str) -> list[Trial]:
    monkeypatch.setattr(sys, "argv", ["run", *options])
    return list(run.wanted(run.options()))


def test_the_textbook_is_run_once_without_noise_and_with_both_kinds_of_it(monkeypatch):
    trials = chosen(monkeypatch, "textbook", "--methods=ours")
    kinds = Counter((t.set, t.noise, t.noise_of) for t in trials)
    noisy = {("textbook", noise, of): 66 for noise in (0.01, 0.05) for of in ("value", "spread")}
    assert kinds == noisy | {("textbook", 0.0, "rms"): 66, ("textbook-fair", 0.0, "rms"): 27}
    assert {(t.points, t.limit) for t in trials} == {(60, 20.0)}
    units = chosen(monkeypatch, "--sets=jin", "--other-units=0,1", "--unrelated=0,3")
    assert Counter((t.other_units, t.unrelated) for t in units) == dict.fromkeys(product((False, True), (0, 3)), 6)


def test_options_take_the_place_of_what_plans_say(monkeypatch):
    noisy_runs = chosen(monkeypatch, "comparison", "--methods=operon", "--noise=0.1")
    assert {(trial.method, trial.noise, trial.seed) for trial in noisy_runs} == {
        ("operon", 0.1, seed) for seed in range(3)
    }
    assert chosen(monkeypatch, "ablations", "--methods=operon") == []
    assert {trial.seed for trial in chosen(monkeypatch, "--seeds=2", "--sets=jin")} == {0, 1}
    assert len(chosen(monkeypatch, "--problems=iris", "--sets=real", "--methods=ours,operon")) == 2
    assert len({trial.key for trial in chosen(monkeypatch)}) > 5000


def test_what_failed_is_run_again_when_asked_for(tmp_path):
    file, trial = tmp_path / "runs.jsonl", Trial("ours", "paper", "koza-01")
    record.append(file, asdict(trial) | {"status": "crashed"})
    assert run.todo([trial], file) == []
    assert run.todo([trial], file, ["failed", "operon"]) == []
    assert run.todo([trial], file, ["crashed"]) == run.todo([trial], file, ["ours"]) == [trial]


def test_what_another_machine_ran_is_run_here_when_asked_for(tmp_path):
    file, trial = tmp_path / "runs.jsonl", Trial("ours", "paper", "koza-01")
    record.append(file, asdict(trial) | {"status": "done", "machine": "another", "cores": 2})
    assert run.todo([trial], file) == []
    assert run.todo([trial], file, here=True) == [trial]
    record.append(file, asdict(trial) | {"status": "done"} | record.provenance())
    assert run.todo([trial], file, here=True) == []
    assert len(run.rows(file)) == 2  # one for each machine


def test_the_ablations_leave_out_each_mechanism_once_on_every_set():
    trials = [trial for part in plans.PLANS["ablations"] for trial in part.trials()]
    assert {trial.method for trial in trials} == {"ours", *ABLATIONS}
    ours = [trial for trial in trials if trial.method == "ours"]
    assert len(trials) == len(ours) * (1 + len(ABLATIONS))
    assert len(ours) == 87 + 87 + 152 + 200


def test_one_run_at_a_time_writes_to_a_file(tmp_path, monkeypatch):
    file = tmp_path / "runs.jsonl"
    monkeypatch.setattr(sys, "argv", ["run", "--methods=ours", "--problems=koza-04", f"--file={file}"])
    with run.writing(file), pytest.raises(SystemExit, match="another run is writing"):
        run.main()
    assert not file.exists()


def test_tables_whose_package_is_missing_are_left_out(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("benchmarks.problems.real.find_spec", lambda name: None if name == "faraway" else name)
    trials = [Trial("ours", "real", name, points=None) for name in ("iris", "cars")]
    assert [trial.problem for trial in run.todo(trials, tmp_path / "none.jsonl")] == ["iris"]
    assert "the tables of faraway are left out" in capsys.readouterr().out


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
    row = measure(Trial("ours", "paper", "korns-01", noise=0.01, limit=2.0))
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
    options = "--methods=ours", "--problems=koza-03,koza-04", "--seconds=60", "--jobs=2", "--backend=dask"
    command(*options, f"--file={file}")
    assert sorted((row["problem"], row["status"]) for row in record.read(file)) == [
        ("koza-03", "done"),
        ("koza-04", "done"),
    ]


def test_a_traceback_names_no_folder_of_the_machine(tmp_path):
    file, here = tmp_path / "rows.jsonl", Path(record.__file__).parents[1]
    row = {"error": f'File "{here}/src/prunesymnet/search/loop.py", line 1'}
    record.append(file, row)
    record.write(file, [*record.read(file), row, {"error": None}])
    assert [one["error"] for one in record.read(file)] == ['File "src/prunesymnet/search/loop.py", line 1'] * 2 + [None]
