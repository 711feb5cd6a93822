"""Products and sums of two nodes for the queries of other stages."""

from collections.abc import Iterator

from prunesymnet.bank.query import in_parts
from prunesymnet.search.stages.base import Batch, Context, Part, Stage, When


def parts(context: Context) -> Iterator[Part]:
    """Later levels have many queries: those that a single node explains best come first."""
    budget, order = context.budget, list(range(1, len(context.queries)))
    if budget.level:
        order.sort(key=lambda k: context.best_single[k])
    for some in in_parts(order[: budget.paired_queries], budget.queries_at_a_time):
        yield Part(context, pairs, (some,))


def pairs(context: Context, numbers: list[int]) -> Iterator[Batch]:
    """The answers to some queries."""
    answers = context.scanner.pairs([context.queries[k] for k in numbers], context.pair_bank)
    yield Batch(answers.proposals, answers.scored)


QUERY_PAIRS = Stage("query_pairs", When.LEVEL, parts=parts, waits=True)
