"""The network's arithmetic: a layer of protected operators, and the pass through all layers and back.

Every group of edges feeds one operator, so the way back through a layer is one product with the partial derivatives
that the way forward leaves behind, and two matrix products: a graph of every operator of every layer, as autograd makes
it, costs about eight times as much for a single network. The code is written for numpy and torch alike (`xp` is one of
the two): on a CPU, where a call costs more than the arithmetic on 128 points, numpy's calls are the cheaper ones. There
torch is not even imported, which takes longer than many a search.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from prunesymnet.operators import Operator
from prunesymnet.operators.protection import protected_form, within

LARGEST_SUM = 1e12  # of what a group delivers: its cube is still a float32
LARGEST_GRADIENT = 1e12  # of what flows back: far above what clipping lets through, far below overflow


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
