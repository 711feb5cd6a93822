"""Which of several equations to believe: the front of complexity and error, and the choice from it.

>>> from prunesymnet.coefficients import fit
>>> from prunesymnet.data import load_example
>>> from prunesymnet.expression import parse
>>> boyle = load_example("boyle")
>>> forms = ["1.0*volume + 1.0", "1.0/volume", "1.0/volume + 1.0*volume + 1.0*exp(-1.0*volume) + 1.0"]
>>> equations = [Equation.of(fit(parse(form), boyle), boyle) for form in forms]
>>> print(choose(equations).text(digits=4))
1407/volume
>>> choose(equations, "accuracy") is equations[2]
True

A formula's description length is what it takes to write down the formula, its constants to the precision that the
data give them, and the residuals: a longer formula must pay for itself by smaller residuals.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

from prunesymnet.equations import Equation, Front

Criterion = Callable[[Equation], float]
Selection = str | Callable[[Any], int]  # a criterion's name, or a function of the front's table that returns a row


def _information(penalty: Callable[[int], float]) -> Criterion:
    def criterion(equation: Equation) -> float:
        constants = len(equation.expression.constants) + 1  # and the size of the residuals
        return equation.rows * math.log(max(equation.loss, 1e-300)) + penalty(equation.rows) * constants

    return criterion


CRITERIA: dict[str, Criterion] = {
    "mdl": lambda equation: equation.description_length,
    "bic": _information(math.log),
    "aic": _information(lambda rows: 2.0),
    "accuracy": lambda equation: equation.loss,
    "heldout": lambda equation: -equation.heldout_r2,
}
"""What is to be least: the description length in bits, Bayes' or Akaike's information criterion (which count the
constants, and not the operators), the error on all rows, or the error on held-out rows."""


NEAR_TIE = math.log2(20)  # bits: odds of less than 20 to 1, as of a result that is not significant at 5%


def is_near_tie(one: Equation, other: Equation) -> bool:
    """Whether the data hardly tell two equations apart: the difference in description length is the odds."""
    return abs(one.description_length - other.description_length) < NEAR_TIE


def choose(equations: Iterable[Equation], by: str = "mdl") -> Equation:
    """The best by one of the CRITERIA; of equals, the simpler."""
    if by not in CRITERIA:
        raise ValueError(f"selection must be one of {', '.join(CRITERIA)}, got {by!r}")
    ranked = [(_number(CRITERIA[by](e)), e.complexity, i, e) for i, e in enumerate(equations)]
    if not ranked:
        raise ValueError("equations must have at least one to choose from")
    return min(ranked)[-1]


def criterion_of(selection: Selection, *, holds_out: bool = False) -> str:
    """The criterion that equations are ranked by: the shortest description where the user's function is asked later
    (`chosen_by`), and where no rows are held out for "heldout"."""
    named = isinstance(selection, str) and (holds_out or selection != "heldout")
    return str(selection) if named else "mdl"


def chosen_by(selection: Selection, shown: Front) -> Front:
    """The front with the row that the user's function chooses; as it is where the selection is a criterion's name."""
    if isinstance(selection, str):
        return shown
    row, rows = selection(shown.table()), len(shown)
    if isinstance(row, bool) or not isinstance(row, Integral) or not 0 <= int(row) < rows:
        raise ValueError(f"the function `selection` must return a row of the front, 0 to {rows - 1}, got {row!r}")
    return replace(shown, chosen=int(row))


def front(equations: Sequence[Equation], keep: Equation | None = None) -> list[Equation]:
    """Of each complexity the equation with the shortest description, as far as no simpler one has as small an error;
    from the simplest to the most exact. `keep` is in it in any case."""
    best: dict[int, Equation] = {}
    for equation in equations:
        rival = best.get(equation.complexity)
        if rival is None or (rival is not keep and _order(equation, keep) < _order(rival, keep)):
            best[equation.complexity] = equation
    kept: list[Equation] = []
    least = math.inf
    for _, equation in sorted(best.items(), key=lambda item: item[0]):
        if equation is keep or _number(equation.loss) < least:
            kept.append(equation)
            least = min(least, equation.loss)
    return kept


def _order(equation: Equation, keep: Equation | None) -> tuple[bool, float, float]:
    return equation is not keep, _number(equation.description_length), _number(equation.loss)


def _number(value: float) -> float:
    return math.inf if math.isnan(value) else value
