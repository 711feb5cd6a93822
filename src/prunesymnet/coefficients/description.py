"""Description length: what it takes to write down a formula, its constants and the residuals, in bits.

A longer formula must pay for itself by smaller residuals. This is the only place that sets the prices:

- a symbol costs 3 bits, an exact number its digits; powers of a variable can be written as one polynomial, and columns
  with coefficients as one linear model (`formula_bits`);
- a free constant costs the bits to which the data determine it (`description_length`), or half a bit for each factor of
  two in the number of rows where nobody has looked at the derivatives yet (`constant_bits`, the price in BIC);
- residuals cost half a bit per row for each factor of two in the mean squared error (`residual_bits`).

>>> from prunesymnet.expression import parse
>>> formula_bits(parse("x")), formula_bits(parse("3*x"))
(3.0, 11.0)
>>> float(residual_bits(100, 0.25) - residual_bits(100, 1.0))
-100.0
"""

import math
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prunesymnet.coefficients.fit import Fit
from prunesymnet.data import Dataset
from prunesymnet.expression import Apply, Constant, Expression, compile_expression, factored, postorder
from prunesymnet.expression.factoring import multiplied_out
from prunesymnet.expression.linear import NUMBER, LinearCoefficients, linear_coefficients_of
from prunesymnet.expression.polynomial import Polynomial, polynomial, polynomial_of
from prunesymnet.expression.tree import complexity_with
from prunesymnet.operators.operator import CALL

Array = NDArray[np.float64]

BITS_PER_SYMBOL = 3.0  # one of eight, about as many as a formula is written with
ORDINARY = 4.0  # exponents of laws: up to this, and down to its inverse
RARER = 2.0  # bits for each doubling beyond: twice as large, a quarter as frequent
IRRATIONAL = 6.0  # bits: of the numbers of a formula, few are made with pi, roots or e
MOST_DIGITS = 52.0  # bits of a float
SMALLEST = 1e-300  # a mean squared error of 0 has no logarithm
ROUNDING = 16 * float(np.finfo(np.float64).eps)  # relative: what a few dozen operations leave of the last digits


@lru_cache(maxsize=8192)  # each formula of an archive is compared with each that comes
def formula_bits(expression: Expression) -> float:
    """To write a formula down, its free constants aside: 3 bits per unit of complexity, log2(1 + |k|) for a whole
    number k, and 6 for pi and for a function of a number. An exponent such as 3/2 is one number. A polynomial of one
    variable is written as the list of its coefficients where that is shorter: `x**3 + x**2 + x` says little more than
    that it is one of degree three. So is a sum of columns with coefficients: that it is a linear model, and of which
    columns, says it all.

    >>> from prunesymnet.expression import parse
    >>> [round(formula_bits(parse(text))) for text in ("x**3 + x", "x**5 + x**4 + x**3 + x**2 + x")]
    [12, 24]
    >>> [round(formula_bits(parse(text))) for text in ("x**4", "x**(3/2)", "x**(2/3)")]
    [14, 15, 15]
    >>> formula_bits(parse("1.5*u + 2.5*v + 3.5*w + 4.5"))
    19.0
    """
    known: dict[int, tuple[float, bool]] = {}  # by identity of the node: its bits, and whether it is an exact number
    polynomials: dict[int, Polynomial | None] = {}
    linear: dict[int, LinearCoefficients | None] = {}
    for node in postorder(expression):
        if isinstance(node, Apply):
            parts = [known[id(operand)] for operand in node.operands]
            exact = all(part[1] for part in parts)
            bits = BITS_PER_SYMBOL * node.operator.cost + sum(part[0] for part in parts)
            bits += IRRATIONAL if exact and node.operator.precedence == CALL else 0.0
            if node.operator.name == "pow" and (exponent := polynomials[id(node.operands[1])]) is not None:
                bits = min(bits, BITS_PER_SYMBOL * node.operator.cost + parts[0][0] + _number_bits(exponent))
                bits += _rarity_bits(node.operands[1], exponent)
        else:
            exact = isinstance(node, Constant) and not node.is_free
            bits = BITS_PER_SYMBOL + (math.log2(1 + abs(node.value)) if isinstance(node, Constant) and exact else 0.0)
        polynomial = polynomials[id(node)] = polynomial_of(node, [polynomials[id(part)] for part in node.operands])
        if polynomial is not None and len(polynomial.coefficients) > 1:
            bits = min(bits, _polynomial_bits(polynomial))
        coefficients = linear[id(node)] = linear_coefficients_of(node, [linear[id(part)] for part in node.operands])
        if coefficients is not None and len(coefficients.keys() - NUMBER) > 1:
            bits = min(bits, _linear_bits(coefficients))
        known[id(node)] = bits, exact
    return known[id(expression)][0]


def _number_bits(polynomial: Polynomial) -> float:
    """An exponent that is a quotient of whole numbers, as one symbol with the digits of both."""
    number = polynomial.coefficients.get(0)
    if polynomial.variable or number is None:
        return math.inf
    return BITS_PER_SYMBOL + math.log2(1 + abs(number.numerator)) + math.log2(number.denominator)


def has_rare_exponent(expression: Expression) -> bool:
    """Whether one of its exponents costs more for being one that laws rarely have.

    >>> from prunesymnet.expression import parse
    >>> [has_rare_exponent(parse(text)) for text in ("2.5*x**4 + x**(1/3)", "1 - x**20", "x**0.01")]
    [False, True, True]
    """
    powers = (node for node in postorder(expression) if isinstance(node, Apply) and node.operator.name == "pow")
    return any(_rarity_bits(power.operands[1], polynomial(power.operands[1])) for power in powers)


def _rarity_bits(node: Expression, number: Polynomial | None) -> float:
    """What is added for an exponent that laws rarely have: one that is far from 1, such as that of `T**27` or
    `R**0.01`, stands for an exponential or a logarithm."""
    if number is None or number.variable:
        return 0.0
    value = node.value if isinstance(node, Constant) else number.coefficients.get(0)
    size = abs(float(value or 1))
    size = max(size, 1 / size)
    return RARER * math.log2(size / ORDINARY) if size > ORDINARY else 0.0


def _polynomial_bits(polynomial: Polynomial) -> float:
    """That it is a polynomial, its variable, its degree, and of each coefficient whether it is 0; for those that are
    not, sign and digits (of a free one these are counted elsewhere), and that it is a number where it is not 1."""
    degree = max(polynomial.coefficients)
    bits = 2 * BITS_PER_SYMBOL + math.log2(1 + degree) + degree
    for coefficient in polynomial.coefficients.values():
        if coefficient is not None:
            bits += 1 + math.log2(1 + abs(coefficient.numerator)) + math.log2(coefficient.denominator)
        if coefficient is None or abs(coefficient) != 1:
            bits += BITS_PER_SYMBOL
    return bits


def _linear_bits(coefficients: LinearCoefficients) -> float:
    """That it is a linear model; of each term the column, and whether its coefficient is exact, then with sign and
    digits (of a free one these are counted elsewhere)."""
    bits = BITS_PER_SYMBOL
    for coefficient in coefficients.values():
        bits += BITS_PER_SYMBOL + 1
        if coefficient is not None:
            bits += 1 + math.log2(1 + abs(coefficient.numerator)) + math.log2(coefficient.denominator)
    return bits


def cost_bits(expression: Expression, costs: Mapping[str, int]) -> float:
    """What is added for operators that cost something else than the table says."""
    return BITS_PER_SYMBOL * (complexity_with(expression, costs) - expression.complexity) if costs else 0.0


def constant_bits(rows: int) -> float:
    """To write down a constant that as many rows determine: its size to a precision of one by the root of the rows,
    and its sign."""
    return 0.5 * math.log2(rows) + 1


def residual_bits(rows: int, mse: ArrayLike) -> Array:
    """To write down the residuals, up to a constant that all formulas share."""
    return np.asarray(0.5 * rows * np.log2(np.maximum(mse, SMALLEST)))


def rough_length(expression: Expression, rows: int, mse: float) -> float:
    """The description length without a look at the derivatives: good enough to put candidates in order."""
    free = _free_constants(expression) * constant_bits(rows)
    return formula_bits(expression) + free + float(residual_bits(rows, mse))


@lru_cache(maxsize=8192)  # asked for as often as the bits of a formula
def _free_constants(expression: Expression) -> int:
    return len(expression.constants)


def description_length(result: Fit, data: Dataset, *, noise: float = 0.0) -> float:
    """The description length of a fit; infinite where the formula is not finite on the data. Residuals below `noise`
    (a part of the target's root mean square) or below the rounding errors are of no interest."""
    return described(result, data, noise)[0]


def described(result: Fit, data: Dataset, noise: float) -> tuple[float, float]:
    """The description length, and the root mean square of residuals that is of no interest: what the user says, and at
    least what rounding errors of the target and of each term leave."""
    if not math.isfinite(result.mse):
        return math.inf, 0.0
    formula = _shortest(result.expression)
    constants = np.array(formula.constants)
    values, jacobian = compile_expression(formula).values_and_jacobian(data.columns)
    jacobian = np.where(np.isfinite(jacobian), jacobian, 0.0)
    size = data.mean(data.y**2)
    largest = max(size, *(data.mean((c * column) ** 2) for c, column in zip(constants, jacobian, strict=True)), 0.0)
    least = max(ROUNDING * math.sqrt(largest), noise * math.sqrt(size))
    rms = math.sqrt(max(result.mse, least**2, data.known_variance))
    with np.errstate(divide="ignore", invalid="ignore"):
        digits = np.log2(1 + np.abs(constants) / (rms / _independent_sizes(jacobian, data, values)))
    free = float(np.clip(np.nan_to_num(digits, nan=0.0), 0.0, MOST_DIGITS).sum()) + len(constants)
    return formula_bits(formula) + free + float(residual_bits(data.rows, rms**2)), least


@lru_cache(maxsize=1024)  # a formula is described several times while its constants are rounded and one is chosen
def _shortest(expression: Expression) -> Expression:
    """The formula as it is described: one formula has one length, however it is written."""
    return factored(multiplied_out(expression))


def _independent_sizes(jacobian: Array, data: Dataset, values: Array) -> Array:
    """How much the residuals move with each constant when those before it are known: constants that make up for one
    another (a large error each, alone) do not come for free together."""
    if not len(jacobian):
        return np.zeros(0)
    weights = data.information(values)
    root = np.sqrt(weights / weights.mean())
    sizes = np.abs(np.diagonal(np.linalg.qr((jacobian * root).T, mode="r")))
    return np.concatenate([sizes, np.zeros(len(jacobian) - len(sizes))])  # more constants than rows
