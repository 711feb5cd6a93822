"""A column as a factor, and a simple node in the denominator of the rest: x*(1 - cos(y*z))/(1 - cos(y))."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from prunesymnet.bank.query import Query, in_parts
from prunesymnet.expression import Variable
from prunesymnet.search.stages.base import QUERIES_AT_A_TIME, Batch, Context, Stage, When


def batches(context: Context) -> Iterator[Callable[[], Batch]]:
    count = 2 * context.budget.factors  # these are tried with single nodes only
    factors = context.simple_factors(count)
    leaves = [factor for factor in factors if isinstance(factor.term.expression, Variable)]
    targets = [target for factor in leaves if (target := context.problem.target.undo(factor)) is not None]
    if context.problem.groups is not None:  # a product of columns has been divided out already
        targets.insert(0, context.problem.target)
    terms = context.simple_terms(count)
    queries = [Query(target, denominator=term) for target in targets for term in terms]
    yield from (partial(_batch, context, part) for part in in_parts(queries, QUERIES_AT_A_TIME))


def _batch(context: Context, queries: Sequence[Query]) -> Batch:
    answers = context.scanner.singles(queries, context.single_bank)
    return Batch(answers.proposals, answers.scored)


FACTORED_QUOTIENTS = Stage("factored_quotients", When.LEVEL, batches=batches, needs=("/", "inv"))
