"""The constants inside of many members at once: a few steps of Levenberg-Marquardt for each, in one batch.

Grid points of wrong families explain nearly as much as those of the right one, and only at their best constants are
they told apart. All other coefficients are eliminated in each step (variable projection), so a step of H members with P
constants on n rows costs one evaluation with derivatives, and H P^2 n multiplications.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Bank, Term
from prunesymnet.bank.families import Members
from prunesymnet.bank.family_scan import MemberAnswer
from prunesymnet.bank.regression import Residual

Array = NDArray[np.float64]

STEPS = 8  # from a grid point on
# Beside columns of length one, at first, and times after a step that made things better or worse.
FIRST_DAMPING, DAMPING_DOWN, DAMPING_UP = 1e-2, 0.1, 10.0
RIDGE = 1e-12  # beside columns of length one: so that columns that are alike have an inverse, too


@dataclass(frozen=True)
class Refined:
    """Hits at their best constants inside [hits, members, constants], and what each leaves."""

    found: Members
    hits: Sequence[MemberAnswer]
    inside: Array
    unexplained: Array

    def values(self, hit: int) -> Array:
        """Those of the members of a hit [members, rows]."""
        places = zip(self.hits[hit].members, self.inside[hit], strict=False)
        return np.array([self.found.values(member, inside) for member, inside in places])

    def terms(self, hit: int) -> list[Term]:
        """The members of a hit."""
        out = []
        for member, inside in zip(self.hits[hit].members, self.inside[hit], strict=False):
            family = self.found.families[int(self.found.family[member])]
            node = self.found.nodes[int(self.found.node[member])]
            out.append(family.term(node, inside[: len(family.program.constants)]))
        return out


def refined(
    hits: Sequence[MemberAnswer],
    found: Members,
    bank: Bank | None = None,
    steps: int = STEPS,
    begin: Sequence[Array] | None = None,
) -> Refined:
    """Each hit with its best constants inside, after so many steps; `begin` has those of each to begin with (None: of
    the grid), and the `bank` has the nodes of those that have one."""
    if not hits:
        return Refined(found, hits, np.empty((0, 1, found.inside.shape[1])), np.empty(0))
    with np.errstate(all="ignore"):
        return Refined(found, hits, *_Batch(hits, found, bank).solve(steps, begin))


class _Batch:
    """The regressions of all hits, with their fixed terms projected out."""

    def __init__(self, hits: Sequence[MemberAnswer], found: Members, bank: Bank | None) -> None:
        self.found = found
        places = max(len(hit.members) for hit in hits)
        self.member = np.array([[*hit.members, *[-1] * (places - len(hit.members))] for hit in hits])
        family = np.where(self.member >= 0, found.family[self.member], -1)
        nodes = np.array([node.values for node in found.nodes])
        self.programs = []  # of each family, for which members, and the nodes inside these
        for number in np.unique(family[family >= 0]).tolist():
            at = family == number
            self.programs.append((found.families[number].program, at, nodes[found.node[self.member[at]]]))
        rows = found.columns.shape[2]
        known: dict[int, Residual] = {}
        residuals = [
            known.get(id(hit.query)) or known.setdefault(id(hit.query), Residual.of(hit.query.regression()))
            for hit in hits
        ]
        most = max(len(residual.basis) for residual in residuals) + 1
        self.basis = np.zeros((len(hits), most, rows))
        self.target, self.factor = np.empty((len(hits), rows)), np.empty((len(hits), rows))
        for k, (hit, residual) in enumerate(zip(hits, residuals, strict=True)):
            self.basis[k, : len(residual.basis)] = residual.basis
            self.target[k] = residual.values
            node = bank.values[hit.node] * residual.root if bank is not None and hit.node >= 0 else residual.root
            self.factor[k] = node if hit.product else residual.root
            if hit.node >= 0 and not hit.product:
                beside = _projected(node[None, None], residual.basis[None])[0, 0]
                self.basis[k, -1] = beside / (np.sqrt(beside @ beside) or 1.0)
                self.target[k] -= (self.target[k] @ self.basis[k, -1]) * self.basis[k, -1]

    def solve(self, steps: int, begin: Sequence[Array] | None = None) -> tuple[Array, Array]:
        """The constants inside [hits, members, constants], and what is left."""
        inside = np.where((self.member >= 0)[:, :, None], self.found.inside[self.member], 0.0)
        for k, given in enumerate(begin or ()):
            inside[k, : len(given)] = given
        values, slopes = self.columns(inside)
        cost, step_of = _normal_equations(values, slopes, self.target)
        damping = np.full(len(cost), FIRST_DAMPING)
        for _ in range(steps):
            trial = inside + step_of(damping).reshape(inside.shape)
            values, slopes = self.columns(trial)
            trial_cost, trial_step = _normal_equations(values, slopes, self.target)
            better = trial_cost < cost
            inside = np.where(better[:, None, None], trial, inside)
            cost = np.where(better, trial_cost, cost)
            step_of = step_of.replaced(better, trial_step)
            damping = np.where(better, damping * DAMPING_DOWN, damping * DAMPING_UP)
        return inside, cost

    def columns(self, inside: Array) -> tuple[Array, Array]:
        """Values [hits, members, rows] and their derivatives [hits, members * constants, rows], beside the fixed
        terms."""
        hits, places, rows = *self.member.shape, self.target.shape[1]
        values, slopes = np.zeros((hits, places, rows)), np.zeros((hits, places, inside.shape[2], rows))
        for program, at, of in self.programs:
            count = len(program.constants)
            values[at], slopes[at, :count] = program.values_and_jacobian({"g": of}, inside[at][:, :count])
        values *= self.factor[:, None]
        slopes *= self.factor[:, None, None]
        return _projected(values, self.basis), _projected(slopes.reshape(hits, -1, rows), self.basis)


def _projected(columns: Array, basis: Array) -> Array:
    """What orthonormal rows [sets, rows, n] leave of columns [sets, columns, n]."""
    return columns - (columns @ basis.transpose(0, 2, 1)) @ basis


class _Steps:
    """The steps of all hits for given dampings, from their normal equations."""

    def __init__(self, gram: Array, gradient: Array, scale: Array) -> None:
        self.gram, self.gradient, self.scale = gram, gradient, scale

    def __call__(self, damping: Array) -> Array:
        eye = np.eye(self.gram.shape[1])
        step = np.linalg.solve(self.gram + (damping + RIDGE)[:, None, None] * eye, self.gradient[:, :, None])[:, :, 0]
        return step / self.scale

    def replaced(self, where: NDArray[np.bool_], other: "_Steps") -> "_Steps":
        return _Steps(
            np.where(where[:, None, None], other.gram, self.gram),
            np.where(where[:, None], other.gradient, self.gradient),
            np.where(where[:, None], other.scale, self.scale),
        )


def _normal_equations(values: Array, slopes: Array, target: Array) -> tuple[Array, _Steps]:
    """What the values leave of the target with their best coefficients (inf: not finite), and the steps from there."""
    finite = np.asarray(np.isfinite(values).all(axis=(1, 2)) & np.isfinite(slopes).all(axis=(1, 2)))
    values, slopes = np.where(finite[:, None, None], values, 0.0), np.where(finite[:, None, None], slopes, 0.0)
    values, size = _scaled(values)
    gram = values @ values.transpose(0, 2, 1) + RIDGE * np.eye(values.shape[1])
    coefficients = np.linalg.solve(gram, values @ target[:, :, None])
    left = target - (coefficients.transpose(0, 2, 1) @ values)[:, 0]
    cost = np.where(finite, np.einsum("hn,hn->h", left, left), np.inf)
    # Each derivative times its member's coefficient, and without what the members make of it themselves.
    times = np.repeat(coefficients[:, :, 0] / size, slopes.shape[1] // values.shape[1], axis=1)
    slopes = slopes * times[:, :, None]
    slopes = slopes - np.linalg.solve(gram, values @ slopes.transpose(0, 2, 1)).transpose(0, 2, 1) @ values
    slopes, scale = _scaled(slopes)
    return cost, _Steps(slopes @ slopes.transpose(0, 2, 1), (slopes @ left[:, :, None])[:, :, 0], scale)


def _scaled(columns: Array) -> tuple[Array, Array]:
    """Columns of length one, and the lengths that they had (1 for those of length 0)."""
    size = np.sqrt(np.einsum("hkn,hkn->hk", columns, columns))
    size = np.where((size > 0) & np.isfinite(size), size, 1.0)
    return columns / size[:, :, None], size
