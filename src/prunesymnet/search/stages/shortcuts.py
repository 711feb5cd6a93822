"""Shortcuts that cost milliseconds: monomials with real exponents, polynomials, quotients of polynomials.

Each is one linear solve, and terms that the data do not need are taken out again.
"""

from collections.abc import Iterator
from itertools import combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.asked import EXACT, Proposal, Scene
from prunesymnet.bank.targets import Frame
from prunesymnet.expression import Constant, Expression, Variable

Array = NDArray[np.float64]

MOST_TERMS, MOST_DEGREE = 60, 12
NEARLY = 1e-13  # of the variation, where it is a difference of sums of squares: less is rounding
NULL = 1e-9  # a smallest singular value this small, relative to the next: the columns are dependent


def monomials(names: tuple[str, ...], columns: dict[str, Array], degree: int) -> list[tuple[Array, Expression]]:
    """All products of the columns of total degree 1 to `degree`, the simplest first."""
    found = []
    for total in range(1, degree + 1):
        for choice in combinations_with_replacement(names, total):
            with np.errstate(over="ignore"):
                values = np.prod([columns[name] for name in choice], axis=0)
            tree: Expression | None = None
            for name in dict.fromkeys(choice):
                times = choice.count(name)
                factor = Variable(name) if times == 1 else Variable(name) ** times
                tree = factor if tree is None else tree * factor
            assert tree is not None  # noqa: S101 - a choice has at least one name
            found.append((values, tree))
    return found


def monomial(scene: Scene) -> Iterator[Proposal]:
    """c * x1**a * x2**b ...: log|y| is linear in log|x|, one solve for any number of variables. Exponents near whole
    numbers are made whole, so that the signs count; columns that change sign need them to be."""
    y, weights = scene.y, scene.weights
    usable = {name: u for name, u in scene.columns.items() if (u != 0).all()}
    if not usable or not (y != 0).all():
        return
    logs = np.array([np.ones_like(y), *(np.log(np.abs(u)) for u in usable.values())])
    t = np.log(np.abs(y))
    # Errors of y, not of its logarithm, are to be small; rows of tiny y tell little.
    root = np.sqrt(weights) * np.abs(y) / np.abs(y).max()
    for rows in (root, np.ones_like(root)):
        exponents = np.linalg.lstsq((logs * rows).T, t * rows, rcond=1e-12)[0]
        for whole in (True, False):
            formula: Expression = Constant(float(np.exp(np.clip(exponents[0], -600, 600))))
            for (name, u), p in zip(usable.items(), exponents[1:], strict=True):
                if whole or (u < 0).any():
                    if round(p):
                        formula = formula * Variable(name) ** round(p)
                elif abs(p) > 1e-6:
                    formula = formula * Variable(name) ** Constant(float(p))
            yield Proposal(formula, 1.0, "monomial")


def polynomials(scene: Scene, frame: Frame, *, only_exact: bool = False) -> Iterator[Proposal]:
    """The polynomial of all variables of the lowest degree that is exact, else (unless `only_exact`) of the degree that
    pays best; without the terms that the data do not need."""
    names = tuple(scene.columns)
    root = np.sqrt(frame.weights)
    rows = int((frame.weights > 0).sum())
    counts = [comb(len(names) + degree, degree) for degree in range(MOST_DEGREE + 1)]
    counts = [count for count in counts if count <= min(0.6 * rows, MOST_TERMS)]
    if len(counts) < 2:
        return
    terms: list[tuple[Array, Expression]] = [(np.ones_like(root), Constant(1))]
    terms += monomials(names, scene.columns, len(counts) - 1)
    columns = np.array([values for values, _ in terms]) * root
    with np.errstate(all="ignore"):
        size = np.sqrt(np.einsum("kn,kn->k", columns, columns))
    if not np.isfinite(size).all():
        return
    target = frame.target * root
    # Terms are in order of degree: one decomposition says what each degree leaves.
    along = np.linalg.qr((columns / np.where(size > 0, size, 1.0)[:, None]).T)[0].T @ target
    left = np.maximum(target @ target - np.cumsum(along**2)[np.array(counts) - 1], 0.0)
    variation = float(left[0])
    exact = np.flatnonzero(left <= NEARLY * variation)
    if len(exact):
        degree = int(exact[0])
    elif only_exact:
        return
    else:
        lengths = 0.5 * rows * np.log2(np.maximum(left, 1e-300)) + (0.5 * np.log2(rows) + 4) * np.array(counts)
        degree = int(lengths.argmin())
    kept, error = eliminate(columns[: counts[degree]], target, rows)
    formula = weighted_sum([(coefficient, terms[index][1]) for index, coefficient in kept])
    yield Proposal(frame.wrap(formula), error / variation if variation > 0 else 0.0, "polynomial")


def weighted_sum(terms: list[tuple[float, Expression]]) -> Expression:
    """The sum of coefficients times trees."""
    total: Expression = Constant(0)
    for coefficient, tree in terms:
        total = total + Constant(coefficient) * tree
    return total


def eliminate(columns: Array, target: Array, rows: int) -> tuple[list[tuple[int, float]], float]:
    """Least squares, then without the columns [terms, points] that do not earn their place in description length: index
    and coefficient of those that stay, and the squared error."""
    size = np.sqrt(np.einsum("kn,kn->k", columns, columns))
    alive = np.flatnonzero((size > 0) & np.isfinite(size))[: max(rows - 1, 1)]  # more than rows tell nothing
    scaled = columns / np.where(size > 0, size, 1.0)[:, None]
    floor = 1e-28 * float(target @ target)
    best: tuple[float, list[tuple[int, float]], float] | None = None
    while len(alive):
        matrix = scaled[alive].T
        q, r = np.linalg.qr(matrix)
        diagonal = np.abs(np.diagonal(r))
        if diagonal.min() < 1e-13:
            alive = np.delete(alive, int(diagonal.argmin()))
            continue
        solved = np.linalg.solve(r, q.T @ target)
        residual = target - matrix @ solved
        left = max(float(residual @ residual), floor)
        length = 0.5 * rows * np.log2(left + 1e-300) + 0.5 * np.log2(rows) * len(alive) + 4 * len(alive)
        if best is None or length < best[0]:
            best = length, [(int(k), float(c / size[k])) for k, c in zip(alive, solved, strict=True)], left
        # The term whose loss costs the least: c^2 / (inverse Gram)_kk.
        inverse = np.linalg.inv(r)
        cost = solved**2 / np.maximum(np.einsum("kj,kj->k", inverse, inverse), 1e-300)
        alive = np.delete(alive, int(cost.argmin()))
    if best is None:
        return [], float(target @ target)
    return best[1], best[2]


def quotients(scene: Scene, most: int = 40) -> Iterator[Proposal]:
    """p/q for polynomials p and q: p - y*q = 0 is linear and homogeneous in all coefficients, so they are what a
    matrix of columns [1, x, ..., -y, -y*x, ...] takes to zero. The lowest degrees first, where the answer is unique."""
    names, y = tuple(scene.columns), scene.y
    degrees = sorted(((p, q) for p in range(1, 5) for q in range(1, 4)), key=lambda d: (d[0] + d[1], d[1]))
    one = (np.ones_like(y), Constant(1))
    for p, q in degrees:
        if comb(len(names) + p, p) + comb(len(names) + q, q) > min(0.6 * len(y), most):
            continue
        above = [one, *monomials(names, scene.columns, p)]
        below = [one, *monomials(names, scene.columns, q)]
        columns = np.array([*(v for v, _ in above), *(-y * v for v, _ in below)])
        columns = columns * (np.sqrt(scene.weights) / (1 + np.abs(y)))
        size = np.sqrt(np.einsum("kn,kn->k", columns, columns))
        if not (np.isfinite(size).all() and size.all()):
            continue  # a product that is zero on all rows can stand anywhere
        triangle = np.asarray(np.linalg.qr((columns / size[:, None]).T, mode="r"))
        found = _null(triangle)
        if found is None:
            continue
        alive, vector = found
        trees = [tree for _, tree in above] + [tree for _, tree in below]
        parts: list[Expression | None] = [None, None]
        for index, value in zip(alive, vector / size[alive], strict=True):
            side = int(index >= len(above))
            term = Constant(float(value)) * trees[index]
            before = parts[side]
            parts[side] = term if before is None else before + term
        if parts[0] is not None and parts[1] is not None:
            yield Proposal(parts[0] / parts[1], EXACT, "quotient")
            return


def _null(triangle: Array) -> tuple[NDArray[np.int64], Array] | None:
    """The fewest columns that are still dependent, and the coefficients; None if all are independent."""
    alive = np.arange(triangle.shape[1])
    least = np.linalg.svd(triangle, compute_uv=False)
    if not least[-1] < NULL * least[-2]:
        return None
    while len(alive) > 2:
        vector = np.linalg.svd(triangle[:, alive])[2][-1]
        for drop in np.argsort(np.abs(vector)):
            rest = np.delete(alive, drop)
            values = np.linalg.svd(triangle[:, rest], compute_uv=False)
            if abs(vector[drop]) < 1e-3 and values[-1] < 1e-10:
                alive = rest
                break
        else:
            break
    vector = np.linalg.svd(triangle[:, alive])[2][-1]
    return alive, vector
