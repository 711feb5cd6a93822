"""What a formula can become, one target per module.

`to_latex`, `to_mathml`, `to_function`, `to_c`, `to_excel` and `to_sympy` write it down; `to_numpy`, `to_torch` and
`to_onnx` make something that computes it. Each takes an `Expression` first. Where a table's columns matter, `names`
says which and in what order (by default the formula's own variables, sorted); an operator that a user made is known to
numpy, torch, sympy, LaTeX and MathML, and refused by the others with an `ExportError`.

`export` is for whoever has a target's name and wants something to print or to put into a file:

>>> from prunesymnet.expression import parse
>>> export(parse("pi*r**2"), "latex", target="area")
'\\\\mathrm{area} = \\\\pi r^{2}'

Importing this package imports none of the libraries that a target needs.
"""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from prunesymnet.export.common import column_names
from prunesymnet.expression import Expression, to_text

Names = tuple[str, ...]


def _latex(expression: Expression, names: Names, target: str) -> str:
    from prunesymnet.export.latex import to_latex

    return to_latex(expression, target=target)


def _mathml(expression: Expression, names: Names, target: str) -> str:
    from prunesymnet.export.mathml import to_mathml

    return to_mathml(expression, target=target, block=True)


def _python(expression: Expression, names: Names, target: str) -> str:
    from prunesymnet.export.python import to_function

    return to_function(expression, names, target=target)


def _c(expression: Expression, names: Names, target: str) -> str:
    from prunesymnet.export.c import to_c

    return to_c(expression, names)


def _excel(expression: Expression, names: Names, target: str) -> str:
    from prunesymnet.export.excel import to_excel

    return to_excel(expression, names=names)


def _sympy(expression: Expression, names: Names, target: str) -> str:
    from prunesymnet.export.sympy import to_sympy

    return str(to_sympy(expression))


def _onnx(expression: Expression, names: Names, target: str) -> bytes:
    from prunesymnet.export.onnx import to_onnx

    model: bytes = to_onnx(expression, names, target=target).SerializeToString()
    return model


TARGETS: Mapping[str, Callable[[Expression, Names, str], str | bytes]] = MappingProxyType(
    {
        "text": lambda expression, names, target: to_text(expression),
        "latex": _latex,
        "mathml": _mathml,
        "python": _python,
        "c": _c,
        "excel": _excel,
        "sympy": _sympy,
        "onnx": _onnx,
    }
)
"""What `export` can make: name -> function of (expression, columns, target)."""


def export(expression: Expression, to: str, names: Iterable[str] | None = None, target: str = "y") -> str | bytes:
    """The formula for the target called `to`: text, or the bytes of a file for ONNX.

    "text" is what `parse` reads back, "latex" an equation, "python" and "c" a function with what it needs.

    >>> from prunesymnet.expression import parse
    >>> export(parse("x**2/y"), "excel", names=["y", "x"])
    '=B2^2/A2'
    """
    if to not in TARGETS:
        raise ValueError(f"to must be one of {', '.join(TARGETS)}, got {to!r}")
    return TARGETS[to](expression, column_names(expression, names), target)
