"""A formula as LaTeX for math mode.

>>> from prunesymnet.expression import parse
>>> print(to_latex(parse("x**2*sin(y)/(2*pi) - 0.123456789"), digits=3))
\\frac{x^{2} \\sin\\left(y\\right)}{2 \\pi} - 0.123
"""

import re

from prunesymnet.expression import Constant, Expression, Variable, fold
from prunesymnet.expression.printing import number_text
from prunesymnet.expression.tree import index_of
from prunesymnet.operators import Operator
from prunesymnet.operators.operator import CALL, NEGATION, POWER, PRODUCT

Piece = tuple[str, int]
_BINDS = {"/": NEGATION, "inv": NEGATION, "exp": POWER}  # a fraction needs no parentheses in a product
_MIXED = re.compile(r"\d \\frac\{\d+\}\{\d+\}")  # 2 1/3 would be seven thirds


def to_latex(expression: Expression, *, digits: int | None = None, target: str | None = None) -> str:
    """The formula, its floats rounded to `digits`; with a `target`, the equation that says what it is.

    >>> from prunesymnet.expression import parse
    >>> print(to_latex(parse("4*pi*r**2"), target="area"))
    \\mathrm{area} = 4 \\pi r^{2}
    """

    def leaf(node: Expression) -> Piece:
        if isinstance(node, Constant):
            text = re.sub(r"e([+-])0*(\d+)$", _power_of_ten, number_text(node, digits))
            return text, NEGATION if text.startswith("-") else (PRODUCT if "cdot" in text else CALL)
        assert isinstance(node, Variable)  # noqa: S101 - the only other leaf
        return _name(node.name), CALL

    def combine(operator: Operator, parts: tuple[Piece, ...]) -> Piece:
        name, texts = operator.name, [text for text, _ in parts]
        if name == "id":
            return parts[0]
        template = operator.latex or (
            rf"\operatorname{{{{{_escape(name)}}}}}\left("
            + ", ".join(f"{{{i}}}" for i in range(len(parts)))
            + r"\right)"
        )
        # Fractions and roots enclose their operands by themselves; an exponent is set apart by its place.
        binds = operator.precedence
        if name in ("+", "-", "*"):
            texts[0] = _enclose(parts[0], binds, first=True)
            texts[1] = _enclose(parts[1], binds + 1)
        elif name == "neg":
            texts[0] = _enclose(parts[0], binds)
        elif binds == POWER:
            texts[0] = _enclose(parts[0], binds + 1, first=True)
        if name == "*" and (texts[1][:1].isdigit() or _MIXED.fullmatch(f"{texts[0][-1]} {texts[1]}")):
            template = r"{0} \cdot {1}"
        elif name == "*" and r"\mathrm" in texts[0] + texts[1]:
            template = r"{0} \, {1}"  # names of several letters would run into one another
        return template.format(*texts), _BINDS.get(name, binds)

    text = fold(expression, leaf, combine)[0]
    return text if target is None else f"{_name(target)} = {text}"


def _enclose(part: Piece, needs: int, *, first: bool = False) -> str:
    """An operand, in parentheses where it binds too loosely for its place, or begins with a minus within a term."""
    text, binds = part
    return text if binds >= needs and (first or not text.startswith("-")) else rf"\left({text}\right)"


def _power_of_ten(match: re.Match[str]) -> str:
    sign = "-" if match[1] == "-" else ""
    return rf" \cdot 10^{{{sign}{match[2]}}}"


GREEK = re.compile(
    "alpha|beta|[Gg]amma|[Dd]elta|epsilon|zeta|eta|[Tt]heta|iota|kappa|[Ll]ambda|mu|nu|[Xx]i|rho|[Ss]igma|tau|"
    "[Uu]psilon|[Pp]hi|chi|[Pp]si|[Oo]mega"
)


def name_parts(name: str) -> tuple[str, str]:
    """A name, and the digits at its end, which are set below the line.

    >>> name_parts("theta_12")
    ('theta', '12')
    """
    stem, digits = re.fullmatch(r"(.*?)_?(\d*)", name, re.DOTALL).groups()  # type: ignore[union-attr]
    return stem, digits


def _name(name: str) -> str:
    index = index_of(name)
    if index is not None:  # a constant that has a value in each category
        return rf"{_name(index[0])}[\mathrm{{{_escape(index[1])}}}]"
    stem, digits = name_parts(name)
    if GREEK.fullmatch(stem):
        stem = f"\\{stem}"
    elif len(stem) != 1 or stem == "_" or stem in _SPECIAL:
        return rf"\mathrm{{{_escape(name)}}}" if not digits else rf"\mathrm{{{_escape(stem)}}}_{{{digits}}}"
    return f"{stem}_{{{digits}}}" if digits else stem


# What LaTeX takes for a command; only a target, which no formula mentions, may have such a name.
_SPECIAL = {
    **{letter: f"\\{letter}" for letter in "_&%$#{}"},
    "\\": r"\backslash{}", "^": r"\hat{}", "~": r"\sim{}", " ": r"\ ", "\n": r"\ ", "\t": r"\ ",
}  # fmt: skip


def _escape(name: str) -> str:
    return "".join(_SPECIAL.get(letter, letter) for letter in name)
