"""Columns that a formula takes for pure numbers: measured in another unit, it would be another formula.

A law holds in any units. If a concentration is measured in others, `4.2*c/(c + 0.06)` has other constants, and is the
same law; `4.2*(c - sqrt(c))` and `c*log(c)` say that the unit of the table is that of nature.

>>> from prunesymnet.expression import parse
>>> c = np.linspace(0.1, 3, 20)
>>> [pure_numbers(parse(text), {"c": c}) for text in ("4.2*c/(c + 0.06)", "4.2*(c - sqrt(c))", "c*log(c)")]
[(), ('c',), ('c',)]

If each column x grows by a small part a of itself, f grows by the sum of all a*x*df/dx. Where other constants and
another unit of the target make up for that, it lies in the span of the derivatives by the constants and of f. So the
changes of units that are allowed are what the rest, beside this span, takes to zero: masses that are added up may
change theirs together. A column that has no part in any of these is taken for a pure number. Categories are such, and
so are angles: what is inside of a sine or a cosine may have any unit. Numbers that are written down may have been
rounded, so all but exponents are counted as free.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from prunesymnet.coefficients.bases import basis_of
from prunesymnet.expression import Constant, Expression, Variable, compile_expression
from prunesymnet.expression.tree import Apply, fold, is_free, leaves
from prunesymnet.operators import Operator

Array = NDArray[np.float64]

WAVES = ("sin", "cos", "tan")
MOST_ROWS = 200  # that are looked at: formulas have no more than some dozen constants
DEPENDENT = 1e-9  # of the largest singular value: directions below it are rounding
NOTHING_LEFT = 1e-6  # of a change of units: the constants make up for it
NO_PART = 1e-3  # of an allowed change: what a column has of it by rounding


def pure_numbers(expression: Expression, columns: Mapping[str, Array]) -> tuple[str, ...]:
    """The names of those columns."""
    names = [name for name in expression.variables if not np.isin(columns[name], (0.0, 1.0)).all()]
    rows = slice(None, None, max(len(next(iter(columns.values()), ())) // MOST_ROWS, 1))
    with np.errstate(all="ignore"):
        some = {name: columns[name][rows] for name in expression.variables}
        values, along, constants = _derivatives(expression, some)
    changes = np.array([along[name] for name in names])
    if not names or not all(np.isfinite(part).all() for part in (values, changes, constants)):
        return ()
    fixed = basis_of(np.vstack([values[None], constants]), DEPENDENT)
    left = changes - (changes @ fixed.T) @ fixed
    squares, vectors = np.linalg.eigh(left @ left.T)
    part = np.sqrt((vectors[:, squares <= NOTHING_LEFT**2] ** 2).sum(axis=1))
    return tuple(name for name, share in zip(names, part, strict=True) if share < NO_PART)


def _derivatives(expression: Expression, columns: Mapping[str, Array]) -> tuple[Array, dict[str, Array], Array]:
    """The values, what each column's growth by a part of itself adds to them (beside the sizes of what it adds in each
    place), and the derivatives by the constants and by the units inside of waves."""
    scales: dict[int, str] = {}
    kept: list[Expression] = []  # so that each has a number of its own

    def one() -> Expression:
        kept.append(Constant(1.0))
        return kept[-1]

    def leaf(node: Expression) -> tuple[Expression, Expression]:
        if isinstance(node, Constant):
            return Constant(float(node.value)), node
        if not isinstance(node, Variable):
            return node, node
        scale = one()
        scales[id(scale)] = node.name
        return scale * node, scale * node

    def combine(
        operator: Operator, operands: tuple[tuple[Expression, Expression], ...]
    ) -> tuple[Expression, Expression]:
        """With all numbers free, and as it is: so it is in an exponent."""
        free, exact = (tuple(pair[k] for pair in operands) for k in (0, 1))
        if operator.name in WAVES:
            free = exact = (one() * free[0],)
        return Apply(operator, (free[0], exact[1]) if operator.name == "pow" else free), Apply(operator, exact)

    scaled, _ = fold(expression, leaf, combine)
    values, jacobian = compile_expression(scaled).values_and_jacobian(columns)
    places: dict[str, list[Array]] = {name: [] for name in columns}
    others: list[Array] = []
    for node, slope in zip(filter(is_free, leaves(scaled)), jacobian, strict=True):
        (places[scales[id(node)]] if id(node) in scales else others).append(slope)
    sizes = {name: sum(float(np.linalg.norm(slope)) for slope in slopes) for name, slopes in places.items()}
    along = {name: np.sum(slopes, axis=0) / (sizes[name] or 1.0) for name, slopes in places.items()}
    return values, along, np.array(others).reshape(len(others), len(values))
