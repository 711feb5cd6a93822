"""When is a formula one of the catalogue's, whatever its constants and the names of its columns?

Both get a free weight on every edge, and their canonical forms must be the same but for their constants. Of these, the
catalogue's form is drawn a few times with other constants: what all draws share (a sign, a number such as the 1 of
`exp(x) - 1`, the ratio of two numbers) the formula must have, too.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice, permutations, product

import numpy as np
from numpy.typing import NDArray

from prunesymnet.catalogue.forms import COLUMNS, FORMS, Form
from prunesymnet.expression import (
    Apply,
    Constant,
    Expression,
    Variable,
    canonical,
    expanded,
    factored,
    fold,
    parse,
    postorder,
)
from prunesymnet.expression.canonical import to_terms
from prunesymnet.expression.canonical.numbers import OutOfRange
from prunesymnet.expression.canonical.terms import sort_terms, to_key
from prunesymnet.operators import Operator
from prunesymnet.operators.operator import CALL

Array = NDArray[np.float64]
Shape = tuple[str, Array]  # a form without its free constants, and these

MOST_COMPLEX = 60  # a longer formula is none of the catalogue's, which have at most half of that
DRAWS = 2  # with each choice of signs: constants drawn from a range do not agree by chance
EQUAL = 1e-9  # relative: how well two numbers agree that are the same but for rounding
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|\bc\b")  # or a masked one


def known_as(formula: Expression) -> str:
    """What a formula is called, "" where it has no name that is known here."""
    names = formula.variables
    if not 1 <= len(names) <= len(COLUMNS) or formula.complexity > MOST_COMPLEX:
        return ""
    forms = _forms(len(names), _functions(canonical(formula)))
    if not forms:
        return ""
    for written in _writings(formula):
        for order in permutations(COLUMNS[: len(names)]):
            renamed = written.substitute({name: Variable(new) for name, new in zip(names, order, strict=True)})
            shape = _shape(renamed)
            if shape is None or shape[0] not in forms:
                continue
            fitting = [(rule(text, form.any_sign), form) for form, text in forms[shape[0]]]
            fitting = [(one, form) for one, form in fitting if one.holds(shape[1])]
            if fitting:
                # The most special one.
                return str(min(fitting, key=lambda pair: (pair[0].freedom(), len(pair[1].any_sign)))[1])
    return ""


def _writings(formula: Expression) -> Iterator[Expression]:
    """The formula as it is, with common factors before its sums, and with its products multiplied out."""
    seen = {formula}
    yield formula
    for written in (factored(formula), expanded(formula)):
        if written is not None and written not in seen and set(written.variables) == set(formula.variables):
            seen.add(written)
            yield written


class Rule:
    """What the constants of one form have in common in all draws."""

    def __init__(self, draws: list[Array]) -> None:
        values = np.array(draws)
        self.signs = np.where((values > 0).all(axis=0), 1, np.where((values < 0).all(axis=0), -1, 0))
        self.fixed = _constant(values)
        self.numbers = values[0]
        self.related: list[tuple[int, int, float]] = []
        free = np.flatnonzero(~self.fixed)
        for place, i in enumerate(free):
            for j in free[:place]:
                ratio = values[:, i] / values[:, j]
                if _constant(ratio[:, None])[0]:
                    self.related.append((int(i), int(j), float(ratio[0])))

    def freedom(self) -> int:
        """How many of the constants may be chosen."""
        return int((~self.fixed).sum()) - len({i for i, _, _ in self.related})

    def holds(self, values: Array) -> bool:
        if len(values) != len(self.numbers) or (self.signs * np.sign(values) < 0).any() or (values == 0).any():
            return False
        if not np.allclose(values[self.fixed], self.numbers[self.fixed], rtol=EQUAL, atol=0):
            return False
        return all(abs(values[i] - ratio * values[j]) <= EQUAL * abs(values[i]) for i, j, ratio in self.related)


def _constant(values: Array) -> NDArray[np.bool_]:
    """Which columns have the same number in every row."""
    return np.ptp(values, axis=0) <= EQUAL * np.abs(values[0]) if len(values) else np.zeros(0, bool)


@cache
def _forms(columns: int, functions: frozenset[str]) -> dict[str, list[tuple[Form, str]]]:
    """By their shape, the forms of so many columns and these functions, each with the text that has it."""
    found: dict[str, list[tuple[Form, str]]] = {}
    for form in FORMS:
        for text in form.texts:
            tree = parse(text)
            if sum(name in COLUMNS for name in tree.variables) == columns and _functions(tree) == functions:
                found.setdefault(_drawn(tree, form.any_sign)[0][0], []).append((form, text))
    return found


def _functions(formula: Expression) -> frozenset[str]:
    """The names of its functions; roots are powers."""
    operators = (node.operator for node in postorder(formula) if isinstance(node, Apply))
    return frozenset(one.name for one in operators if one.precedence == CALL and one.name != "sqrt" and one.arity)


@cache
def rule(text: str, any_sign: str) -> Rule:
    """What the constants of a form must be."""
    return Rule([values for _, values in _drawn(parse(text), any_sign, DRAWS)])


def _drawn(form: Expression, any_sign: str, draws: int = 1) -> list[Shape]:
    """A form with drawn constants: once, or so often with every choice of the signs that are free. Its shape does not
    depend on signs."""
    constants = [name for name in form.variables if name not in COLUMNS]
    signs = product(*((1.0, -1.0) if name in any_sign else (1.0,) for name in constants))
    rng = np.random.default_rng(0)
    shapes = []
    for chosen in islice(signs, 1 if draws == 1 else None):
        for _ in range(draws):
            values = np.array(chosen) * rng.uniform(0.2, 3.0, len(constants))
            shape = _shape(form.substitute(dict(zip(constants, map(float, values), strict=True))))
            assert shape is not None  # noqa: S101 - numbers about 1 stay within the range of floats
            shapes.append(shape)
    return shapes


def _shape(formula: Expression) -> Shape | None:
    """The canonical form with a free weight on every edge; None where its constants leave the range of floats."""
    try:
        terms = sort_terms(to_terms(_times_weight(_weighted(formula))))
    except (OverflowError, OutOfRange):
        return None
    masked, plain = to_key(terms, masked=True), to_key(terms)
    free, numbers = _NUMBER.findall(masked), _NUMBER.findall(plain)
    if len(free) != len(numbers):
        return None
    values = [float(number) for mark, number in zip(free, numbers, strict=True) if mark == "c" or "." in mark]
    return masked, np.array(values)


def _weighted(formula: Expression) -> Expression:
    """With a free weight on every edge, and floats for all whole numbers but exponents."""

    def combine(operator: Operator, operands: tuple[Expression, ...]) -> Expression:
        if operator.name == "pow":
            base, exponent = operands
            return Apply(operator, (base, _exponent(exponent)))
        return Apply(operator, tuple(map(_times_weight, operands)))

    return fold(formula, lambda leaf: leaf, combine)


def _times_weight(operand: Expression) -> Expression:
    if isinstance(operand, Constant):
        return Constant(float(operand.value))
    return Constant(1.0) * operand


def _exponent(exponent: Expression) -> Expression:
    """A whole exponent is part of the form, also one that was fitted and came out whole."""
    if isinstance(exponent, Constant) and float(exponent.value).is_integer():
        return Constant(int(exponent.value))
    return exponent
