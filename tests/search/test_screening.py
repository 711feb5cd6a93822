"""Of many columns those that matter are found."""

import numpy as np
import pytest

from contexts import context_of, table_of
from prunesymnet.data import make_dataset
from prunesymnet.errors import DataWarning
from prunesymnet.search import ExhaustiveSettings, SearchSettings, search
from prunesymnet.search.screening import ROOM, _columns_alone, narrowed, relevant_columns, screen
from prunesymnet.search.stages import Stage, When

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
    assert {"x3", "x7"} <= set(few.problem.columns) < set(given)
    assert narrowed(few, relevant) == []  # has no others
    noise = context_of(table_of(given, np.random.default_rng(0).normal(size=120)))
    assert narrowed(noise, relevant_columns(noise)) == []


def test_of_few_columns_nobody_asks_which_matter():
    given = columns(ROOM, 60)
    context = context_of(table_of(given, given["x3"] ** 2))
    assert relevant_columns(context).names == ()


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
    assert len(seen) == 2
    assert all(len(names) == 4 and set(MATTER) < names for names in seen)
