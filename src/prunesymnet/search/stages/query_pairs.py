"""Products and sums of two nodes for the queries of other stages."""

from collections.abc import Iterator

from prunesymnet.bank.query import in_parts
from prunesymnet.search.stages.base import Batch, Context, Stage, When


def propose(context: Context) -> Iterator[Batch]:
    """Later levels have many queries: those that a single node explains best come first."""
    budget, order = context.budget, list(range(1, len(context.queries)))
    if budget.level:
        order.sort(key=lambda k: context.best_single[k])
    queries = [context.queries[k] for k in order[: budget.paired_queries]]
    for part in in_parts(queries, budget.queries_at_a_time):
        answers = context.scanner.pairs(part, context.pair_bank)
        yield Batch(answers.proposals, answers.scored)


QUERY_PAIRS = Stage("query_pairs", When.LEVEL, propose)
