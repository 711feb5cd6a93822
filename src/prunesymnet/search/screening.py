"""Many columns: which of them matter, and what is found while asking.

A bank of many columns has no room for anything but sums of two. So first each column is taken alone, with the
operators of one operand (x, x**2, sin(x), 1/x ...), and matching pursuit over all products and pairs of these says
which columns come up; the columns of the best linear model join them. A column that acts only through a product with
another is seen, because products are scored.
"""

from collections.abc import Callable

import numpy as np

from prunesymnet.bank.bank import Bank, grow_bank
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import Proposal
from prunesymnet.expression import Variable, postorder
from prunesymnet.search.stages.base import Context
from prunesymnet.search.stages.pursuit import pursue

MOST_NODES = 1200  # of all columns together, each alone: their pairs are scanned in a tenth of a second
BEAM, STEPS = 4, 4  # four products or eight nodes name at least as many columns as matter


def screen(
    context: Context, count: int, told: Callable[[list[Proposal]], None] = lambda _: None
) -> tuple[list[str], list[Proposal]]:
    """The `count` columns that matter most, in the table's order, and the formulas that say so; `told` gets the first
    of these on the way."""
    problem = context.problem
    found = pursue(
        problem.target, _columns_alone(context), context.scanner, starts=[()], beam=BEAM, steps=STEPS,
        check=context.check, told=told,
    )  # fmt: skip
    trees = (node for proposal in found for node in postorder(proposal.expression))
    names = dict.fromkeys(node.name for node in trees if isinstance(node, Variable))
    chosen = set([*names, *(name for name in _by_correlation(problem) if name not in names)][:count])
    return [name for name in problem.columns if name in chosen], found


def _columns_alone(context: Context) -> Bank:
    """Each column with operators of one operand only, as deep as there is room."""
    unary = [row for row in context.problem.operators.values() if row.arity == 1]
    problem = context.problem
    return context.with_reciprocals(grow_bank(problem.columns, unary, MOST_NODES, dimensions=problem.dimensions))


def _by_correlation(problem: Problem) -> list[str]:
    names, table = list(problem.columns), np.array(list(problem.columns.values()))
    centred = table - np.average(table, axis=1, weights=problem.weights)[:, None]
    y = problem.y - np.average(problem.y, weights=problem.weights)
    with np.errstate(all="ignore"):
        linear = np.abs(centred @ (problem.weights * y)) / np.sqrt((centred**2) @ problem.weights)
    return [names[k] for k in np.argsort(-np.nan_to_num(linear), kind="stable")]
