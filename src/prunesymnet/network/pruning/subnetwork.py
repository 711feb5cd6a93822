"""A subnetwork while it is being pruned, and the loss of every edge that could be retained next.

Pruning goes from the output to the inputs. Above the group being pruned everything is a small tree already; below it
the network is still whole. So all edges of a group are scored at once: the operand's candidates, [edges, points], go
through the few operators above them, and nothing else is computed.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from prunesymnet.network import Network
from prunesymnet.operators.protection import protected_form

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained network on a table: weights [edges], the values of all nodes [nodes, points], the target, and the
    share of each row in the error (None: all alike)."""

    network: Network
    weights: Array
    nodes: Array
    target: Array
    shares: Array | None = None

    def operand(self, group: int) -> Array:
        """What an unpruned group delivers: the sum over all its edges."""
        g = self.network.groups[group]
        total: Array = self.weights[g.start : g.start + g.width] @ self.nodes[: g.width]
        return total


@dataclass(frozen=True, slots=True)
class Subnetwork:
    """A network of which the groups in `chosen` (group -> node) are pruned. `values` are those of the nodes above,
    `open` the operator nodes that are retained but not pruned yet, `nested` the nodes inside sin, cos, exp, log."""

    chosen: dict[int, int]
    values: dict[int, Array]
    open: tuple[int, ...]
    nested: frozenset[int]
    loss: float

    @classmethod
    def whole(cls) -> "Subnetwork":
        return cls({}, {}, (), frozenset(), float("inf"))

    def next_group(self, network: Network) -> int | None:
        """The group to prune next: the output's, then those of the retained node nearest to the output."""
        if not self.chosen:
            return len(network.groups) - 1
        if not self.open:
            return None
        return next(group for group in network.groups_of[max(self.open)] if group not in self.chosen)


@dataclass(frozen=True, slots=True)
class Scores:
    """The losses of retaining each edge of a group (inf: not allowed), and the values of the nodes above then."""

    group: int
    losses: Array
    values: dict[int, Array]  # node -> [edges, points]


def score_edges(trained: Trained, state: Subnetwork, group: int, forbidden: Collection[str], rescale: bool) -> Scores:
    """The mean squared error with each edge of the group as the only one; with `rescale`, at the best weight of the
    output's edge instead of the trained one. `forbidden`: operators that may not stand inside one another."""
    network = trained.network
    g = network.groups[group]
    weights = trained.weights[g.start : g.start + g.width]
    changed: dict[int, Array] = {}
    with np.errstate(all="ignore"):
        candidates = weights[:, None] * trained.nodes[: g.width]
        if g.node < 0:
            output = candidates
        else:
            changed[g.node] = _apply(trained, state, g.node, {group: candidates})
            for node in sorted(n for n in state.values if n > g.node):
                sources = [(i, state.chosen[i]) for i in network.groups_of[node]]
                if any(source in changed for _, source in sources):
                    moved = {i: _edge(trained, i, s) * changed[s] for i, s in sources if s in changed}
                    changed[node] = _apply(trained, state, node, moved)
            last = len(network.groups) - 1
            output = _edge(trained, last, state.chosen[last]) * changed[state.chosen[last]]
        if rescale:
            # The coefficients are fitted afterwards anyway; with this one free, what remains is the shape.
            shares = np.ones(len(trained.target)) if trained.shares is None else trained.shares
            length = output**2 @ shares
            output = output * (output @ (shares * trained.target) / np.where(length > 0, length, 1.0))[:, None]
        losses = np.average((output - trained.target) ** 2, axis=1, weights=trained.shares)
    allowed = np.isfinite(losses) & (weights != 0)
    if g.node in state.nested:
        allowed &= ~_is_one_of(network, forbidden)[: g.width]
    return Scores(group, np.where(allowed, losses, np.inf), changed)


def retain(network: Network, state: Subnetwork, scores: Scores, source: int, forbidden: Collection[str]) -> Subnetwork:
    """The subnetwork with one more group pruned to its edge from `source`."""
    node = network.groups[scores.group].node
    chosen = {**state.chosen, scores.group: source}
    values = {**state.values, **{n: v[source] for n, v in scores.values.items()}}
    still_open = set(state.open)
    if node >= 0 and all(group in chosen for group in network.groups_of[node]):
        still_open.discard(node)
    nested = set(state.nested)
    row = network.operator_of(source)
    if row is not None:
        if source not in state.values:
            still_open.add(source)
        if node in nested or row.name in forbidden:
            nested.add(source)
    return replace(
        state,
        chosen=chosen,
        values=values,
        open=tuple(still_open),
        nested=frozenset(nested),
        loss=float(scores.losses[source]),
    )


def _edge(trained: Trained, group: int, source: int) -> float:
    return float(trained.weights[trained.network.groups[group].start + source])


def _apply(trained: Trained, state: Subnetwork, node: int, given: dict[int, Array]) -> Array:
    """A node's values when some of its operands are given: the others are pruned already, or whole."""
    operands = []
    for group in trained.network.groups_of[node]:
        if group in given:
            operands.append(given[group])
        elif group in state.chosen:
            source = state.chosen[group]
            operands.append(_edge(trained, group, source) * state.values.get(source, trained.nodes[source]))
        else:
            operands.append(trained.operand(group))
    row = trained.network.operator_of(node)
    assert row is not None  # noqa: S101 - inputs have no operands
    value: Array = protected_form(row)(np, *np.broadcast_arrays(*operands))[0]
    return value


def _is_one_of(network: Network, names: Collection[str]) -> NDArray[np.bool_]:
    rows = [network.operator_of(node) for node in range(network.sizes[-1])]
    return np.array([row is not None and row.name in names for row in rows])
