"""One form for formulas that are the same: the paper's "equivalent subnetworks" become one candidate.

Every subexpression is brought to a sum of terms, ``{monomial: coefficient}``, where a monomial is a product
of powers of *atoms*: variables, functions of such sums, and sums that stand as a factor. Adding, multiplying
and raising such sums does the work: flattening, ordering, like terms, powers and constants all follow.

>>> from prunesymnet.expression.parsing import parse
>>> print(canonical(parse("w*x*2.0*x*3.0 - (x + x)/2*exp(0.5 + x)*exp(-x)")))
6.0*w*x**2 - 1.6487212707001282*x
>>> print(canonical(parse("(2.0*x + 4.0)*(3.0*y + 9.0)/(0.5*z + 2.0)")))
12.0*(x + 2.0)*(y + 3.0)/(z + 4.0)

Rules that keep the meaning:

- Wherever the formula is finite, its canonical form is finite and equal. It may be finite in more places
  (``x/x`` is 1, ``sqrt(x)**2`` is ``x``), never in fewer: ``log(x**2)`` and ``sqrt(x**2)`` do not become
  ``2*log(x)`` and ``x``.
- Redundant free constants are merged: no free constant can be taken up by the others. A sum of free terms
  that stands as a factor is scaled so that its first coefficient is 1, ``exp(a + b*x)`` gives up its ``a``.
- Exact numbers stay exact: 1/3 and pi are not turned into floats unless a float takes them up.
- Products of sums are not expanded: ``x*(x + 1)`` stays (`fingerprint` sees that ``x**2 + x`` is equal).
- The form does not depend on the values of free constants, signs and zeros aside.

`numbers` has the arithmetic of coefficients, `terms` what a sum of terms is and how it is written,
`algebra` how such sums are computed with; this module says which operator does what.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from prunesymnet.expression.canonical import algebra
from prunesymnet.expression.canonical.numbers import Number, OutOfRange, is_exact, is_one, size
from prunesymnet.expression.canonical.terms import (
    Atom,
    Terms,
    constant_value,
    function_atom,
    is_number,
    negated,
    opaque_atom,
    plain,
    single,
    sort_terms,
    to_key,
    to_tree,
    variable_atom,
)
from prunesymnet.expression.tree import DEEPEST, MOST_NODES, Apply, Constant, Expression, Variable, fold, nesting, power
from prunesymnet.operators import OPERATORS, Operator

__all__ = ["canonical", "canonical_and_skeleton", "combine_terms", "leaf_terms", "skeleton", "to_terms"]


def canonical(expression: Expression) -> Expression:
    """The form that formulas share which are the same by arithmetic; one whose constants leave the range of floats
    on the way stays as it is."""
    try:
        return to_tree(to_terms(expression))
    except (OverflowError, OutOfRange):
        return expression


def to_terms(expression: Expression) -> Terms:
    """The sum of terms that a formula is; OverflowError or OutOfRange where its constants leave the range of floats."""
    if expression.complexity > DEEPEST:  # smaller formulas are neither too large nor too deep
        nodes, deep = expression.size, nesting(expression)
        if nodes > MOST_NODES or deep > DEEPEST:
            raise ValueError(
                f"a formula that is simplified may have {MOST_NODES:,} symbols, {DEEPEST:,} inside one another; "
                f"this one has {nodes:,}, {deep:,} inside one another"
            )
    return fold(expression, leaf_terms, combine_terms)


def canonical_and_skeleton(expression: Expression) -> tuple[Expression, str]:
    """Both in one go, for half the price."""
    try:
        terms = to_terms(expression)
        return to_tree(terms), to_key(sort_terms(terms), masked=True)
    except (OverflowError, OutOfRange):
        return expression, str(expression)


def skeleton(expression: Expression) -> str:
    """A text that is the same for formulas which differ in their free constants only.

    >>> from prunesymnet.expression.parsing import parse
    >>> skeleton(parse("2.5*x + sin(0.1*x)")) == skeleton(parse("sin(7.0*x) + x*0.3"))
    True
    """
    return canonical_and_skeleton(expression)[1]


def leaf_terms(node: Expression) -> Terms:
    """A number or a variable as a sum of terms."""
    if isinstance(node, Constant):
        return plain(node.value)
    assert isinstance(node, Variable)  # noqa: S101 - the only other leaf
    return single(variable_atom(node, node.name))


def combine_terms(operator: Operator, operands: tuple[Terms, ...]) -> Terms:
    """An operator applied to sums of terms."""
    name = operator.name
    if name in _ALGEBRA:
        return _ALGEBRA[name](*operands)
    rule = _rule(operator)
    if rule is not None and not is_number(operands[0]):
        return rule(operands[0])
    if name == "pow":
        return _general_power(*operands)
    if operator.commutative:
        operands = tuple(sorted(operands, key=_order))
    tree = Apply(operator, tuple(to_tree(terms) for terms in operands))
    if operands and all(map(is_number, operands)):
        values = [terms.get((), 0) for terms in operands]
        if is_exact(values[0]) and values[0] in operator.exact:
            return plain(operator.exact[values[0]])  # type: ignore[index]
        if name == "abs":
            return plain(size(values[0]))
        if not any(map(is_exact, values)) and math.isfinite(value := constant_value(tree)):
            return plain(value)
        if rule is not None and is_exact(values[0]):
            return single(function_atom(operator, operands[0]))
    return single(opaque_atom(tree))


def _order(terms: Terms) -> tuple[str, str]:
    """In which order two operands stand that may be exchanged: as far as possible, whatever their free constants."""
    ordered = sort_terms(terms)
    return to_key(ordered, masked=True), to_key(ordered)


def _general_power(base: Terms, exponent: Terms) -> Terms:
    if is_number(exponent):
        return algebra.to_power(base, exponent.get((), 0))
    if len(base) == 1:
        ((monomial, coefficient),) = base.items()
        if len(monomial) == 1 and monomial[0][0].function == "exp" and is_one(coefficient):
            return algebra.exp(algebra.multiply(monomial[0][0].terms, exponent))
    return single(opaque_atom(power(to_tree(base), to_tree(exponent))))


def _rule(operator: Operator) -> Callable[[Terms], Terms] | None:
    """What becomes of a function of a sum, where something is known of it."""
    if operator.name in _FUNCTIONS:
        return _FUNCTIONS[operator.name]
    if operator.name in ("sin", "cos"):
        return partial(_wave, operator)
    return partial(_odd_or_even, operator) if operator.arity == 1 and operator.parity is not None else None


def _odd_or_even(operator: Operator, inner: Terms) -> Terms:
    """A leading minus comes out of an odd function, and vanishes in an even one, as does an abs."""
    if operator.parity == "even" and len(inner) == 1:
        inner = algebra.without_abs(inner)
    if sort_terms(inner)[0][1] < 0:
        return {((function_atom(operator, negated(inner)), 1),): -1 if operator.parity == "odd" else 1}
    return single(function_atom(operator, inner))


def _wave(operator: Operator, inner: Terms) -> Terms:
    """A sine or a cosine: a quarter of a period more makes one of the other, and half a period another sign."""
    half_pi = {monomial: 2 * c for monomial, c in inner.items() if len(monomial) == 1 and _is_pi(*monomial[0])}
    for monomial, quarters in half_pi.items():
        if is_exact(quarters) and quarters == int(quarters):
            rest = {m: c for m, c in inner.items() if m != monomial}
            turned = (int(quarters) + (operator.name == "cos")) % 4  # of a sine
            name = "cos" if turned % 2 else "sin"
            wave = combine_terms(OPERATORS[name], (rest,))
            return negated(wave) if turned >= 2 else wave
    return _odd_or_even(operator, inner)


def _is_pi(atom: Atom, exponent: Number) -> bool:
    return is_one(exponent) and isinstance(atom.tree, Apply) and atom.tree.operator.name == "pi"


_FUNCTIONS: dict[str, Callable[[Terms], Terms]] = {"exp": algebra.exp, "log": algebra.log, "abs": algebra.absolute}
_ALGEBRA: dict[str, Callable[..., Terms]] = {
    "+": algebra.add,
    "-": lambda a, b: algebra.add(a, negated(b)),
    "*": algebra.multiply,
    "/": lambda a, b: algebra.multiply(a, algebra.to_power(b, -1)),
    "neg": negated,
    "id": lambda a: a,
    "square": lambda a: algebra.to_power(a, 2),
    "cube": lambda a: algebra.to_power(a, 3),
    "inv": lambda a: algebra.to_power(a, -1),
    "sqrt": lambda a: algebra.to_power(a, Fraction(1, 2)),
}
