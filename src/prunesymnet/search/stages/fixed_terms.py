"""Terms fixed beforehand: what is missed beside a large term is seen once that term is in the formula already."""

from prunesymnet.bank.query import Query
from prunesymnet.search.stages.base import Context, Stage, When


def queries(context: Context) -> list[Query]:
    """All terms of a low degree together, and each simple node alone."""
    target = context.problem.target
    terms = [*context.polynomial_terms(1, 2, 3), *((term,) for term in context.simple_terms(context.budget.factors))]
    return [Query(target, fixed) for fixed in terms]


FIXED_TERMS = Stage("fixed_terms", When.LEVEL, queries=queries)
