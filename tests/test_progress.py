import io

import numpy as np
from rich.console import Console

from prunesymnet.data import make_dataset
from prunesymnet.progress import Progress
from prunesymnet.search import SearchSettings, search

X = np.linspace(-3, 3, 40)
DATA = make_dataset(X, np.sin(X) ** 2 + X, names=["x"])
SETTINGS = SearchSettings(pruner="beam", max_epochs=60, layers=2)


def shown(**options) -> str:
    out = io.StringIO()
    with Progress(60.0, console=Console(file=out, width=160, **options)) as progress:
        search(DATA, SETTINGS, watch=progress)
    return out.getvalue()


def test_a_terminal_shows_where_it_is_and_the_best_formula():
    text = shown(force_terminal=True)
    assert "epoch 60" in text
    assert "formulas fitted" in text
    assert "R²" in text
    assert "x" in text.split("R²")[-1]


def test_elsewhere_it_is_silent():
    assert shown(force_terminal=False).strip() == ""
