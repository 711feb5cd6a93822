"""The same problem in other units, and beside columns that have nothing to do with it: what is found must not change.

>>> import numpy as np
>>> from prunesymnet.data import make_dataset
>>> from prunesymnet.expression import parse
>>> data = make_dataset(np.array([[1.0], [2.0]]), np.array([3.0, 5.0]), names=["x"])
>>> units = Units({"x": 1e-4}, 1e3)
>>> in_units(data, units).y.tolist(), in_units(data, units).X.tolist()
([3000.0, 5000.0], [[0.0001], [0.0002]])
>>> print(canonical(in_own_units(parse("2e7*x + 1e3"), units)))
2.0*x + 1.0
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from prunesymnet.data import Dataset, make_dataset
from prunesymnet.expression import Apply, Constant, Expression, Variable, canonical, expanded, factored, fold
from prunesymnet.expression.tree import is_free

FURTHEST = 30  # powers of ten by which a unit may differ, up or down: from an atom's mass to a star's
ROUNDING = 1e-12  # relative: what powers of ten leave of a number that was whole
MOST_EXACT = ROUNDING * 2**53  # of a whole number that a float holds exactly
UNRELATED = "unrelated"  # and a number: the names of columns that have nothing to do with the target


@dataclass(frozen=True)
class Units:
    """What the columns, by name, and the target are multiplied by."""

    columns: Mapping[str, float]
    target: float

    def inverse(self) -> "Units":
        """Those that lead back."""
        return Units({name: 1 / factor for name, factor in self.columns.items()}, 1 / self.target)


def draw_units(names: tuple[str, ...], seed: int) -> Units:
    """A random power of ten for each column and for the target."""
    powers = np.random.default_rng(3000 + seed).integers(-FURTHEST, FURTHEST, len(names) + 1, endpoint=True)
    *columns, target = (float(f"1e{power}") for power in powers)
    return Units(dict(zip(names, columns, strict=True)), target)


def in_units(data: Dataset, units: Units) -> Dataset:
    """The same table in other units."""
    factors = np.array([units.columns.get(name, 1.0) for name in data.names])
    return make_dataset(data.X * factors, data.y * units.target, names=data.names, target=data.target)


def in_own_units(found: Expression, units: Units) -> Expression:
    """A formula that was found in other units, as it reads in the units of the problem. The factors are floats, as the
    numbers of such a formula are: its canonical form joins them."""

    def leaf(node: Expression) -> Expression:
        factor = units.columns.get(node.name, 1.0) if isinstance(node, Variable) else 1.0
        return node if factor == 1.0 else Constant(factor) * node

    formula = fold(found, leaf, lambda operator, operands: Apply(operator, operands))
    return formula if units.target == 1.0 else formula / Constant(units.target)


def read_again(formula: Expression) -> Expression:
    """A formula as a search would have written it in the problem's units: floats that are whole but for rounding are
    whole, and the shortest way to write it is taken. In other units no number is round, so a search could not.

    >>> from prunesymnet.expression import parse
    >>> print(read_again(parse("1.0*(x**2 + 1.9999999999999998*x + 1.0)")))
    (x + 1)**2
    """

    def leaf(node: Expression) -> Expression:
        if not is_free(node):
            return node
        assert isinstance(node, Constant)
        near = round(node.value)
        return Constant(near) if abs(node.value - near) <= ROUNDING * abs(near) < MOST_EXACT else node

    short = canonical(formula)
    whole = canonical(fold(short, leaf, lambda operator, operands: Apply(operator, operands)))
    return min((short, whole, factored(whole), factored(expanded(whole) or whole)), key=lambda form: form.complexity)


def with_unrelated(data: Dataset, columns: int, seed: int) -> Dataset:
    """With so many columns more, each drawn without a look at the others and with a size of its own, anywhere among the
    columns that matter."""
    if not columns:
        return data
    rng = np.random.default_rng(4000 + seed)
    more = rng.normal(rng.normal(size=columns), 1.0, (data.rows, columns))
    sizes = 10.0 ** rng.integers(-FURTHEST, FURTHEST, columns, endpoint=True)
    names = [*data.names, *(f"{UNRELATED}{i + 1}" for i in range(columns))]
    order = rng.permutation(len(names))
    X = np.column_stack([data.X, more * sizes])[:, order]
    return make_dataset(X, data.y, names=[names[i] for i in order], target=data.target)
