"""A formula as a torch module, to be differentiated, trained further or put into a network.

>>> import torch
>>> from prunesymnet.expression import parse
>>> module = to_torch(parse("1.5*x**2 + y"), trainable=True)
>>> module(torch.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
[3.5, 17.5]
>>> module.constants.tolist()
[1.5]
"""

import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from prunesymnet.export.common import column_names
from prunesymnet.expression import Expression, evaluate_torch
from prunesymnet.optional import import_torch

if TYPE_CHECKING:
    from torch import Tensor, nn


def to_torch(expression: Expression, names: Iterable[str] | None = None, *, trainable: bool = False) -> "nn.Module":
    """A module from X [rows, columns] to the values [rows], in X's own precision and on its device.

    Its free constants are the vector ``constants`` in float64, from left to right as `Expression.constants` has
    them: a parameter where `trainable`, else a buffer; both are in its ``state_dict``.

    >>> from prunesymnet.expression import parse
    >>> dict(to_torch(parse("0.5*x")).state_dict())
    {'constants': tensor([0.5000], dtype=torch.float64)}
    """
    module: nn.Module = _module_class()(expression, column_names(expression, names), trainable)
    return module


@functools.cache
def _module_class() -> Any:
    """The class, made when it is first needed: a module of the package must not import torch by itself."""
    import_torch("to_torch")
    import torch

    class TorchFormula(torch.nn.Module):
        constants: "Tensor"

        def __init__(self, expression: Expression, names: tuple[str, ...], trainable: bool) -> None:
            super().__init__()
            self.expression, self.names = expression, names
            values = torch.tensor(expression.constants, dtype=torch.float64)
            if trainable:
                self.constants = torch.nn.Parameter(values)
            else:
                self.register_buffer("constants", values)

        def forward(self, X: "Tensor") -> "Tensor":
            if X.ndim != 2 or X.shape[1] != len(self.names):
                expected = f"[rows, {len(self.names)}], the columns {', '.join(self.names)}"
                raise ValueError(f"X must have the shape {expected}, got {list(X.shape)}")
            if not X.is_floating_point():
                X = X.to(self.constants.dtype)
            columns = dict(zip(self.names, X.unbind(1), strict=True)) or {"": X.new_zeros(len(X))}
            return evaluate_torch(self.expression, columns, self.constants.to(X))

        def extra_repr(self) -> str:
            return str(self.expression)

        def __reduce__(self) -> tuple[Any, ...]:
            # The class has no name that pickle could find; the call that makes it has.
            return to_torch, (self.expression, self.names), self.__dict__

    return TorchFormula
