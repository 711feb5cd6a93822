"""One node of a large bank for the target, and for each query of other stages."""

from collections.abc import Iterator

from prunesymnet.bank.query import Query
from prunesymnet.search.stages.base import Batch, Context, Stage, When


def propose(context: Context) -> Iterator[Batch]:
    answers = context.scanner.singles([Query(context.problem.target)], context.single_bank)
    yield Batch(answers.proposals, answers.scored)
    for answers in context.single_answers():
        yield Batch(answers.proposals, answers.scored)


SINGLES = Stage("singles", When.LEVEL, propose)
