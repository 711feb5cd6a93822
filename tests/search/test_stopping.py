"""When a search ends: limits by a clock of one's own, patience, and whether what is left is noise."""

import math

import numpy as np
import pytest

from contexts import columns_of, context_of, fitter_of, problem, stages_named, table, table_of
from prunesymnet.coefficients import fit
from prunesymnet.coefficients.fit import measure
from prunesymnet.data import make_dataset
from prunesymnet.expression import parse, postorder, skeleton
from prunesymnet.search import STAGES, ExhaustiveSettings, SearchSettings, SearchStatus, search, stopping
from prunesymnet.search.archive import Archive
from prunesymnet.search.fitting import Fitter
from prunesymnet.search.rows import Rows
from prunesymnet.search.stages.networks import NETWORKS
from prunesymnet.search.stopping import (
    CLEARLY,
    FINAL,
    MORE_BATCHES,
    TO_FINISH,
    LimitReached,
    Limits,
    Patience,
    Progress,
    hidden_share,
    is_outdone,
    is_short,
    looks_like_noise,
    stands_alone,
)
from prunesymnet.selection import NEAR_TIE

OPERATORS = ("+", "*", "sin", "exp")


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def test_time_is_what_the_clock_says():
    clock = Clock()
    limits = Limits.start(SearchSettings(time_limit=10.0), clock)
    clock.now += (1 - TO_FINISH) * 10 - 0.01
    limits.check(fits=10**9)
    assert limits.seconds == pytest.approx(9.49)
    clock.now += 0.02
    with pytest.raises(LimitReached) as reached:
        limits.check(fits=0)
    assert reached.value.status is SearchStatus.TIME_LIMIT


def test_a_search_may_be_given_more_time_while_it_runs():
    clock, given = Clock(), [0.0]
    limits = Limits.start(SearchSettings(time_limit=10), clock, lambda: given[0])
    clock.now += 15.0
    given[0] = 10.0
    limits.check(fits=0)
    given[0] = 5.0
    with pytest.raises(LimitReached):
        limits.check(fits=0)


def test_the_number_of_fits_is_a_limit_too():
    limits = Limits(max_fits=5, clock=Clock())
    limits.check(fits=4)
    with pytest.raises(LimitReached) as reached:
        limits.check(fits=5)
    assert reached.value.status is SearchStatus.FIT_LIMIT


def test_the_number_of_evaluations_is_a_limit_too():
    limits = Limits(max_evaluations=1000, clock=Clock())
    limits.check(fits=10**6, evaluations=999)
    with pytest.raises(LimitReached) as reached:
        limits.check(fits=0, evaluations=1000)
    assert reached.value.status is SearchStatus.EVALUATION_LIMIT


# ---- patience -----------------------------------------------------------------------------------------


def archive_with(text, stage="pairs"):
    x = np.linspace(0.1, 3, 40)
    rows = Rows.of(make_dataset(x, np.sin(x), names=["x"]), SearchSettings())
    known = Archive(rows)
    known.set_best(Fitter(rows, SearchSettings().rules(), known, 3).candidate(parse(text), stage))
    return known


LONG = "sin(x) + x**2*cos(x)*(exp(x) - exp(x))"


def test_a_simple_exact_formula_ends_it_at_once():
    assert Patience().is_over(archive_with("sin(x)"))


def test_a_long_one_is_given_some_more_batches():
    patience, known = Patience(), archive_with(LONG)
    assert [patience.is_over(known) for _ in range(MORE_BATCHES + 1)] == [False] * MORE_BATCHES + [True]


def test_a_polynomial_is_final():
    for stage in FINAL:
        assert Patience().is_over(archive_with(LONG, stage))
    assert {*FINAL} == {stage.name for stage in (*stages_named("polynomials"), NETWORKS)}


def test_what_is_not_exact_ends_nothing():
    patience = Patience()
    assert not any(patience.is_over(archive_with("1.0*x")) for _ in range(2 * MORE_BATCHES))
    assert patience.waited == 0


# ---- progress -----------------------------------------------------------------------------------------


def test_a_level_that_makes_the_description_no_shorter_settles_it():
    progress = Progress()
    lengths = [100.0, 80.0, 80.0 - CLEARLY, 80.0 - CLEARLY - 1, 200.0, 10.0]
    assert [progress.is_settled(length) for length in lengths] == [False, False, False, True, True, False]


def test_where_there_is_no_formula_yet_nothing_is_gained():
    progress = Progress()
    assert not progress.is_settled(5.0)
    assert Progress(5.0).is_settled(math.inf)


# ---- noise --------------------------------------------------------------------------------------------


def given(text, noise, rows=200):
    return context_of(problem(text, OPERATORS, noise=noise, rows=rows), stages=())


def test_where_noise_is_left_little_can_be_hidden():
    context = given("3*x*y + 1", noise=0.1)
    share = hidden_share(context, fit(parse("1.0*x*y + 1.0"), context.problem.data))
    assert 0 < share < 0.5


@pytest.mark.parametrize("truth", ["3*x*y + 0.2*sin(x)*y", "3*x*y + 0.2*exp(x) + 0.1*y"])
def test_where_a_term_is_missed_it_is_seen(truth):
    context = given(truth, noise=0.01)
    assert hidden_share(context, fit(parse("1.0*x*y + 1.0"), context.problem.data)) is None


def test_one_node_stands_out_by_less_than_a_pair_must():
    """There are fewer of them."""
    context = given("3*x*y + 1 + 0.055*sin(x)", noise=0.1, rows=60)
    assert hidden_share(context, fit(parse("1.0*x*y + 1.0"), context.problem.data)) is None


def test_fewer_rows_can_hide_more():
    shares = []
    for rows in (60, 240):
        context = given("3*x*y + 1", noise=0.1, rows=rows)
        shares.append(hidden_share(context, fit(parse("1.0*x*y + 1.0"), context.problem.data)))
    assert shares[0] > shares[1]


def test_what_looks_like_noise_and_what_does_not():
    def says(text, noise, form, level=0):
        context = given(text, noise).at(level)
        return looks_like_noise(context, fit(parse(form), context.train))

    assert says("3*x*y + 1", 0.01, "1.0*x*y + 1.0")
    assert not says("3*x*y + sin(x)", 0.01, "1.0*x*y + 1.0")
    assert not says("3*x*y + 1", 0.3, "1.0*x*y + 1.0")  # much may hide behind so much noise
    assert says("3*x*y + 1", 0.3, "1.0*x*y + 1.0", level=2)  # but later there is less hope
    assert not looks_like_noise(given("3*x*y", 0.01), None)


def test_less_than_instruments_leave_is_no_noise_before_a_level_found_nothing():
    """It may be what a formula that is nearly right leaves, which nothing simple explains either."""

    def says(noise, **how):
        context = given("3*x*y + 1", noise)
        return looks_like_noise(context, fit(parse("1.0*x*y + 1.0"), context.train), **how)

    assert says(1e-4)
    assert says(1e-4, may_be_left=1e-2)
    assert not says(1e-8)
    assert not says(1e-8, may_be_left=1e-2)
    assert says(1e-8, settled=True)


def test_of_a_formula_that_says_nothing_what_is_left_is_no_noise():
    context = given("3*x*y", 0.01)
    assert not looks_like_noise(context.at(2), measure(parse("0.1"), context.train))


def test_the_constants_of_the_formula_itself_are_not_missed_terms():
    context = given("3*x*y + 1", noise=0.01)
    off = measure(parse("2.99*x*y + 1.001"), context.problem.data)  # its derivatives explain what is left
    assert hidden_share(context, off) is not None


def test_a_formula_with_a_rare_exponent_ends_no_search_early():
    assert is_short(parse("1.1*x**4"))
    assert not is_short(parse("1.1*x**20"))


# ---- a law that stands alone --------------------------------------------------------------------------

LONGER = "1.5*exp(-0.3*x) + x/(x + 0.2)"
LIKE_IT = ("1.0*x + 1.0", "1.0/(x + 1.0)", "1.0*sqrt(x) + 1.0", "1.0*x**2 + 1.0*x + 1.0")


def longer_law(noise, known):
    """The context of a noisy law, and its candidate among those of the formulas that are known beside it."""
    context = context_of(table(LONGER, noise=noise, rows=80, low=0.1, high=5.0, names="x"), formulas=known)
    candidate = fitter_of(context).candidate(parse("1.0*exp(-0.5*x) + x/(x + 0.1)"), "given")
    context.archive.add(candidate)
    return context, candidate


def is_alone(noise, known):
    context, law = longer_law(noise, known)
    return stands_alone(law, context.archive)


def test_a_law_that_is_far_ahead_of_all_that_leaves_more_stands_alone():
    assert is_alone(1e-4, LIKE_IT)
    assert not is_short(parse(LONGER))


def test_a_law_is_not_far_ahead_where_others_are_nearly_as_good():
    assert not is_alone(0.1, LIKE_IT)


def test_a_law_does_not_stand_alone_where_nothing_is_known_beside_it():
    assert not is_alone(1e-4, ())


def test_a_law_does_not_stand_alone_beside_one_that_is_nearly_as_short(monkeypatch):
    beside = (*LIKE_IT, "1.0*exp(-0.5*x) + x/(x + 1/5)")
    assert is_alone(1e-4, beside)
    monkeypatch.setattr(stopping, "NEAR_TIE", 2 * NEAR_TIE)
    assert not is_alone(1e-4, beside)


def test_a_law_stands_alone_beside_itself_in_other_words():
    assert is_alone(1e-4, (*LIKE_IT, "1.0*exp(-0.5*x) + abs(x)/(x + 0.1)"))


def test_a_formula_is_outdone_by_one_that_explains_clearly_more_and_not_by_further_constants():
    columns = columns_of(rows=80, low=0.1, high=2.0, names="x")
    target = columns["x"] + 0.1 * columns["x"] ** 3 + 0.01 * np.random.default_rng(4).normal(size=80)
    known = ("1.0*x + 1.0*x**3", "1.0*x + 1.0*x**3 + 1.0*sin(9*x) + 1.0*cos(9*x)", "1.0*x + 1.0*x**2")
    context = context_of(table_of(columns, target), formulas=known)
    candidates = [fitter_of(context).candidate(parse(text), "given") for text in known]
    assert [is_outdone(candidate, context.archive) for candidate in candidates] == [False, False, True]


def test_a_formula_that_is_long_stands_not_alone():
    context, _ = longer_law(1e-4, LIKE_IT)
    long = fitter_of(context).candidate(parse(f"{LONGER} + 0.1*x**2 - 0.1*x"), "given")
    assert not stands_alone(long, context.archive)


def test_noise_around_a_law_that_stands_alone_ends_the_search_before_the_slow_stages():
    stages = set()
    columns = columns_of(low=0.2, high=5.0, names="xy")
    law = columns["x"] / (1 + 0.3 * columns["x"] * columns["y"])
    data = table_of(columns, law * (1 + 0.01 * NOISE[:60]))
    found = search(data, SearchSettings(workers=1, max_fits=3000), watch=lambda update: stages.add(update.stage))
    assert found.status is SearchStatus.NOISE_FLOOR
    assert skeleton(found.best.expression) == skeleton(parse("x/(0.3*x*y + 1)"))
    assert not stages & {"query_pairs", "pursuit", "in_groups_again"}


def test_what_is_simpler_by_an_operator_is_tried_before_the_search_ends():
    """The sine of what is small is not seen in the rows."""
    columns = columns_of(low=0.01, high=0.05, names="x")
    noise = 1e-5 * np.random.default_rng(2).normal(size=60)
    context = context_of(table_of(columns, 2 * columns["x"] / (columns["x"] + 0.04) + noise))
    fitter = fitter_of(context)
    longer = fitter.candidate(parse("2.0*sin(x)/(x + 0.04)"), "given")
    context.archive.add(longer)
    fitter.with_an_operator_less(longer)
    assert skeleton(parse("2.0*x/(x + 0.04)")) in {skeleton(c.expression) for c in context.archive.known()}
    assert context.archive.by_length()[0] is not longer


def test_what_is_simpler_by_an_operator_is_tried_wherever_a_search_ends():
    columns = columns_of(low=0.01, high=0.05, names="x")
    noise = 1e-5 * np.random.default_rng(2).normal(size=60)
    data = table_of(columns, 2 * columns["x"] / (columns["x"] + 0.04) + noise)
    nothing = ExhaustiveSettings(levels=1, without=tuple(stage.name for stage in STAGES))
    guess = "2.0*sin(x)*exp(0.01*x)/(x + 0.04)"
    found = search(data, SearchSettings(linear_model=False, exhaustive=nothing, start_from=(guess,)))
    assert not {"sin", "exp"} & {node.operator.name for node in postorder(found.best.expression) if node.operands}


# ---- noise ends a search ------------------------------------------------------------------------------

NOISE = np.random.default_rng(3).normal(size=90)
COLUMNS = columns_of(rows=90, low=1.0, high=5.0, names="xyz")
LAW = 0.5 * COLUMNS["x"] * COLUMNS["y"] ** 2 / COLUMNS["z"]


@pytest.mark.parametrize(
    "target", [LAW + 0.005 * LAW.std() * NOISE, LAW * (1 + 0.005 * NOISE)], ids=["alike", "shares"]
)
def test_noise_around_a_short_formula_ends_the_search_before_the_slow_stages(target):
    stages = set()
    settings = SearchSettings(workers=1, max_fits=3000)
    found = search(table_of(COLUMNS, target), settings, watch=lambda update: stages.add(update.stage))
    assert found.status is SearchStatus.NOISE_FLOOR
    assert skeleton(found.best.expression) == skeleton(parse("x*y**2/(2*z)"))
    assert not stages & {"families", "in_groups_again", "query_pairs", "pursuit", "fits"}


def test_noise_around_a_long_formula_does_not_end_it_so_early():
    long = LAW + 3 * COLUMNS["x"] - 2 * COLUMNS["y"] * COLUMNS["z"] + 0.5 * COLUMNS["z"] ** 2
    stages = set()

    def until_families(update):
        stages.add(update.stage)
        if update.stage == "families":
            raise StopIteration

    data = table_of(COLUMNS, long + 0.005 * long.std() * NOISE)
    search(data, SearchSettings(workers=1, max_fits=200), watch=until_families)
    assert "families" in stages
