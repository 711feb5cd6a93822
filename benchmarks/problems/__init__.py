"""The problems: formulas to recover, and how their points are drawn.

`paper.csv` has the 87 formulas of the paper's tables with the number of times (of five) each of its methods
found them, and one box for all variables. The other sets are public ones, each variable with its own range:
Nguyen, Jin, Keijzer, Vladislavleva, the Feynman Symbolic Regression Database (its numbers and ranges) and
the right-hand sides of Strogatz's equations (the boxes are ours: the originals are points on trajectories).
`textbook` has curves and laws of many fields with their usual constants, ranges and units, and `textbook-fair` more of
them: nobody looks at what a search misses there, so that nothing is made for them. `laboratory` has as many again, from
hydraulics to psychology, and `handbook` more, from finance to linguistics.
`si` has laws of physics and chemistry in SI units, with the constants of nature as numbers: their columns reach from
1e-36 to 1e30, and most are drawn evenly on a logarithmic scale, over two to ten decades.
`spectra` has sums of curves of one column, such as peaks, decays and steps, whose constants were drawn at random.
`random-7` is the set that `random_formulas.py` draws from seed 7; those of other seeds are named alike.
Left out is what the operators cannot say: keijzer-06 (a sum of x terms), feynman-I-26-2 and I-30-5 (arcsin).

Points (128 in the benchmarks) are drawn uniformly from the box, again where the value is not finite.
"""

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from prunesymnet.data import Dataset, make_dataset
from prunesymnet.expression import Apply, Constant, Expression, canonical, fold, parse
from prunesymnet.expression.sampling import sample as sample

Array = NDArray[np.float64]
QUANTITIES = (
    "textbook",
    "textbook-fair",
    "laboratory",
    "handbook",
    "si",
    "spectra",
)  # sets whose columns are quantities of nature
SETS = ("paper", "nguyen", "jin", "keijzer", "vladislavleva", "feynman", "strogatz", *QUANTITIES)


@dataclass(frozen=True)
class Problem:
    name: str
    group: str
    formula: Expression
    ranges: dict[str, tuple[float, float]] = field(hash=False)  # of each variable
    source: str = ""
    quantities: bool = False  # what has only positive values in its range has no others: a frequency, a concentration
    logarithmic: frozenset[str] = frozenset()  # variables that are drawn evenly on a logarithmic scale

    def sample(self, rows: int = 128, seed: int = 0, wide: float = 1.0) -> Dataset:
        """Points where the formula is finite, in the box or in one `wide` times as wide around the same middle."""
        names = self.formula.variables
        low, high = np.array([self.ranges[name] for name in names]).T
        reach = (wide - 1) * (high - low) / 2
        least = np.where(low >= 0, low / wide, -np.inf) if self.quantities else -np.inf
        of_sizes = np.array([name in self.logarithmic for name in names])
        factor = np.where(of_sizes, high / np.where(of_sizes, low, 1.0), 1.0) ** ((wide - 1) / 2)
        lowest = np.where(of_sizes, low / factor, np.maximum(low - reach, least))
        highest = np.where(of_sizes, high * factor, high + reach)
        return sample(self.formula, rows, seed, lowest, highest, self.logarithmic)


def is_random(name: str) -> bool:
    """Whether it names a set of random formulas or laws, such as random-7 or laws-7."""
    return re.fullmatch(r"(random|laws)-\d+", name) is not None


@cache
def load(name: str = "paper") -> tuple[Problem, ...]:
    """A problem set by name."""
    if is_random(name):
        from benchmarks.problems import random_formulas, random_laws  # which make problems, too

        kind, seed = name.split("-")
        return tuple((random_laws if kind == "laws" else random_formulas).draw(seed=int(seed)))
    if name not in SETS:
        drawn = "random-1, random-2, ..., and laws-1, laws-2, ..."
        raise ValueError(f"no problem set is named {name!r}; there are {', '.join(SETS)}, {drawn}")
    with (Path(__file__).parent / f"{name}.csv").open(newline="") as file:
        return tuple(_problem(row) for row in csv.DictReader(file))


@cache
def units_of(problem: str, target: str) -> dict[str, str]:
    """The units of a problem's variables and of its target, by what its table calls this; none where these are not
    known. They are of laws from physics: `feynman-units.csv` has those of the Feynman laws."""
    with (Path(__file__).parent / "feynman-units.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["name"] == problem]
    return {target if row["variable"] == "target" else row["variable"]: row["unit"] for row in rows}


def _problem(row: dict[str, str]) -> Problem:
    formula, logarithmic = parse(row["expression"]), frozenset[str]()
    if "ranges" in row:
        ends = [text.split(":") for text in row["ranges"].split(";")]
        ranges = {name: (float(low), float(high)) for name, low, high, *_ in ends}
        logarithmic = frozenset(name for name, _, _, *scale in ends if scale)
    else:
        ranges = dict.fromkeys(formula.variables, (float(row["low"]), float(row["high"])))
    return Problem(
        row["name"], row["dataset"], formula, ranges, row.get("source", ""), row["dataset"] in QUANTITIES, logarithmic
    )


# What noise is a part of: the target's root mean square, each value, or the standard deviation of all.
NOISE_OF: dict[str, Callable[[Array], Array]] = {
    "rms": lambda y: np.sqrt(np.mean(y**2)),
    "value": np.abs,
    "spread": np.std,
}


def noisy(data: Dataset, noise: float, seed: int, of: str = "rms") -> Dataset:
    """With normal errors of this part of the target's root mean square, or of what else of `NOISE_OF`."""
    if not noise:
        return data
    errors = np.random.default_rng(1000 + seed).normal(size=data.rows)
    y = data.y + noise * NOISE_OF[of](data.y) * errors
    return make_dataset(data.X, y, names=data.names, target=data.target)


def with_outliers(data: Dataset, share: float, seed: int) -> Dataset:
    """With this share of the targets moved up or down by 10 to 30 of their standard deviations."""
    if not share:
        return data
    rng = np.random.default_rng(2000 + seed)
    y, rows = data.y.copy(), rng.choice(data.rows, max(round(share * data.rows), 1), replace=False)
    y[rows] += rng.choice([-1.0, 1.0], len(rows)) * rng.uniform(10, 30, len(rows)) * data.y.std()
    return make_dataset(data.X, y, names=data.names, target=data.target)


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
