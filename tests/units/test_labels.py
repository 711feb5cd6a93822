"""Units of a header and those that are given."""

import pytest

from prunesymnet.errors import DataWarning, UnitError
from prunesymnet.units import units_of_labels

LABELS = {"v": "v [m/s]", "n": "n", "E": "E [J]"}


def test_a_header_says_the_units_unless_none_are_wanted():
    assert units_of_labels(LABELS) == {"v": "m/s", "E": "J"}
    assert units_of_labels(LABELS, {}) == {}
    assert units_of_labels({"v": "v"}) == {}


def test_units_are_given_by_name_or_by_label():
    assert units_of_labels(LABELS, {"n": "kg"}) == {"v": "m/s", "E": "J", "n": "kg"}
    assert units_of_labels(LABELS, {"E [J]": "N*m"})["E"] == "N*m"  # which is the same


def test_what_conflicts_or_is_unknown_is_an_error():
    with pytest.raises(UnitError, match="'m/s' in the header and 'km/h' in units"):
        units_of_labels(LABELS, {"v": "km/h"})
    with pytest.raises(UnitError, match="'w', which is no column"):
        units_of_labels(LABELS, {"w": "kg"})
    with pytest.raises(UnitError, match="the unit of n"):
        units_of_labels(LABELS, {"n": "parsnips"})
    with pytest.raises(TypeError, match="units must map names"):
        units_of_labels(LABELS, ["m/s"])


def test_brackets_that_mean_something_else_are_told_of():
    with pytest.warns(DataWarning, match="not used as units.*'USD'"):
        assert units_of_labels({"income": "income [USD]", "v": "v [m/s]"}) == {}
