"""Rates: exp(w*u) of simple nodes u for a few rates w, as answers to all queries.

`a*(1 - exp(-x/(0.6*b)))` has a constant inside that the bank does not have, and noise hides what unwrapping would undo.
The rates are of either sign, so dense that the fit finds the rest of the way from one of them.

>>> from prunesymnet.expression import Variable
>>> terms = rates([Term(np.linspace(0, 4, 9), Variable("x"))])
>>> len(terms), [str(term.expression) for term in terms][:3]
(10, ['exp(-4.0*x)', 'exp(-2.0*x)', 'exp(-1.0*x)'])
"""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.query import Query, in_parts
from prunesymnet.expression import Constant, apply
from prunesymnet.search.stages.base import QUERIES_AT_A_TIME, Batch, Context, Stage, When

Array = NDArray[np.float64]

RATES = np.array([-4.0, -2.0, -1.0, -0.5, -0.25, 0.25, 0.5, 1.0, 2.0, 4.0])  # by the typical deviation of u
FARTHEST = 30.0  # exponents beyond: only a few rows would count


def propose(context: Context) -> Iterator[Batch]:
    bank = context.pair_bank
    nodes = bank.different(bank.algebraic_nodes())[: context.budget.rate_nodes]
    terms = rates(bank.term(node) for node in nodes)
    if not terms:
        return
    with_rates = bank.first(1).with_terms(terms)
    for part in in_parts([Query(context.problem.target), *context.queries], QUERIES_AT_A_TIME):
        answers = context.scanner.singles(part, with_rates)
        yield Batch(answers.proposals, answers.scored)


def rates(nodes: Iterable[Term]) -> list[Term]:
    """exp(w*u) for these u."""
    found: list[Term] = []
    for u, tree in nodes:
        deviation = float(np.median(np.abs(u - np.median(u))))
        if not deviation > 0:
            continue
        slow = [float(rate) for rate in RATES / deviation if np.abs(rate * u).max() <= FARTHEST]
        found += [Term(np.exp(rate * u), apply("exp", Constant(rate) * tree)) for rate in slow]
    return found


RATES_OF_NODES = Stage("rates", When.LEVEL, propose, needs=("exp",))
