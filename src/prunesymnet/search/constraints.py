"""What a formula must look like to be accepted, beyond the operators that it may be made of.

>>> from prunesymnet.expression import parse
>>> rules = Constraints(max_uses={"exp": 1}, forbid_nested={"exp": ["sin"]}, costs={"exp": 5})
>>> rules.violated_by(parse("exp(-x) + 2*x"))
>>> rules.violated_by(parse("exp(sin(x))"))
"'sin' stands inside 'exp'"
>>> parse("exp(x)").complexity, rules.complexity(parse("exp(x)"))
(3, 6)
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from prunesymnet.bank.limits import NodeLimits
from prunesymnet.data import Dataset
from prunesymnet.expression import Apply, Expression, Variable, fold, postorder
from prunesymnet.expression.tree import complexity_with
from prunesymnet.operators import OPERATORS, Operator
from prunesymnet.search.shapes import Shape, Shapes, Verdict
from prunesymnet.settings import check_whole
from prunesymnet.units import TableUnits, is_sound


@dataclass(frozen=True, slots=True)
class Constraints:
    """Rules that every formula of a search must keep.

    `max_uses`: how often an operator or a column may appear; `max_argument`: the largest complexity of what an
    operator is applied to; `forbid_nested`: operators that may not stand anywhere inside another; `max_nested`: how
    many of an operator may stand one inside the other within another, {"sin": {"exp": 1}}; `max_constants`: how many
    constants may be fitted; `requires`: columns that must appear; `excludes`: columns that must not; `costs`: what an
    operator adds to the complexity, in place of one or two; `shape`: sentences that say what the law is like, on a
    `box`, {"x": (0, 10)} (left out: the range of the column); `allow`: a function of the formula (an `Expression`)
    that says whether it will do."""

    max_uses: Mapping[str, int] = field(default_factory=dict)
    max_argument: Mapping[str, int] = field(default_factory=dict)
    forbid_nested: Mapping[str, Sequence[str]] = field(default_factory=dict)
    max_constants: int | None = None
    requires: tuple[str, ...] = ()
    allow: Callable[[Expression], bool] | None = None
    excludes: tuple[str, ...] = ()
    max_nested: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    costs: Mapping[str, int] = field(default_factory=dict)
    shape: tuple[str, ...] = ()
    box: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in _EXAMPLES:
            if not isinstance(getattr(self, name), Mapping):
                raise TypeError(f"{name} must map names to limits, e.g. {_EXAMPLES[name]}, got {getattr(self, name)!r}")
        for name, least in (("max_uses", 0), ("max_argument", 0), ("costs", 1)):
            _check_limits(name, getattr(self, name), least)
        for key, inner in self.forbid_nested.items():
            if not isinstance(inner, list | tuple) or not all(isinstance(part, str) for part in inner):
                raise TypeError(f"forbid_nested[{key!r}] must be a list of operators' names, got {inner!r}")
        for key, counts in self.max_nested.items():
            if not isinstance(counts, Mapping):
                raise TypeError(f"max_nested[{key!r}] must map operators to numbers, e.g. {{'exp': 1}}, got {counts!r}")
            _check_limits(f"max_nested[{key!r}]", counts, 0)
        if self.max_constants is not None:
            check_whole(self, max_constants=0)
        if self.allow is not None and not callable(self.allow):
            raise TypeError(f"allow must be a function of a formula, got {self.allow!r}")
        for name in ("requires", "excludes"):
            columns = getattr(self, name)
            if isinstance(columns, str):
                raise TypeError(f"{name} must be a list of columns; write {name}=[{columns!r}]")
            if not isinstance(columns, list | tuple) or not all(isinstance(column, str) for column in columns):
                raise TypeError(f"{name} must be a list of columns, got {columns!r}")
            object.__setattr__(self, name, tuple(columns))
        if isinstance(self.shape, str) or not isinstance(self.shape, list | tuple):
            raise TypeError(f"shape must be a list of sentences; write shape=[{self.shape!r}]")
        object.__setattr__(self, "shape", tuple(Shape.read(text).text for text in self.shape))
        object.__setattr__(self, "box", {name: _ends(name, ends) for name, ends in self.box.items()})
        both = sorted({*self.requires} & {*self.excludes})
        if both:
            raise ValueError(f"requires and excludes must not name the same column, got {both[0]!r} in both")
        object.__setattr__(self, "forbid_nested", {key: list(inner) for key, inner in self.forbid_nested.items()})

    @property
    def excluded(self) -> set[str]:
        """What may appear nowhere: columns, and operators, that are excluded or may be used no time."""
        unused = {name for name, most in self.max_uses.items() if most == 0}
        return {*self.excludes, *unused} - {*self.requires}

    @property
    def nested(self) -> dict[str, dict[str, int]]:
        """How many of an operator may stand inside of another, one inside the other: `max_nested` and
        `forbid_nested` together."""
        found: dict[str, dict[str, int]] = {outer: dict(counts) for outer, counts in self.max_nested.items()}
        for outer, inner in self.forbid_nested.items():
            found.setdefault(outer, {}).update(dict.fromkeys(inner, 0))
        return found

    def complexity(self, expression: Expression) -> int:
        """A formula's complexity, with the operators' own costs."""
        return complexity_with(expression, self.costs)

    def searched(self, operators: Iterable[str | Operator]) -> tuple[str | Operator, ...]:
        """Of some operators, those that a formula may have."""
        excluded = self.excluded
        return tuple(one for one in operators if getattr(one, "name", one) not in excluded)

    def shapes(self, columns: Mapping[str, Any]) -> Shapes | None:
        """The shapes that a law must have, on the box or the range of the columns; None where nothing is said."""
        if not self.shape:
            return None
        ranges = {name: (float(np.min(column)), float(np.max(column))) for name, column in columns.items()}
        return Shapes.of(self.shape, {**ranges, **self.box})

    def for_banks(self) -> NodeLimits:
        """What of these rules a node of a bank must keep."""
        return NodeLimits(self.costs, self.max_uses, self.nested, self.max_argument)

    def check(self, columns: Sequence[str], operators: Sequence[str]) -> None:
        """Names that mean nothing here are mistakes, and would hold for ever."""
        known = {*columns, *operators, *OPERATORS}
        named = {*self.max_uses, *self.max_argument, *self.nested, *self.costs}
        named |= {part for inner in self.nested.values() for part in inner}
        for name in sorted(named - known):
            raise ValueError(f"constraints name {name!r}, which is neither an operator nor a column")
        shaped = [name for text in self.shape for name in Shape.read(text).columns]
        named_by = (
            ("require", self.requires),
            ("exclude", self.excludes),
            ("have a box of", self.box),
            ("shape", shaped),
        )
        for rule, names in named_by:
            for name in names:
                if name not in columns:
                    raise ValueError(f"constraints {rule} {name!r}, which is no column ({', '.join(columns)})")
        if not {*columns} - {*self.excludes}:
            raise ValueError(f"constraints must leave a column, and exclude all ({', '.join(columns)})")

    def violated_by(self, expression: Expression) -> str | None:
        """Which rule a formula breaks, in words; None if it breaks none."""
        nodes = postorder(expression)
        for name, most in self.max_uses.items():
            uses = sum(_name(node) == name for node in nodes)
            if uses > most:
                return f"{name!r} appears {uses} times, more than {most}"
        if self.max_constants is not None and len(expression.constants) > self.max_constants:
            return f"it has {len(expression.constants)} constants, more than {self.max_constants}"
        for name in self.requires:
            if name not in expression.variables:
                return f"it lacks {name!r}"
        for name in self.excludes:
            if name in expression.variables:
                return f"it has {name!r}, which is excluded"
        for node in nodes:
            broken = self._inside(node) if isinstance(node, Apply) else None
            if broken:
                return broken
        if self.allow is not None and not self.allow(expression):
            return "the function `allow` refuses it"
        return None

    def _inside(self, node: Apply) -> str | None:
        name = node.operator.name
        most = self.max_argument.get(name)
        if most is not None and any(self.complexity(operand) > most for operand in node.operands):
            return f"{name!r} is applied to something of a complexity above {most}"
        for inner, count in self.nested.get(name, {}).items():
            deepest = max(_depth(operand, inner) for operand in node.operands)
            if deepest > count:
                times = f" {deepest} times, more than {count}" if count else ""
                return f"{inner!r} stands inside {name!r}{times}"
        return None


class Vocabulary:
    """Whether a formula says nothing that the chosen operators can't say.

    Arithmetic with numbers is always allowed, as are sums and products: they are what coefficients are made of. So
    are powers that products or roots give.

    >>> from prunesymnet.expression import parse
    >>> few = Vocabulary(["+", "*", "/"])
    >>> [few.has(parse(text)) for text in ("x**2/2 + sqrt(2)*x", "x**3", "sqrt(x)", "x**1.5", "1/x**2", "sin(x)")]
    [True, True, False, False, True, False]
    """

    def __init__(self, operators: Iterable[str]) -> None:
        given = set(operators)
        follows = {row.name for row in OPERATORS.values() if any(given >= others for others in row.follows_from)}
        self.known = given | follows

    def has(self, expression: Expression) -> bool:
        return all(self._has(node) for node in postorder(expression) if isinstance(node, Apply))

    def _has(self, node: Apply) -> bool:
        name = node.operator.name
        if name in self.known or not node.variables:
            return True
        if name == "/":
            return not node.operands[1].variables
        exponent = getattr(node.operands[-1], "value", None)
        if name != "pow" or not isinstance(exponent, int | float):
            return False
        if not float(exponent).is_integer():
            return "sqrt" in self.known and float(2 * exponent).is_integer()
        return bool({"square", "cube", "pow"} & self.known) and (exponent > 0 or "/" in self.known)


PINS = 1e8  # times the weight of a row for each: a value that is known is met to eight digits


@dataclass(frozen=True)
class Rules:
    """All that a formula must keep: the constraints, the vocabulary, the largest complexity (None: any), the units
    (None: those of the table are not known); and once it has its constants, the shapes (None: any)."""

    constraints: Constraints
    vocabulary: Vocabulary
    max_complexity: int | None
    units: TableUnits | None = None
    shapes: Shapes | None = None
    put_back: Callable[[Expression], Expression] = lambda formula: formula  # into the terms that shapes are said in

    def with_pinned(self, data: Dataset) -> Dataset | None:
        """The table with rows at which the law's value is known, which count more than all others together; None where
        no shape says such a thing, or columns are not seen as they are."""
        columns, values = ({}, ()) if self.shapes is None else self.shapes.pinned()
        if not len(values) or not all(self.put_back(Variable(name)) == Variable(name) for name in data.names):
            return None
        X = np.column_stack([columns[name] for name in data.names])
        return data.with_rows(X, np.asarray(values), PINS * data.rows)

    @property
    def has_any(self) -> bool:
        """Whether the user said anything of what a formula may be."""
        return self.max_complexity is not None or self.constraints != Constraints()

    def allow(self, expression: Expression) -> bool:
        return self.broken_by(expression) is None

    def has_shape(self, expression: Expression) -> bool:
        """Whether a fitted formula has the shapes that are wanted, as far as samples show."""
        return self.shapes is None or self.shapes.broken_by(self.put_back(expression)) is None

    def verdicts(self, expression: Expression) -> tuple[Verdict, ...]:
        """For each shape whether a fitted formula has it, and how that is known."""
        return () if self.shapes is None else self.shapes.verdicts(self.put_back(expression))

    def broken_by(self, expression: Expression) -> str | None:
        """Which rule a formula breaks, in words; None if it breaks none."""
        if self.max_complexity is not None:
            complexity = self.constraints.complexity(expression)
            if complexity > self.max_complexity:
                return f"its complexity is {complexity}, more than {self.max_complexity}"
        if self.units is not None and not is_sound(expression, self.units):
            return "its units are not sound"
        if not self.vocabulary.has(expression):
            return "it has an operator that is not among `operators`"
        return self.constraints.violated_by(expression)


_EXAMPLES = {
    "max_uses": "{'exp': 1}",
    "max_argument": "{'sin': 5}",
    "forbid_nested": "{'exp': ['exp', 'log']}",
    "max_nested": "{'sin': {'exp': 1}}",
    "costs": "{'exp': 4}",
    "box": "{'x': (0, 10)}",
}


def _ends(name: str, ends: Any) -> tuple[float, float]:
    pair = isinstance(ends, list | tuple) and len(ends) == 2
    if not pair or not all(isinstance(end, int | float) and math.isfinite(end) for end in ends) or ends[0] > ends[1]:
        raise ValueError(f"box[{name!r}] must be the lower and the upper end, two numbers, got {ends!r}")
    return float(ends[0]), float(ends[1])


def _check_limits(name: str, limits: Mapping[str, int], least: int) -> None:
    for key, limit in limits.items():
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < least:
            raise ValueError(f"{name}[{key!r}] must be a whole number >= {least}, got {limit!r}")


def _name(node: Expression) -> str:
    return node.operator.name if isinstance(node, Apply) else getattr(node, "name", "")


def _depth(expression: Expression, name: str) -> int:
    """How many of an operator, or column, stand one inside the other."""
    return fold(
        expression,
        lambda leaf: int(_name(leaf) == name),
        lambda operator, inside: max(inside, default=0) + (operator.name == name),
    )
