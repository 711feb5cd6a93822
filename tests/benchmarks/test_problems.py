"""The problem sets: that every formula can be read and drawn from, and one value of each set worked out by hand."""

from itertools import chain

import numpy as np
import pytest

from benchmarks.problems import SETS, Problem, load, noisy, sample, with_outliers
from benchmarks.recovery import recovered, right_form
from prunesymnet.expression import Apply, Constant, canonical, evaluate, fold, parse
from prunesymnet.expression.tree import is_free

COUNTS = {"paper": 87, "nguyen": 12, "jin": 6, "keijzer": 14, "vladislavleva": 8, "feynman": 98, "strogatz": 14,
          "textbook": 66, "textbook-fair": 27, "laboratory": 74, "handbook": 101, "si": 97, "spectra": 24}  # fmt: skip

# A formula, a point in its box, and its value there written once more in numpy.
SPOTS = {
    "paper": ("korns-07", {"x": 2.0, "y": 1.0, "z": 4.0}, 0.23 + 14.2 * 3.0 / 12.0),
    "nguyen": ("nguyen-07", {"x": 1.5}, np.log(2.5) + np.log(3.25)),
    "jin": ("jin-06", {"x": 2.0, "y": -1.0}, 1.35 * -2.0 + 5.5 * np.sin(-2.0)),
    "keijzer": ("keijzer-09", {"x": 7.0}, np.arcsinh(7.0)),
    "vladislavleva": ("vladislavleva-08", {"x": 1.0, "y": 4.0}, (16.0 + 1.0 - 1.0) / 26.0),
    "feynman": ("feynman-I-6-2b", {"sigma": 2.0, "theta": 1.0, "theta1": 3.0}, np.exp(-0.5) / np.sqrt(8.0 * np.pi)),
    "strogatz": ("strogatz-shearflow1", {"x": 1.0, "y": 0.5}, np.cos(1.0) / np.tan(0.5)),
    "textbook": ("relativistic-mass", {"m": 2.0, "v": 0.6 * 299792458.0}, 2.5),
    "si": ("si-spring", {"k": 200.0, "x": 0.05}, 0.25),
    "laboratory": ("atwood", {"m": 1.0, "n": 0.5}, 9.81 / 3),
    "handbook": ("collision", {"m": 1.0, "n": 3.0, "u": 2.0, "v": -2.0}, -1.0),
    "spectra": ("binding-and-line-1", {"x": 2.0}, 7.62 * 2.0 / 2.389 + 0.712),
    "textbook-fair": ("voltage-divider", {"V": 9.0, "R1": 1000.0, "R2": 2000.0}, 6.0),
}


@pytest.mark.parametrize("name", SETS)
def test_every_formula_of_a_set_can_be_drawn_from(name):
    problems = load(name)
    assert len(problems) == COUNTS[name]
    for problem in problems:
        assert set(problem.ranges) == set(problem.formula.variables), problem.name
        low, high = np.array([problem.ranges[v] for v in problem.formula.variables]).T
        assert (low < high).all(), problem.name
        for wide in (1.0, 1.5):
            data = problem.sample(128, 0, wide=wide)
            assert data.X.shape == (128, len(low))
            assert np.isfinite(data.y).all(), problem.name
            of_sizes = np.array([v in problem.logarithmic for v in problem.formula.variables])
            plain = data.X[:, ~of_sizes], low[~of_sizes], high[~of_sizes]
            sizes = tuple(map(np.log, (data.X[:, of_sizes], low[of_sizes], high[of_sizes])))
            for values, start, end in (plain, sizes):
                reach = wide * (end - start) / 2 * (1 + 1e-9)
                assert (np.abs(values - (start + end) / 2) <= reach + 1e-12 * np.abs(end)).all(), problem.name


def test_names_are_unique():
    names = [problem.name for problem in chain.from_iterable(map(load, SETS))]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", SETS)
def test_a_value_worked_out_by_hand(name):
    wanted, point, value = SPOTS[name]
    problem = next(p for p in load(name) if p.name == wanted)
    got = evaluate(problem.formula, {v: np.array([at]) for v, at in point.items()}).values
    assert got == pytest.approx([value], rel=1e-12)


def test_one_range_for_all_variables_draws_the_same_points():
    problem = next(p for p in load() if p.name == "livermore-09")
    first, second = problem.sample(64, 1, wide=1.5), sample(problem.formula, 64, 1, -7.5, 7.5)
    assert first.X.tobytes() == second.X.tobytes()
    assert first.y.tobytes() == second.y.tobytes()


def test_recovery_is_judged_in_the_box_of_each_variable():
    problem = next(p for p in load("feynman") if p.name == "feynman-II-24-17")
    assert recovered(problem, parse("sqrt((omega/c)**2 - (pi/d)**2)"))
    assert not recovered(problem, parse("omega/c"))


def test_a_box_without_values_and_a_set_without_a_file_are_named():
    nowhere = Problem("nowhere", "none", parse("log(-x) + y"), {"x": (1.0, 2.0), "y": (0.0, 1.0)})
    with pytest.raises(ValueError, match="is finite at 0 of"):
        nowhere.sample(128, 0)
    with pytest.raises(ValueError, match="no problem set is named 'koza'"):
        load("koza")


def test_outliers_are_gross_and_few():
    data = load()[0].sample(128, 0)
    spoiled = with_outliers(data, 0.05, 3)
    off = np.abs(spoiled.y - data.y) / data.y.std()
    assert np.count_nonzero(off) == 6
    assert (off[off > 0] >= 10).all()
    assert (off <= 30).all()
    assert with_outliers(data, 0.0, 3) is data
    np.testing.assert_array_equal(with_outliers(data, 0.05, 3).y, spoiled.y)


@pytest.mark.parametrize("problem", [*load("textbook"), *load("textbook-fair")], ids=lambda problem: problem.name)
def test_a_law_of_a_textbook_with_other_constants_has_the_right_form(problem):
    rng = np.random.default_rng(len(problem.name))

    def moved(leaf):
        return Constant(leaf.value * rng.uniform(0.95, 1.05)) if is_free(leaf) else leaf

    assert right_form(problem, fold(canonical(problem.formula), moved, Apply))


def test_noise_is_a_part_of_what_is_asked_for():
    data = load("textbook")[0].sample(20_000, 0)
    errors = {kind: noisy(data, 0.05, 3, kind).y - data.y for kind in ("rms", "value", "spread")}
    assert np.std(errors["value"] / data.y) == pytest.approx(0.05, rel=0.05)
    assert np.std(errors["spread"]) == pytest.approx(0.05 * data.y.std(), rel=0.05)
    assert np.std(errors["rms"]) == pytest.approx(0.05 * np.sqrt(np.mean(data.y**2)), rel=0.05)
    assert noisy(data, 0.0, 3, "value") is data


def test_quantities_that_are_positive_stay_so_in_a_wider_box():
    impedance = next(problem for problem in load("textbook") if problem.name == "rlc-impedance")
    assert (impedance.sample(2000, 0, wide=3.0).X > 0).all()
    assert recovered(impedance, parse("sqrt(2500.0*f**2 + (0.0628*f**2 - 159155.0)**2)/f"))
    current = next(problem for problem in load("textbook") if problem.name == "butler-volmer")
    assert current.sample(2000, 0, wide=3.0).X.min() < -0.3
