"""A formula as a spreadsheet's, with English function names: for Excel, LibreOffice Calc and Google Sheets.

>>> from prunesymnet.expression import parse
>>> to_excel(parse("-x**2*exp(-0.5*t)"))
'=-(B2^2)*EXP(-0.5*A2)'
>>> to_excel(parse("-x**2*exp(-0.5*t)"), {"t": "Time!C7", "x": "$D$1"})
'=-($D$1^2)*EXP(-0.5*Time!C7)'

A spreadsheet reads ``-2^2`` as 4 and ``2^3^2`` as (2^3)^2, so a base that is not a single thing, an exponent and what
a minus is put before are always in parentheses. Where the formula is not defined, the cell shows an error (#NUM!,
#DIV/0!), also for 0^0; and an odd root of a negative number is a number to Excel, as in (-8)^(1/3) = -2.
Constants have all their digits, of which Excel itself uses 15.
"""

from collections.abc import Iterable, Mapping

from prunesymnet.errors import ExportError
from prunesymnet.export.common import column_names, form_of, write
from prunesymnet.expression import Constant, Expression, Variable, fold
from prunesymnet.expression.printing import number_text
from prunesymnet.operators import Operator
from prunesymnet.operators.operator import Form

LONGEST, DEEPEST, MOST_COLUMNS = 8192, 64, 16384  # Excel's limits: characters, calls in calls, columns of a sheet


def to_excel(
    expression: Expression, cells: Mapping[str, str] | None = None, *, names: Iterable[str] | None = None
) -> str:
    """The text of a cell; `cells` has the reference of each column, by default A2, B2, ... in the order of `names`.

    >>> from prunesymnet.expression import parse
    >>> to_excel(parse("log(x)/pi"), names=["t", "u", "x"])
    '=LN(C2)/PI()'
    """
    columns = column_names(expression, names)
    if cells is None:
        cells = {name: f"{_letters(position)}2" for position, name in enumerate(columns)}
    for name in expression.variables:
        if name not in cells:
            raise ValueError(f"cells must have each variable of the formula, got {', '.join(cells)} without {name!r}")
        if not (isinstance(cells[name], str) and cells[name].strip()):
            raise ValueError(f"cells must be references such as 'A2', got {cells[name]!r} for {name!r}")

    def leaf(node: Expression) -> str:
        if isinstance(node, Constant):
            return number_text(node).removesuffix(".0").upper()
        assert isinstance(node, Variable)  # noqa: S101 - the only other leaf
        return cells[node.name].strip()

    text = "=" + write(expression, leaf, _form)
    if len(text) > LONGEST:
        raise ExportError(
            f"the formula has {len(text):,} characters in Excel, which takes {LONGEST:,}; round its constants, give "
            "its cells shorter references, or put its parts into cells of their own"
        )
    if (deep := _deepest_call(expression)) > DEEPEST:
        raise ExportError(
            f"the formula has functions in functions {deep} deep, of which Excel takes {DEEPEST}; put its parts into "
            "cells of their own"
        )
    return text


def _form(operator: Operator) -> Form:
    return form_of(operator, "excel", "Excel")


def _letters(position: int) -> str:
    """The letters of a sheet's column: A to Z, AA to ZZ, AAA ..."""
    if position >= MOST_COLUMNS:
        raise ExportError(
            f"a sheet of Excel has {MOST_COLUMNS:,} columns; give the cells of those that the formula has"
        )
    text = ""
    position += 1
    while position:
        position, letter = divmod(position - 1, 26)
        text = chr(ord("A") + letter) + text
    return text


def _deepest_call(expression: Expression) -> int:
    """How many calls are within one another, at most."""
    return fold(
        expression,
        lambda leaf: 0,
        lambda operator, inner: max(inner, default=0) + ("(" in _form(operator).template),
    )
