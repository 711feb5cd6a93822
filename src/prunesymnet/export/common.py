"""What the targets share: which columns a formula is a function of, how an operator is written, and one printer.

A target that is text is a column of the operator table with a `Form` in each row, and `write` puts them together:

>>> from prunesymnet.expression import parse
>>> write(parse("2*exp(-(x - 1)*y)"), lambda leaf: str(leaf).upper(), lambda row: form_of(row, "excel", "Excel"))
'2*EXP(-(X-1)*Y)'
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from prunesymnet.errors import ExportError
from prunesymnet.expression import Apply, Expression, fold, postorder
from prunesymnet.operators import Operator
from prunesymnet.operators.operator import CALL, NEGATION, Form

DEEPEST = 60  # levels in one statement: C promises 63 nested parentheses, Python 200


def column_names(expression: Expression, names: Iterable[str] | None = None) -> tuple[str, ...]:
    """The columns that a formula is a function of, in order: `names`, or its own variables, sorted.

    >>> from prunesymnet.expression import parse
    >>> column_names(parse("y/x")), column_names(parse("y/x"), ["y", "x", "z"])
    (('x', 'y'), ('y', 'x', 'z'))
    """
    postorder(expression)  # anything but an Expression is refused here, with a word on how to get one
    if names is None:
        return expression.variables
    if isinstance(names, str):
        raise ValueError(f"names must be a list of column names, got the text {names!r}")
    given = tuple(names)
    for name in given:
        if not isinstance(name, str):
            raise ValueError(f"names must be column names, got {name!r}")
    times = Counter(given)
    for name, count in times.items():
        if count > 1:
            raise ValueError(f"names must differ, got {name!r} {count} times")
    for name in expression.variables:
        if name not in times:
            raise ValueError(f"names must have each variable of the formula, got {', '.join(given)} without {name!r}")
    return given


def form_of(operator: Operator, column: str, target: str) -> Form:
    """An operator's form in a column of the table; one that a user made may have none."""
    form = getattr(operator, column)
    if form is None:
        raise without_form(operator, column, target)
    return Form(form) if isinstance(form, str) else form


def without_form(operator: Operator, column: str, target: str) -> ExportError:
    return ExportError(
        f"operator {operator.name!r} has no form in {target}; give it one, make_operator({operator.name!r}, ..., "
        f"{column}=...), or use to_numpy, to_torch, to_sympy or to_latex, which know every operator"
    )


def forms_in(expression: Expression, form: Callable[[Operator], Form]) -> dict[str, Form]:
    """The forms of the operators that a formula has, by name."""
    rows = {node.operator.name: node.operator for node in postorder(expression) if isinstance(node, Apply)}
    return {name: form(row) for name, row in rows.items()}


def words_of(forms: Mapping[str, Form]) -> set[str]:
    """The names that forms refer to, which no argument may have."""
    return {word for form in forms.values() for word in re.findall(r"(?<![\w.])[A-Za-z_]\w*", form.template)}


class _Piece(NamedTuple):
    text: str
    binds: int = CALL
    levels: int = 0


def write(
    expression: Expression,
    leaf: Callable[[Expression], str],
    form: Callable[[Operator], Form],
    assign: Callable[[str], str] | None = None,
) -> str:
    """The formula as text. Where it is deeper than a compiler takes, or an operator's form mentions an operand more
    than once, `assign` gets the text of a part and returns the name that stands for it from there on."""

    def wrap(node: Expression) -> _Piece:
        text = leaf(node)
        return _Piece(text, NEGATION if text.startswith("-") else CALL)

    def combine(operator: Operator, parts: tuple[_Piece, ...]) -> _Piece:
        template, binds, needs = form(operator)
        if template == "{0}":
            return parts[0]
        if assign is not None:
            named = [part.levels and template.count(f"{{{i}}}") > 1 for i, part in enumerate(parts)]
            parts = tuple(_Piece(assign(part.text)) if n else part for part, n in zip(parts, named, strict=True))
        texts = [part.text for part in parts]
        for i, need in enumerate(needs):
            # A minus within a formula is set apart, x - (-2); and so is a number after one: -(2) is not written -2.
            inside = i > 0 or not template.startswith("{0}")
            minus = inside and texts[i].startswith("-")
            number = template == "-{0}" and parts[i].binds == CALL and texts[i][0].isdigit()
            if parts[i].binds < need or minus or number:
                texts[i] = f"({texts[i]})"
        text = template.format(*texts)
        levels = 1 + max((part.levels for part in parts), default=0)
        if assign is not None and levels > DEEPEST:
            return _Piece(assign(text))
        return _Piece(text, binds, levels)

    return fold(expression, wrap, combine).text


def identifiers(names: Iterable[str], clean: Callable[[str], str], taken: Collection[str]) -> dict[str, str]:
    """A name in the target's language for each column, none twice, none that is `taken`.

    >>> identifiers(["gamma", "x y", "x_y"], lambda name: name.replace(" ", "_"), {"gamma"})
    {'gamma': 'gamma_', 'x y': 'x_y_', 'x_y': 'x_y'}
    """
    columns = list(names)
    # Who has a name that can stay comes first: it is the others that must give way.
    kept = {name: name for name in columns if clean(name) == name and name not in taken}
    used = set(kept)
    for name in columns:
        if name not in kept:
            other = clean(name)
            while other in taken or other in used:
                other += "_"
            kept[name] = other
            used.add(other)
    return {name: kept[name] for name in columns}


def temporaries(used: Collection[str]) -> Callable[[int], str]:
    """Names for the parts of a deep formula (t1, t2, ...) that are not among those `used`."""
    stem = "t"
    while any(name.startswith(stem) and name[len(stem) :].isdigit() for name in used):
        stem += "_"
    return lambda count: f"{stem}{count}"
