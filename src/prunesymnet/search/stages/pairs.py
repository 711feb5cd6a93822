"""All products and sums of two nodes of the bank, for the target itself: the first thing to ask."""

from collections.abc import Iterator

from prunesymnet.search.stages.base import Batch, Context, Stage, When


def propose(context: Context) -> Iterator[Batch]:
    answers = context.scanner.pairs(context.queries[:1], context.pair_bank)
    yield Batch(answers.proposals, answers.scored)


PAIRS = Stage("pairs", When.LEVEL, propose)
