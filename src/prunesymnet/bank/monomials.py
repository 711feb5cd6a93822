"""Products of columns, and products of powers.

log|t| is linear in log|f|, so `c * f**p * g**q * ...` is one linear solve:

>>> from prunesymnet.expression import to_text
>>> x, y = np.linspace(1, 2, 20), np.linspace(-3, -1, 20) ** 3
>>> factors = [Term(x, Variable("x")), Term(y, Variable("y"))]
>>> formula = power_law(factors, -2 * np.sqrt(x) / y**2, np.ones(20), near=1e-6)
>>> print(to_text(formula, digits=6))
-2*x**(1/2)*y**(-2)
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.coefficients.bases import of_length_one
from prunesymnet.coefficients.linear import weighted_least_squares
from prunesymnet.expression import Constant, Expression, Variable
from prunesymnet.expression.tree import LARGEST_INT

Array = NDArray[np.float64]

DEPENDENT = 1e-9  # of a column's length: what is left of it beside others is its rounding
LARGEST = 600.0  # of a logarithm: beyond it lie no floats
MOST_TERMS = 60  # of a polynomial: the solve costs rows * terms**2
SHARE_OF_ROWS = 0.6  # for the terms of a polynomial: the rest of the rows judges


def few_enough(terms: int, rows: int) -> bool:
    """Whether a polynomial with so many terms can be fitted to so many rows, and judged by them."""
    return terms <= min(SHARE_OF_ROWS * rows, MOST_TERMS)


def monomial_terms(columns: Mapping[str, Array], degree: int) -> list[Term]:
    """All products of the columns of total degree 1 to `degree`, the simplest first."""
    found = []
    for total in range(1, degree + 1):
        for choice in combinations_with_replacement(columns, total):
            with np.errstate(over="ignore"):
                values = np.prod([columns[name] for name in choice], axis=0)
            powers = [raised(Variable(name), choice.count(name)) for name in dict.fromkeys(choice)]
            found.append(Term(values, reduce(Expression.__mul__, powers)))
    return found


def power_law(
    factors: Sequence[Term], target: Array, weights: Array, *, near: float, near_signed: float | None = None
) -> Expression | None:
    """The product of powers of the factors that is nearest to the target, on a logarithmic scale; no row of weight > 0
    may have a factor or a target of 0.

    Exponents within `near` of a whole number or a half are made so. A factor that changes its sign needs a whole
    exponent, so that the signs count, which the logarithm has lost: one within `near_signed` (left out: `near`), and if
    there is none, neither is there a formula."""
    with np.errstate(all="ignore"):
        logs = np.array([np.ones_like(target), *(np.log(np.abs(factor.values)) for factor in factors)])
        goal = np.log(np.abs(target))
    rows = weights > 0
    told_apart = _independent(logs[:, rows])
    solved = np.zeros(len(logs))
    solved[told_apart] = weighted_least_squares(logs[told_apart][:, rows], goal[rows], weights[rows]).coefficients
    chosen: list[tuple[Expression, float]] = []
    product = np.ones_like(target)
    for factor, found in zip(factors, solved[1:].tolist(), strict=True):
        signed = bool((factor.values < 0).any())
        exponent = _rounded(found, near if near_signed is None or not signed else near_signed, signed)
        if exponent is None:
            return None
        if exponent:
            chosen.append((factor.expression, exponent))
            with np.errstate(all="ignore"):
                product = product * np.power(factor.values, exponent)
    with np.errstate(all="ignore"):
        negative = float(weights[rows] @ np.sign(target * product)[rows]) < 0
    size = float(np.exp(np.clip(solved[0], -LARGEST, LARGEST)))
    coefficient: Expression = Constant(-size if negative else size)
    return reduce(Expression.__mul__, _powers(chosen), coefficient)


def _independent(columns: Array) -> NDArray[np.bool_]:
    """Which columns [columns, rows] are no sum of those before them: of y and y**2 as factors, one is enough."""
    left = np.abs(np.diagonal(np.linalg.qr(of_length_one(columns)[0].T, mode="r")))
    return np.concatenate([left, np.zeros(len(columns) - len(left))]) > DEPENDENT


def _powers(chosen: list[tuple[Expression, float]]) -> list[Expression]:
    """Each factor to its exponent; several roots are one: sqrt(x/y) is shorter than sqrt(x)/sqrt(y)."""
    roots = [raised(base, 2 * exponent) for base, exponent in chosen if abs(exponent) == 0.5]
    if len(roots) < 2:
        return [raised(base, exponent) for base, exponent in chosen]
    others = [raised(base, exponent) for base, exponent in chosen if abs(exponent) != 0.5]
    return [*others, reduce(Expression.__mul__, roots) ** (Constant(1) / 2)]


def _rounded(exponent: float, near: float, signed: bool) -> float | None:
    nearest = round(exponent) if signed else round(2 * exponent) / 2
    if abs(exponent - nearest) <= near:
        return float(nearest)
    return None if signed else exponent


def raised(base: Expression, exponent: float) -> Expression:
    """A power: whole exponents and halves are exact, others are free constants."""
    if exponent == 1:
        return base
    if abs(exponent) > LARGEST_INT / 2:  # all floats are whole there
        return base ** Constant(exponent)
    if float(exponent).is_integer():
        return base ** Constant(int(exponent))
    half = (2 * exponent).is_integer()
    return base ** (Constant(int(2 * exponent)) / 2 if half else Constant(exponent))


def quotient_of_powers(parts: Sequence[tuple[Expression, float]]) -> Expression:
    """A product of powers as one quotient."""
    above = [raised(base, exponent) for base, exponent in parts if exponent > 0]
    below = [raised(base, -exponent) for base, exponent in parts if exponent < 0]
    top: Expression = reduce(Expression.__mul__, above) if above else Constant(1)
    return top / reduce(Expression.__mul__, below) if below else top
