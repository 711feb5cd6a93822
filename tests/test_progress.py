import io
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from prunesymnet.data import make_dataset
from prunesymnet.progress import Progress, TensorBoard, _short
from prunesymnet.search import SearchSettings, search

X = np.linspace(-3, 3, 40)
DATA = make_dataset(X, np.sin(X) ** 2 + X, names=["x"])
SETTINGS = SearchSettings(pruner="beam", max_epochs=60, layers=2)


def shown(**options) -> str:
    out = io.StringIO()
    with Progress(60.0, console=Console(file=out, width=160, **options)) as progress:
        search(DATA, SETTINGS, watch=progress)
    return out.getvalue()


def test_a_terminal_shows_where_it_is_and_the_best_formulas():
    text = shown(force_terminal=True)
    assert "epoch" in text
    assert "formulas scored" in text
    assert "fitted" in text
    assert "x" in text.rsplit("y =", 1)[-1]


def test_elsewhere_it_is_silent():
    assert shown(force_terminal=False).strip() == ""


def test_a_line_leaves_room_for_what_a_terminal_writes_at_ctrl_c():
    out = io.StringIO()
    with Progress(60.0, console=Console(file=out, width=60, force_terminal=True)) as progress:
        search(DATA, SETTINGS, watch=progress)
    lines = re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", out.getvalue()).replace("\r", "\n").split("\n")
    assert max(map(len, lines)) == 52  # and four times ^C


def test_a_notebook_shows_it_under_its_cell(monkeypatch):
    pages = []
    handle = SimpleNamespace(update=pages.append)
    display = SimpleNamespace(HTML=str, display=lambda page, display_id: pages.append(page) or handle)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    shown(force_jupyter=True, force_terminal=False)
    assert len(pages) > 2
    assert pages[0] == pages[-1] == ""  # nothing is left of it
    assert "<pre>" in pages[1]
    assert "formulas scored" in pages[1]


def test_it_can_be_hidden():
    out = io.StringIO()
    with Progress(60.0, show=False, console=Console(file=out, force_terminal=True)) as progress:
        search(DATA, SETTINGS, watch=progress)
    assert out.getvalue() == ""


def test_counts_are_short():
    assert [_short(n) for n in (7, 1234, 5.6e6, 7.8e9, 2e13)] == ["7", "1.23 k", "5.6 M", "7.8 G", "20 T"]


def test_tensorboard_gets_each_new_best(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    board = TensorBoard(str(tmp_path))
    search(DATA, SETTINGS, watch=board)
    board.writer.close()
    events = EventAccumulator(str(tmp_path)).Reload()
    assert {"complexity", "error/held-out mse"} <= set(events.Tags()["scalars"])
    errors = [event.value for event in events.Scalars("error/held-out mse")]
    assert errors[-1] <= errors[0]
