"""Dictionaries: lists of terms of which a target may be a sum, whichever of them it takes.

A sum of terms lies in their span. So one product of matrices with an orthonormal basis of the span tells of thousands
of targets which of them are such sums, exactly, before anybody asks for the terms. These are found last, by
elimination, for the few targets that pass.

>>> from prunesymnet.operators import select_operators
>>> x, z = np.linspace(1, 3, 30), np.sin(np.arange(30.0))
>>> words = Dictionary.of([Term(np.ones(30), Constant(1)), *terms_of({"x": x, "z": z}, select_operators(["sin", "/"]))])
>>> targets = np.array([z**2 - 3 * np.sin(x) + 1, np.cos(x + z)])
>>> words.holds(targets)
array([ True, False])
>>> kept = words.shortest(targets[0], np.ones(30))
>>> [(str(term.expression), round(coefficient, 6)) for term, coefficient in kept]
[('1', 1.0), ('sin(x)', -3.0), ('z**2', 1.0)]
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import comb

import numpy as np
from numpy.typing import NDArray

from prunesymnet.bank.bank import Term
from prunesymnet.bank.monomials import SHARE_OF_ROWS, few_enough, monomial_terms, quotient_of_powers, raised
from prunesymnet.coefficients.bases import basis_in_turn, of_length_one
from prunesymnet.coefficients.linear import elimination
from prunesymnet.expression import Constant, Variable, apply
from prunesymnet.operators import Operator

Array = NDArray[np.float64]

DEPENDENT = 1e-9  # of a column's length: what others leave of it is its rounding
NEARLY_NONE = 1e-12  # of the squares of a target, as a difference: those that leave more are no sums
DIGITS = 1e-12  # of a value, and of the median of all: what an exact sum may be off in any row...
ROUNDING = 3e-15  # ...and of the largest, whose last digits are in every row of a product of matrices
STILL_SEEN = 1e-6  # of the median: rounding of the largest value must be less, or it hides all other rows
LARGEST = 1e100  # of a value: squares of larger ones leave the range of floats
WAVES = 5  # highest power of a sine, or of one with a cosine, in a product of waves
NO_WORDS = ("id", "neg", "abs", "inv", "square", "cube")  # operators that products and quotients have already


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Terms, of which the first is the constant, and an orthonormal `basis` [k, rows] of their span."""

    terms: tuple[Term, ...]
    basis: Array

    @classmethod
    def of(cls, terms: Sequence[Term]) -> "Dictionary":
        columns = np.array([term.values for term in terms])
        return cls(tuple(terms), basis_in_turn(columns, DEPENDENT))

    def and_also(self, term: Term) -> "Dictionary":
        """With one more term."""
        more, size = of_length_one(self.rest(term.values[None] / np.abs(term.values).max()))
        return Dictionary((*self.terms, term), np.vstack([self.basis, more[size > DEPENDENT]]))

    def rest(self, targets: Array) -> Array:
        """What the span leaves of targets [targets, rows]."""
        for _ in range(2):  # twice is enough for all digits
            targets = targets - (targets @ self.basis.T) @ self.basis
        return targets

    def holds(self, targets: Array) -> NDArray[np.bool_]:
        """Which of the targets [targets, rows] are sums of the terms; none that is not finite on all rows."""
        with np.errstate(all="ignore"):
            along = targets @ self.basis.T
            left = 1 - np.einsum("tk,tk->t", along, along) / np.einsum("tn,tn->t", targets, targets)
            found = np.flatnonzero(left < NEARLY_NONE)  # none of those that are not finite
            scaled, usable = of_size_one(targets[found])
        found, scaled = found[usable], scaled[usable]
        out = np.zeros(len(targets), dtype=bool)
        out[found] = is_rounding(self.rest(scaled), scaled)
        return out

    def shortest(self, target: Array, weights: Array) -> list[tuple[Term, float]]:
        """The terms that a target needs, with their coefficients, on rows that are weighted."""
        root = np.sqrt(weights)
        columns = np.array([term.values for term in self.terms]) * root
        best = min(elimination(columns, target * root, int((weights > 0).sum())), key=lambda found: found.length)
        return [(self.terms[k], coefficient) for k, coefficient in best.kept]


def of_size_one(targets: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Targets [targets, rows] divided by their largest values, and which of them can be."""
    largest = np.abs(targets).max(axis=1)
    usable = (largest > 1 / LARGEST) & (largest < LARGEST)  # false for what is not a number, too
    return targets / np.where(usable, largest, 1.0)[:, None], usable


def is_rounding(rest: Array, targets: Array) -> NDArray[np.bool_]:
    """Whether what is left of each target is rounding in every row. A sum of squares does not say so: where one row is
    far larger than all others, it looks at no other."""
    if not len(targets):
        return np.zeros(0, dtype=bool)
    size = np.abs(targets)
    usual, largest = np.median(size, axis=1, keepdims=True), size.max(axis=1, keepdims=True)
    small = np.abs(rest) <= DIGITS * (size + usual) + ROUNDING * largest
    return np.asarray((small & (ROUNDING * largest <= STILL_SEEN * usual)).all(axis=1))


def terms_of(columns: Mapping[str, Array], table: Mapping[str, Operator]) -> list[Term]:
    """What a formula may be a sum of: the columns, functions of one column, products and quotients of two, and one over
    a square; as many kinds of them, in this order, as there are rows to tell apart."""
    rows = len(next(iter(columns.values())))
    products = monomial_terms(columns, 2)
    found = products[: len(columns)]
    quotients = _quotients(columns) if {"/", "inv"} & set(table) else []
    squared = [Term(term.values**2, term.expression**2) for term in quotients[: len(columns)]]
    for kind in (
        functions_of(columns, table),
        products[len(columns) :],
        quotients[: len(columns)],
        quotients[len(columns) :],
        squared,
    ):
        usable = [term for term in kind if is_usable(term)]
        if few_enough(1 + len(found) + len(usable), rows):
            found += usable
    return found


def products_of(columns: Mapping[str, Array], table: Mapping[str, Operator]) -> list[list[Term]]:
    """Products and quotients of up to three columns, and of squares: as many kinds of them, in this order, as there are
    rows to tell apart, and the columns with as many of the other kinds."""
    rows, names = len(next(iter(columns.values()))), list(columns)
    pairs = list(combinations(names, 2))
    quotients = list(permutations(names, 2)) if {"/", "inv"} & set(table) else []
    over = names if quotients else []
    single = [term for name in names if is_usable(term := Term(columns[name], Variable(name)))]
    found: list[list[Term]] = [single]
    for kind in (  # what is above, and what is below
        [(pair, ()) for pair in pairs],
        [((one,), (two,)) for one, two in quotients],
        [((), (name,)) for name in over],
        [(pair, (name,)) for pair in pairs for name in over if name not in pair],
        [((name, name), ()) for name in names],
        [(three, ()) for three in combinations(names, 3)],
        [((), pair) for pair in pairs if over],
        [((name,), pair) for pair in pairs for name in over if name not in pair],
        [((one, one), (two,)) for one, two in quotients],
        [((one,), (two, two)) for one, two in quotients],
    ):
        terms = [term for above, below in kind if is_usable(term := _quotient(columns, above, below))]
        most = SHARE_OF_ROWS * rows - 1
        place = next((k for k, others in enumerate(found) if len(others) + len(terms) <= most), None)
        if place is not None:
            found[place] = [*found[place], *terms]
        elif len(single) + len(terms) <= most:
            found.append([*single, *terms])
    return found


def _quotient(columns: Mapping[str, Array], above: tuple[str, ...], below: tuple[str, ...]) -> Term:
    values = np.ones(len(next(iter(columns.values()))))
    with np.errstate(all="ignore"):
        for name in above:
            values = values * columns[name]
        for name in below:
            values = values / columns[name]
    powers = [(Variable(name), float(above.count(name) - below.count(name))) for name in dict.fromkeys(above + below)]
    return Term(values, quotient_of_powers(powers))


def functions_of(columns: Mapping[str, Array], table: Mapping[str, Operator]) -> list[Term]:
    """Every function of every column that is finite on the rows; the logarithm is that of the square, where a column
    changes its sign."""
    found = []
    for row in functions_in(table):
        for key, column in columns.items():
            squared = row.name == "log" and (column < 0).any()
            inside = Term(column**2, Variable(key) ** 2) if squared else Term(column, Variable(key))
            found.append(in_function(row, inside))
    return [term for term in found if is_usable(term)]


def functions_in(table: Mapping[str, Operator]) -> list[Operator]:
    """Those that products and quotients do not have already."""
    return [row for name, row in table.items() if row.arity == 1 and name not in NO_WORDS]


def in_function(row: Operator, inside: Term) -> Term:
    with np.errstate(all="ignore"):
        return Term(np.asarray(row.numpy(inside.values)), apply(row, inside.expression))


def sums_of(columns: Mapping[str, Array]) -> list[Term]:
    """Sums and differences of two columns."""
    pairs = [(Term(columns[a], Variable(a)), Term(columns[b], Variable(b))) for a, b in combinations(columns, 2)]
    added = [Term(one.values + two.values, one.expression + two.expression) for one, two in pairs]
    return added + [Term(one.values - two.values, one.expression - two.expression) for one, two in pairs]


def _quotients(columns: Mapping[str, Array]) -> list[Term]:
    """One over each column, then of each two of them."""
    with np.errstate(all="ignore"):
        over = [Term(1 / column, 1 / Variable(name)) for name, column in columns.items()]
        two = [Term(columns[a] / columns[b], Variable(a) / Variable(b)) for a, b in permutations(columns, 2)]
    return [*over, *two]


def is_usable(term: Term) -> bool:
    return bool(np.isfinite(term.values).all() and 0 < np.abs(term.values).max() < LARGEST)


def polynomials_with_a_function(
    columns: Mapping[str, Array], table: Mapping[str, Operator], beside: int = 0
) -> Iterator[tuple[Term, Dictionary]]:
    """Each function of a column, or quotient of two, and the polynomials of it and of the columns, of the highest
    degree that there are rows for, `beside` so many other terms: `(x + y - 9)*(sqrt(z) + 2)` is one of sqrt(z)."""
    rows, count = len(next(iter(columns.values()))), len(columns)
    degree = next((d for d in (3, 2) if few_enough(comb(count + 1 + d, d) + beside, rows)), 0)
    if not degree:
        return
    products = [Term(np.ones(rows), Constant(1)), *monomial_terms(columns, degree)]  # those of a lower degree first
    quotients = _quotients(columns) if {"/", "inv"} & set(table) else []
    for function in (*functions_of(columns, table), *filter(is_usable, quotients)):
        powers = [Term(function.values**k, raised(function.expression, k)) for k in range(1, degree + 1)]
        terms = [one * two for k, one in enumerate(powers, 1) for two in products[: comb(count + degree - k, count)]]
        if all(map(is_usable, terms)):
            yield function, Dictionary.of([*products, *terms])


def polynomials_of_waves(columns: Mapping[str, Array], table: Mapping[str, Operator]) -> Iterator[Dictionary]:
    """For each column the products of powers of its sine and cosine, times the other columns: any product of sums of
    these is a sum of them, as the square of a cosine is 1 less that of the sine."""
    if not {"sin", "cos"} <= set(table):
        return
    rows = len(next(iter(columns.values())))
    for name, column in columns.items():
        sine, cosine = (in_function(table[row], Term(column, Variable(name))) for row in ("sin", "cos"))
        others = [Term(values, Variable(other)) for other, values in columns.items() if other != name]
        before = [Term(np.ones(rows), Constant(1)), *others]
        powers = [Term(sine.values**k, raised(sine.expression, k)) for k in range(1, WAVES + 1)]
        waves = [*powers, cosine, *(cosine * power for power in powers[:-1])]
        terms = [*before, *(wave if k == 0 else wave * one for wave in waves for k, one in enumerate(before))]
        if few_enough(len(terms), rows) and all(map(is_usable, terms)):
            yield Dictionary.of(terms)
