"""Of many columns those that matter are found."""

import numpy as np
import pytest

from contexts import context_of, table_of
from prunesymnet.data import make_dataset
from prunesymnet.errors import DataWarning
from prunesymnet.expression import evaluate, parse
from prunesymnet.search import ExhaustiveSettings, SearchSettings, search
from prunesymnet.search.screening import _columns_alone, is_sure, narrowed, relevant_columns, screen
from prunesymnet.search.stages import Stage, When
from prunesymnet.structure.relevance import Relevant

MATTER = ["x3", "x7", "x12"]


def columns(count=30, rows=250):
    X = np.random.default_rng(0).uniform(-2, 2, (rows, count))
    return {f"x{k}": column for k, column in enumerate(X.T)}


def data(order=None, noise=0.1, count=30, rows=250):
    given = columns(count, rows)
    y = 2.5 * given["x3"] * np.sin(given["x7"]) + given["x12"] ** 2
    y = y + noise * np.random.default_rng(1).normal(size=rows)
    return table_of({name: given[name] for name in order or given}, y)


def test_the_columns_that_matter_are_found_in_noise():
    names, found = screen(context_of(data(rows=100, count=20)), 10)
    assert len(names) == 10
    assert set(MATTER) < set(names)
    assert min(proposal.unexplained for proposal in found) < 0.01


def test_there_are_as_many_as_asked_for_in_the_order_of_the_table():
    context = context_of(data(count=13, rows=60, noise=0.0))
    for count in (1, 6, 100):
        names = screen(context, count)[0]
        assert len(names) == min(count, 13)
        assert names == [name for name in context.problem.columns if name in names]


def test_another_order_of_the_table_is_kept():
    order = [f"x{k}" for k in np.random.default_rng(1).permutation(16)]
    names = screen(context_of(data(order, count=16, rows=120, noise=0.0)), 8)[0]
    assert set(MATTER) <= set(names)
    assert names == [name for name in order if name in names]


def test_columns_that_come_first_have_a_place():
    assert "x1" in screen(context_of(data(count=13, rows=60)), 6, first=("x1",))[0]


def test_the_columns_that_predict_rows_are_searched_alone():
    given = columns(9, 120)
    context = context_of(table_of(given, given["x3"] * np.exp(given["x7"])))
    relevant = relevant_columns(context)
    (few,) = narrowed(context, relevant)
    assert is_sure(relevant)
    assert set(few.problem.columns) == {"x3", "x7"}
    assert narrowed(few, relevant) == []  # has no others
    noise = context_of(table_of(given, np.random.default_rng(0).normal(size=120)))
    assert not is_sure(relevant_columns(noise))


def test_a_column_is_found_by_a_pair_of_its_functions():
    """It is no smooth function of rows that are so far apart, and no wave."""
    given = {name: 4 * column for name, column in columns(3, 128).items()}
    context = context_of(table_of(given, np.sin(given["x1"] ** 3) * np.cos(given["x1"] ** 2)))
    relevant = relevant_columns(context)
    assert relevant.names == ("x1",)
    assert is_sure(relevant)


def test_of_one_column_nobody_asks_whether_it_matters():
    given = columns(1, 60)
    assert relevant_columns(context_of(table_of(given, given["x0"] ** 2))).names == ()


@pytest.mark.parametrize("count", [4, 13])
def test_what_the_columns_that_matter_leave_is_not_noise_if_another_explains_it(count, monkeypatch):
    """A column that hardly matters is lost in noise to the process, but not to the search."""
    rng = np.random.default_rng(0)
    given = {f"x{k}": column for k, column in enumerate(rng.uniform(1, 3, (count, 200)))}
    y = given["x1"] * given["x2"] + 0.02 * given["x3"] + 0.001 * rng.normal(size=200)
    monkeypatch.setattr("prunesymnet.search.fewer_columns.relevant_columns", lambda *_: Relevant(("x1", "x2"), 0.01))
    found = search(table_of(given, y), SearchSettings(time_limit=float("inf"), max_fits=400))
    assert {"x1", "x2", "x3"} <= set(found.best.expression.variables)


@pytest.mark.slow
def test_unrelated_columns_of_any_size_do_not_hide_a_quotient():
    """The values near zero of the denominator have most of the variation, and go with any column by chance."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-5, 5, (128, 3))
    others = rng.normal(size=(128, 10)) * 10.0 ** rng.integers(-20, 20, 10)
    y = X[:, 0] * X[:, 1] / X[:, 2]
    names = ["a", "b", "c", *(f"other{k}" for k in range(10))]
    table = make_dataset(np.column_stack([X, others]), y, names=names)
    assert str(search(table, SearchSettings(time_limit=float("inf"))).best.expression) == "a*b/c"


def test_columns_of_the_linear_model_fill_up_the_places():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 12))
    linear = make_dataset(X, X @ [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1])
    assert {"x5", "x11", "x12"} <= set(screen(context_of(linear), 6)[0])


def test_the_number_of_workers_changes_nothing():
    one, three = (screen(context_of(data(count=13, rows=40), workers=workers), 8) for workers in (1, 3))
    assert one == three


def test_a_constant_column_and_one_that_is_doubled_do_not_break_it():
    given = columns(13, 80)
    y = data(count=13, rows=80).y
    with pytest.warns(DataWarning):
        odd = table_of({**given, "one": np.ones(80), "again": given["x7"]}, y)
    names = screen(context_of(odd), 6)[0]
    assert {"x3", "x12"} < set(names)
    assert "again" in names or "x7" in names


def test_the_bank_of_columns_alone_has_no_node_of_two_columns():
    bank = _columns_alone(context_of(data(count=13)))
    assert all(len(bank.expression(k).variables) == 1 for k in range(len(bank)))
    assert {f"x{k}" for k in range(13)} <= {str(bank.expression(k)) for k in range(len(bank))}


def test_a_search_goes_on_with_these_columns_only(monkeypatch):
    seen = []

    def propose(context):
        seen.append(set(context.problem.columns))
        yield from ()

    spies = tuple(Stage(when.name, when, propose) for when in (When.START, When.LEVEL))
    monkeypatch.setattr("prunesymnet.search.contexts.STAGES", spies)
    settings = SearchSettings(time_limit=float("inf"), exhaustive=ExhaustiveSettings(columns=4, levels=1))
    assert search(data(count=16, rows=120), settings).best.r2 > 0.5
    assert sum(len(names) == 4 for names in seen) == 2
    assert all(set(MATTER) <= names for names in seen)


@pytest.mark.slow
@pytest.mark.parametrize("unrelated", [2, 10])
@pytest.mark.parametrize("text", ["6.87 + 11*cos(7.23*x0**3)", "sin(1.5*x0) + sin(0.5*x1**2)", "sin(x0**3)*cos(x0**2)"])
def test_unrelated_columns_do_not_hide_a_wave(text, unrelated):
    given = columns(unrelated + 2, 128)
    found = search(
        table_of(given, 10 + evaluate(parse(text), given).values),
        SearchSettings(time_limit=float("inf"), max_fits=4000),
    )
    assert found.best.mse < 1e-20
    assert set(found.best.expression.variables) == set(parse(text).variables)
