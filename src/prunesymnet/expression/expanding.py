"""Products of sums multiplied out, with a coefficient of its own for every term.

The paper's post-processing begins so: what pruning leaves of a polynomial is a product of sums, and multiplied out it
is every term that this product has, each to be fitted, rounded, and dropped where its coefficient becomes 0. A factor
with free constants inside, such as exp(0.5*x) or 1/(y + 1.0), stays before the sum: in each of its terms, its constants
would be fitted apart.

>>> from prunesymnet.expression.parsing import parse
>>> print(expanded(parse("2.0*(1.0*x + 3.0)*(0.5*x - 1.0*y)")))
1.0*x**2 - 2.0*x*y + 3.0*x - 6.0*y
>>> print(expanded(parse("exp(0.5*(1.0*x + 2.0)**2)/(1.0*y + 1.0)**2")))
7.38905609893065*exp(0.5*x**2 + 2.0*x)/(y**2 + 2.0*y + 1.0)
"""

from prunesymnet.expression.canonical import algebra, combine_terms, leaf_terms
from prunesymnet.expression.canonical.numbers import OutOfRange
from prunesymnet.expression.canonical.terms import Terms, negated, sort_terms, to_key, to_tree
from prunesymnet.expression.tree import Apply, Expression, postorder
from prunesymnet.operators import Operator

MOST_TERMS = 100  # on the way: products of longer sums take long, and few of them lose enough terms again


def expanded(expression: Expression) -> Expression | None:
    """The formula as a sum of products, inside of functions and denominators too; None where it has too many terms, or
    its constants leave the range of floats."""
    both = expanded_and_skeleton(expression)
    return None if both is None else both[0]


def expanded_and_skeleton(expression: Expression) -> tuple[Expression, str] | None:
    """The same, and the text that does not depend on its constants (`skeleton`)."""
    try:
        terms = _terms(expression)
        return to_tree(terms), to_key(sort_terms(terms), masked=True)
    except (OverflowError, OutOfRange, _TooLong):
        return None


def _terms(expression: Expression) -> Terms:
    """The sum of terms; what stands in several places as one object is multiplied out once."""
    known: dict[int, Terms] = {}
    for node in postorder(expression):
        if id(node) not in known:
            operands = tuple(known[id(operand)] for operand in node.operands)
            known[id(node)] = _combine(node.operator, operands) if isinstance(node, Apply) else leaf_terms(node)
    return known[id(expression)]


class _TooLong(Exception):
    """More terms than `MOST_TERMS`."""


def _combine(operator: Operator, operands: tuple[Terms, ...]) -> Terms:
    name = operator.name
    if name == "*":
        return _multiplied(*operands)
    if name == "/":
        return _multiplied(operands[0], algebra.to_power(operands[1], -1))
    if name == "square":
        return _multiplied(operands[0], operands[0])
    if name == "cube":
        return _multiplied(operands[0], _multiplied(operands[0], operands[0]))
    if name == "-":
        return algebra.add(operands[0], negated(operands[1]))
    return combine_terms(operator, operands)


def _multiplied(a: Terms, b: Terms) -> Terms:
    """Every term of the one with every term of the other, where that takes no constant apart."""
    if (len(a) > 1 and _has_constants_inside(b)) or (len(b) > 1 and _has_constants_inside(a)):
        return algebra.multiply(a, b)
    if len(a) * len(b) > MOST_TERMS:
        raise _TooLong
    parts = [algebra.multiply({m: p}, {n: q}) for m, p in a.items() for n, q in b.items()]
    return algebra.add(*parts)


def _has_constants_inside(terms: Terms) -> bool:
    """Whether there are free constants other than coefficients."""
    return any(atom.tree.constants for monomial in terms for atom, _ in monomial)
