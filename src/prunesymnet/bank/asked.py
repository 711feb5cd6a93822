"""A question to the bank, with the formula that an answer to it stands for.

The table that is scanned (`Scene`), a question with its frame around the target, the terms that are given and perhaps
a denominator (`Asked`), and an answer: a formula whose constants are about right (`Proposal`).

Denominators: `t = c0 + c1*f + c2*t*g` is linear in its constants, and is `t = (c0 + c1*f)/(1 - c2*g)`. So `t*g` is
given like a term. One is enough, and two would be a trap: if their functions add up to a constant, `t*g1 + t*g2` fits
every target exactly and says nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.scan import Question
from prunesymnet.bank.targets import Frame
from prunesymnet.data import Dataset
from prunesymnet.expression import Constant, Expression
from prunesymnet.operators import Operator

Array = NDArray[np.float64]

TAIL = 5.0  # deviations from the median (in median deviations) beyond which a row counts less
NEGLIGIBLE, ROUNDING = 1e-10, 1e-15  # of the target's variation, of its size: a term that adds no more is left out
EXACT = 1e-16  # of the variation: what is less than this is rounding


@dataclass(frozen=True, slots=True)
class Scene:
    """The rows that are scanned: the table, the rows' weights, and the operators to use."""

    data: Dataset
    weights: Array
    operators: tuple[str | Operator, ...]

    names: tuple[str, ...] = ()  # of the columns to use; none: all
    made: Mapping[str, Array] | None = None  # columns that take the place of the table's

    @property
    def columns(self) -> dict[str, Array]:
        if self.made is not None:
            return {name: self.made[name] for name in self.names or self.made}
        return {name: self.data.columns[name] for name in self.names or self.data.names}

    def of_columns(self, made: Mapping[str, Array]) -> "Scene":
        """The same rows and target, and other columns."""
        return replace(self, names=(), made=made)

    @property
    def y(self) -> Array:
        return self.data.y

    @classmethod
    def of(cls, data: Dataset, operators: Iterable[str | Operator], rows: int, seed: int) -> "Scene":
        """At most `rows` rows, drawn by the seed. Far out on the target's tails rows count less: a few values near a
        pole would decide everything otherwise."""
        if data.weights is not None and not data.weights.all():
            data = data.take(data.weights > 0)
        if data.rows > rows:
            data = data.take(np.sort(np.random.default_rng(seed).choice(data.rows, rows, replace=False)))
        off = np.abs(data.y - np.median(data.y))
        scale = TAIL * (float(np.median(off)) or float(off.mean()) or 1.0)
        weights: Array = 1 / (1 + (off / scale) ** 2)
        if data.weights is not None:
            weights = weights * data.weights
        return cls(data, weights / weights.sum(), tuple(operators))


@dataclass(frozen=True, slots=True)
class Proposal:
    """A formula to be fitted; `unexplained` is the part of the variation that it leaves as it stands."""

    expression: Expression
    unexplained: float
    source: str
    rows: NDArray[np.bool_] | None = field(default=None, compare=False)  # of the scene: fit on these first

    @property
    def exact(self) -> bool:
        return self.unexplained < EXACT


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about one frame's target: `given` are terms (values and formula), `below` a g that stands in the
    denominator 1 - c*g."""

    frame: Frame
    given: tuple[tuple[Array, Expression], ...] = ()
    below: tuple[Array, Expression] | None = None

    def terms(self) -> list[Array]:
        values = [term for term, _ in self.given]
        return values if self.below is None else [*values, self.frame.target * self.below[0]]

    def question(self) -> Question:
        terms = self.terms()
        return Question(self.frame.target, np.array(terms) if terms else None, self.frame.weights)

    def formula(self, terms: Iterable[tuple[Array, Expression]]) -> Expression:
        """The formula of y when these terms answer the question, with the coefficients of least squares."""
        more = list(terms)
        root = np.sqrt(self.frame.weights)
        columns = [np.ones_like(root), *(values for values, _ in more), *self.terms()]
        matrix = np.array(columns).T * root[:, None]
        size = np.sqrt(np.einsum("nk,nk->k", matrix, matrix))
        size = np.where((size > 0) & np.isfinite(size), size, 1.0)
        solved = np.linalg.lstsq(np.nan_to_num(matrix / size), self.frame.target * root, rcond=1e-12)[0] / size
        c = [float(v) if np.isfinite(v) and abs(v) < 1e300 else 1.0 for v in solved]
        parts = [expression for _, expression in more] + [expression for _, expression in self.given]
        off = self.frame.target - self.frame.weights @ self.frame.target / self.frame.weights.sum()
        least = max(NEGLIGIBLE * np.abs(off * root).max(), ROUNDING * np.abs(self.frame.target * root).max())
        counts = np.abs(solved) * size > least
        total: Expression = Constant(c[0])
        for value, part, needed in zip(c[1:], parts, counts[1:], strict=False):
            if needed:
                total = total + Constant(value) * part
        if self.below is not None:
            total = total / (Constant(1) - Constant(c[-1]) * self.below[1])
        return self.frame.wrap(total)

    @property
    def complexity(self) -> int:
        given = sum(expression.complexity + 3 for _, expression in self.given)
        return self.frame.complexity + given + (0 if self.below is None else self.below[1].complexity + 5)


def promising(proposals: list[Proposal], count: int) -> list[Proposal]:
    """Of each source the best of each complexity, then the second best of each, and so on; the sources in turn."""
    ranks: dict[tuple[str, int], int] = {}
    ordered = []
    for proposal in sorted(proposals, key=lambda p: p.unexplained):
        key = proposal.source, proposal.expression.complexity
        ranks[key] = rank = ranks.get(key, -1) + 1
        ordered.append((rank, proposal.unexplained, proposal))
    ordered.sort(key=lambda entry: entry[:2])
    turns: dict[str, int] = {}
    in_turn = []
    for _, _, proposal in ordered:
        turns[proposal.source] = turn = turns.get(proposal.source, -1) + 1
        in_turn.append((turn, proposal))
    in_turn.sort(key=lambda entry: entry[0])
    return [proposal for _, proposal in in_turn[:count]]
