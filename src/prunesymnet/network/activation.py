"""The network's arithmetic: a layer of protected operators, and the pass through all layers and back.

Where a product, a quotient, an exponential or a square would grow beyond its threshold, it is scaled down to it by
a factor that the gradient takes for a constant: the gradient shrinks and does not vanish. The forms are the table's
(`operators`) wherever no protection fires, except for ``log``, which is log|u|.

Every group of edges feeds one operator, so the way back through a layer is one product with the partial derivatives
that the way forward leaves behind, and two matrix products. `propagate` is that, as one function for autograd: a
graph of every operator of every layer costs about eight times as much for a single network. The code is written for
numpy and torch alike (`xp` is one of the two): on a CPU, where a call costs more than the arithmetic on 128 points,
numpy's calls are the cheaper ones. There torch is not even imported, which takes longer than many a search.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from prunesymnet.operators import Operator

if TYPE_CHECKING:
    from torch import Tensor

LARGEST_PRODUCT, LARGEST_QUOTIENT, LARGEST_EXPONENT, SMALLEST = 1e8, 1e4, 17.0, 1e-10
LARGEST_SUM = 1e12  # of what a group delivers: its cube is still a float32
STEEPEST = 1e6  # of a partial derivative: beyond it lies a pole
LARGEST_GRADIENT = 1e12  # of what flows back: far above what clipping lets through, far below overflow

# A protected operator: its value, its partial derivatives, and the factor of its protection (None: none).
Protected = Callable[..., tuple[Any, list[Any], Any]]


def propagate(
    weights: "Tensor", inputs: "Tensor", rows: tuple[Operator, ...], sizes: Sequence[int]
) -> "tuple[Tensor, Tensor, Tensor]":
    """Output [restarts, points], nodes [restarts, nodes, points], and where protections fired [restarts, layers,
    operators], of networks with `weights` [restarts, edges]; the output is differentiable by the weights."""
    output, nodes, fired = _propagation().apply(weights, inputs, rows, sizes)
    return output, nodes, fired


@cache
def _propagation() -> Any:
    """The pass and the way back as a function for autograd: a class that can be made only once torch is imported."""
    import torch

    class Propagation(torch.autograd.Function):
        @staticmethod
        def forward(
            ctx: Any, weights: "Tensor", inputs: "Tensor", rows: tuple[Operator, ...], sizes: Sequence[int]
        ) -> "tuple[Tensor, Tensor, Tensor]":
            on_cpu = weights.device.type == "cpu"
            xp, given, table = (np, weights.detach().numpy(), inputs.numpy()) if on_cpu else (torch, weights, inputs)
            output, nodes, partials, fired = forward(xp, given, table, rows, sizes)
            ctx.kept = (xp, given, nodes, partials, rows, sizes)
            results = (output, nodes, fired)
            output, nodes, fired = map(torch.from_numpy, results) if on_cpu else results
            ctx.mark_non_differentiable(nodes, fired)
            return output, nodes, fired

        @staticmethod
        def backward(ctx: Any, upstream: "Tensor", *_: Any) -> "tuple[Tensor, None, None, None]":
            xp, *kept = ctx.kept
            gradient = backward(xp, upstream.numpy() if xp is np else upstream, *kept)
            return torch.from_numpy(gradient) if xp is np else gradient, None, None, None

    return Propagation


def _matrices(weights: Any, groups: int, sizes: Sequence[int]) -> tuple[list[Any], Any]:
    """The layers' matrices [restarts, groups, nodes before], as views of the weights, and the output's row."""
    found, start = [], 0
    for width in sizes[:-1]:
        found.append(weights[:, start : start + groups * width].reshape(-1, groups, width))
        start += groups * width
    return found, weights[:, start:]


def forward(
    xp: Any, weights: Any, inputs: Any, rows: tuple[Operator, ...], sizes: Sequence[int]
) -> tuple[Any, Any, list[Any], Any]:
    """Output, nodes, the partial derivatives of each layer's operators, and where protections fired."""
    matrices, last = _matrices(weights, sum(row.arity for row in rows), sizes)
    like = {"dtype": weights.dtype} if xp is np else {"dtype": weights.dtype, "device": weights.device}
    nodes = xp.empty((len(weights), sizes[-1], inputs.shape[-1]), **like)
    nodes[:, : sizes[0]] = inputs
    by_node = nodes.swapaxes(0, 1)
    protected = [protected_form(row) for row in rows]
    partials, factors, guarded = [], [], []
    with np.errstate(all="ignore"):
        for layer, matrix in enumerate(matrices):
            sums = _within(xp, matrix @ nodes[:, : sizes[layer]], LARGEST_SUM)
            slopes = xp.empty_like(sums)
            operands, slots, group = list(sums.swapaxes(0, 1)), list(slopes.swapaxes(0, 1)), 0
            for k, (row, form) in enumerate(zip(rows, protected, strict=True)):
                value, partial, factor = form(xp, *operands[group : group + row.arity])
                by_node[sizes[layer] + k] = value
                for slope in partial:
                    slots[group][:] = slope
                    group += 1
                if factor is not None:
                    factors.append(factor)
                    guarded.append((layer, k))
            partials.append(slopes)
        output = (last[:, None, :] @ nodes)[:, 0]
    fired = xp.zeros((len(weights), len(matrices), len(rows)), **(like | {"dtype": xp.bool}))
    if factors:
        at_work = (xp.stack(factors) < 1).any(-1)
        where_layer, where_row = zip(*guarded, strict=True)
        fired[:, list(where_layer), list(where_row)] = at_work.swapaxes(0, 1)
    return output, nodes, partials, fired


def backward(
    xp: Any,
    upstream: Any,
    weights: Any,
    nodes: Any,
    partials: list[Any],
    rows: tuple[Operator, ...],
    sizes: Sequence[int],
) -> Any:
    """The gradient by the weights, [restarts, edges], from the gradient by the output, [restarts, points]."""
    matrices, last = _matrices(weights, sum(row.arity for row in rows), sizes)
    source = [k for k, row in enumerate(rows) for _ in range(row.arity)]
    gradients = [(upstream[:, None, :] @ nodes.swapaxes(1, 2))[:, 0]]
    flow = last[:, :, None] * upstream[:, None, :]
    for layer in reversed(range(len(matrices))):
        below = sizes[layer]
        back = flow[:, below : sizes[layer + 1]][:, source] * partials[layer]
        back = _within(xp, back, LARGEST_GRADIENT)
        gradients.append((back @ nodes[:, :below].swapaxes(1, 2)).reshape(len(weights), -1))
        if layer:
            flow = flow[:, :below] + matrices[layer].swapaxes(1, 2) @ back
    return xp.concatenate(gradients[::-1], 1)


def _held(xp: Any, size: Any, limit: float) -> Any:
    """The factor that brings a value of this size down to the limit."""
    factor = limit / size
    return np.minimum(factor, 1.0) if xp is np else factor.clamp_(max=1.0)


def _product(xp: Any, a: Any, b: Any) -> tuple[Any, list[Any], Any]:
    value = a * b
    factor = _held(xp, abs(value), LARGEST_PRODUCT)
    return value * factor, [b * factor, a * factor], factor


def _quotient(xp: Any, a: Any, b: Any) -> tuple[Any, list[Any], Any]:
    inverse = 1.0 / xp.where(abs(b) < SMALLEST, SMALLEST, b)
    value = a * inverse
    factor = _held(xp, abs(value), LARGEST_QUOTIENT)
    held = value * factor
    return held, [_not_too_steep(xp, inverse * factor), _not_too_steep(xp, -held * inverse)], factor


def _within(xp: Any, values: Any, limit: float) -> Any:
    if xp is np:  # np.clip takes three times as long
        return np.maximum(np.minimum(values, limit), -limit)
    return values.clamp(-limit, limit)


def _not_too_steep(xp: Any, slope: Any) -> Any:
    return _within(xp, slope, STEEPEST)


def _exp(xp: Any, u: Any) -> tuple[Any, list[Any], Any]:
    factor = xp.where(u > LARGEST_EXPONENT, LARGEST_EXPONENT / u, 1.0)
    value = xp.exp(u * factor)
    return value, [value * factor], factor


def _log(xp: Any, u: Any) -> tuple[Any, list[Any], None]:
    size = xp.clip(abs(u), SMALLEST, None)
    return xp.log(size), [_not_too_steep(xp, xp.sign(u) / size)], None


def _square(xp: Any, u: Any) -> tuple[Any, list[Any], Any]:
    value = u * u
    factor = _held(xp, value, LARGEST_PRODUCT)
    return value * factor, [2 * u * factor], factor


def _cube(xp: Any, u: Any) -> tuple[Any, list[Any], Any]:
    square = u * u
    value = square * u
    factor = _held(xp, abs(value), LARGEST_PRODUCT)
    return value * factor, [3 * square * factor], factor


def _inverse(xp: Any, u: Any) -> tuple[Any, list[Any], Any]:
    value, (_, slope), factor = _quotient(xp, xp.ones_like(u), u)
    return value, [slope], factor


def _sqrt(xp: Any, u: Any) -> tuple[Any, list[Any], None]:
    root = xp.sqrt(xp.clip(u, 0.0, None))
    return root, [xp.where(u > 0, _not_too_steep(xp, 0.5 / xp.clip(root, SMALLEST, None)), 0.0)], None


def _tanh(xp: Any, u: Any) -> tuple[Any, list[Any], None]:
    value = xp.tanh(u)
    return value, [1 - value * value], None


PROTECTED: dict[str, Protected] = {
    "+": lambda xp, a, b: (a + b, [1.0, 1.0], None),
    "-": lambda xp, a, b: (a - b, [1.0, -1.0], None),
    "*": _product,
    "/": _quotient,
    "sin": lambda xp, u: (xp.sin(u), [xp.cos(u)], None),
    "cos": lambda xp, u: (xp.cos(u), [-xp.sin(u)], None),
    "exp": _exp,
    "log": _log,
    "square": _square,
    "cube": _cube,
    "inv": _inverse,
    "sqrt": _sqrt,
    "tanh": _tanh,
    "abs": lambda xp, u: (abs(u), [xp.sign(u)], None),
    "neg": lambda xp, u: (-u, [-1.0], None),
}


def protected_form(row: Operator) -> Protected:
    """The protected form of an operator: ours, or for a user's operator its torch form with partials by autograd,
    both kept finite."""
    if row.name in PROTECTED:
        return PROTECTED[row.name]

    import torch

    def protected(xp: Any, *operands: Any) -> tuple[Any, list[Any], Any]:
        with torch.enable_grad():
            leaves = [torch.as_tensor(operand).detach().requires_grad_() for operand in operands]
            value = row.torch(torch, *leaves)
            flows = value.requires_grad  # a form that leaves torch on the way has no gradient to give
            slopes = torch.autograd.grad(value.sum(), leaves, allow_unused=True) if flows else [None] * len(leaves)
        value = value.detach().nan_to_num(nan=0.0, posinf=1e30, neginf=-1e30)
        factor = _held(torch, value.abs(), LARGEST_PRODUCT)
        partials = [torch.zeros_like(value) if s is None else s.nan_to_num(0.0) for s in slopes]
        found = [value * factor, *(_not_too_steep(torch, partial * factor) for partial in partials), factor]
        value, *partials, factor = [part.numpy() for part in found] if xp is np else found
        return value, partials, factor

    return protected
