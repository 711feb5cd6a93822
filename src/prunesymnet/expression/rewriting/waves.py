"""Products and sums of sines and cosines of one argument that are single waves, each with a phase."""

import cmath
import math
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import product

from prunesymnet.expression.canonical import algebra
from prunesymnet.expression.canonical.numbers import OutOfRange
from prunesymnet.expression.canonical.terms import Monomial, Terms, constant_value, function_atom, plain, to_tree
from prunesymnet.expression.rewriting.likeness import HIGHEST_POWER, ROUNDING, exact_or_free, same

WAVES = ("sin", "cos")
Fourier = dict[int, complex]  # of a function of u: the factors of exp(i*k*u)


def one_wave(terms: Terms) -> Iterator[Terms]:
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
    return argument if argument and all(same(_without_phase(atom.terms), argument) for atom, _ in waves) else None


def _has_argument(monomial: Monomial, argument: Terms) -> bool:
    own = _argument(monomial)
    return own is not None and same(own, argument)


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
            found.append(plain(exact_or_free(value.real)))
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
            found.append({((function_atom(wave, inner), 1),): exact_or_free(sign * 2 * abs(value))})
    return found
