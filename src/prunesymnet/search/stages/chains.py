"""Deep unwrapping: thousands of targets several operators down, each tested for being simple by matrix products.

`n*(exp(q*v/(k*t)) - 1)` is a monomial n divided out, 1 added, the logarithm taken, and a monomial left. So every chain
of a monomial factor, an operator, an offset of 1 and another operator is undone, and the targets that come out,
[chains, points], are projected on what is simple: linear functions and polynomials of the columns, and (their
logarithms) on the logarithms of the columns. Three products of matrices test them all.

A chain's target is finite on all rows or is dropped; the fit on y itself decides in the end.
"""

from collections.abc import Iterator
from itertools import combinations, islice, product

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.asked import Proposal, Scene
from prunesymnet.bank.targets import Factor, Frame, Offset, Outer, Step, outers, plain
from prunesymnet.expression import Constant, Expression, Variable
from prunesymnet.operators import Operator, select_operators
from prunesymnet.search.stages.shortcuts import eliminate, monomials, weighted_sum

Array = NDArray[np.float64]

EXPONENTS = (1, -1, 2, -2)
NEARLY = 1e-10  # of the variation, where it is a difference of sums of squares in double precision
MOST_TERMS = 60


def factors(scene: Scene, degree: int, most: int) -> list[Factor]:
    """Monomials of up to `degree` columns, each to a power from -2 to 2: the simplest first."""
    usable = {name: u for name, u in scene.columns.items() if (u != 0).all()}
    found: list[tuple[int, Array, Expression]] = []
    for powers in islice(_powers(tuple(usable), degree), 20 * most):
        values = np.ones_like(scene.y)
        tree: Expression | None = None
        for name, exponent in powers:
            values = values * usable[name] ** exponent
            part = Variable(name) ** exponent if exponent != 1 else Variable(name)
            tree = part if tree is None else tree * part
        assert tree is not None  # noqa: S101 - there is at least one power
        found.append((sum(abs(exponent) for _, exponent in powers), values, tree))
    found.sort(key=lambda entry: entry[0])
    return [Factor(values, tree, divides=True) for _, values, tree in found[:most]]


def _powers(names: tuple[str, ...], degree: int) -> Iterator[tuple[tuple[str, int], ...]]:
    """Powers of one column, of two, ..."""
    for count in range(1, degree + 1):
        for chosen in combinations(names, count):
            for exponents in product(EXPONENTS, repeat=count):
                yield tuple(zip(chosen, exponents, strict=True))


def chains(scene: Scene, degree: int, most: int, keep: int) -> list[Proposal]:
    """The formulas whose chain leaves a polynomial or a monomial, the most exact first."""
    tests = _Tests(scene)
    known = factors(scene, degree, most)
    with np.errstate(all="ignore"):
        starts = np.array([scene.y, *(factor.down(scene.y) for factor in known)])
    found: list[tuple[float, int, str, tuple[Step, ...]]] = []
    for steps, targets in _all(starts, outers(select_operators(scene.operators))):
        for kind, left in tests(targets).items():
            for k in np.argsort(left, kind="stable")[:keep]:
                before: tuple[Step, ...] = (known[k - 1],) if k else ()
                found.append((float(left[k]), len(steps) + len(before), kind, before + steps))
    found.sort(key=lambda entry: (entry[0] > NEARLY, entry[1] if entry[0] <= NEARLY else entry[0]))
    proposals = []
    for unexplained, _, kind, steps in found[: 8 * keep]:
        frame = plain(scene.y, scene.weights).take_off(*steps)
        formula = None if frame is None else tests.formula(kind, frame)
        if formula is not None:
            proposals.append(Proposal(formula, 0.0 if unexplained <= NEARLY else unexplained, "chains"))
    return proposals


def _all(starts: Array, table: list[Operator]) -> Iterator[tuple[tuple[Step, ...], Array]]:
    """Every chain of an operator, an offset and an operator, some of them left out, and its targets [starts, points]:
    not numbers where it can't be undone on all rows."""
    signed = [Outer(operator, sign) for operator in table for sign in (1, -1)]
    with np.errstate(all="ignore"):
        for first in (None, *signed):
            steps: tuple[Step, ...] = () if first is None else (first,)
            targets = starts if first is None else first.down(starts)
            if not np.isfinite(targets).all(axis=1).any():
                continue
            yield steps, targets
            for offset in (Offset(1), Offset(-1)):
                moved = offset.down(targets)
                yield (*steps, offset), moved
                for last in signed:
                    yield (*steps, offset, last), last.down(moved)


class _Tests:
    """What is simple: polynomials of the columns, and monomials of those that are never zero."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        names = tuple(scene.columns)
        self.terms = monomials(names, scene.columns, 1)
        squared = monomials(names, scene.columns, 2)
        self.bases = {"linear": _basis([values for values, _ in self.terms], scene.y)}
        self.squared = squared
        if len(squared) <= min(MOST_TERMS, 0.6 * len(scene.y)):
            self.bases["quadratic"] = _basis([values for values, _ in squared], scene.y)
        self.usable = {name: np.log(np.abs(u)) for name, u in scene.columns.items() if (u != 0).all()}
        if self.usable:
            self.bases["monomial"] = _basis(list(self.usable.values()), scene.y)

    def __call__(self, targets: Array) -> dict[str, Array]:
        """For each test what it leaves of each target's variation."""
        out = {}
        with np.errstate(all="ignore"):
            for kind, basis in self.bases.items():
                t = np.log(np.abs(targets)) if kind == "monomial" else targets
                t = t - t.mean(axis=1, keepdims=True)
                size = np.einsum("tn,tn->t", t, t)
                along = t @ basis.T
                left = 1 - np.einsum("tk,tk->t", along, along) / size
                out[kind] = np.where(np.isfinite(left) & (size > 0), np.maximum(left, 0.0), 1.0)
        return out

    def formula(self, kind: str, frame: Frame) -> Expression | None:
        """The formula of y, by least squares."""
        if kind == "monomial":
            return self._monomial(frame)
        terms = [(np.ones_like(frame.target), Constant(1)), *(self.terms if kind == "linear" else self.squared)]
        root = np.sqrt(frame.weights)
        columns = np.array([values for values, _ in terms]) * root
        kept, _ = eliminate(columns, frame.target * root, int((frame.weights > 0).sum()))
        return frame.wrap(weighted_sum([(c, terms[k][1]) for k, c in kept]))

    def _monomial(self, frame: Frame) -> Expression | None:
        rows = (frame.weights > 0) & (frame.target != 0)
        matrix = np.array([np.ones(rows.sum()), *(u[rows] for u in self.usable.values())]).T
        solved = np.linalg.lstsq(matrix, np.log(np.abs(frame.target[rows])), rcond=1e-12)[0]
        signed = bool((frame.target[rows] < 0).all())
        tree: Expression = Constant(float(np.exp(np.clip(solved[0], -600, 600))) * (-1 if signed else 1))
        for name, p in zip(self.usable, solved[1:], strict=True):
            whole = round(float(p))
            if abs(p - whole) < 1e-4:
                tree = tree * Variable(name) ** whole if whole else tree
            elif (self.scene.columns[name] > 0).all():
                tree = tree * Variable(name) ** Constant(float(p))
            else:
                return None
        return frame.wrap(tree)


def _basis(columns: list[Array], like: Array) -> Array:
    """Orthonormal rows that span the centred columns."""
    matrix = np.array([np.ones_like(like), *columns])
    size = np.sqrt(np.einsum("kn,kn->k", matrix, matrix))
    q, r = np.linalg.qr((matrix / np.where(size > 0, size, 1.0)[:, None]).T)
    return np.asarray(q[:, np.abs(np.diagonal(r)) > 1e-10].T[1:])
