"""Dimensionless groups: if constants are pure numbers, a law of n columns is one of fewer pure numbers, with certainty.

Some of the columns (as many as there are independent dimensions) are taken as measures of the others: each other column
divided by the product of their powers that has its unit is a pure number, a *group*, and so is the target. Buckingham's
theorem says that the law is one of the groups. And as it holds in every system of units, it holds in the one in which
all measures are 1: so a formula is put in terms of the groups by setting the measures to 1.

>>> from prunesymnet.expression import parse
>>> units = TableUnits.of({"m": "kg", "g": "m/s^2", "h": "m", "v": "m/s", "E": "J"}, ("m", "g", "h", "v"), "E")
>>> groups = find_groups(units, {name: np.array([1.0, 2.0]) for name in "mghv"})
>>> print(groups)
E/(m*v**2) depends on g*h/v**2
>>> print(groups.put_back(parse("1/2 + g")))
m*(v**2*(1/2) + h*g)
>>> print(groups.taken_in(parse("m*g*h + m*v**2/2")))
1*g*1 + 1*1**2/2
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import combinations, islice, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prunesymnet.expression import Apply, Constant, Expression, Variable, apply, fold
from prunesymnet.operators import Operator
from prunesymnet.units.table import SAME, TableUnits

Array = NDArray[np.float64]
Powers = Mapping[str, Fraction]

MOST_CHOICES = 1000  # of measures: each is a small linear system, a tenth of a second for all
OF_A_UNIT = 2  # columns that are tried as the measure of their unit: as the groups come out alike, few are enough
TINY = 1e-300  # for a column that is zero on some row
SINGULAR = 1e-9  # of a determinant of small numbers
LARGEST_DENOMINATOR = 12  # of powers, as of units
HALF = 2  # the denominator of a square root's power
ROOT = 2.0  # what a root in a group counts, beside its powers: as much as a square more
CHANGES_SIGN = 4.0  # and a measure that is zero or negative on some rows: near zero, a quotient by it says nothing
MOST_ZEROS = 0.2  # of the rows: those on which a measure is zero say nothing about the groups (times begin at 0)


@dataclass(frozen=True)
class Groups:
    """`target`: the powers of the measures that have the target's unit; `columns`: of each column that is no measure,
    the powers of the measures that it is divided by. `positive` are the measures that are nowhere negative."""

    name: str
    target: Powers
    columns: Mapping[str, Powers]
    positive: frozenset[str] = frozenset()

    def values(self, columns: Mapping[str, Array]) -> dict[str, Array]:
        """The groups, each by the name of its column."""
        return {name: columns[name] / product_of(columns, powers) for name, powers in self.columns.items()}

    def scale(self, columns: Mapping[str, Array]) -> Array:
        """What the target is divided by."""
        return product_of(columns, self.target)

    def rows(self, columns: Mapping[str, Array]) -> NDArray[np.bool_]:
        """On which rows the groups have values: no measure is zero."""
        measures = {*self.target, *(name for powers in self.columns.values() for name in powers)}
        return np.asarray(np.all([columns[name] != 0 for name in measures], axis=0))

    def put_back(self, formula: Expression) -> Expression:
        """A formula of the groups as one of the columns, for the target; measures that cancel are gone."""
        groups = {
            name: _Product({other: -power for other, power in powers.items()}, Variable(name))
            for name, powers in self.columns.items()
        }

        def leaf(node: Expression) -> _Product:
            return groups.get(node.name, _Product({}, node)) if isinstance(node, Variable) else _Product({}, node)

        whole = fold(formula, leaf, lambda operator, parts: _combined(operator, parts, self.positive))
        return _times(_added(whole.powers, self.target), whole.rest)

    def taken_in(self, formula: Expression) -> Expression:
        """A sound formula of the columns as one of the groups."""
        return formula.substitute({name: Constant(1) for name in formula.variables if name not in self.columns})

    def __str__(self) -> str:
        inside = [_over(name, powers) for name, powers in self.columns.items()]
        return f"{_over(self.name, self.target)} depends on {', '.join(inside)}" if inside else (
            f"{_over(self.name, self.target)} is a number"
        )  # fmt: skip


def product_of(columns: Mapping[str, Array], powers: Powers) -> Array:
    """The product of powers of columns."""
    with np.errstate(all="ignore"):
        factors = [np.power(columns[name], float(power)) for name, power in powers.items()]
    return reduce(np.multiply, factors, np.ones_like(next(iter(columns.values()))))


def find_groups(units: TableUnits, columns: Mapping[str, Array]) -> Groups | None:
    """The simplest groups of a table; None where there is nothing to gain, or no columns can be the measures: those
    that are hardly ever zero, and not negative where a root is taken of them."""
    names = list(columns)
    matrix = np.array([[float(p) for p in units.powers(name)] for name in names]).reshape(len(names), -1)
    rank = int(np.linalg.matrix_rank(matrix)) if matrix.size else 0
    if rank == 0 or not units.target_can_be_made:
        return None
    goal = np.array([float(p) for p in units.powers(units.target)])
    best: tuple[float, Groups] | None = None
    for chosen in islice(_choices(matrix, [columns[name] for name in names], rank), MOST_CHOICES):
        places = sorted(chosen)
        solved = _solved(matrix[places], np.vstack([goal, matrix]))
        if solved is None:
            continue
        of_target, *of_columns = [_powers([names[k] for k in places], row) for row in solved]
        others = {
            name: powers for k, (name, powers) in enumerate(zip(names, of_columns, strict=True)) if k not in places
        }
        size = _size([of_target, *others.values()], columns)
        if size is not None and (best is None or size < best[0] - SAME):
            positive = frozenset(names[k] for k in places if (columns[names[k]] >= 0).all())
            best = size, Groups(units.target, of_target, others, positive)
    return None if best is None else best[1]


def _choices(matrix: Array, columns: Sequence[Array], rank: int) -> Iterator[tuple[int, ...]]:
    """Columns that may be the measures together, the simplest units first; of those that share a unit, the ones that
    vary least beside their size, and one at a time."""
    usable = [k for k, column in enumerate(columns) if (column == 0).mean() <= MOST_ZEROS and matrix[k].any()]
    sizes = [np.abs(columns[k]) for k in usable]
    spread = {k: float(size.max() / max(size.min(), TINY)) for k, size in zip(usable, sizes, strict=True)}
    alike: dict[tuple[float, ...], list[int]] = {}
    for k in sorted(usable, key=lambda k: (float(np.abs(matrix[k]).sum()), spread[k], k)):
        alike.setdefault(tuple(matrix[k]), []).append(k)
    for units in combinations(alike.values(), rank):
        yield from product(*(same[:OF_A_UNIT] for same in units))


def _solved(measures: Array, wanted: Array) -> Array | None:
    """The powers of the measures [measures, bases] that make each of the wanted dimensions [wanted, bases]; None where
    the measures depend on one another, or do not make them all."""
    if abs(np.linalg.det(measures @ measures.T)) < SINGULAR:
        return None
    powers: Array = np.asarray(np.linalg.lstsq(measures.T, wanted.T, rcond=None)[0].T, dtype=np.float64)
    return powers if bool((np.abs(powers @ measures - wanted) < SAME).all()) else None


def _powers(names: Sequence[str], row: Array) -> dict[str, Fraction]:
    powers = [Fraction(float(power)).limit_denominator(LARGEST_DENOMINATOR) for power in row]
    return {name: power for name, power in zip(names, powers, strict=True) if power}


def _size(products: Sequence[Powers], columns: Mapping[str, Array]) -> float | None:
    """How far from simple some products of powers are; None where one has no value."""
    size = 0.0
    doubtful = set()
    for powers in products:
        for name, power in powers.items():
            size += abs(float(power)) + ROOT * (power.denominator > 1)
            if (columns[name] <= 0).any():
                doubtful.add(name)
                if power.denominator > 1 and (columns[name] < 0).any():
                    return None
    return size + CHANGES_SIGN * len(doubtful)


# Formulas


class _Product(NamedTuple):
    """A part of a formula: a product of powers of measures, times the rest."""

    powers: Powers
    rest: Expression

    @property
    def whole(self) -> Expression:
        return _times(self.powers, self.rest)


def _combined(operator: Operator, parts: tuple[_Product, ...], positive: frozenset[str]) -> _Product:
    """An operator applied to such products. From sums the powers that all terms have are taken out, and as many of
    measures in denominators as are there, so that they cancel with those outside."""
    if operator.name in ("+", "-"):
        names = dict.fromkeys(name for part in parts for name in part.powers)
        least = {name: min(part.powers.get(name, Fraction(0)) for part in parts) for name in names}
        left = [_times(_added(part.powers, least, -1), part.rest) for part in parts]
        return _Product({name: power for name, power in least.items() if power}, apply(operator, *left))
    rests = [part.rest for part in parts]
    if operator.name == "pow":
        exponent = _number(parts[1])
        if exponent is not None and (exponent.denominator == 1 or {*parts[0].powers} <= positive):
            return _Product(
                {name: exponent * power for name, power in parts[0].powers.items()}, apply(operator, *rests)
            )
    elif isinstance(operator.units, tuple):
        whole = all(float(power).is_integer() for power in operator.units) and operator.name != "abs"
        if whole or {name for part in parts for name in part.powers} <= positive:
            powers: Powers = {}
            for times, part in zip(operator.units, parts, strict=True):
                powers = _added(powers, part.powers, Fraction(times))
            return _Product(powers, apply(operator, *rests))
    return _Product({}, apply(operator, *(part.whole for part in parts)))


def _number(part: _Product) -> Fraction | None:
    """An exact number, 2 or -1/2."""
    rest, sign = part.rest, 1
    if isinstance(rest, Apply) and rest.operator.name == "neg":
        rest, sign = rest.operands[0], -1
    if isinstance(rest, Apply) and rest.operator.name == "/":
        above, below = (_number(_Product({}, operand)) for operand in rest.operands)
        return None if above is None or not below else sign * above / below
    return Fraction(sign * rest.value) if isinstance(rest, Constant) and isinstance(rest.value, int) else None


def _added(one: Powers, two: Powers, times: int | Fraction = 1) -> dict[str, Fraction]:
    """The powers of a product, the second to a power."""
    total = {name: one.get(name, Fraction(0)) + times * two.get(name, Fraction(0)) for name in (*one, *two)}
    return {name: power for name, power in total.items() if power}


def _times(powers: Powers, formula: Expression) -> Expression:
    """A formula times a product of powers; several roots are one."""
    roots = {name: 2 * power for name, power in powers.items() if power.denominator == HALF}
    if roots:
        inside = _times(roots, Constant(1))
        joined = _joined(formula, inside)
        formula = formula * apply("sqrt", inside) if joined is None else joined
        powers = {name: power for name, power in powers.items() if name not in roots}
    above = [_raised(Variable(name), power) for name, power in powers.items() if power > 0]
    below = [_raised(Variable(name), -power) for name, power in powers.items() if power < 0]
    if not (isinstance(formula, Constant) and not formula.is_free and formula.value == 1 and above):
        above.append(formula)
    whole = reduce(Expression.__mul__, above)
    return whole / reduce(Expression.__mul__, below) if below else whole


def _joined(formula: Expression, inside: Expression) -> Expression | None:
    """The root of something times a root that is a factor of the formula, as one root; None where there is none."""
    if not isinstance(formula, Apply):
        return None
    name, (first, *others) = formula.operator.name, formula.operands or (formula,)
    if name == "sqrt" or (name == "pow" and _number(_Product({}, others[0])) == Fraction(1, HALF)):
        return apply("sqrt", first * inside)
    if name != "*":
        return None
    for one, other in ((first, others[0]), (others[0], first)):
        joined = _joined(one, inside)
        if joined is not None:
            return other * joined
    return None


def _raised(base: Expression, power: Fraction) -> Expression:
    if power == 1:
        return base
    exponent: Expression = Constant(power.numerator)
    return base ** (exponent if power.denominator == 1 else exponent / Constant(power.denominator))


# Texts


def _over(name: str, powers: Powers) -> str:
    """A column divided by a product of powers, as text."""
    if not powers:
        return name
    above = [_text(other, -power) for other, power in powers.items() if power < 0]
    below = [_text(other, power) for other, power in powers.items() if power > 0]
    text = "*".join([name, *above])
    if not below:
        return text
    return f"{text}/{below[0]}" if len(below) == 1 else f"{text}/({'*'.join(below)})"


def _text(name: str, power: Fraction) -> str:
    if power == 1:
        return name
    if power == Fraction(1, 2):
        return f"sqrt({name})"
    return f"{name}**{power}" if power.denominator == 1 else f"{name}**({power})"
