"""Targets that look best, or are simplest, asked for several terms, and unwrapped once more."""

from collections.abc import Iterator

from prunesymnet.bank.query import Query, in_parts
from prunesymnet.bank.targets import unwrap
from prunesymnet.search.stages.base import QUERIES_AT_A_TIME, Batch, Context, Stage, When
from prunesymnet.search.stages.pursuit import pursue

BEAM = 6  # targets that are unwrapped once more
SIMPLE = 2  # complexity of the operators undone: such a target is always worth a try
FACTORS = 24  # simple nodes that are divided out at the second unwrapping, and queries that are asked for pairs
PAIRS_AT_A_TIME = 16  # queries in one scan of pairs: so many can be given up when an answer is exact


def propose(context: Context) -> Iterator[Batch]:
    if context.budget.level == 0:  # what is cheaper comes first
        return
    queries, best = context.queries, context.best_single
    targets = [k for k, query in enumerate(queries) if query.target.steps and not query.columns()]
    chosen = sorted(targets, key=lambda k: best[k])[:BEAM]
    simple = [k for k in targets if queries[k].target.complexity <= SIMPLE and k not in chosen]
    found = [(queries[k].target, context.single_bank.term(best[k][1])) for k in [*chosen, *simple]]
    low_degrees = context.polynomial_terms(1, 2)
    for target, term in found:
        starts = [(term,), *low_degrees]
        check = context.check
        yield Batch(
            pursue(target, context.pursuit_bank, context.scanner, starts=starts, beam=2, steps=1, swaps=0, check=check)
        )
    factors = context.simple_factors(FACTORS)
    deeper = [unwrap(target, factors, context.problem.operators)[1:] for target, _ in found[:BEAM]]
    asked = [Query(target) for targets in deeper for target in targets]
    asked += [Query(target, terms) for target, _ in found for terms in low_degrees]
    ranked: list[tuple[float, int]] = []
    for part in in_parts(asked, QUERIES_AT_A_TIME):
        answers = context.scanner.singles(part, context.single_bank)
        ranked += answers.best
        yield Batch(answers.proposals, answers.scored)
    order = sorted(range(len(asked)), key=lambda k: ranked[k])
    for part in in_parts([asked[k] for k in order[:FACTORS]], PAIRS_AT_A_TIME):
        answers = context.scanner.pairs(part, context.query_bank)
        yield Batch(answers.proposals, answers.scored)


NESTED_TARGETS = Stage("nested_targets", When.LEVEL, propose)
