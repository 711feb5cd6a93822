"""Formulas that the user expects, for a search to begin with: read, checked against the rules, and fitted.

>>> import numpy as np
>>> from prunesymnet.data import make_dataset
>>> from prunesymnet.expression import to_text
>>> x = np.linspace(0, 4, 50)
>>> table = make_dataset(x, 2 * np.exp(-1.5 * x) + 0.5, names=["x"])
>>> settings = SearchSettings(start_from=("a*exp(-b*x)", "1.0*x"))
>>> guesses = read_guesses(settings, table.names)
>>> [str(guess) for guess in guesses]
['a*exp(-b*x)', '1.0*x']
>>> print(to_text(fitted_guess(guesses[0], table)[0], digits=1))
2*exp(-(0.6)*x)
"""

from collections.abc import Sequence

from prunesymnet.coefficients import FitSettings, fit
from prunesymnet.data import Dataset
from prunesymnet.expression import Expression, parse
from prunesymnet.operators import Operator
from prunesymnet.search.linear_model import linear
from prunesymnet.search.settings import SearchSettings

STARTS = 256  # points from which the constants of a user's form are fitted


def read_guesses(settings: SearchSettings, columns: Sequence[str]) -> tuple[Expression, ...]:
    """The formulas of `start_from`; an error where one could not be an answer of the search."""
    own = [operator for operator in settings.operators if isinstance(operator, Operator)]
    guesses = tuple(parse(text, operators=own) for text in settings.start_from)
    rules = settings.rules()
    for guess in guesses:
        constants = dict.fromkeys(set(guess.variables) - set(columns), 1.0)
        if len(constants) == len(guess.variables) > 0:
            known = ", ".join(columns)
            raise ValueError(f"start_from must be formulas of the columns ({known}), got {str(guess)!r} without any")
        broken = rules.broken_by(guess.substitute(constants))
        if broken:
            raise ValueError(f"start_from must be formulas that keep the constraints, got {str(guess)!r}: {broken}")
    return guesses


def fitted_guess(guess: Expression, data: Dataset) -> list[Expression]:
    """The formula with its constants fitted (names that are no columns, and numbers with a point), alone and beside
    the linear model: a guess that lacks a term is far off without it."""
    parameters = [name for name in guess.variables if name not in data.names]
    forms = [guess, guess + linear([name for name in data.names if name in guess.variables])]
    return [fit(form, data, parameters=parameters, settings=FitSettings(starts=STARTS)).expression for form in forms]
