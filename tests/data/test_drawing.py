"""Rows drawn in one pass: each with the same chance, and every part of the target's range with its share."""

import numpy as np
import pytest

from prunesymnet.data.chunks import Chunk, Chunks
from prunesymnet.data.drawing import draw, stratified
from prunesymnet.errors import DataError


class Arrays(Chunks):
    """A table in memory that says how many rows it has, or not."""

    name, not_numbers = "the table", {}

    def __init__(self, columns, size, known):
        self.columns, self.size = columns, size
        self.labels = tuple(columns)
        self.rows = len(next(iter(columns.values()))) if known else None

    def map(self, work, columns, given=lambda: None):
        for number, first in enumerate(range(0, len(self.columns[columns[0]]), self.size)):
            part = {label: self.columns[label][first : first + self.size] for label in columns}
            yield work(Chunk(number, part, "row", first), given())


Y = np.random.default_rng(0).gamma(0.5, size=40_000) ** 2  # with a long tail
PLACE = np.arange(float(len(Y)))


@pytest.mark.parametrize("known", [True, False])
def test_each_row_has_the_same_chance_in_any_place(known):
    drawn = draw(Arrays({"place": PLACE, "y": Y}, 1000, known), ["place", "y"], most=4000)
    places = drawn.columns["place"]
    assert drawn.rows == len(Y)
    assert len(places) == len(set(places)) == 4000
    assert (np.diff(places) > 0).all()
    tenths = np.histogram(places, bins=10, range=(0, len(Y)))[0]
    assert (np.abs(tenths - 400) < 6 * np.sqrt(400)).all()  # standard deviations of a count
    assert Y[places.astype(int)].tolist() == drawn.columns["y"].tolist()


def test_it_does_not_depend_on_what_made_the_table():
    """A table that was made with the seed that rows are drawn with would be drawn by its own values."""
    values = np.random.default_rng(0).random(20_000)
    drawn = draw(Arrays({"y": values}, 20_000, known=True), ["y"], seed=0, most=2000)
    assert drawn.columns["y"].mean() == pytest.approx(0.5, abs=6 * np.sqrt(1 / 12 / 2000))


def test_strata_have_their_share_of_the_target():
    rows = stratified(Y, 1000, seed=1)
    assert len(rows) == len(set(rows)) == 1000
    assert (np.diff(rows) > 0).all()
    ranks = np.sort(np.argsort(np.argsort(Y))[rows])
    assert (np.abs(ranks - 40 * np.arange(1000)) <= 40).all()  # one of each forty, up to the greatest
    assert stratified(Y[:10], 20).tolist() == list(range(10))


def test_equal_targets_are_drawn_by_chance():
    rows = stratified(np.zeros(10_000), 1000)
    assert rows.mean() == pytest.approx(5000, abs=6 * 10_000 / np.sqrt(12 * 1000))


def test_a_size_whose_square_is_no_number_is_an_error():
    with pytest.raises(DataError, match="'y' reaches 1e\\+200"):
        draw(Arrays({"y": np.array([1.0, 1e200, 2.0])}, 2, known=True), ["y"])
