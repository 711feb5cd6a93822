"""The numbers that the paper prints: its tables in `problems/published.csv`, its supplement's in `problems/paper.csv`.

Nothing else here is typed: every other number of a table comes from the file of runs. The methods are named as in that
file; `paper` is the paper's own. Votes are written a:b, and do not always add up to the number of expressions.
"""

import csv
from functools import cache
from pathlib import Path

from benchmarks.methods.registry import METHODS

HERE = Path(__file__).parent / "problems"
DATA_SETS = ("koza", "korns", "ode", "livermore", "aifeynman2", "aifeynman3")


@cache
def _lines(file: str) -> tuple[dict[str, str], ...]:
    with (HERE / file).open(newline="") as lines:
        return tuple(csv.DictReader(lines))


def cells(table: str, method: str = "") -> dict[str, str]:
    """What the paper prints for a method in one of its tables, by data set.

    >>> cells("votes", "gp")["koza"]
    '15:1'
    """
    (line,) = (line for line in _lines("published.csv") if (line["table"], line["method"]) == (table, method))
    return {name: line[name] for name in DATA_SETS}


def counts(table: str, method: str = "") -> dict[str, int]:
    """The same, where the cells are numbers.

    >>> sum(counts("recovered", "paper").values())
    45
    """
    return {name: int(cell) for name, cell in cells(table, method).items()}


def of_five(method: str) -> dict[str, int]:
    """In how many of five runs the supplement says that a method found each expression."""
    return {line["name"]: int(line[METHODS[method].column]) for line in _lines("paper.csv")}
