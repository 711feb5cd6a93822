"""Fitting constants: `coefficients.fit` and the solver under it, `coefficients.least_squares`."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import curve_fit, minimize

from benchmarks.problems import free_weights, load, sample
from clocks import Clock
from prunesymnet.coefficients import FitSettings, FitStatus, fit
from prunesymnet.coefficients.fit import draw_starts, measure
from prunesymnet.coefficients.least_squares import _solve_deficient, _told_apart, levenberg_marquardt
from prunesymnet.data import Dataset, make_dataset
from prunesymnet.expression import compile_expression, parse

X = np.linspace(0.1, 4.0, 60)


def table(y, x=X, **options) -> Dataset:
    return make_dataset(x, y, names=["x"], **options)


def noisy(y, size=0.05, seed=0):
    return y + size * np.random.default_rng(seed).standard_normal(len(y))


@pytest.mark.parametrize("method", ["lm", "bfgs"])
@pytest.mark.parametrize(
    ("text", "start", "true"),
    [
        ("1.0*x + 1.0", None, (2.5, -0.5)),
        ("1.0*exp(-1.0*x) + 0.0", None, (3.0, -0.7, 0.25)),
        ("1.0*x/(x + 1.0)", None, (4.0, 2.5)),
        ("1.0*sin(1.0*x + 0.1)", None, (1.5, 1.3, 0.4)),
        ("1.0*x**1.0", None, (0.8, 1.7)),
    ],
)
def test_finds_the_constants_that_made_the_data(method, text, start, true):
    formula = parse(text)
    data = table(compile_expression(formula).values({"x": X}, np.array(true)))
    found = fit(formula, data, settings=FitSettings(method=method))
    np.testing.assert_allclose(found.expression.constants, true, rtol=1e-4 if method == "bfgs" else 1e-9)
    assert found.status is FitStatus.CONVERGED
    assert found.r2 == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "y"),
    [
        ("1.0*exp(-0.4*x) + 0.1", 2.0 * np.exp(-0.6 * X) + 0.3),
        ("0.3*x + 0.3*x**2 + 0.3*x**5 + 0.3*x**8", X**8 - 2 * X**2 + X),
        ("1.0*x/(x**2 + 1.0) + 0.5", X / (X**2 + 2)),
        ("0.5*sin(0.9*x + 0.1) + 0.2", 0.13 * np.sin(X) - 2.3),
    ],
)
def test_bfgs_ends_where_scipys_does(text, y):
    formula = parse(text)
    y = noisy(y, 0.01 * np.std(y))
    program = compile_expression(formula)

    def cost(theta):
        values, jacobian = program.values_and_jacobian({"x": X}, theta)
        return float(((values - y) ** 2).sum()), 2 * jacobian @ (values - y)

    size = np.sqrt((program.values_and_jacobian({"x": X})[1] ** 2).sum(1))  # scipy's needs constants of one size
    theirs = minimize(
        lambda scaled: (cost(scaled / size)[0], cost(scaled / size)[1] / size),
        program.constants * size,
        jac=True,
        method="BFGS",
        options={"gtol": 1e-9, "maxiter": 5000},
    )
    ours = fit(formula, table(y), settings=FitSettings(method="bfgs", max_iterations=300))
    assert ours.mse * len(y) == pytest.approx(theirs.fun, rel=1e-5)
    assert ours.status is FitStatus.CONVERGED


@pytest.mark.parametrize("factor", [1e-2, 1e-4, 1e-6])
def test_bfgs_does_not_lose_a_frequency_whose_factor_is_still_tiny(factor):
    found = fit(parse(f"{factor}*cos(0.8*x)"), table(2 * np.cos(X)), settings=FitSettings(method="bfgs"))
    assert np.abs(found.expression.constants) == pytest.approx([2.0, 1.0])


def test_bfgs_copes_with_constants_that_say_the_same():
    found = fit(parse("1.0*x/(0.3*x**2 + 1.5) + 0.3"), table(X / (2 + X**2)), settings=FitSettings(method="bfgs"))
    assert found.r2 > 1 - 1e-12


def test_agrees_with_curve_fit_on_noisy_data():
    y = noisy(2.0 * np.exp(-0.6 * X) + 0.3)
    best, _ = curve_fit(lambda x, a, b, c: a * np.exp(b * x) + c, X, y, p0=[1, -1, 0], xtol=1e-12, ftol=1e-12)
    found = fit(parse("1.0*exp(-1.0*x) + 0.1"), table(y))
    np.testing.assert_allclose(found.expression.constants, best, rtol=1e-6)


def test_linear_formulas_agree_with_numpys_lstsq():
    y = noisy(X**2 - X)
    design = np.stack([X**3, X**2, X, np.ones_like(X)], axis=1)
    found = fit(parse("1.0*x**3 + 1.0*x**2 + 1.0*x + 1.0"), table(y))
    np.testing.assert_allclose(found.expression.constants, np.linalg.lstsq(design, y)[0], rtol=1e-8)
    assert found.iterations == 0


def test_weights_count_as_repeated_rows_would():
    y = noisy(1.5 * X / (X + 0.7))
    counts = np.random.default_rng(1).integers(0, 4, len(X))
    formula = parse("1.0*x/(x + 1.0)")
    weighted = fit(formula, table(y, weights=counts.astype(float)))
    repeated = fit(formula, table(np.repeat(y, counts), np.repeat(X, counts)))
    np.testing.assert_allclose(weighted.expression.constants, repeated.expression.constants, rtol=1e-6)
    assert weighted.mse == pytest.approx(repeated.mse)
    assert weighted.r2 == pytest.approx(repeated.r2)


def test_named_parameters_may_appear_twice():
    data = table(0.8 * X + np.sin(0.8 * X) + 2.0)
    found = fit(parse("a*x + sin(a*x) + b"), data, parameters=["a", "b"])
    assert found.parameters == pytest.approx({"a": 0.8, "b": 2.0})
    np.testing.assert_allclose(compile_expression(found.expression).values(data.columns), data.y)


def test_many_starts_find_what_one_does_not():
    data = table(2.0 * np.sin(7.3 * X))
    formula = parse("1.0*sin(1.0*x)")
    assert fit(formula, data).r2 < 0.5
    found = fit(formula, data, settings=FitSettings(starts=64))
    np.testing.assert_allclose(np.abs(found.expression.constants), [2.0, 7.3], rtol=1e-8)


@pytest.mark.parametrize("text", ["1.0*exp(-1.0*x) + 0.1", "1.0*x + 1.0", "exp(1.0*x)"])
def test_a_batch_of_starts_is_as_good_as_the_best_of_them_alone(text):
    y = noisy(2.0 * np.exp(-0.6 * X) + 0.3)
    program = compile_expression(parse(text))
    starts = draw_starts(program.constants, 6, seed=3)
    together = levenberg_marquardt(program, {"x": X}, y, starts)
    alone = min(levenberg_marquardt(program, {"x": X}, y, start[None]).cost for start in starts)
    assert together.cost == pytest.approx(alone, rel=1e-6)


def test_more_rows_than_a_batch_holds_are_sampled_and_then_all_used():
    x = np.linspace(0, 3, 5000)
    data = table(noisy(1.7 * np.cos(2.2 * x)), x)
    found = fit(parse("1.0*cos(1.0*x)"), data, settings=FitSettings(starts=32, batch=3200))
    whole = fit(found.expression, data)
    np.testing.assert_allclose(found.expression.constants, whole.expression.constants, rtol=1e-6)
    np.testing.assert_allclose(np.abs(found.expression.constants), [1.7, 2.2], rtol=1e-2)


def test_the_same_seed_gives_the_same_constants():
    data = table(noisy(np.sin(3 * X)))
    runs = [fit(parse("1.0*sin(1.0*x)"), data, settings=FitSettings(starts=8, seed=5)) for _ in range(2)]
    assert runs[0].expression == runs[1].expression


@pytest.mark.parametrize("starts", [1, 4])
@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("1.0*x + 2.0*x", FitStatus.RANK_DEFICIENT),
        ("exp(1.0 + 1.0*x + 1.0)", FitStatus.RANK_DEFICIENT),
        ("1.0*log(-1.0 - x)", FitStatus.NOT_FINITE),
        ("1.0*exp(exp(exp(x + 3)))", FitStatus.NOT_FINITE),
        ("2*x", FitStatus.CONVERGED),
        ("log(-x)", FitStatus.NOT_FINITE),
    ],
)
@pytest.mark.parametrize("method", ["lm", "bfgs"])
def test_trouble_is_a_result_not_a_warning(text, status, starts, method):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fit(parse(text), table(X**2), settings=FitSettings(starts=starts, method=method))
    if starts == 1 and method == "lm":
        assert found.status is status
    assert math.isfinite(found.mse) == (found.status is not FitStatus.NOT_FINITE)
    assert all(map(math.isfinite, found.expression.constants))


def test_infinite_slopes_do_not_spoil_the_fit():
    x = np.linspace(0, 4, 50)  # sqrt and 0**c have no slope at 0
    found = fit(parse("1.0*sqrt(x) + 1.0*x**1.5"), table(2 * np.sqrt(x) + 0.5 * x**2.2, x))
    np.testing.assert_allclose(found.expression.constants, [2.0, 0.5, 2.2], rtol=1e-8)


def test_fewer_rows_than_constants():
    found = fit(parse("1.0*x**2 + 1.0*x + 1.0"), table([1.0, 2.0], [0.0, 1.0]))
    assert found.status is FitStatus.RANK_DEFICIENT
    assert found.mse == pytest.approx(0.0, abs=1e-20)


def test_columns_of_very_different_size():
    x = np.linspace(1, 2, 40)
    data = table(1e-9 * x**9 + 1e9 * x, x)
    np.testing.assert_allclose(fit(parse("1.0*x**9 + 1.0*x"), data).expression.constants[1], 1e9)
    data = table(3e-12 * x, x)
    np.testing.assert_allclose(fit(parse("1.0*x"), data).expression.constants, [3e-12])


@pytest.mark.parametrize("method", ["lm", "bfgs"])
def test_the_time_limit_holds_and_returns_the_best_so_far(method, monkeypatch):
    x = np.linspace(0, 4, 200)
    data = table(noisy(np.sin(3.3 * x) * np.exp(-0.2 * x)), x)
    settings = FitSettings(method=method, time_limit=5, max_iterations=10_000)
    clock = Clock(step=1.0)  # looked at once in each iteration
    monkeypatch.setattr("time.monotonic", clock)
    found = fit(parse("1.0*sin(0.3*x)*exp(1.0*x)"), data, settings=settings)
    assert clock.now < 20
    assert found.status is FitStatus.TIME_LIMIT
    assert math.isfinite(found.mse)


def test_the_limit_of_iterations_is_said():
    data = table(2.0 * np.exp(-0.6 * X))
    found = fit(parse("1.0*exp(0.5*x)"), data, settings=FitSettings(max_iterations=1))
    assert found.status is FitStatus.MAX_ITERATIONS
    assert found.iterations == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "adam"}, "method must be one of lm, bfgs, got 'adam'"),
        ({"starts": 0}, "starts must be a whole number >= 1, got 0"),
        ({"max_iterations": 2.5}, "max_iterations must be a whole number >= 1, got 2.5"),
        ({"time_limit": 0}, "time_limit must be a number of seconds > 0, got 0"),
        ({"seed": -1}, "seed must be"),
        ({"time_limit": "5"}, "time_limit must be a number of seconds > 0, got '5'"),
        ({"starts": True}, "starts must be a whole number >= 1, got True"),
    ],
)
def test_bad_settings_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        FitSettings(**options)


@pytest.mark.parametrize(
    ("text", "parameters", "message"),
    [
        ("a*x", [], "needs 'a', which is no column of the data"),
        ("a*x", ["a", "b"], "parameter 'b' does not appear"),
        ("a*x", ["a", "x"], "'x' is a column of the data"),
    ],
)
def test_bad_forms_are_named(text, parameters, message):
    with pytest.raises(ValueError, match=message):
        fit(parse(text), table(X**2), parameters=parameters)


def test_a_constant_target():
    with pytest.warns(UserWarning, match="target"):
        data = table(np.full_like(X, 2.0))
    assert fit(parse("1.0*x + 1.0"), data).r2 in (1.0, -math.inf)


@pytest.mark.parametrize("problem", load(), ids=lambda p: p.name)
def test_the_papers_formulas_from_constants_a_twentieth_off(problem):
    formula = free_weights(problem.formula)
    data = sample(formula, 128, seed=1)
    rng = np.random.default_rng(2)
    start = formula.with_constants([c * (1 + 0.05 * rng.uniform(-1, 1)) for c in formula.constants])
    found = fit(start, data, settings=FitSettings(starts=32))
    if problem.name in FAST_OSCILLATIONS:
        pytest.skip("a frequency this high needs a scan of frequencies, not a better start")
    np.testing.assert_allclose(found.r2, 1.0, atol=1e-10)


FAST_OSCILLATIONS = ("korns-05", "aifeynman3-20")


@pytest.mark.parametrize("thing", ["1.0*x", 3, None])
def test_what_is_no_expression_is_named(thing):
    with pytest.raises(TypeError, match=r"an Expression is needed, got .*parse\(text\) makes one"):
        fit(thing, table(X**2))


def test_what_is_no_dataset_is_named():
    with pytest.raises(TypeError, match=r"data must be a Dataset, as make_dataset\(X, y\) makes one, got list"):
        fit(parse("1.0*x"), [1.0, 2.0])


def test_a_column_too_long_to_be_squared_does_not_stop_a_fit():
    """Beside it, the matrix of products has numbers of any size, of which eigenvalues may not converge."""
    data = sample(parse("4*x**4 + 3*x**3 + 2*x**2 + x"), 256, 10_009)
    wild = parse("98.46802338642127*exp(0.7996944767296518*x) - 19066123.94692789*x"
                 " + 8459804681.999765*sin(0.00225372931169215*x) - 156.19319281392296")  # fmt: skip
    assert math.isfinite(fit(wild, data, settings=FitSettings(starts=4)).mse)


@given(st.lists(st.sampled_from([0.0, 1.0, -3.0, 1e-80, 1e80, -1e155, 1e300]), min_size=9, max_size=9))
def test_deficient_systems_always_have_an_answer(values):
    columns = np.array(values).reshape(3, 3)
    with np.errstate(all="ignore"):
        gram = np.nan_to_num(columns @ columns.T, nan=np.inf, posinf=np.inf, neginf=-np.inf)
        assert np.isfinite(_solve_deficient(gram[None], np.ones((1, 3)))).all()


def test_nothing_is_told_apart_by_a_column_whose_square_underflows():
    assert _told_apart(np.eye(2), np.diag([1.0, 0.0])) == 0


def test_a_start_that_swallows_the_target_does_not_seem_to_leave_nothing():
    year = np.arange(1959.0, 2001.0)
    table = make_dataset(year, 300 + (year - 1950) ** 1.3, names=["year"])
    for starts in (1, 3):
        found = fit(
            parse("3.4e233*year**(-70.26) - 1.6e125"), table, settings=FitSettings(starts=starts, max_iterations=20)
        )
        assert found.mse == pytest.approx(measure(found.expression, table).mse, rel=1e-6)
        assert found.mse > 0
