"""The problems: formulas to recover, and how their points are drawn.

`paper.csv` has the 87 formulas of the paper's tables with the number of times (of five) each of its methods
found them. 128 points are drawn uniformly from the box, again where the value is not finite.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from prunesymnet.data import Dataset, make_dataset
from prunesymnet.expression import Apply, Constant, Expression, canonical, evaluate, fold, parse

TARGET = "target"  # a formula's own variables may be called y


@dataclass(frozen=True)
class Problem:
    name: str
    group: str
    formula: Expression
    low: float
    high: float

    def sample(self, rows: int = 128, seed: int = 0) -> Dataset:
        """Points in the box where the formula is finite."""
        return sample(self.formula, rows, seed, self.low, self.high)


def load(name: str = "paper") -> list[Problem]:
    """A problem set by name."""
    with (Path(__file__).parent / f"{name}.csv").open(newline="") as file:
        return [
            Problem(row["name"], row["dataset"], parse(row["expression"]), float(row["low"]), float(row["high"]))
            for row in csv.DictReader(file)
        ]


def sample(formula: Expression, rows: int = 128, seed: int = 0, low: float = -5.0, high: float = 5.0) -> Dataset:
    """A table of a formula's values; points where it is not finite are drawn again."""
    rng = np.random.default_rng(seed)
    names = formula.variables
    kept = np.empty((0, len(names)))
    while len(kept) < rows:
        points = rng.uniform(low, high, (4 * rows, len(names)))
        finite = evaluate(formula, dict(zip(names, points.T, strict=True))).finite
        kept = np.concatenate([kept, points[finite]])
    X = kept[:rows]
    y = evaluate(formula, dict(zip(names, X.T, strict=True))).values
    return make_dataset(X, y, names=names, target=TARGET)


def one_weight_per_edge(formula: Expression, rng: np.random.Generator) -> Expression:
    """The formula as a pruned network writes it: every operand of every operator has a weight of its own."""

    def weighted(operand: Expression) -> Expression:
        return Constant(float(rng.uniform(0.5, 2.0))) * operand

    def combine(operator, operands):  # type: ignore[no-untyped-def]
        keep = operator.name == "pow"  # an exponent is not an operand of the network
        first = weighted(operands[0]) if operands else None
        rest = operands[1:] if keep else tuple(map(weighted, operands[1:]))
        return Apply(operator, (first, *rest) if operands else ())

    return fold(formula, lambda leaf: leaf, combine)


def free_weights(formula: Expression) -> Expression:
    """The formula with a free constant before every term of its sum and inside every function, merged."""

    def inner(operator, operands):  # type: ignore[no-untyped-def]
        if operator.name in ("sin", "cos", "exp", "log"):
            operands = (Constant(1.0) * operands[0],)
        return Apply(operator, operands)

    def outer(tree: Expression) -> Expression:
        if isinstance(tree, Apply) and tree.operator.name in ("+", "-"):
            return Apply(tree.operator, tuple(map(outer, tree.operands)))
        return Constant(1.0) * tree

    return canonical(outer(fold(formula, lambda leaf: leaf, inner)))
