"""The linear model: where every search starts from, and what its answer is compared with."""

from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np

from prunesymnet.coefficients import Fit, fit
from prunesymnet.coefficients.bases import of_length_one
from prunesymnet.coefficients.description import rough_length
from prunesymnet.coefficients.fit import measure
from prunesymnet.data import Dataset
from prunesymnet.expression import Constant, Expression, Variable, evaluate
from prunesymnet.search.forms import with_canonical_formula

RIDGE = 1e-12  # beside columns of length one
WELL_KNOWN = 1e4  # times the variance that a coefficient would have alone
NO_WORSE = 1e-3  # of R²: rounding may cost so much against the linear model, and chance never more
STANDARD_ERRORS = 2  # by which each constant of the linear model may be off by chance


def linear(names: Sequence[str]) -> Expression:
    """Where every search starts from: the linear model of some columns."""
    total: Expression = Constant(1.0)
    for name in names:
        total = total + Constant(1.0) * Variable(name)
    return total


def varying(data: Dataset) -> tuple[str, ...]:
    """The columns that have several values, which a constant term does not make up for; all, where none has."""
    return tuple(name for name, column in data.columns.items() if np.ptp(column) > 0) or data.names


def needed_columns(data: Dataset, most: float) -> tuple[str, ...]:
    """The columns that are left when those that the linear model needs least are taken out, one after the other, as
    long as its error stays below `most`."""
    kept = data.names
    for names, error in _fewer_and_fewer(data):
        if error > most:
            break
        kept = names
    return kept


def telling_columns(data: Dataset) -> tuple[str, ...]:
    """The columns of the linear model with the shortest description, of those with fewer and fewer columns."""

    def length(step: tuple[tuple[str, ...], float]) -> float:
        return rough_length(linear(step[0]), data.rows, step[1])

    return min(_fewer_and_fewer(data), key=length)[0]


def _fewer_and_fewer(data: Dataset) -> Iterator[tuple[tuple[str, ...], float]]:
    """The columns of the linear model and its mean squared error, of all columns and then always without the one that
    it needs least. For d columns, all this takes about d**3 steps."""
    weights = np.full(data.rows, 1.0) if data.weights is None else data.weights
    root = np.sqrt(weights / weights.sum())
    centred = of_length_one(((data.X - root**2 @ data.X) * root[:, None]).T)[0].T
    target = (data.y - root**2 @ data.y) * root
    # All that is needed of the rows. The trace of a ridge makes columns that others make up for the first to go.
    gram = centred.T @ centred + RIDGE * np.eye(data.features)
    along, variation = centred.T @ target, float(target @ target)
    alive, inverse = np.arange(data.features), np.linalg.inv(gram)
    while True:
        solved = inverse @ along[alive]
        yield tuple(data.names[k] for k in alive), max(variation - float(solved @ along[alive]), 0.0)
        if not len(alive):
            return
        least = int((solved**2 / np.diagonal(inverse)).argmin())
        alive = np.delete(alive, least)
        if inverse[least, least] < WELL_KNOWN:  # the inverse without the column; else too many digits would be lost
            across = inverse[least] / np.sqrt(inverse[least, least])
            inverse = np.delete(np.delete(inverse - np.outer(across, across), least, 0), least, 1)
        else:
            inverse = np.linalg.inv(gram[np.ix_(alive, alive)])


def simplest_forms(names: Sequence[str], required: Sequence[str]) -> list[Expression]:
    """The linear model of some columns, and what may take its place where it is not allowed: that of the required
    columns alone, a constant."""
    terms = [Constant(1.0) * Variable(name) for name in required]
    without_constant = [reduce(Expression.__add__, terms)] if terms else []
    columns: list[Expression] = [Variable(name) for name in required or names[:1]]
    return [linear(names), linear(required), *without_constant, reduce(Expression.__add__, columns), Constant(1.0)]


def linear_models(data: Dataset) -> tuple[Fit, ...]:
    """The linear model, the one without the columns that it can do without, and that of the shortest description."""
    data = data.only(varying(data))
    whole = fit(linear(data.names), data)
    squares = data.as_squares(evaluate(whole.expression, data.columns).values)
    base = whole if squares is data else measure(whole.expression, squares)
    chosen = data.names, needed_columns(squares, no_worse_than(base, squares)), telling_columns(squares)
    fits = {names: whole if names == data.names else fit(linear(names), data) for names in chosen}
    return tuple(with_canonical_formula(fits[names], data) for names in chosen)


def no_worse_than(base: Fit, data: Dataset) -> float:
    """The error that is no worse than that of the linear model by more than chance explains, or by more than R² can be
    seen to change."""
    constants = len(base.expression.constants)
    chance = base.mse * STANDARD_ERRORS**2 * constants / max(data.rows - constants, 1)
    return base.mse + min(chance, NO_WORSE * data.variation)
