"""A simple node in the denominator: `y = (c0 + c1*f)/(1 - c2*g)` is linear once it is multiplied out."""

from prunesymnet.bank.query import Query
from prunesymnet.search.stages.base import Context, Stage, When


def queries(context: Context) -> list[Query]:
    target = context.problem.target
    return [Query(target, denominator=term) for term in context.simple_terms(context.budget.factors)]


DENOMINATORS = Stage("denominators", When.LEVEL, queries=queries, needs=("/", "inv"))
