"""The other way round: drop the edges that training has made all but zero, and keep what is left.

Where few edges are left in the whole network, the formula with several edges per operand is a candidate, too: its
terms whose coefficients the fit takes to zero disappear afterwards.
"""

import numpy as np

from prunesymnet.expression import Constant, Expression
from prunesymnet.network.pruning.subnetwork import Trained


def reverse(
    trained: Trained, *, least: float = 0.01, most_edges: int = 30, connected: bool = False
) -> Expression | None:
    """The formula of all edges of at least `least` in size; None where the network has more than `most_edges` of them,
    or, if only those that are `connected` to the output count, more of these."""
    network = trained.network
    if not connected and np.count_nonzero(np.abs(trained.weights) >= least) > most_edges:
        return None
    edges = {
        i: [j for j in range(group.width) if abs(trained.weights[group.start + j]) >= least]
        for i, group in enumerate(network.groups)
    }
    needed, stack, count = set(), [-1], 0
    while stack:
        for group in network.groups_of[stack.pop()]:
            count += len(edges[group])
            if count > most_edges:
                return None
            for source in edges[group]:
                if source >= network.sizes[0] and source not in needed:
                    needed.add(source)
                    stack.append(source)
    made: dict[int, Expression] = {}

    def operand(group: int) -> Expression:
        total: Expression | None = None
        for source in edges[group]:
            weight = Constant(float(trained.weights[network.groups[group].start + source]))
            term = weight * made[source] if source in made else weight * network.node_expression(source, operand)
            total = term if total is None else total + term
        return Constant(0) if total is None else total

    for node in sorted(needed):
        made[node] = network.node_expression(node, operand)
        if made[node].complexity > 50 * most_edges:
            return None  # edges that are shared by many nodes multiply when they are written out
    return operand(len(network.groups) - 1)
