"""Random formulas: a problem set that nobody has looked at, drawn anew from another seed for each release
(`benchmarks.conditions.RANDOM`).

`load("random-7")` is the set of seed 7: 200 formulas, eight for each of one to five variables and each of five grades.
A formula with v variables of grade g has v + g operators when it is drawn: v - 1 must join its variables, and each of
the other g + 1 is unary or binary with equal chance. So sizes go from 2 to 10. The operators `+ - * /` are equally
likely, and so are `sin cos exp log sqrt square`; the operators are applied in random order to parts chosen at random.
Each variable stands at least once; any other leaf is a variable or a constant with equal chance, and a constant is a
whole number from 1 to 9, a number with one decimal below 10 or one with two decimals below 10.

A formula is kept in its canonical form, and another is drawn in its place unless

- it is as long as its grade says: no operator works on constants alone, and the canonical form has at least three
  quarters of the operators drawn, and no absolute value among them (the root of a square), which no method here has;
- its points can be drawn: it is finite on 90% of its box and on half of the box 1.5 times as wide that judges it too,
  no value in its box is beyond a million, and their root mean square is no less than a millionth;
- its points can show it: it is not nearly constant, no sine or cosine passes through more than ten periods, and each of
  its parts matters (each variable, and each subformula against a constant in its place);
- no formula before it in the set has the same values.

The box of all variables is [-5, 5], as the paper's is, if nothing in the formula stands in its way: no logarithm or
root of negative numbers, no denominator that can be zero. Else it is [1, 5], which stays positive when it is widened.

Nothing here looks at what any search can do. The same seed gives the same formulas on every machine.
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from benchmarks.problems import Problem
from prunesymnet.expression import Apply, Constant, Expression, Variable, apply, canonical, fingerprint, postorder

VARIABLES = (1, 2, 3, 4, 5)
GRADES = (1, 2, 3, 4, 5)
NAMES = ("x", "y", "z", "u", "v")
BINARY = ("+", "-", "*", "/")
UNARY = ("sin", "cos", "exp", "log", "sqrt", "square")
WIDE, POSITIVE = (-5.0, 5.0), (1.0, 5.0)
PROBES, PROBE_SEED = 512, 90_001  # points that judge a formula: enough to see a share of 1%
FINITE_IN_BOX, FINITE_AROUND = 0.9, 0.5
LARGEST = 1e6  # beyond it, or below its inverse, nobody would leave the column in this unit
LEAST_LEFT = 0.75  # of the operators drawn, in the canonical form
LEAST_SPREAD = 0.01  # standard deviation over root mean square: noise of 1% must not drown all of the formula
LEAST_PART = 0.01  # the same for a part of it, over the standard deviation
MOST_PERIODS = 10  # of a sine or cosine: 128 points are then about twelve to a period

Array = NDArray[np.float64]
Columns = dict[str, Array]


def draw(count: int = 200, *, seed: int) -> list[Problem]:
    """The problems of a seed; `count` must be a multiple of 25, the number of pairs of variables and grade.

    >>> first = draw(25, seed=1)[0]
    >>> print(first.name, first.formula, first.ranges)
    random-1-1v-grade1-01 log(x)/x {'x': (1.0, 5.0)}
    """
    kinds = len(VARIABLES) * len(GRADES)
    if count < kinds or count % kinds:
        raise ValueError(f"count must be a multiple of {kinds}, as many of each size, got {count}")
    known: set[str] = set()
    found = []
    for variables in VARIABLES:
        for grade in GRADES:
            rng = np.random.default_rng((seed, variables, grade))
            for number, (formula, box) in enumerate(islice(_kept(variables, grade, rng, known), count // kinds), 1):
                name = f"random-{seed}-{variables}v-grade{grade}-{number:02d}"
                found.append(Problem(name, f"random-{seed}", formula, dict.fromkeys(formula.variables, box)))
    return found


def _kept(
    variables: int, grade: int, rng: np.random.Generator, known: set[str]
) -> Iterator[tuple[Expression, tuple[float, float]]]:
    names = NAMES[:variables]
    while True:
        drawn = random_tree(names, variables + grade, rng)
        if drawn is None:
            continue
        formula = canonical(drawn)
        if formula.variables != tuple(sorted(names)) or not long_enough(formula, variables + grade):
            continue
        box = WIDE if _unhindered(formula, WIDE) else POSITIVE
        if not shows(formula, box):
            continue
        key = fingerprint(formula)
        if key not in known:
            known.add(key)
            yield formula, box


def random_tree(names: tuple[str, ...], operators: int, rng: np.random.Generator) -> Expression | None:
    """A random formula with so many operators; None where one of them would work on constants alone."""
    binary = len(names) - 1 + int(rng.integers(0, 2, operators - len(names) + 1).sum())
    leaves: list[Expression] = [Variable(name) for name in names]
    leaves += [_leaf(names, rng) for _ in range(binary + 1 - len(names))]
    arities = np.repeat([1, 2], [operators - binary, binary])
    for arity in arities[rng.permutation(operators)]:
        chosen = [leaves.pop(int(rng.integers(len(leaves)))) for _ in range(arity)]
        if not any(part.variables for part in chosen):
            return None
        name = one_of(UNARY if arity == 1 else BINARY, rng)
        leaves.append(apply(name, *chosen))
    return leaves[0]


def _leaf(names: tuple[str, ...], rng: np.random.Generator) -> Expression:
    if rng.integers(2):
        return Variable(one_of(names, rng))
    kind = rng.integers(3)
    if kind == 0:
        return Constant(int(rng.integers(1, 10)))
    return Constant(int(rng.integers(1, 100)) / 10 if kind == 1 else int(rng.integers(1, 1000)) / 100)


def one_of(choices: tuple[str, ...], rng: np.random.Generator) -> str:
    return choices[int(rng.integers(len(choices)))]


def _points(names: tuple[str, ...], low: float, high: float, wide: float = 1.0) -> Columns:
    reach = (wide - 1) * (high - low) / 2
    points = np.random.default_rng(PROBE_SEED).uniform(low - reach, high + reach, (PROBES, len(names)))
    return dict(zip(names, points.T, strict=True))


def long_enough(formula: Expression, drawn: int) -> bool:
    left = [node.operator.name for node in postorder(formula) if isinstance(node, Apply) and node.operands]
    return "abs" not in left and len(left) >= LEAST_LEFT * drawn


def _values(formula: Expression, columns: Columns, replaced: int = -1) -> list[Array]:
    """The values of each node, operands before operators; the node of that number has its median everywhere."""
    found: list[Array] = []
    stack: list[Array] = []
    with np.errstate(all="ignore"):
        for number, node in enumerate(postorder(formula)):
            if isinstance(node, Apply):
                split = len(stack) - len(node.operands)
                value = node.operator.numpy(*stack[split:])
                del stack[split:]
            else:
                value = columns[node.name] if isinstance(node, Variable) else node.value
            value = np.broadcast_to(np.asarray(value, float), (PROBES,))
            if number == replaced:
                value = np.full(PROBES, np.median(value[np.isfinite(value)]))
            stack.append(value)
            found.append(value)
    return found


def _operands(formula: Expression, values: list[Array]) -> Iterator[tuple[str, tuple[Array, ...]]]:
    """The name of each operator with the values of its operands."""
    stack: list[Array] = []
    for node, value in zip(postorder(formula), values, strict=True):
        if isinstance(node, Apply):
            split = len(stack) - len(node.operands)
            yield node.operator.name, tuple(stack[split:])
            del stack[split:]
        stack.append(value)


def _unhindered(formula: Expression, box: tuple[float, float]) -> bool:
    """Whether every logarithm, root and division is one of numbers that are allowed, all over the box."""
    columns = _points(formula.variables, *box)
    for name, (first, *rest) in _operands(formula, _values(formula, columns)):
        if name == "log" or (name == "pow" and not _whole(rest[0])):
            hindered = not (first > 0).all()
        elif name == "sqrt":
            hindered = not (first >= 0).all()
        elif name == "/":
            hindered = _vanishes(rest[0])
        else:
            hindered = (name == "inv" or (name == "pow" and (rest[0] < 0).any())) and _vanishes(first)
        if hindered:
            return False
    return True


def _whole(values: Array) -> bool:
    return bool((values == np.round(values)).all())


def _vanishes(values: Array) -> bool:
    """Whether it is zero somewhere between the points: it changes its sign, or gets a thousandth of its usual size."""
    size = np.abs(values)
    return not (np.all(values > 0) or np.all(values < 0)) or bool(size.min() < 1e-3 * np.median(size))


def shows(formula: Expression, box: tuple[float, float]) -> bool:
    """Whether points of the box can be drawn, and show the whole formula."""
    around = _values(formula, _points(formula.variables, *box, wide=1.5))[-1]
    columns = _points(formula.variables, *box)
    values = _values(formula, columns)
    target = values[-1]
    finite = np.isfinite(target)
    if finite.mean() < FINITE_IN_BOX or np.isfinite(around).mean() < FINITE_AROUND:
        return False
    if np.abs(target[finite]).max() > LARGEST:
        return False
    spread, size = float(np.std(target[finite])), np.sqrt(np.mean(target[finite] ** 2))
    if size < 1 / LARGEST or spread < LEAST_SPREAD * size:
        return False
    for name, operands in _operands(formula, values):
        if name in ("sin", "cos") and np.ptp(operands[0][finite]) > 2 * np.pi * MOST_PERIODS:
            return False
    others = (columns | {name: column[::-1]} for name, column in columns.items())
    without = [_values(formula, other)[-1] for other in others]
    parts = [number for number, node in enumerate(postorder(formula)) if node.variables]
    without += [_values(formula, columns, number)[-1] for number in parts[:-1]]
    return all(_matters(target - other, spread) for other in without)


def _matters(change: Array, spread: float) -> bool:
    kept = np.abs(change[np.isfinite(change)]).clip(max=LARGEST)  # the squares of larger ones may overflow
    return not len(kept) or bool(np.sqrt(np.mean(kept**2)) >= LEAST_PART * spread)
