"""Products of any powers of nodes: log|y| is a sum of log|f|, so `c * f**p * g**q * ...` is found term by term.

The logarithms of all columns may be fixed terms, so that the monomial in front comes for free. Exponents that come out
near whole numbers or halves are made so: then the signs of the factors count, which the logarithm has lost.

An exponent may be a column as well: `(1 + r)**n` has the logarithm `n*log(1 + r)`.
"""

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Bank, Term
from prunesymnet.bank.monomials import power_law
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import EXACT, Proposal
from prunesymnet.bank.regression import Regression
from prunesymnet.bank.scan import scan_singles
from prunesymnet.bank.targets import MOST_LEFT_OUT, even_out
from prunesymnet.expression import Variable, apply
from prunesymnet.search.stages.base import Batch, Context, Stage, When

Array = NDArray[np.float64]

NEAR = 0.15  # of a whole number or a half: an exponent found from a formula that is not complete is not exact
NEARLY = 1e-6  # the same of a product that is complete
LEAST_SPREAD = 1e-6  # of a logarithm: what varies less has no power that matters
BASES = 100  # simple nodes that are raised to the power of a column
LARGEST_LOGARITHM = 100.0  # of such a power: squares of larger ones leave the range of floats
STEPS, BEAM = 3, 8  # factors beside the columns, and states that go on side by side


def propose(context: Context) -> Iterator[Batch]:
    yield Batch(products_of_powers(context.problem, context.single_bank, context.scanner.keep))


class Logarithms(NamedTuple):
    """Of what a product may be made of: their `values` [factors, rows], the factors' complexities, and each factor."""

    values: Array
    complexity: NDArray[np.int64]
    factor: Callable[[int], Term]

    @classmethod
    def of(cls, problem: Problem, bank: Bank) -> "Logarithms":
        """Of the nodes, and of simple ones to the power of a column."""
        with np.errstate(all="ignore"):
            logs = np.log(np.abs(bank.values))
        nodes = np.flatnonzero(_is_usable(logs))
        found = cls(logs[nodes], bank.complexity[nodes], lambda k: bank.term(int(nodes[k])))
        if not {"exp", "log"} <= set(problem.operators) or problem.dimensions is not None:
            return found
        bases = nodes[(bank.values[nodes] > 0).all(axis=1)][:BASES]
        names = tuple(problem.columns)
        powers = np.array([column * logs[node] for column, node in product(problem.columns.values(), bases)])
        powers = powers.reshape(-1, logs.shape[1])
        kept = np.flatnonzero(_is_usable(powers) & (np.abs(powers).max(axis=1, initial=0.0) < LARGEST_LOGARITHM))
        column, base = np.divmod(kept, max(len(bases), 1))
        length = bank.complexity[bases[base]] + len(("exp", "*", "log", "column"))

        def factor(k: int) -> Term:
            if k < len(nodes):
                return found.factor(k)
            k -= len(nodes)
            exponent, inside = Variable(names[column[k]]), bank.expression(int(bases[base[k]]))
            table = problem.operators
            return Term(np.exp(powers[kept[k]]), apply(table["exp"], exponent * apply(table["log"], inside)))

        return cls(np.concatenate([found.values, powers[kept]]), np.concatenate([found.complexity, length]), factor)


def _is_usable(logs: Array) -> NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.isfinite(logs).all(axis=1) & (np.ptp(logs, axis=1) > LEAST_SPREAD))


def products_of_powers(problem: Problem, bank: Bank, keep: int) -> list[Proposal]:
    """The best products of up to three powers of nodes, with powers of the columns and without."""
    y = problem.y
    logs = Logarithms.of(problem, bank)
    with np.errstate(all="ignore"):
        target = np.log(np.abs(y))
    rows = np.isfinite(target)
    if rows.mean() < 1 - MOST_LEFT_OUT or len(bank) < 2 or not len(logs.complexity):
        return []
    target = np.where(rows, target, 0.0)
    columns = [Term(column, Variable(name)) for name, column in problem.nonzero_columns.items()]
    weights = even_out(np.where(rows, problem.weights * y * y, 0.0))  # an error of log|y| is one of y times |y|
    proposals: dict[tuple[bool, tuple[int, ...]], Proposal] = {}
    for base in ([], columns):
        fixed = [np.log(np.abs(term.values)) for term in base]
        states: list[tuple[int, ...]] = [()]
        for _ in range(STEPS):
            terms = [[*fixed, *(logs.values[k] for k in chosen)] for chosen in states]
            regressions = [Regression(target, np.array(t) if t else None, weights) for t in terms]
            found = scan_singles(logs.values, logs.complexity, regressions, keep=keep)
            fresh = sorted((left, (*chosen, k)) for chosen, ks in zip(states, found, strict=True) for k, left in ks)
            states = [chosen for _, chosen in fresh[:BEAM]]
            for left, chosen in fresh[: 4 * BEAM]:
                key = (bool(base), tuple(sorted(chosen)))
                if key not in proposals:
                    factors = [*base, *map(logs.factor, chosen)]
                    formula = power_law(factors, y, weights, near=NEARLY if left < EXACT else NEAR)
                    if formula is not None:
                        proposals[key] = Proposal(formula, left)
            if not fresh or fresh[0][0] < EXACT:
                break
    return list(proposals.values())


POWERS = Stage("powers", When.LEVEL, propose)
