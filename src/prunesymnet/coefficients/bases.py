"""Columns of length one, and orthonormal bases of what columns span.

>>> columns = np.array([[3.0, 4.0, 0.0], [6.0, 8.0, 0.0], [0.0, 0.0, 5.0], [0.0, 0.0, 0.0]])
>>> of_length_one(columns)[1]
array([ 5., 10.,  5.,  0.])
>>> len(basis_in_turn(columns, 1e-9)), len(basis_of(columns, 1e-9))
(2, 2)
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

TINY = 1e-300  # in place of 0, which has no logarithm, and by which nothing can be divided


def of_length_one(columns: Array) -> tuple[Array, Array]:
    """Columns [..., rows] divided by their lengths, and these. A column of length 0 stays as it is; the lengths
    say which are too long for floats."""
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt(np.einsum("...n,...n->...", columns, columns))
        return columns / np.where(lengths > 0, lengths, 1.0)[..., None], lengths


def basis_in_turn(columns: Array, dependent: float) -> Array:
    """An orthonormal basis [dimensions, rows] of what columns [columns, rows] span, made from one after the other. One
    of which those before it leave no more than `dependent` of its length adds nothing."""
    q, r = np.linalg.qr(of_length_one(columns)[0].T)
    independent = np.abs(np.diagonal(r)) > dependent
    # In place of a dependent column there is any direction, in which those after it may reach.
    if not independent.all() and len(columns) <= len(q):
        return basis_in_turn(columns[independent], dependent)
    return np.asarray(q[:, independent].T)


def basis_of(columns: Array, dependent: float) -> Array:
    """The same from all columns together: a direction in which they reach no further than `dependent` of how far they
    reach in another is none of theirs."""
    _, reach, directions = np.linalg.svd(of_length_one(columns)[0], full_matrices=False)
    return np.asarray(directions[reach > dependent * reach.max(initial=0.0)])
