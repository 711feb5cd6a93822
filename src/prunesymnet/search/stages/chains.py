"""Chains: thousands of targets several operators down, each tested for being simple by matrix products.

`n*(exp(q*v/(k*t)) - 1)` is a monomial n divided out, 1 added, the logarithm taken, and a monomial left. So every chain
of a monomial factor, an operator, an offset of 1 and another operator is undone, and the targets that come out,
[chains, points], are projected on what is simple: linear functions and polynomials of the columns, and (their
logarithms) on the logarithms of the columns, or of these and their sines and cosines. Four products of matrices test
them all.

A chain's target is finite on all rows or is dropped; the fit on y itself decides in the end.
"""

from collections.abc import Iterator
from functools import reduce
from itertools import combinations, islice, product

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.dictionary import in_function
from prunesymnet.bank.monomials import few_enough, monomial_terms, power_law, raised
from prunesymnet.bank.problem import Problem
from prunesymnet.bank.query import Proposal
from prunesymnet.bank.targets import Factor, Function, Offset, Step, Target, invertible
from prunesymnet.coefficients.bases import basis_in_turn
from prunesymnet.coefficients.linear import eliminate
from prunesymnet.expression import Constant, Expression, Variable
from prunesymnet.operators import Operator
from prunesymnet.search.stages.base import Batch, Context, Stage, When
from prunesymnet.search.stages.polynomials import weighted_sum

Array = NDArray[np.float64]

EXPONENTS = (1, -1, 2, -2)  # of a column in the product that a chain begins with: most laws have no others
LOOKED_AT = 20  # times as many products of powers are made as are used: the simplest of them
FORMULAS = 8  # for each that is kept of a chain: the best chains of all
ROUNDING = 1e-10  # of the variation: targets several operators down have lost that many digits
POWER_LAW, WITH_WAVES = "power law", "power law with waves"
WAVES = ("sin", "cos")
EXPONENT_DIGITS = 1e-4  # to which an exponent found several operators down is whole


def propose(context: Context) -> Iterator[Batch]:
    budget = context.budget
    yield Batch(chains(context.problem, budget.chain_columns, budget.chain_factors, context.scanner.keep))


def factors(problem: Problem, columns: int, most: int) -> list[Factor]:
    """Products of up to so many columns, each to a power from -2 to 2: the simplest first."""
    usable = problem.nonzero_columns
    every = islice(_powers(tuple(usable), columns), LOOKED_AT * most)
    simplest = sorted(every, key=lambda powers: sum(abs(exponent) for _, exponent in powers))[:most]
    found = []
    for powers in simplest:
        values = np.prod([usable[name] ** float(exponent) for name, exponent in powers], axis=0)
        trees = [raised(Variable(name), exponent) for name, exponent in powers]
        found.append(Factor(Term(values, reduce(Expression.__mul__, trees))))
    return found


def _powers(names: tuple[str, ...], columns: int) -> Iterator[tuple[tuple[str, int], ...]]:
    """Powers of one column, of two, ..."""
    for count in range(1, columns + 1):
        for chosen in combinations(names, count):
            for exponents in product(EXPONENTS, repeat=count):
                yield tuple(zip(chosen, exponents, strict=True))


def chains(problem: Problem, columns: int, most: int, keep: int) -> list[Proposal]:
    """The formulas whose chain leaves a polynomial or a power law, the most exact first, of equals the shortest."""
    tests = _Tests(problem)
    known = factors(problem, columns, most)
    with np.errstate(all="ignore"):
        starts = np.array([problem.y, *(factor.down(problem.y) for factor in known)])
    found: list[tuple[float, int, str, tuple[Step, ...]]] = []
    for steps, targets in _all(starts, invertible(problem.operators)):
        for kind, left in tests(targets).items():
            for k in np.argsort(left, kind="stable")[:keep]:
                before: tuple[Step, ...] = (known[k - 1],) if k else ()
                found.append((max(float(left[k]), ROUNDING), len(steps) + len(before), kind, before + steps))
    found.sort(key=lambda entry: entry[:2])
    proposals = []
    for unexplained, _, kind, steps in found[: FORMULAS * keep]:
        target = problem.target.undo(*steps)
        formula = None if target is None else tests.formula(kind, target)
        if formula is not None:
            proposals.append(Proposal(formula, 0.0 if unexplained <= ROUNDING else unexplained))
    return proposals


def _all(starts: Array, table: list[Operator]) -> Iterator[tuple[tuple[Step, ...], Array]]:
    """Every chain of an operator, an offset and an operator, some of them left out, and its targets [starts, rows]: not
    numbers where it can't be undone on all rows."""
    signed = [Function(operator, sign) for operator in table for sign in (1, -1)]
    with np.errstate(all="ignore"):
        for first in (None, *signed):
            steps: tuple[Step, ...] = () if first is None else (first,)
            targets = starts if first is None else first.down(starts)
            if not np.isfinite(targets).all(axis=1).any():
                continue
            yield steps, targets
            for offset in (Offset(1), Offset(-1)):
                moved = offset.down(targets)
                yield (*steps, offset), moved
                for last in signed:
                    yield (*steps, offset, last), last.down(moved)


class _Tests:
    """What is simple: polynomials of the columns, and power laws of those that are never zero, and of their waves."""

    def __init__(self, problem: Problem) -> None:
        one = Term(np.ones_like(problem.y), Constant(1))
        self.terms = {"linear": [one, *monomial_terms(problem.columns, 1)]}
        quadratic = [one, *monomial_terms(problem.columns, 2)]
        if few_enough(len(quadratic), len(problem.y)):
            self.terms["quadratic"] = quadratic
        self.bases = {kind: _basis([term.values for term in terms]) for kind, terms in self.terms.items()}
        self.factors = [Term(column, Variable(name)) for name, column in problem.nonzero_columns.items()]
        self.laws = {POWER_LAW: self.factors} if self.factors else {}
        columns = [Term(column, Variable(name)) for name, column in problem.columns.items()]
        functions = [row for name, row in problem.operators.items() if name in WAVES]
        waves = [wave for row, term in product(functions, columns) if (wave := in_function(row, term)).values.all()]
        if waves and few_enough(1 + len(self.factors) + len(waves), len(problem.y)):
            self.laws[WITH_WAVES] = [*self.factors, *waves]
        for kind, factors in self.laws.items():
            self.bases[kind] = _basis([one.values, *(np.log(np.abs(factor.values)) for factor in factors)])

    def __call__(self, targets: Array) -> dict[str, Array]:
        """For each test what it leaves of each target's variation."""
        out = {}
        with np.errstate(all="ignore"):
            for kind, basis in self.bases.items():
                t = np.log(np.abs(targets)) if kind in self.laws else targets
                t = t - t.mean(axis=1, keepdims=True)
                size = np.einsum("tn,tn->t", t, t)
                along = t @ basis.T
                left = 1 - np.einsum("tk,tk->t", along, along) / size
                out[kind] = np.where(np.isfinite(left) & (size > 0), np.maximum(left, 0.0), 1.0)
                if kind == WITH_WAVES:  # so many factors leave less of anything: what is exact counts
                    out[kind] = np.where(out[kind] <= ROUNDING, out[kind], 1.0)
        return out

    def formula(self, kind: str, target: Target) -> Expression | None:
        """The formula of y, by least squares."""
        if kind in self.laws:
            rows = (target.weights > 0) & (target.values != 0)
            law = power_law(self.laws[kind], target.values, rows.astype(float), near=EXPONENT_DIGITS)
            return None if law is None else target.wrap(law)
        terms, root = self.terms[kind], np.sqrt(target.weights)
        columns = np.array([term.values for term in terms]) * root
        kept, _ = eliminate(columns, target.values * root, int((target.weights > 0).sum()))
        return target.wrap(weighted_sum([(c, terms[k].expression) for k, c in kept]))


def _basis(columns: list[Array]) -> Array:
    """Orthonormal rows that span the columns beside the first, which is constant."""
    return basis_in_turn(np.array(columns), ROUNDING)[1:]


CHAINS = Stage("chains", When.LEVEL, propose)
