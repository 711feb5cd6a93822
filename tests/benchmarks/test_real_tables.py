"""The real tables: as the packages have them, whole, none with its target among the columns, and split by the seed."""

import sys

import numpy as np
import pandas as pd
import pytest

from benchmarks.problems import real
from benchmarks.problems.real import TABLES, load_real, names, split
from prunesymnet.data import make_dataset

MODULES = {"scikit-learn": "sklearn", "statsmodels": "statsmodels", "faraway": "faraway"}

# Rows and columns. Others would say that a package has changed its table: results from before no longer compare.
SHAPES = {
    "diabetes": (442, 10), "iris": (150, 3), "wine": (178, 12),
    "anes96": (944, 9), "cancer": (301, 1), "elnino": (61, 11), "engel": (235, 1), "fair": (6366, 7),
    "grunfeld": (220, 3), "macrodata": (203, 12), "star98": (303, 11),
    "air": (144, 1), "cars": (50, 1), "cornnit": (44, 1), "families": (934, 4), "fat": (252, 14), "fruitfly": (124, 5),
    "gammaray": (63, 1), "globwarm": (145, 9), "jsp": (1154, 4), "kanga": (101, 20), "newhamp": (276, 8),
    "ozone": (330, 9), "pima": (392, 7), "pipeline": (107, 1), "prostate": (97, 8), "sat": (50, 4), "star": (47, 1),
    "tvdoctor": (38, 2), "whiteside": (56, 2),
}  # fmt: skip


def test_there_are_enough_tables_each_with_a_name_of_its_own():
    assert len(TABLES) >= 20
    assert sorted(names()) == sorted(SHAPES)  # as lists: none is there twice


@pytest.mark.parametrize("table", TABLES, ids=names())
def test_a_table_can_be_fitted_and_judged(table):
    pytest.importorskip(MODULES[table.package])
    data = load_real(table.name)
    assert data.X.shape == SHAPES[table.name]
    assert np.isfinite(data.X).all()
    assert np.isfinite(data.y).all()
    assert data.target not in data.names
    assert not {*table.without} & {*data.names}
    for name, column in data.columns.items():
        assert np.ptp(column) > 0, name
        assert abs(np.corrcoef(column, data.y)[0, 1]) < 0.9999, name
    train, test = split(data, 0)
    assert np.ptp(train.y) > 0
    assert np.ptp(test.y) > 0, "R² needs a target that varies"


@pytest.mark.parametrize("rows", [38, 61, 100])
def test_a_split_is_a_partition_with_a_quarter_held_out(rows):
    data = make_dataset(np.arange(rows) % 7, np.arange(rows))
    train, test = split(data, 3)
    assert test.rows == round(rows / 4)
    assert sorted([*train.y, *test.y]) == list(range(rows))
    assert split(data, 3)[1].y.tobytes() == test.y.tobytes()
    assert split(data, 4)[1].y.tobytes() != test.y.tobytes()


def test_words_become_columns_of_0_and_1_and_what_says_nothing_is_dropped(monkeypatch):
    frame = pd.DataFrame(
        {
            "yield": [1.0, 2.0, 4.0, 8.0, 9.0],
            "soil type": ["sand", "clay", "loam", "sand", None],
            "site": ["north"] * 5,
            "plot": [1, 2, 3, 4, 5],
            "year": [1, 1, 1, 2, 1],
        }
    )
    monkeypatch.setitem(real.READERS, "farm", lambda name: frame)
    monkeypatch.setattr(real, "TABLES", (real.Table("farm", "field", "yield", ("plot",), "year == 1"),))
    data = load_real("field")
    assert data.target == "yield_"
    assert data.y.tolist() == [1.0, 2.0, 4.0]
    assert {name: column.tolist() for name, column in data.columns.items()} == {
        "soil_type_loam": [0.0, 0.0, 1.0],
        "soil_type_sand": [1.0, 0.0, 0.0],
    }


def test_a_package_that_is_not_there_and_a_name_that_is_none_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "faraway.datasets.cars", None)
    with pytest.raises(ModuleNotFoundError, match=r"'cars' comes with faraway, .* pip install 'prunesymnet\[bench\]'"):
        load_real("cars")
    with pytest.raises(ValueError, match="no real table is named 'boston'; there are diabetes, iris"):
        load_real("boston")
