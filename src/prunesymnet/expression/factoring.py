"""Formulas as a person would write them: with common factors in front.

>>> from prunesymnet.expression.parsing import parse
>>> print(factored(parse("x*cos(z) + y*cos(z)")), "|", factored(parse("x*z/w + y*z/w + 1")))
cos(z)*(x + y) | z*(x + y)/w + 1
>>> print(factored(parse("1/(x**2 - 2*x*y + y**2 + 1)")))
1/((x - y)**2 + 1)
>>> print(factored(parse("x**6 - 2*x**4 + x**2")))
(x**3 - x)**2
>>> print(factored(parse("u*z*(1 - x/u)")), "|", factored(parse("10/(y*(10/(x*y) + 3))")))
z*(u - x) | 10*x/(3*x*y + 10)

A polynomial in one variable stays as it is unless it is a power: nobody writes x*(x*(x + 1) + 1).
"""

from fractions import Fraction
from functools import lru_cache

from prunesymnet.expression.canonical import algebra, canonical, to_terms
from prunesymnet.expression.canonical.numbers import Number, OutOfRange, content, is_exact, number, over
from prunesymnet.expression.canonical.terms import (
    VARIABLE,
    Atom,
    Monomial,
    Terms,
    number_tree,
    sort_terms,
    to_key,
    to_tree,
)
from prunesymnet.expression.expanding import expanded
from prunesymnet.expression.polynomial import Polynomial, polynomial
from prunesymnet.expression.tree import Apply, Constant, Expression, Variable, apply, fold, nesting
from prunesymnet.operators import Operator

MANY_TERMS = 10  # of a sum of more, only the factor that most of them have is taken out: all ways are too many


def factored(expression: Expression) -> Expression:
    """An equal formula with factors taken out of its sum as long as that makes it simpler, or multiplied out; of those
    that are as simple, one with less inside of parentheses."""
    try:
        tree = fold(expression, lambda leaf: leaf, _inside)
        quotients = fold(expression, lambda leaf: leaf, _as_quotient)
        trees = [
            canonical(expression),
            *(to_tree(_factored(to_terms(one))) for one in dict.fromkeys((tree, quotients))),
        ]
        whole = polynomial(expression)
        if whole is not None and _is_exact(whole):
            trees.append(canonical(_sum_of_powers(whole)))
        return min(trees, key=lambda tree: (tree.complexity, nesting(tree)))
    except (OverflowError, OutOfRange):
        return expression


def multiplied_out(expression: Expression) -> Expression:
    """A polynomial in one variable as a sum of powers, whatever it was written as; any other formula as it is.

    >>> from prunesymnet.expression.parsing import parse
    >>> print(multiplied_out(parse("(x + 1)*(x - 1)")), "|", multiplied_out(parse("x*(2.5*x + 0.5)")))
    x**2 - 1 | 2.5*x**2 + 0.5*x
    """
    whole = polynomial(expression)
    if whole is None or not whole.variable:
        return expression
    try:
        return canonical(_sum_of_powers(whole)) if _is_exact(whole) else expanded(expression) or expression
    except (OverflowError, OutOfRange):
        return expression


def _is_exact(whole: Polynomial) -> bool:
    """Whether it has a variable, and no free constants."""
    return bool(whole.variable) and None not in whole.coefficients.values()


def _sum_of_powers(whole: Polynomial) -> Expression:
    """A polynomial with exact coefficients as a sum of powers."""
    total: Expression = Constant(0)
    for degree, coefficient in whole.coefficients.items():
        total = total + number_tree(number(Fraction(coefficient or 0))) * Variable(whole.variable) ** degree
    return total


def _inside(operator: Operator, operands: tuple[Expression, ...]) -> Expression:
    """What a function is applied to, and what stands in a product or below, has its factors in front too."""
    if operator.name == "sqrt":
        # sqrt(u/2) is sqrt(u)/sqrt(2): what is before the root may cancel with it.
        terms = _factored(to_terms(operands[0]))
        if terms and all(map(is_exact, terms.values())):
            factor = content(terms.values())
            if factor > 0:
                root = to_tree({m: over(c, factor) for m, c in terms.items()})
                return apply("sqrt", number_tree(factor)) * apply("sqrt", root)
    if operator.arity == 1 or operator.name in ("*", "/"):
        operands = tuple(to_tree(_factored(to_terms(operand))) for operand in operands)
    return Apply(operator, operands)


class _Sum:
    """Terms in their order, as what a cache knows them by: 2 and 2.0, which may be any number, are not the same."""

    __slots__ = ("key", "terms")

    def __init__(self, terms: Terms) -> None:
        ordered = sort_terms(terms)
        self.terms, self.key = dict(ordered), to_key(ordered)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Sum) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def _factored(terms: Terms) -> Terms:
    return dict(_factored_sum(_Sum(terms)))


@lru_cache(maxsize=4096)  # x out of a sum and then y leaves the same as y and then x
def _factored_sum(total: _Sum) -> Terms:
    terms = total.terms
    while len(terms) > 1:
        size = to_tree(terms).complexity
        common = _common(terms) if len(terms) <= MANY_TERMS else _most_common(terms)[:1]
        options = [_taken_out(terms, atom, exponent) for atom, exponent in common]
        options += _squares(terms) + _powers(terms)
        best = min(options, key=lambda option: to_tree(option).complexity, default=None)
        # A factor of all terms may cancel with another outside, so it comes out even if that is no shorter.
        if best is None or to_tree(best).complexity >= size + (len(best) == 1):
            break
        terms = best
    return terms


def _most_common(terms: Terms) -> list[tuple[Atom, Number]]:
    """Those that are in most terms first."""

    def count(entry: tuple[Atom, Number]) -> int:
        return sum(entry[0] == atom and (own > 0) == (entry[1] > 0) for m in terms for atom, own in m if is_exact(own))

    return sorted(_common(terms), key=count, reverse=True)


def _common(terms: Terms) -> list[tuple[Atom, Number]]:
    """Atoms with the power in which they can be taken out of at least two terms."""
    found: dict[tuple[Atom, bool], list[Number]] = {}
    for monomial in terms:
        for atom, exponent in monomial:
            if is_exact(exponent) and not atom.constant:
                found.setdefault((atom, exponent > 0), []).append(exponent)
    taken = [(atom, min(es) if above else max(es)) for (atom, above), es in found.items() if len(es) > 1]
    return sorted(taken, key=lambda entry: (entry[0].sort_key(), entry[1]))


def _taken_out(terms: Terms, atom: Atom, exponent: Number) -> Terms:
    inside: Terms = {}
    rest: Terms = {}
    for monomial, coefficient in terms.items():
        powers = dict(monomial)
        own = powers.get(atom, 0)
        if is_exact(own) and (own >= exponent > 0 or own <= exponent < 0):
            divided = {a: e for a, e in powers.items() if a != atom}
            if own != exponent:
                divided[atom] = number(own - exponent)
            inside = algebra.add(inside, algebra.term(coefficient, divided))
        else:
            rest[monomial] = coefficient
    if atom.rank == VARIABLE and all(_power_of(atom, monomial) for monomial in inside):
        return terms
    return algebra.add(rest, algebra.multiply({((atom, exponent),): 1}, _factored(inside)))


def _as_quotient(operator: Operator, operands: tuple[Expression, ...]) -> Expression:
    """With the sums in a product or a power as quotients: in u*(1 - x/u)*z, u cancels, and (u - x)*z is left."""
    if operator.name in ("*", "/", "pow", "square"):
        operands = tuple(to_tree(_over_denominators(to_terms(operand))) for operand in operands)
    return _inside(operator, operands)


def _over_denominators(terms: Terms) -> Terms:
    """A sum over all that some of its terms are divided by: 1 - x/z as (z - x)/z."""
    below: dict[Atom, Number] = {}
    for monomial in terms if len(terms) > 1 else ():
        for atom, exponent in monomial:
            if is_exact(exponent) and exponent < below.get(atom, 0) and not atom.constant:
                below[atom] = exponent
    if not below:
        return terms
    factor: Terms = {tuple((atom, number(-e)) for atom, e in sorted(below.items(), key=lambda b: b[0].sort_key())): 1}
    above = algebra.add({}, *(algebra.multiply(factor, {m: c}) for m, c in terms.items()))
    return algebra.multiply({tuple((atom, number(-e)) for atom, e in next(iter(factor))): 1}, above)


def _squares(terms: Terms) -> list[Terms]:
    """The sums in which p*u**2 + r*u*v + q*v**2 is one square, p*(u + s*v)**2."""
    found = []
    squares = {m[0][0]: c for m, c in terms.items() if len(m) == 1 and m[0][1] == 2 and is_exact(c)}
    for monomial, mixed in terms.items():
        if len(monomial) != 2 or not is_exact(mixed) or not all(a in squares and e == 1 for a, e in monomial):
            continue
        (one, _), (two, _) = monomial
        p, q = Fraction(squares[one]), Fraction(squares[two])
        if Fraction(mixed) ** 2 == 4 * p * q:
            whole: Terms = {((one, 1),): 1, ((two, 1),): number(Fraction(mixed) / (2 * p))}
            used = (monomial, ((one, 2),), ((two, 2),))
            rest = {m: c for m, c in terms.items() if m not in used}
            found.append(algebra.add(rest, algebra.scale(algebra.to_power(whole, 2), number(p))))
    return found


def _powers(terms: Terms) -> list[Terms]:
    """A polynomial in one atom, with exact coefficients, as the power of another, where it is one."""
    atoms = {atom for monomial in terms for atom, _ in monomial}
    if len(atoms) != 1 or not all(map(is_exact, terms.values())):
        return []
    (atom,) = atoms
    by_degree = {(monomial[0][1] if monomial else 0): Fraction(c) for monomial, c in terms.items()}
    if not all(isinstance(degree, int) and degree >= 0 for degree in by_degree):
        return []
    degree = int(max(by_degree))
    factor = by_degree[degree]
    monic = [by_degree.get(degree - i, Fraction(0)) / factor for i in range(degree + 1)]  # from the highest degree on
    found = []
    for exponent in (k for k in range(2, degree + 1) if degree % k == 0):
        root = _root_of(monic, exponent)
        if root is not None:
            inside: Terms = {}
            for i, c in enumerate(root):
                if c:
                    inside = algebra.add(inside, algebra.term(number(c), {atom: d} if (d := len(root) - 1 - i) else {}))
            if len(inside) > 1:
                found.append(algebra.scale(algebra.to_power(inside, exponent), number(factor)))
    return found


def _root_of(monic: list[Fraction], exponent: int) -> list[Fraction] | None:
    """The polynomial whose power a polynomial of leading coefficient 1 is, from the highest degree on; None if none."""
    size = (len(monic) - 1) // exponent + 1
    root = [Fraction(1)]
    for i in range(1, size):  # each coefficient is the only one that is new in one of the power's
        known = _product([*root, Fraction(0)], exponent)
        root.append((monic[i] - known[i]) / exponent)
    return root if _product(root, exponent) == monic else None


def _product(root: list[Fraction], exponent: int) -> list[Fraction]:
    total = [Fraction(1)]
    for _ in range(exponent):
        longer = [Fraction(0)] * (len(total) + len(root) - 1)
        for i, a in enumerate(total):
            for j, b in enumerate(root):
                longer[i + j] += a * b
        total = longer
    return total


def _power_of(atom: Atom, monomial: Monomial) -> bool:
    return all(factor == atom for factor, _ in monomial)
