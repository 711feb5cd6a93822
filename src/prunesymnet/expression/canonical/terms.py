"""Sums of terms, ``{monomial: coefficient}``, and the trees they stand for.

A monomial is a product of powers of atoms; the empty monomial is that of the constant term, and the empty
sum is zero. This module orders terms, names them, and turns them back into trees; `algebra` computes.
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from prunesymnet.expression.canonical.numbers import (
    Number,
    content,
    is_exact,
    is_one,
    is_whole,
    number,
    over,
    size,
)
from prunesymnet.expression.tree import Constant, Expression, apply, fold, power
from prunesymnet.operators import Operator

Monomial = tuple[tuple["Atom", Number], ...]  # sorted by atom
Terms = dict[Monomial, Number]

CONSTANT, VARIABLE, FUNCTION, GROUP = range(4)  # ranks of atoms: the order of factors in a product


class Atom:
    """What a monomial is made of: an exact constant, a variable, a function, or a sum that is a factor.

    Atoms are equal when their `key` is; `order` is the key with the floats masked. `terms` is what a
    function is applied to, or what a group is.
    """

    __slots__ = ("constant", "function", "key", "nonnegative", "order", "rank", "terms", "tree")

    def __init__(
        self,
        tree: Expression,
        rank: int,
        key: str,
        order: str,
        *,
        function: str = "",
        terms: Terms | None = None,
        constant: bool = False,
        nonnegative: bool = False,
    ) -> None:
        self.tree, self.rank, self.key, self.order = tree, rank, key, order
        self.function, self.terms = function, terms or {}
        self.constant = constant
        self.nonnegative = nonnegative or (constant and constant_value(tree) >= 0)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Atom) and self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)

    def sort_key(self) -> tuple[int, str, str]:
        return self.rank, self.order, self.key


def variable_atom(tree: Expression, name: str) -> Atom:
    return Atom(tree, VARIABLE, name, name)


def number_atom(value: int) -> Atom:
    """A whole number under a root: sqrt(2)."""
    return Atom(Constant(value), CONSTANT, str(value), str(value), constant=True)


def group_atom(terms: Terms) -> Atom:
    ordered = sort_terms(terms)
    return Atom(
        to_tree(terms),
        GROUP,
        f"({to_key(ordered)})",
        f"({to_key(ordered, masked=True)})",
        terms=terms,
        constant=_is_constant(terms),
    )


def function_atom(function: str | Operator, inner: Terms, *, nonnegative: bool = False) -> Atom:
    name = function if isinstance(function, str) else function.name
    ordered = sort_terms(inner)
    constant = _is_constant(inner)
    return Atom(
        apply(function, to_tree(inner)),
        CONSTANT if constant else FUNCTION,
        f"{name}({to_key(ordered)})",
        f"{name}({to_key(ordered, masked=True)})",
        function=name,
        terms=inner,
        constant=constant,
        nonnegative=nonnegative,
    )


def opaque_atom(tree: Expression) -> Atom:
    """Something that no rule is known for: its operands' canonical forms are all that it gets."""
    masked = tree.with_constants([1.0] * len(tree.constants))
    constant = not tree.variables and not tree.constants
    return Atom(tree, CONSTANT if constant else FUNCTION, str(tree), str(masked), constant=constant)


def _is_constant(terms: Terms) -> bool:
    return all(atom.constant for m in terms for atom, _ in m) and all(map(is_exact, terms.values()))


def single(atom: Atom) -> Terms:
    return {((atom, 1),): 1}


def plain(value: Number) -> Terms:
    """A number as a sum; zero is the empty one."""
    return {(): number(value)} if value != 0 else {}


def is_number(terms: Terms) -> bool:
    return not terms or (len(terms) == 1 and () in terms)


def negated(terms: Terms) -> Terms:
    return {m: -c for m, c in terms.items()}


def constant_value(tree: Expression) -> float:
    """The value of a tree without variables; nan or inf where it has none."""
    with np.errstate(all="ignore"):
        return float(
            fold(
                tree,
                lambda leaf: float(leaf.value) if isinstance(leaf, Constant) else math.nan,
                lambda operator, operands: float(operator.numpy(*operands)),
            )
        )


# ---- order and names ----------------------------------------------------------------------------


def sort_terms(terms: Terms) -> list[tuple[Monomial, Number]]:
    """Highest degree first, then functions, the constant last; ties by name, with floats masked first."""
    return sorted(terms.items(), key=lambda item: _term_key(item[0])) if len(terms) > 1 else list(terms.items())


def _term_key(monomial: Monomial) -> tuple[Any, ...]:
    variables = [e for atom, e in monomial if atom.rank == VARIABLE]
    polynomial = all(atom.rank <= VARIABLE for atom, _ in monomial)
    degree = sum(e if is_exact(e) else 1 for e in variables)
    masked = " ".join(f"{atom.order}^{_mask(e)}" for atom, e in monomial)
    exact = " ".join(f"{atom.key}^{e!r}" for atom, e in monomial)
    return (not variables and polynomial, not polynomial, -degree, masked, exact)


def _mask(value: Number) -> str:
    return str(value) if is_exact(value) else "c"


def to_key(ordered: Iterable[tuple[Monomial, Number]], *, masked: bool = False) -> str:
    """A text that is the same for equal sums; with the floats masked, for sums that differ in those only."""
    show: Any = _mask if masked else str
    return " + ".join(
        show(c) + "".join(f" {a.order if masked else a.key}^{show(e)}" for a, e in monomial) for monomial, c in ordered
    )


# ---- trees --------------------------------------------------------------------------------------


def to_tree(terms: Terms) -> Expression:
    """The tree as a person would write it: subtractions, quotients, common factors where that is shorter."""
    if not terms:
        return Constant(0)
    ordered = sort_terms(terms)
    tree = _sum_tree(ordered)
    if len(ordered) > 1 and all(is_exact(c) for _, c in ordered):
        factor = content(terms.values())
        if not is_one(factor):
            inner = _sum_tree([(m, over(c, factor)) for m, c in ordered])
            top, bottom = factor.as_integer_ratio()
            numerator = inner if top == 1 else Constant(top) * inner
            factored = numerator if bottom == 1 else numerator / bottom
            return min(tree, factored, key=lambda candidate: candidate.complexity)
    return tree


def _sum_tree(ordered: list[tuple[Monomial, Number]]) -> Expression:
    # A sum opens with a positive term where it has one: 1 - x, not -x + 1.
    first = next((i for i, (_, c) in enumerate(ordered) if c > 0), 0)
    total = _term_tree(*ordered[first])
    for monomial, coefficient in ordered[:first] + ordered[first + 1 :]:
        term = _term_tree(monomial, size(coefficient))
        total = total - term if coefficient < 0 else total + term
    return total


def _term_tree(monomial: Monomial, coefficient: Number) -> Expression:
    above: list[Expression] = []
    below: list[Expression] = []
    for atom, exponent in monomial:
        base = atom.tree
        if coefficient < 0 and atom.rank == GROUP and is_whole(exponent) and exponent % 2:
            # -(x - 1) is (1 - x): a group that has a minus of its own takes up the term's.
            turned = negated(atom.terms)
            if min(turned.values()) < 0 < max(turned.values()):
                base, coefficient = to_tree(turned), -coefficient
        if exponent < 0 and is_exact(exponent):
            below.append(_power_tree(base, -exponent))
        else:
            above.append(_power_tree(base, exponent))
    top, bottom = (coefficient, 1) if isinstance(coefficient, float) else coefficient.as_integer_ratio()
    if isinstance(top, float) or abs(top) != 1 or not above:
        above.insert(0, Constant(top))
    elif top < 0:
        above[0] = -above[0]
    if bottom != 1:
        below.insert(0, Constant(bottom))
    numerator = reduce(lambda a, b: a * b, above)
    return numerator / reduce(lambda a, b: a * b, below) if below else numerator


def _power_tree(base: Expression, exponent: Number) -> Expression:
    if is_one(exponent):
        return base
    if is_exact(exponent) and exponent == Fraction(1, 2):
        return apply("sqrt", base)
    return power(base, number_tree(exponent))


def number_tree(value: Number) -> Expression:
    if isinstance(value, float):
        return Constant(value)
    top, bottom = value.as_integer_ratio()
    return Constant(top) if bottom == 1 else Constant(top) / Constant(bottom)
