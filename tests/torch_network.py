"""The network as torch sees it: its pass as one function for autograd, which checks the gradient that we wrote out."""

from typing import NamedTuple

import numpy as np
import torch

from prunesymnet.network.activation import backward, forward


class Propagation(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weights, inputs, rows, sizes):
        on_cpu = weights.device.type == "cpu"
        xp, given, table = (np, weights.detach().numpy(), inputs.numpy()) if on_cpu else (torch, weights, inputs)
        output, nodes, partials, fired = forward(xp, given, table, rows, sizes)
        ctx.kept = (xp, given, nodes, partials, rows, sizes)
        results = (output, nodes, fired)
        output, nodes, fired = map(torch.from_numpy, results) if on_cpu else results
        ctx.mark_non_differentiable(nodes, fired)
        return output, nodes, fired

    @staticmethod
    def backward(ctx, upstream, *_):
        xp, *kept = ctx.kept
        gradient = backward(xp, upstream.numpy() if xp is np else upstream, *kept)
        return torch.from_numpy(gradient) if xp is np else gradient, None, None, None


class Pass(NamedTuple):
    """`output` [restarts, points], `nodes` [restarts, nodes, points], and where a protection `fired` [restarts, layers,
    operators]."""

    output: torch.Tensor
    nodes: torch.Tensor
    fired: torch.Tensor


def propagate(weights, inputs, rows, sizes):
    return Pass(*Propagation.apply(weights, inputs, rows, sizes))


def forward_pass(network, weights, inputs):
    return propagate(weights, inputs, network.rows, network.sizes)


def initial_weights(network, restarts, seed, *, dtype=torch.float32, quotients=False):
    """As they are drawn; with `quotients`, the edges that read one are not left at zero."""
    weights = network.draw_weights(restarts, seed)
    if quotients:
        silent = weights == 0
        weights[silent] = 0.3 * np.random.default_rng(seed).normal(size=silent.sum())
    return torch.from_numpy(weights).to(dtype)


def input_rows(network, columns, *, dtype=torch.float32, device="cpu"):
    return torch.from_numpy(network.input_table(columns)).to(device=device, dtype=dtype)


def only(network, weights, choice):
    """The weights [edges] with every edge but the retained ones at zero."""
    kept = torch.zeros_like(weights)
    for i in network.needed(choice):
        edge = network.groups[i].start + choice[i]
        kept[edge] = weights[edge]
    return kept
