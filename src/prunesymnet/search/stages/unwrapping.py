"""Operators undone on the target: if y is `exp(g)/f`, the bank is asked for g = log(y*f), for each simple f."""

from prunesymnet.bank.query import Query
from prunesymnet.bank.targets import unwrap
from prunesymnet.search.stages.base import Context, Stage, When


def queries(context: Context) -> list[Query]:
    problem = context.problem
    factors = context.simple_factors(context.budget.factors)
    return [Query(target) for target in unwrap(problem.target, factors, problem.operators)[1:]]


UNWRAPPING = Stage("unwrapping", When.LEVEL, queries=queries)
