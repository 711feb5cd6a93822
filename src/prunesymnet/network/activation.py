"""The network's arithmetic: a layer of protected operators, and the pass through all layers and back.

Every group of edges feeds one operator, so the way back through a layer is one product with the partial derivatives
that the way forward leaves behind, and two matrix products. `propagate` is that, as one function for autograd: a
graph of every operator of every layer costs about eight times as much for a single network. The code is written for
numpy and torch alike (`xp` is one of the two): on a CPU, where a call costs more than the arithmetic on 128 points,
numpy's calls are the cheaper ones. There torch is not even imported, which takes longer than many a search.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from prunesymnet.operators import Operator
from prunesymnet.operators.protection import protected_form, within

if TYPE_CHECKING:
    from torch import Tensor

LARGEST_SUM = 1e12  # of what a group delivers: its cube is still a float32
LARGEST_GRADIENT = 1e12  # of what flows back: far above what clipping lets through, far below overflow


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
            sums = within(xp, matrix @ nodes[:, : sizes[layer]], LARGEST_SUM)
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
        back = within(xp, back, LARGEST_GRADIENT)
        gradients.append((back @ nodes[:, :below].swapaxes(1, 2)).reshape(len(weights), -1))
        if layer:
            flow = flow[:, :below] + matrices[layer].swapaxes(1, 2) @ back
    return xp.concatenate(gradients[::-1], 1)
