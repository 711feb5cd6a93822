"""All products and sums of two nodes of a bank, for the target itself: of a small one first, of a larger one later."""

from collections.abc import Iterator

from prunesymnet.bank.bank import Bank
from prunesymnet.search.stages.base import Batch, Context, Stage, When

MANY_COLUMNS = 5  # of more, pairs of as many nodes are tried as of so many: time grows with their square


def propose(context: Context) -> Iterator[Batch]:
    yield from _pairs(context, context.pair_bank)


def propose_wide(context: Context) -> Iterator[Batch]:
    """In a table of many columns, a small bank has hardly more than these: a law in which several stand on either side
    is a pair of a larger one."""
    nodes = context.budget.wide_nodes * min(len(context.problem.columns), MANY_COLUMNS)
    yield from _pairs(context, context.with_reciprocals(context.single_bank.first(nodes)))


def _pairs(context: Context, bank: Bank) -> Iterator[Batch]:
    answers = context.scanner.pairs(context.queries[:1], bank)
    yield Batch(answers.proposals, answers.scored)


PAIRS = Stage("pairs", When.LEVEL, propose)
WIDE_PAIRS = Stage("wide_pairs", When.LEVEL, propose_wide)
