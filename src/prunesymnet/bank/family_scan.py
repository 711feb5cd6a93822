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
from prunesymnet.bank.query import A_TERM, Query
from prunesymnet.bank.regression import Residual
from prunesymnet.coefficients.bases import of_length_one

Array = NDArray[np.float64]

CANCELLED = 1e-9  # of a column's variation: what is left of it beside others is rounding
KEPT = 24  # of each complexity


class MemberAnswer(NamedTuple):
    """Members that answer a query, times a node or beside it (-1: no node), and what they leave of it, with all nearby
    constants taken in."""

    unexplained: float
    complexity: int
    query: Query
    members: tuple[int, ...]
    node: int = -1
    product: bool = False


def alone(found: Members, queries: list[Query]) -> list[MemberAnswer]:
    """The best member of each family and node, for each query."""
    few = [query for query in queries if len(query.columns()) <= 1]
    many = [query for query in queries if len(query.columns()) > 1]
    return [hit for part in (few, many) if part for hit in _alone(found, part)]


def _alone(found: Members, queries: list[Query]) -> list[MemberAnswer]:
    """For queries that have about as many fixed terms."""
    residuals = [Residual.of(query.regression()) for query in queries]
    basis = found.basis
    weights = np.array([residual.root**2 for residual in residuals]).T
    targets = np.array([residual.values * residual.root for residual in residuals]).T
    fixed = [
        np.array([r.basis[p] * r.root if p < len(r.basis) else 0 * r.root for r in residuals]).T
        for p in range(max(len(residual.basis) for residual in residuals))
    ]
    depth = range(basis.shape[1])
    along = [basis[:, k] @ targets for k in depth]
    parts = [[basis[:, k] @ one for one in fixed] for k in depth]
    gram = {(i, j): (basis[:, i] * basis[:, j]) @ weights for i in depth for j in range(i + 1)}
    more = np.array([query.complexity for query in queries])
    explained = np.array([residual.explained for residual in residuals])
    left = [1 - explained - gain for gain in explained_by(along, gram, parts)]
    return [MemberAnswer(error, size, queries[q], (member,)) for error, size, member, q in _best(found, left, more)]


def times_nodes(found: Members, bank: Bank, query: Query) -> list[MemberAnswer]:
    """Products of a member and a node."""
    residual = Residual.of(query.regression())
    root = residual.root
    columns = orthonormal(found.columns)
    rms = np.sqrt((bank.values * bank.values) @ (root * root))
    nodes = (bank.values / np.where(rms > 0, rms, 1.0)[:, None]).T
    squares = nodes * nodes
    weights, target = root * root, residual.values * root
    fixed = [q * root for q in residual.basis]
    depth = range(columns.shape[1])
    along = [(columns[:, k] * target) @ nodes for k in depth]
    parts = [[(columns[:, k] * q) @ nodes for q in fixed] for k in depth]
    gram = {(i, j): (columns[:, i] * columns[:, j] * weights) @ squares for i in depth for j in range(i + 1)}
    left = [1 - residual.explained - gain for gain in explained_by(along, gram, parts)]
    best = _best(found, left, bank.complexity + query.complexity)
    return [MemberAnswer(error, size, query, (member,), node, product=True) for error, size, member, node in best]


def beside_nodes(found: Members, bank: Bank, query: Query) -> list[MemberAnswer]:
    """Sums of a member and a node."""
    residual = Residual.of(query.regression())
    basis = beside(found.columns, residual)
    nodes = beside(bank.values[:, None], residual)
    left = [1 - residual.explained - gain for gain in _together(nodes, basis, residual.values)]
    best = _best(found, [part.T for part in left], bank.complexity + query.complexity + A_TERM)
    return [MemberAnswer(error, size, query, (member,), node) for error, size, member, node in best]


def beside_members(found: Members, query: Query, keep: int = 1) -> list[MemberAnswer]:
    """Sums of two members: of each two families and nodes the best, and so many that share no member with these."""
    residual = Residual.of(query.regression())
    basis = beside(found.columns, residual)
    left = 1 - residual.explained - _together(basis, basis, residual.values)[1]
    hits = []
    for k, one in enumerate(found.groups):
        for two in found.groups[k:]:
            block = left[one, two]
            if one == two:  # neighbours on a grid are one
                block = np.where(np.tri(len(block), k=1, dtype=bool), 1.0, block)
            size = int(found.complexity[one.start] + found.complexity[two.start]) + query.complexity + A_TERM
            for i, j in _lowest(block, keep):
                hits.append(MemberAnswer(float(block[i, j]), size, query, (one.start + i, two.start + j)))
    return hits


def _lowest(block: Array, count: int) -> list[tuple[int, int]]:
    """Where the least number stands, and the least of the other rows and columns, and so on."""
    block, found = block.copy(), []
    for _ in range(min(count, *block.shape)):
        i, j = divmod(int(np.argmin(block)), block.shape[1])
        found.append((i, j))
        block[i], block[:, j] = np.inf, np.inf
    return found


def explained_by(along: list[Any], gram: dict[tuple[int, int], Any], parts: list[list[Any]]) -> tuple[Any, Any]:
    """What several columns explain, the first alone and all together: `along` are their products with the residual,
    `gram` those with one another, and `parts` those with each fixed term, which are taken off."""
    depth = range(len(along))
    sizes = [gram[k, k] for k in depth]
    left = {(i, j): gram[i, j] - sum(p * q for p, q in zip(parts[i], parts[j], strict=True)) for i, j in gram}
    along = list(along)
    gains: list[Any] = []
    with np.errstate(all="ignore"):
        for k in depth:
            inverse = np.where(left[k, k] > CANCELLED * sizes[k], 1 / left[k, k], 0.0)
            gains.append(along[k] ** 2 * inverse)
            for i in depth[k + 1 :]:
                factor = left[i, k] * inverse
                along[i] = along[i] - factor * along[k]
                for j in range(k + 1, i + 1):
                    left[i, j] = left[i, j] - factor * left[j, k]
    return gains[0], sum(gains)


def _together(one: Array, two: Array, target: Array) -> tuple[Array, Array]:
    """What each orthonormal set of columns [sets, columns, rows] explains of the target with each of another: with its
    first column alone, and with all."""
    along, others_along = one @ target, two @ target
    mine, theirs = range(one.shape[1]), range(two.shape[1])
    cross = [[one[:, i] @ two[:, j].T for j in theirs] for i in mine]
    rest = [others_along[:, j] - sum(along[:, i, None] * cross[i][j] for i in mine) for j in theirs]
    own = {(j, k): np.einsum("mn,mn->m", two[:, j], two[:, k])[None] for j in theirs for k in range(j + 1)}
    parts = [[cross[i][j] for i in mine] for j in theirs]
    mine_alone = np.einsum("mk,mk->m", along, along)[:, None]
    first, together = explained_by(rest, own, parts)
    return mine_alone + first, mine_alone + together


def beside(columns: Array, residual: Residual) -> Array:
    """Sets of columns [sets, columns, rows] made orthonormal beside the fixed terms."""
    columns = of_length_one(columns * residual.root)[0]
    for _ in range(2):
        columns = columns - (columns @ residual.basis.T) @ residual.basis
    columns[np.einsum("mkn,mkn->mk", columns, columns) < DEPENDENT**2] = 0.0
    return orthonormal(columns)


def _best(found: Members, left: list[Array], more: NDArray[np.int64]) -> list[tuple[float, int, int, int]]:
    """Of what members leave [members, others] with their value alone, and with all their columns: the least of each
    complexity, as (error, complexity, member, other). A family is judged by the latter; where to start from, both may
    say."""
    groups = found.groups
    starts = [group.start for group in groups]
    lowest = np.minimum.reduceat(left[1], starts, axis=0)  # [families of nodes, others]
    size = found.complexity[starts][:, None] + more
    hits = []
    for k, other in _best_of_each(lowest, size):
        members = {starts[k] + int(np.argmin(part[groups[k], other])) for part in left}
        hits += [(float(lowest[k, other]), int(size[k, other]), member, other) for member in sorted(members)]
    return hits


def _best_of_each(errors: Array, size: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Where the least errors of each size are."""
    found = []
    for level in np.unique(size):
        at = np.flatnonzero(size == level)
        best = at[np.argsort(errors.reshape(-1)[at], kind="stable")[:KEPT]]
        found += [divmod(int(k), errors.shape[1]) for k in best]
    return found


def terms_of(hit: MemberAnswer, members: list[Term], bank: Bank) -> list[Term]:
    """The terms of an answer, whose members have been refined."""
    if hit.node < 0:
        return members
    node = bank.term(hit.node)
    return [members[0] * node] if hit.product else [*members, node]
