"""What members of families explain: alone, times a node, beside a node, and two of them together, by matrix products.

A member has several columns: its value, and the derivatives by its constants. What they explain together is found by
elimination of one after the other, for all members and nodes at once: with D columns of each of K members, and M nodes
of n rows, products cost D(D+1)/2 + D(k+1) matrix products [K, n] x [n, M] beside k fixed terms, and sums D of them.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Bank, Term
from prunesymnet.bank.families import DEPENDENT, Members, orthonormal
from prunesymnet.bank.query import Query
from prunesymnet.bank.regression import Residual

Array = NDArray[np.float64]

CANCELLED = 1e-4  # of a column's variation: what is left of it beside others is lost in single precision
KEPT = 10  # of each complexity
PLUS = 3  # what a further term adds to a formula's complexity: a sum, a product and a constant


class Hit(NamedTuple):
    """Members that answer a query, times a node or beside it (-1: no node), and what they leave of it, with all nearby
    constants taken in."""

    unexplained: float
    complexity: int
    query: Query
    members: tuple[int, ...]
    node: int = -1
    product: bool = False


def alone(found: Members, queries: list[Query]) -> list[Hit]:
    """The best member of each family and node, for each query."""
    residuals = [Residual.of(query.regression()) for query in queries]
    basis = _single(found.basis)
    weights = _single([residual.root**2 for residual in residuals]).T
    targets = _single([residual.values * residual.root for residual in residuals]).T
    fixed = [
        _single([r.basis[p] * r.root if p < len(r.basis) else 0 * r.root for r in residuals]).T
        for p in range(max(len(residual.basis) for residual in residuals))
    ]
    depth = range(basis.shape[1])
    along = [basis[:, k] @ targets for k in depth]
    parts = [[basis[:, k] @ one for one in fixed] for k in depth]
    gram = {(i, j): (basis[:, i] * basis[:, j]) @ weights for i in depth for j in range(i + 1)}
    left = 1 - np.array([residual.explained for residual in residuals]) - explained_by(along, gram, parts)
    sizes = [query.complexity for query in queries]
    hits = []
    for group in found.groups:
        best = np.argmin(left[group], axis=0)
        lowest = left[group][best, np.arange(len(queries))]
        size = int(found.complexity[group.start])
        for query, more, k, error in zip(queries, sizes, best.tolist(), lowest.tolist(), strict=True):
            hits.append(Hit(error, size + more, query, (group.start + k,)))
    return hits


def times_nodes(found: Members, bank: Bank, query: Query) -> list[Hit]:
    """Products of a member and a node."""
    residual = Residual.of(query.regression())
    root = residual.root
    columns = _single(orthonormal(found.columns))
    rms = np.sqrt((bank.values * bank.values) @ (root * root))
    nodes = _single(bank.values / np.where(rms > 0, rms, 1.0)[:, None]).T
    squares = nodes * nodes
    weights, target = _single(root * root), _single(residual.values * root)
    fixed = [_single(q * root) for q in residual.basis]
    depth = range(columns.shape[1])
    along = [(columns[:, k] * target) @ nodes for k in depth]
    parts = [[(columns[:, k] * q) @ nodes for q in fixed] for k in depth]
    gram = {(i, j): (columns[:, i] * columns[:, j] * weights) @ squares for i in depth for j in range(i + 1)}
    left = 1 - residual.explained - explained_by(along, gram, parts)
    return _best_with_nodes(found, bank, query, left, product=True)


def beside_nodes(found: Members, bank: Bank, query: Query) -> list[Hit]:
    """Sums of a member and a node."""
    residual = Residual.of(query.regression())
    basis = _beside(found.columns, residual)
    nodes = _beside(bank.values[:, None], residual)
    left = 1 - residual.explained - _together(basis, nodes, residual.values)
    return _best_with_nodes(found, bank, query, left, product=False)


def beside_members(found: Members, query: Query) -> list[Hit]:
    """Sums of two members: the best of each two families and nodes."""
    residual = Residual.of(query.regression())
    basis = _beside(found.columns, residual)
    left = 1 - residual.explained - _together(basis, basis, residual.values)
    hits = []
    for k, one in enumerate(found.groups):
        for two in found.groups[k:]:
            block = left[one, two]
            if one == two:  # neighbours on a grid are one
                block = np.where(np.tri(*block.shape, k=1, dtype=bool), 1.0, block)
            i, j = divmod(int(np.argmin(block)), block.shape[1])
            size = int(found.complexity[one.start] + found.complexity[two.start]) + query.complexity + PLUS
            hits.append(Hit(float(block[i, j]), size, query, (one.start + i, two.start + j)))
    return hits


def explained_by(along: list[Any], gram: dict[tuple[int, int], Any], parts: list[list[Any]]) -> Any:
    """What several columns explain together, one after the other: `along` are their products with the residual, `gram`
    those with one another, and `parts` those with each fixed term, which are taken off."""
    depth = range(len(along))
    sizes = [gram[k, k] for k in depth]
    left = {(i, j): gram[i, j] - sum(p * q for p, q in zip(parts[i], parts[j], strict=True)) for i, j in gram}
    along = list(along)
    gain: Any = 0.0
    with np.errstate(all="ignore"):
        for k in depth:
            inverse = np.where(left[k, k] > CANCELLED * sizes[k], 1 / left[k, k], 0.0)
            gain = gain + along[k] ** 2 * inverse
            for i in depth[k + 1 :]:
                factor = left[i, k] * inverse
                along[i] = along[i] - factor * along[k]
                for j in range(k + 1, i + 1):
                    left[i, j] = left[i, j] - factor * left[j, k]
    return gain


def _together(one: Array, two: Array, target: Array) -> Array:
    """What each orthonormal set of columns [sets, columns, rows] explains of the target with each of another."""
    along, others_along = one @ target, two @ target
    one, two = _single(one), _single(two)
    mine, theirs = range(one.shape[1]), range(two.shape[1])
    cross = [[one[:, i] @ two[:, j].T for j in theirs] for i in mine]
    rest = [others_along[:, j] - sum(along[:, i, None] * cross[i][j] for i in mine) for j in theirs]
    own = {(j, k): np.einsum("mn,mn->m", two[:, j], two[:, k])[None] for j in theirs for k in range(j + 1)}
    parts = [[cross[i][j] for i in mine] for j in theirs]
    together: Array = np.einsum("mk,mk->m", along, along)[:, None] + explained_by(rest, own, parts)
    return together


def _beside(columns: Array, residual: Residual) -> Array:
    """Sets of columns [sets, columns, rows] made orthonormal beside the fixed terms."""
    columns = columns * residual.root
    size = np.sqrt(np.einsum("mkn,mkn->mk", columns, columns))
    columns = columns / np.where(size > 0, size, 1.0)[:, :, None]
    for _ in range(2):
        columns = columns - (columns @ residual.basis.T) @ residual.basis
    columns[np.einsum("mkn,mkn->mk", columns, columns) < DEPENDENT**2] = 0.0
    return orthonormal(columns)


def _best_with_nodes(found: Members, bank: Bank, query: Query, left: Array, *, product: bool) -> list[Hit]:
    """For each family, its node and each node of the bank the best member; of these the best of each complexity."""
    groups = found.groups
    starts = [group.start for group in groups]
    lowest = np.minimum.reduceat(left, starts, axis=0)  # [families of nodes, nodes]
    size = found.complexity[starts][:, None] + bank.complexity + query.complexity + (0 if product else PLUS)
    hits = []
    for level in np.unique(size):
        at = np.flatnonzero(size == level)
        for k in at[np.argsort(lowest.reshape(-1)[at], kind="stable")[:KEPT]]:
            group, node = divmod(int(k), left.shape[1])
            member = starts[group] + int(np.argmin(left[groups[group], node]))
            hits.append(Hit(float(lowest[group, node]), int(level), query, (member,), node, product))
    return hits


def terms_of(hit: Hit, members: list[Term], bank: Bank) -> list[Term]:
    """The terms of an answer, whose members have been refined."""
    if hit.node < 0:
        return members
    node = bank.term(hit.node)
    return [members[0] * node] if hit.product else [*members, node]


def _single(values: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(np.float32)
