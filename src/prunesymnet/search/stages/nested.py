"""Functions inside functions, such as exp(sin(x) + 1), where they are exact.

Banks have none of sin, cos, exp and log inside another: on noisy rows such a formula fits anything, and is no law. On
rows without noise, one that is exact to the last digit is no accident. So a bank without that limit is asked, and only
what is exact is proposed.
"""

from collections.abc import Iterator

from prunesymnet.bank.query import Query
from prunesymnet.bank.targets import unwrap
from prunesymnet.search.stages.base import Batch, Context, Stage, When


def propose(context: Context) -> Iterator[Batch]:
    bank, budget = context.nested_bank, context.budget
    pairs = context.scanner.pairs(context.queries[:1], bank.first(budget.pair_nodes))
    yield Batch([proposal for proposal in pairs.proposals if proposal.exact], pairs.scored)
    targets = unwrap(context.problem.target, (), context.problem.operators)
    singles = context.scanner.singles([Query(target) for target in targets], bank)
    yield Batch([proposal for proposal in singles.proposals if proposal.exact], singles.scored)


NESTED = Stage("nested", When.AFTER_LEVEL, propose)
