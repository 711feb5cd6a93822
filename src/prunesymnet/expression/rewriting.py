"""What a formula may be with fewer constants: a sum that is nearly a square, a higher power or a product of sums, waves
that are nearly one, a quotient that nearly divides, two constants that are nearly the same.

>>> from prunesymnet.expression.parsing import parse
>>> print(*fewer_constants(parse("4.0*x**2 - 12.0*x*y + 9.0*y**2 + 1.5")), sep=" | ")
4.0*(x - 1.5*y)**2 + 1.5
>>> print(*fewer_constants(parse("2.0*x**3 - 6.0*x**2 + 6.0*x + y")), sep=" | ")
y + 2.0*(x - 1)**3 + 2.0
>>> print(*fewer_constants(parse("x*y + 3.0*x + 0.5*y + 1.5 - z")), sep=" | ")
(x + 0.5)*(y + 3) - z | (x + 0.5)*(y + 3.0) - z
>>> print(*fewer_constants(parse("0.6*cos(x) + 0.8*sin(x) + exp(x)")), sep=" | ")
cos(x - 0.9272952180016123) + exp(x)
>>> print(*fewer_constants(parse("(0.6*y - x + 2.4)/(y + 4.0)")), sep=" | ")
0.6 - x/(y + 4.0)
>>> print(*tied(parse("2.5 - 2.499*exp(-x)")), sep=" | ")
2.5*(1 - exp(-x))

A search finds a law in the form in which its terms stand side by side, as that is linear in its constants, and there it
has more of them than the law: of a square of two terms three. These forms have the constants that follow from the
formula's; whether they are the law, a fit must say.
"""

import cmath
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations, product

from prunesymnet.expression.canonical import algebra, canonical, to_terms
from prunesymnet.expression.canonical.numbers import Number, OutOfRange, is_one, number, over, size
from prunesymnet.expression.canonical.terms import (
    GROUP,
    Atom,
    Monomial,
    Terms,
    constant_value,
    function_atom,
    plain,
    single,
    to_tree,
)
from prunesymnet.expression.tree import Apply, Expression, postorder, replaced

RATIOS = [Fraction(p, q) for p in range(1, 5) for q in range(1, 5)]  # of two constants that may be one
ABOUT = 0.05  # a constant within so much of what it may be: the fit decides
SAME = 1e-6  # constants inside of two functions that are one
ROUNDING = 1e-9  # of a number: what is so near a whole one was that, before roots and quotients were taken
LARGEST = 10**6  # whole number that one is taken for: any larger float is as near to one
MOST_TERMS = 30  # of a sum: pairs of them are looked at
HIGHEST_POWER = 3  # of a sum or a wave that is multiplied out

WAVES = ("sin", "cos")
Fourier = dict[int, complex]  # of a function of u: the factors of exp(i*k*u)


def fewer_constants(expression: Expression) -> Iterator[Expression]:
    """The forms, each with one sum or quotient written in another way; the outermost first."""
    as_it_is = canonical(expression)
    nodes = postorder(expression)
    inside = {id(part) for node in nodes if _is_sum(node) for part in node.operands}
    for place in reversed(range(len(nodes))):
        node = nodes[place]
        if not isinstance(node, Apply) or (id(node) in inside and _is_sum(node)):
            continue
        try:
            others = (canonical(replaced(expression, place, other)) for other in _other_forms(node))
            yield from (other for other in others if other != as_it_is)
        except (OverflowError, OutOfRange):
            continue


def _other_forms(node: Apply) -> list[Expression]:
    """Of a sum or a quotient, those that are no longer."""
    if _is_sum(node):
        terms = _flat(to_terms(node))
        forms = [to_tree(form) for form in (terms, *_one_square(terms), *_one_power(terms), *_one_wave(terms))]
        forms += _one_product(terms)
    elif node.operator.name == "/":
        above, below = node.operands
        divided = _divided(_flat(to_terms(above)), _flat(to_terms(below)))
        forms = [to_tree(whole) + to_tree(rest) / below for whole, rest in divided]
        free = len(node.constants)  # a quotient of lines has as many as a number and one over a line: it stays
        forms = [form for form in forms if len(form.constants) < free or not free]
    else:
        return []
    return [form for form in dict.fromkeys(forms) if form.complexity <= node.complexity]


def _is_sum(node: Expression) -> bool:
    return isinstance(node, Apply) and node.operator.name in ("+", "-")


def _flat(terms: Terms) -> Terms:
    """A sum multiplied out, also where that writes a constant more than once: what is made of it has fewer. OutOfRange
    where it has too many terms."""
    total: Terms = {}
    for monomial, coefficient in terms.items():
        parts: Terms = {(): coefficient}
        for atom, exponent in monomial:
            sums = atom.rank == GROUP and isinstance(exponent, int) and 0 < exponent <= HIGHEST_POWER
            factors = [_flat(atom.terms)] * int(exponent) if sums else [{((atom, exponent),): 1}]
            for factor in factors:
                if len(parts) * len(factor) > MOST_TERMS:
                    raise OutOfRange
                pairs = product(parts.items(), factor.items())
                parts = algebra.add({}, *(algebra.multiply({m: p}, {n: q}) for (m, p), (n, q) in pairs))
        total = algebra.add(total, parts)
    if len(total) > MOST_TERMS:
        raise OutOfRange
    return total


def _exact_or_free(value: float) -> Number:
    """A whole number where it is one but for rounding."""
    whole = round(value)
    return whole if 0 < abs(whole) <= LARGEST and abs(value - whole) <= ROUNDING * abs(value) else value


def _alike(one: Monomial, two: Monomial, within: float) -> bool:
    """Whether two products are the same but for constants inside, which are about the same."""
    return len(one) == len(two) and all(
        a.order == b.order
        and math.isclose(e, f, rel_tol=within)
        and all(math.isclose(p, q, rel_tol=within) for p, q in zip(a.tree.constants, b.tree.constants, strict=True))
        for (a, e), (b, f) in zip(one, two, strict=True)
    )


# ---- squares ------------------------------------------------------------------------------------


def _one_square(terms: Terms) -> Iterator[Terms]:
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
            parts = {m: _exact_or_free(sign * math.sqrt(terms[m] / terms[first])) for m, sign in signs.items()}
            inner = algebra.add(*(algebra.scale(roots[m], part) for m, part in parts.items()))
            rest = {m: c for m, c in terms.items() if m not in signs and m not in mixed}
            yield algebra.add(rest, algebra.scale(algebra.to_power(inner, 2), terms[first]))


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
        if _alike(monomial, shape, ABOUT) and math.isclose(size(coefficient), wanted, rel_tol=ABOUT):
            return monomial, 1 if coefficient * terms[one] > 0 else -1
    return None


# ---- higher powers ------------------------------------------------------------------------------


def _one_power(terms: Terms) -> Iterator[Terms]:
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
            shift = _exact_or_free(float(over(powers[degree - 1], degree * leading)))
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


# ---- waves --------------------------------------------------------------------------------------


def _one_wave(terms: Terms) -> Iterator[Terms]:
    """With products and sums of sines and cosines of one argument as single ones: those of the argument and of its
    multiples, each with a phase."""
    done: set[Monomial] = set()
    for monomial in terms:
        argument = _argument(monomial)
        if monomial in done or argument is None:
            continue
        others = {m: c for m, c in terms.items() if _has_argument(m, argument) and _factors(m) == _factors(monomial)}
        done |= others.keys()
        if len(others) == 1 and sum(int(e) for atom, e in monomial if atom.function in WAVES) == 1:
            continue
        series: Fourier = {}
        for member, coefficient in others.items():
            for k, value in _series(member).items():
                series[k] = series.get(k, 0) + value * float(coefficient)
        names = {atom.function for member in others for atom, _ in member if atom.function in WAVES}
        waves = _waves(series, argument, "cos" if "cos" in names else "sin")
        factor: Terms = {_factors(monomial): 1}
        rest = {m: c for m, c in terms.items() if m not in others}
        yield algebra.add(rest, *(algebra.multiply(factor, wave) for wave in waves))


def _factors(monomial: Monomial) -> Monomial:
    """All but the waves."""
    return tuple((atom, e) for atom, e in monomial if atom.function not in WAVES)


def _argument(monomial: Monomial) -> Terms | None:
    """What the waves in a product are of, but for phases; None where there are none, or they are of different ones."""
    waves = [(atom, e) for atom, e in monomial if atom.function in WAVES]
    if not waves or not all(isinstance(e, int) and 0 < e <= HIGHEST_POWER for _, e in waves):
        return None
    argument = _without_phase(waves[0][0].terms)
    return argument if argument and all(_same(_without_phase(atom.terms), argument) for atom, _ in waves) else None


def _has_argument(monomial: Monomial, argument: Terms) -> bool:
    own = _argument(monomial)
    return own is not None and _same(own, argument)


def _same(one: Terms, two: Terms) -> bool:
    return len(one) == len(two) and all(
        _alike(m, n, SAME) and math.isclose(c, d, rel_tol=SAME)
        for (m, c), (n, d) in zip(one.items(), two.items(), strict=True)
    )


def _without_phase(inner: Terms) -> Terms:
    return {m: c for m, c in inner.items() if not all(atom.constant for atom, _ in m)}


def _series(monomial: Monomial) -> Fourier:
    """The Fourier series of a product of waves, as a function of their argument."""
    series: Fourier = {0: 1.0 + 0.0j}
    for atom, exponent in monomial:
        if atom.function in WAVES:
            phase = constant_value(to_tree({m: c for m, c in atom.terms.items() if all(a.constant for a, _ in m)}))
            if not math.isfinite(phase):
                raise OutOfRange
            half = cmath.exp(1j * (phase - (math.pi / 2 if atom.function == "sin" else 0.0))) / 2
            series = reduce(_convolved, [{1: half, -1: half.conjugate()}] * int(exponent), series)
    return series


def _convolved(one: Fourier, two: Fourier) -> Fourier:
    result: Fourier = {}
    for (k, a), (m, b) in product(one.items(), two.items()):
        result[k + m] = result.get(k + m, 0) + a * b
    return result


def _waves(series: Fourier, argument: Terms, name: str) -> Sequence[Terms]:
    """The terms of a Fourier series, without those that rounding has left."""
    if not all(map(cmath.isfinite, series.values())):
        raise OutOfRange
    least = ROUNDING * max(map(abs, series.values()))
    found = []
    for k, value in sorted(series.items()):
        if k == 0 and abs(value) > least:
            found.append(plain(_exact_or_free(value.real)))
        elif k > 0 and abs(value) > least:
            phase = cmath.phase(value)
            quarters = round(phase / (math.pi / 2))
            if abs(phase - quarters * math.pi / 2) <= ROUNDING:
                wave, sign = ("sin", -1) if quarters % 2 else ("cos", 1)
                sign = sign if quarters in (0, 1) else -sign
                inner = algebra.scale(argument, k)
            else:
                wave, sign = name, 1
                phase += math.pi / 2 if name == "sin" else 0.0
                inner = algebra.add(algebra.scale(argument, k), plain(math.remainder(phase, 2 * math.pi)))
            found.append({((function_atom(wave, inner), 1),): _exact_or_free(sign * 2 * abs(value))})
    return found


# ---- products -----------------------------------------------------------------------------------


def _one_product(terms: Terms) -> Iterator[Expression]:
    """As a product of two sums, and what is left: what stands beside a factor in several terms may stand, times other
    things, in the rest of the sum as well."""
    tried: set[tuple[Monomial, ...]] = set()
    for factor in dict.fromkeys(part for monomial in terms for part in monomial):
        beside = {_without(m, factor): c for m, c in terms.items() if factor in m}
        if not 2 <= len(beside) <= len(terms) / 2 or tuple(beside) in tried:
            continue
        tried.add(tuple(beside))
        first = next(iter(beside.values()))
        sum_of = {m: _exact_or_free(float(over(c, first))) for m, c in beside.items()}
        whole, rest = _multiples(terms, sum_of)
        if len(whole) > 1:
            yield to_tree(sum_of) * to_tree(whole) + to_tree(rest)


def _multiples(terms: Terms, sum_of: Terms) -> tuple[Terms, Terms]:
    """By what another sum can be multiplied so that all terms of the product are among these, about; and the rest."""
    whole: Terms = {}
    rest = dict(terms)
    leading = algebra.to_power({next(iter(sum_of)): 1}, -1)
    for monomial, coefficient in terms.items():
        if monomial in rest:
            part = algebra.multiply({monomial: coefficient}, leading)
            taken = {_match(rest, entry) for entry in _times(part, sum_of)}
            if None not in taken and len(taken) == len(sum_of):
                whole = algebra.add(whole, part)
                rest = {m: c for m, c in rest.items() if m not in taken}
    return whole, rest


def _without(monomial: Monomial, factor: tuple[Atom, Number]) -> Monomial:
    return tuple(part for part in monomial if part != factor)


# ---- quotients ----------------------------------------------------------------------------------


def _divided(above: Terms, below: Terms) -> Iterator[tuple[Terms, Terms]]:
    """What a sum divided by another is, and what is left to be divided, as long as each step leaves fewer terms."""
    if len(below) < 2:
        return
    whole: Terms = {}
    while len(above) > 1:
        steps = [_step(above, below, m, n) for m, n in product(above, below)]
        part, rest = min(steps, key=lambda step: len(step[1]))
        if len(rest) >= len(above):
            break
        whole, above = algebra.add(whole, part), rest
        yield whole, above


def _step(above: Terms, below: Terms, one: Monomial, two: Monomial) -> tuple[Terms, Terms]:
    """The quotient of a term above and one below, and what is left above without it."""
    part = algebra.multiply({one: above[one]}, algebra.to_power({two: below[two]}, -1))
    left = dict(above)
    for taken, coefficient in _times(part, below):
        match = _match(left, (taken, coefficient))
        if match is not None:
            del left[match]
        else:
            left = algebra.add(left, {taken: -coefficient})
    return part, left


def _match(terms: Terms, entry: tuple[Monomial, Number]) -> Monomial | None:
    """The term that is about this one."""
    monomial, coefficient = entry
    own = monomial if monomial in terms else next((m for m in terms if _alike(m, monomial, SAME)), None)
    return own if own is not None and math.isclose(terms[own], coefficient, rel_tol=ABOUT) else None


def _times(part: Terms, terms: Terms) -> list[tuple[Monomial, Number]]:
    return [entry for m, c in terms.items() for entry in algebra.multiply(part, {m: c}).items()]


# ---- one constant for two ------------------------------------------------------------------------


def tied(expression: Expression) -> Iterator[Expression]:
    """The formulas in which two terms of the sum share one free constant, where their constants have about a simple
    ratio; the nearest first, each made when it is asked for: of a hundred terms there are thousands."""
    try:
        terms = to_terms(expression)
    except (OverflowError, OutOfRange):
        return
    free = [(monomial, c) for monomial, c in terms.items() if isinstance(c, float)]
    found = []
    for (one, a), (two, b) in combinations(free, 2):
        ratio = abs(b / a)
        simple = min(RATIOS, key=lambda r: (abs(ratio / float(r) - 1), r.denominator))
        off = abs(ratio / float(simple) - 1)
        if off < ABOUT:
            found.append((off, one, two, a, simple if a * b > 0 else -simple))
    for _, one, two, a, simple in sorted(found, key=lambda entry: entry[0]):
        inner = algebra.add(_summed(one), algebra.scale(_summed(two), number(simple)))
        rest = {m: c for m, c in terms.items() if m not in (one, two)}
        try:
            yield to_tree(algebra.add(rest, algebra.scale(inner, a)))
        except (OverflowError, OutOfRange):
            continue


def _summed(monomial: Monomial) -> Terms:
    """A term without its coefficient; a sum that stands alone as a factor is that sum."""
    if len(monomial) == 1 and monomial[0][0].rank == GROUP and monomial[0][1] == 1:
        return monomial[0][0].terms
    return {monomial: 1}
