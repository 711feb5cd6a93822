"""From tree to text: plain (which `parse` reads back to the same tree), Python and LaTeX.

>>> from prunesymnet.expression.parsing import parse
>>> formula = parse("x**2*sin(y)/(2*pi) - 0.123456789")
>>> to_text(formula, digits=3)
'x**2*sin(y)/(2*pi) - 0.123'
>>> to_python(formula, digits=3)
'x**2*math.sin(y)/(2*math.pi) - 0.123'
>>> print(to_latex(formula, digits=3))
\\frac{x^{2} \\sin\\left(y\\right)}{2 \\pi} - 0.123

A printer is a fold whose values are (text, precedence); an operand that binds too loosely for its place
gets parentheses.
"""

import re
from collections.abc import Callable

from prunesymnet.expression.tree import Constant, Expression, Variable, fold
from prunesymnet.operators import OPERATORS, Operator
from prunesymnet.operators.table import CALL, NEGATION, POWER, PRODUCT

Piece = tuple[str, int]
_INFIX = {"+": " + ", "-": " - ", "*": "*", "/": "/"}
_EXPONENT = {"square": "2", "cube": "3"}
_LATEX_BINDS = {"/": NEGATION, "inv": NEGATION, "exp": POWER}  # a fraction needs no parentheses in a product
_MIXED = re.compile(r"\d \\frac\{\d+\}\{\d+\}")  # 2 1/3 would be seven thirds
_NUMBER = re.compile(r"[\d.]+(?:e[+-]?\d+)?")


def to_text(expression: Expression, *, digits: int | None = None) -> str:
    """The formula as text; `digits` rounds its floats for reading (left out: every digit, so that
    ``parse(to_text(e)) == e``)."""
    return _arithmetic(expression, digits, lambda operator: operator.name)


def to_python(expression: Expression, *, module: str = "math", digits: int | None = None) -> str:
    """The formula as a Python expression that calls `module` ("math", or "np" for arrays)."""

    def call(operator: Operator) -> str:
        # abs is Python's own, and a user's operator has the name its user gave it.
        own = operator.name in OPERATORS and operator.name != "abs"
        return f"{module}.{operator.name}" if own else operator.name

    return _arithmetic(expression, digits, call, spell_out=True)


def to_latex(expression: Expression, *, digits: int | None = None) -> str:
    """The formula as LaTeX for math mode."""

    def leaf(node: Expression) -> Piece:
        if isinstance(node, Constant):
            text = re.sub(r"e([+-])0*(\d+)$", _power_of_ten, _number(node, digits))
            return text, NEGATION if text.startswith("-") else (PRODUCT if "cdot" in text else CALL)
        assert isinstance(node, Variable)  # noqa: S101 - the only other leaf
        return _latex_name(node.name), CALL

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
            texts[0] = _enclose(parts[0], binds, first=True, latex=True)
            texts[1] = _enclose(parts[1], binds, first=False, latex=True)
        elif name == "neg":
            texts[0] = _enclose(parts[0], binds, first=False, equal=True, latex=True)
        elif binds == POWER:
            texts[0] = _enclose(parts[0], binds, first=True, equal=False, latex=True)
        if name == "*" and (texts[1][:1].isdigit() or _MIXED.fullmatch(f"{texts[0][-1]} {texts[1]}")):
            template = r"{0} \cdot {1}"
        return template.format(*texts), _LATEX_BINDS.get(name, binds)

    return fold(expression, leaf, combine)[0]


def _arithmetic(
    expression: Expression,
    digits: int | None,
    call: Callable[[Operator], str],
    *,
    spell_out: bool = False,
) -> str:
    """Plain text and Python differ in how a function is called, and in that Python has no id, inv, pow."""

    def leaf(node: Expression) -> Piece:
        if isinstance(node, Constant):
            text = _number(node, digits)
            return text, NEGATION if text.startswith("-") else CALL
        assert isinstance(node, Variable)  # noqa: S101 - the only other leaf
        return node.name, CALL

    def combine(operator: Operator, parts: tuple[Piece, ...]) -> Piece:
        name, binds = operator.name, operator.precedence
        if name in _INFIX:
            left = _enclose(parts[0], binds, first=True)
            return left + _INFIX[name] + _enclose(parts[1], binds, first=False), binds
        if name == "neg":
            # -(2) and not -2: the latter is the constant minus two.
            bare = _NUMBER.fullmatch(parts[0][0])
            inner = f"({parts[0][0]})" if bare else _enclose(parts[0], binds, first=False, equal=True)
            return f"-{inner}", binds
        if name in _EXPONENT:
            return f"{_enclose(parts[0], binds, first=True, equal=False)}**{_EXPONENT[name]}", binds
        if name == "pow" and (spell_out or digits is not None or parts[1][0] not in _EXPONENT.values()):
            # A square and a cube have rows of their own; pow(x, 2) is another tree, and says so in full.
            base = _enclose(parts[0], binds, first=True, equal=False)
            return f"{base}**{_enclose(parts[1], binds, first=False, equal=True)}", binds
        if spell_out and name == "id":
            return parts[0]
        if spell_out and name == "inv":
            return f"1/{_enclose(parts[0], PRODUCT, first=False)}", PRODUCT
        if not parts:
            return call(operator), CALL
        return f"{call(operator)}({', '.join(text for text, _ in parts)})", CALL

    return fold(expression, leaf, combine)[0]


def _enclose(part: Piece, binds: int, *, first: bool, equal: bool | None = None, latex: bool = False) -> str:
    """An operand, in parentheses where it binds too loosely; `equal`: the same precedence needs none
    (by default the first operand's: a - b - c is (a - b) - c)."""
    text, own = part
    enough = own >= binds if (first if equal is None else equal) else own > binds
    if enough and (first or not text.startswith("-")):
        return text
    return rf"\left({text}\right)" if latex else f"({text})"


def _number(node: Constant, digits: int | None) -> str:
    if isinstance(node.value, float):
        return repr(node.value) if digits is None else f"{node.value:.{digits}g}"
    return str(node.value)


def _power_of_ten(match: re.Match[str]) -> str:
    sign = "-" if match[1] == "-" else ""
    return rf" \cdot 10^{{{sign}{match[2]}}}"


_GREEK = re.compile(
    "alpha|beta|[Gg]amma|[Dd]elta|epsilon|zeta|eta|[Tt]heta|iota|kappa|[Ll]ambda|mu|nu|[Xx]i|rho|[Ss]igma|tau|"
    "[Uu]psilon|[Pp]hi|chi|[Pp]si|[Oo]mega"
)


def _latex_name(name: str) -> str:
    stem, digits = re.fullmatch(r"(.*?)_?(\d*)", name, re.DOTALL).groups()  # type: ignore[union-attr]
    if _GREEK.fullmatch(stem):
        stem = f"\\{stem}"
    elif len(stem) != 1 or stem == "_":
        return rf"\mathrm{{{_escape(name)}}}" if not digits else rf"\mathrm{{{_escape(stem)}}}_{{{digits}}}"
    return f"{stem}_{{{digits}}}" if digits else stem


def _escape(name: str) -> str:
    return name.replace("_", r"\_")
