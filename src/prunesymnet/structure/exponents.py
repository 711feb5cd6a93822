"""Which groups are tried: vectors of whole exponents, one for each column, without a common factor.

x*y and (x*y)**2 are the same group to a smooth function, and so is 1/(x*y): the first exponent that is not zero is
positive.

>>> primitive(2, 1).tolist()
[[0, 1], [1, -1], [1, 0], [1, 1]]
>>> len(primitive(3, 3)), len(first_vectors(9))
(145, 1425)
"""

from itertools import combinations, product
from math import comb

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.int64]

LARGEST = 3  # exponent of a column: higher ones are rare in laws
FIRST = 1500  # vectors that are tried at first: a tenth of a second


def primitive(columns: int, largest: int, most_columns: int | None = None) -> Vectors:
    """All vectors with exponents up to ±largest, of at most so many columns."""
    found = []
    for count in range(1, min(columns, most_columns or columns) + 1):
        exponents = [e for e in range(-largest, largest + 1) if e]
        patterns = np.array(list(product(exponents[largest:], *[exponents] * (count - 1))), dtype=np.int64)
        patterns = patterns[np.gcd.reduce(patterns, axis=1) == 1]
        for chosen in combinations(range(columns), count):
            vectors = np.zeros((len(patterns), columns), dtype=np.int64)
            vectors[:, chosen] = patterns
            found.append(vectors)
    every = np.concatenate(found)
    return every[np.lexsort(every.T[::-1])]


def first_vectors(columns: int) -> Vectors:
    """As many as can be tried of so many columns: the higher exponents are given up first, then the vectors of many
    columns. `neighbours` of the best lead to the others."""
    for largest in range(LARGEST, 0, -1):
        if (2 * largest + 1) ** columns < 2 * FIRST:
            return primitive(columns, largest)
    few = 1
    while sum(comb(columns, count) * 2 ** (count - 1) for count in range(1, few + 2)) <= FIRST:
        few += 1
    return primitive(columns, 1, few)


def neighbours(vectors: Vectors, columns: int) -> Vectors:
    """Vectors one step from these in one of the first exponents, those of columns, or in two at once; none twice."""
    one = np.eye(vectors.shape[1], dtype=np.int64)[:columns]
    one = np.concatenate([one, -one])
    two = (one[:, None] + one[None]).reshape(-1, vectors.shape[1])
    near = (vectors[:, None] + np.concatenate([one, two])[None]).reshape(-1, vectors.shape[1])
    near = near[(np.abs(near) <= LARGEST).all(axis=1) & near.any(axis=1)]
    near //= np.gcd.reduce(near, axis=1)[:, None]
    signs = np.sign(np.take_along_axis(near, (near != 0).argmax(axis=1)[:, None], axis=1))
    return np.unique(near * signs, axis=0)
