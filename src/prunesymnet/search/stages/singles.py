"""One node of a large bank, for the target and for the queries of other stages."""

from collections.abc import Iterator

from prunesymnet.search.stages.base import Context, Part, Stage, When


def parts(context: Context) -> Iterator[Part]:
    yield from context.single_parts


SINGLES = Stage("singles", When.LEVEL, parts=parts)
