"""What a search sees of a table's columns, and how its formulas are put back in terms of the table.

Of hundreds of columns, it sees those that say most about the target: a bank has room for few, and a linear model of
hundreds of columns is no formula. And a column that varies little beside its size, Unix times within an hour, is seen
from a round number near its values on: squares, logarithms and waves of the times themselves are all one straight line,
or lost in rounding.

>>> from prunesymnet.data import make_dataset
>>> t = 1.7e9 + np.linspace(0, 60, 13)
>>> seen = SeenColumns.of(make_dataset(t, (t - 1.7e9) ** 2, names=["t"]), SearchSettings())
>>> seen.data.columns["t"][:3]
array([ 0.,  5., 10.])
>>> print(seen.put_back(Variable("t") ** 2))
(t - 1700000000)**2
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients import Fit
from prunesymnet.coefficients.bases import of_length_one
from prunesymnet.data import Dataset
from prunesymnet.equations import Equation, Front
from prunesymnet.expression import Apply, Constant, Expression, Variable, fold
from prunesymnet.expression.canonical.terms import constant_value
from prunesymnet.expression.tree import LARGEST_INT
from prunesymnet.operators import Operator
from prunesymnet.search.archive import Candidate
from prunesymnet.search.result import Start, Update, Watcher
from prunesymnet.search.rows import some_rows, training_rows
from prunesymnet.search.settings import SearchSettings

Array = NDArray[np.float64]

MOST_COLUMNS = 100  # of which a bank holds each with a dozen functions, and a linear model is solved in milliseconds
ROWS_TO_RANK = 1000  # rows: chance makes a correlation of about 3% on these
COLUMNS_AT_A_TIME = 256  # of a wide table, so that no copy of all of it is made
NARROW = 1e-3  # of its size: a column that varies less is as good as a straight line in all its functions


@dataclass(frozen=True)
class SeenColumns:
    """The table as the search sees it, the `names` of all columns of the whole one, and the `origins` of columns that
    are seen from there on. Of a table with more columns than are seen, `first` are those that say most about the
    target: the linear model is of these (None: of all)."""

    data: Dataset
    names: tuple[str, ...]
    origins: Mapping[str, Expression] = field(default_factory=dict)
    first: tuple[str, ...] | None = None

    @classmethod
    def of(cls, data: Dataset, settings: SearchSettings, needed: Collection[str] = ()) -> "SeenColumns":
        """At most MOST_COLUMNS of the columns, those that are `needed` among them, without those that are excluded, and
        narrow ones from their origins on."""
        names, first = data.names, None
        excluded = settings.constraints.excluded
        if excluded & set(names):
            data = data.only([name for name in names if name not in excluded] or names)
        if data.features > MOST_COLUMNS:
            train = some_rows(training_rows(data, settings), ROWS_TO_RANK, settings.seed)
            ranked = [*(name for name in data.names if name in needed), *ranked_columns(train)]
            ranked = list(dict.fromkeys(ranked))
            kept = {*ranked[: max(MOST_COLUMNS, len(needed))]}
            first = tuple(ranked[: max(settings.exhaustive.columns, len(needed))])
            data = data.only([name for name in data.names if name in kept])
        # An origin is a constant with the column's unit: where constants are pure numbers, there is none.
        narrow = [name for name, column in data.columns.items() if settings.constant_units and is_narrow(column)]
        origins = {name: origin(data.columns[name]) for name in narrow}
        return cls(_shifted(data, origins), names, origins, first)

    def shifted(self, data: Dataset) -> Dataset:
        """Other rows of the table, with the columns that are seen."""
        return _shifted(data, self.origins)

    # Formulas

    def put_back(self, expression: Expression) -> Expression:
        """A formula of the search in terms of the table."""
        from_origin = {name: Variable(name) - origin for name, origin in self.origins.items()}
        return expression.substitute(from_origin) if from_origin else expression

    def taken_in(self, expression: Expression) -> Expression:
        """A formula of the table in the search's terms."""
        whole = {name: Variable(name) + origin for name, origin in self.origins.items()}

        def combine(operator: Operator, operands: tuple[Expression, ...]) -> Expression:
            if operator.name == "-":
                for name, origin in self.origins.items():
                    if operands == (whole[name], origin):
                        return Variable(name)
            return Apply(operator, operands)

        def leaf(node: Expression) -> Expression:
            return whole.get(node.name, node) if isinstance(node, Variable) else node

        return fold(expression, leaf, combine) if self.origins else expression

    # What a search is given and gives

    def start(self, start: Start) -> Start:
        return replace(start, formulas=tuple(map(self.taken_in, start.formulas)))

    def fit(self, found: Fit) -> Fit:
        before = found.before_rounding
        before = None if before is None else self.put_back(before)
        return replace(found, expression=self.put_back(found.expression), before_rounding=before)

    def candidate(self, candidate: Candidate) -> Candidate:
        return replace(candidate, fit=self.fit(candidate.fit)) if self.origins else candidate

    def front(self, front: Front) -> Front:
        return replace(front, equations=tuple(map(self.equation, front)))

    def equation(self, equation: Equation) -> Equation:
        free = None if equation.free_form is None else self.put_back(equation.free_form)
        follows = equation.follows if equation.follows in self.names else ""
        return replace(equation, form=self.put_back(equation.form), free_form=free, names=self.names, follows=follows)

    def watcher(self, watch: Watcher | None) -> Watcher | None:
        """One that is told formulas in terms of the table; a candidate stays the same one as long as it is the best."""
        if watch is None or not self.origins:
            return watch
        known: dict[int, tuple[Candidate, Candidate]] = {}

        def put_back(candidate: Candidate) -> Candidate:
            return known.setdefault(id(candidate), (candidate, self.candidate(candidate)))[1]

        def told(update: Update) -> None:
            front = tuple(map(put_back, update.front))
            watch(replace(update, best=put_back(update.best), front=front))

        return told


def ranked_columns(data: Dataset) -> list[str]:
    """The columns, those first that say most about the target: by its correlation with the column, and with how far the
    column is from its mean; and by how the distances of both from their means go together, which shows a column that
    acts through a product with another."""
    counts = np.ones(data.rows) if data.weights is None else data.weights
    share = counts / counts.sum()
    target = data.y - share @ data.y
    size = np.abs(target).max() or 1.0
    targets = [_unit(target / size, share), _unit(np.abs(target / size), share)]
    best = np.zeros(data.features)
    for first in range(0, data.features, COLUMNS_AT_A_TIME):
        part = slice(first, first + COLUMNS_AT_A_TIME)
        columns = data.X[:, part].T
        off = columns - (columns @ share)[:, None]
        size = np.abs(off).max(axis=1, keepdims=True)
        off = off / np.where(size > 0, size, 1.0)
        for values in (off, np.abs(off)):
            along = _unit(values, share) @ np.array(targets).T
            best[part] = np.maximum(best[part], np.abs(along).max(axis=1))
    return [data.names[k] for k in np.argsort(-best, kind="stable")]


def _unit(values: Array, share: Array) -> Array:
    """The rows of values less their means, by the shares of the points, and with length one."""
    centred = (values - (values @ share)[..., None]) * np.sqrt(share)
    return of_length_one(centred)[0]


def is_narrow(column: Array) -> bool:
    """Whether a column varies, but little beside its size."""
    low, high = float(column.min()), float(column.max())
    return 0 < high - low < NARROW * max(abs(low), abs(high))


def origin(column: Array) -> Expression:
    """A round number near the least value of a column, with no more digits than its range needs: as an exact number,
    which no fit moves."""
    low, width = float(column.min()), float(column.max()) - float(column.min())
    power = math.floor(math.log10(width))
    while abs(whole := math.floor(_scaled(low, -power))) > LARGEST_INT:
        power += 1
    if power <= 0:
        return Constant(whole) if power == 0 else Constant(whole) / Constant(10) ** Constant(-power)
    if abs(exact := whole * 10**power) <= LARGEST_INT:
        return Constant(exact)
    return Constant(whole) * Constant(10) ** Constant(power)


def _scaled(value: float, power: int) -> float:
    return value * 10.0**power if power >= 0 else value / 10.0**-power


def _shifted(data: Dataset, origins: Mapping[str, Expression]) -> Dataset:
    if not origins:
        return data
    from_here = np.array([constant_value(origins[name]) if name in origins else 0.0 for name in data.names])
    return data.with_columns(data.X - from_here)


def names_in(formulas: Iterable[Expression]) -> set[str]:
    """All columns that some formulas have."""
    return {name for formula in formulas for name in formula.variables}
