"""Rows far out on the target's tails, in full.

Everywhere else they count less: of a table without noise, a few rows near a pole would decide alone. But where errors
are as large as most of the values, what stands out of them are these few rows, and short formulas are asked for with
every row as the table has it.
"""

from collections.abc import Iterator

from prunesymnet.bank.query import Query
from prunesymnet.search.stages.base import Batch, Context, Stage, When

MOSTLY = 0.5  # of the variation that all rows have: less is left of it where the tails count less


def propose(context: Context) -> Iterator[Batch]:
    problem = context.problem
    in_full = problem.target_in_full
    if in_full is None or problem.target.variation > MOSTLY * in_full.variation:
        return
    for answers in (
        context.scanner.pairs([Query(in_full)], context.pair_bank),
        context.scanner.singles([Query(in_full)], context.single_bank),
    ):
        yield Batch(answers.proposals, answers.scored)


TAILS = Stage("tails", When.LEVEL, propose)
