"""A formula as MathML, which browsers typeset by themselves: no library, and no font, has to be there.

>>> from prunesymnet.expression import parse
>>> print(to_mathml(parse("x**2/2")))
<math><mfrac><mrow><msup><mi>x</mi><mn>2</mn></msup></mrow><mn>2</mn></mfrac></math>
"""

import html
import re
from collections.abc import Sequence

from prunesymnet.export.latex import GREEK, name_parts
from prunesymnet.expression import Constant, Expression, Variable, fold
from prunesymnet.expression.printing import number_text
from prunesymnet.expression.tree import index_of
from prunesymnet.operators import Operator
from prunesymnet.operators.operator import CALL, NEGATION, POWER, PRODUCT, SUM

Piece = tuple[str, int, str]  # the elements, how tightly they bind, and the minus that they begin with, or ""
_LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ",
    "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "rho": "ρ", "sigma": "σ", "tau": "τ",
    "upsilon": "υ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ",
    "Lambda": "Λ", "Xi": "Ξ", "Sigma": "Σ", "Upsilon": "Υ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}  # fmt: skip
_TIMES = "<mo>&#x22C5;</mo>"  # a dot, between numbers
_BESIDE = "<mo>&#x2062;</mo>"  # nothing to be seen: x y
_APART = '<mspace width="0.17em"/>'  # between names of several letters
_OF = "<mo>&#x2061;</mo>"  # what a function is applied to comes next


def to_mathml(
    expression: Expression, *, digits: int | None = None, target: str | None = None, block: bool = False
) -> str:
    """The formula, its floats rounded to `digits`; with a `target`, the equation that says what it is; as a `block`, in
    full size.

    >>> from prunesymnet.expression import parse
    >>> print(to_mathml(parse("2*rate"), target="y"))
    <math><mrow><mi>y</mi><mo>=</mo><mn>2</mn><mspace width="0.17em"/><mi mathvariant="normal">rate</mi></mrow></math>
    """

    def leaf(node: Expression) -> Piece:
        if isinstance(node, Constant):
            return _number(number_text(node, digits))
        assert isinstance(node, Variable)  # noqa: S101 - the only other leaf
        return _name(node.name), CALL, ""

    text = fold(expression, leaf, _combined)[0]
    if target is not None:
        text = f"<mrow>{_name(target)}<mo>=</mo>{text}</mrow>"
    return f'<math display="block">{text}</math>' if block else f"<math>{text}</math>"


def _combined(operator: Operator, parts: tuple[Piece, ...]) -> Piece:
    name, texts = operator.name, [part[0] for part in parts]
    if name == "id":
        return parts[0]
    if name == "pi":
        return "<mi>π</mi>", CALL, ""
    if name in ("+", "-"):
        sign = "+" if name == "+" else "−"
        return f"{parts[0][0]}<mo>{sign}</mo>{_enclosed(parts[1], SUM + 1)}", SUM, parts[0][2]
    if name == "*":
        return _product(*parts)
    if name == "neg":
        return f"<mo>−</mo>{_enclosed(parts[0], NEGATION)}", NEGATION, "-"
    if name in ("/", "inv"):
        above, below = ("<mn>1</mn>", texts[0]) if name == "inv" else texts
        return f"<mfrac>{_row(above)}{_row(below)}</mfrac>", NEGATION, ""
    if name == "sqrt":
        return f"<msqrt>{texts[0]}</msqrt>", CALL, ""
    if name == "abs":
        return f"<mrow><mo>|</mo>{texts[0]}<mo>|</mo></mrow>", CALL, ""
    if name == "exp":
        return f"<msup><mi>e</mi>{_row(texts[0])}</msup>", POWER, ""
    if operator.precedence == POWER:
        exponent = {"square": "<mn>2</mn>", "cube": "<mn>3</mn>"}.get(name) or _row(texts[1])
        return f"<msup>{_row(_enclosed(parts[0], POWER + 1, first=True))}{exponent}</msup>", POWER, parts[0][2]
    return _call(name, texts), CALL, ""


def _product(left: Piece, right: Piece) -> Piece:
    texts = _enclosed(left, PRODUCT, first=True), _enclosed(right, PRODUCT + 1)
    between = _APART if "mathvariant" in texts[0] + texts[1] else _BESIDE
    fraction = texts[0].endswith("</mn>") and texts[1].startswith("<mfrac>")  # 2 1/3 would be seven thirds
    between = _TIMES if texts[1].startswith("<mn>") or fraction else between
    return between.join(texts), PRODUCT, left[2]


def _call(name: str, texts: Sequence[str]) -> str:
    inside = "<mo>,</mo>".join(texts)
    called = f"<mi>{html.escape({'asin': 'arcsin', 'acos': 'arccos', 'atan': 'arctan'}.get(name, name))}</mi>"
    return f"<mrow>{called}{_OF}<mrow><mo>(</mo>{inside}<mo>)</mo></mrow></mrow>"


def _enclosed(part: Piece, needs: int, *, first: bool = False) -> str:
    """An operand, in parentheses where it binds too loosely for its place, or begins with a minus within a term."""
    text, binds, begins = part
    return text if binds >= needs and (first or begins != "-") else f"<mrow><mo>(</mo>{text}<mo>)</mo></mrow>"


def _row(text: str) -> str:
    """One element, which a fraction or a power needs; several become one."""
    return text if re.fullmatch(r"<m[ni][^>]*>[^<]*</m[ni]>", text) else f"<mrow>{text}</mrow>"


def _number(text: str) -> Piece:
    minus = "<mo>−</mo>" * text.startswith("-")
    digits, _, exponent = text.removeprefix("-").partition("e")
    number, binds = f"<mn>{digits}</mn>", CALL
    if exponent:
        power = str(int(exponent)).replace("-", "−")
        number, binds = f"{number}<mo>×</mo><msup><mn>10</mn><mn>{power}</mn></msup>", PRODUCT
    return minus + number, NEGATION if minus and not exponent else binds, "-" if minus else ""


def _name(name: str) -> str:
    index = index_of(name)
    if index is not None:  # a constant that has a value in each category
        return f"<mrow>{_name(index[0])}<mo>[</mo>{_name(index[1])}<mo>]</mo></mrow>"
    stem, digits = name_parts(name)
    if GREEK.fullmatch(stem):
        shown = f"<mi>{_LETTERS[stem]}</mi>"
    elif len(stem) == 1 and stem.isalpha():
        shown = f"<mi>{html.escape(stem)}</mi>"
    else:
        shown = f'<mi mathvariant="normal">{html.escape(stem or name)}</mi>'
        digits = digits if stem else ""
    return f"<msub>{shown}<mn>{digits}</mn></msub>" if digits else shown
