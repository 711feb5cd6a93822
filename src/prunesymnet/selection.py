"""Which of several formulas to believe: the front of complexity and error, and the choice by description length.

>>> from prunesymnet.coefficients import fit
>>> from prunesymnet.data import load_example
>>> from prunesymnet.expression import parse
>>> boyle = load_example("boyle")
>>> forms = ["1.0*volume + 1.0", "1.0/volume", "1.0/volume + 1.0*volume + 1.0*exp(-1.0*volume) + 1.0"]
>>> chosen = choose([fit(parse(form), boyle) for form in forms], boyle)
>>> print(round(chosen.expression.constants[0]), len(chosen.expression.constants))
1407 1

A formula's description length is what it takes to write down the formula, its constants to the precision that the
data give them, and the residuals: a longer formula must pay for itself by smaller residuals.
"""

from collections.abc import Iterable

from prunesymnet.coefficients import Fit
from prunesymnet.coefficients.snapping import describe
from prunesymnet.data import Dataset


def choose(fits: Iterable[Fit], data: Dataset) -> Fit:
    """The fit of least description length; of equals, the simpler."""
    ranked = [(describe(fit, data), fit.expression.complexity, i, fit) for i, fit in enumerate(fits)]
    if not ranked:
        raise ValueError("fits must have at least one fit to choose from")
    return min(ranked)[-1]


def front(fits: Iterable[Fit]) -> list[Fit]:
    """The fits that no simpler one equals in error, from the simplest to the most exact."""
    kept: list[Fit] = []
    for fit in sorted(fits, key=lambda fit: (fit.expression.complexity, fit.mse)):
        if not kept or fit.mse < kept[-1].mse:
            kept.append(fit)
    return kept
