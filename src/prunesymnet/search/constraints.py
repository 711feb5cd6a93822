"""What a formula must look like to be accepted, beyond the operators that it may be made of.

>>> from prunesymnet.expression import parse
>>> rules = Constraints(max_uses={"exp": 1}, forbid_nested={"exp": ["sin"]})
>>> rules.violated_by(parse("exp(-x) + 2*x"))
>>> rules.violated_by(parse("exp(sin(x))"))
"'sin' stands inside 'exp'"
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from prunesymnet.expression import Apply, Expression, postorder
from prunesymnet.operators import OPERATORS
from prunesymnet.settings import check_whole
from prunesymnet.units import TableUnits, is_sound


@dataclass(frozen=True, slots=True)
class Constraints:
    """`max_uses`: how often an operator or a column may appear; `max_argument`: the largest complexity of what an
    operator is applied to; `forbid_nested`: operators that may not stand anywhere inside another;
    `max_constants`: how many constants may be fitted; `requires`: columns that must appear; `allow`: a function of the
    formula (an `Expression`) that says whether it will do."""

    max_uses: Mapping[str, int] = field(default_factory=dict)
    max_argument: Mapping[str, int] = field(default_factory=dict)
    forbid_nested: Mapping[str, Sequence[str]] = field(default_factory=dict)
    max_constants: int | None = None
    requires: tuple[str, ...] = ()
    allow: Callable[[Expression], bool] | None = None

    def __post_init__(self) -> None:
        for name in ("max_uses", "max_argument", "forbid_nested"):
            if not isinstance(getattr(self, name), Mapping):
                raise TypeError(f"{name} must map names to limits, e.g. {_EXAMPLES[name]}")
        for name in ("max_uses", "max_argument"):
            for key, limit in getattr(self, name).items():
                if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
                    raise ValueError(f"{name}[{key!r}] must be a whole number >= 0, got {limit!r}")
        for key, inner in self.forbid_nested.items():
            if not isinstance(inner, list | tuple) or not all(isinstance(part, str) for part in inner):
                raise TypeError(f"forbid_nested[{key!r}] must be a list of operators' names, got {inner!r}")
        if self.max_constants is not None:
            check_whole(self, max_constants=0)
        if self.allow is not None and not callable(self.allow):
            raise TypeError(f"allow must be a function of a formula, got {self.allow!r}")
        if isinstance(self.requires, str):
            raise TypeError(f"requires must be a list of columns; write requires=[{self.requires!r}]")
        if not isinstance(self.requires, list | tuple) or not all(isinstance(name, str) for name in self.requires):
            raise TypeError(f"requires must be a list of columns, got {self.requires!r}")
        object.__setattr__(self, "requires", tuple(self.requires))
        object.__setattr__(self, "forbid_nested", {key: list(inner) for key, inner in self.forbid_nested.items()})

    def check(self, columns: Sequence[str], operators: Sequence[str]) -> None:
        """Names that mean nothing here are mistakes, and would hold for ever."""
        known = {*columns, *operators, *OPERATORS}
        named = {*self.max_uses, *self.max_argument, *self.forbid_nested}
        named |= {part for inner in self.forbid_nested.values() for part in inner}
        for name in sorted(named - known):
            raise ValueError(f"constraints name {name!r}, which is neither an operator nor a column")
        for name in self.requires:
            if name not in columns:
                raise ValueError(f"constraints require {name!r}, which is no column ({', '.join(columns)})")

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
        if most is not None and any(operand.complexity > most for operand in node.operands):
            return f"{name!r} is applied to something of a complexity above {most}"
        for inner in self.forbid_nested.get(name, ()):
            if any(_name(part) == inner for operand in node.operands for part in postorder(operand)):
                return f"{inner!r} stands inside {name!r}"
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


@dataclass(frozen=True)
class Rules:
    """All that a formula must keep: the constraints, the vocabulary, the largest complexity (None: any), the units
    (None: those of the table are not known)."""

    constraints: Constraints
    vocabulary: Vocabulary
    max_complexity: int | None
    units: TableUnits | None = None

    def allow(self, expression: Expression) -> bool:
        if self.max_complexity is not None and expression.complexity > self.max_complexity:
            return False
        if self.units is not None and not is_sound(expression, self.units):
            return False
        return self.vocabulary.has(expression) and self.constraints.violated_by(expression) is None


_EXAMPLES = {
    "max_uses": "{'exp': 1}",
    "max_argument": "{'sin': 5}",
    "forbid_nested": "{'exp': ['exp', 'log']}",
}


def _name(node: Expression) -> str:
    return node.operator.name if isinstance(node, Apply) else getattr(node, "name", "")
