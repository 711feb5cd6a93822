"""Words: what sums are made of. Products of powers of up to three columns, functions of one column, and both together.

>>> from prunesymnet.operators import select_operators
>>> x, y = np.linspace(1, 2, 9), np.linspace(3, 1, 9)
>>> [str(word.expression) for word in words_of({"x": x, "y": y}, select_operators(["/", "sin"]), most=9)]
['x', 'y', 'x**2', 'y**2', '1/x', '1/y', 'x*y', 'x/y', 'y/x']
"""

from collections import defaultdict
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

# How far an exponent is from 1 and -1, which most laws have: the sizes of words are sums of these.
ALONE: dict[float, int] = {1: 1, -1: 1, 2: 2, -2: 2, 0.5: 2, -0.5: 2, 3: 3, -3: 3, 1.5: 3, -1.5: 3, 4: 4, -4: 4}
OF_TWO: dict[float, int] = {exponent: size for exponent, size in ALONE.items() if size <= 2}
OF_THREE: dict[float, int] = {exponent: size for exponent, size in ALONE.items() if abs(exponent) in (1, 2)}
OF_A_FUNCTION = 3  # as much as a third power


def words_of(columns: Mapping[str, Array], table: Mapping[str, Operator], most: int) -> list[Term]:
    """So many of the words, the simplest, that are finite in all rows; without quotients where there are none."""
    divides = bool({"/", "inv"} & set(table))
    functions = functions_of(columns, {name: row for name, row in table.items() if name != "sqrt"})  # which is a power
    by_size: dict[int, list[Powers]] = defaultdict(list)
    for size, powers in _powers(tuple(columns)):
        if divides or all(exponent > 0 for _, exponent in powers):
            by_size[size].append(powers)
    known: dict[str, Term] = {}
    products: dict[int, list[Term]] = defaultdict(list)
    for size in range(1, max(by_size, default=0) + OF_A_FUNCTION + 1):
        products[size] = [term for powers in by_size[size] if is_usable(term := _product(columns, powers))]
        made = [*products[size], *(functions if size == OF_A_FUNCTION else [])]
        made += [one * two for one, two in product(products[size - OF_A_FUNCTION], functions)]
        made = sorted(filter(is_usable, made), key=lambda term: term.expression.complexity)
        known |= {str(term.expression): term for term in made}
        if len(known) >= most:
            break
    return sorted(list(known.values())[:most], key=lambda term: term.expression.complexity)


def _powers(names: tuple[str, ...]) -> Iterator[tuple[int, Powers]]:
    """Products of powers, and their sizes."""
    for count, exponents in ((1, ALONE), (2, OF_TWO), (3, OF_THREE)):
        for way, some in product(product(exponents, repeat=count), combinations(names, count)):
            yield sum(exponents[exponent] for exponent in way), tuple(zip(some, way, strict=True))


def _product(columns: Mapping[str, Array], powers: Powers) -> Term:
    with np.errstate(all="ignore"):
        values = np.prod([columns[name] ** float(exponent) for name, exponent in powers], axis=0)
    return Term(values, quotient_of_powers([(Variable(name), float(exponent)) for name, exponent in powers]))
