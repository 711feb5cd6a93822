"""Sums, products and powers of sums of terms, and the functions that mix with them: exp, log and abs.

Every function takes sums in canonical form and returns one.
"""

import math
from functools import reduce

import numpy as np

from prunesymnet.expression.canonical.numbers import (
    Number,
    OutOfRange,
    content,
    is_even,
    is_exact,
    is_one,
    is_whole,
    number,
    over,
    raised,
    size,
    times,
)
from prunesymnet.expression.canonical.terms import (
    GROUP,
    Atom,
    Monomial,
    Terms,
    constant_value,
    function_atom,
    group_atom,
    is_number,
    number_atom,
    number_tree,
    opaque_atom,
    plain,
    single,
    sort_terms,
    to_tree,
)
from prunesymnet.expression.tree import Constant, power

Powers = dict[Atom, Number]


def add(*parts: Terms) -> Terms:
    total: Terms = dict(parts[0]) if parts else {}  # a sum of thousands of terms is made by adding one at a time
    for part in parts[1:]:
        for monomial, coefficient in part.items():
            _add_into(total, monomial, coefficient)
    return _absorb_constants(total)


def _add_into(total: Terms, monomial: Monomial, coefficient: Number) -> None:
    merged = number(total.get(monomial, 0) + coefficient)
    if merged == 0:
        total.pop(monomial, None)
    else:
        total[monomial] = merged


def _absorb_constants(terms: Terms) -> Terms:
    """A float constant term takes up exact ones beside it: pi + 0.5 is one number."""
    if isinstance(terms.get(()), float):
        for monomial in [m for m in terms if m and all(atom.constant for atom, _ in m)]:
            _add_into(terms, (), math.prod(_folded(*factor) for factor in monomial) * terms.pop(monomial))
    return terms


def _folded(atom: Atom, exponent: Number) -> float:
    """The value of a power of a constant atom."""
    with np.errstate(all="ignore"):
        value = float(np.power(constant_value(atom.tree), float(exponent)))
    if not math.isfinite(value) or value == 0:
        raise OutOfRange
    return value


def scale(terms: Terms, factor: Number) -> Terms:
    """A multiple of a sum. A free factor of a sum of exact terms stays outside: it is one constant there
    and would be several inside."""
    if factor == 0:
        return {}
    if is_one(factor):
        return terms
    if not is_exact(factor) and sum(map(is_exact, terms.values())) > 1:
        outside, group = _group(terms, 1)
        return {((group, 1),): times(factor, outside)}
    scaled: Terms = {}
    for monomial, coefficient in terms.items():
        # A term that was exact may hold exact factors, which a float takes up.
        for m, c in term(times(coefficient, factor), dict(monomial)).items():
            _add_into(scaled, m, c)
    return _absorb_constants(scaled)


def multiply(a: Terms, b: Terms) -> Terms:
    if not a or not b:
        return {}
    if is_number(a):
        return scale(b, a[()])
    if is_number(b):
        return scale(a, b[()])
    coefficient: Number = 1
    powers: Powers = {}
    for terms in (a, b):
        if len(terms) == 1:
            ((monomial, own),) = terms.items()
        else:
            own, group = _group(terms, 1)
            monomial = ((group, 1),)
        coefficient = times(coefficient, own)
        for atom, exponent in monomial:
            _multiply_in(powers, atom, exponent)
    return term(coefficient, powers)


def _multiply_in(powers: Powers, atom: Atom, exponent: Number) -> None:
    powers[atom] = number(powers.get(atom, 0) + exponent)


def term(coefficient: Number, powers: Powers) -> Terms:
    """A coefficient times powers of atoms, tidied up: one exp, no zero powers, numbers taken up."""
    exponentials = [atom for atom in powers if atom.function == "exp"]
    if len(exponentials) > 1 or any(not is_one(powers[atom]) for atom in exponentials):
        rest = {atom: e for atom, e in powers.items() if atom.function != "exp"}
        return multiply(exp(add(*(scale(a.terms, powers[a]) for a in exponentials))), term(coefficient, rest))
    unsigned = [atom for atom, e in powers.items() if atom.function == "abs" and is_whole(e) and is_even(e) and e]
    if unsigned:  # abs(u)**2 is u**2
        rest = {atom: e for atom, e in powers.items() if atom not in unsigned}
        return reduce(multiply, (to_power(atom.terms, powers[atom]) for atom in unsigned), term(coefficient, rest))
    products = [atom for atom, e in powers.items() if len(atom.terms) == 1 and atom.rank == GROUP and is_whole(e)]
    if products:
        # A product stood together under a root; with a whole power it dissolves.
        rest = {atom: e for atom, e in powers.items() if atom not in products}
        return reduce(multiply, (to_power(atom.terms, powers[atom]) for atom in products), term(coefficient, rest))
    if not is_exact(coefficient):
        coefficient, powers = _with_factors_of_exp(*_lead_by_one(coefficient, powers))
    factors: list[tuple[Atom, Number]] = []
    for atom, exponent in powers.items():
        if exponent == 0:
            continue
        folded: Number | None = None
        if atom.constant and not (is_exact(coefficient) and is_exact(exponent)):
            folded = _folded(atom, exponent)  # 0.5*pi is one float
        elif isinstance(atom.tree, Constant) and is_whole(exponent):
            folded = raised(atom.tree.value, exponent)  # sqrt(2)*sqrt(2) is 2
        if folded is None:
            factors.append((atom, exponent))
        else:
            coefficient = times(coefficient, folded)
    if len(factors) == 1 and factors[0][0].rank == GROUP and is_one(factors[0][1]):
        group = factors[0][0].terms
        if is_exact(coefficient) or sum(map(is_exact, group.values())) <= 1:
            return scale(group, coefficient)
    factors.sort(key=lambda factor: factor[0].sort_key())
    return {tuple(factors): coefficient} if coefficient != 0 else {}


def _lead_by_one(coefficient: Number, powers: Powers) -> tuple[Number, Powers]:
    """Beside a free coefficient, a group with a single exact term is as good as free: 2.0*(0.5*x + 1) is
    1.0*(x + 2.0), and only one of the two ways of writing it may stand."""
    result: Powers = {}
    for atom, exponent in powers.items():
        member = atom
        if atom.rank == GROUP and is_whole(exponent) and sum(map(is_exact, atom.terms.values())) == 1:
            outside, member = _group(scale(atom.terms, 1.0), exponent)
            coefficient = times(coefficient, outside)
        _multiply_in(result, member, exponent)
    return coefficient, result


def _with_factors_of_exp(coefficient: Number, powers: Powers) -> tuple[Number, Powers]:
    """A free coefficient takes up the number in an exponential: 0.5*exp(x + 2) is a multiple of exp(x)."""
    result: Powers = {}
    for atom, exponent in powers.items():
        member = atom
        if atom.function == "exp" and len(atom.terms) > 1 and () in atom.terms:
            coefficient = times(coefficient, _folded(function_atom("exp", {(): atom.terms[()]}), exponent))
            member = function_atom("exp", {m: c for m, c in atom.terms.items() if m}, nonnegative=True)
        _multiply_in(result, member, exponent)
    return coefficient, result


def _group(terms: Terms, exponent: Number) -> tuple[Number, Atom]:
    """A sum as an atom, and the factor that comes out of it when it is raised to `exponent`: such that the
    first coefficient becomes 1 where all are free, such that the exact ones have no common divisor else."""
    ordered = sort_terms(terms)
    first, lead = ordered[0]
    exact = [c for _, c in ordered if is_exact(c)]
    factor: Number = 1
    if not exact:
        factor = lead if is_whole(exponent) else size(lead)
    elif is_whole(exponent):
        factor = -content(exact) if lead < 0 else content(exact)
    outside = None if is_one(factor) else raised(factor, exponent)
    if outside is None:
        return 1, group_atom(terms)
    inside = {m: over(c, factor) for m, c in ordered}
    if not exact:
        inside[first] = 1 if lead / factor > 0 else -1
    return outside, group_atom(inside)


# ---- powers -------------------------------------------------------------------------------------


def to_power(terms: Terms, exponent: Number) -> Terms:
    if is_exact(exponent) and exponent == 0:
        return {(): 1}
    if is_one(exponent):
        return terms
    if is_number(terms):
        return _power_of_number(terms.get((), 0), exponent)
    if len(terms) > 1:
        outside, group = _group(terms, exponent)
        return term(outside, {group: exponent})
    ((monomial, coefficient),) = terms.items()
    if not is_whole(exponent):
        return _broken_power(coefficient, monomial, exponent)
    outside_or_none = raised(coefficient, exponent)
    if outside_or_none is None:
        raise OutOfRange
    return term(outside_or_none, {atom: number(e * exponent) for atom, e in monomial})


def _power_of_number(base: Number, exponent: Number) -> Terms:
    value = raised(base, exponent)
    if value is not None:
        return plain(value)
    if isinstance(base, float) or isinstance(exponent, float) or base <= 0:
        return single(opaque_atom(power(number_tree(base), number_tree(exponent))))
    result: Terms = {(): 1}
    for part, power_of_part in zip(base.as_integer_ratio(), (exponent, -exponent), strict=True):
        root = raised(part, power_of_part)
        result = multiply(result, plain(root) if root is not None else {((number_atom(part), power_of_part),): 1})
    return result


def _broken_power(coefficient: Number, monomial: Monomial, exponent: Number) -> Terms:
    """A product to a power that is not whole: what is known not to be negative comes out of it."""
    if is_exact(coefficient) and not is_one(coefficient) and not is_exact(exponent):
        # 2**c would be one more free constant: (2*x)**c stays together.
        return term(1, {group_atom({monomial: coefficient}): exponent})
    outside: Powers = {}
    inside: Powers = {}
    for atom, e in monomial:
        if atom.nonnegative:
            _multiply_in(outside, atom, e * exponent)
        elif is_even(e):
            _multiply_in(outside, function_atom("abs", _as_sum(atom), nonnegative=True), e * exponent)
        else:
            inside[atom] = e
    factor: Number = 1
    if not is_one(coefficient) and (not is_exact(coefficient) or (not inside and coefficient > 0)):
        value = raised(size(coefficient), exponent)
        if value is not None:
            factor, coefficient = value, 1 if coefficient > 0 else -1
    if is_one(coefficient) and len(inside) <= 1:
        # (b**e)**n is b**(e*n): e is odd or broken, so b was not negative where the power was defined.
        for atom, e in inside.items():
            _multiply_in(outside, atom, e * exponent)
    elif inside:
        _multiply_in(outside, group_atom(term(coefficient, inside)), exponent)
    elif not is_one(coefficient):
        return multiply(term(factor, outside), _power_of_number(coefficient, exponent))
    return term(factor, outside)


def _as_sum(atom: Atom) -> Terms:
    return term(1, {atom: 1})


# ---- functions that turn sums into products, products into sums, or drop signs ------------------


def exp(inner: Terms) -> Terms:
    """exp of a sum: logarithms and a float constant in it come out as factors."""
    rest: Terms = {}
    factor: Terms = {(): 1}
    for monomial, coefficient in inner.items():
        if not monomial and not is_exact(coefficient):
            if size(coefficient) > 700:
                raise OutOfRange
            factor = multiply(factor, {(): math.exp(coefficient)})
        elif len(monomial) == 1 and monomial[0][0].function == "log" and is_one(monomial[0][1]):
            factor = multiply(factor, to_power(monomial[0][0].terms, coefficient))
        elif sum(atom.function == "log" and is_one(e) for atom, e in monomial) == 1:
            # exp(y*log(x)) is x**y, and has the same domain.
            (base,) = (atom for atom, e in monomial if atom.function == "log" and is_one(e))
            exponent: Terms = {tuple(part for part in monomial if part[0] != base): coefficient}
            factor = multiply(factor, single(opaque_atom(power(to_tree(base.terms), to_tree(exponent)))))
        else:
            rest[monomial] = coefficient
    if not rest:
        return factor
    return multiply(factor, single(function_atom("exp", rest, nonnegative=True)))


def log(inner: Terms) -> Terms:
    """log of a product: what is known to be positive comes out as a sum."""
    if len(inner) > 1:
        if any(map(is_exact, inner.values())):
            return single(function_atom("log", inner))
        # A power that is not whole takes the size out of a group and leaves its sign.
        _, group = _group(inner, 0.5)
        return add(plain(math.log(size(sort_terms(inner)[0][1]))), single(function_atom("log", group.terms)))
    ((monomial, coefficient),) = inner.items()
    outside: Terms = {}
    rest: Powers = {}
    for atom, exponent in monomial:
        if atom.function == "exp":
            outside = add(outside, scale(atom.terms, exponent))
        else:
            rest[atom] = exponent
    if not is_exact(coefficient):
        outside = add(outside, plain(math.log(size(coefficient))))
        coefficient = 1 if coefficient > 0 else -1
    if not rest:
        return add(outside, {} if is_one(coefficient) else single(function_atom("log", {(): coefficient})))
    ((atom, exponent), *others) = rest.items()
    if not others and is_one(coefficient) and not is_one(exponent) and not is_even(exponent):
        return add(outside, scale(single(function_atom("log", _as_sum(atom))), exponent))
    return add(outside, single(function_atom("log", term(coefficient, rest))))


def without_abs(inner: Terms) -> Terms:
    """A product with u for abs(u), which at most changes its sign."""
    ((monomial, coefficient),) = inner.items()
    unsigned = [(atom, e) for atom, e in monomial if atom.function == "abs" and is_whole(e)]
    rest = {atom: e for atom, e in monomial if (atom, e) not in unsigned}
    return reduce(multiply, (to_power(atom.terms, e) for atom, e in unsigned), term(coefficient, rest))


def absolute(inner: Terms) -> Terms:
    if len(inner) > 1:
        outside, group = _group(inner, 1)
        return {((function_atom("abs", group.terms, nonnegative=True), 1),): size(outside)}
    ((monomial, coefficient),) = inner.items()
    powers: Powers = {}
    rest: Powers = {}
    for atom, exponent in monomial:
        # A broken power is not negative where it is defined.
        keeps = atom.nonnegative or is_even(exponent) or exponent != int(exponent)
        (powers if keeps else rest)[atom] = exponent
    if rest:
        _multiply_in(powers, function_atom("abs", term(1, rest), nonnegative=True), 1)
    return term(size(coefficient), powers)
