"""A formula as a function of numpy arrays.

>>> from prunesymnet.expression import parse
>>> f = to_numpy(parse("x**2 + y"))
>>> f(np.array([[1.0, 2.0], [3.0, 4.0]]))
array([ 3., 13.])
>>> f(np.array([1.0, 3.0]), 2.0)
array([ 3., 11.])
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from prunesymnet.export.common import column_names
from prunesymnet.expression import Expression, compile_expression


class NumpyFunction:
    """A formula that is called: with a table [rows, columns], or with one array or number per column.

    Arrays of different shapes are broadcast, so a grid works as it does for a ufunc. Values are float64, in new
    memory; where the formula is not defined they are nan or inf, without a warning.
    """

    __slots__ = ("_program", "expression", "names")

    def __init__(self, expression: Expression, names: Iterable[str] | None = None) -> None:
        self.names = column_names(expression, names)
        self.expression = expression
        self._program = compile_expression(expression)

    def __call__(self, *columns: ArrayLike) -> Any:
        arrays = [np.asarray(column, dtype=np.float64) for column in columns]
        if len(arrays) == 1 and arrays[0].ndim == 2:
            table = arrays[0]
            if table.shape[1] != len(self.names):
                raise ValueError(f"X must have {self._expected()}, got {table.shape[1]}")
            shape, arrays = table.shape[:1], list(table.T)
        elif len(arrays) == len(self.names):
            shape = np.broadcast_shapes(*(array.shape for array in arrays))
            arrays = [np.broadcast_to(array, shape).ravel() for array in arrays]
        else:
            raise ValueError(f"the formula takes one table or {self._expected()}, got {len(arrays)} arrays")
        values = self._program.values(dict(zip(self.names, arrays, strict=True)))
        # A copy: the formula "x" has the very column that came in for a value.
        return np.array(np.broadcast_to(values, (int(np.prod(shape)),))).reshape(shape)[()]

    def _expected(self) -> str:
        return f"{len(self.names)} columns ({', '.join(self.names)})"

    def __repr__(self) -> str:
        return f"NumpyFunction({str(self.expression)!r}, names={list(self.names)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return NumpyFunction, (self.expression, self.names)  # the program is made again: it holds lambdas


def to_numpy(expression: Expression, names: Iterable[str] | None = None) -> NumpyFunction:
    """The formula as a function ``f(X)`` or ``f(x, y)`` of the columns `names`, compiled once; it can be pickled.

    >>> from prunesymnet.expression import parse
    >>> to_numpy(parse("log(x)"), ["t", "x"])([[0.0, 1.0], [0.0, -1.0]])
    array([ 0., nan])
    """
    return NumpyFunction(expression, names)
