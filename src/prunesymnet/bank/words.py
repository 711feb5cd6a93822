"""Words: what sums are made of. Products of powers of up to three columns, functions of one column, and both together.

>>> from prunesymnet.operators import select_operators
>>> x, y = np.linspace(1, 2, 9), np.linspace(3, 1, 9)
>>> [str(word.expression) for word in words_of({"x": x, "y": y}, select_operators(["/", "sin"]), most=9)]
['x', 'y', 'x**2', 'x**3', 'y**2', 'y**3', '1/x', '1/y', 'x*y']
"""

from collections.abc import Iterator, Mapping
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.dictionary import functions_of, is_usable
from prunesymnet.bank.monomials import quotient_of_powers
from prunesymnet.expression import Variable
from prunesymnet.operators import Operator

Array = NDArray[np.float64]
Powers = tuple[tuple[str, float], ...]

ALONE = (1, -1, 2, -2, 3, -3, 4, -4, 0.5, -0.5, 1.5, -1.5)  # exponents of one column: those that laws have
OF_TWO = (1, -1, 2, -2, 0.5, -0.5)
OF_THREE = (1, -1, 2, -2)
TOGETHER = 4  # sizes of the exponents of three columns, added up
BEFORE_FUNCTIONS = 5  # symbols of what may be multiplied by a function


def words_of(columns: Mapping[str, Array], table: Mapping[str, Operator], most: int) -> list[Term]:
    """So many of the words, the simplest, that are finite in all rows; without quotients where there are none."""
    divides = bool({"/", "inv"} & set(table))
    made = [_product(columns, powers) for powers in _powers(tuple(columns)) if divides or all(e > 0 for _, e in powers)]
    functions = functions_of(columns, {name: row for name, row in table.items() if name != "sqrt"})  # which is a power
    simple = [term for term in made if term.expression.complexity <= BEFORE_FUNCTIONS and is_usable(term)]
    made += functions + [one * two for one, two in product(simple, functions)]
    known = {str(term.expression): term for term in made if is_usable(term)}
    return sorted(known.values(), key=lambda term: term.expression.complexity)[:most]


def _powers(names: tuple[str, ...]) -> Iterator[Powers]:
    for name, exponent in product(names, ALONE):
        yield ((name, exponent),)
    for pair, exponents in product(combinations(names, 2), product(OF_TWO, repeat=2)):
        yield tuple(zip(pair, exponents, strict=True))
    for three, exponents in product(combinations(names, 3), product(OF_THREE, repeat=3)):
        if sum(map(abs, exponents)) <= TOGETHER:
            yield tuple(zip(three, exponents, strict=True))


def _product(columns: Mapping[str, Array], powers: Powers) -> Term:
    with np.errstate(all="ignore"):
        values = np.prod([columns[name] ** float(exponent) for name, exponent in powers], axis=0)
    return Term(values, quotient_of_powers([(Variable(name), float(exponent)) for name, exponent in powers]))
