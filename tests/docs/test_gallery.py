"""The gallery: its page shows what was found, its tables can be read, and each says where it is from."""

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).parents[2] / "docs"
spec = importlib.util.spec_from_file_location("gallery", DOCS / "gallery" / "make.py")
gallery = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gallery)


def test_the_page_shows_what_was_found():
    found = json.loads(gallery.FOUND.read_text())
    assert set(found) == {entry.name for entry in gallery.ENTRIES}
    assert gallery.page(found) == gallery.PAGE.read_text(), "run python docs/gallery/make.py --page"
    for entry in gallery.ENTRIES:
        assert found[entry.name]["formula"].startswith(f"{entry.target} = ")
        assert (DOCS / "gallery" / f"{entry.name}.png").stat().st_size < 100_000


@pytest.mark.parametrize("entry", gallery.ENTRIES, ids=lambda entry: entry.name)
def test_a_table_can_be_read_and_has_a_source(entry):
    data = gallery.read(entry)
    assert data.rows >= 6
    assert entry.target == data.target
    assert entry.source.endswith(".")
    assert re.search(r"\b(18|19|20)\d\d\b|NOAA", entry.source)


def test_the_background_radiation_is_that_of_a_black_body():
    data = gallery.read(next(entry for entry in gallery.ENTRIES if entry.name == "firas"))
    frequency = data.X[:, 0] * 100 * 299792458.0
    exponent = 6.62607015e-34 * frequency / (1.380649e-23 * 2.725)
    planck = 2 * 6.62607015e-34 * frequency**3 / 299792458.0**2 / np.expm1(exponent) * 1e20  # in MJy/sr
    assert np.abs(data.y - planck)[:-2].max() < 0.07


@pytest.mark.parametrize("formula", ["y = 2.0/x", "y = 2.0/x + x**3"])
@pytest.mark.parametrize("ties", [[], ["y = x", "y = 2*x"]])
def test_a_section_says_names_and_ties_where_there_are_some(formula, ties):
    found = {"formula": formula, "named": "y = c1/x", "constants": ["c1 = 2"], "r2": 0.5, "rows": 9, "ties": ties}
    text = "\n".join(gallery.section(gallery.ENTRIES[0], found | {"status": "done", "commit": "abc"}))
    assert ("Has the form of inverse proportion; also Boyle's law." in text) == (formula == "y = 2.0/x")
    assert ("hardly tell it from `x`, `2*x`" in text) == bool(ties)
