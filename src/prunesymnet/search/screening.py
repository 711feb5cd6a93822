"""Many columns: which of them matter, and what is found while asking.

A bank of many columns has no room for anything but sums of two. So first each column is taken alone, with the
operators of one operand (x, x**2, sin(x), 1/x ...), and matching pursuit over all products and pairs of these says
which columns come up; the columns of the best linear model join them. A column that acts only through a product with
another is seen, because products are scored.

Which columns predict rows is told without a formula (`structure/relevance.py`), or by pairs of functions of one column.
Where these predict the rows well, the search goes through each level with these columns first: a table may have many
that have nothing to do with the target.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import log

import numpy as np

from prunesymnet.bank.bank import Bank, grow_bank
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import EXACT, Proposal, Query
from prunesymnet.expression import Variable, postorder
from prunesymnet.search.stages.base import Context
from prunesymnet.search.stages.pursuit import pursue
from prunesymnet.structure.relevance import Relevant, find_relevant
from prunesymnet.structure.smooth import effective_rows

MOST_NODES = 1200  # of all columns together, each alone: their pairs are scanned in a tenth of a second
MOST_RELEVANT = 32  # columns that are asked, those with the largest correlations: each takes longer
ROOM = 5  # columns: of more, the banks of the first level have hardly more than sums and products of two
PREDICTED = 0.5  # of the variation is left at most where columns predict rows: of more, some are likely to be missed
OF_A_PAIR = 3  # coefficients of a sum of two functions with a constant
CLEARLY = 6.0  # of the logarithm of the odds, beyond the best of so many pairs by chance
BEAM, STEPS = 4, 4  # four products or eight nodes name at least as many columns as matter


def relevant_columns(context: Context, spare: int = 1) -> Relevant:
    """The columns that are needed to predict rows, of more than one; no more is asked once fewer than `spare` are not
    needed."""
    problem = context.problem
    if len(problem.columns) == 1:
        return Relevant()
    ranked = _by_correlation(problem)[:MOST_RELEVANT]
    found = find_relevant({name: problem.columns[name] for name in ranked}, problem.y, context.check, spare=spare)
    return (
        found
        if is_sure(found) or len(found.names) > len(problem.columns) - spare
        else _with_those_alone(context, found)
    )


def _with_those_alone(context: Context, found: Relevant) -> Relevant:
    """With the columns of which a product or sum of two functions explains more than chance."""
    problem, alone = context.problem, dict[str, float]()
    freedom = effective_rows(problem.weights) - OF_A_PAIR
    for name in problem.columns:
        context.check()
        bank = replace(context, problem=problem.only([name])).pair_bank
        answers = context.scanner.pairs([Query(problem.target)], bank)
        left = max(min((proposal.unexplained for proposal in answers.proposals), default=1.0), EXACT)
        if -0.5 * freedom * log(left) > log(max(answers.scored * len(problem.columns), 1)) + CLEARLY:
            alone[name] = left
    names = tuple(name for name in problem.columns if name in found.names or name in alone)
    return Relevant(names, min([found.unexplained, *alone.values()]))


def is_sure(relevant: Relevant) -> bool:
    """Whether columns predict rows so well that a whole level is searched with them alone."""
    return relevant.unexplained < PREDICTED


def narrowed(context: Context, relevant: Relevant) -> list[Context]:
    """A context of the columns alone that matter, if there are such and not all do."""
    names = [name for name in context.problem.columns if name in relevant.names]
    few = 0 < len(names) < len(context.problem.columns)
    return [replace(context, problem=context.problem.only(names))] if few else []


def screen(
    context: Context,
    count: int,
    first: Sequence[str] = (),
    told: Callable[[list[Proposal]], None] = lambda _: None,
) -> tuple[list[str], list[Proposal]]:
    """The `count` columns that matter most, those that come `first` among them, in the table's order, and the formulas
    that say so; `told` gets the first of these on the way."""
    problem = context.problem
    found = pursue(
        problem.target, _columns_alone(context), context.scanner, starts=[()], beam=BEAM, steps=STEPS,
        check=context.check, told=told,
    )  # fmt: skip
    trees = (node for proposal in found for node in postorder(proposal.expression))
    names = dict.fromkeys([*first, *(node.name for node in trees if isinstance(node, Variable))])
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
