"""Words: what sums are made of. Products of powers of up to three columns, functions of one column, and both together;
of an angle also products of powers of its sine and cosine.

>>> from prunesymnet.operators import select_operators
>>> x, y = np.linspace(1, 2, 9), np.linspace(3, 1, 9)
>>> words = words_of({"x": x, "y": y}, select_operators(["/", "sin"]), most=9)
>>> [str(words.term(k).expression) for k in range(len(words))]
['x', 'y', 'x**2', 'y**2', '1/x', '1/y', 'x*y', 'x/y', 'y/x']

There are thousands of them, so their values are made all at once, and their formulas when they are asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.dictionary import LARGEST, functions_of, in_function, is_usable
from prunesymnet.bank.monomials import quotient_of_powers
from prunesymnet.expression import Variable
from prunesymnet.operators import Operator

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

# How far an exponent is from 1 and -1, which most laws have: the sizes of words are sums of these.
ALONE: dict[float, int] = {1: 1, -1: 1, 2: 2, -2: 2, 0.5: 2, -0.5: 2, 3: 3, -3: 3, 1.5: 3, -1.5: 3, 4: 4, -4: 4}
OF_TWO: dict[float, int] = {exponent: size for exponent, size in ALONE.items() if size <= 2}
OF_THREE: dict[float, int] = {exponent: size for exponent, size in ALONE.items() if abs(exponent) in (1, 2)}
OF_A_FUNCTION = 3  # as much as a third power
OF_WAVES = 4  # of two powers of the sine and cosine, or of one that is not 1
WAVES = ((2, 0), (0, 2), (1, 1), (1, -1), (0, -1), (-1, 0), (0, -2), (-2, 0))  # of sine and cosine: the tangent too


@dataclass(frozen=True, slots=True)
class Words:
    """Their `values` [words, rows] and complexities, the simplest first. Each is the product of powers of columns
    (`exponents` [words, columns]) and of one of the `functions` (`function`: which one, -1 for none)."""

    values: Array
    complexity: Numbers
    exponents: Array
    function: Numbers
    names: tuple[str, ...]
    functions: tuple[Term, ...]

    def __len__(self) -> int:
        return len(self.complexity)

    def term(self, word: int) -> Term:
        """A word's values and its formula."""
        parts = [(Variable(name), float(e)) for name, e in zip(self.names, self.exponents[word], strict=True) if e]
        function = None if self.function[word] < 0 else self.functions[self.function[word]].expression
        powers = quotient_of_powers(parts) if parts else None
        tree = powers if function is None else function if powers is None else powers * function
        assert tree is not None  # noqa: S101 - a word has one or the other
        return Term(self.values[word], tree)


def words_of(columns: Mapping[str, Array], table: Mapping[str, Operator], most: int) -> Words:
    """So many of the words, the simplest, that are finite in all rows; without quotients where there are none."""
    divides = bool({"/", "inv"} & set(table))
    powers = {e: _powers(columns, e) for e in ALONE if e > 0 or divides}
    finite = np.array([np.isfinite(power).all(axis=1) for power in powers.values()])
    exponents, sizes, lengths = _products(finite, tuple(powers))
    functions, own_sizes = _functions(columns, table, divides)
    own_lengths = np.array([term.expression.complexity for term in functions], dtype=np.int64)
    # Each word has a product or none (-1), and a function or none.
    products, chosen = _of_least_size(sizes, own_sizes, most)
    size = np.append(sizes, 0)[products] + np.append(own_sizes, 0)[chosen]
    joined = (products >= 0) & (chosen >= 0)
    length = np.append(lengths, 0)[products] + np.append(own_lengths, 0)[chosen] + joined
    order = np.lexsort((length, size))[:most]
    order = order[np.argsort(length[order], kind="stable")]
    products, chosen, length = products[order], chosen[order], length[order]
    of_words = np.append(exponents, np.zeros((1, len(columns))), axis=0)[products]
    values = np.ones((len(order), len(next(iter(columns.values())))))
    with np.errstate(all="ignore"):
        for (exponent, power), k in product(powers.items(), range(len(columns))):
            values[of_words[:, k] == exponent] *= power[k]
        if functions:
            values *= np.array([*(term.values for term in functions), np.ones(values.shape[1])])[chosen]
        largest = np.abs(values).max(axis=1)
    fine = (largest > 0) & (largest < LARGEST)
    return Words(values[fine], length[fine], of_words[fine], chosen[fine], tuple(columns), tuple(functions))


def _of_least_size(sizes: Numbers, own_sizes: Numbers, most: int) -> tuple[Numbers, Numbers]:
    """The words of the least sizes, at least so many if there are as many: the product and the function of each, by
    their numbers (-1: none). Sizes add up."""
    by_size = np.bincount(sizes)
    functions_by_size = np.bincount(own_sizes, minlength=1)
    functions_by_size[0] += 1  # none
    every = np.convolve(by_size, functions_by_size)
    every[: len(functions_by_size)] += functions_by_size  # alone
    every[0] -= 1  # nothing at all is no word
    enough = np.flatnonzero(np.cumsum(every) >= most)
    largest = int(enough[0]) if len(enough) else len(every)
    pairs = []
    for function, own in enumerate([*own_sizes.tolist(), 0]):
        beside = np.flatnonzero(sizes <= largest - own)
        if function < len(own_sizes) and own <= largest:
            beside = np.append(beside, -1)
        pairs.append((beside, np.full(len(beside), function if function < len(own_sizes) else -1)))
    products, functions = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    return products, functions


def _powers(columns: Mapping[str, Array], exponent: float) -> Array:
    """Each column to a power [columns, rows]: not a number where it has none."""
    with np.errstate(all="ignore"):
        return np.array([column ** float(exponent) for column in columns.values()])


def _products(usable: NDArray[np.bool_], exponents: Sequence[float]) -> tuple[Array, Numbers, Numbers]:
    """The exponents of products of up to three powers [products, columns], of those that are `usable` [exponents,
    columns]; their sizes and their complexities."""
    number, columns = {e: k for k, e in enumerate(exponents)}, usable.shape[1]
    made: list[Array] = []
    sizes: list[Numbers] = []
    lengths: list[Numbers] = []
    for count, allowed in ((1, ALONE), (2, OF_TWO), (3, OF_THREE)):
        some = np.array(list(combinations(range(columns), count)), dtype=np.int64).reshape(-1, count)
        ways = list(product([e for e in allowed if e in number], repeat=count))
        for way in ways if len(some) else ():
            fine = some[np.all([usable[number[e], some[:, k]] for k, e in enumerate(way)], axis=0)]
            rows = np.zeros((len(fine), columns))
            np.put_along_axis(rows, fine, np.array(way, dtype=np.float64)[None], axis=1)
            made.append(rows)
            sizes.append(np.full(len(fine), sum(allowed[e] for e in way)))
            length = quotient_of_powers([(Variable("x"), float(e)) for e in way]).complexity
            lengths.append(np.full(len(fine), length))
    return np.concatenate(made), np.concatenate(sizes), np.concatenate(lengths)


def _functions(
    columns: Mapping[str, Array], table: Mapping[str, Operator], divides: bool
) -> tuple[list[Term], Numbers]:
    """Functions of a column, and products of powers of its sine and cosine, with their sizes; a root is a power."""
    found = [
        (term, OF_A_FUNCTION) for term in functions_of(columns, {k: row for k, row in table.items() if k != "sqrt"})
    ]
    for name, column in columns.items() if {"sin", "cos"} <= set(table) else ():
        sine, cosine = (in_function(table[wave], Term(column, Variable(name))) for wave in ("sin", "cos"))
        for way in WAVES:
            if divides or min(way) >= 0:
                with np.errstate(all="ignore"):
                    values = sine.values ** float(way[0]) * cosine.values ** float(way[1])
                parts = [(wave.expression, float(e)) for wave, e in zip((sine, cosine), way, strict=True) if e]
                found.append((Term(values, quotient_of_powers(parts)), OF_WAVES))
    found = [(term, size) for term, size in found if is_usable(term)]
    return [term for term, _ in found], np.array([size for _, size in found], dtype=np.int64)
