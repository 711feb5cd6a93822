"""A sum that is nearly a square, of two terms or more, or a higher power; and one that is only part of a square."""

import math
from collections.abc import Iterator

from prunesymnet.expression.canonical import algebra
from prunesymnet.expression.canonical.numbers import Number, is_one, over, size
from prunesymnet.expression.canonical.terms import GROUP, Atom, Monomial, Terms, function_atom, plain, single
from prunesymnet.expression.rewriting.likeness import ABOUT, alike, exact_or_free, flat


def one_square(terms: Terms) -> Iterator[Terms]:
    """With terms a*u**2 + b*u*v + c*v**2 (and of more than two) as one square, where b is about 2*sqrt(a*c)."""
    roots = {monomial: root for monomial in terms if (root := _root(monomial)) is not None}
    left = list(roots)
    while left:
        first = left.pop(0)
        signs = {first: 1}  # of the roots in the square
        mixed: list[Monomial] = []
        for other in left:
            pairs = [_between(terms, roots, one, other) for one in signs]
            own = {sign * pair[1] for sign, pair in zip(signs.values(), pairs, strict=True) if pair is not None}
            if None not in pairs and len(own) == 1:
                signs[other] = own.pop()
                mixed += [pair[0] for pair in pairs if pair is not None]
        if mixed:
            left = [monomial for monomial in left if monomial not in signs]
            parts = {m: exact_or_free(sign * math.sqrt(terms[m] / terms[first])) for m, sign in signs.items()}
            inner = algebra.add(*(algebra.scale(roots[m], part) for m, part in parts.items()))
            rest = {m: c for m, c in terms.items() if m not in signs and m not in mixed}
            yield algebra.add(rest, algebra.scale(algebra.to_power(inner, 2), terms[first]))


def no_square(terms: Terms) -> Iterator[Terms]:
    """With a*(u + b)**2 + c multiplied out, where c is about -a*b**2: a*u**2 + 2*a*b*u may be longer, and has one
    constant less."""
    offset = terms.get((), 0)
    for monomial, factor in terms.items():
        square = next((atom.terms for atom, e in monomial if atom.rank == GROUP and e == 2 and len(monomial) == 1), {})
        own = square.get((), 0)
        if own and offset and math.isclose(offset, -factor * own * own, rel_tol=ABOUT):
            rest = {m: c for m, c in terms.items() if m not in (monomial, ())}
            yield algebra.add(rest, {m: c for m, c in flat({monomial: factor}).items() if m})


def _root(monomial: Monomial) -> Terms | None:
    """What a product is the square of, as far as that is plain; exp(x) is that of exp(x/2)."""
    root: Terms = {(): 1}
    for atom, exponent in monomial:
        if atom.function == "exp" and is_one(exponent):
            half = {m: over(c, 2) for m, c in atom.terms.items()}
            root = algebra.multiply(root, single(function_atom("exp", half, nonnegative=True)))
        elif isinstance(exponent, int) and exponent % 2 == 0:
            root = algebra.multiply(root, {((atom, exponent // 2),): 1})
        else:
            return None
    return root


def _between(terms: Terms, roots: dict[Monomial, Terms], one: Monomial, two: Monomial) -> tuple[Monomial, int] | None:
    """The term that two squares have between them if they are parts of one, and its sign; None if there is none."""
    if terms[one] * terms[two] < 0:
        return None
    shape = next(iter(algebra.multiply(roots[one], roots[two])))
    wanted = 2 * math.sqrt(float(terms[one] * terms[two]))
    for monomial, coefficient in terms.items():
        if alike(monomial, shape, ABOUT) and math.isclose(size(coefficient), wanted, rel_tol=ABOUT):
            return monomial, 1 if coefficient * terms[one] > 0 else -1
    return None


def one_power(terms: Terms) -> Iterator[Terms]:
    """With a polynomial a*u**n + b*u**(n - 1) + ... of degree three or more, where u is an atom or a power of one, as
    a*(u + s)**n and what is left of it: a constant, or where all numbers are whole, fewer terms."""
    for atom in dict.fromkeys(atom for monomial in terms for atom, e in monomial if isinstance(e, int) and e > 2):
        polynomials: dict[Monomial, dict[int, Number]] = {}  # by what stands beside the powers
        for monomial, coefficient in terms.items():
            beside, exponent = _apart(monomial, atom)
            if isinstance(exponent, int) and exponent >= 0:
                polynomials.setdefault(beside, {})[exponent] = coefficient
        for beside, powers in polynomials.items():
            step = math.gcd(*powers) or 1
            powers = {exponent // step: coefficient for exponent, coefficient in powers.items()}
            degree = max(powers)
            if degree < 3 or degree - 1 not in powers:
                continue
            leading = powers[degree]
            shift = exact_or_free(float(over(powers[degree - 1], degree * leading)))
            multiplied = {k: math.comb(degree, k) * shift ** (degree - k) * leading for k in range(degree)}
            whole = all(isinstance(value, int) for value in (shift, *powers.values()))
            about = 0.0 if whole else ABOUT
            left = {k: c for k in range(degree - 1) if (c := _less(powers.get(k, 0), multiplied[k], about))}
            if 1 + len(left) < len(powers) and (whole or set(left) <= {0}):
                inner = algebra.add(_power(atom, step), plain(shift))
                power = algebra.scale(algebra.to_power(inner, degree), leading)
                taken = {_apart(m, atom): m for m in terms}
                rest = algebra.add(terms, *({taken[beside, step * k]: -c} for k, c in powers.items()))
                others = (algebra.multiply({beside: c}, _power(atom, step * k)) for k, c in left.items())
                yield algebra.add(rest, algebra.multiply({beside: 1}, power), *others)


def _apart(monomial: Monomial, atom: Atom) -> tuple[Monomial, Number]:
    """What stands beside the power of an atom, and its exponent."""
    return tuple(part for part in monomial if part[0] != atom), next((e for a, e in monomial if a == atom), 0)


def _power(atom: Atom, exponent: int) -> Terms:
    return {((atom, exponent),): 1} if exponent else {(): 1}


def _less(one: Number, two: Number, about: float) -> Number:
    """The difference of two constants; 0 where they are about the same."""
    return 0 if math.isclose(one, two, rel_tol=about) else one - two
