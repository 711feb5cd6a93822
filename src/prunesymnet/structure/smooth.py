"""Is a target linear in some columns beside a smooth function of one variable? For thousands of variables at once.

The smooth function is a cubic spline, so that each variable is one least-squares problem, and all of them are solved
by the same products of matrices. What matters is the share of what the linear columns leave that is still left.

>>> rng = np.random.default_rng(0)
>>> x, y = rng.uniform(1, 2, (2, 80))
>>> beside = LinearPart.of(3 * y + np.exp(x), np.ones(80), [np.ones(80), x, y])
>>> left = beside.left_by_curves(np.array([x, y, x * y]), 4)
>>> int(left.argmin()), bool(left[0] < 1e-4 < 0.1 < left[1])
(0, True)
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.bases import basis_of, of_length_one
from prunesymnet.structure.splines import BEYOND_KNOTS, basis, knots

Array = NDArray[np.float64]

DEPENDENT = 1e-9  # of the largest eigenvalue: directions of a basis that the linear columns have already
AT_A_TIME = 256  # variables: their bases fit into a processor's cache better than all of them
LEAST_FREE = 1e-3  # of a row: one that only its own columns explain is predicted by nothing


@dataclass(frozen=True)
class LinearPart:
    """The rows' weighted target without what its linear columns explain (`residual`), an orthonormal basis of these
    columns [rows, columns], and the roots of the rows' weights."""

    residual: Array
    columns: Array
    roots: Array

    @classmethod
    def of(cls, target: Array, weights: Array, columns: list[Array]) -> "LinearPart":
        roots = np.sqrt(weights / weights.sum())
        return cls(target * roots, np.zeros((len(target), 0)), roots).with_columns(np.array(columns).T)

    def with_columns(self, columns: Array) -> "LinearPart":
        """With more columns [rows, columns] in the linear part."""
        q = np.column_stack([self.columns, _orthonormal(self._beside(columns[None])[0])])
        return LinearPart(self.residual - q @ (q.T @ self.residual), q, self.roots)

    @property
    def left(self) -> float:
        """The weighted mean square that is left."""
        return float(self.residual @ self.residual)

    @property
    def left_out(self) -> float:
        """The same of rows that are predicted from all others."""
        leverage = np.einsum("ni,ni->n", self.columns, self.columns)
        return float(np.sum((self.residual / np.maximum(1 - leverage, LEAST_FREE)) ** 2))

    @property
    def rows(self) -> float:
        """How many rows count, as if all that do did so alike."""
        return effective_rows(self.roots**2)

    @property
    def freedom(self) -> float:
        """Rows that are left over for errors to show."""
        return self.rows - float(self.columns.shape[1])

    def left_by_curves(self, variables: Array, count: int) -> Array:
        """For each variable [variables, rows] the share of what is left that a smooth function of it leaves."""
        if not self.left > 0:
            return np.ones(len(variables))
        parts = [variables[k : k + AT_A_TIME] for k in range(0, len(variables), AT_A_TIME)]
        return np.concatenate([self._left_by_curves(part, count) for part in parts]) if parts else np.zeros(0)

    def _left_by_curves(self, variables: Array, count: int) -> Array:
        return self.left_by_columns(basis(variables, knots(variables, count)))

    def left_by_columns(self, columns: Array) -> Array:
        """For each set of columns [sets, rows, columns] the share of what is left that these leave."""
        columns = of_length_one(self._beside(columns).swapaxes(1, 2))[0].swapaxes(1, 2)
        size, along = np.linalg.eigh(columns.transpose(0, 2, 1) @ columns)
        explained = np.einsum("kij,ki->kj", along, np.einsum("kni,n->ki", columns, self.residual))
        inside = size > DEPENDENT * size[:, -1:]
        gain = (np.where(inside, explained, 0.0) ** 2 / np.where(inside, size, 1.0)).sum(axis=1)
        return np.asarray(np.clip(1 - gain / self.left, 0.0, 1.0))

    def _beside(self, columns: Array) -> Array:
        """Columns [variables, rows, columns], weighted, without what the linear part has of them; twice, as the first
        time leaves its rounding errors."""
        columns = columns * self.roots[:, None]
        for _ in range(2):
            columns = columns - self.columns @ (self.columns.T @ columns)
        return columns


def effective_rows(weights: Array) -> float:
    """How many rows count, as if all that do did so alike."""
    return float(weights.sum() ** 2 / (weights @ weights))


def curve_of(variable: Array, count: int) -> Array:
    """The columns [rows, columns] of a smooth function of a variable, on so many inner knots."""
    return np.asarray(basis(variable[None], knots(variable[None], count))[0])


def coefficients(count: int) -> int:
    """That a smooth function has beside a constant and its variable's own slope, which are in the linear part."""
    return count + BEYOND_KNOTS - 2


def _orthonormal(columns: Array) -> Array:
    """A basis of what the columns span."""
    return basis_of(columns.T, np.sqrt(DEPENDENT)).T
