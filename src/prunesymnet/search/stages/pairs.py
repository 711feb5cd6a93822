"""All products and sums of two nodes of the bank, for the target itself."""

from collections.abc import Iterator

from prunesymnet.bank.query import Query
from prunesymnet.search.stages.base import Batch, Context, Stage, When


def propose(context: Context) -> Iterator[Batch]:
    answers = context.scanner.pairs([Query(context.problem.target)], context.pair_bank)
    yield Batch(answers.proposals, answers.scored)


PAIRS = Stage("pairs", When.LEVEL, propose)
