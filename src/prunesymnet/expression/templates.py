"""Templates: a formula of which some parts are functions yet to be found, `f(x, z)*exp(-g(y))`.

>>> template = read_template("a*f(x, z)*exp(-g(y/x))", ["x", "y", "z"])
>>> print(template.frame)
a*f*exp(-g)
>>> {name: part.text for name, part in template.parts.items()}
{'f': 'f(x, z)', 'g': 'g(y/x)'}
>>> template.constants
{'a': 1.0}
>>> from prunesymnet.expression.parsing import parse
>>> print(template.filled({"f": parse("x + z"), "g": parse("(y/x)**2")}))
a*(x + z)*exp(-(y/x)**2)
"""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from prunesymnet.data.messages import warn
from prunesymnet.expression.parsing import parse
from prunesymnet.expression.printing import to_text
from prunesymnet.expression.tree import Apply, Constant, Expression, Variable, fold, transform
from prunesymnet.operators import OPERATORS, Operator

NEARLY = 0.75  # of the letters are the same, as in sine and sin: such a name may be an operator's, misspelled


@dataclass(frozen=True)
class Part:
    """A function of a template that is to be found: its name, and what it is a function of. `columns` are names for
    its arguments: a column's own, or one made up for what is computed from columns."""

    name: str
    arguments: tuple[Expression, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(
            argument.name if isinstance(argument, Variable) else f"{self.name}_argument_{k}"
            for k, argument in enumerate(self.arguments, 1)
        )

    @property
    def text(self) -> str:
        return f"{self.name}({', '.join(map(to_text, self.arguments))})"

    def in_columns(self, formula: Expression) -> Expression:
        """A formula of the arguments as one of the table's columns."""
        return formula.substitute(dict(zip(self.columns, self.arguments, strict=True)))


@dataclass(frozen=True)
class Template:
    """A frame, in which parts stand as variables, the parts by name, and the constants to be fitted, with first
    guesses: names that are no columns, and numbers with a point."""

    frame: Expression
    parts: Mapping[str, Part]
    constants: Mapping[str, float]

    def filled(self, parts: Mapping[str, Expression]) -> Expression:
        """The formula with these parts, in terms of the table's columns."""
        return self.frame.substitute(parts)


def read_template(
    text: str, columns: Sequence[str], operators: Sequence[Operator] = (), number: str = "number"
) -> Template:
    """The template that a text says: functions that no table of operators has are parts, names that are no columns
    are constants. Numbers that are fitted get a name that begins with `number`."""
    if not isinstance(text, str):
        raise TypeError(f"template must be text such as 'f(x)*exp(-g(y))', got {text!r}")
    known = {**OPERATORS, **{row.name: row for row in operators}}
    named = [name for name in known if name.isidentifier()]
    parts: dict[str, Part] = {}

    def combine(operator: Operator, operands: tuple[Expression, ...]) -> Expression:
        if known.get(operator.name) == operator:
            return Apply(operator, operands)
        part = Part(operator.name, operands)
        _check(part, parts, columns)
        if operator.name not in parts and (near := difflib.get_close_matches(operator.name, named, 1, NEARLY)):
            warn(f"{operator.name!r} in the template is a function to be found; did you mean {near[0]!r}?")
        parts[operator.name] = part
        return Variable(operator.name)

    left, equals, right = text.partition("=")
    whole = parse(right if equals else text, operators=operators, unknown_functions=True)
    frame = fold(whole, lambda leaf: leaf, combine)
    if equals and not left.strip().isidentifier():
        raise ValueError(
            f"template must be a formula, or `y = formula` with the target alone on the left, got {text!r}"
        )
    if not parts:
        raise ValueError(
            f"template must have a function to be found, such as f(x), got {text!r}: use fit_form (--form)"
        )
    constants = {name: 1.0 for name in frame.variables if name not in columns and name not in parts}
    fresh = (name for name in map((number + "_{}").format, count(1)) if name not in {*columns, *parts, *constants})

    def with_name(node: Expression) -> Expression:
        if not isinstance(node, Constant) or not node.is_free:
            return node
        name = next(fresh)
        constants[name] = float(node.value)
        return Variable(name)

    return Template(transform(frame, with_name), parts, constants)


def _check(part: Part, parts: Mapping[str, Part], columns: Sequence[str]) -> None:
    name = part.name
    if name in columns:
        raise ValueError(f"template: a part must not have the name of a column, got {part.text}")
    inside = [one for argument in part.arguments for one in argument.variables]
    stray = [one for one in inside if one not in columns]
    if stray:
        kind = "a part" if stray[0] in parts else "no column"
        known = ", ".join(columns)
        raise ValueError(f"template: {part.text} must be of columns ({known}), and {stray[0]!r} is {kind}")
    if not part.arguments or not all(argument.variables for argument in part.arguments):
        raise ValueError(f"template: every argument of a part must have a column, got {part.text}")
    if len({*part.arguments}) < len(part.arguments):
        raise ValueError(f"template: the arguments of a part must differ, got {part.text}")
    if name in parts and parts[name].arguments != part.arguments:
        both = f"{parts[name].text} and {part.text}"
        raise ValueError(f"template: a part must have the same arguments wherever it stands, got {both}")
