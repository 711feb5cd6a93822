"""Formulas made from formulas: with a weight on every edge, with one operator less, without a needless abs."""

from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np

from prunesymnet.data import Dataset
from prunesymnet.expression import (
    Apply,
    Constant,
    Expression,
    Variable,
    apply,
    canonical_and_skeleton,
    evaluate,
    fold,
    postorder,
)
from prunesymnet.operators import Operator

RIDGE = 1e-12  # beside columns of length one
WELL_KNOWN = 1e4  # times the variance that a coefficient would have alone


def linear(names: Sequence[str]) -> Expression:
    """Where every search starts from: the linear model of some columns."""
    total: Expression = Constant(1.0)
    for name in names:
        total = total + Constant(1.0) * Variable(name)
    return total


def needed_columns(data: Dataset, most: float) -> tuple[str, ...]:
    """The columns that are left when the linear model is taken those that it needs least, one after the other, as long
    as its error stays below `most`."""
    weights = np.full(data.rows, 1.0) if data.weights is None else data.weights
    root = np.sqrt(weights / weights.sum())
    centred = (data.X - root**2 @ data.X) * root[:, None]
    size = np.sqrt(np.einsum("nd,nd->d", centred, centred))
    centred = centred / np.where(size > 0, size, 1.0)
    target = (data.y - root**2 @ data.y) * root
    # All that is needed of the rows. The trace of a ridge makes columns that others make up for the first to go. For d
    # columns this takes about d**3 steps.
    gram = centred.T @ centred + RIDGE * np.eye(data.features)
    along, variation = centred.T @ target, float(target @ target)
    alive, inverse = np.arange(data.features), np.linalg.inv(gram)
    while len(alive):
        solved = inverse @ along[alive]
        cost = solved**2 / np.diagonal(inverse)
        least = int(cost.argmin())
        if variation - float(solved @ along[alive]) + cost[least] > most:
            break
        alive = np.delete(alive, least)
        if inverse[least, least] < WELL_KNOWN:  # the inverse without the column; else too many digits would be lost
            across = inverse[least] / np.sqrt(inverse[least, least])
            inverse = np.delete(np.delete(inverse - np.outer(across, across), least, 0), least, 1)
        else:
            inverse = np.linalg.inv(gram[np.ix_(alive, alive)])
    return tuple(data.names[k] for k in alive)


def simplest_forms(data: Dataset, required: Sequence[str]) -> list[Expression]:
    """The linear model, and what may take its place where it is not allowed: that of the required columns alone, a
    constant."""
    terms = [Constant(1.0) * Variable(name) for name in required]
    without_constant = [reduce(Expression.__add__, terms)] if terms else []
    columns: list[Expression] = [Variable(name) for name in required or data.names[:1]]
    return [linear(data.names), linear(required), *without_constant, reduce(Expression.__add__, columns), Constant(1.0)]


def freed(expression: Expression) -> Expression:
    """With a free weight on every edge, as in the network: what a bank has as `1/(1 + x**2)` is `1/(a + b*x**2)`.

    Exponents stay: they are no operands of the network. `canonical` merges the weights that say the same.
    """

    def weighted(operand: Expression) -> Expression:
        return operand if isinstance(operand, Constant) and operand.is_free else Constant(1.0) * operand

    def combine(operator: Operator, operands: tuple[Expression, ...]) -> Expression:
        if operator.name == "pow":
            return Apply(operator, operands)
        return Apply(operator, tuple(map(weighted, operands)))

    return fold(expression, lambda leaf: leaf, combine)


def without_needless_abs(expression: Expression, data: Dataset) -> Expression:
    """log|u|, as the network has it, is log(u) where u is positive on all rows, and log(-u) where it is negative."""

    def combine(operator: Operator, operands: tuple[Expression, ...]) -> Expression:
        inner = operands[0] if operands else None
        if operator.name == "log" and isinstance(inner, Apply) and inner.operator.name == "abs":
            (operand,) = inner.operands
            values = evaluate(operand, data.columns).values
            if (values > 0).all():
                return apply("log", operand)
            if (values < 0).all():
                return apply("log", apply("neg", operand))
        return Apply(operator, operands)

    return fold(expression, lambda leaf: leaf, combine) if "log(abs(" in str(expression) else expression


def reductions(expression: Expression) -> list[Expression]:
    """The formulas with one operator less: each operator replaced by one of its operands, with a free coefficient."""
    nodes = postorder(expression)
    found: dict[str, Expression] = {}
    for i, node in enumerate(nodes):
        for operand in node.operands:
            smaller, form = canonical_and_skeleton(_replaced(expression, i, Constant(1.0) * operand))
            if smaller.complexity < expression.complexity:
                found.setdefault(form, smaller)
    return list(found.values())


def _replaced(expression: Expression, place: int, by: Expression) -> Expression:
    """The tree with the node at a place (in postfix order) replaced."""
    counter: Iterator[int] = iter(range(expression.size))

    def leaf(this: Expression) -> Expression:
        return by if next(counter) == place else this

    def combine(operator: Operator, operands: tuple[Expression, ...]) -> Expression:
        return by if next(counter) == place else Apply(operator, operands)

    return fold(expression, leaf, combine)
