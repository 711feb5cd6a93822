"""Of many columns those that matter are found."""

from dataclasses import replace

import numpy as np
import pytest

from prunesymnet.bank.targets import plain
from prunesymnet.data import make_dataset
from prunesymnet.errors import DataWarning
from prunesymnet.operators import DEFAULT
from prunesymnet.search.stages import ExhaustiveSettings, Rounds, Scene
from prunesymnet.search.stages.columns import alone, screen

MATTER = ["x3", "x7", "x12"]


def scene_of(order=None, noise=0.1, columns=30, rows=250):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (rows, columns))
    y = 2.5 * X[:, 3] * np.sin(X[:, 7]) + X[:, 12] ** 2 + noise * rng.normal(size=rows)
    order = list(range(columns)) if order is None else order
    return Scene.of(make_dataset(X[:, order], y, names=[f"x{k}" for k in order], target="t"), DEFAULT, 256, 0)


def screened(scene, count, workers=1):
    return screen(scene, plain(scene.y, scene.weights), count=count, keep=5, workers=workers)


def test_the_columns_that_matter_are_found_in_noise():
    names, found = screened(scene_of(rows=150), 10)
    assert len(names) == 10
    assert set(MATTER) < set(names)
    assert found
    assert all(proposal.source == "columns" for proposal in found)
    assert min(proposal.unexplained for proposal in found) < 0.01


def test_there_are_as_many_as_asked_for_in_the_order_of_the_table():
    scene = scene_of(columns=14, rows=120, noise=0.0)
    for count in (1, 6, 100):
        names = screened(scene, count)[0]
        assert len(names) == min(count, 14)
        assert names == [name for name in scene.columns if name in names]


def test_another_order_of_the_table_is_kept():
    order = [int(k) for k in np.random.default_rng(1).permutation(16)]
    names = screened(scene_of(order, columns=16, rows=120, noise=0.0), 8)[0]
    assert set(MATTER) <= set(names)
    assert names == [f"x{k}" for k in order if f"x{k}" in names]


def test_columns_of_the_linear_model_fill_up_the_places():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 12))
    data = make_dataset(X, X @ [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1])
    names = screened(Scene.of(data, ("+", "*", "sin"), 256, 0), 6)[0]
    assert {"x5", "x11", "x12"} <= set(names)


def test_the_number_of_workers_changes_nothing():
    scene = scene_of(columns=14, rows=60)
    one, three = screened(scene, 8), screened(scene, 8, workers=3)
    assert one == three


def test_a_constant_column_and_one_that_is_doubled_do_not_break_it():
    scene = scene_of(columns=14, rows=120)
    X = np.column_stack([scene.data.X, np.ones(scene.data.rows), scene.data.X[:, 7]])
    with pytest.warns(DataWarning):
        data = make_dataset(X, scene.y, names=[*scene.columns, "one", "again"], target="t")
    names = screened(Scene.of(data, DEFAULT, 256, 0), 6)[0]
    assert {"x3", "x12"} < set(names)
    assert "again" in names or "x7" in names


def test_the_bank_of_columns_alone_has_no_node_of_two_columns():
    bank = alone(scene_of(columns=13))
    assert all(len(bank.expression(k).variables) == 1 for k in range(len(bank)))
    assert {f"x{k}" for k in range(13)} <= {str(bank.expression(k)) for k in range(len(bank))}


def test_rounds_go_on_with_these_columns_only():
    rounds = Rounds(scene_of(noise=0.0), replace(ExhaustiveSettings(), columns=4))
    stages = list(rounds.shortcuts())
    assert stages[0][0] == "columns"
    assert len(rounds.scene.columns) == 4
    assert set(MATTER) < set(rounds.scene.columns)
