"""Power laws of the columns: random ones are found, in one solve."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from contexts import columns_of, context_of, problem, problem_of, proportional, values_of
from prunesymnet.bank.problem import Problem
from prunesymnet.data import make_dataset
from prunesymnet.expression import evaluate
from prunesymnet.operators import PAPER
from prunesymnet.search.stages.power_law import POWER_LAW


def power_laws(truth):
    return [proposal for batch in POWER_LAW.propose(context_of(truth)) for proposal in batch.proposals]


exponents = st.floats(-3, 3).filter(lambda p: abs(p) > 0.01)


@given(powers=st.lists(exponents, min_size=1, max_size=3), factor=st.floats(1e-3, 1e3))
@settings(max_examples=40)
def test_of_positive_columns_any_exponents_are_found(powers, factor):
    columns = columns_of(low=0.3, names="xyz"[: len(powers)])
    target = factor * np.prod([u**p for u, p in zip(columns.values(), powers, strict=True)], axis=0)
    truth = problem_of(columns, target)
    found = [evaluate(truth.to_table(proposal.expression), columns).values for proposal in power_laws(truth)]
    assert any(np.allclose(values, target, rtol=1e-8) for values in found)


whole = st.integers(-3, 3).filter(bool)


@given(powers=st.lists(whole, min_size=1, max_size=3), factor=st.floats(0.01, 100), sign=st.sampled_from([-1, 1]))
@settings(max_examples=40)
def test_of_columns_that_change_sign_whole_exponents_are_found(powers, factor, sign):
    columns = columns_of(names="xyz"[: len(powers)])
    target = sign * factor * np.prod([u**p for u, p in zip(columns.values(), powers, strict=True)], axis=0)
    found = power_laws(problem_of(columns, target))
    assert any(proportional(values_of(proposal, columns), target) for proposal in found)


def test_a_column_that_does_not_matter_is_left_out():
    found = power_laws(problem("3*x**2", low=0.3))[0]
    assert found.expression.variables == ("x",)


def test_a_column_with_a_zero_is_left_out_and_a_target_with_one_has_no_power_law():
    columns = columns_of(low=0.3)
    columns["y"][4] = 0.0
    assert all("y" not in p.expression.variables for p in power_laws(problem_of(columns, 2 * columns["x"] ** 1.5)))
    assert power_laws(problem_of(columns, columns["x"] * columns["y"])) == []


def test_no_root_is_taken_of_a_negative_number():
    columns = columns_of(names="x")
    for proposal in power_laws(problem_of(columns, np.abs(columns["x"]) ** 1.5)):
        assert evaluate(proposal.expression, columns).finite.all()


def test_a_power_law_of_twelve_columns_is_found():
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 2, (80, 12))
    powers = rng.uniform(-2, 2, 12)
    data = make_dataset(X, 2 * np.prod(X**powers, axis=1))
    found = [values_of(p, data.columns) for p in power_laws(Problem.of(data, PAPER, 256, 0))]
    assert any(np.allclose(values, data.y, rtol=1e-8) for values in found)


def test_what_is_exact_says_so():
    truth = problem("3*x**2/y", low=0.3)
    found = power_laws(truth)
    assert found[0].exact
    assert found[0].unexplained == truth.unexplained(found[0].expression)
