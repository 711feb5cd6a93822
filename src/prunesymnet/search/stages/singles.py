"""One node of a large bank, for the target and for the queries of other stages."""

from collections.abc import Iterator

from prunesymnet.search.stages.base import Batch, Context, Stage, When


def propose(context: Context) -> Iterator[Batch]:
    for answers in context.single_answers():
        yield Batch(answers.proposals, answers.scored)


SINGLES = Stage("singles", When.LEVEL, propose)
