"""Random laws: a product of powers of the columns times a function of one group of them, M(x)*g(N(x)), as most laws of
physics are; drawn anew from another seed for each release (`benchmarks.conditions.LAWS`), and not looked at one by one.

`load("laws-7")` is the set of seed 7: 100 laws, 20 for each of four to eight columns.

- The group N has two to four of the columns, each to the power 1 or -1, one in four of them to the power 2 or -2.
- g is drawn as a random formula of one variable is (`random_formulas`), with two to four operators, and is no power of
  its variable.
- M has each column that is not in the group to a power of 1 or -1, 2 or -2, or 1/2 or -1/2 (a half, a quarter and a
  quarter of the time), and one in three of the group's columns, too.

A law is kept if its points can be drawn and show all of it, as for random formulas: the columns go from 1 to 3, and
stay positive when the box is widened. Nothing here looks at what any search can do.
"""

from collections.abc import Iterator
from functools import reduce
from itertools import islice

import numpy as np

from benchmarks.problems import Problem
from benchmarks.problems.random_formulas import long_enough, random_tree, shows
from prunesymnet.expression import Constant, Expression, Variable, canonical, evaluate, fingerprint

COLUMNS = (4, 5, 6, 7, 8)
NAMES = ("a", "b", "c", "d", "p", "q", "r", "s")
BOX = (1.0, 3.0)
OPERATORS = (2, 3, 4)  # of the function of the group
STRAIGHT = 1e-3  # of the variation of log|g| that is left beside a line in log N: a power of N is no function of it
PROBES = np.geomspace(0.1, 10, 64)  # values of a group


def draw(count: int = 100, *, seed: int) -> list[Problem]:
    """The laws of a seed; `count` must be a multiple of 5, the numbers of columns.

    >>> first = draw(5, seed=1)[0]
    >>> first.name, len(first.ranges)
    ('laws-1-4v-01', 4)
    """
    if count < len(COLUMNS) or count % len(COLUMNS):
        raise ValueError(f"count must be a multiple of {len(COLUMNS)}, as many for each number of columns, got {count}")
    known: set[str] = set()
    found = []
    for columns in COLUMNS:
        rng = np.random.default_rng((seed, columns))
        for number, law in enumerate(islice(_kept(columns, rng, known), count // len(COLUMNS)), 1):
            name = f"laws-{seed}-{columns}v-{number:02d}"
            found.append(Problem(name, f"laws-{seed}", law, dict.fromkeys(law.variables, BOX)))
    return found


def _kept(columns: int, rng: np.random.Generator, known: set[str]) -> Iterator[Expression]:
    names = NAMES[:columns]
    while True:
        curve = _curve(rng)
        if curve is None:
            continue
        law = canonical(_law(names, curve, rng))
        if law.variables != tuple(sorted(names)) or not long_enough(law, 0) or not shows(law, BOX):
            continue
        key = fingerprint(law)
        if key not in known:
            known.add(key)
            yield law


def _curve(rng: np.random.Generator) -> Expression | None:
    """A function of one variable that is no power of it."""
    operators = int(rng.choice(OPERATORS))
    drawn = random_tree(("x",), operators, rng)
    if drawn is None:
        return None
    curve = canonical(drawn)
    if curve.variables != ("x",) or not long_enough(curve, operators):
        return None
    values, finite = evaluate(curve, {"x": PROBES})
    usable = finite & (values != 0)
    if usable.sum() < len(PROBES) / 2:
        return None
    logs = np.log(np.abs(values[usable]))
    line = np.polynomial.Polynomial.fit(np.log(PROBES[usable]), logs, 1)
    return curve if np.var(logs - line(np.log(PROBES[usable]))) > STRAIGHT * np.var(logs) else None


def _law(names: tuple[str, ...], curve: Expression, rng: np.random.Generator) -> Expression:
    inside = sorted(rng.choice(len(names), int(rng.integers(2, 5)), replace=False).tolist())
    group = [(names[k], _sign(rng) * (2 if rng.integers(4) == 0 else 1)) for k in inside]
    before = []
    for k, name in enumerate(names):
        if k not in inside or rng.integers(3) == 0:
            before.append((name, _sign(rng) * float(rng.choice([1, 1, 2, 0.5]))))
    return product(before) * curve.substitute({"x": product(group)})


def product(powers: list[tuple[str, float]]) -> Expression:
    """A product of powers of columns, as one quotient."""
    above = [_power(name, exponent) for name, exponent in powers if exponent > 0]
    below = [_power(name, -exponent) for name, exponent in powers if exponent < 0]
    top: Expression = reduce(Expression.__mul__, above) if above else Constant(1)
    return top / reduce(Expression.__mul__, below) if below else top


def _power(name: str, exponent: float) -> Expression:
    if exponent == 0.5:
        return Variable(name) ** (Constant(1) / 2)
    return Variable(name) if exponent == 1 else Variable(name) ** Constant(int(exponent))


def _sign(rng: np.random.Generator) -> int:
    return 1 if rng.integers(2) else -1
