"""Products of any powers of nodes: log|y| is a sum of log|f|, so `c * f**p * g**q * ...` is found term by term.

The logarithms of all columns are given, so that the monomial in front comes for free. Exponents that come out near
whole numbers or halves are made so: then the signs of the factors count, which the logarithm has lost.
"""

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.asked import EXACT, Proposal, Scene
from prunesymnet.bank.bank import Bank
from prunesymnet.bank.scan import Question, scan_singles
from prunesymnet.bank.targets import tempered
from prunesymnet.expression import Constant, Expression, Variable

Array = NDArray[np.float64]

NEAR = 0.15  # of a whole number or a half: an exponent found from a formula that is not complete is not exact
NEARLY = 1e-6
LEAST = 0.05  # a smaller exponent is none
STEPS, BEAM = 3, 8


def pursue_powers(scene: Scene, bank: Bank, keep: int) -> list[Proposal]:
    """The best products of up to three powers of nodes, with powers of the columns."""
    y = scene.y
    with np.errstate(all="ignore"):
        logs = np.log(np.abs(bank.values))
        usable = np.isfinite(logs).all(axis=1) & (np.ptp(logs, axis=1) > 1e-6)
        target = np.log(np.abs(y))
    rows = np.isfinite(target)
    if rows.mean() < 0.8 or usable.sum() < 2:
        return []
    nodes = np.flatnonzero(usable)
    logs = logs[nodes]
    target = np.where(rows, target, 0.0)
    columns = {name: np.log(np.abs(u)) for name, u in scene.columns.items() if (u != 0).all()}
    proposals: dict[tuple[bool, tuple[int, ...]], Proposal] = {}
    # An error of log|y| is one of y times |y|.
    weights = tempered(np.where(rows, scene.weights * y * y, 0.0))
    for base in ({}, columns):
        states: list[tuple[float, tuple[int, ...]]] = [(1.0, ())]
        for _ in range(STEPS):
            given = [[*base.values(), *(logs[k] for k in chosen)] for _, chosen in states]
            questions = [Question(target, np.array(terms) if terms else None, weights) for terms in given]
            found = scan_singles(logs, bank.complexity[nodes], questions, keep=keep)
            fresh = sorted(
                (left, (*chosen, k)) for (_, chosen), ks in zip(states, found, strict=True) for k, left in ks
            )
            states = fresh[:BEAM]
            for left, chosen in fresh[: 4 * BEAM]:
                key = (bool(base), tuple(sorted(chosen)))
                if key not in proposals:
                    trees = [(bank.values[nodes[k]], bank.expression(int(nodes[k]))) for k in chosen]
                    near = NEARLY if left < EXACT else NEAR  # of a product that is complete, exponents are exact
                    formula = _formula(scene, target, weights, base, [logs[k] for k in chosen], trees, near)
                    if formula is not None:
                        proposals[key] = Proposal(formula, left, "powers")
            if not fresh or fresh[0][0] < EXACT:
                break
    return list(proposals.values())


def _formula(
    scene: Scene,
    target: Array,
    weights: Array,
    base: dict[str, Array],
    logs: list[Array],
    trees: list[tuple[Array, Expression]],
    near: float,
) -> Expression | None:
    """The product with its exponents rounded; None where a root of a negative number would be taken."""
    root = np.sqrt(weights)
    matrix = np.array([np.ones_like(root), *base.values(), *logs])
    exponents = np.linalg.lstsq((matrix * root).T, target * root, rcond=1e-12)[0]
    formula: Expression = Constant(float(np.exp(np.clip(exponents[0], -600, 600))))
    factors: list[tuple[Array, Expression]] = [(scene.columns[name], Variable(name)) for name in base]
    for (values, tree), p in zip([*factors, *trees], exponents[1:], strict=True):
        if abs(p) < LEAST:
            continue
        half = round(2 * p) / 2
        if abs(p - half) > near or half == 0:
            power: Expression = Constant(float(p))
        else:
            power = Constant(int(half)) if half == int(half) else Constant(int(2 * half)) / 2
        whole = isinstance(power, Constant) and not power.is_free
        if not whole and (values < 0).any():
            return None
        formula = formula * tree**power
    return formula
