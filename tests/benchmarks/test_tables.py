"""The tables and figures of the benchmarks: their rules on a few runs with known answers, and the paper's numbers."""

import doctest
import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from benchmarks import figures, plans, published, readme, record, statistics, tables
from benchmarks.conditions import LONG, NOISE, RANDOM
from benchmarks.figures import real as real_figure
from benchmarks.figures import style
from benchmarks.methods import registry
from benchmarks.methods.registry import METHODS, SHOWN
from benchmarks.problems import load, random_formulas
from benchmarks.statistics import frame, holm, mcnemar, signed_rank, variances, wilson
from benchmarks.tables import behind, fairness, layout, methods, paper, real, textbook
from benchmarks.tables.mechanisms import mechanisms
from benchmarks.tables.summary import summary
from prunesymnet.search import DIFFERENCES

RUN = [name for name in SHOWN if not METHODS[name].better_of]  # the others have no runs of their own
PAPERS = [name for name, method in METHODS.items() if method.limit == LONG]

UNMEASURED = ["rivals", "datasets", "paper-plus"]  # tables of what is known without a run
MACHINE = {"commit": "abc1234", "python": "3.11", "versions": {}, "machine": "a small machine", "cores": 2}


def row(method="ours", problem="koza-01", seed=0, recovered=True, **changes):
    """A run with usual settings: exact if recovered, else with the error of a constant."""
    group = problem.rpartition("-")[0]
    limit = 60.0 if method in PAPERS else 10.0
    judged = {"recovered": recovered, "strict": recovered, "form": recovered}
    judged |= {"mse": 0.0 if recovered else 1.0, "r2": float(recovered or 0)}
    return (
        {"method": method, "set": "paper", "group": group, "problem": problem, "seed": seed, "noise": 0.0}
        | {"points": 128, "span": None, "limit": limit, "status": "done", "error": None, "seconds": 1.0, "formula": "x"}
        | {"complexity": 6, "true_complexity": 4, "version": None}
        | judged
        | MACHINE
        | changes
    )  # fmt: skip


def real_row(method, table, seed, r2, **changes):
    nothing = {"points": None, "recovered": None, "form": None, "true_complexity": None, "mse": 1.0}
    return row(method, table, seed, **{"set": "real", "group": "real", "r2": r2} | nothing | changes)


def failed(method, problem, **changes):
    gone = {"mse": None, "r2": None, "formula": None, "complexity": None, "seconds": None, "error": "exit status 1"}
    return row(method, problem, recovered=False, **{"status": "crashed"} | gone | changes)


def many_rows():
    """A little of everything."""
    problems = [f"{name}-01" for name in published.DATA_SETS]
    rng = np.random.default_rng(0)
    kept = [
        row(method, problem, seed, bool(rng.random() < 0.7 or method == "ours"), seconds=float(rng.uniform(0.1, 9)))
        for method, problem, seed in product({**dict.fromkeys(PAPERS), **dict.fromkeys(RUN)}, problems, range(3))
        if method not in ("operon", "pysr") or seed == 0
    ]
    kept += [row("paper", problem, limit=10.0) for problem in problems]
    kept += [failed("gp", "koza-02"), row("without-powers", "koza-01"), row("without-powers", "ode-01", 0, False)]
    for method, problem in product(("ours", "operon"), problems):
        good = bool(rng.random() < 0.6)
        kept += [row(method, problem, 0, good, noise=noise) for noise in (0.001, 0.01, 0.1)]
        kept += [row(method, problem, 0, good, points=points) for points in (20, 500)]
        kept += [row(method, problem, 0, good, limit=limit) for limit in (1.0, 60.0)]
        kept += [row(method, problem, 0, good, span=[1.0, 2.0])]
    for method, problem, share in product(("ours", "huber"), problems, (0.0, 0.05)):
        kept += [row(method, problem, 0, method == "huber" or share == 0, outliers=share)]
    curve = {"set": "textbook", "group": "textbook", "points": 60, "limit": 20.0}
    for method, problem in product(("ours", "operon", "operon-mdl"), ("planck", "bragg")):
        kept += [row(method, problem, 0, **curve)]
        noisy = product(("value", "spread"), (0.01, 0.05))
        kept += [row(method, problem, 0, False, noise=n, noise_of=of, why="longer", **curve) for of, n in noisy]
    kept += [row("ours", problem, other_units=True, **curve) for problem in ("planck", "bragg")]
    kept += [row("ours", problem, unrelated=2, **curve) for problem in ("planck", "bragg")]
    law = curve | {"set": "laboratory", "group": "laboratory"}
    kept += [row("ours", "atwood", noise=noise, noise_of="value", **law) for noise in (0.0, 0.01)]
    law = curve | {"set": "handbook", "group": "handbook"}
    kept += [row("ours", "collision", noise=noise, noise_of="value", **law) for noise in (0.0, 0.01)]
    sums = {"set": "spectra", "group": "spectra", "limit": 20.0}
    kept += [row("ours", "two-lines-1", noise=noise, noise_of="spread", **sums) for noise in (0.0, 0.05)]
    kept += [row("ours", "si-spring", set="si", group="si", noise=noise, noise_of="value") for noise in (0.0, 0.01)]
    for method, name in product(("ours", "operon"), methods.FURTHER):
        kept += [row(method, problem.name, 0, set=name, group=name) for problem in load(name)[:2]]
    kept += [row(method, f"{RANDOM}-2v-grade3-01", set=RANDOM, group=RANDOM) for method in ("ours", "operon")]
    for method, table, seed in product(("ours", "operon", "rils-rols"), "abc", range(2)):
        kept.append(real_row(method, table, seed, float(rng.uniform(0.5, 1)), complexity=int(rng.integers(5, 50))))
    return [*kept, real_row("pysr", "a", 0, None, status="failed", complexity=None)]


@pytest.fixture(scope="module")
def lines():
    told = [row(method, set="feynman", problem="feynman-I-14-3") for method in ("ours", "with-units")]
    return [*many_rows(), *told]


def cells(table):
    """The lines of a table as tuples of text."""
    return [tuple(line) for line in table.cells.to_numpy().tolist()]


def line(table, **wanted):
    found = table.cells
    for name, value in wanted.items():
        found = found[found["" if name == "which" else name] == value]
    assert len(found) == 1
    return found.iloc[0].to_dict()


# The statistics.


def test_wilson_is_wilsons_formula():
    assert wilson(0, 10) == pytest.approx((0, 0.27753), abs=1e-5)
    assert wilson(5, 10) == pytest.approx((0.23659, 0.76341), abs=1e-5)
    k, n, z = 40, 87, 1.959963984540054
    middle = (k + z**2 / 2) / (n + z**2)
    half = z / (n + z**2) * math.sqrt(k * (n - k) / n + z**2 / 4)
    assert wilson(k, n) == pytest.approx((middle - half, middle + half))


def test_mcnemar_counts_only_where_two_methods_differ():
    ours = [True] * 5 + [False] + [True] * 20 + [False] * 3
    theirs = [False] * 5 + [True] + [True] * 20 + [False] * 3
    assert mcnemar(ours, theirs) == pytest.approx(2 * (1 + 6) / 64)
    assert mcnemar(theirs, ours) == mcnemar(ours, theirs)
    assert mcnemar(ours, ours) == 1


def test_holm_steps_down_and_never_decreases():
    corrected = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert corrected == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})
    assert list(corrected) == ["a", "b", "c", "d"]
    assert holm({"a": 0.6, "b": 0.7}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}


def test_the_signed_rank_test_is_scipys_without_what_is_equal():
    ours, theirs = np.array([0.9, 0.8, 0.7, 0.95, 0.6, 0.5]), np.array([0.85, 0.6, 0.72, 0.65, 0.2, 0.5])
    assert signed_rank(ours, theirs) == pytest.approx(stats.wilcoxon(ours[:5], theirs[:5]).pvalue)
    assert signed_rank(ours, ours) == 1


def test_a_run_that_was_made_again_counts_once_and_one_that_did_not_end_had_its_time():
    runs = frame([row(seconds=3.0), row(seconds=2.0), row(seed=1), row(span=[1.0, 2.0]), failed("ours", "koza-02")])
    assert runs["seconds"].tolist() == [2.0, 1.0, 1.0, 10.0]
    assert runs["span"].tolist() == ["", "", "[1, 2]", ""]
    assert runs["recovered"].tolist() == [True, True, True, False]


def test_without_a_file_there_are_no_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "RESULTS", tmp_path)
    assert statistics.rows() == []
    (tmp_path / "runs.jsonl").write_text('{"method": "ours"}\n')
    assert statistics.rows() == [{"method": "ours"}]


@pytest.mark.parametrize("module", [statistics, published, registry, random_formulas, layout, style, real_figure])
def test_the_examples_in_the_docstrings(module):
    assert doctest.testmod(module)[0] == 0


# The paper's numbers.


def test_the_totals_of_the_supplement_are_those_the_paper_prints():
    printed = {
        "eql": [0, 0, 0, 0, 0, 0],
        "gp": [2, 0, 8, 5, 17, 17],
        "dsr": [40, 0, 15, 30, 20, 31],
        "paper": [41, 20, 20, 33, 42, 34],
    }
    for method, totals in printed.items():
        found = published.of_five(method)
        assert [sum(n for p, n in found.items() if p.startswith(f"{name}-")) for name in published.DATA_SETS] == totals


def test_the_totals_of_the_papers_tables():
    assert published.counts("expressions") == statistics.sizes()
    totals = {"eql": 0, "gp": 16, "dsr": 27, "paper": 45}
    assert {method: sum(published.counts("recovered", method).values()) for method in totals} == totals
    totals = {"no-gradient-1000": 11, "random-pruning-1000": 13, "paper-1000": 26}
    assert {name: sum(published.counts("ablation recovered", name).values()) for name in totals} == totals
    assert published.cells("votes", "dsr")["livermore"] == "13:4"
    assert paper._published_votes("votes", "eql")["all"] == "59:28"
    assert paper._published_votes("ablation votes", "random-pruning-1000")["all"] == "58:35"


def test_what_the_best_of_three_runs_found_some_of_five_runs_found_too():
    for method in registry.PRINTED:
        found = published.of_five(method)
        for name, count in published.counts("recovered", method).items():
            assert sum(n > 0 for p, n in found.items() if p.startswith(f"{name}-")) >= count, (method, name)


# The rules of the tables.


def test_votes_go_to_the_lesser_error_and_to_ours_where_they_are_equal():
    scale = variances("paper")
    ours = [
        row(problem="koza-01", mse=1e-25 * scale["koza-01"]),  # round-off, as theirs: equal
        row(problem="koza-02", mse=2.0),
        row(problem="koza-03", mse=2.0),
        row(problem="koza-04", mse=1e-18 * scale["koza-04"]),  # small, but not round-off
        failed("ours", "korns-01"),
        failed("ours", "korns-02"),
        row(problem="ode-01"),  # which the rival has not run
    ]
    theirs = [
        row("gp", "koza-01", mse=0.0),
        row("gp", "koza-02", mse=2.0),
        row("gp", "koza-03", mse=1.9),
        row("gp", "koza-04", mse=0.0),
        failed("gp", "korns-01"),  # as ours: nobody's vote
        row("gp", "korns-02", mse=1e9),
    ]
    found, numbers = paper.votes_between(frame(ours), frame(theirs))
    assert found == {"koza": (2, 2), "korns": (0, 1)}
    assert numbers == {1}
    table = paper.votes(frame(ours + theirs))
    assert line(table, which="PruneSymNet") == {
        "against": "GP (gplearn)", "": "PruneSymNet", "Koza": "2:2", "Korns": "0:1", "ODE": "", "Livermore": "",
        "AIFeynman2": "", "AIFeynman3": "", "all": "2:3", "runs": "one run",
    }  # fmt: skip
    assert line(table, which="the paper")["all"] == "76:14"


def test_the_best_of_three_runs_votes_and_only_seeds_that_both_have():
    ours = [row(seed=seed, mse=mse) for seed, mse in enumerate((3.0, 1.0, 2.0, 0.0))]  # the fourth run is one too many
    theirs = [row("gp", seed=seed, mse=mse) for seed, mse in enumerate((9.0, 0.5, 4.0))]
    table = paper.votes(frame(ours + theirs))
    assert line(table, which="PruneSymNet")["all"] == "0:1"
    assert line(table, which="PruneSymNet")["runs"] == "best of 3"
    table = paper.votes(frame(ours + theirs[:1]))  # 3 against 9
    assert line(table, which="PruneSymNet")["all"] == "1:0"


def test_one_of_the_first_three_runs_is_enough_to_recover():
    runs = [row("paper", "koza-01", seed, seed == 2) for seed in range(5)]
    runs += [row("paper", "koza-02", seed, seed == 3) for seed in range(5)]
    table = paper.recovered(frame(runs))
    assert line(table, method="paper preset")["Koza"] == "1 of 2"
    assert line(table, method="paper preset")["runs"] == "best of 3"
    assert line(table, method="PruneSymNet", which="the paper")["all"] == "45"
    everything = frame([row("paper", problem.name, seed) for problem in load() for seed in range(3)])
    assert line(paper.recovered(everything), method="paper preset")["all"] == "87"


def test_five_runs_are_counted_for_each_expression_beside_the_papers():
    runs = [row("gp", "koza-04", seed, seed < 3) for seed in range(5)] + [row("gp", "koza-01", 0, False)]
    table = paper.five_runs(frame(runs))
    assert len(table.cells) == 87 + 6 + 1
    found = line(table, expression="`x**3 + x**2 + x`")
    assert (found["GP, the paper"], found["GP, here"], found["PruneSymNet, the paper"]) == ("2", "3", "5")
    assert line(table, expression="`x**4 + x**3 + x**2 + x`")["GP, here"] == "0 of 1"
    total = table.cells.iloc[-1]
    assert (total["EQL, the paper"], total["PruneSymNet, the paper"], total["GP, here"]) == ("0", "190", "3 of 6")
    assert "PruneSymNet" not in table.cells.columns


def test_methods_are_compared_at_each_noise_with_the_same_seconds():
    names = [problem.name for problem in load()[:7]]
    runs = [row(problem=name, seed=seed) for name in names for seed in range(2)]
    runs += [
        row("operon", name, 0, index == 0, version="0.6", r2=0.9995, seconds=4.0) for index, name in enumerate(names)
    ]
    runs += [row("paper", name) for name in names]  # at 60 s
    runs[-8] |= {"status": "timed out"}
    table = methods.methods(frame(runs))
    assert set(table.cells["method"]) == {"PruneSymNet", "Operon 0.6"}
    ours, theirs = line(table, method="PruneSymNet"), line(table, method="Operon 0.6")
    assert (ours["all"], ours["all seeds"], ours["p"], ours["95%"]) == ("7 of 7", "14 of 14", "", "65–100%")
    assert (theirs["all"], theirs["all seeds"], theirs["R² > 0.999"], theirs["failed"]) == ("1 of 7", "", "7", "1")
    assert (theirs["p"], theirs["median time"]) == ("0.031", "4.00 s")  # six to none: 2/64


def test_a_method_that_is_the_better_of_two_is_so_condition_by_condition():
    names = [problem.name for problem in load()[:4]]
    runs = [row("operon", name, 0, index < 2) for index, name in enumerate(names)]
    runs += [row("operon-mdl", name, 0, index < 1) for index, name in enumerate(names[:3])]
    runs += [row("operon", name, 0, False, noise=NOISE, form=False) for name in names]
    runs += [row("operon-mdl", name, 0, False, noise=NOISE, form=index < 1) for index, name in enumerate(names)]
    runs += [row("operon", names[0], points=20)]  # of one alone there is no better
    best = statistics.of(frame(runs), "operon-best")
    exact, noisy = best[best["noise"] == 0], best[best["noise"] == NOISE]
    assert exact["problem"].tolist() == names[:3]
    assert exact["recovered"].sum() == 2
    assert (len(noisy), noisy["form"].sum(), set(best["points"])) == (4, 1, {128})
    shown = summary(frame([*runs, *(row(problem=name) for name in names[:3])], per_machine=True))
    assert shown.cells["method"].tolist() == ["PruneSymNet", "Operon, the better criterion"]


def test_a_table_says_which_runs_it_was_made_from():
    runs = [row(seed=seed) for seed in range(3)] + [row("paper", seed=4)]
    assert layout.ran(frame(runs)) == "4 runs with seeds 0, 1, 2, 4, at most 10 s or 60 s each"
    assert layout.ran(frame(runs[:3])) == "3 runs with seeds 0 to 2, at most 10 s each"
    assert layout.ran(frame(runs[:1])) == "1 run with seed 0, at most 10 s each"


def test_who_ran_where_has_a_line_for_each_machine_and_campaign_of_a_method():
    runs = [row("gp", f"koza-0{i}", machine="large", cores=16, version="0.4") for i in (1, 2)] + [row("gp", "koza-03")]
    runs.append(row("gp", "koza-04", machine="large", cores=16, campaign="autumn"))
    found = fairness.fairness(frame([*runs, failed("eql", "koza-01", machine=None)])).cells
    assert found["method"].tolist() == ["EQL", "GP (gplearn) 0.4", "GP (gplearn)", "GP (gplearn)"]
    machines = ["not recorded, 2 cores", "large, 16 cores", "a small machine, 2 cores", "large, 16 cores"]
    assert found["machine"].tolist() == machines
    assert found["campaign"].tolist() == ["", "", "", "autumn"]
    assert found["failed"].tolist() == ["1", "0", "0", "0"]
    assert found["operators"].str.len().min() > 0


def test_p_values_are_corrected_over_the_rivals_of_a_noise_level():
    names = [problem.name for problem in load()[:6]]
    runs = [row(method, name, 0, method == "ours") for method in ("ours", "operon", "gp") for name in names]
    assert methods.against_ours(frame(runs)) == pytest.approx({"gp": 2 * 2 / 64, "operon": 2 * 2 / 64})


def test_what_is_lost_without_a_mechanism():
    runs = [row(problem="koza-01"), row(problem="koza-02"), row(problem="koza-03", recovered=False)]
    runs += [row("without-powers", f"koza-0{i}", 0, i == 3) for i in (1, 2, 3)]
    table = mechanisms(frame(runs))
    assert cells(table)[1] == ("without powers", "1 of 3", "", "", "", "koza-01, koza-02", "koza-03")
    quick = [line | {"limit": 5.0} for line in runs]
    quick += [
        row(method, "koza-01", 0, method == "ours", limit=5.0, noise=NOISE) for method in ("ours", "without-powers")
    ]
    quick += [row("without-powers", "random-1", set=RANDOM, limit=5.0), row("without-nothing", "koza-01", limit=5.0)]
    quick += [
        row("without-powers", "koza-04", limit=5.0, machine="another", recovered=False),
        row("ours", "koza-04", limit=5.0),
    ]
    table = mechanisms(frame([*runs, *quick]))
    assert "5 s on one core" in table.caption
    assert cells(table)[0] == ("with all mechanisms", "3 of 4", "1 (1) of 1", "", "", "", "")
    assert cells(table)[1:] == [
        ("without powers", "1 of 4", "0 (0) of 1", "", "1 of 1", "koza-01, koza-02, koza-01 (1% noise)", "koza-03")
    ]


def test_only_runs_of_one_machine_stand_side_by_side():
    small, large = {"machine": "small", "cores": 2}, {"machine": "large", "cores": 16}
    runs = [row(problem=f"koza-0{i}", **large) for i in (1, 2)] + [row("gp", f"koza-0{i}", **large) for i in (1, 2)]
    runs += [row("eql", "koza-01", **large)]  # not all that ours was run on
    runs += [row("operon", f"koza-0{i}", **small) for i in (1, 2)]
    table = summary(frame(runs, per_machine=True))
    assert [(line[0], line[-1]) for line in cells(table)] == [
        ("PruneSymNet", "large, 16 cores"),
        ("GP (gplearn)", "large, 16 cores"),
    ]
    assert "Left out for that reason: EQL, Operon." in table.caption
    runs += [row(problem=f"koza-0{i}", recovered=False, **small) for i in (1, 2)]
    table = summary(frame(runs, per_machine=True))
    assert [(line[0], line[1], line[-1]) for line in cells(table)[2:]] == [
        ("PruneSymNet", "0 (0) of 2, 1 seed", "small, 2 cores"),
        ("Operon", "2 (2) of 2, 1 seed", "small, 2 cores"),
    ]
    assert len(frame(runs)) == len(runs) - 2  # other tables take the last run of a problem, wherever it was made


def test_the_summary_has_the_mean_of_whole_seeds():
    runs = [row("ours", f"koza-0{i}", seed) for i in (1, 2) for seed in range(4)]
    runs += [row("gp", f"koza-0{i}", seed, recovered=seed < i, strict=False) for i in (1, 2) for seed in range(3)]
    runs += [row("eql", "koza-01", seed) for seed in range(3)] + [row("eql", "koza-02", seed=1, recovered=False)]
    found = {line[0]: line[1:3] for line in cells(summary(frame(runs, per_machine=True)))}
    assert found == {
        "PruneSymNet": ("2 (2) of 2", "2"),
        "GP (gplearn)": ("1 (1) of 2", "0"),
        "EQL": ("1 (1) of 2, 1 seed", "1"),  # of the others it has not all problems
    }
    runs[-1] |= {"seed": 2}
    runs.append(row("eql", "koza-02", seed=0))
    assert line(summary(frame(runs, per_machine=True)), method="EQL")["the paper's"] == "1.5 (1.5) of 2, 2 seeds"


def test_the_better_of_two_methods_takes_their_place_where_it_has_all_that_they_have():
    runs = [row(method, noise=noise) for method in ("ours", "operon-mdl") for noise in (0.0, NOISE)]
    runs.append(row("operon"))
    shown = summary(frame(runs, per_machine=True)).cells["method"].tolist()
    assert shown == ["PruneSymNet", "Operon, by its MDL", "Operon, the better criterion"]
    runs.append(row("operon", noise=NOISE))
    shown = summary(frame(runs, per_machine=True)).cells["method"].tolist()
    assert shown == ["PruneSymNet", "Operon, the better criterion"]


def test_random_formulas_are_counted_by_variables_and_by_grade():
    runs = [
        row(problem=f"{RANDOM}-{v}v-grade{g}-01", recovered=g == 1, set=RANDOM, group=RANDOM)
        for v in (1, 2)
        for g in (1, 2)
    ]
    assert cells(methods.random(frame(runs))) == [
        ("PruneSymNet", "1 (1) of 2", "1 (1) of 2", "2 (2) of 2", "0 (0) of 2", "2 (2) of 4", "2", "15–85%")
    ]


def test_seconds_are_compared_problem_by_problem():
    runs = [row(problem="koza-01", seconds=1.0), row(problem="koza-02", seconds=0.1)]
    runs += [row("gp", "koza-01", seconds=3.0), row("gp", "koza-02", 0, False, seconds=5.0)]
    found = line(methods.times(frame(runs)), method="GP (gplearn)")
    assert (found["median ratio"], found["ratio where both recover"], found["of these"]) == ("26.5", "3", "1")


def test_points_and_ranges_have_a_column_each():
    runs = [row(points=20, recovered=False), row(), row(span=[1.0, 2.0]), row("gp")]
    table = methods.points(frame(runs))
    assert list(table.cells.columns[2:]) == ["20", "128", "128 in [1, 2]"]
    assert cells(table) == [("PruneSymNet", "recovered", "0 of 1", "1 of 1", "1 of 1")]


def test_real_tables_are_ranked_by_their_mean_and_no_answer_counts_as_nothing():
    runs = [real_row("ours", name, seed, 0.9) for name in "abc" for seed in range(2)]
    runs += [real_row("operon", "a", 0, 1.0), real_row("operon", "a", 1, None, status="failed")]  # 0.5 in the mean
    runs += [real_row("operon", "b", 0, 0.95), real_row("operon", "c", 0, -80.0)]
    table = real.real(frame(runs))
    ours, theirs = line(table, method="PruneSymNet"), line(table, method="Operon")
    assert (ours["mean rank"], ours["best"], theirs["mean rank"], theirs["best"]) == ("1.33", "2", "1.67", "1")
    assert (theirs["median R²"], theirs["failed"], theirs["runs"]) == ("0.475", "1", "4")
    assert cells(real.real_tables(frame(runs)))[0] == ("a", "0.900 (6)", "0.500 (6)")


def test_what_searches_for_no_formula_is_shown_beside_the_others_and_not_ranked():
    runs = [real_row(method, name, 0, r2) for method, r2 in (("ours", 0.9), ("operon", 0.8)) for name in "abc"]
    before = real.real(frame(runs))
    runs += [real_row("linear", name, 0, 0.95) for name in "abc"]
    runs += [real_row("boosting", name, 0, 0.99, formula=None, complexity=None) for name in "ab"]
    table = real.real(frame(runs))
    assert table.cells["method"].tolist() == ["PruneSymNet", "Operon", "linear model", "gradient boosting"]
    for name in ("PruneSymNet", "Operon"):  # though not all tables have the references
        wanted = ("mean rank", "best", "median R²")
        assert [line(table, method=name)[head] for head in wanted] == [line(before, method=name)[h] for h in wanted]
    found = line(table, method="gradient boosting")
    assert (found["mean rank"], found["best"], found["median complexity"], found["median R²"]) == ("", "", "", "0.990")
    assert table.caption.endswith("do not search for a formula: linear model, gradient boosting.")
    assert cells(real.real_tables(frame(runs)))[0] == ("a", "0.900 (6)", "0.800 (6)", "0.950 (6)", "0.990")
    assert behind.behind(frame(runs)).cells.empty
    texts = [text.get_text().replace(chr(10), " ") for text in figures.FIGURES["real"](frame(runs)).axes[0].texts]
    assert {"linear model", "gradient boosting (no formula)"} <= {*texts}


def test_every_cell_where_a_rival_is_ahead_is_named():
    runs = [row(problem="koza-01"), row(problem="koza-02", recovered=False), row(problem="koza-02", noise=0.1)]
    runs += [row("gp", "koza-01"), row("gp", "koza-02", noise=0.1), row("gp", "koza-02", span=[1.0, 2.0])]
    table = behind.behind(frame(runs))
    assert table.cells.empty
    assert "ahead of every rival, or equal, in all of 8 cells" in table.caption
    runs += [row("gp", "koza-02"), real_row("ours", "a", 0, 0.8), real_row("gp", "a", 0, 0.9)]
    assert cells(behind.behind(frame(runs))) == [
        ("Koza", "noise 0", "recovered", "GP (gplearn) 2 against 1"),
        ("Koza", "noise 0", "strictly recovered", "GP (gplearn) 2 against 1"),
        ("Koza", "noise 0", "right form", "GP (gplearn) 2 against 1"),
        ("Koza", "noise 0", "R² > 0.999", "GP (gplearn) 2 against 1"),
        ("a", "real", "held-out R²", "GP (gplearn) 0.900 against 0.800"),
    ]


def test_runs_with_outliers_are_in_no_table_but_their_own():
    runs = [row(problem="koza-01"), row(problem="koza-01", recovered=False, outliers=0.05)]
    runs += [row("huber", "koza-01"), row("huber", "koza-01", outliers=0.05)]
    assert len(frame(runs)) == 2
    table = methods.outliers(frame(runs, changed="outliers"))
    assert cells(table) == [("PruneSymNet", "1 of 1", "0 of 1"), ("PruneSymNet, Huber's loss", "1 of 1", "1 of 1")]


# The files.


CURVE = {"set": "textbook", "group": "textbook", "points": 60, "limit": 20.0}


def test_textbook_counts_what_is_recovered_without_noise_and_right_forms_with_each_kind():
    runs = [row(problem="planck", **CURVE), row(problem="bragg", recovered=False, **CURVE)]
    runs += [row(problem="planck", noise=0.01, noise_of="value", recovered=False, **CURVE) | {"form": True}]
    runs += [row(problem="planck", noise=0.01, noise_of="spread", recovered=False, **CURVE)]
    found = cells(textbook.textbook(frame(runs)))
    heads = list(textbook.textbook(frame(runs)).cells.columns)
    line = dict(zip(heads, found[0], strict=True))
    assert line["textbook, exact"] == "1 of 2"
    assert line["1% of each value"] == "1 of 1"
    assert line["1% of the spread"] == "0 of 1"


def test_laws_in_si_units_are_counted_exact_and_with_errors_of_each_value():
    law = {"set": "si", "group": "si"}
    runs = [row(problem="si-spring", **law), row(problem="si-lens", recovered=False, **law)]
    runs += [row(problem="si-spring", noise=0.01, noise_of="value", **law)]
    (line,) = textbook.si(frame(runs)).cells.to_dict("records")
    assert (line["exact"], line["1% of each value"]) == ("1 of 2", "1 of 1")


@pytest.mark.parametrize(("group", "table"), [("laboratory", textbook.laboratory), ("handbook", textbook.handbook)])
def test_more_laws_are_counted_exact_and_with_errors_of_both_kinds(group, table):
    law = {"set": group, "group": group, "points": 60, "limit": 20.0}
    one, other = (problem.name for problem in load(group)[:2])
    runs = [row(problem=one, **law), row(problem=other, recovered=False, **law)]
    runs += [row(problem=one, noise=0.01, noise_of="value", **law)]
    runs += [row(problem=one, recovered=False, noise=0.05, noise_of="spread", **law)]
    (line,) = table(frame(runs)).cells.to_dict("records")
    assert (line["exact"], line["1% of each value"], line["5% of the spread"]) == ("1 of 2", "1 of 1", "0 of 1")


def test_spectra_are_counted_exact_and_with_errors():
    law = {"set": "spectra", "group": "spectra", "points": 128, "limit": 20.0}
    runs = [row(problem="two-lines-1", **law), row(problem="two-steps-1", recovered=False, **law)]
    runs += [row(problem="two-lines-1", noise=0.05, noise_of="spread", **law)]
    (line,) = textbook.spectra(frame(runs)).cells.to_dict("records")
    assert (line["exact"], line["5% of the spread"]) == ("1 of 2", "1 of 1")


def test_what_was_missed_is_sorted_by_whether_the_rows_speak_for_the_law():
    noise = {"noise": 0.05, "noise_of": "value"} | CURVE
    runs = [row(problem=name, recovered=False, why="longer", **noise) for name in ("planck", "bragg")]
    runs += [row(problem="snell", recovered=False, why="shorter", **noise), row(problem="malus", **noise)]
    assert cells(textbook.why(frame(runs))) == [("0.05 of each value", "3", "2: bragg, planck", "1: snell")]


def test_other_units_and_unrelated_columns_are_counted_beside_the_problems_as_they_are():
    runs = [row(problem=name, **CURVE) for name in ("planck", "bragg", "snell")]
    runs += [row(problem="planck", other_units=True, **CURVE)]
    runs += [row(problem="bragg", other_units=True, recovered=False, **CURVE)]
    runs += [row(problem="planck", unrelated=10, **CURVE), row(problem="planck", unrelated=2, **CURVE)]
    found = textbook.units(frame(runs, changed="other_units"))
    assert cells(found) == [("textbook", "2 of 2", "1 of 2", "1.00 s", "1.00 s")]
    found = textbook.unrelated(frame(runs, changed="unrelated"))
    assert cells(found) == [("textbook", "1 of 1", "1 of 1", "1 of 1", "1.00 s", "1.00 s", "1.00 s")]
    assert list(found.cells.columns)[1:4] == ["as they are", "2 more", "10 more"]
    assert len(frame(runs)) == 3
    assert textbook.units(frame(runs)) is None


def test_every_table_is_written_and_says_where_its_numbers_come_from(lines, tmp_path):
    written = tables.write(lines, tmp_path)
    assert {path.name for path in written} == {f"{name}.{kind}" for name in tables.TABLES for kind in ("md", "csv")}
    for name in tables.TABLES:
        text = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
        assert text.startswith("# ")
        assert "nan" not in text.split()
        command = f"python -m benchmarks.run {tables.PLANS.get(name, name)}".rstrip()
        end = f" each, measured at commit abc1234, on a small machine; `{command}`.\n"
        assert text.endswith(end) or name in UNMEASURED
        widths = {row.count(" | ") for row in text.splitlines() if row.startswith("| ")}
        assert len(widths) == 1, name
    for name in ("votes", next(iter(tables.BY_MACHINE)), next(iter(tables.CHANGED))):  # one of each kind of frame
        assert (tmp_path / f"{name}.md").read_text(encoding="utf-8").endswith(tables.markdown(name, lines) + "\n")


def test_without_runs_there_is_a_message_for_each_table_and_figure(tmp_path, capsys):
    assert [path.stem for path in tables.write([], tmp_path)] == [name for name in UNMEASURED for _ in range(2)]
    assert figures.write([], tmp_path) == []
    said = capsys.readouterr().out.splitlines()
    assert len(said) == len(tables.TABLES) - len(UNMEASURED) + len(figures.FIGURES)
    assert tables.markdown("votes", []) == ""


def test_each_difference_of_the_preset_is_counted_by_runs():
    made = [
        row("paper+rescaled", problem.name, seed=seed, limit=60.0, recovered=seed == 2 or problem.name == "koza-01")
        for problem in load()
        for seed in range(3)
    ]
    cells = tables.make("paper-plus", made).cells.set_index("preset")
    line = cells.loc["`paper`, rescaled"]
    assert (line["best of 3"], line["Koza"], line["runs"]) == ("87", "16", "89 of 261")
    assert cells.loc["the paper", "best of 3"] == "45"
    assert cells.loc["`paper+`", "best of 3"] == ""
    assert set(DIFFERENCES) <= {name.partition(", ")[2] for name in cells.index}


@pytest.mark.parametrize(
    "single", [row("operon", recovered=False), failed("eql", "ode-01"), real_row("ours", "a", 0, 0.5)]
)
def test_a_single_run_breaks_nothing(single, tmp_path):
    tables.write([single], tmp_path)
    figures.write([single], tmp_path)


@pytest.mark.slow
def test_every_figure_is_written_small_and_the_same_each_time(lines, tmp_path, monkeypatch):
    written = figures.write(lines, tmp_path / "first")
    assert {path.name for path in written} == {f"{name}.{kind}" for name in figures.FIGURES for kind in ("svg", "png")}
    for path in written:
        assert path.stat().st_size < 150_000
        assert b"dc:date" not in path.read_bytes()
    monkeypatch.setattr(figures, "FIGURES", {name: figures.FIGURES[name] for name in ("complexity", "noise")})
    again = figures.write(lines, tmp_path / "second")
    assert len(again) == 4
    for path in again:
        assert path.read_bytes() == (tmp_path / "first" / path.name).read_bytes(), path.name


def test_the_plans_that_the_tables_name_are_there():
    named = {plan for name in tables.TABLES for plan in tables.PLANS.get(name, name).split()} - {*UNMEASURED}
    assert named <= set(plans.PLANS)


def test_names_of_lines_do_not_meet():
    places = style.apart([50.0, 51.0, 100.0, 52.0], 6.0)
    assert places == [45.0, 51.0, 100.0, 57.0]


def test_old_files_are_named(lines, tmp_path, monkeypatch):
    lines = [line for line in lines if line["method"] in ("paper", "ours", "gp")]
    monkeypatch.setattr(tables, "TABLES", {name: tables.TABLES[name] for name in ("votes", "recovered", "rivals")})
    tables.write(lines, tmp_path)
    assert tables.stale(lines, tmp_path) == []
    (tmp_path / "votes.csv").unlink()
    changed = [line | {"recovered": False} if line["method"] == "paper" else line for line in lines]
    old = tables.stale(changed, tmp_path)
    assert {"votes.csv", "recovered.md"} <= set(old)
    assert not any("rivals" in name for name in old)


def test_pages_are_filled_between_their_marks():
    text = "before\n<!-- bench:stability -->\nold\n<!-- /bench:stability -->\nafter\n"
    assert readme.filled(text) == text.replace("old", readme.stability())
    with pytest.raises(ValueError, match="a page has a mark for 'votes'; tables are summary, core"):
        readme.filled(text.replace("stability", "votes"))


def test_the_readme_is_short():
    assert len((readme.ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 120
