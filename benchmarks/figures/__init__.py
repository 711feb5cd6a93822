"""The figures that are made from the file of runs, each as SVG and as PNG.

    python -m benchmarks.figures             writes benchmarks/results/figures/

Each is a function of the runs (`benchmarks.statistics.frame`) to a figure, or to None where it would be empty.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from benchmarks import record, statistics
from benchmarks.figures import real, recovery, strips
from benchmarks.figures.style import LOOK, save

FOLDER = record.RESULTS / "figures"
FIGURES: dict[str, Callable[[pd.DataFrame], Figure | None]] = {
    "mse": strips.mse,
    "time": recovery.time,
    "noise": recovery.noise,
    "points": recovery.points,
    "complexity": strips.complexity,
    "real": real.real,
    "seconds": strips.times,
}


def write(lines: Sequence[dict[str, Any]], folder: Path = FOLDER) -> list[Path]:
    """All figures for which there are runs, as files; a message for each of the others."""
    folder.mkdir(parents=True, exist_ok=True)
    runs = statistics.frame(lines)
    written = []
    for name, draw in FIGURES.items():
        with mpl.rc_context(LOOK):
            figure = draw(runs)
        if figure is None:
            print(f"{name}: no runs yet")
            continue
        written += save(figure, folder, name)
    return written
